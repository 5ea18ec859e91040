"""Bounds on the tails of scores over families of grids under independence, for any margins.

A score is the maximum over the entries of many grids. It reaches a value only if one of them does, so all tails are
summed, with grids of one size together. Their contribution is their number times the tail of one of them; or, once, the
tail of the finest table, from which all of them are merged, because merging parts never adds information.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class NullGrids(NamedTuple):
    """NullGrids of one size, or of several, each in a row of (n_sizes, 1) arrays.

    A score of s in one of them requires a dependence of at least ``slope * s + offset``.
    """

    slope: float | np.ndarray
    offset: float | np.ndarray
    log_tail: Callable[[np.ndarray], np.ndarray]
    """Of the dependence of any of them: an ndarray of it to logarithms of bounds on the probability to reach it."""


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
            of_sizes = np.exp(grids.log_tail(grids.slope * scores + grids.offset))
            tails += of_sizes.reshape(-1, len(scores)).sum(axis=0)
        tails[0] = 1.0
        return np.minimum.accumulate(np.minimum(tails, 1.0))


_COARSE, _FINE, _NEGLIGIBLE = 257, 513, 1e-30
