"""Quantiles of one column, learnt privately without a range: medians of medians (``docs/theory/learnt_edges.md``)."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np

from skdpmic.privacy.noise import uniform_below
from skdpmic.privacy.top_k import weighted_choice
from skdpmic.release.bounds.line import Line

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


_BITS = 16  # after the leading one, to which numbers are rounded towards zero
_DROPPED = 52 - _BITS  # bits of a double
_EXPONENT_OF_ONE = 1023
_LARGEST_CODE = (2047 << _BITS) - 1

# Powers of two at which the weight of an octave changes, and the weight from there on.
_BANDS = {-1023: 1, -64: 32, -16: 256, 24: 32, 64: 1}
_FIRST_CODES = np.array([max(1, (power + _EXPONENT_OF_ONE) << _BITS) for power in _BANDS], dtype=np.int64)
_BAND_WEIGHTS = np.array(list(_BANDS.values()), dtype=np.int64)


def _weight_of_codes_to(codes):
    """Weight of the codes 1 ... code, if all octaves had weight 1.

    A code with i trailing zero bits has weight 1 + 2 + ... + 2**i, for i up to 16: for every i, the multiples of 2**i
    have the same total share.
    """
    return sum((codes >> i) << i for i in range(_BITS + 1))


_BAND_STARTS = _weight_of_codes_to(_FIRST_CODES - 1)
_WEIGHT_BELOW_BANDS = np.concatenate([[0], np.cumsum(_BAND_WEIGHTS[:-1] * np.diff(_BAND_STARTS))])
_WEIGHT_OF_ZERO = int(_BAND_WEIGHTS.max()) * (_BITS + 1) << _BITS  # that of an octave


def _weight_to(codes):
    """Weight of the codes 1 ... code, for codes >= 0."""
    band = np.maximum(np.searchsorted(_FIRST_CODES, codes, side="right") - 1, 0)
    return _WEIGHT_BELOW_BANDS[band] + _BAND_WEIGHTS[band] * (_weight_of_codes_to(codes) - _BAND_STARTS[band])


_WEIGHT_OF_A_SIGN = int(_weight_to(np.int64(_LARGEST_CODE)))


def _to_codes(values):
    """Rounded numbers as integers in order, 0 for zero."""
    magnitudes = np.abs(values).view(np.int64) >> _DROPPED
    return np.where(values < 0, -magnitudes, magnitudes)


def _to_values(codes):
    return np.sign(codes) * (np.abs(codes) << _DROPPED).view(np.float64)


def _starts(codes):
    """Total weight of the rounded numbers below each code."""
    below = _WEIGHT_OF_A_SIGN - _weight_to(np.maximum(-codes, 0))
    above = _WEIGHT_OF_A_SIGN + _WEIGHT_OF_ZERO + _weight_to(np.maximum(codes - 1, 0))
    return np.where(codes > 0, above, below)


NUMBER_LINE = Line(_to_codes, _to_values, _starts, -_LARGEST_CODE, _LARGEST_CODE)
