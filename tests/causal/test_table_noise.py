"""All two-way tables together: their sensitivity over all small tables, and the noise that covers it."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from skdpmic.causal.table_release import NoisyTwoWayTables, two_way_squared_sensitivity
from skdpmic.causal.two_way_tables import two_way_counts
from skdpmic.privacy.composition import rho_for
from skdpmic.privacy.noise import entropy_source
from tests.privacy.laws import gaussian_p_value
from tests.privacy.test_audit_gaussian import exact_epsilon


def counts_of(records, sizes):
    return two_way_counts([np.array(column, dtype=np.uint32) for column in zip(*records, strict=True)], sizes)


def largest_squared_change(n, sizes, m=1):
    """Over all tables of n records, whose order does not matter, of which m are replaced by any others."""
    possible = list(product(*map(range, sizes)))
    largest = 0
    for others in combinations_with_replacement(possible, n - m):
        counts = np.array([counts_of([*others, *own], sizes) for own in combinations_with_replacement(possible, m)])
        squares = (counts**2).sum(axis=1)
        largest = max(largest, int((squares[:, None] + squares - 2 * counts @ counts.T).max()))
    return largest


@pytest.mark.parametrize(
    "n, sizes", [(1, (2, 2)), (3, (2, 2)), (2, (2, 3)), (2, (2, 2, 2)), (3, (2, 1, 2)), (1, (3, 2, 4)), (2, (2,) * 4)]
)
def test_of_all_small_tables_none_moves_the_counts_further_and_one_as_far(n, sizes):
    assert largest_squared_change(n, sizes) == two_way_squared_sensitivity(len(sizes))


@pytest.mark.parametrize("n, sizes, m", [(2, (2, 2), 2), (3, (2, 2), 2), (3, (2, 3), 3), (3, (2, 2, 2), 2)])
def test_of_all_small_tables_none_moves_further_by_all_rows_of_a_person_and_one_as_far(n, sizes, m):
    assert largest_squared_change(n, sizes, m) == two_way_squared_sensitivity(len(sizes), m)


def test_each_table_moves_by_two_cells_and_none_by_more_than_all_rows_of_a_person():
    for p, m in product(range(2, 40), (1, 2, 5)):
        assert two_way_squared_sensitivity(p, m) == math.comb(p, 2) * 2 * m**2


def extremes(n, sizes):
    """Neighbours as far apart as can be: the first record has the first parts of all columns, then the last ones."""
    here = np.random.default_rng(0).integers(sizes, size=(n, len(sizes)))
    there = here.copy()
    here[0], there[0] = 0, np.array(sizes) - 1
    return here, there


@pytest.mark.parametrize("n, sizes", [(1, (2, 2)), (40, (3, 4, 5)), (300, (4,) * 12)])
def test_it_is_attained_at_any_size_by_any_replacement_of_all_values(n, sizes):
    here, there = (counts_of(table, sizes) for table in extremes(n, sizes))
    assert ((here - there) ** 2).sum() == two_way_squared_sensitivity(len(sizes))


# --- The mechanism ----------------------------------------------------------------------------------------------------

BUDGETS = [(1.0, 1e-6), (0.1, 1e-9), (3.0, 1e-3)]


@pytest.mark.parametrize("epsilon, delta", BUDGETS)
@pytest.mark.parametrize("sizes, m", [((2, 2), 1), ((4,) * 20, 1), ((3, 5, 7), 4)])
def test_the_variance_of_the_noise_is_the_least_integer_that_keeps_to_rho(sizes, m, epsilon, delta):
    squared, rho = two_way_squared_sensitivity(len(sizes), m), Fraction(rho_for(epsilon, delta))
    mechanism = NoisyTwoWayTables.for_budget(epsilon, delta, sizes, 1000, m)
    assert Fraction(squared, 2 * mechanism.variance) <= rho < Fraction(squared, 2 * (mechanism.variance - 1))
    assert mechanism.noise_scale == math.sqrt(mechanism.variance)
    assert (mechanism.sizes, mechanism.n) == (sizes, 1000)


def test_the_noise_on_a_count_is_about_four_and_a_half_records_a_column():
    for p in (8, 37):
        scale = NoisyTwoWayTables.for_budget(1.0, 1e-6, (4,) * p, 10**5).noise_scale
        assert scale == pytest.approx(4.53 * (p - 0.5), rel=0.01)


def epsilon_of_variance(variance, p, delta):
    """What the counts of neighbours in whom all p (p - 1) cells move lose, by the law of the sum of their noises."""
    return exact_epsilon(math.sqrt(variance), p * (p - 1), 1, delta)


@pytest.mark.parametrize("epsilon, delta", [(1.0, 1e-3), (1.0, 1e-6), (3.0, 1e-6)])
@pytest.mark.parametrize("p", [3, 4])
def test_all_counts_together_lose_epsilon_at_most_and_five_sixths_of_it_at_least(p, epsilon, delta):
    variance = NoisyTwoWayTables.for_budget(epsilon, delta, (2,) * p, 100).variance
    assert 5 / 6 * epsilon < epsilon_of_variance(variance, p, delta) <= epsilon
    for share in (0.8, 0.5, 1 / math.sqrt(2)):  # the last is as if a record left a cell, and came into none
        assert epsilon_of_variance(int(share**2 * variance), p, delta) > 1.02 * epsilon
    for too_few in (2, p):  # as if a record were in one table, or in as many as there are columns
        assert epsilon_of_variance(variance * too_few // (p * (p - 1)), p, delta) > 1.02 * epsilon


def test_every_cell_has_a_noise_of_its_own_with_the_discrete_gaussian_law():
    # alpha = 1e-3, 15,000 draws, fixed seed.
    mechanism = NoisyTwoWayTables(variance=70**2, sizes=(2, 2), n=100)
    noise = mechanism.release(np.full(15_000, 50), entropy_source(0)) - 50
    assert noise.dtype == np.int64
    assert noise.min() < -50  # nothing is clamped
    assert gaussian_p_value(noise, 70**2) > 1e-3
    assert gaussian_p_value(noise, 35**2) < 1e-12
    assert abs(np.corrcoef(noise[:-1], noise[1:])[0, 1]) < 4 / math.sqrt(len(noise))


def test_infinite_epsilon_adds_no_noise():
    mechanism = NoisyTwoWayTables.for_budget(math.inf, 1e-6, (2, 2), 100)
    counts = np.arange(7)
    assert mechanism.noise_scale == mechanism.margin(0.95) == 0
    assert mechanism.release(counts, entropy_source(0)).tolist() == counts.tolist()


def test_a_budget_that_is_next_to_nothing_overflows_nothing():
    noisy = NoisyTwoWayTables(variance=2**160, sizes=(2, 2), n=10).release(np.arange(4), entropy_source(0))
    assert np.abs(noisy).max() == 2**62


@pytest.mark.parametrize("scale", [1, 3, 10**4])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.combinations
def test_margins_cover_as_often_as_they_say(scale, confidence):
    # n = 20,000, fixed seed: within 4 standard errors (alpha 6e-5), or above where the noise has few values.
    mechanism = NoisyTwoWayTables(scale**2, sizes=(2, 2), n=100)
    noise = mechanism.release(np.zeros(20_000, np.int64), entropy_source(1))
    coverage = np.mean(np.abs(noise) <= mechanism.margin(confidence))
    error = 4 * math.sqrt(confidence * (1 - confidence) / 20_000)
    assert coverage > confidence - error
    if scale > 100:
        assert coverage < confidence + error
