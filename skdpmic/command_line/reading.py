"""The table of a command, read by pyarrow: only columns described by a codebook, each value by itself."""

import os

try:
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet
    from pyarrow import compute, types
except ImportError as error:
    raise ImportError("reading a table requires pyarrow: pip install 'skdpmic[command-line]'") from error

from skdpmic._utils.readable import refuse_repeated
from skdpmic._utils.texts import quoted, read_by_engine
from skdpmic.codebook.toml_file import BOOLEAN, DATE, DURATION
from skdpmic.table.facts import FEWEST


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
    if target is not None:
        _check_target(frame[target], f"column {quoted(target)} of {source.name}")
    return frame


def _check_target(column, where):
    """Raise if a record lacks the target; the estimator refuses a label that the codebook does not list."""
    if compute.any(compute.is_null(column, nan_is_null=True)).as_py():
        raise ValueError(
            f"{where} must have a value in every record, because it is the target: keep only the records that have a "
            "value, whose number is then public, or describe it in the codebook by labels, with one for the others, "
            "and write that there."
        )


# --- Parquet ---------------------------------------------------------------------------------------------------------


class ParquetFile:
    """A Parquet file.

    Parameters
    ----------
    path : str
    """

    def __init__(self, path):
        self.name = os.path.basename(path)
        open(path, "rb").close()  # raises if it may not be read
        self._file = read_by_engine(self.name, pyarrow.parquet.ParquetFile, path)
        self.outline = self._file.schema_arrow
        self.names = self.outline.names
        refuse_repeated(self.names, f"{self.name} must have distinct column names")

    def read(self, entries):
        """The columns with an entry, in the order of the file; as in :meth:`CsvFile.read`."""
        names = [name for name in self.names if name in entries]
        table = read_by_engine(self.name, self._file.read, columns=names)
        return pyarrow.table([self._described(table.column(name), entries[name], name) for name in names], names)

    def _described(self, column, entry, name):
        """A column of the type that the codebook says: text is read as in a CSV, and numbers may be durations."""
        where = f"column {quoted(name)} of {self.name}"
        if entry is not None and _is_text(column.type) and not entry.has_text_labels:
            return _spelled(column.cast(pyarrow.string()), entry, where)
        is_duration = entry is not None and entry.kind == DURATION
        return _in_unit(column, entry, where) if is_duration and _is_numeric(column.type) else column


def _is_text(kind):
    """Whether an Arrow type holds text, perhaps as a dictionary."""
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return types.is_string(kind) or types.is_large_string(kind)


def _is_numeric(kind):
    return types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)


# --- Values as text --------------------------------------------------------------------------------------------------


MISSING = ("", "na", "n/a", "#n/a", "nan", "null", ".")  # in lower case, without surrounding spaces
TRUE, FALSE = ("true", "t", "yes", "y", "1", "1.0"), ("false", "f", "no", "n", "0", "0.0")
_MICROSECONDS = {unit: 10**6 * n for unit, n in {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86_400}.items()}
_MICROSECONDS["weeks"] = 7 * _MICROSECONDS["days"]
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
    labels = [label for label in (entry and entry.labels) or () if isinstance(label, str)]
    if not labels and any(abs(label) > 2**53 for label in (entry and entry.labels) or ()):
        raise ValueError(f"the labels of {name} must be text above 2**53: write them in quotes in the codebook.")
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
    return _in_unit(numbers, entry, name) if entry.kind == DURATION else numbers


def _in_unit(values, entry, name):
    """A column of durations, from numbers in the unit of the codebook."""
    return _read(_durations, values, f"{name} must hold numbers of {entry.unit}", _MICROSECONDS[entry.unit])


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


# --- CSV -------------------------------------------------------------------------------------------------------------


def read_csv(source, entries):
    """The columns with an entry, in the order of the file.

    Parameters
    ----------
    entries : dict of str to ColumnEntry or None
        Entries for :func:`_spelled`.

    Returns
    -------
    pyarrow.Table
    """
    names = [name for name in source.names if name in entries]
    n_lines = read_by_engine(source.name, _n_lines, source)
    if n_lines == 0:  # an error in pyarrow
        return pyarrow.table({})
    texts = _texts(source, names)
    if texts.num_rows != n_lines and not source.has_line_breaks:
        raise ValueError(
            f"{source.name} must have one record per line, got a value over several lines: a quotation mark is not "
            "closed, or a quoted value contains a line break, which --line-breaks allows."
        )
    where = {name: f"column {quoted(name)} of {source.name}" for name in names}
    columns = [_spelled(texts[name], entries[name], where[name], source.decimal) for name in names]
    return pyarrow.table(columns, names)


def _n_lines(source):
    """The number of lines after the header; of several columns, only of nonempty ones."""
    with source.lines() as file:
        return sum(line != "\n" or len(source.all_names) == 1 for line in file) - 1


def _texts(source, names):
    """These columns as text; errors quote none of it."""
    texts, n_names = dict.fromkeys(source.all_names, pyarrow.string()), len(source.all_names)
    # Values may hold line breaks, so that blocks do not end inside quotes.
    parsing = {"delimiter": source.delimiter, "newlines_in_values": True, "ignore_empty_lines": n_names > 1}
    options = (
        pyarrow.csv.ReadOptions(column_names=source.all_names, skip_rows=1),
        pyarrow.csv.ParseOptions(**parsing),
        pyarrow.csv.ConvertOptions(column_types=texts, include_columns=names, strings_can_be_null=False),
    )
    try:
        return read_by_engine(source.name, pyarrow.csv.read_csv, source.path, *options)
    except ValueError as error:
        message = f"{error} Every line must have {n_names} values in UTF-8, as the first has names."
    raise ValueError(message)
