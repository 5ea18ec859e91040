"""The counterexamples of docs/theory/corrections.md, and the sensitivities that hold instead."""

import math
from itertools import permutations

import numpy as np
import pytest

from skdpmic.statistics import ranks
from tests.naive import naive_mutual_information

# --- Lazarsfeld, Johnson and Adeniran (ICML 2022), Lemma B.9 ------------------------------------------------------


def test_information_changes_more_than_the_terms_of_the_two_cells_that_change():
    before, after = [[3, 1], [0, 0]], [[3, 0], [0, 1]]  # one record moves from cell (1, 2) to cell (2, 2)

    def term(table, i, j):
        p, n = np.array(table) / 4, 4
        return p[i, j] * math.log2(p[i, j] / (p[i].sum() * p[:, j].sum())) if p[i, j] * n > 0 else 0.0

    two_cells = sum(abs(term(after, i, j) - term(before, i, j)) for i, j in [(0, 1), (1, 1)])
    change = naive_mutual_information(after) - naive_mutual_information(before)
    assert two_cells == pytest.approx(0.5)
    assert change == pytest.approx(0.8113, abs=1e-4)
    assert change <= (4 * math.log2(4) + 6) / 4  # the lemma's bound holds nevertheless


# --- Rank measures without ties -----------------------------------------------------------------------------------


def kendall(y_ranks):
    n = len(y_ranks)
    concordant = sum((y_ranks[i + 1 :] > y_ranks[i]).sum() for i in range(n))
    return 2 * abs(2 * concordant - n * (n - 1) / 2) / (n * (n - 1))


def test_conditional_kendall_exceeds_its_published_sensitivity_with_one_block():
    n = 100
    weight = 9 * n * (n - 1) / (2 * (2 * n + 5))
    concordant = np.arange(n)
    change = math.sqrt(weight) * (kendall(concordant) - kendall(np.append(concordant[1:], 0)))
    assert change == pytest.approx(6 / math.sqrt(n), rel=0.03)
    assert change > 4.5 / math.sqrt(n - 1)


def from_falling_to_rising(n):
    """One stratum falls, except for a record above all others. It moves to the other one, which otherwise rises."""
    n_falling = (n - 1) // 2
    x = np.arange(float(n))
    y = np.where(x < n_falling, -x, x)
    strata = (x >= n_falling).astype(np.uint32)
    y[-1], strata[-1] = n, 0
    y_other, strata_other = y.copy(), strata.copy()
    y_other[-1], strata_other[-1] = -n, 1
    return (x, y, strata), (x, y_other, strata_other)


def published_z(weight, score, table):
    """The sum of w tau, or of w rho, over all blocks, divided by the root of the sum of w."""
    x, y, blocks = table
    total = total_weight = 0.0
    for block in np.unique(blocks):
        here = blocks == block
        total += weight(here.sum()) * score(x[here], y[here])
        total_weight += weight(here.sum())
    return total / math.sqrt(total_weight)


def tau(x, y):
    n = len(x)
    return ranks.concordance(ranks.mid_ranks(x), ranks.mid_ranks(y)) / (n * (n - 1) / 2)


def weight_of_tau(n):
    return 9 * n * (n - 1) / (2 * (2 * n + 5))


def test_conditional_kendall_changes_by_twice_its_published_sensitivity_with_two_blocks():
    n = 1601
    here, there = (published_z(weight_of_tau, tau, table) for table in from_falling_to_rising(n))
    assert here - there == pytest.approx(9 / math.sqrt(n), rel=0.01)
    assert here - there > 1.9 * 4.5 / math.sqrt(n - 1)


def test_unsigned_conditional_kendall_also_exceeds_its_published_sensitivity_with_two_blocks():
    # One block falls, except for one record, which moves above all of another block. There, as many pairs rise as fall.
    n, m = 1601, 800
    x = np.arange(float(n))
    y = np.append(np.where(x < m, -x, np.abs(x - (m + n - 2) / 2))[:-1], n)
    before, after = (
        published_z(weight_of_tau, lambda x, y: abs(tau(x, y)), (x, y, np.append(x[:-1] >= m, is_in_other_block)))
        for is_in_other_block in (False, True)
    )
    assert after - before == pytest.approx(7.5 / math.sqrt(n), rel=0.01)
    assert after - before > 1.6 * 4.5 / math.sqrt(n - 1)


@pytest.mark.parametrize("n", [4, 5])
def test_kendall_changes_by_4_over_n_plus_1_when_a_record_is_added(n):
    changes = [
        kendall(np.array([*raised[:i], j, *raised[i:]])) - kendall(np.array(order))
        for order in permutations(range(n))
        for j in range(n + 1)
        for raised in [[rank + (rank >= j) for rank in order]]
        for i in range(n + 1)
    ]
    assert max(changes) <= -min(changes) == pytest.approx(4 / (n + 1))
    assert 4 / (n + 1) > 2 / (n - 1)  # the published sensitivity


def kendall_as_printed(x, y):
    """A pair (i, j) counts as concordant if x_i > x_j and y_i > y_j, otherwise as discordant."""
    n = len(x)
    i, j = np.triu_indices(n, 1)
    n_concordant = np.sum((x[i] > x[j]) & (y[i] > y[j]))
    return 2 * abs(2 * n_concordant - n * (n - 1) / 2) / (n * (n - 1))


def test_kendall_as_printed_makes_a_constant_column_depend_on_every_other_column():
    y = np.random.default_rng(0).permutation(100)
    assert kendall_as_printed(np.zeros(100), y) == 1
    assert tau(np.zeros(100), y) == 0
    assert tau(y, y) == 1
    assert (
        kendall_as_printed(y, y) == abs(tau(np.arange(100), y)) < 0.1
    )  # the result depends on the order of the records


# --- HSIC and distance variance -----------------------------------------------------------------------------------


def hsic(K, L):
    n = len(K)
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    return (centred * L).sum() / (n - 1) ** 2


def distances(x):
    return np.abs(x[:, None] - x)


def published_hsic_sensitivity(n):
    return (12 * n - 11) / (n - 1) ** 2


def test_a_kernel_scaled_by_the_largest_distance_exceeds_the_sensitivity_of_hsic():
    def distance_variance(x):
        K = 1 - distances(x) / distances(x).max()
        return hsic(K, K)

    n = 100
    x = np.repeat([0.0, 1e-6], n // 2)
    x_other = x.copy()
    x_other[0] = 1.0
    change = distance_variance(x) - distance_variance(x_other)
    assert change == pytest.approx(0.2547, abs=1e-3)
    assert published_hsic_sensitivity(n) == pytest.approx(0.1213, abs=1e-4)


def test_a_fixed_kernel_stays_well_below_the_published_sensitivity_of_hsic():
    rng = np.random.default_rng(0)
    for n in (4, 10, 40):
        for _ in range(200):
            x, y = rng.choice([0, 0.5, 1], size=(2, n)) if rng.random() < 0.5 else rng.random((2, n))
            x_other, y_other = x.copy(), y.copy()
            x_other[0], y_other[0] = rng.integers(2, size=2)
            here, there = (hsic(1 - distances(u), 1 - distances(v)) for u, v in ((x, y), (x_other, y_other)))
            assert abs(here - there) <= 4 * n / (n - 1) ** 2 < published_hsic_sensitivity(n)
