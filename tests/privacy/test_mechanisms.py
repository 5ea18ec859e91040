"""Noise on the grid: its cost, its distribution around the score, and what all mechanisms have in common."""

import math
from fractions import Fraction

import numpy as np
import pytest

from skdpmic.privacy.composition import budget_of
from skdpmic.privacy.mechanisms import (
    GRID,
    GaussianMechanism,
    KNormMechanism,
    LaplaceMechanism,
    grid_sensitivity,
    to_grid,
)
from skdpmic.privacy.noise import entropy_source
from tests.folding import each
from tests.privacy.laws import laplace_p_value

KINDS = [(LaplaceMechanism, 0.0), (GaussianMechanism, 1e-6), (KNormMechanism, 0.0)]


def test_rounding_to_the_grid_moves_neighbours_no_further_apart_than_the_grid_sensitivity():
    rng = np.random.default_rng(0)
    scores = rng.random(10_000)
    sensitivity, error = 3.3 * GRID, 0.4 * GRID
    neighbours = np.clip(scores + sensitivity * rng.uniform(-1, 1, size=scores.shape), 0, 1)
    here, there = (to_grid(np.clip(x + error * rng.uniform(-1, 1, len(x)), 0, 1)) for x in (scores, neighbours))
    assert grid_sensitivity(sensitivity, error) == 5  # ceil(3.3 + 0.8)
    assert 4 <= np.abs(here - there).max() <= 5


def test_grid_sensitivity_rounds_up():
    assert grid_sensitivity(GRID, 0.0) == 1
    assert grid_sensitivity(math.nextafter(GRID, 1), 0.0) == 2


def test_released_scores_follow_the_discrete_laplace_distribution_around_the_score():
    # alpha = 1e-3, n = 20,000, fixed seed; half or twice the noise has a p-value of 0.
    score, scale = 0.5 + 0.25 * GRID, 2000
    released, _ = LaplaceMechanism(scale).release(np.full(20_000, score), entropy_source(0))
    noise = np.rint((released - 0.5) / GRID).astype(int)
    assert laplace_p_value(noise, scale) > 1e-3
    for wrong in (scale / 2, scale * 2):
        assert laplace_p_value(noise, wrong) < 1e-12


def test_clamping_keeps_the_order_of_the_noisy_scores():
    scores = np.linspace(0, 1, 50)
    released, order = LaplaceMechanism(2**34).release(scores, entropy_source(0))  # noise of 16 clamps nearly all
    assert set(np.unique(released)) <= {0.0, 1.0} | set(released)
    assert np.mean((released == 0) | (released == 1)) > 0.8
    assert sorted(order) == list(range(50))
    assert (np.diff(released[order]) <= 0).all()
    assert order.tolist() != np.argsort(-released, kind="stable").tolist()  # clamped scores are not ordered by index


@pytest.mark.parametrize("kind", [LaplaceMechanism, KNormMechanism])
@each("epsilon", [0.1, 1 / 3, 1.0, 7, np.float32(0.1), np.int64(2)])
@each("n_scores", [1, 9, 1000])
def test_all_scores_together_spend_at_most_epsilon_and_nearly_all_of_it(kind, epsilon, n_scores):
    steps = 12_345
    # One record moves each score by at most `steps`, which changes the log-probability by at most steps / scale.
    spent = Fraction(steps, kind.for_budget(budget_of(epsilon), n_scores, steps).scale)
    spent *= n_scores if kind is LaplaceMechanism else 1
    exact_epsilon = Fraction(repr(float(epsilon)))
    assert exact_epsilon * (1 - Fraction(1, 1000)) < spent <= exact_epsilon


@pytest.mark.parametrize("kind, delta", KINDS)
def test_without_noise_scores_are_untouched(kind, delta):
    scores = np.array([0.1, 0.7, 0.7, 1 / 3])
    mechanism = kind.for_budget(budget_of(math.inf, delta), 4, 10**9)
    released, order = mechanism.release(scores, entropy_source())
    np.testing.assert_array_equal(released, scores)
    assert order.tolist() == [1, 2, 3, 0]
    assert mechanism.noise_scale == 0
    assert mechanism.law is None
    np.testing.assert_array_equal(mechanism.interval(released, 0.95, simultaneous=True), [scores, scores])


@pytest.mark.parametrize("kind, delta", KINDS)
@each("epsilon, n_scores", [(1.0, 1), (0.1, 1000), (5.0, 40)])
def test_the_epsilon_per_score_matches_laplace_noise_of_the_same_standard_deviation(kind, delta, epsilon, n_scores):
    steps, budget = 10**9, budget_of(epsilon, delta)
    mechanism = kind.for_budget(budget, n_scores, steps)
    equivalent = LaplaceMechanism.for_budget(budget_of(kind.epsilon_per_score(budget, n_scores)), 1, steps)
    assert equivalent.law.std() == pytest.approx(mechanism.law.std(), rel=1e-5)
