"""Checks of columns, ranges, shares and other plain arguments. No message quotes a data value."""

import math
import numbers
from collections.abc import Sequence

import numpy as np

from skdpmic._utils.errors import PrivacyLeakWarning, warn
from skdpmic._utils.readable import holds_dates, is_date
from skdpmic._utils.texts import quoted

_MOST = 2**53
_ROUNDING_OF_SHARES = 0.01  # rounded percentages may sum to 99 or 101


def check_interval(interval, name):
    """`interval` as a pair of finite floats, the first below the second."""
    try:
        lo, hi = map(_as_float, ordered_pair(interval))
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{name} must be a pair of numbers (lower, upper), got {quoted(interval)}{_advice_on_dates(interval)}."
        ) from None
    if not (math.isfinite(lo) and math.isfinite(hi) and lo < hi):
        raise ValueError(f"{name} must be finite with lower < upper, got {quoted(interval)}.")
    if not math.isfinite(hi - lo):
        raise ValueError(f"{name} must be finite with lower < upper, as must upper - lower, got {quoted(interval)}.")
    return lo, hi


def is_auto(given):
    """Whether a parameter, which may be an array, is "auto"."""
    return isinstance(given, str) and given == "auto"


def asks_for_data(value):
    """Whether a public argument is "data", which breaks the guarantee."""
    return isinstance(value, str) and value == "data"


def check_public(name, value):
    """Raise if a public argument is "data" although the data is never complete in memory."""
    if asks_for_data(value):
        raise ValueError(f"{name} must be public if records come in pieces, got 'data'.")


def warn_about_data(name):
    """Warn that the public argument `name` is read from the data."""
    warn(
        f"{name}='data' reads {name} from the data, so the privacy guarantee does not hold. Pass values that are "
        "known in advance, not read from the data.",
        PrivacyLeakWarning,
    )


def check_pair_bounds(bounds):
    """`bounds` as two intervals, of x and of y."""
    try:
        x_bounds, y_bounds = ordered_pair(bounds)
    except (TypeError, ValueError):
        raise ValueError(f"bounds must be ((x_lo, x_hi), (y_lo, y_hi)), got {quoted(bounds)}.") from None
    return check_interval(x_bounds, "bounds of x"), check_interval(y_bounds, "bounds of y")


def check_n_shares(target_shares, n_classes):
    """Public shares of this many classes, or for None, of equal parts of a numeric target: a list of floats."""
    return check_shares(target_shares, (2, 4, 8) if n_classes is None else (n_classes,))


def check_shares(target_shares, n_shares=None):
    """The shares as a list of floats above 0 with a sum of about 1, whose length is in `n_shares` if that is given."""
    try:
        numbers_ = np.asarray(target_shares, dtype=np.float64)
    except (TypeError, ValueError):
        numbers_ = np.empty(0)
    is_list = numbers_.ndim == 1 and bool((numbers_ > 0).all()) and abs(numbers_.sum() - 1) <= _ROUNDING_OF_SHARES
    if not is_list or (n_shares is not None and len(numbers_) not in n_shares):
        allowed = "" if n_shares is None else f"{' or '.join(map(str, n_shares))} "
        found = f"{len(numbers_)} numbers" if is_list else quoted(target_shares)
        raise ValueError(f"target_shares must be {allowed}numbers above 0 with a sum of 1, got {found}.")
    return numbers_.tolist()


def check_target_cut(target_cut, target_shares, has_classes):
    """Raise unless the target is numeric, with one share for each side of its public cut."""
    if has_classes:
        raise ValueError(f"target_cut must be None with classes, which are not cut, got {quoted(target_cut)}.")
    if target_shares is None or isinstance(target_shares, str) or len(target_shares) != 2:
        raise ValueError(
            f"target_shares must be the 2 shares of the records below target_cut={quoted(target_cut)} and from it on, "
            f"got {quoted(target_shares)}."
        )


def check_column_bounds(bounds, n_columns, name="bounds"):
    """`bounds` as the lower and the upper ends of the ranges of all columns.

    Returns
    -------
    lower, upper : float64 ndarrays of shape (n_columns,)
        Not yet checked to be finite.
    """
    allowed = f"{name} must be (lower, upper), each a number or an array of shape (n_features,) = ({n_columns},)"
    try:
        sides = [_as_floats(side) for side in ordered_pair(bounds)]
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{allowed}, got {quoted(bounds)}{_advice_on_dates(bounds)}.") from None
    shapes = [side.shape for side in sides]
    if n_columns != 2 and shapes == [(2,)] * n_columns:
        raise ValueError(f"{allowed}, got one pair per feature: pass tuple(np.transpose({name})), or a dict by name.")
    if len(sides) != 2:
        raise ValueError(f"{allowed}, got {quoted(bounds)}.")
    for shape in shapes:
        if shape not in ((), (n_columns,)):
            raise ValueError(f"{allowed}, got an array of shape {shape}.")
    if n_columns == 2 and shapes == [(2,), (2,)] and not _is_tuple_of_arrays(bounds):
        raise ValueError(f"{name} of two features must be unambiguous, {_both_readings(bounds)}.")
    lower, upper = sides
    return np.broadcast_to(lower, n_columns), np.broadcast_to(upper, n_columns)


