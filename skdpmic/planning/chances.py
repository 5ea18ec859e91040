"""How likely the right features are chosen in spite of noise, from public numbers only."""

import csv
import math
from functools import lru_cache
from importlib.resources import files

import numpy as np
from scipy.stats import binom

from skdpmic.privacy.cube_law import CubeLaw

TABLE = files("skdpmic.planning") / "scores_without_noise.csv"  # from python -m benchmarks.selection.found
SHARES = np.array([0.05] * 18 + [0.04, 0.03, 0.02, 0.008, 0.0015, 0.0005])  # whose mean scores the table holds
_N_NOISES = 50  # equally likely values that stand for a law of noise
_N_VALUES = 400  # equally likely values that stand for a score with noise
_N_CUBES = 20  # equally likely cubes that stand for all that noise may lie in


def share_found(statistic, n_samples, n_classes, n_features, k, law, on_target=math.inf, signal=1.0):
    """The share of k true features that is found among others by k noisy choices, in the simulated tables.

    Each true feature is drawn from one of the 21 relationships of :mod:`skdpmic.datasets`, at an R² of 0.5, 0.6, 0.7,
    0.8 or 0.9, all equally likely; the other features say nothing about the target, which is uniform, or has two
    classes of the same size.

    Parameters
    ----------
    statistic : str
        With automatic B, c and correction.
    n_samples : int
    n_classes : int or None
        None for a continuous target.
    n_features : int
    k : int
        How many features are true, and are chosen; at most n_features.
    law : frozen distribution of scipy.stats or CubeLaw
        Of the noise on each score.
    on_target : float, default=infinity
        `n_samples` times the epsilon that is spent on the target itself; infinity where its shares are public.
    signal : float, default=1.0
        What scores without noise are multiplied by, where records do not all count alike.

    Returns
    -------
    float
        Expected share; NaN where nothing was simulated: below 100 records, or with another number of classes. Beyond
        100,000 records the scores without noise are those of 100,000.
    """
    known = _table().get((statistic, n_classes or 0))
    if known is None or n_samples < min(n for _, n in known):
        return math.nan
    laws = [signal * scores for scores in _scores_without_noise(known, n_samples, on_target)]
    return chance_chosen(*laws, SHARES, k - 1, n_features - k, k, law)


@lru_cache(maxsize=256)
def miss_probability(n_features, k, law, draws_anew=False):
    """How likely a score of 1 is to miss the k best, all others being 0: with noise, and with features drawn at random.

    A single feature is compared with another one: the chance that a score of 1 and one of 0 change places.

    Parameters
    ----------
    n_features : int
    k : int, at least 1, and below n_features if that is not 1
    law : frozen distribution of scipy.stats or CubeLaw
        Of the noise on each score.
    draws_anew : bool, default=False
        Whether noise is drawn anew for each of the k choices, among the features that are left.

    Returns
    -------
    by_noise, at_random : float
    """
    n_features, one = max(n_features, 2), np.ones(1)
    choices = [(n_features - 1 - place, 1) for place in range(k)] if draws_anew else [(n_features - 1, k)]
    missed = math.prod(1 - chance_chosen(one, 0 * one, one, 0, n_noise, n_chosen, law) for n_noise, n_chosen in choices)
    return missed, 1 - k / n_features


def chance_chosen(true, noise, shares, n_other_true, n_noise, k, law):
    """The probability that a true feature is among the k with the largest noisy scores.

    It is chosen if fewer than k others come before it. Given its own noisy score, the numbers of true ones and of
    others that do are binomial, as scores and noise of features are independent; with noise in a cube, they are so
    given the size of the cube.

    Parameters
    ----------
    true, noise : ndarrays of shape (n_shares,)
        Scores without noise of true and of other features.
    shares : ndarray of shape (n_shares,)
        How likely each of these is.
    n_other_true, n_noise, k : int
    law : frozen distribution of scipy.stats or CubeLaw
    """
    if isinstance(law, CubeLaw):
        laws = law.given_half_widths(_N_CUBES)
        return float(np.mean([chance_chosen(true, noise, shares, n_other_true, n_noise, k, each) for each in laws]))
    values = _representatives(true, shares, law)
    true_above, noise_above = (law.sf(values[:, None] - scores) @ shares for scores in (true, noise))
    before = np.arange(min(k, n_other_true + 1))[:, None]  # other true features
    chances = binom.pmf(before, n_other_true, true_above) * binom.cdf(k - 1 - before, n_noise, noise_above)
    return float(np.clip(chances.sum(axis=0).mean(), 0, 1))


def _representatives(scores, shares, law):
    """Equally likely values that stand for a score with noise."""
    noises = law.ppf((np.arange(_N_NOISES) + 0.5) / _N_NOISES)
    values, weights = np.add.outer(scores, noises).ravel(), np.repeat(shares, _N_NOISES)
    order = np.argsort(values, kind="stable")
    levels = np.cumsum(weights[order]) - weights[order] / 2
    return np.interp((np.arange(_N_VALUES) + 0.5) / _N_VALUES, levels / weights.sum(), values[order])


def _scores_without_noise(known, n_samples, on_target):
    """Mean scores of true and of other features in each share; linear in the logarithms of both numbers."""
    levels = sorted({level for level, _ in known})
    return _between(
        levels, on_target, lambda level: _between(sorted({n for _, n in known}), n_samples, lambda n: known[level, n])
    )


def _between(points, at, value_of):
    """What lies between the values at two neighbours of `at`, linear in its logarithm; at an end, that of the end."""
    if len(points) == 1 or at <= points[0]:
        return value_of(points[0])
    above = min(np.searchsorted(points, min(at, points[-1])), len(points) - 1)
    weight = np.interp(math.log(at), np.log(points[above - 1 : above + 1]), [0, 1])
    return (1 - weight) * value_of(points[above - 1]) + weight * value_of(points[above])


@lru_cache(maxsize=1)
def _table():
    """The file: by (statistic, n_classes), then (on_target, n_samples), scores of true and of other features."""
    table = {}
    with TABLE.open(encoding="utf-8") as file:
        for statistic, n_classes, on_target, n_samples, _, *scores in list(csv.reader(file))[1:]:
            known = table.setdefault((statistic, int(n_classes)), {})
            laws = known.setdefault((float(on_target) if on_target else None, int(n_samples)), [])
            laws.append([float(score) for score in scores])
    return {key: {cell: np.array(laws) for cell, laws in known.items()} for key, known in table.items()}
