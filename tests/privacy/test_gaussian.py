"""Gaussian noise on scores: its distribution, its exact privacy loss on small grids, its intervals, its size."""

import math
from functools import reduce
from itertools import combinations_with_replacement

import numpy as np
import pytest

from skdpmic.privacy.composition import budget_of
from skdpmic.privacy.mechanisms import GRID, GaussianMechanism
from skdpmic.privacy.noise import entropy_source
from tests.privacy.laws import discrete_gaussian_pmf, gaussian_p_value


def hockey_stick(sigma, moves, epsilon):
    """The smallest delta for two neighbours whose scores, in grid steps, differ by `moves`: sum of (P - e^epsilon Q)+.

    P and Q are the distributions of the noisy integers before clamping. Values beyond 11 sigma have a probability
    below 1e-26.
    """
    z = np.arange(-int(11 * sigma) - 8, int(11 * sigma) + 9)
    outer = lambda laws: reduce(np.multiply.outer, laws)  # noqa: E731
    here = outer([discrete_gaussian_pmf(z, sigma**2) for _ in moves])
    there = outer([discrete_gaussian_pmf(z - move, sigma**2) for move in moves])
    return np.maximum(here - math.exp(epsilon) * there, 0).sum()


@pytest.mark.parametrize("n_scores, steps", [(1, 1), (1, 3), (2, 1), (2, 3), (3, 1)])
@pytest.mark.parametrize("epsilon, delta", [(1.0, 1e-2), (1.0, 1e-4), (0.5, 1e-3), (3.0, 1e-3)])
@pytest.mark.combinations
def test_no_event_exceeds_epsilon_and_delta_but_with_half_the_noise_one_does(epsilon, delta, n_scores, steps):
    """For neighbours whose scores move by 0 or `steps`; by symmetry, signs do not matter."""
    sigma = GaussianMechanism.for_budget(budget_of(epsilon, delta), n_scores, steps).scale
    least, most = (
        max(hockey_stick(noise, moves, epsilon) for moves in combinations_with_replacement((0, steps), n_scores))
        for noise in (sigma, sigma / 2)
    )
    assert least <= delta < most


@pytest.mark.slow
def test_released_scores_follow_the_discrete_gaussian_distribution_around_the_score():
    # alpha = 1e-3, n = 20,000, fixed seed; half or twice the noise has a p-value of 0.
    score, sigma = 0.5 + 0.25 * GRID, 2000
    released, _ = GaussianMechanism(sigma).release(np.full(20_000, score), entropy_source(0))
    noise = np.rint((released - 0.5) / GRID).astype(int)
    assert gaussian_p_value(noise, sigma**2) > 1e-3
    for wrong in (sigma // 2, sigma * 2):
        assert gaussian_p_value(noise, wrong**2) < 1e-12