def ordered_pair(pair):
    """`pair`; a TypeError unless it is ordered, unlike a set or a dict."""
    is_ordered = isinstance(pair, tuple | list | Sequence) or len(getattr(pair, "shape", ())) > 0
    if not is_ordered or isinstance(pair, str | bytes):
        raise TypeError
    return pair


def _as_float(bound):
    if isinstance(bound, str | bytes) or is_date(bound):
        raise TypeError
    return float(bound)


def _as_floats(side):
    array = np.array(side)  # a copy, which cannot be changed elsewhere
    if array.dtype.kind not in "biufO" or holds_dates(array):
        raise TypeError
    return array.astype(np.float64)


def _advice_on_dates(bounds):
    if not any(map(holds_dates, bounds if isinstance(bounds, tuple | list) else [bounds])):
        return ""
    return (
        ": write dates as numbers in the unit of the column, (date - pd.Timestamp('2020-01-01')) / pd.Timedelta(days=1)"
    )


def _is_tuple_of_arrays(bounds):
    """The only form of (lower, upper) for two features that differs from one pair per feature."""
    return isinstance(bounds, tuple) and not any(isinstance(side, tuple | list) for side in bounds)


def _both_readings(bounds):
    (a, b), (c, d) = bounds
    return (
        f"got {quoted(bounds)}. For (all lower ends, all upper ends), pass a tuple of arrays, "
        f"(np.array([{a}, {b}]), np.array([{c}, {d}])). For one pair per feature, pass "
        f"(np.array([{a}, {c}]), np.array([{b}, {d}])), or a dict by name"
    )


def is_number(value):
    """Whether a parameter is a real number; True and False are not."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_whole(value):
    """Whether a parameter is an int; True and False are not."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def check_k(k):
    """Raise unless `k` is a valid number of features."""
    is_all = isinstance(k, str) and k == "all"
    if not is_all and (not is_whole(k) or k < 1):
        raise ValueError(f"k must be an int >= 1 or 'all', got {quoted(k)}.")


def check_n_jobs(n_jobs):
    """Raise unless `n_jobs` is None or an int that joblib accepts."""
    if n_jobs is not None and (not is_whole(n_jobs) or n_jobs == 0):
        raise ValueError(f"n_jobs must be None or an int other than 0, got {quoted(n_jobs)}.")


def check_whole(value, name, least=1):
    """Raise unless `value` is an int that is at least `least`, and no more than a float counts exactly."""
    if not is_whole(value) or value < least:
        raise ValueError(f"{name} must be an int >= {least}, got {quoted(value)}.")
    if value > _MOST:
        raise ValueError(f"{name} must be an int <= 2**53, got one of {int(value).bit_length():,} bits.")


def check_verbose(verbose):
    """Raise unless `verbose` is an int >= 0, or a bool."""
    if not isinstance(verbose, numbers.Integral) or verbose < 0:
        raise ValueError(f"verbose must be an int >= 0, got {quoted(verbose)}.")


def check_row(values, kinds, wanted):
    """`values` as an array; an error unless it is 1-D, nonempty and of one of these numpy kinds."""
    array = np.asarray(values)
    if array.ndim != 1 or len(array) == 0 or array.dtype.kind not in kinds:
        raise ValueError(f"{wanted}, got {quoted(values)}.")
    return array


def one_of(names):
    """Names as a choice, for a message."""
    *others, last = map(repr, names)
    return f"{', '.join(others)} or {last}"


def nearest_shares(estimates):
    """The nearest point with nonnegative coordinates that sum to 1.

    Parameters
    ----------
    estimates : ndarray of any shape

    Returns
    -------
    ndarray of the same shape
    """
    descending = np.sort(estimates, axis=None)[::-1]
    shifts = (descending.cumsum() - 1) / np.arange(1, descending.size + 1)
    return np.maximum(estimates - shifts[np.flatnonzero(descending > shifts)[-1]], 0.0)
