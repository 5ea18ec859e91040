"""The sensitivities of rank statistics are upper bounds, attained where docs/theory/ranks.md says so.

Exhaustive over small data sets, in exact arithmetic.
"""

import math
from fractions import Fraction
from itertools import accumulate, permutations, product

import numba
import numpy as np
import pytest
from scipy import stats

from skdpmic.statistics.ranks.kernels import (
    chatterjee,
    distance_correlation,
    kendall,
    mid_ranks,
    ranks_of,
)
from skdpmic.statistics.sensitivity import (
    chatterjee_sensitivity,
    distance_correlation_sensitivity,
    kendall_sensitivity,
)
from tests.folding import each

compiled_only = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="a search too long for uncompiled code")

SENSITIVITY = {
    "kendall": kendall_sensitivity,
    "chatterjee": chatterjee_sensitivity,
    "distance_correlation": distance_correlation_sensitivity,
}

# --- The numbers themselves -------------------------------------------------------------------------------------


SQUARES = {
    "kendall": lambda n: Fraction(4, n) ** 2,
    "chatterjee": lambda n: Fraction(3 * (2 * n - 5), n**2 - 1) ** 2,
    "distance_correlation": lambda n: (n - 1) ** 2 / Fraction((4 * n**2 - 1) * (4 * n**2 + 11) - 45, 32 * 45),
}


@pytest.mark.parametrize("name", SQUARES)
def test_every_sensitivity_is_the_exact_value_rounded_up_and_at_most_the_range(name):
    for n in [*range(3, 300), 4096, 12_345, 10**6, 7_654_321, 2**27 + 1, 2**31 - 1]:
        value = SENSITIVITY[name](n)
        below = math.nextafter(math.nextafter(value, 0), 0)
        assert Fraction(below) ** 2 < min(SQUARES[name](n), 1) <= Fraction(value) ** 2
        assert distance_correlation_sensitivity(n) < 3 * math.sqrt(10) / n


def test_the_divisor_of_the_distance_correlation_equals_the_sum_it_stands_for():
    for n in range(2, 40):
        total = sum((min(i, j) - Fraction(i * j, n)) ** 2 for i in range(1, n) for j in range(1, n))
        assert total == Fraction((n**2 - 1) * (2 * n**2 + 7), 180)
        assert total == Fraction((4 * n**2 - 1) * (4 * n**2 + 11) - 45, 32 * 45)  # another form


# --- Kendall: all orders of up to 7 records, with and without ties ------------------------------------------------
#
# It is |phi(x) . psi(y)|, with integer vectors phi and psi. Neighbours have n - 1 records in common; without loss of
# generality these are in ascending order of x. For each of their orders in x and y, all positions of the last record
# are tried at once.


def orders(n, distinct):
    """All orders of n records, as levels: permutations of 0 ... n - 1, or with ties, every level used."""
    return [
        levels
        for n_levels in ([n] if distinct else range(1, n + 1))
        for levels in product(range(n_levels), repeat=n)
        if len(set(levels)) == n_levels
    ]


def with_one_more(levels, distinct):
    """The columns with one more record, at every position: (n_places, n + 1). Levels are doubled to make room."""
    places = np.arange(-1, 2 * max(levels) + 2, 2 if distinct else 1)
    return np.column_stack([np.tile(2 * np.array(levels), (len(places), 1)), places])


def signs(columns):
    """The signs of all pairs of records: (n_columns, n * n)."""
    n = columns.shape[1]
    return np.sign(columns[:, :, None] - columns[:, None, :]).reshape(len(columns), n * n)


def largest_change_of_product(vectors_of, n, distinct, clamp=abs):
    """The largest change of the clamped product, an integer, over all orders of n records and replacements of one."""
    y_columns = [with_one_more(levels, distinct) for levels in orders(n - 1, distinct)]
    y_starts = np.array([0, *accumulate(len(columns) for columns in y_columns)][:-1])
    y_vectors = vectors_of(np.concatenate(y_columns)).astype(np.float64).T  # small integers: BLAS is exact
    largest = 0
    for levels in orders(n - 1, distinct):
        if list(levels) != sorted(levels):
            continue
        products = clamp(vectors_of(with_one_more(levels, distinct)) @ y_vectors)
        highest = np.maximum.reduceat(products.max(axis=0), y_starts)
        lowest = np.minimum.reduceat(products.min(axis=0), y_starts)
        largest = max(largest, int((highest - lowest).max()))
    return largest


