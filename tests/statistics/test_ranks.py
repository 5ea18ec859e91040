"""Kendall's score equals its definition, rounded down once; its sensitivity is an upper bound, and attained."""

import math
from fractions import Fraction
from itertools import accumulate, product

import numba
import numpy as np
import pytest

from skdpmic.privacy.mechanisms import to_grid
from skdpmic.statistics.ranks import MAX_RECORDS, kendall, mid_ranks
from skdpmic.statistics.sensitivity import kendall_sensitivity
from tests.naive_ranks import naive_tau

compiled_only = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="too long for uncompiled code")

SIZES = [2, 3, 4, 5, 8, 13, 30]
KINDS = {
    "distinct": lambda n, rng: rng.normal(size=n),
    "rising": lambda n, rng: np.arange(float(n)),
    "falling": lambda n, rng: -np.arange(float(n)),
    "three values": lambda n, rng: rng.integers(3, size=n) - 1.5,
    "many ties": lambda n, rng: rng.integers(n, size=n).astype(float),
    "one differs": lambda n, rng: (np.arange(n) == n // 2).astype(float),
    "constant": lambda n, rng: np.full(n, 7.0),
    "signed zeros": lambda n, rng: rng.choice([-0.0, 0.0, 5e-324], size=n),
}


def rounded_down(value):
    return math.floor(value * 2**53) / 2**53


@pytest.mark.parametrize("n", SIZES)
def test_kendall_equals_the_definition_rounded_down_once(n):
    rng = np.random.default_rng(n)
    for make_x, make_y in product(KINDS.values(), repeat=2):
        x, y = make_x(n, rng), make_y(n, rng)
        score = kendall(mid_ranks(x), mid_ranks(y))
        assert score == rounded_down(abs(naive_tau(x.tolist(), y.tolist())))
        exact = abs(naive_tau(x.tolist(), y.tolist()))
        assert to_grid(score) == math.floor(exact * 2**30)  # rounding again changes nothing


@compiled_only
def test_sums_of_many_records_are_exact():
    n = 300_000
    up = np.arange(n)
    assert kendall(2 * up + 1, 2 * up + 1) == 1
    halves = np.repeat([n // 2, n + n // 2], n // 2)  # two values, as mid-ranks: half of all pairs are tied
    assert kendall(halves, halves) == rounded_down(Fraction(n, 2 * (n - 1)))
    assert MAX_RECORDS**2 < 2**62  # the largest numbers in a kernel are products of two numbers of records


# --- Sensitivity: all orders of up to 7 records, with and without ties --------------------------------------------
#
# The score is |phi(x) . psi(y)|, with integer vectors phi and psi. Neighbours have n - 1 records in common; without
# loss of generality these are in ascending order of x. For each of their orders in x and y, all positions of the last
# record are tried at once.


def test_the_sensitivity_is_the_exact_value_rounded_up_and_at_most_the_range():
    for n in [*range(3, 300), 4096, 12_345, 10**6, 7_654_321, 2**27 + 1, 2**31 - 1]:
        value = kendall_sensitivity(n)
        assert math.nextafter(value, 0) < min(Fraction(4, n), 1) <= value


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


def largest_change_of_product(n, distinct, clamp=abs):
    """The largest change of the clamped product, an integer, over all orders of n records and replacements of one."""
    y_columns = [with_one_more(levels, distinct) for levels in orders(n - 1, distinct)]
    y_starts = np.array([0, *accumulate(len(columns) for columns in y_columns)][:-1])
    y_vectors = signs(np.concatenate(y_columns)).astype(np.float64).T  # small integers: BLAS is exact
    largest = 0
    for levels in orders(n - 1, distinct):
        if list(levels) != sorted(levels):
            continue
        products = clamp(signs(with_one_more(levels, distinct)) @ y_vectors)
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
    assert largest_change_of_product(n, distinct, clamp=np.array) * scale == Fraction(4, n)
    largest = largest_change_of_product(n, distinct) * scale
    assert largest <= min(Fraction(4, n), 1)
    if n >= 4:
        assert largest == Fraction(4, n)


def corner(n):
    """Rising throughout; then the last record moves to the lower corner."""
    x = np.arange(float(n))
    y_other = x.copy()
    y_other[-1] = -1
    return (x, x), (x, y_other)


@compiled_only
@pytest.mark.parametrize("n", [4, 5, 6, 7, 54, 1004])
def test_the_sensitivity_is_attained(n):
    here, there = corner(n)
    assert sum((here[0] != there[0]) | (here[1] != there[1])) == 1
    change = kendall(*map(mid_ranks, here)) - kendall(*map(mid_ranks, there))
    assert change == pytest.approx(kendall_sensitivity(n), abs=2.0**-52)
