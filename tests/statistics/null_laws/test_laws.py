"""p-values from what is known of the scores of independent variables: no tail is larger, with noise or without."""

import numpy as np
import pytest
from scipy import stats

from skdpmic.privacy.mechanisms import GRID, CubeLaw, GaussianMechanism, KNormMechanism, LaplaceMechanism
from skdpmic.statistics import null_laws as laws
from skdpmic.statistics.null_laws import ScoreBound
from tests.privacy.laws import half_width_pmf

NOISES = {
    "none": None,
    "laplace": stats.laplace(scale=0.1),
    "weak laplace": stats.laplace(scale=0.004),
    "gaussian": stats.norm(scale=0.1),
    "weak gaussian": stats.norm(scale=0.004),
    "cube": CubeLaw(7, 0.02),
    "weak cube": CubeLaw(30, 0.0002),
}
ANY_NOISE = pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)


def tail(scores, shares, noise, least):
    """P(score + noise >= least)."""
    needed = np.asarray(least)[:, np.newaxis] - scores
    reaches = (needed <= 1e-12) if noise is None else noise.sf(needed)
    return reaches @ shares


# --- Bounds on the tails of the score ---------------------------------------------------------------------------------

SCORES, SHARES = np.array([0.0, 0.05, 0.2, 0.6]), np.array([0.5, 0.3, 0.15, 0.05])


def bound_of_known_distribution(n_points=2000):
    points = np.linspace(0, 1, n_points + 1)
    tails = np.array([1.0, *(SHARES[SCORES >= point - 1e-12].sum() for point in points[1:])])
    return ScoreBound(points, tails)


@ANY_NOISE
def test_p_values_of_a_bounded_law_are_its_tails_with_noise_rounded_up(noise):
    least = np.array([0.01, 0.04, 0.1, 0.19, 0.3, 0.55, 0.7, 0.95])
    exact = tail(SCORES, SHARES, noise, least)
    p_values = bound_of_known_distribution().p_values(least, noise)
    assert (p_values >= exact - 1e-12).all()
    step = 1 / 2000 + 3 * GRID
    assert (p_values <= tail(SCORES, SHARES, noise, least - step) + 1e-12).all()


@ANY_NOISE
def test_a_score_between_two_points_of_a_bound_counts_as_the_larger_one(noise):
    """No distribution within the bound has a larger tail; this one has scores between the points."""
    points = np.array([0.0, 0.1, 0.3, 1.0])
    bound = ScoreBound(points, np.array([1.0, *(SHARES[SCORES >= point].sum() for point in points[1:])]))
    least = np.array([0.01, 0.04, 0.1, 0.19, 0.3, 0.55, 0.7, 0.95])
    p_values = bound.p_values(least, noise)
    assert (p_values >= tail(SCORES, SHARES, noise, least) - 1e-12).all()
    larger = points[np.minimum(np.searchsorted(points, SCORES, side="right"), 3)]
    assert (p_values <= tail(larger, SHARES, noise, least - 3 * GRID) + 1e-12).all()


@pytest.mark.parametrize(("kind", "scale"), [(LaplaceMechanism, 3), (LaplaceMechanism, 50), (GaussianMechanism, 2)])
def test_exact_noise_on_the_grid_has_no_larger_tail_than_its_continuous_law_two_steps_below(kind, scale):
    mechanism, step = kind(scale), np.arange(1, 400)
    places = np.arange(-5000, 5001)
    weights = np.exp(-np.abs(places) / scale) if kind is LaplaceMechanism else np.exp(-(places**2) / (2 * scale**2))
    exact = np.cumsum((weights / weights.sum())[::-1])[::-1][5000 + step]
    assert (exact <= mechanism.law.sf(step * GRID - laws._SLACK + GRID) + 1e-15).all()


@pytest.mark.parametrize(("size", "scale"), [(2, 3), (5, 1), (5, 20)])
def test_noise_in_a_cube_has_no_larger_tail_than_its_continuous_law_one_and_a_half_steps_below(size, scale):
    """The remaining half step covers the rounding of scores, whose floating-point error is far smaller."""
    half_widths, step = half_width_pmf(size, scale), np.arange(-30 * scale, 30 * scale)
    m = np.arange(len(half_widths))
    exact = np.clip(m - step[:, np.newaxis] + 1, 0, 2 * m + 1) @ (half_widths / (2 * m + 1))
    law = KNormMechanism(scale, size).law
    assert (exact <= law.sf(step * GRID - laws._SLACK + GRID / 2) + 1e-15).all()
