"""The reach of a weighted sum of noise holds as often as it says, and is no wider than it must be."""

import math

import numpy as np
import pytest
from scipy import stats

from skdpmic.privacy.noise import discrete_laplace, entropy_source, laplace_deviation, reach
from skdpmic.privacy.quantiles import laplace_quantile

N_DRAWS = 20_000


def drawn(scales, random):
    """Numbers of the discrete Laplace law, as differences of geometric ones: (N_DRAWS, n)."""
    rates = -np.expm1(-1 / scales)
    return random.geometric(rates, (N_DRAWS, len(scales))) - random.geometric(rates, (N_DRAWS, len(scales)))


@pytest.mark.parametrize("seed", range(24))
def test_a_sum_is_within_its_reach_as_often_as_said_and_the_reach_is_no_wider(seed):
    """Scales of 0.1 to 1,000, equal, similar or very different weights; alpha 1e-6 for each.

    The ratio to the quantile of the draws is at most 1.15: a sixteenth of a standard deviation, and their error.
    """
    random = np.random.default_rng(seed)
    n, confidence = random.choice([1, 2, 7, 40, 128]), random.choice([0.9, 0.95, 0.99])
    scales = 10 ** random.uniform(-1, 3) * (np.ones(n) if seed % 2 else random.uniform(0.5, 2, n))
    weights = [np.ones(n), random.random(n), random.standard_cauchy(n)][seed % 3]
    sums = np.abs(drawn(scales, random) @ weights)
    found = reach(weights, np.array([*map(laplace_deviation, scales)]), confidence)
    assert np.count_nonzero(sums <= found + 1e-9) >= stats.binom.ppf(1e-6, N_DRAWS, confidence)
    least, most = (np.quantile(sums, confidence + side * 4 * math.sqrt(0.05 / N_DRAWS)) for side in (0, 1))
    assert found <= max(1.15 * least, most) + 1e-9


def test_a_large_number_that_is_rarely_drawn_uses_up_confidence_of_the_small_ones():
    """It is drawn in 4.2% of cases, so the others are within the reach in 99.2%; alpha 1e-6."""
    scales, weights = np.array([0.26] + [1.0] * 40), np.array([1e5] + [1.0] * 40)
    found = reach(weights, np.array([*map(laplace_deviation, scales)]), 0.95)
    sums = np.abs(drawn(scales, np.random.default_rng(0)) @ weights)
    assert np.count_nonzero(sums <= found) >= stats.binom.ppf(1e-6, N_DRAWS, 0.95)
    assert found <= 1.15 * np.quantile(sums[sums < 1e4], 0.995)


def test_the_reach_of_one_number_is_its_exact_quantile_and_its_deviation_that_of_the_sampler():
    """100,000 draws of scale 3/2: a standard deviation within 2%, which is four standard errors."""
    for scale in (0.1, 0.4, 2.0, 50.0):
        exact = laplace_quantile(scale, 0.95)
        assert exact <= reach(np.ones(1), np.array([laplace_deviation(scale)]), 0.95) < exact + 1 + 0.1 * scale
    draws = np.array(discrete_laplace(3 / 2, 100_000, entropy_source(0)), dtype=float)
    assert draws.std() == pytest.approx(laplace_deviation(3 / 2), rel=0.02)
