"""The intervals of the effects of additive models, in tables drawn at random, by many fits to each of them."""

import math

import numpy as np
import pytest

from skdpmic import PrivateAdditiveClassifier, PrivateAdditiveRegressor

pytestmark = pytest.mark.filterwarnings("ignore:noise will exceed the signal", "ignore:delta is")

N_FITS = 40


def drawn(seed):
    """A table, its target, and a model of it."""
    rng = np.random.default_rng(seed)
    n, d, delta = int(400 * 50 ** rng.random()), int(rng.integers(2, 9)), float(rng.choice([0.0, 1e-6]))
    n_classes = (None, 2, 3, 7)[seed % 4]
    X = rng.beta(1.0, 1.5, (n, d))
    X[:, d - 1] = np.where(rng.random(n) < 0.1, np.nan, X[:, d - 1])
    signal = 3 * np.sin(5 * X[:, 0]) + np.nan_to_num(X).sum(axis=1) * rng.normal() + rng.logistic(0, 0.5, n)
    epsilon = round(float(4 ** rng.uniform(0, 1.5)), 2)
    if n_classes is None:
        return X, signal, PrivateAdditiveRegressor(epsilon, delta, bounds=(0, 1), target_bounds=(-6, 6))
    y = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    return X, y, PrivateAdditiveClassifier(epsilon, delta, bounds=(0, 1), classes=list(range(n_classes)))


def fits(seed):
    """Effects and half-widths of many fits, for the same factor."""
    X, y, model = drawn(seed)
    frames, factors = [], []
    for _ in range(N_FITS):
        frame = model.fit(X, y).to_frame()
        factors.append(getattr(model, "factor_", 1.0))
        frames.append(frame[["effect", "lower", "upper"]].to_numpy().T / factors[-1])
    effect, lower, upper = np.moveaxis(np.array(frames), 1, 0)
    assert "mean of the effect over the noise" in frame.attrs["interval"]
    return effect, lower, upper


@pytest.mark.parametrize("seeds", [range(1), pytest.param((1, 3, 4, 6, 9), marks=pytest.mark.slow)])
def test_intervals_of_effects_hold_for_their_means_and_are_not_much_wider_than_needed(seeds):
    """On average over the effects of a model, and over the tenth of them that are largest."""
    for seed in seeds:
        effect, lower, upper = fits(seed)
        means, deviations = effect.mean(axis=0), effect.std(axis=0)
        holds = ((lower <= means) & (means <= upper)).mean(axis=0)
        largest = np.abs(means) >= np.quantile(np.abs(means), 0.9)
        assert holds.mean() > 0.9, (seed, holds.mean())
        assert holds[largest].mean() > 0.85, (seed, holds[largest].mean())
        width = (upper - lower).mean(axis=0) / (2 * 1.96 * deviations)
        assert 0.9 < np.median(width) < 1.45, (seed, np.median(width))


@pytest.mark.parametrize("seed", range(4))
def test_intervals_of_effects_close_on_the_effects_without_noise(seed):
    X, y, model = drawn(seed)
    frame = model.set_params(epsilon=math.inf).fit(X, y).to_frame()
    np.testing.assert_array_equal(frame["lower"], frame["effect"])
    np.testing.assert_array_equal(frame["upper"], frame["effect"])
