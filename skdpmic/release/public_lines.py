"""Public lines, with a position for every possible value of a column, such as a date (``docs/theory/learnt_edges.md``).

The guarantee only requires the line to be public; its weights determine where learning is easy.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

_PLACES_IN_CELL_BITS = 20
PLACES_IN_CELL = 1 << _PLACES_IN_CELL_BITS  # a cell (one rounded value) is a range of positions


class Line(NamedTuple):
    """Rounded values as integer codes, in order, and the weight of each.

    Parameters
    ----------
    to_codes : callable
        Maps a float64 ndarray of finite values to codes.
    to_values : callable
        Maps an int64 ndarray of codes to rounded values.
    starts : callable
        Maps such an array to the total weight below each code.
    least, largest : int
        Smallest and largest code.
    """

    to_codes: Callable[[np.ndarray], np.ndarray]
    to_values: Callable[[np.ndarray], np.ndarray]
    starts: Callable[[np.ndarray], np.ndarray]
    least: int
    largest: int

    @property
    def n_positions(self):
        """The number of positions."""
        return int(self.starts(np.array([self.largest + 1]))[0]) << _PLACES_IN_CELL_BITS

    def to_positions(self, values, random_bytes):
        """The position of each value: a random one in its cell, so that equal values have different positions.

        Parameters
        ----------
        values : float64 ndarray of shape (n,)
            Finite.
        random_bytes : callable
            Source of the random positions, which do not depend on the values.

        Returns
        -------
        int64 ndarray of shape (n,)
            In 0 ... n_positions - 1.
        """
        codes = self.to_codes(values)
        starts = self.starts(codes)
        places = np.frombuffer(random_bytes(4 * len(values)), dtype=np.uint32).astype(np.int64) & (PLACES_IN_CELL - 1)
        return (starts << _PLACES_IN_CELL_BITS) + (self.starts(codes + 1) - starts) * places

    def to_numbers(self, positions):
        """The rounded value in whose cell each position lies, by bisection.

        Parameters
        ----------
        positions : int64 ndarray of shape (n,)
            In 0 ... n_positions; the last counts as the one before it.

        Returns
        -------
        float64 ndarray of shape (n,)
        """
        weights = positions >> _PLACES_IN_CELL_BITS
        codes = np.full(len(positions), self.least, dtype=np.int64)
        for bit in reversed(range((self.largest - self.least).bit_length())):
            higher = np.minimum(codes + (1 << bit), self.largest)
            codes = np.where(self.starts(higher) <= weights, higher, codes)
        return self.to_values(codes)

    def is_too_coarse_for(self, quantiles):
        """Whether quantiles (without the outer ones of seven or more) lie in fewer adjacent cells than their number."""
        inner = quantiles[1:-1] if len(quantiles) >= 7 else quantiles
        codes = self.to_codes(inner)
        return bool(codes.max() - codes.min() + 1 < len(inner))


# --- The line of dates -----------------------------------------------------------------------------------------------
#
# The public line of all dates, in seconds since 1970: single seconds from 1900 to 2100, and days before and after.
#
# Seconds, minutes, hours and days have equal shares of these 200 years, because dates without a time, and times to
# the minute, have many equal values. On the line of numbers, a part of 2023 is 4.6 hours wide
# (``docs/theory/learnt_edges.md``).


_DAY = 86_400
_ROUND = (1, 60, 3_600, _DAY)  # seconds
# Codes in between are seconds; codes beyond are days.
_FIRST, _LAST = (int(np.datetime64(year, "s").astype(np.int64)) for year in ("1900", "2100"))
_FARTHEST = 2**42 // _DAY  # days from 1900 or 2100: 139,000 years
_LEAST, _LARGEST = _FIRST - _FARTHEST, _LAST + _FARTHEST
_WEIGHT_OF_A_DAY_BEYOND = 64  # a fifth of the line lies beyond


def _codes_of_dates(seconds):
    beyond = np.minimum(seconds - _FIRST, 0) + np.maximum(seconds - _LAST, 0)
    codes = np.clip(np.floor(seconds), _FIRST, _LAST) + np.floor(beyond / _DAY)
    return np.clip(codes, _LEAST, _LARGEST).astype(np.int64)


def _dates_of_codes(codes):
    seconds = np.clip(codes, _FIRST, _LAST)
    return (seconds + (codes - seconds) * _DAY).astype(np.float64)


def _date_weight_below(codes):
    """Total weight of the codes below each code; a second has the total weight of the round numbers that divide it."""
    seconds = np.clip(codes, _FIRST, _LAST)
    rounded_up = sum(-(-seconds // each) * each for each in _ROUND)
    return rounded_up - len(_ROUND) * _FIRST + (codes - seconds + _FARTHEST) * _WEIGHT_OF_A_DAY_BEYOND


DATE_LINE = Line(_codes_of_dates, _dates_of_codes, _date_weight_below, _LEAST, _LARGEST)


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


def _codes_of_numbers(values):
    """Rounded numbers as integers in order, 0 for zero."""
    magnitudes = np.abs(values).view(np.int64) >> _DROPPED
    return np.where(values < 0, -magnitudes, magnitudes)


def _numbers_of_codes(codes):
    return np.sign(codes) * (np.abs(codes) << _DROPPED).view(np.float64)


def _weight_below(codes):
    """Total weight of the rounded numbers below each code."""
    below = _WEIGHT_OF_A_SIGN - _weight_to(np.maximum(-codes, 0))
    above = _WEIGHT_OF_A_SIGN + _WEIGHT_OF_ZERO + _weight_to(np.maximum(codes - 1, 0))
    return np.where(codes > 0, above, below)


NUMBER_LINE = Line(_codes_of_numbers, _numbers_of_codes, _weight_below, -_LARGEST_CODE, _LARGEST_CODE)
