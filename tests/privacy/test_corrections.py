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


# --- Rank measures -------------------------------------------------------------------------------------------------


def tau(x, y):
    n = len(x)
    return ranks.concordance(ranks.mid_ranks(x), ranks.mid_ranks(y)) / (n * (n - 1) / 2)


def published_z(x, y, blocks, score=tau):
    """The sum of w tau over all blocks, divided by the root of the sum of w."""
    total = total_weight = 0.0
    for block in np.unique(blocks):
        here = blocks == block
        n = here.sum()
        weight = 9 * n * (n - 1) / (2 * (2 * n + 5))
        total, total_weight = total + weight * score(x[here], y[here]), total_weight + weight
    return total / math.sqrt(total_weight)


def test_conditional_kendall_exceeds_its_published_sensitivity_with_one_block():
    n, rising, one_block = 100, np.arange(100.0), np.zeros(100)
    change = published_z(rising, rising, one_block) - published_z(rising, np.append(rising[1:], 0), one_block)
    assert change == pytest.approx(6 / math.sqrt(n), rel=0.03)
    assert change > 4.5 / math.sqrt(n - 1)


def test_conditional_kendall_changes_by_twice_its_published_sensitivity_with_two_blocks():
    # One block falls, except for a record above all others. It moves to the other one, which otherwise rises.
    n, m = 1601, 800
    x = np.arange(float(n))
    blocks, y = (x >= m).astype(int), np.where(x < m, -x, x)
    here, there = (published_z(x, np.append(y[:-1], last), np.append(blocks[:-1], z)) for last, z in ((n, 0), (-n, 1)))
    assert here - there == pytest.approx(9 / math.sqrt(n), rel=0.01)
    assert here - there > 1.9 * 4.5 / math.sqrt(n - 1)


def test_unsigned_conditional_kendall_also_exceeds_its_published_sensitivity_with_two_blocks():
    # One block falls, except for one record, which moves above all of another block. There, as many pairs rise as fall.
    n, m = 1601, 800
    x = np.arange(float(n))
    y = np.append(np.where(x < m, -x, np.abs(x - (m + n - 2) / 2))[:-1], n)
    before, after = (
        published_z(x, y, np.append(x[:-1] >= m, is_in_other), lambda x, y: abs(tau(x, y))) for is_in_other in (0, 1)
    )
    assert after - before == pytest.approx(7.5 / math.sqrt(n), rel=0.01)
    assert after - before > 1.6 * 4.5 / math.sqrt(n - 1)


def test_kendall_changes_by_4_over_n_plus_1_when_a_record_is_added():
    n = 4
    x, longer = np.arange(n), np.arange(n + 1)
    changes = [
        abs(tau(longer, np.insert(raised, i, j))) - abs(tau(x, order))
        for order in map(np.array, permutations(range(n)))
        for j in range(n + 1)
        for raised in [order + (order >= j)]
        for i in range(n + 1)
    ]
    assert max(changes) <= -min(changes) == pytest.approx(4 / (n + 1))
    assert 4 / (n + 1) > 2 / (n - 1)  # the published sensitivity


def test_kendall_as_printed_makes_a_constant_column_depend_on_every_other_column():
    """A pair (i, j) counts as concordant if x_i > x_j and y_i > y_j, otherwise as discordant."""

    def as_printed(x, y):
        i, j = np.triu_indices(100, 1)
        return abs(2 * np.mean((x[i] > x[j]) & (y[i] > y[j])) - 1)

    y = np.random.default_rng(0).permutation(100)
    assert (as_printed(np.zeros(100), y), tau(np.zeros(100), y), tau(y, y)) == (1, 0, 1)
    assert as_printed(y, y) == pytest.approx(abs(tau(np.arange(100), y)))  # it depends on the order of the records
    assert as_printed(y, y) < 0.1


# --- HSIC and distance variance -----------------------------------------------------------------------------------


def hsic(K, L):
    n = len(K)
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    return (centred * L).sum() / (n - 1) ** 2


def distances(x):
    return np.abs(x[:, None] - x)


def test_a_kernel_scaled_by_the_largest_distance_exceeds_the_sensitivity_of_hsic():
    n, variances = 100, []
    for first in (0.0, 1.0):
        x = np.array([first, *np.repeat([0.0, 1e-6], [n // 2 - 1, n // 2])])
        K = 1 - distances(x) / distances(x).max()
        variances.append(hsic(K, K))
    assert variances[0] - variances[1] == pytest.approx(0.2547, abs=1e-3)
    assert (12 * n - 11) / (n - 1) ** 2 == pytest.approx(0.1213, abs=1e-4)  # published


def test_a_fixed_kernel_stays_well_below_the_published_sensitivity_of_hsic():
    rng = np.random.default_rng(0)
    for n in np.repeat((4, 10, 40), 200):
        here = rng.choice([0, 0.5, 1], size=(2, n)) if rng.random() < 0.5 else rng.random((2, n))
        there = np.c_[rng.integers(2, size=2), here[:, 1:]]
        change = hsic(*(1 - distances(x) for x in here)) - hsic(*(1 - distances(x) for x in there))
        assert abs(change) <= 4 * n / (n - 1) ** 2 < (12 * n - 11) / (n - 1) ** 2
