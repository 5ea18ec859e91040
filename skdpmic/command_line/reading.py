"""The table of a command, read by pyarrow: only columns described by a codebook, each value by itself."""

import contextlib
import sys
import time
from datetime import timedelta
from functools import partial
from itertools import product

import pyarrow
import pyarrow.csv
import pyarrow.parquet
from pyarrow import compute, types

from skdpmic._utils.texts import escaped, quoted, read_by_engine
from skdpmic.codebook.toml_file import BOOLEAN, DATE, DURATION, INTEGER, NUMBER
from skdpmic.table.facts import FEWEST

_ROWS = 2**17  # of a Parquet file that are read at once
_SECONDS = 1.0  # between two messages of progress


def read_frame(source, codebook, names, target=None):
    """The columns used, as an Arrow table.

    Parameters
    ----------
    source : CsvFile or ParquetFile
    codebook : Codebook
    names : list of str
        Features.
    target : str, default=None

    Returns
    -------
    pyarrow.Table
    """
    used = names if target is None else [*names, target]
    frame = source.read({name: codebook.entry(name) for name in used} | dict.fromkeys(codebook.groups))
    if frame.num_rows < FEWEST:
        raise ValueError(f"{source.name} must hold at least {FEWEST} records, got {frame.num_rows}.")
    # The estimator refuses a label that the codebook does not list.
    if target is not None and compute.any(compute.is_null(frame[target], nan_is_null=True)).as_py():
        raise ValueError(
            f"column {quoted(target)} of {source.name} must have a value in every record, because it is the target: "
            "keep only the records that have a value, whose number is then public, or describe it in the codebook by "
            "labels, with one for the others, and write that there."
        )
    return frame


# --- Parquet ---------------------------------------------------------------------------------------------------------


def read_parquet(source, entries):
    """The columns of a :class:`ParquetFile` with an entry; see :meth:`CsvFile.read`."""
    return _described(source, read_by_engine(source.name, _as_they_are, source, entries), entries, _typed)


def _as_they_are(source, entries):
    """The columns with an entry, labels as codes of few texts."""
    names = [name for name in source.names if name in entries]
    labels = [name for name in names if (entry := entries[name]) is not None and entry.has_text_labels]
    texts = [name for name in labels if types.is_string(source.outline.field(name).type)]
    file = pyarrow.parquet.ParquetFile(source.path, read_dictionary=texts)
    return _joined(file.iter_batches(_ROWS, columns=names), source, file.metadata.num_rows)


def _typed(column, entry, where):
    """A column of the type that the codebook says: text is read as in a CSV, and numbers may be durations."""
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if entry is None or entry.has_text_labels:
        return column
    if types.is_string(kind) or types.is_large_string(kind):
        return _spelled(column.cast(_TEXT), entry, where)
    is_number = types.is_integer(column.type) or types.is_floating(column.type) or types.is_decimal(column.type)
    return _in_unit(column, entry, where) if is_number and entry.kind == DURATION else column


def _described(source, table, entries, read):
    """The columns with an entry in a table that may have others, each read as the codebook says."""
    where = {name: f"column {quoted(name)} of {source.name}" for name in table.column_names if name in entries}
    return pyarrow.table({name: read(table[name], entries[name], where[name]) for name in where})


def _joined(batches, source, n_rows):
    """A table of batches of its rows; while it is read, a terminal shows how far that is."""
    start = shown = time.monotonic()
    parts, n = [], 0
    for part in batches:
        parts.append(part)
        n += part.num_rows
        if (now := time.monotonic()) - shown >= _SECONDS and sys.stderr.isatty():
            shown, share = now, n / n_rows
            print(f"[{escaped(source.name)}] {n:,} rows, {share:.0%} of the file, {now - start:.1f} s", file=sys.stderr)
    return pyarrow.Table.from_batches(parts) if parts else pyarrow.table({})


# --- Values as text --------------------------------------------------------------------------------------------------


MISSING = ("", "na", "n/a", "#n/a", "nan", "null", ".")  # in lower case, without surrounding spaces
TRUE, FALSE = ("true", "t", "yes", "y", "1", "1.0"), ("false", "f", "no", "n", "0", "0.0")
_TEXT, _NUMBER = pyarrow.string(), pyarrow.float64()
_FEW_TEXTS = pyarrow.dictionary(pyarrow.int32(), _TEXT)
_TIME, _DIGIT = pyarrow.timestamp("us"), r":\d\d(?:\.\d+)?"
_ZONE = rf"{_DIGIT}(?:Z|[+-]\d\d(?::?\d\d)?)$"


def _spelled(text, entry, name, decimal="."):
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
    labels = entry.labels if entry is not None and entry.has_text_labels else ()
    text = _without_missing(text, labels)
    if entry is None or labels:
        return text
    text = compute.utf8_trim_whitespace(text)
    if entry.kind == BOOLEAN:
        return _booleans(text, name)
    if entry.kind == DATE:
        return _read(_dates, text, f"{name} must hold dates as 2024-12-31 or 2024-12-31 23:59:59")
    if any(abs(label) > 2**53 for label in entry.labels or ()):  # floats cannot tell them apart
        raise ValueError(f"the labels of {name} must be text above 2**53: write them in quotes in the codebook.")
    form = f"{name} must hold numbers with the decimal point {quoted(decimal)} and no other signs, such as '%'"
    numbers = _read(_numbers, text, form, decimal)
    return _in_unit(numbers, entry, name) if entry.kind == DURATION else numbers


def _in_unit(values, entry, name):
    """A column of durations, from numbers in the unit of the codebook."""
    microseconds = timedelta(**{entry.unit: 1}) / timedelta(microseconds=1)
    return _read(_durations, values, f"{name} must hold numbers of {entry.unit}", microseconds)


