"""Quantiles of one column, learnt privately without a range: medians of medians (``docs/theory/learnt_edges.md``)."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np

from skdpmic.privacy.noise import uniform_below
from skdpmic.privacy.weighted_choice import weighted_choice

LEAST_BUDGET = 48  # n * epsilon needed by one median; 2**t - 1 of them need that many times as much
_MOST_LEVELS = 5


def n_levels(n, epsilon):
    """The number of useful levels of medians; both arguments are public, and n includes missing values."""
    levels = range(_MOST_LEVELS, 0, -1)
    return next((t for t in levels if n * epsilon >= LEAST_BUDGET * (2**t - 1)), 0)


def private_quantiles(values, epsilon, n_levels, line, random_bytes):
    """Noisy quantiles 1/2**n_levels, 2/2**n_levels, ... of a column, with epsilon-differential privacy.

    Parameters
    ----------
    values : float64 ndarray of shape (n_present,)
        Finite. Their number is private, because values may be missing.
    epsilon : Fraction or infinity, above 0
    n_levels : int
        Public.
    line : Line
        Public.
    random_bytes : callable
        From :func:`entropy_source`.

    Returns
    -------
    float64 ndarray of shape (2**n_levels - 1,)
        Nondecreasing; rounded to cells of the line.
    """
    positions = np.sort(line.to_positions(values, random_bytes))
    return line.to_numbers(np.array(medians(positions, line.n_positions, rates(epsilon, n_levels), random_bytes)))


def rates(epsilon, n_levels):
    """The rate of each level: the rates sum to epsilon / 2, and double from level to level, while subsets halve."""
    if epsilon == math.inf:
        return [math.inf] * n_levels
    return [epsilon / 2 * Fraction(2**level, 2**n_levels - 1) for level in range(n_levels)]


def squared_rates(n_levels, n_columns):
    """The sum of the squared rates of this many columns that share an epsilon of 1: twice their cost in zCDP."""
    return n_columns * sum(rate**2 for rate in rates(Fraction(1, n_columns), n_levels))


def medians(positions, n_positions, rates, random_bytes):
    """Noisy medians: of all positions, of the positions on either side of that median, and so on.

    Parameters
    ----------
    positions : int64 ndarray of shape (n,)
        Sorted, within 0 ... n_positions - 1.
    n_positions : int
    rates : list of length n_levels
        On level j, a position is drawn with probability proportional to ``exp(-rates[j] * |below - size / 2|)``.
    random_bytes : callable

    Returns
    -------
    list of int, of length 2**n_levels - 1
        In order.
    """
    places = [0, n_positions]
    for rate in rates:
        drawn = [_median(positions, *between, rate, random_bytes) for between in pairwise(places)]
        places = sorted(places + drawn)
    return places[1:-1]


def _median(positions, first, last, rate, random_bytes):
    """A position in first ... last, drawn by the exponential mechanism from positions in first ... last - 1."""
    within = slice(*np.searchsorted(positions, (first, last)))
    ends = np.concatenate([[first - 1], positions[within], [last]])
    n_places = np.diff(ends)  # places with the same number of positions below them, 0 ... size
    size = len(ends) - 2
    from_half = np.abs(2 * np.arange(size + 1, dtype=np.int64) - size)  # doubled, to be an integer
    below = weighted_choice(n_places, from_half, rate / 2, random_bytes)
    return int(ends[below]) + 1 + int(uniform_below(int(n_places[below]), 1, random_bytes)[0])
