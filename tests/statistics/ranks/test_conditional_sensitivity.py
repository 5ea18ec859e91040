"""The sensitivity of Kendall's tau within strata is an upper bound that is attained.

Exhaustive over small data sets, in exact arithmetic; larger neighbours attain the bound with computed scores.
Any number of strata is tried, and the replaced record may move to another stratum.
"""

import math
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

from skdpmic.statistics.ranks.statistic import conditional_kendall
from skdpmic.statistics.sensitivity import conditional_kendall_sensitivity
from tests.statistics.ranks.test_sensitivity import compiled_only, orders, signs, with_one_more

# --- The numbers themselves -------------------------------------------------------------------------------------


def claimed(n):
    """The largest value over all ways to split the n - 1 others between the two strata, and for one stratum."""
    between = max(6 - Fraction(4, p + 1) - Fraction(4, n - p) for p in range(1, n - 1))
    return max(Fraction(4 * (n - 1), n), between) / n


def test_every_sensitivity_is_the_exact_value_rounded_up():
    for n in [*range(3, 100), 1000, 1001]:
        value = conditional_kendall_sensitivity(n)
        assert Fraction(math.nextafter(value, 0)) < claimed(n) <= Fraction(value)


# --- All small data sets ----------------------------------------------------------------------------------------
#
# n times each score is phi(x, strata) . psi(y), with one entry for every ordered pair of records: psi is its sign in y,
# and phi is 0 for pairs from two strata. Neighbours have n - 1 records in common; without loss of generality these are
# in ascending order of x. For all their orders and strata, all positions and strata of the last one are tried.


def partitions(n):
    """All ways to put n records into strata, numbered in order of appearance."""
    ways = [()]
    for _ in range(n):
        ways = [(*way, stratum) for way in ways for stratum in range(max(way, default=-1) + 2)]
    return ways


def within(columns, strata, common):
    """The coefficients of the signs in y, times n and `common` to make them integers: (n_columns, n * n)."""
    n = columns.shape[1]
    together = strata[:, None] == strata
    factors = [common // size if size > 1 else 0 for size in together.sum(axis=0).tolist()]
    in_x = np.sign(columns[:, :, None] - columns[:, None, :]) * together
    return (in_x * factors).reshape(len(columns), n * n)


def largest_change(n, distinct):
    """n times the largest change of the score, and of its absolute value, over all data sets and replacements."""
    y_columns = [with_one_more(levels, distinct) for levels in orders(n - 1, distinct)]
    y_starts = np.array([0, *accumulate(len(columns) for columns in y_columns)][:-1])
    y_vectors = signs(np.concatenate(y_columns)).astype(np.float64).T  # small integers: BLAS is exact
    common = math.lcm(*range(2, n + 1))
    largest = np.zeros(2, dtype=int)
    for levels in orders(n - 1, distinct):
        if list(levels) != sorted(levels):
            continue
        x_columns = with_one_more(levels, distinct)
        for others in partitions(n - 1):
            all_strata = [np.array([*others, stratum]) for stratum in range(max(others) + 2)]
            products = np.concatenate([within(x_columns, strata, common) for strata in all_strata]) @ y_vectors
            for i, values in enumerate((products, np.abs(products))):
                highest = np.maximum.reduceat(values.max(axis=0), y_starts)
                lowest = np.minimum.reduceat(values.min(axis=0), y_starts)
                largest[i] = max(largest[i], (highest - lowest).max())
    return [Fraction(int(change), common) for change in largest]


@pytest.mark.parametrize(
    "n, distinct",
    [
        *((n, distinct) for n in (3, 4, 5) for distinct in (True, False)),
        (6, True),
        pytest.param(6, False, marks=pytest.mark.slow),
        pytest.param(7, True, marks=pytest.mark.slow),
    ],
)
def test_the_largest_change_over_all_small_data_sets_is_the_sensitivity(n, distinct):
    signed, unsigned = largest_change(n, distinct)
    assert unsigned <= signed <= n * Fraction(conditional_kendall_sensitivity(n))
    assert signed == n * claimed(n)


def test_one_more_record_moves_a_stratum_by_the_bound_of_the_proof():
    # n_z tau_z moves by (3 m - 1) / (m + 1): m falling records, and one above them all.
    for m in (2, 3, 10, 101):
        x, one = np.arange(m + 1.0), np.zeros(m + 1, dtype=int)
        y = np.append(-x[:-1], 1)
        alone = np.append(one[:-1], 1)
        grown = (m + 1) * (conditional_kendall(x, y, one) - conditional_kendall(x, y, alone))
        assert grown == pytest.approx((3 * m - 1) / (m + 1), abs=1e-12)


# --- Neighbours that attain it, at any size ---------------------------------------------------------------------


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


def change(neighbours):
    here, there = (conditional_kendall(*table) for table in neighbours)
    return abs(here - there), abs(abs(here) - abs(there))


@pytest.mark.parametrize("n", [5, 6, 7, 8, 50, 1001, pytest.param(20_000, marks=compiled_only)])
def test_sensitivity_is_attained(n):
    here, there = from_falling_to_rising(n)
    assert sum(np.any([a != b for a, b in zip(here, there, strict=True)], axis=0)) == 1
    assert change((here, there))[0] == pytest.approx(conditional_kendall_sensitivity(n), abs=2.0**-51)
