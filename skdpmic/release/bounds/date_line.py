"""The public line of all dates, in seconds since 1970: single seconds from 1900 to 2100, and days before and after.

Seconds, minutes, hours and days have equal shares of these 200 years, because dates without a time, and times to the
minute, have many equal values. On the line of numbers, a part of 2023 is 4.6 hours
wide (``docs/theory/learnt_edges.md``).
"""

import numpy as np

from skdpmic.release.bounds.line import Line

_DAY = 86_400
_ROUND = (1, 60, 3_600, _DAY)  # seconds
_FIRST, _LAST = (
    int(np.datetime64(year, "s").astype(np.int64)) for year in ("1900", "2100")
)  # codes in between are seconds; codes beyond are days
_FARTHEST = 2**42 // _DAY  # days from 1900 or 2100: 139,000 years
_LEAST, _LARGEST = _FIRST - _FARTHEST, _LAST + _FARTHEST
_WEIGHT_OF_A_DAY_BEYOND = 64  # a fifth of the line lies beyond


def _to_codes(seconds):
    beyond = np.minimum(seconds - _FIRST, 0) + np.maximum(seconds - _LAST, 0)
    codes = np.clip(np.floor(seconds), _FIRST, _LAST) + np.floor(beyond / _DAY)
    return np.clip(codes, _LEAST, _LARGEST).astype(np.int64)


def _to_values(codes):
    seconds = np.clip(codes, _FIRST, _LAST)
    return (seconds + (codes - seconds) * _DAY).astype(np.float64)


def _starts(codes):
    """Total weight of the codes below each code; a second has the total weight of the round numbers that divide it."""
    seconds = np.clip(codes, _FIRST, _LAST)
    rounded_up = sum(-(-seconds // each) * each for each in _ROUND)
    return rounded_up - len(_ROUND) * _FIRST + (codes - seconds + _FARTHEST) * _WEIGHT_OF_A_DAY_BEYOND


DATE_LINE = Line(_to_codes, _to_values, _starts, _LEAST, _LARGEST)
