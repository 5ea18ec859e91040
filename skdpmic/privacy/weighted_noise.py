"""The law of a weighted sum of independent discrete Laplace numbers, from its characteristic function."""

import math

import numpy as np

_HALF_PERIOD = 12.0  # standard deviations; the few sums beyond it are taken for smaller ones
_SMOOTHING = 1 / 40  # standard deviation of normal noise that makes the law continuous, in those of the sum
_BEYOND = 2.5 * _SMOOTHING  # covers it where the law has atoms
_TIMES = np.pi / _HALF_PERIOD * np.arange(1, round(4 / _SMOOTHING * _HALF_PERIOD / np.pi))
_STEPS = 16  # of bisection


def deviations_of(scales):
    """Standard deviations of discrete Laplace numbers of these scales: float64 ndarray.

    0 for scales below 1/200, at which a number other than 0 is drawn with a probability below 1e-86.
    """
    scales = np.asarray(scales, dtype=np.float64)
    return np.where(scales < 1 / 200, 0.0, math.sqrt(0.5) / np.sinh(0.5 / np.maximum(scales, 1 / 200)))


def reach(weights, deviations, confidence):
    """A number that the absolute value of a weighted sum of noise exceeds with a probability of 1 - `confidence`.

    A number of standard deviation s has the characteristic function ``1 / (1 + 2 s**2 sin(t / 2)**2)``, and is 0 with a
    probability of ``1 / sqrt(1 + 2 s**2)``. The reach is too large by up to an eighth of the sum's standard deviation.

    Parameters
    ----------
    weights, deviations : ndarrays of shape (n,)
        Weights, and standard deviations of independent discrete Laplace numbers.
    confidence : float in (0, 1)

    Returns
    -------
    float
        0 if the sum is 0 with at least this probability.
    """
    given = np.array([np.abs(weights), deviations])[:, weights * deviations != 0]
    (weights, deviations), repeats = np.unique(given, axis=1, return_counts=True)
    log_still = -np.log1p(2 * deviations**2) / 2 * repeats  # logarithms of the probabilities of all these to be 0
    if log_still.sum() >= math.log(confidence):
        return 0.0
    reached = _smoothed_reach(weights, deviations, repeats, confidence)
    is_small = weights <= reached
    log_rest = math.log(confidence) - log_still[~is_small].sum()
    if is_small.all() or log_rest >= 0:
        return reached
    # Large ones are 0 so often that a quantile of the small ones will do, which smoothing for all would not resolve.
    small = (np.repeat(of[is_small], repeats[is_small]) for of in (weights, deviations))
    return min(reached, reach(*small, math.exp(log_rest)))


def _smoothed_reach(weights, deviations, repeats, confidence):
    total = math.sqrt(repeats @ (weights * deviations) ** 2)
    sines = np.sin(np.outer(_TIMES / 2 / total, weights))
    logarithm = np.log1p(2 * (deviations * sines) ** 2) @ repeats + (_SMOOTHING * _TIMES) ** 2 / 2
    waves = 2 * np.exp(-np.minimum(logarithm, 600)) / _TIMES

    def within(x):
        return (x + waves @ np.sin(_TIMES * x)) / _HALF_PERIOD

    low, high = 0.0, _HALF_PERIOD
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if within(middle) >= confidence else (middle, high)
    return (high + _BEYOND) * total
