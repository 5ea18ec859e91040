"""Models from noisy tables, compared with plain formulas, without noise and with it."""

import numpy as np
import pytest

from skdpmic._utils.arguments import nearest_shares
from skdpmic.models.model_releases import ScorecardNoise, effects_on_classes, ridge
from skdpmic.models.parts import offsets_of

pytestmark = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")

SIZES, N = [3, 2, 4], 500
OFFSETS = offsets_of(SIZES)


def codes_and_target(seed=0):
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, size, N) for size in SIZES]
    y = 0.3 * (codes[0] == 1) - 0.2 * (codes[2] == 3) + 0.1 * rng.normal(size=N)
    return codes, np.clip(y, -0.5, 0.5)


def indicators(codes):
    return np.column_stack([np.ones(N), *(np.eye(size)[code] for size, code in zip(SIZES, codes, strict=True))])


def tables(codes):
    parts = [np.eye(size)[code] for size, code in zip(SIZES, codes, strict=True)]
    pairs = {(i, j): parts[i].T @ parts[j] for i in range(3) for j in range(i + 1, 3)}
    return [part.sum(axis=0) for part in parts], pairs


def test_without_noise_the_model_is_ridge_regression_on_indicators():
    codes, y = codes_and_target()
    Z = indicators(codes)
    effects = ridge(Z.T @ Z, Z[:, 1:].T @ y[:, None], OFFSETS, 0.0, 0.0)
    expected = Z @ np.linalg.solve(Z.T @ Z + np.eye(Z.shape[1]), Z.T @ y)
    np.testing.assert_allclose(effects.intercept + Z[:, 1:] @ effects.of_parts[:, 0], expected, atol=1e-9)
    assert not effects.deviations.any()


def noisy(moments, sums, count_scale, sum_scale, rng):
    """Moments and sums with the noise of a release."""
    p = len(moments) - 1
    column_of = np.repeat(np.arange(len(SIZES)), SIZES)
    noise = np.triu(rng.normal(scale=count_scale, size=(p, p)), 1)
    noise[column_of[:, None] == column_of] = 0
    noise += noise.T + np.diag(rng.normal(scale=count_scale, size=p))
    moments = moments.copy()
    moments[1:, 1:] += noise
    moments[0, 1:] = moments[1:, 0] = moments.diagonal()[1:]
    return moments, sums + rng.normal(scale=sum_scale, size=sums.shape)


@pytest.mark.slow
def test_the_stated_deviations_match_those_of_the_effects():
    """300 draws at a noise of 4 records, within 35% of the empirical deviations, which are accurate to 4%."""
    codes, y = codes_and_target()
    Z, rng = indicators(codes), np.random.default_rng(1)
    exact = Z.T @ Z, Z[:, 1:].T @ y[:, None]
    draws = [ridge(*noisy(*exact, 4.0, 1.0, rng), OFFSETS, 4.0, 1.0) for _ in range(300)]
    found = np.std([draw.of_parts[:, 0] for draw in draws], axis=0)
    stated = np.median([draw.deviations[:, 0] for draw in draws], axis=0)
    np.testing.assert_allclose(stated, found, rtol=0.35)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_the_nearest_distributions_satisfy_the_conditions_of_a_projection(n_classes):
    scores = np.random.default_rng(0).normal(scale=0.7, size=(200, n_classes))
    shares = nearest_shares(scores)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares >= 0).all()
    shift = (scores - shares).max(axis=1, keepdims=True)  # equal where shares are positive, no larger elsewhere
    np.testing.assert_allclose(np.where(shares > 0, scores - shares - shift, 0.0), 0.0, atol=1e-12)
    np.testing.assert_array_equal(shares.argmax(axis=1), scores.argmax(axis=1))


def test_effects_of_a_scorecard_without_noise_are_logarithms_of_relative_shares():
    counts = np.array([[30.0, 10.0], [20.0, 40.0]])
    effects = effects_on_classes(counts, np.array([0, 2]), ScorecardNoise("geometric", 0, 0))
    odds = np.diff(effects.of_parts, axis=1).ravel()
    np.testing.assert_allclose(odds, [np.log(10.5 / 30.5), np.log(40.5 / 20.5)], atol=0.02)
    np.testing.assert_allclose(np.diff(effects.intercept), 0.0)
