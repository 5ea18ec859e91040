"""How likely the best features are chosen despite the noise, from public numbers only.

The scores of a table are private, so this rests on a public assumption: how large scores were, and how fast they fell,
on 25 public tables (``python -m benchmarks.sets.falling``).
"""

import csv
import math
from functools import lru_cache
from importlib.resources import files

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from skdpmic._utils.texts import quoted
from skdpmic.privacy.mechanisms import CubeLaw, law_of_scale

TABLE = files("skdpmic.planning") / "scores_on_tables.csv"
SIGNALS = ("strong", "typical", "weak")
PLACES = np.array([0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])  # of the table
_MAX_COLUMNS = 100  # columns; in wider tables, the rest are assumed to score like the last of these
_MIN_PER_CHOICE = 4  # at least this many times the number of features chosen
_N_DRAWS = 500  # of the noise
_SPREAD = math.log(2)  # of the sizes that each one stands for; without it, what is found falls where one more counts
_SCALES = (1e-6, 1e2)  # noise at which nearly everything is found, and at which only chance finds anything


def check_signal(signal):
    """Raise unless `signal` is the name of an assumption."""
    if not isinstance(signal, str) or signal not in SIGNALS:
        raise ValueError(f"signal must be one of {list(SIGNALS)}, got {quoted(signal)}.")


def tolerance_of(n):
    """How far a score may be below that of the last of the best k to count as one of them, with n people.

    So much may the difference between the scores of two features change with other people of the same kind.
    """
    return 2 / math.sqrt(n)


@lru_cache(maxsize=1024)
def share_found(statistic, signal, n_features, k, law, tolerance, factor=1.0, largest=np.inf):
    """The share of k noisy choices that count as found, beyond chance, if scores are as on public tables.

    A choice counts if it is one of the best k features, or if its noise-free score is within the tolerance of the last
    of these. Without noise all count: 1. As many as of a random choice: 0.

    Parameters
    ----------
    statistic : str
        Statistic, with automatic B, c and correction; joint choices find about as much as single scores.
    signal : {"strong", "typical", "weak"}
    n_features : int
    k : int
        Number of features chosen; at most n_features.
    law : frozen distribution of scipy.stats or CubeLaw
        Of the noise on each score.
    tolerance : float
        On the scale of noise-free scores without the factor.
    factor : float, default=1.0
        Factor of the noise-free scores.
    largest : float, default=np.inf
        Largest possible score.

    Returns
    -------
    float
        Expected share, in [0, 1]; NaN for a statistic without an assumption.
    """
    if k == n_features:
        return 1.0
    if (statistic, signal) not in _table():
        return np.nan
    sizes, shape = _table()[statistic, signal]
    return share_of(np.minimum(factor * sizes, largest), shape, n_features, k, law, factor * tolerance)


def share_of(sizes, shape, n_features, k, law, tolerance):
    """The share found beyond chance, for scores of this shape and one of these equally likely sizes."""
    n_known = min(n_features, max(_MAX_COLUMNS, _MIN_PER_CHOICE * k))
    (unit, scale), n_rest = _unit(law), n_features - n_known
    scores = np.interp((np.arange(n_known) + 0.5) / n_known, PLACES, shape)
    scores = np.append(scores, np.full(min(k, n_rest), scores[-1]))
    noise, counted, by_chance = scale * _noise(unit, n_known, n_rest, k), [], []
    at_random = _best(noise, k)  # by the same noise, so that it cancels out
    for size in sizes:
        below = np.maximum(size * (scores[k - 1] - scores), 1e-300)
        # Half of the sizes near this one are smaller; without a tolerance, only what is not below counts.
        counts = np.clip(0.5 + np.log((tolerance + 1e-290) / below) / _SPREAD, 0, 1)
        counted.append(counts[_best(size * scores + noise, k)].mean())
        by_chance.append(counts[at_random].mean())
    return above_chance(np.mean(counted), np.mean(by_chance))


def _best(noisy, k):
    return np.argpartition(-noisy, k - 1, axis=1)[:, :k]


@lru_cache(maxsize=16)
def _noise(unit, n_known, n_rest, k):
    """Draws of the noise, the same in each call, on all known scores and the k largest on the rest: one row each."""
    n_largest = min(k, n_rest)
    levels = np.random.RandomState(0).random_sample((_N_DRAWS, n_known + n_largest))
    # The largest of m levels is distributed as one to the power 1/m; the next one is the largest of those below it.
    of_rest = levels[:, n_known:] ** (1 / np.arange(n_rest, n_rest - n_largest, -1))
    levels[:, n_known:] = np.cumprod(of_rest, axis=1)
    if isinstance(unit, CubeLaw):
        return unit.half_widths((np.arange(_N_DRAWS)[:, None] + 0.5) / _N_DRAWS) * (2 * levels - 1)
    return unit.ppf(levels)


def above_chance(share, by_chance):
    """0 for as much as by chance, 1 for all; 0 if chance finds all."""
    return float(max(share - by_chance, 0.0) / (1 - by_chance)) if by_chance < 1 else 0.0


def excess_of_noise(statistic, signal, n_features, k, law, tolerance, factor=1.0, largest=np.inf):
    """Ratio of the noise to the noise at which half of the best k are found; NaN without an assumption.

    It is infinite if no noise level lets half be found, because scores are hardly above 0.
    """
    unit, scale = _unit(law)
    finds_half = factor * _scale_that_finds_half(statistic, signal, n_features, k, unit, tolerance, largest / factor)
    return scale / finds_half if finds_half else np.inf


def _unit(law):
    """The distribution at scale 1, and its scale."""
    if isinstance(law, CubeLaw):
        return CubeLaw(law.n_scores, 1.0), law.scale
    return law_of_scale(getattr(stats, law.dist.name), 1.0), law.kwds["scale"]


@lru_cache(maxsize=256)
def _scale_that_finds_half(statistic, signal, n_features, k, unit, tolerance, largest):
    if (statistic, signal) not in _table():
        return np.nan

    def excess(log_scale):  # scales the scores instead of the noise, to keep the distribution
        factor = np.exp(-log_scale)
        return share_found(statistic, signal, n_features, k, unit, tolerance, factor, factor * largest) - 0.5

    if excess(np.log(_SCALES[0])) < 0:
        return 0.0
    return float(np.exp(brentq(excess, *np.log(_SCALES), xtol=0.01)))


@lru_cache(maxsize=1)
def _table():
    """The file as a dict: by statistic and signal, the sizes and the shape of scores."""
    with TABLE.open(encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    numbers = {(statistic, signal): np.array(values, dtype=np.float64) for statistic, signal, *values in rows}
    return {key: (of[: -len(PLACES)], of[-len(PLACES) :]) for key, of in numbers.items()}
