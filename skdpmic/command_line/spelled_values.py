"""Values of a CSV, each parsed from text separately, according to the codebook.

No type is inferred, because that would need the whole column, and one record could change how all others are read.
"""

import pyarrow
from pyarrow import compute

from skdpmic._utils.texts import quoted
from skdpmic.codebook.column import BOOLEAN, DATE, DURATION

MISSING = ("", "na", "n/a", "#n/a", "nan", "null", ".")  # in lower case, without surrounding spaces
TRUE, FALSE = ("true", "t", "yes", "y", "1", "1.0"), ("false", "f", "no", "n", "0", "0.0")
_MICROSECONDS = {unit: 10**6 * n for unit, n in {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86_400}.items()}
_MICROSECONDS["weeks"] = 7 * _MICROSECONDS["days"]
_TIME, _DIGIT = pyarrow.timestamp("us"), r":\d\d(?:\.\d+)?"
_ZONE = rf"{_DIGIT}(?:Z|[+-]\d\d(?::?\d\d)?)$"


def spelled(text, entry, name, decimal="."):
    """Parse a column of text into values.

    Parameters
    ----------
    text : pyarrow.Array of strings
    entry : ColumnEntry or None
        Codebook entry of the column; None keeps text, for columns that identify people.
    name : str
        Name of the column in errors, which quote no value.
    decimal : str, default="."
        Decimal point.

    Returns
    -------
    pyarrow.Array
        Array whose type depends on the entry only: float64, timestamp, duration, boolean or text.
    """
    labels = [label for label in (entry and entry.labels) or () if isinstance(label, str)]
    text = _without_missing(text, labels)
    if entry is None or labels:
        return text
    text = compute.utf8_trim_whitespace(text)
    if entry.kind == BOOLEAN:
        return _booleans(text, name)
    if entry.kind == DATE:
        return _read(_dates, text, f"{name} must hold dates as 2024-12-31 or 2024-12-31 23:59:59")
    form = f"{name} must hold numbers with the decimal point {quoted(decimal)} and no other signs, such as '%'"
    numbers = _read(_numbers, text, form, decimal)
    return in_unit(numbers, entry, name) if entry.kind == DURATION else numbers


def spelled_in_place(text, entry, name, place_of, decimal="."):
    """Like :func:`spelled`, but its error says where the first unreadable value is.

    Parameters
    ----------
    text, entry, name, decimal
        As in :func:`spelled`.
    place_of : callable
        ``place_of(i)`` is the place of a value in the file, in words.
    """
    try:
        return spelled(text, entry, name, decimal)
    except ValueError as error:
        message = str(error)
    place = place_of(_first_unreadable(text, entry, decimal))
    raise ValueError(f"{message.removesuffix('.')}, the first in {place}.")


def _first_unreadable(text, entry, decimal):
    """The index of the first unreadable value."""
    low, high = 0, len(text)  # the first `low` values can be read, but not all of the first `high`
    while high - low > 1:
        middle = (low + high) // 2
        try:
            spelled(text.take(pyarrow.array(range(low, middle))), entry, "", decimal)  # older slices lose their nulls
        except ValueError:
            high = middle
        else:
            low = middle
    return low


def in_unit(values, entry, name):
    """A column of durations, from numbers in the unit of the codebook."""
    return _read(_durations, values, f"{name} must hold numbers of {entry.unit}", _MICROSECONDS[entry.unit])


def type_of(entry, name):
    """The type of a parsed column; a ValueError if floats cannot tell its labels apart."""
    if entry and any(abs(label) > 2**53 for label in entry.labels or () if not isinstance(label, str)):
        raise ValueError(
            f"the labels of {quoted(name)} must be text above 2**53: write them in quotes in the codebook."
        )
    return spelled(pyarrow.array([], pyarrow.string()), entry, "").type


def _read(convert, values, must, *options):
    """``convert(values, *options)``, with errors replaced by one that does not quote the value."""
    try:
        return convert(values, *options)
    except pyarrow.ArrowException:
        pass
    raise ValueError(f"{must}, got at least one other value.")


def _without_missing(text, labels):
    """Null in place of spellings of missing values, except those that are labels."""
    plain = compute.utf8_lower(compute.utf8_trim_whitespace(text))
    is_label = _is_one_of(text, labels)
    is_missing = compute.and_not(_is_one_of(plain, MISSING), is_label)
    return compute.if_else(is_missing, pyarrow.scalar(None, pyarrow.string()), text)


def _is_one_of(text, texts):
    return compute.is_in(text, value_set=pyarrow.array(texts, pyarrow.string()))


def _numbers(text, decimal):
    if decimal != ".":  # a point could then be a thousands separator
        text = compute.replace_substring(compute.replace_substring(text, ".", "?"), decimal, ".")
    return compute.cast(text, pyarrow.float64())


def _booleans(text, name):
    plain = compute.utf8_lower(text)
    is_true, is_false = _is_one_of(plain, TRUE), _is_one_of(plain, FALSE)
    known = compute.or_(compute.or_(is_true, is_false), compute.is_null(text))
    if not compute.all(known, min_count=0).as_py():
        spellings = ", ".join((*TRUE, *FALSE))
        raise ValueError(f"{name} must hold one of {spellings} (in any case), got at least one other value.")
    return compute.if_else(compute.is_null(text), pyarrow.scalar(None, pyarrow.bool_()), is_true)


def _dates(text):
    """Timestamps in microseconds; with a time zone, in UTC."""
    text = compute.replace_substring_regex(text, r"(\.\d{6})\d+", r"\1")  # truncates to microseconds
    has_zone, nothing = compute.match_substring_regex(text, _ZONE), pyarrow.scalar(None, pyarrow.string())
    zoned = compute.cast(compute.if_else(has_zone, text, nothing), pyarrow.timestamp("us", "UTC"))
    plain = compute.cast(compute.if_else(has_zone, nothing, text), _TIME)
    return compute.coalesce(compute.cast(zoned, _TIME), plain)


def _durations(values, microseconds):
    numbers = compute.cast(values, pyarrow.float64())
    numbers = compute.if_else(compute.is_nan(numbers), pyarrow.scalar(None, pyarrow.float64()), numbers)
    counts = compute.cast(compute.round(compute.multiply(numbers, float(microseconds))), pyarrow.int64())
    return compute.cast(counts, pyarrow.duration("us"))
