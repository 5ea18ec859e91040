"""Dates and durations as seconds, each by itself: the number for one row does not depend on other rows.

The unit of dates in numpy and pandas may depend on all rows. So seconds and fractions are separated in integers: an
instant has the same two, and the same float, in every unit that can represent it.
"""

import datetime
import math

import numpy as np

NUMBERS, DATES, DURATIONS = "numbers", "dates", "durations"  # kinds of bounds
_WHOLE = {"W": 604_800, "D": 86_400, "h": 3_600, "m": 60, "s": 1}  # seconds in a unit
_PARTS = {"ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15, "as": 10**18}  # units in a second
_FARTHEST = 10**15  # years or months
_EPOCH = datetime.datetime(1970, 1, 1)


def seconds(values):
    """Seconds since 1970 in UTC, or those of a duration.

    Parameters
    ----------
    values : ndarray of dtype datetime64 or timedelta64
        Counts of a unit, of which "not a time" is the least.

    Returns
    -------
    float64 ndarray
    """
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    unit, multiple = np.datetime_data(values.dtype)
    if values.dtype.kind == "M" and unit in ("Y", "M"):
        farthest = _FARTHEST // multiple  # so that days do not overflow
        counts = np.clip(values.view(np.int64), -farthest, farthest)
        unit, multiple, values = "D", 1, counts.view(values.dtype).astype("M8[D]")
    if unit not in _WHOLE and unit not in _PARTS:
        raise ValueError("durations must be in weeks or a shorter unit, got months, years or none.")
    counts = values.view(np.int64)
    if unit in _WHOLE:
        return counts * float(multiple * _WHOLE[unit])
    whole, rest = np.divmod(counts, np.int64(_PARTS[unit])) if multiple == 1 else _divmod(counts, multiple, unit)
    return whole + rest / float(_PARTS[unit])


def _divmod(counts, multiple, unit):
    """Divmod of counts of several units each, whose product may overflow an int64."""
    per_second = _PARTS[unit]
    pairs = [divmod(count * multiple, per_second) for count in counts.tolist()]
    return np.array(pairs, dtype=np.float64).reshape(-1, 2).T


def kind_of_date(value):
    """The kind of a scalar, "dates" or "durations"; None if it is neither."""
    if isinstance(value, datetime.timedelta | np.timedelta64):
        return DURATIONS
    return DATES if isinstance(value, datetime.date | np.datetime64) else None


def as_date(seconds, kind):
    """The date or duration of this many seconds, to a microsecond, or the number itself for numbers."""
    if kind == NUMBERS:
        return float(seconds)
    count = round(seconds * 10**6)
    return np.datetime64(count, "us") if kind == DATES else np.timedelta64(count, "us")


def seconds_of(value):
    """The seconds of a scalar of any library: Timestamp, datetime, date, Timedelta, timedelta or a numpy scalar."""
    if hasattr(value, "to_numpy"):  # of pandas, in UTC, exactly
        value = value.to_numpy()
    elif isinstance(value, datetime.datetime):
        offset = value.utcoffset() or datetime.timedelta(0)
        # A duration, as the first and the last hours of the calendar have no date in other time zones.
        value = value.replace(tzinfo=None) - _EPOCH - offset
    if isinstance(value, datetime.timedelta):
        return value.days * _WHOLE["D"] + value.seconds + value.microseconds / 10**6
    value = np.datetime64(value) if isinstance(value, datetime.date) else value
    return math.nan if np.isnat(value) else float(seconds(np.array([value]))[0])
