"""Public bounds in the user's form, of one column and of all features."""

import numbers
from itertools import pairwise

import numpy as np

from skdpmic._utils.arguments import check_column_bounds, in_order
from skdpmic._utils.readable import is_date
from skdpmic.table.dates import NUMBERS, kind_of_date, seconds_of
from skdpmic.table.domains import Knots, LogRange, Range, is_range

_ALLOWED = "(lower, upper), (lower, upper, 'log') or three or more increasing numbers"


def domain_of(entry, name):
    """The domain of one column, from an entry of `bounds` or from `target_bounds`.

    Parameters
    ----------
    entry : (lower, upper), (lower, upper, "log") or three or more increasing numbers
        Numbers; or dates or durations of any library.
    name : str
        Name of the entry in errors.

    Returns
    -------
    Range, LogRange or Knots
    """
    try:
        ends, is_log = _parts_of(entry)
        of, ends = _as_numbers(ends)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be {_ALLOWED}, got {_shortened(entry)}{_advice(entry)}.") from None
    if not all(is_range(lower, upper) for lower, upper in pairwise(ends)) or not is_range(ends[0], ends[-1]):
        what = "lower < upper" if len(ends) == 2 else "increasing numbers"
        raise ValueError(f"{name} must be finite with {what}, as must upper - lower, got {_shortened(entry)}.")
    if is_log and of != NUMBERS:
        raise ValueError(f"{name} must be numbers with 'log', got {of}.")
    if len(ends) > 2:
        return Knots(tuple(ends), of)
    return LogRange(*ends) if is_log else Range(*ends, of)


def _parts_of(entry):
    """The numbers in an entry, and whether it has "log"."""
    ends = list(in_order(entry))
    is_log = len(ends) == 3 and isinstance(ends[2], str)
    if is_log and ends.pop() != "log":
        raise ValueError
    if len(ends) < 2:
        raise ValueError
    return ends, is_log


def _as_numbers(ends):
    """The kind of the ends, and all of them as floats."""
    kinds = {kind_of_date(end) if is_date(end) else NUMBERS for end in ends}
    if len(kinds) > 1 or None in kinds:
        raise TypeError
    if kinds == {NUMBERS}:
        if any(isinstance(end, str | bytes) for end in ends):
            raise TypeError
        return NUMBERS, [float(end) for end in ends]
    return kinds.pop(), [seconds_of(end) for end in ends]


def _advice(entry):
    is_text = isinstance(entry, tuple | list) and any(isinstance(end, str) and end != "log" for end in entry)
    return ": pass dates as objects, for instance pd.Timestamp('2020-01-01')" if is_text else ""


def _shortened(entry):
    """An entry as text, shortened if there are many knots."""
    text = repr(entry)
    return text if len(text) <= 200 else f"{text[:160]}... ({len(text) - 160} characters more)"


def domains_of(bounds, n_features):
    """The domain of each feature, from bounds that are no dict: one entry for all features, or an array for each end.

    Returns
    -------
    list of length n_features
    """
    if _is_entry(bounds):
        return [domain_of(bounds, "bounds")] * n_features
    lower, upper = check_column_bounds(bounds, n_features)
    pairs = zip(lower.tolist(), upper.tolist(), strict=True)
    return [_range_of_feature(*pair, j) for j, pair in enumerate(pairs)]


def _is_entry(bounds):
    """Whether bounds are one entry for all features: scalars, one of which may be "log"."""
    try:
        return all(isinstance(end, numbers.Real | str | np.generic) or is_date(end) for end in in_order(bounds))
    except TypeError:
        return False


def _range_of_feature(lower, upper, j):
    if not is_range(lower, upper):
        raise ValueError(
            f"bounds must be finite with lower < upper, as must upper - lower, got ({lower}, {upper}) for feature {j}."
        )
    return Range(lower, upper)


# --- From the data, without a guarantee ---------------------------------------------------------------------------


def with_range_of_data(values):
    """Values of one column, and their range.

    If the width of the range overflows, the column is scaled by a power of two, which does not affect scores.
    """
    present = values[~np.isnan(values)]
    if len(present) == 0:
        return values, Range(0.0, 1.0)
    if np.abs(present, dtype=np.float64).max() > 2.0**1020:
        values, present = values * 2.0**-4, present * 2.0**-4
    lower, upper = float(present.min()), float(present.max())
    # A constant can have any width.
    return values, Range(lower, upper if upper > lower else lower + max(1.0, abs(lower)))
