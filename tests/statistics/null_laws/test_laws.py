"""p-values from what is known of the scores of independent variables: no tail is larger, with noise or without."""

import math
from itertools import permutations, product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from skdpmic.privacy.mechanisms import GRID, CubeLaw, GaussianMechanism, KNormMechanism, LaplaceMechanism
from skdpmic.statistics import null_laws as laws
from skdpmic.statistics.null_laws import AveragedLaw, BoundedLaw, SimulatedLaw
from skdpmic.statistics.ranks import kernels as ranks
from skdpmic.statistics.ranks.kernels import ranks_of
from skdpmic.statistics.registry import STATISTICS
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
    return SimpleNamespace(scores=points, tails=tails)


@ANY_NOISE
def test_p_values_of_a_bounded_law_are_its_tails_with_noise_rounded_up(noise):
    least = np.array([0.01, 0.04, 0.1, 0.19, 0.3, 0.55, 0.7, 0.95])
    exact = tail(SCORES, SHARES, noise, least)
    p_values = BoundedLaw(bound_of_known_distribution()).p_values(least, noise, 1, 0)
    assert (p_values >= exact - 1e-12).all()
    step = 1 / 2000 + 3 * GRID
    assert (p_values <= tail(SCORES, SHARES, noise, least - step) + 1e-12).all()


@ANY_NOISE
def test_a_score_between_two_points_of_a_bound_counts_as_the_larger_one(noise):
    """No distribution within the bound has a larger tail; this one has scores between the points."""
    points = np.array([0.0, 0.1, 0.3, 1.0])
    bound = SimpleNamespace(
        scores=points, tails=np.array([1.0, *(SHARES[SCORES >= point].sum() for point in points[1:])])
    )
    least = np.array([0.01, 0.04, 0.1, 0.19, 0.3, 0.55, 0.7, 0.95])
    p_values = BoundedLaw(bound).p_values(least, noise, 1, 0)
    assert (p_values >= tail(SCORES, SHARES, noise, least) - 1e-12).all()
    larger = points[np.minimum(np.searchsorted(points, SCORES, side="right"), 3)]
    assert (p_values <= tail(larger, SHARES, noise, least - 3 * GRID) + 1e-12).all()


@pytest.mark.parametrize(
    "law", [BoundedLaw(bound_of_known_distribution()), AveragedLaw(SimulatedLaw("kendall", 20), 2)]
)
@ANY_NOISE
def test_p_values_do_not_rise_with_the_score_and_are_1_for_a_score_of_0(law, noise):
    p_values = law.p_values(np.r_[0.0, np.linspace(GRID, 1, 300)], noise, 999, 0)
    assert p_values[0] == 1
    assert (np.diff(p_values) <= 1e-12).all()
    assert p_values.min() >= 0
    assert p_values.max() <= 1


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


# --- Strict ranks -----------------------------------------------------------------------------------------------------


def scores_of_all_orders(name, n):
    score = getattr(ranks, name)
    of_values = ranks.mid_ranks if name == "kendall" else ranks_of
    return np.sort([score(of_values(np.arange(n)), of_values(y)) for y in map(np.array, permutations(range(n)))])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["chatterjee", "distance_correlation"])
@ANY_NOISE
@pytest.mark.combinations
def test_p_values_of_a_simulated_law_are_its_tails_with_noise(name, noise):
    """Within five standard errors of 9,999 simulations."""
    n, n_resamples = 6, 9_999
    scores = scores_of_all_orders(name, n)
    least = np.r_[np.unique(scores)[1:], 0.33, 0.8, 1.0]
    exact = tail(scores, np.full(len(scores), 1 / len(scores)), noise, least)
    p_values = SimulatedLaw(name, n).p_values(least, noise, n_resamples, 0)
    assert (np.abs(p_values - exact) <= 5 * np.sqrt(exact * (1 - exact) / n_resamples) + 2 / n_resamples).all()


