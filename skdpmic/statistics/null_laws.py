"""p-values of released scores, from the known distributions of independent scores and of the noise."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from skdpmic.privacy.mechanisms import GRID

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
    least_information = 2.0 * n * np.square(np.maximum(tv, 0.0))  # n times that of this total variation, in nats
    bounds = [log_information_tail(least_information, fewer, more)]
    on_average = math.sqrt((fewer - 1) * (more - 1) / n) / 2
    above = np.maximum(np.asarray(tv, dtype=float) - on_average, 0.0)
    bounds.append(-(2.0 if fewer == 2 else 0.5) * n * np.square(above))
    if fewer == 2:
        bounds.append(log_sets(more) + log_division_tail(tv, n))
    return np.minimum(np.min(np.broadcast_arrays(*bounds), axis=0), 0.0)


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


def log_tail_of_any(log_number, of_one, of_finest=lambda dependence: 0.0):
    """The tail of the largest dependence over grids: their number times that of one, or that of the finest table."""
    return lambda dependence: np.minimum(log_number + of_one(dependence), of_finest(dependence))


_COARSE, _FINE, _NEGLIGIBLE = 257, 513, 1e-30


def bound_over(family):
    """The bound on a score over several `NullGrids`."""
    family = list(family)
    coarse = np.linspace(0.0, 1.0, _COARSE) ** 2  # denser near 0
    ends = np.searchsorted(-_tails(family, coarse), [-1.0, -_NEGLIGIBLE], side="right")
    first, last = max(ends[0] - 1, 0), min(ends[1], _COARSE - 1)
    fine = np.linspace(coarse[first], coarse[last], _FINE)
    scores = np.unique(np.r_[0.0, fine, 1.0])
    return ScoreBound(scores, _tails(family, scores))


def _tails(family, scores):
    tails = np.zeros(len(scores))
    for grids in family:
        of_sizes = np.exp(grids.log_tail(grids.needed(scores)))
        tails += of_sizes.reshape(-1, len(scores)).sum(axis=0)
    tails[0] = 1.0
    return np.minimum.accumulate(np.minimum(tails, 1.0))


# --- The distributions of scores -------------------------------------------------------------------------------------


# Scores are rounded to the grid; a tail of the noise is at most that of its distribution 1 or 1.5 steps earlier.
_SLACK = 2 * GRID


class ScoreBound(NamedTuple):
    """Bounds on the distribution of a score under independence, for all margins."""

    scores: np.ndarray
    """Ascending, from 0 to 1: (n_points,)."""
    tails: np.ndarray
    """The score is above ``scores[i]``, or reaches it if that is not 0, with at most this probability: (n_points,)."""

    def p_values(self, released, noise):
        """Bounds on the probability that a noisy score is at least as large: ndarray like `released`.

        Between two points of the bound, the score counts as the larger one. The bound is the sum over all points of the
        tail of the score times the increase of the tail of the noise there.
        """
        least = released[:, np.newaxis] - _SLACK
        tails_of_noise = _reaches(least - self.scores, noise)
        p = tails_of_noise[:, 0] + np.diff(tails_of_noise) @ self.tails[:-1]
        return np.where(released <= 0, 1.0, np.clip(p, 0.0, 1.0))


def _reaches(needed, noise):
    """The probability that the noise is at least as large as needed."""
    return (needed <= 0).astype(float) if noise is None else noise.sf(needed)