SMALL = [(n, distinct) for n in (3, 4, 5, 6) for distinct in (True, False)] + [
    (7, True),
    pytest.param(7, False, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("n, distinct", SMALL)
def test_no_order_of_few_records_changes_kendall_by_more_than_its_sensitivity(n, distinct):
    scale = Fraction(1, n * (n - 1))  # each pair is counted twice
    assert largest_change_of_product(signs, n, distinct, clamp=np.array) * scale == Fraction(4, n)
    largest = largest_change_of_product(signs, n, distinct) * scale
    assert largest <= min(Fraction(4, n), 1)
    if n >= 4:
        assert largest == Fraction(4, n)


def test_tau_b_can_go_from_1_to_minus_1():
    x = np.append(np.zeros(999), 1)
    assert stats.kendalltau(x, x).statistic == pytest.approx(1)
    assert stats.kendalltau(x, -x).statistic == pytest.approx(-1)


# --- Chatterjee and distance correlation: all permutations, and small tables with ties ---------------------------


def insertions(others):
    """All orders of n records that extend one of n - 1: the last one anywhere in x and y; (n * n, n), y by x."""
    others = np.array(others)
    n = len(others) + 1
    return np.array([np.insert(others + (others >= rank), place, rank) for place in range(n) for rank in range(n)])


def variation(y_by_x):
    return np.abs(np.diff(y_by_x, axis=1)).sum(axis=1)


@pytest.mark.few
@pytest.mark.parametrize("n", [3, 4, 5, 6, 7, pytest.param(8, marks=pytest.mark.slow)])
def test_no_permutation_of_few_records_changes_chatterjee_by_more_than_its_sensitivity(n):
    one, both, clamped = np.max([ranges_of_chatterjee(others) for others in permutations(range(n - 1))], axis=0)
    assert one == both == 3 * (2 * n - 5)
    assert clamped == one if n >= 8 else clamped < one


def ranges_of_chatterjee(others):
    """n^2 - 1 times the range of xi over the positions of the last record: one direction, the larger one, clamped."""
    y_by_x = insertions(others)
    directions = np.array([variation(y_by_x), variation(np.argsort(y_by_x, axis=1))])
    scores = len(y_by_x[0]) ** 2 - 1 - 3 * directions
    return [np.ptp(scores[0]), np.ptp(scores.max(axis=0)), np.ptp(scores.max(axis=0, initial=0))]


def test_chatterjee_attains_its_sensitivity_at_8_and_9_records():
    assert ranges_of_chatterjee([0, 1, 2, 4, 6, 5, 3])[2] == 3 * 11
    assert ranges_of_chatterjee([0, 1, 3, 5, 7, 6, 4, 2])[2] == 3 * 13


def squared_norms(y_by_x):
    """n^2 times the sum of (N_ij - ij/n)^2, an integer."""
    n = y_by_x.shape[1]
    cuts = np.arange(1, n)
    below = np.cumsum(y_by_x[:, :, None] < cuts, axis=1)[:, :-1]  # N_ij
    return ((n * below - np.outer(cuts, cuts)) ** 2).sum(axis=(1, 2))


@pytest.mark.parametrize("n", [4, 5, 6, pytest.param(7, marks=pytest.mark.slow)])
def test_no_permutation_of_few_records_changes_distance_correlation_by_more_than_its_sensitivity(n):
    largest, change = 0.0, n * (n - 1)  # of the root of the integer
    for others in permutations(range(n - 1)):
        norms = squared_norms(insertions(others))
        highest, lowest = int(norms.max()), int(norms.min())
        # sqrt(highest) <= sqrt(lowest) + change, squared twice
        assert max(highest - lowest - change**2, 0) ** 2 <= 4 * change**2 * lowest
        largest = max(largest, math.sqrt(highest) - math.sqrt(lowest))
    assert 0.15 * change < largest <= change


@compiled_only
@pytest.mark.parametrize(
    "statistic, name", [(chatterjee, "chatterjee"), (distance_correlation, "distance_correlation")]
)
def test_no_small_table_with_ties_changes_a_score_by_more_than_its_sensitivity(statistic, name):
    n, n_places = 4, 3
    ranks = [ranks_of(np.array(column)) for column in product(range(n_places), repeat=n)]
    scores = np.array([[statistic(x, y) for y in ranks] for x in ranks])
    scores = scores.reshape(n_places ** (n - 1), n_places, n_places ** (n - 1), n_places)
    largest = (scores.max(axis=(1, 3)) - scores.min(axis=(1, 3))).max()
    assert SENSITIVITY[name](n) / 4 < largest <= SENSITIVITY[name](n)


@compiled_only
@each("statistic, name", [(chatterjee, "chatterjee"), (distance_correlation, "distance_correlation")])
def test_no_record_among_ties_changes_a_score_by_more_than_its_sensitivity_wherever_its_row_is(statistic, name):
    """1,000 random pairs of tables with 2 to 40 values; a record is replaced, and all rows are shuffled."""
    rng, largest = np.random.default_rng(0), 0.0
    for _ in range(1000):
        n = int(rng.integers(4, 60))
        x, y = rng.integers(rng.integers(2, 40), size=n), rng.integers(rng.integers(2, 40), size=n)
        y = np.where(rng.random(n) < rng.random(), x, y)
        here = statistic(ranks_of(x), ranks_of(y))
        x[0], y[0] = rng.integers(-1, 41, size=2)
        order = rng.permutation(n)
        largest = max(largest, abs(here - statistic(ranks_of(x[order]), ranks_of(y[order]))) / SENSITIVITY[name](n))
    assert 0.3 < largest <= 1


# --- Neighbours that attain it, at any size ---------------------------------------------------------------------


def score_of(name, x, y):
    """The released score, for distinct values."""
    if name == "kendall":
        return kendall(mid_ranks(x), mid_ranks(y))
    statistic = {"chatterjee": chatterjee, "distance_correlation": distance_correlation}[name]
    return statistic(ranks_of(x), ranks_of(y))


def corner(n):
    """Rising throughout; then the last record moves to the lower corner."""
    x = np.arange(float(n))
    y_other = x.copy()
    y_other[-1] = -1
    return (x, x), (x, y_other)


def valley(n):
    """Down to 2 and up from 1, in steps of 2; the last record is at the top, next to the highest one or next to 1."""
    others = np.concatenate([np.arange(n - 1, 1, -1)[(n - 1) % 2 :: 2], np.arange(1, n)[::2]])
    x, y = np.arange(n - 1.0), others.astype(float)
    at_the_end = -1.0 if (n - 1) % 2 == 0 else n
    in_the_middle = np.flatnonzero(others == 1)[0] - 0.5
    return (np.append(x, at_the_end), np.append(y, n)), (np.append(x, in_the_middle), np.append(y, n))


ATTAINED = [("kendall", corner, 4), ("chatterjee", valley, 10)]


@compiled_only
@pytest.mark.parametrize("name, neighbours, from_n", ATTAINED)
@pytest.mark.parametrize("n_more", [0, 1, 2, 3, 50, 1000])
def test_sensitivity_is_attained(name, neighbours, from_n, n_more):
    n = from_n + n_more
    here, there = neighbours(n)
    assert sum((here[0] != there[0]) | (here[1] != there[1])) == 1
    change = score_of(name, *here) - score_of(name, *there)
    assert change == pytest.approx(SENSITIVITY[name](n), abs=2.0**-52)


def tilted(n, edge):
    """Nearly independent, by a low-discrepancy sequence: E[1(x > s) 1(y > t)] - (1-s)(1-t) is a small number times s.

    It must be 0 where s or t is 0 or 1, and falls to 0 linearly over a width of `edge`. Then the last record, the
    largest in x, moves from the top to the bottom in y.
    """
    x = (np.arange(n - 1) + 0.5) / (n - 1)
    uniform = np.arange(1, n) * (math.sqrt(5) - 1) / 2 % 1
    t = np.linspace(0, 1, 2001)
    bump = edge**2 / (1 - edge) * np.minimum(np.minimum(t, 1 - t) / edge, 1)
    rising, falling = np.interp(uniform, t + bump, t), np.interp(uniform, t - (1 - edge) / edge * bump, t)
    y = np.where(x < 1 - edge, rising, falling)
    x = np.append(x, 2)
    return (x, np.append(y, 2)), (x, np.append(y, -1))


@compiled_only
def test_the_bound_for_distance_correlation_is_at_most_1_78_times_too_large():
    n = 30_000
    here, there = tilted(n, edge=0.03)
    change = abs(score_of("distance_correlation", *here) - score_of("distance_correlation", *there))
    assert distance_correlation_sensitivity(n) / 1.78 < change < math.sqrt(30) / n
