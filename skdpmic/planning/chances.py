"""How likely the best features are chosen despite the noise, from public numbers only.

The scores of a table are private, so this rests on a public assumption: how large scores were, and how fast they fell,
on 25 public tables (``python -m benchmarks.sets.falling``).
"""

import csv
from functools import lru_cache
from importlib.resources import files

import numpy as np
from scipy import stats
from scipy.optimize import brentq
from scipy.stats import binom

from skdpmic._utils.texts import quoted
from skdpmic.privacy.mechanisms import CubeLaw, law_of_scale

TABLE = files("skdpmic.planning") / "scores_on_tables.csv"
SIGNALS = ("strong", "typical", "weak")
JOINT = "mtv_r, joint"  # joint scores, in place of a statistic
PLACES = np.array([0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])  # of the table
_SHARES = np.array([0.05] * 19 + [0.05 * 0.5**i for i in range(1, 16)] + [0.05 * 0.5**15])  # best last
_MAX_COLUMNS = 100  # columns; in wider tables, the rest are assumed to score like the last of these
_MIN_PER_CHOICE = 4  # at least this many times the number of features chosen
_N_NOISES = 50  # equally likely values that represent a noise distribution
_N_VALUES = 200  # equally likely values that represent a noisy score
_N_CUBES = 20  # equally likely cubes that represent the cube of the noise
_SCALES = (1e-6, 1e2)  # noise at which nearly everything is found, and at which only chance finds anything


def check_signal(signal):
    """Raise unless `signal` is the name of an assumption."""
    if not isinstance(signal, str) or signal not in SIGNALS:
        raise ValueError(f"signal must be one of {list(SIGNALS)}, got {quoted(signal)}.")


@lru_cache(maxsize=1024)
def share_found(statistic, signal, n_features, k, law, factor=1.0, largest=np.inf):
    """The share of the best k features that k noisy choices find, if scores are as on public tables.

    Parameters
    ----------
    statistic : str
        Statistic, with automatic B, c and correction; or `JOINT`.
    signal : {"strong", "typical", "weak"}
    n_features : int
    k : int
        Number of features chosen; at most n_features.
    law : frozen distribution of scipy.stats or CubeLaw
        Of the noise on each score.
    factor : float, default=1.0
        Factor of the noise-free scores.
    largest : float, default=np.inf
        Largest possible score.

    Returns
    -------
    float
        Expected share; NaN for a statistic without an assumption.
    """
    if k == n_features:
        return 1.0
    if (statistic, signal) not in _table():
        return np.nan
    sizes, shape = _table()[statistic, signal]
    return share_of(np.minimum(factor * sizes, largest), shape, n_features, k, law)


def share_of(sizes, shape, n_features, k, law):
    """The share of the best features found, for scores of this shape and one of these equally likely sizes."""
    n_known = min(n_features, max(_MAX_COLUMNS, _MIN_PER_CHOICE * k))
    from_top = 1 - (np.cumsum(_SHARES) - _SHARES / 2)  # the middle of each share, ascending by score
    ranks = from_top * k, k + from_top * (n_features - k)
    of_best, of_others = (np.interp(rank / n_known, PLACES, shape) for rank in ranks)
    chances = [chance_chosen(a * of_best, a * of_others, _SHARES, k - 1, n_features - k, k, law) for a in sizes]
    return float(np.mean(chances))


def excess_of_noise(statistic, signal, n_features, k, law, factor=1.0, largest=np.inf):
    """Ratio of the noise to the noise at which half of the best k are found; NaN without an assumption.

    It is infinite if no noise level lets half be found, because scores are hardly above 0.
    """
    unit, scale = _unit(law)
    finds_half = factor * _scale_that_finds_half(statistic, signal, n_features, k, unit, largest / factor)
    return scale / finds_half if finds_half else np.inf


def _unit(law):
    """The distribution at scale 1, and its scale."""
    if isinstance(law, CubeLaw):
        return CubeLaw(law.n_scores, 1.0), law.scale
    return law_of_scale(getattr(stats, law.dist.name), 1.0), law.kwds["scale"]


@lru_cache(maxsize=256)
def _scale_that_finds_half(statistic, signal, n_features, k, unit, largest):
    if (statistic, signal) not in _table():
        return np.nan

    def excess(log_scale):  # scales the scores instead of the noise, to keep the distribution
        factor = np.exp(-log_scale)
        return share_found(statistic, signal, n_features, k, unit, factor, factor * largest) - 0.5

    if excess(np.log(_SCALES[0])) < 0:
        return 0.0
    return float(np.exp(brentq(excess, *np.log(_SCALES), xtol=0.01)))


def chance_chosen(true, noise, shares, n_other_true, n_noise, k, law):
    """The probability that a true feature is among the k with the largest noisy scores.

    It is chosen if fewer than k others precede it. Given its own noisy score, the numbers of preceding true features
    and of preceding other features are binomial, because scores and noise are independent between features; with
    noise in a cube, this holds given the size of the cube.

    Parameters
    ----------
    true, noise : ndarrays of shape (n_shares,)
        Noise-free scores of true and of other features.
    shares : ndarray of shape (n_shares,)
        Probability of each of these scores.
    n_other_true, n_noise, k : int
    law : frozen distribution of scipy.stats or CubeLaw
    """
    if isinstance(law, CubeLaw):
        laws = law.given_half_widths(_N_CUBES)
        return float(np.mean([chance_chosen(true, noise, shares, n_other_true, n_noise, k, each) for each in laws]))
    values = _representatives(true, shares, law)
    with np.errstate(over="ignore"):  # far in a tail
        true_above, noise_above = (law.sf(values[:, None] - scores) @ shares for scores in (true, noise))
    before = np.arange(min(k, n_other_true + 1))[:, None]  # number of other true features
    chances = binom.pmf(before, n_other_true, true_above) * binom.cdf(k - 1 - before, n_noise, noise_above)
    return float(np.clip(chances.sum(axis=0).mean(), 0, 1))


def _representatives(scores, shares, law):
    """Equally likely values that represent a noisy score."""
    noises = law.ppf((np.arange(_N_NOISES) + 0.5) / _N_NOISES)
    values, weights = np.add.outer(scores, noises).ravel(), np.repeat(shares, _N_NOISES)
    order = np.argsort(values, kind="stable")
    levels = np.cumsum(weights[order]) - weights[order] / 2
    return np.interp((np.arange(_N_VALUES) + 0.5) / _N_VALUES, levels / weights.sum(), values[order])


@lru_cache(maxsize=1)
def _table():
    """The file as a dict: by statistic and signal, the sizes and the shape of scores."""
    with TABLE.open(encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    numbers = {(statistic, signal): np.array(values, dtype=np.float64) for statistic, signal, *values in rows}
    return {key: (of[: -len(PLACES)], of[-len(PLACES) :]) for key, of in numbers.items()}