@pytest.mark.parametrize("name", ["chatterjee", "distance_correlation"])
@pytest.mark.parametrize("noise", [None, stats.laplace(scale=0.05)], ids=["none", "laplace"])
def test_p_values_of_few_records_hold_for_any_ties(name, noise):
    """The exact tails of tied scores are at most the p-value, and five standard errors of its 9,999 simulations."""
    rng, score = np.random.default_rng(0), getattr(ranks, name)
    for n in (4, 5, 5, 5, 6):
        x, y = (np.sort(rng.integers(int(rng.integers(2, n)), size=n)) for _ in range(2))
        orders, times = np.unique(y[list(permutations(range(n)))], axis=0, return_counts=True)
        scores = np.array([score(ranks_of(x), ranks_of(order)) for order in orders])
        least = np.r_[np.unique(scores[scores > 0]), 0.33, 0.8]
        exact = tail(scores, times / times.sum(), noise, least)
        p_values = STATISTICS[name]().null_law(n, None).p_values(least, noise, 9_999, 0)
        assert (exact <= p_values + 5 * np.sqrt(exact * (1 - exact) / 9_999) + 1e-9).all(), (x, y)


@pytest.mark.parametrize("law", [SimulatedLaw("chatterjee", 200), AveragedLaw(SimulatedLaw("kendall", 200), 2)])
@pytest.mark.parametrize("noise", [None, stats.laplace(scale=0.004)], ids=["none", "weak laplace"])
def test_no_simulated_p_value_is_below_that_of_a_score_above_all_simulations(law, noise):
    """The released score and each simulated one are equally likely to be the largest."""
    (p_value,) = law.p_values(np.array([1.0]), noise, 499, 0)
    assert 1 / 500 <= p_value <= 2 / 500


def test_simulations_clamped_to_0_or_1_count_as_reaching_that_score():
    noise = stats.laplace(scale=10.0)  # nearly half of all simulations are clamped to 1
    p_values = SimulatedLaw("chatterjee", 20).p_values(np.array([0.0, 1.0]), noise, 9_999, 0)
    assert p_values[0] == 1
    assert 0.4 < p_values[1] < 0.55


# --- Ties -------------------------------------------------------------------------------------------------------------


def tie_patterns(n):
    for is_new in product([0, 1], repeat=n - 1):
        yield np.cumsum([0, *is_new])


def scores_with_ties(name, x, y, orders):
    score, x_ranks, y_ranks = getattr(ranks, name), ranks.mid_ranks(x), ranks.mid_ranks(y)
    distinct, counts = np.unique(y_ranks[orders], axis=0, return_counts=True)
    return np.array([score(x_ranks, ranks_) for ranks_ in distinct]), counts / counts.sum()


def test_ties_may_make_a_large_score_twice_as_likely():
    """So p-values for strict ranks would be wrong. There are five records, two of them tied in x."""
    scores, shares = scores_with_ties(
        "kendall", np.array([0, 0, 1, 2, 3]), np.arange(5), np.array(list(permutations(range(5))))
    )
    strict = scores_of_all_orders("kendall", 5)
    assert math.isclose(shares[scores >= 0.9 - 1e-9].sum(), 2 * (strict >= 0.9 - 1e-9).mean())


@pytest.mark.parametrize("n", [3, 4, pytest.param(5, marks=pytest.mark.slow)])
@ANY_NOISE
@pytest.mark.combinations
def test_no_pattern_of_ties_has_a_larger_tail_than_its_p_values(n, noise, monkeypatch):
    """Here the distribution for strict ranks is exact, not simulated."""
    strict = scores_of_all_orders("kendall", n)
    monkeypatch.setattr(laws, "null_scores", lambda *given: strict)
    shares = np.full(len(strict), 1 / len(strict))
    monkeypatch.setattr(
        SimulatedLaw, "p_values", lambda self, released, noise, *given: tail(strict, shares, noise, released - 3 * GRID)
    )
    law = AveragedLaw(SimulatedLaw("kendall", n), 2)
    orders = np.array(list(permutations(range(n))))
    for x, y in product(tie_patterns(n), repeat=2):
        scores, shares_of_ties = scores_with_ties("kendall", x, y, orders)
        least = np.unique(np.r_[scores[scores > 0], scores[scores > 0] + 0.05, 0.3, 0.9])
        exact = tail(scores, shares_of_ties, noise, np.minimum(least, 1))
        assert (law.p_values(np.minimum(least, 1), noise, len(strict), 0) >= exact - 1e-9).all()
