"""All Kendall sums of a table together: sensitivity by exhaustive search of small tables, and sufficient noise."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from skdpmic.correlation.private_correlation import NoisyConcordances, concordances
from skdpmic.privacy.composition import rho_for
from skdpmic.privacy.noise import entropy_source
from skdpmic.statistics.ranks import mid_ranks
from skdpmic.statistics.sensitivity import kendall_matrix_squared_sensitivity
from tests.privacy.laws import rho_of_scale
from tests.privacy.test_audit_gaussian import exact_epsilon

# --- All small tables ------------------------------------------------------------------------------------------------
#
# Each column puts the records that neighbours share in some order, with ties; replaced records may be anywhere between
# or beside them. Reversing a column changes the signs of its sums, and exchanging columns changes the order of the
# sums; neither matters.


def orders_up_to_reversal(n):
    """All orders of n records as levels; of an order and its reverse, only the first."""
    orders = [
        levels
        for n_levels in range(1, n + 1)
        for levels in product(range(n_levels), repeat=n)
        if len(set(levels)) == n_levels
    ]
    return [levels for levels in orders if levels <= tuple(max(levels) - level for level in levels)]


def with_replaced(levels, m):
    """The column with m more records, at all combinations of places: (n_places, n + m). Doubled levels make room."""
    top = 2 * max(levels)
    places = range(-2 * m + 1, top + 2 * m) if m > 1 else range(-1, top + 2)
    return np.array([(*(2 * level for level in levels), *place) for place in product(places, repeat=m)])


def sums(columns_by_place):
    """Kendall sums for every choice of places, one for each column: (n_choices, p (p + 1) / 2), exact in float32."""
    signs = [np.sign(columns[:, :, None] - columns[:, None, :]) for columns in columns_by_place]
    n = columns_by_place[0].shape[1]
    above = np.triu_indices(n, 1)
    signs = [of_column[:, above[0], above[1]] for of_column in signs]  # (n_places, n_pairs)
    p = len(signs)
    grids = np.meshgrid(*(np.arange(len(of_column)) for of_column in signs), indexing="ij")
    chosen = [of_column[grid.ravel()] for of_column, grid in zip(signs, grids, strict=True)]
    return np.column_stack([(chosen[i] * chosen[j]).sum(axis=1) for i in range(p) for j in range(i, p)])


def largest_squared_change(n, p, m=1):
    largest = 0
    for others in combinations_with_replacement(orders_up_to_reversal(n - m), p):
        of_tables = sums([with_replaced(levels, m) for levels in others]).astype(np.float32)
        squares = (of_tables**2).sum(axis=1)
        for block in np.array_split(np.arange(len(of_tables)), max(1, len(of_tables) ** 2 // 10**7)):
            distances = squares[block, None] + squares - 2 * of_tables[block] @ of_tables.T
            largest = max(largest, int(distances.max()))
    return largest


SMALL = [(2, p) for p in range(2, 7)] + [(3, 2), (3, 3), (3, 4), (4, 2), (5, 2)]
SMALL += [pytest.param(*size, marks=pytest.mark.slow) for size in ((3, 5), (4, 3))]


@pytest.mark.parametrize("n, p", SMALL)
def test_no_small_table_with_ties_exceeds_the_sensitivity_and_one_attains_it(n, p):
    assert largest_squared_change(n, p) == kendall_matrix_squared_sensitivity(p, n)


@pytest.mark.parametrize("n, p, m", [(3, 2, 2), (4, 2, 2)])
def test_no_small_table_exceeds_the_sensitivity_for_all_rows_of_a_person_and_one_attains_it(n, p, m):
    assert largest_squared_change(n, p, m=m) == kendall_matrix_squared_sensitivity(p, n, m)


def extremes(n, p, signs=None):
    """Worst-case neighbours: the first record is above all others, or below them in half of the columns."""
    signs = np.ones(p) if signs is None else signs
    here, there = np.zeros((n, p)), np.zeros((n, p))
    here[0] = there[0] = signs
    there[0, : p // 2] *= -1
    return here, there


@pytest.mark.parametrize("n, p", [(4, 2), (7, 5), (20, 12), (301, 3)])
def test_the_kernel_attains_the_sensitivity_at_any_size(n, p):
    here, there = (concordances([mid_ranks(column) for column in table.T]) for table in extremes(n, p))
    assert ((here - there) ** 2).sum() == kendall_matrix_squared_sensitivity(p, n)


# --- The mechanism ----------------------------------------------------------------------------------------------------

BUDGETS = [(1.0, 1e-6), (0.1, 1e-9), (3.0, 1e-3)]


@pytest.mark.parametrize("epsilon, delta", BUDGETS)
@pytest.mark.parametrize("n, p, m", [(10, 2, 1), (1000, 25, 1), (1000, 24, 5), (2**31 - 1, 3, 1)])
def test_the_noise_scale_is_the_smallest_integer_within_rho(n, p, m, epsilon, delta):
    squared, rho = kendall_matrix_squared_sensitivity(p, n, m), Fraction(rho_for(epsilon, delta))
    mechanism = NoisyConcordances.for_budget(epsilon, delta, p, n, m)
    assert rho_of_scale(mechanism.scale, squared, 1) <= rho < rho_of_scale(mechanism.scale - 1, squared, 1)
    assert mechanism.noise_scale == mechanism.scale / math.comb(n, 2)


@pytest.mark.parametrize("epsilon, delta", [(1.0, 1e-3), (1.0, 1e-6), (3.0, 1e-6)])
@pytest.mark.parametrize("n, p", [(3, 4), (4, 5)])
def test_all_sums_together_lose_at_most_epsilon_and_more_than_five_sixths_of_it(n, p, epsilon, delta):
    # Exact: the likelihood ratio depends only on the total noise of the floor(p^2 / 4) sums that change.
    scale = NoisyConcordances.for_budget(epsilon, delta, p, n).scale
    n_moving, steps = p**2 // 4, 2 * (n - 1)
    assert 5 / 6 * epsilon < exact_epsilon(scale, n_moving, steps, delta) <= epsilon
    for share in (0.8, 0.5, 1 / math.sqrt(2)):  # the last is as if a pair of columns counted once, not twice
        assert exact_epsilon(max(1, int(share * scale)), n_moving, steps, delta) > 1.02 * epsilon
    one_column_fewer = NoisyConcordances.for_budget(epsilon, delta, p - 1, n).scale  # as if the target were left out
    assert exact_epsilon(one_column_fewer, n_moving, steps, delta) > 1.02 * epsilon


@pytest.mark.parametrize("scale", [1, 3, 10**5])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.combinations
def test_half_widths_cover_as_often_as_stated(scale, confidence):
    # n = 20,000, fixed seed: within 4 standard errors (alpha 6e-5), or above where the noise has few values.
    mechanism = NoisyConcordances(scale, n_pairs=10**7)
    released = mechanism.release(np.full(20_000, 10**6), entropy_source(1))
    coverage = np.mean(np.abs(released - 0.1) <= mechanism.half_width(confidence))
    error = 4 * math.sqrt(confidence * (1 - confidence) / 20_000)
    assert coverage > confidence - error
    if scale > 100:
        assert coverage < confidence + error
