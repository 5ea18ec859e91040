"""Rank statistics of independent variables: draws from the distribution for a uniform permutation.

For any distributions of two independent variables, the strict ranks of one, in the order of the other, are a uniform
permutation. The scores are computed from the same integers, and rounded in the same way, as those of data.
"""

import math
from functools import lru_cache

import numpy as np

from skdpmic._utils.jit import jit
from skdpmic.statistics.ranks.kernels import distance_correlation, quotient
from skdpmic.statistics.ranks.ties import Ranks

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
