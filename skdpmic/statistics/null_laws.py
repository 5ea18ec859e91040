"""p-values of released scores, from the known distributions of independent scores and of the noise."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from skdpmic._utils.jit import jit
from skdpmic.privacy.mechanisms import GRID
from skdpmic.statistics.ranks.kernels import Ranks, distance_correlation, quotient

# --- Tails of the dependence of one table ----------------------------------------------------------------------------
#
# Tail bounds on the dependence of a table of counts under independence, for all margins.
#
# They hold for any number of independent records whose row and column are independent, for any probabilities of rows
# and columns (``docs/theory/p_values.md``). All are natural logarithms, at most 0.


def log_information_tail(t, n_rows, n_columns):
    """Bound on the probability that n times the mutual information of a fixed table reaches `t` nats.

    Parameters
    ----------
    t : float or ndarray
    n_rows, n_columns : int or ndarray, at least 2

    Returns
    -------
    float or ndarray
        ``D log(t / D) + D - t``, from t = D on, for D the smaller of ``n_columns (n_rows - 1)`` and ``n_rows (n_columns
        - 1)``: Chernoff's bound for a sum of D exponential variables.
    """
    degrees = np.minimum(n_columns * (n_rows - 1), n_rows * (n_columns - 1))
    t = np.maximum(t, degrees)
    return degrees * np.log(t / degrees) + degrees - t


def log_division_tail(tv, n):
    """Bound on the probability that ``2 (p_AB - p_A q_B)`` of fixed sets A of rows and B of columns reaches `tv` > 0.

    Parameters
    ----------
    tv : float or ndarray
    n : int
        Number of records.
    """
    return -2.0 * n * np.square(np.maximum(tv, 0.0))


def log_variation_tail(tv, n, n_rows, n_columns):
    """Bound on the probability that the total variation from independence of a fixed table reaches `tv`.

    The smallest of three bounds: all sets of rows, if there are two columns; Pinsker's inequality; bounded differences.

    Parameters
    ----------
    tv : float or ndarray
    n : int
        Number of records.
    n_rows, n_columns : int, at least 2
    """
    fewer, more = sorted((n_rows, n_columns))
    bounds = [log_information_tail(least_information(tv, n), fewer, more)]
    on_average = math.sqrt((fewer - 1) * (more - 1) / n) / 2
    above = np.maximum(np.asarray(tv, dtype=float) - on_average, 0.0)
    bounds.append(-(2.0 if fewer == 2 else 0.5) * n * np.square(above))
    if fewer == 2:
        bounds.append(log_sets(more) + log_division_tail(tv, n))
    return np.minimum(np.min(np.broadcast_arrays(*bounds), axis=0), 0.0)


def least_information(tv, n):
    """Lower bound on n times the mutual information, in nats, if the total variation is `tv`."""
    return 2.0 * n * np.square(np.maximum(tv, 0.0))


def log_sets(n):
    """Logarithm of the number of nonempty proper subsets of n rows."""
    return n * math.log(2.0) + math.log1p(-(2.0 ** (1 - n)))


def log_choices(n, k):
    """Logarithm of the number of ways to choose k of n; numbers or ndarrays."""
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


# --- Bounds over families of grids -----------------------------------------------------------------------------------
#
# Bounds on the tails of scores over families of grids under independence, for any margins.
#
# A score is the maximum over the entries of many grids. It reaches a value only if one of them does, so all tails are
# summed, with grids of one size together. Their contribution is their number times the tail of one of them; or, once,
# the tail of the finest table, from which all of them are merged, because merging parts never adds information.


class NullGrids(NamedTuple):
    """Grids of one size, or of several, each in a row of (n_sizes, 1) arrays.

    A score of s in one of them requires a dependence of at least ``slope * s + offset``, or of ``s + least`` if that is
    less.
    """

    slope: float | np.ndarray
    offset: float | np.ndarray
    log_tail: Callable[[np.ndarray], np.ndarray]
    """Of the dependence of any of them: an ndarray of it to logarithms of bounds on the probability to reach it."""
    least: float = np.inf

    def needed(self, scores):
        """The dependence that scores require."""
        return np.minimum(self.slope * scores + self.offset, scores + self.least)


def log_tail_of_any(log_number, of_one, of_finest=None):
    """The tail of the largest dependence over grids: their number times that of one, or that of the finest table."""
    if of_finest is None:
        return lambda dependence: np.minimum(log_number + of_one(dependence), 0.0)
    return lambda dependence: np.minimum(log_number + of_one(dependence), of_finest(dependence))


class ScoreBound:
    """Bounds on the distribution of a score under independence.

    Parameters
    ----------
    family : iterable of NullGrids

    Attributes
    ----------
    scores : ndarray of shape (n_points,)
        Ascending, from 0 to 1.
    tails : ndarray of shape (n_points,)
        The score is above ``scores[i]``, or reaches it if that is not 0, with at most this probability.
    """

    def __init__(self, family):
        self._family = list(family)
        coarse = np.linspace(0.0, 1.0, _COARSE) ** 2  # denser near 0
        tails = self._tails(coarse)
        ends = np.searchsorted(-tails, [-1.0, -_NEGLIGIBLE], side="right")
        first, last = max(ends[0] - 1, 0), min(ends[1], _COARSE - 1)
        fine = np.linspace(coarse[first], coarse[last], _FINE)
        self.scores = np.unique(np.r_[0.0, fine, 1.0])
        self.tails = self._tails(self.scores)

    def _tails(self, scores):
        tails = np.zeros(len(scores))
        for grids in self._family:
            of_sizes = np.exp(grids.log_tail(grids.needed(scores)))
            tails += of_sizes.reshape(-1, len(scores)).sum(axis=0)
        tails[0] = 1.0
        return np.minimum.accumulate(np.minimum(tails, 1.0))


_COARSE, _FINE, _NEGLIGIBLE = 257, 513, 1e-30


# --- The distributions of scores -------------------------------------------------------------------------------------


# Scores are rounded to the grid; a tail of the noise is at most that of its distribution 1 or 1.5 steps earlier.
_SLACK = 2 * GRID


class BoundedLaw:
    """A score with known bounds on its tails, for all margins.

    Parameters
    ----------
    bound : ScoreBound
    """

    def __init__(self, bound):
        self._bound = bound

    def p_values(self, released, noise, n_resamples, seed):
        """Bounds on the probability that a noisy score is at least as large: ndarray like `released`.

        Between two points of the bound, the score counts as the larger one. The bound is the sum over all points of the
        tail of the score times the increase of the tail of the noise there.
        """
        least = released[:, np.newaxis] - _SLACK
        tails_of_noise = _reaches(least - self._bound.scores, noise)
        p = tails_of_noise[:, 0] + np.diff(tails_of_noise) @ self._bound.tails[:-1]
        return np.where(released <= 0, 1.0, np.clip(p, 0.0, 1.0))


class SimulatedLaw:
    """A score of strict ranks, whose distribution does not depend on the margins.

    Parameters
    ----------
    name : str
        Name of the statistic.
    n : int
        Number of records.
    n_in_class : int, default=None
        Number of records in one of the two classes of the target, if it has two.
    """

    def __init__(self, name, n, n_in_class=None):
        self._name, self._n, self._n_in_class = name, n, n_in_class

    def scores(self, n_resamples, seed):
        """Noise-free scores, ascending."""
        return null_scores(self._name, self._n, n_resamples, seed, self._n_in_class)

    def p_values(self, released, noise, n_resamples, seed):
        """The share of scores that are at least as large, among the simulated noisy scores and the released one."""
        scores = self.scores(n_resamples, seed)
        if noise is not None:
            scores = np.sort(scores + noise.rvs(n_resamples, random_state=np.random.default_rng([seed, 1])))
        n_below = np.searchsorted(np.clip(scores, 0.0, 1.0), released - _SLACK)
        return (1.0 + n_resamples - n_below) / (n_resamples + 1.0)


class AveragedLaw:
    """The mean, over all orders of the ties, of a score of strict ranks.

    It is smaller in convex order, so no convex function of it has a larger mean. The tail of the noise is convex below
    the released value; beyond it, and below it as far as this improves the bound, it is replaced by a tangent. Also, no
    tail of the score has more than `most_times` the probability of that of strict ranks.

    The distribution of strict ranks may be known only approximately: it is then widened, and may be missed.

    Parameters
    ----------
    strict : SimulatedLaw
        Distribution of strict ranks.
    most_times : float
        May be infinite.
    widening : float, default=1.0
        Factor of simulated scores.
    missed : float, default=0.0
        Upper bound on the probability that this distribution does not hold.
    """

    def __init__(self, strict, most_times, widening=1.0, missed=0.0):
        self._strict, self._most_times, self._widening, self._missed = strict, most_times, widening, missed

    def of_strict_ranks(self):
        """The distribution if there are no ties, or only those of two classes."""
        return self._strict if self._missed == 0 else self

    def p_values(self, released, noise, n_resamples, seed):
        """The smallest mean of such a function over the simulated strict scores, or `most_times` their tail."""
        scores, counts = _in_groups(self._widening * self._strict.scores(n_resamples, seed))
        least = np.maximum(released - _SLACK, GRID)
        needed = least[:, np.newaxis] - scores
        tails = np.where(needed >= 0, _reaches(needed, noise), 0.0)  # where they are convex
        sums = np.full(len(released), np.inf)
        for slopes, roots in _tangents(least, noise):
            lines = slopes[:, np.newaxis] * (scores - roots[:, np.newaxis])
            sums = np.minimum(sums, np.maximum(lines, tails) @ counts)
        p = (1.0 + sums) / (1.0 + n_resamples)
        if self._most_times < np.inf:
            p = np.minimum(p, self._most_times * self._strict.p_values(released, noise, n_resamples, seed))
        return np.where(released <= _SLACK, 1.0, np.minimum(p + self._missed, 1.0))


def _in_groups(ascending):
    """The largest score and the size of each group; groups are finer for larger scores."""
    n_above = np.unique(np.geomspace(1, len(ascending), _GROUPS).astype(int)) - 1
    ends = len(ascending) - n_above[::-1]
    return ascending[ends - 1], np.diff(ends, prepend=0)


def _tangents(least, noise):
    """Lines above the tail of the noise from `least` on, where it is concave: slopes and roots."""
    if noise is None:
        for share in np.linspace(0.0, 1.0, _TANGENTS, endpoint=False):
            yield 1 / (least * (1 - share)), least * share
        return
    beyond = noise.kwds["scale"] * np.linspace(0.0, _FURTHEST, _TANGENTS)
    for at, slope, height in zip(beyond, noise.pdf(beyond), noise.cdf(beyond), strict=True):
        if slope > 0:
            yield np.full(len(least), slope), least + at - height / slope


def _reaches(needed, noise):
    """The probability that the noise is at least as large as needed."""
    return (needed <= 0).astype(float) if noise is None else noise.sf(needed)


_GROUPS, _TANGENTS, _FURTHEST = 300, 51, 25.0


MOST_RECORDS = 10_000  # simulated at most; for more, the scores are scaled to the standard deviation
MOST_OF_CLASS = 5_000  # the same for the records of one of two classes
MOST_OF_DISTANCES = 2_000  # the same for the distance correlation, which is slower


@lru_cache(maxsize=32)
def null_scores(name, n, n_draws, seed, n_in_class=None):
    """Scores of independent variables without ties, ascending; or of one without ties and two classes.

    Parameters
    ----------
    name : {"kendall", "chatterjee", "distance_correlation"}
    n : int
        Number of records.
    n_draws : int
    seed : int
    n_in_class : int, default=None
        Number of records in one of the classes of a target of two classes, for Kendall.

    Returns
    -------
    ndarray of shape (n_draws,)
        In [0, 1]. Read-only, because it is cached.
    """
    rng = np.random.default_rng(seed)
    if n_in_class is not None:
        scores = np.sort(_class_rank_sums(n, n_in_class, n_draws, rng))
    else:
        draw, spread, most = _LAWS[name]
        n_drawn = min(n, most)
        scores = np.sort(draw(n_drawn, n_draws, rng))
        scores = scores if n == n_drawn else scores * (spread(n) / spread(n_drawn))
    scores.flags.writeable = False
    return scores


def _class_rank_sums(n, n_in_class, n_draws, rng):
    """Multiples of the rank sum of a class; large classes are scaled down, with their share of records."""
    n_drawn, n_of_class = n, n_in_class
    if n_in_class > MOST_OF_CLASS:
        n_drawn, n_of_class = round(n * MOST_OF_CLASS / n_in_class), MOST_OF_CLASS
    sums = np.zeros(n_draws, dtype=np.int64)
    _add_rank_sums(np.arange(n_drawn), n_of_class, rng, sums)
    scores = np.array([quotient(2 * abs(int(of_draw)), n_drawn * (n_drawn - 1)) for of_draw in sums])
    if n_drawn == n:
        return scores
    return scores * (_spread_of_class(n, n_in_class) / _spread_of_class(n_drawn, n_of_class))


def _spread_of_class(n, n_in_class):
    return math.sqrt(n_in_class * (n - n_in_class) * (n + 1)) / (n * (n - 1))


def _kendall(n, n_draws, rng):
    n_pairs = n * (n - 1) // 2
    discordant = np.zeros(n_draws, dtype=np.int64)
    _count_discordant_pairs(n, rng, discordant)
    return np.array([quotient(abs(n_pairs - 2 * int(of_draw)), n_pairs) for of_draw in discordant])


def _chatterjee(n, n_draws, rng):
    variations = np.zeros(n_draws, dtype=np.int64)
    _add_variations(np.arange(n), np.empty(n, dtype=np.int64), rng, variations)
    return np.array([quotient(max(n**2 - 1 - 3 * int(of_draw), 0), n**2 - 1) for of_draw in variations])


def _distance_correlation(n, n_draws, rng):
    ranks = Ranks(np.arange(n), np.ones(n, dtype=np.int64))
    return np.array([distance_correlation(ranks, ranks._replace(group=rng.permutation(n))) for _ in range(n_draws)])


def _root(n):
    return 1 / math.sqrt(n)


_LAWS = {  # how scores are drawn, the width of their distribution for n records, and the most records drawn
    "kendall": (_kendall, lambda n: math.sqrt((2 * n + 5) / (n * (n - 1))), MOST_RECORDS),
    "chatterjee": (_chatterjee, _root, MOST_RECORDS),
    "distance_correlation": (_distance_correlation, _root, MOST_OF_DISTANCES),
}

# --- Kernels --------------------------------------------------------------------------------------------------------


@jit
def _count_discordant_pairs(n, rng, numbers):
    """Discordant pairs of uniform permutations: record i forms a uniform number 0 ... i of these with previous ones."""
    for draw in range(len(numbers)):
        for i in range(1, n):
            numbers[draw] += int(rng.random() * (i + 1))


@jit
def _add_rank_sums(ranks, n_in_class, rng, sums):
    """Sums of the ranks -(n - 1), -(n - 3) ... n - 1 of some records, from `ranks`, 0 ... n - 1 in any order."""
    n = len(ranks)
    for draw in range(len(sums)):
        for i in range(n_in_class):
            j = i + int(rng.random() * (n - i))
            ranks[i], ranks[j] = ranks[j], ranks[i]
            sums[draw] += 2 * ranks[i] - (n - 1)


@jit
def _add_variations(ranks, places, rng, smaller):
    """Sums of distances of the ranks of records next to one another, the smaller of both directions.

    `ranks` are 0 ... n - 1 in any order; `places` is a workspace.
    """
    n = len(ranks)
    for draw in range(len(smaller)):
        for i in range(n):
            j = i + int(rng.random() * (n - i))
            ranks[i], ranks[j] = ranks[j], ranks[i]
            places[ranks[i]] = i
        here, there = 0, 0
        for i in range(1, n):
            here += abs(ranks[i] - ranks[i - 1])
            there += abs(places[i] - places[i - 1])
        smaller[draw] = min(here, there)
