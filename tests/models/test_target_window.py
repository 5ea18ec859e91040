"""The window of a numeric target: its exact cost, its position, and narrow targets in wide bounds."""

from fractions import Fraction

import numpy as np
import pytest

from skdpmic.models.parts import WINDOW_SHARE, rates_of_window, squares_of_window, within_window
from skdpmic.privacy.composition import rho_for
from skdpmic.privacy.noise import entropy_source
from skdpmic.table.values import NumericTarget


@pytest.mark.parametrize("rows", [1, 3])
def test_the_window_costs_its_share_of_the_budget(rows):
    """With rates r, medians are 2 sum(r)-DP and (sum(r**2) / 2)-zCDP; a person with several rows multiplies rates."""
    rates = [rows * rate for rate in rates_of_window(0.5, 0.0, rows)]
    assert 2 * sum(rates) == WINDOW_SHARE / 2
    assert sum(rate**2 for rate in rates) == squares_of_window() / 4
    squares = sum((rows * rate) ** 2 for rate in rates_of_window(0.5, 1e-6, rows))
    part = WINDOW_SHARE * Fraction(rho_for(0.5, 1e-6))
    assert part * (1 - Fraction(1, 10**9)) < squares / 2 <= part


def test_the_window_holds_most_targets_and_little_else():
    """5,000 normal targets with a deviation of 2% of the bounds, fixed seed: all but 6% are inside."""
    values = np.random.default_rng(0).normal(30.0, 2.0, 5000)
    target = within_window(NumericTarget(values, (0.0, 100.0)), rates_of_window(1.0, 1e-6), entropy_source(0))
    lower, upper = target.bounds
    np.testing.assert_allclose(target.values, values / 100)
    assert ((target.values > lower) & (target.values < upper)).mean() > 0.94
    assert upper - lower < 0.3


@pytest.mark.parametrize("values", [np.zeros(50), np.full(50, 9.0), np.r_[np.zeros(40), np.full(10, 9.0)]])
@pytest.mark.parametrize("epsilon", [1e-3, 5.0, np.inf])
def test_the_window_is_within_the_bounds_and_is_never_empty(values, epsilon):
    narrow = NumericTarget(1e16 + values, (1e16, 1e16 + 9))  # floats are more than an eighth of the range apart
    lower, upper = within_window(narrow, rates_of_window(epsilon, 0.0), entropy_source(1)).bounds
    assert 0.0 <= lower < upper <= 1.0
    assert upper - lower >= 1 / 8
    assert epsilon < np.inf or (lower, upper) == (0.0, 1.0)
