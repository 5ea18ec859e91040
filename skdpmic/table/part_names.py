"""Names of the parts of a column, all different: labels as they are, the ends of a range, and other and missing."""

from itertools import pairwise

import numpy as np

from skdpmic._utils.texts import told_apart

OTHER, MISSING = "other", "missing"
_UNITS = ("D", "m", "s", "ms", "us")  # of dates
_IF_EXACT, _DIGITS = range(3, 7), range(3, 18)
_EXACT, _NEAR = 1e-9, 0.01  # errors of rounded ends, in widths of the narrower part beside each


def names_of_labels(labels):
    """Public labels as they are, as text."""
    return [label if isinstance(label, str) else repr(label).removesuffix(".0") for label in labels]


def beside(names, ours=(OTHER, MISSING)):
    """Names of our own parts, which differ from all others: these may be labels such as "other"."""
    taken, apart = set(names), []
    for name in ours:
        while name in taken:
            name += " (not a label)"
        taken.add(name)
        apart.append(name)
    return apart


def names_of_ranges(ends):
    """A name for each part between two neighbouring ends."""
    return told_apart([f"{low} to {high}" for low, high in pairwise(ends_in_words(ends))])


def ends_in_words(ends):
    """The ends of neighbouring parts as text: exact if that is short, otherwise as exact as the parts are narrow.

    Parameters
    ----------
    ends : array-like of shape (n_parts + 1,)
        Ascending numbers, dates or durations; at least two.
    """
    ends = np.asarray(ends)
    if ends.dtype.kind == "m":  # always exact
        return [str(end.item()).removesuffix(", 0:00:00") for end in ends.astype("m8[us]")]
    widths = np.abs(np.diff(ends).astype(np.float64))
    room = np.minimum(np.append(widths, np.inf), np.insert(widths, 0, np.inf))
    if ends.dtype.kind == "M":
        return _first_within(_NEAR * room, ends, (_dates(ends, unit) for unit in _UNITS))
    exact = _first_within(_EXACT * room, ends, (_numbers(ends, digits) for digits in _IF_EXACT), None)
    return exact or _first_within(_NEAR * room, ends, (_numbers(ends, digits) for digits in _DIGITS))


def _first_within(errors, ends, written, otherwise=""):
    """The first texts whose values are no further from the ends than that; `otherwise`, or else the last ones."""
    for texts, values in written:
        if (np.abs((values - ends).astype(np.float64)) <= errors).all():
            return texts
    return texts if otherwise is not None else None


def _dates(ends, unit):
    rounded = ends.astype(f"M8[{unit}]")
    days = rounded.astype("M8[D]")
    return np.where(rounded == days, np.datetime_as_string(days), np.datetime_as_string(rounded)).tolist(), rounded


def _numbers(ends, digits):
    texts = [_number(float(end) + 0.0, digits) for end in ends]  # 0 instead of -0
    return texts, np.array([float(text) for text in texts])


def _number(value, digits):
    if value == 0 or 1e-4 <= abs(value) < 1e16:
        return np.format_float_positional(value, precision=digits, fractional=False, trim="-")
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
