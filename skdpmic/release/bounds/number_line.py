"""The public line of all finite numbers, which needs no known range.

A code is a number's rank among all floats with 16 bits after the leading one. Codes have public weights: numbers of
everyday size weigh more than others, and round numbers, at which columns often have many equal values, more than their
neighbours (``docs/theory/learnt_edges.md``).
"""

import numpy as np

from skdpmic.release.bounds.line import Line

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
