"""Values that a CSV spells as text, each read by itself, as the codebook says.

No type is inferred: that would take a look at the whole column, and one record could change how all others are read.
"""

import pyarrow
from pyarrow import compute, types

from skdpmic.codebook.column import BOOLEAN, DATE, DURATION

MISSING = ("", "na", "n/a", "#n/a", "nan", "null", ".")  # in lower case, and without spaces around
TRUE, FALSE = ("true", "t", "yes", "y", "1", "1.0"), ("false", "f", "no", "n", "0", "0.0")
_MICROSECONDS = {unit: 10**6 * n for unit, n in {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86_400}.items()}
_MICROSECONDS["weeks"] = 7 * _MICROSECONDS["days"]
_TIME, _DIGIT = pyarrow.timestamp("us"), r":\d\d(?:\.\d+)?"
_ZONE = rf"{_DIGIT}(?:Z|[+-]\d\d(?::?\d\d)?)$"


def spelled(text, entry, name, decimal="."):
    """A column of texts as values.

    Parameters
    ----------
    text : pyarrow.Array of strings
    entry : ColumnEntry or None
        What the codebook says of it; None leaves text, as of what identifies people.
    name : str
        What an error is to call the column; it quotes no value.
    decimal : str, default="."
        The decimal point.

    Returns
    -------
    pyarrow.Array
        Of a type that depends on the entry alone: float64, timestamp, duration, boolean or text.
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
    numbers = _read(_numbers, text, f"{name} must hold numbers with the decimal point {decimal!r}", decimal)
    return in_unit(numbers, entry, name) if entry.kind == DURATION else numbers


def in_unit(values, entry, name):
    """A column of durations, from numbers of the unit that the codebook has."""
    return _read(_durations, values, f"{name} must hold numbers of {entry.unit}", _MICROSECONDS[entry.unit])


def with_durations(table, entries, name):
    """A table whose types are declared elsewhere, with durations in place of numbers of a unit.

    Parameters
    ----------
    table : pyarrow.Table
    entries : dict of str to ColumnEntry or None
    name : str
        What an error is to call the table.
    """
    for i, field in enumerate(table.schema):
        entry = entries[field.name]
        if entry is not None and entry.kind == DURATION and _is_of_numbers(field.type):
            column = in_unit(table.column(i), entry, f"column {field.name!r} of {name}")
            table = table.set_column(i, field.name, column)
    return table


def _is_of_numbers(kind):
    return any(is_kind(kind) for is_kind in (types.is_integer, types.is_floating, types.is_decimal))


def type_of(entry):
    """The type of a column that is spelled."""
    return spelled(pyarrow.array([], pyarrow.string()), entry, "").type


def _read(convert, values, must, *options):
    """``convert(values, *options)``; the error of a value is told without it, after that of the library is gone."""
    try:
        return convert(values, *options)
    except pyarrow.ArrowException:
        pass
    raise ValueError(f"{must}, got at least one other value.")


def _without_missing(text, labels):
    """Null in place of what means a missing value; but what is a label is never missing."""
    plain = compute.utf8_lower(compute.utf8_trim_whitespace(text))
    is_label = _is_one_of(text, labels)
    is_missing = compute.and_not(_is_one_of(plain, MISSING), is_label)
    return compute.if_else(is_missing, pyarrow.scalar(None, pyarrow.string()), text)


def _is_one_of(text, texts):
    return compute.is_in(text, value_set=pyarrow.array(texts, pyarrow.string()))


def _numbers(text, decimal):
    if decimal != ".":  # with which a point would be that of thousands
        text = compute.replace_substring(compute.replace_substring(text, ".", "?"), decimal, ".")
    return compute.cast(text, pyarrow.float64())


def _booleans(text, name):
    plain = compute.utf8_lower(text)
    is_true, is_false = _is_one_of(plain, TRUE), _is_one_of(plain, FALSE)
    known = compute.or_(compute.or_(is_true, is_false), compute.is_null(text))
    if not compute.all(known, min_count=0).as_py():
        spellings = ", ".join((*TRUE, *FALSE))
        raise ValueError(f"{name} must hold one of {spellings}, in any case, got at least one other value.")
    return compute.if_else(compute.is_null(text), pyarrow.scalar(None, pyarrow.bool_()), is_true)


def _dates(text):
    """Timestamps in microseconds; with a time zone, in UTC."""
    text = compute.replace_substring_regex(text, r"(\.\d{6})\d+", r"\1")  # of nanoseconds, the microseconds
    has_zone, nothing = compute.match_substring_regex(text, _ZONE), pyarrow.scalar(None, pyarrow.string())
    zoned = compute.cast(compute.if_else(has_zone, text, nothing), pyarrow.timestamp("us", "UTC"))
    plain = compute.cast(compute.if_else(has_zone, nothing, text), _TIME)
    return compute.coalesce(compute.cast(zoned, _TIME), plain)


def _durations(values, microseconds):
    numbers = compute.cast(values, pyarrow.float64())
    numbers = compute.if_else(compute.is_nan(numbers), pyarrow.scalar(None, pyarrow.float64()), numbers)
    counts = compute.cast(compute.round(compute.multiply(numbers, float(microseconds))), pyarrow.int64())
    return compute.cast(counts, pyarrow.duration("us"))
