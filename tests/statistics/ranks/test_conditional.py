"""Kendall's tau within strata equals its definition, rounded down once; compared with exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest

from skdpmic.privacy.mechanisms import to_grid
from skdpmic.statistics.ranks.kernels import kendall, mid_ranks
from skdpmic.statistics.ranks.statistic import conditional_kendall
from tests.naive_ranks import naive_conditional_tau
from tests.statistics.ranks.test_kernels import SIZES, compiled_only, pairs_of

STRATA = {
    "one": lambda n, rng: np.zeros(n, dtype=np.uint32),
    "one record each": lambda n, rng: rng.permutation(n).astype(np.uint32),
    "two": lambda n, rng: rng.integers(2, size=n),
    "many": lambda n, rng: rng.integers(max(n // 3, 1), size=n).astype(np.uint32),
    "large and small": lambda n, rng: np.minimum(rng.geometric(0.3, size=n), 6),
}


def rounded_down(value):
    return math.floor(value * 2**52) / 2**52


@pytest.mark.parametrize("kind", STRATA)
@pytest.mark.parametrize("n", SIZES[:-1])
@pytest.mark.combinations
def test_scores_within_strata_equal_the_definition_rounded_down_once(n, kind):
    rng = np.random.default_rng(n)
    for x, y in pairs_of(n):
        strata = STRATA[kind](n, rng)
        expected = naive_conditional_tau(x.tolist(), y.tolist(), strata.tolist())
        assert conditional_kendall(x, y, strata) == rounded_down(expected)


def test_dependence_due_to_the_strata_alone_is_removed_and_the_sign_is_that_within_them():
    # Simpson's paradox: falling in each of five strata, rising from one to the next.
    strata = np.repeat(np.arange(5), 20)
    x = np.tile(np.arange(20.0), 5) + 15 * strata
    y = np.tile(-np.arange(20.0), 5) + 40 * strata
    assert kendall(mid_ranks(x), mid_ranks(y)) > 0.5
    assert conditional_kendall(x, y, strata) == rounded_down(-Fraction(19, 20))
    opposite = np.where(strata < 2, y, -y)
    assert conditional_kendall(x, opposite, strata) == rounded_down(Fraction(1, 5) * Fraction(19, 20))


def test_strata_of_many_sizes_are_added_up_exactly_so_scores_are_on_the_grid():
    strata = np.repeat(np.arange(60), np.arange(60) + 1)  # the common divisor of their sizes is above 2**80
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x = rng.permutation(len(strata)).astype(float)
        y = rng.permutation(len(strata)) + x
        exact = naive_conditional_tau(x.tolist(), y.tolist(), strata.tolist())
        assert conditional_kendall(x, y, strata) == rounded_down(exact)
        assert to_grid((conditional_kendall(x, y, strata) + 1) / 2) == math.floor((exact + 1) * 2**29)


@compiled_only
def test_large_strata_beside_small_ones_are_exact():
    n = 300_000
    x, strata = np.arange(float(n)), np.minimum(np.arange(n), 2)  # two of one record
    assert conditional_kendall(x, x, strata) == rounded_down(Fraction(n - 3, n))