def _read(convert, values, must, *options):
    """``convert(values, *options)``, with errors replaced by one that does not quote the value."""
    with contextlib.suppress(pyarrow.ArrowException):
        return convert(values, *options)
    raise ValueError(f"{must}, got at least one other value.")


def _without_missing(text, labels):
    """Null in place of spellings of missing values, except those that are labels."""
    plain = compute.utf8_lower(compute.utf8_trim_whitespace(text))
    is_missing = compute.is_in(plain, value_set=pyarrow.array(MISSING))
    is_label = compute.is_in(text, value_set=pyarrow.array(labels, _TEXT))
    return compute.if_else(compute.and_not(is_missing, is_label), None, text)


def _numbers(text, decimal):
    if decimal != ".":  # a point could then be a thousands separator
        text = compute.replace_substring(compute.replace_substring(text, ".", "?"), decimal, ".")
    return compute.cast(text, pyarrow.float64())


def _booleans(text, name):
    places = compute.index_in(compute.utf8_lower(text), value_set=pyarrow.array([*TRUE, *FALSE]))
    if places.null_count > text.null_count:
        spellings = ", ".join((*TRUE, *FALSE))
        raise ValueError(f"{name} must hold one of {spellings} (in any case), got at least one other value.")
    return compute.less(places, len(TRUE))


def _dates(text):
    """Timestamps in microseconds; with a time zone, in UTC."""
    text = compute.replace_substring_regex(text, r"(\.\d{6})\d+", r"\1")  # truncates to microseconds
    has_zone = compute.match_substring_regex(text, _ZONE)
    zoned = compute.cast(compute.if_else(has_zone, text, None), pyarrow.timestamp("us", "UTC"))
    plain = compute.cast(compute.if_else(has_zone, None, text), _TIME)
    return compute.coalesce(compute.cast(zoned, _TIME), plain)


def _durations(values, microseconds):
    numbers = compute.cast(values, pyarrow.float64())
    numbers = compute.if_else(compute.is_nan(numbers), None, numbers)
    counts = compute.cast(compute.round(compute.multiply(numbers, microseconds)), pyarrow.int64())
    return compute.cast(counts, pyarrow.duration("us"))


# --- CSV -------------------------------------------------------------------------------------------------------------


_BLOCK = 2**23  # bytes of a CSV that are read at once
# Spellings that are missing for pyarrow's reader of numbers; if it meets others, numbers are read as text.
_NULLS = {"".join(word) for words in MISSING for word in product(*zip(words, words.upper(), strict=True))}
_NULLS |= {" " * n for n in range(1, 17)}


def read_csv(source, entries):
    """The columns of a :class:`CsvFile` with an entry, each value by itself; see :meth:`CsvFile.read`."""
    names = [name for name in source.names if name in entries]
    n_lines = read_by_engine(source.name, _n_lines, source)
    if n_lines == 0:  # an error in pyarrow
        return pyarrow.table({})
    try:
        table = _texts_or(_NUMBER if source.decimal in ".," else _TEXT, source, names, entries, n_lines)
    except ValueError:  # a number in another spelling, or an error, which the other reading finds again
        table = _texts_or(_TEXT, source, names, entries, n_lines)
    if table.num_rows != n_lines and not source.has_line_breaks:
        raise ValueError(
            f"{source.name} must have one record per line, got a value over several lines: a quotation mark is not "
            "closed, or a quoted value contains a line break, which --line-breaks allows."
        )
    return _described(source, table, entries, partial(_parsed, decimal=source.decimal))


def _n_lines(source):
    """The number of lines after the header; of several columns, only of nonempty ones."""
    with source.lines() as file:
        blocks = iter(partial(file.readlines, _BLOCK), [])
        return sum(len(lines) - (len(source.all_names) > 1) * lines.count("\n") for lines in blocks) - 1


def _texts_or(number, source, names, entries, n_lines):
    """These columns as text, or codes of few texts, and numbers in this type; errors quote none of it."""
    n_names, kinds = len(source.all_names), dict.fromkeys(names, _FEW_TEXTS)
    kinds |= {name: _TEXT for name in names if entries[name] is None}
    kinds |= {name: number for name in names if (entry := entries[name]) and entry.kind in (NUMBER, INTEGER, DURATION)}
    values = {"include_columns": names, "null_values": list(_NULLS), "strings_can_be_null": False}
    options = (
        pyarrow.csv.ReadOptions(block_size=_BLOCK, column_names=source.all_names, skip_rows=1),
        # Values may hold line breaks, so that blocks do not end inside quotes.
        pyarrow.csv.ParseOptions(delimiter=source.delimiter, newlines_in_values=True, ignore_empty_lines=n_names > 1),
        pyarrow.csv.ConvertOptions(column_types=kinds, decimal_point=source.decimal, **values),
    )
    try:
        return read_by_engine(
            source.name, lambda: _joined(pyarrow.csv.open_csv(source.path, *options), source, n_lines)
        )
    except ValueError as error:
        message = f"{error} Every line must have {n_names} values in UTF-8, as the first has names."
    raise ValueError(message)


def _parsed(column, entry, where, decimal):
    """A column as the codebook says; of codes, each text is parsed once."""
    if not types.is_dictionary(column.type):
        return _spelled(column, entry, where, decimal) if types.is_string(column.type) else _typed(column, entry, where)
    parts = [(_spelled(part.dictionary, entry, where, decimal), part.indices) for part in column.chunks]
    is_kept = entry.has_text_labels
    return pyarrow.chunked_array([(text.dictionary_encode() if is_kept else text).take(at) for text, at in parts])
