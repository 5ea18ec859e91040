"""Rank statistics equal their definitions, rounded down once; compared with exact fractions, scipy and textbooks."""

import math
from fractions import Fraction

import numba
import numpy as np
import pytest
from scipy import stats

from skdpmic.privacy.mechanisms import to_grid
from skdpmic.statistics.ranks.kernels import (
    MAX_RECORDS,
    chatterjee,
    distance_correlation,
    exact_dot,
    kendall,
    mid_ranks,
    quotient,
    ranks_of,
    root_of_quotient,
)
from tests.folding import each
from tests.naive_ranks import (
    naive_chatterjee,
    naive_mid_ranks,
    naive_squared_distance_correlation,
    naive_tau,
)

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


def pairs_of(n):
    """Pairs of columns, of every kind with every kind."""
    rng = np.random.default_rng(n)
    for make_x in KINDS.values():
        for make_y in KINDS.values():
            yield make_x(n, rng), make_y(n, rng)


def rounded_down(value):
    return math.floor(value * 2**53) / 2**53


def root_rounded_down(square):
    return math.isqrt(math.floor(square * 2**106)) / 2**53


# --- Against the definitions ------------------------------------------------------------------------------------


@each("n", SIZES)
def test_ranks_match_the_definition(n):
    rng = np.random.default_rng(n)
    for make in KINDS.values():
        values = make(n, rng)
        assert mid_ranks(values).tolist() == [2 * rank - 1 for rank in naive_mid_ranks(values.tolist())]
        assert mid_ranks(values).dtype == np.int64


@pytest.mark.parametrize("n", SIZES)
def test_kendall_equals_the_definition_rounded_down_once(n):
    for x, y in pairs_of(n):
        assert kendall(mid_ranks(x), mid_ranks(y)) == rounded_down(abs(naive_tau(x.tolist(), y.tolist())))


@pytest.mark.parametrize("n", [2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_chatterjee_and_distance_correlation_are_means_over_all_orders_of_ties_rounded_down_once(n):
    for x, y in pairs_of(n):
        ranks, values = (ranks_of(x), ranks_of(y)), (x.tolist(), y.tolist())
        assert chatterjee(*ranks) == rounded_down(naive_chatterjee(*values))
        assert distance_correlation(*ranks) == root_rounded_down(naive_squared_distance_correlation(*values))


# --- Against other software -------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(stats, "chatterjeexi"), reason="scipy 1.15 or later")
def test_chatterjee_matches_scipy_without_ties():
    rng = np.random.default_rng(0)
    for noise in (0.01, 0.3, 10):
        x = rng.normal(size=300)
        y = x**2 + noise * rng.normal(size=300)
        both = max(stats.chatterjeexi(x, y).statistic, stats.chatterjeexi(y, x).statistic, 0)
        assert chatterjee(ranks_of(x), ranks_of(y)) == pytest.approx(both, abs=1e-12)


@each("n", [2, 10, 300, 1000])
def test_distance_correlation_equals_that_of_doubly_centred_rank_distances(n):
    rng = np.random.default_rng(n)
    for noise in (0.01, 0.3, 10):
        x = rng.normal(size=n)
        ranks = ranks_of(x), ranks_of(x**2 + noise * rng.normal(size=n))
        of_x, of_y = (centred_distances(of_column.group.astype(float)) for of_column in ranks)
        # Szekely, Rizzo and Bakirov (2007), Definition 5.
        expected = math.sqrt((of_x * of_y).mean() / math.sqrt((of_x**2).mean() * (of_y**2).mean()))
        assert distance_correlation(*ranks) == pytest.approx(expected, abs=1e-9)


def centred_distances(column):
    distances = np.abs(column[:, None] - column)
    means = distances.mean(axis=0)
    return distances - means - means[:, None] + means.mean()


# --- Large numbers ----------------------------------------------------------------------------------------------


@compiled_only
def test_sums_beyond_64_bits_are_exact():
    n = 300_000  # the distance covariance is n^6 / 45, above 2**100
    up = np.arange(n)
    assert distance_correlation(ranks_of(up), ranks_of(up)) == distance_correlation(ranks_of(up), ranks_of(-up)) == 1
    assert kendall(2 * up + 1, 2 * up + 1) == 1
    halves = np.repeat([n // 2, n + n // 2], n // 2)  # two values, as mid-ranks: half of all pairs are tied
    assert kendall(halves, halves) == rounded_down(Fraction(n, 2 * (n - 1)))


def test_products_of_the_largest_numbers_add_up_exactly():
    rng = np.random.default_rng(0)
    for high in (2**8, 2**32, 2**33, 2**64):
        a, b = rng.integers(high, size=(2, 50), dtype=np.uint64, endpoint=False)
        a[:3] = b[:2] = high - 1
        assert exact_dot(a, b) == sum(int(i) * int(j) for i, j in zip(a, b, strict=True))


def test_no_number_in_a_kernel_exceeds_63_bits():
    # The largest are products of two numbers of records.
    assert MAX_RECORDS**2 < 2**62
    assert MAX_RECORDS * (2**32 - 1) < 2**64  # a sum of 32-bit halves


# --- Rounding ---------------------------------------------------------------------------------------------------


def test_a_score_on_the_grid_is_the_exact_score_rounded_down():
    # Quotients that just reach a grid point, or just miss it.
    rng = np.random.default_rng(0)
    n = 10**6 + 1
    wrong = 0
    for denominator in (n * (n - 1), n * (n**2 - 1), n**2 * (n**2 - 1) * (2 * n**2 + 7)):
        for step in rng.integers(1, 2**30, size=50).tolist():
            for numerator in (-(-step * denominator >> 30), (step * denominator >> 30)):
                exact = (numerator << 30) // denominator
                assert to_grid(quotient(numerator, denominator)) == exact
                wrong += to_grid(numerator / denominator) != exact

                square = numerator**2 // denominator, denominator
                root = root_of_quotient(*square)
                assert to_grid(root) == math.isqrt((square[0] << 60) // square[1])
    assert wrong > 20  # a quotient rounded to the nearest float is sometimes a grid step too high
    assert quotient(n, n) == root_of_quotient(n, n) == 1
    assert quotient(0, n) == root_of_quotient(0, n) == 0
