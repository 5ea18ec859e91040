"""p-values of released scores, from the known distributions of independent scores and of the noise."""

import numpy as np

from skdpmic.privacy.mechanisms import GRID
from skdpmic.statistics.ranks.null_scores import null_scores

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
    the released value; beyond, and as far below as that is better, it is replaced by a tangent. Also, no tail of the
    score has more than `most_times` the probability of that of strict ranks.

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
