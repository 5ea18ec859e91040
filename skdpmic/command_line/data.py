"""The table of a command (CSV or Parquet), of which only columns described by a codebook are read."""

import csv
import gzip
import os
import re
import sys
import zlib
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import pyarrow
import pyarrow.csv
from pyarrow import compute

from skdpmic._utils.errors import read_by_engine
from skdpmic._utils.readable import refuse_repeated
from skdpmic._utils.texts import counted, quoted
from skdpmic._utils.user_files import check_regular
from skdpmic.codebook.column import BOOLEAN, DATE, DURATION
from skdpmic.command_line.named_columns import (
    check_in_file,
    check_some,
    check_target,
    check_type,
    is_numeric_type,
    is_text,
)
from skdpmic.table.people import read_people

try:
    import pyarrow
    import pyarrow.parquet
except ImportError as error:
    raise ImportError("reading a table requires pyarrow: pip install 'skdpmic[command-line]'") from error


_RECORDS_PER_MESSAGE = 1_000_000  # records between progress messages
_TEXT = (".csv", ".tsv", ".txt")


def open_data(arguments):
    """The file of a command, with `names` of columns, an `outline` of names and types, and `read`."""
    check_regular(arguments.data, "DATA")  # which is read more than once
    kind = Path(arguments.data.lower().removesuffix(".gz")).suffix
    if kind in _TEXT:
        delimiter = arguments.delimiter or ("\t" if kind == ".tsv" else ",")
        return CsvFile(arguments.data, delimiter, arguments.decimal, arguments.line_breaks)
    if arguments.data.lower().endswith(".parquet"):
        return ParquetFile(arguments.data)
    raise ValueError(
        f"DATA must be a .csv, .tsv, .txt (each also .gz) or .parquet file, got {arguments.data!r}: save a table of "
        "another kind as one of these first."
    )


def read_frame(source, codebook_path, codebook, target=None, features=None, *, verbose=False):
    """The columns used, as an Arrow table.

    Parameters
    ----------
    source : CsvFile or ParquetFile
    codebook_path : str
        Name of the codebook in errors.
    codebook : Codebook
    target : str, default=None
    features : list of str, default=None
        Features, as in :meth:`Codebook.records`.
    verbose : bool, default=False
        Whether to print the number of records read.

    Returns
    -------
    pyarrow.Table
    """
    import pyarrow

    # The names determine which columns are needed, and whether any are missing.
    check_in_file(codebook_path, codebook, source, target, features)
    no_rows = pyarrow.schema([(name, pyarrow.string()) for name in source.names]).empty_table()
    without_rows = codebook.records(no_rows, target, features)
    used = without_rows["X"].column_names + ([] if target is None else [target])
    entries = {name: codebook.entry(name) for name in used} | dict.fromkeys(codebook.groups)
    progress = _progress_printer(verbose and not codebook.groups)  # with people, the number of rows is private
    frame = source.read(entries, progress)
    check_some(frame.num_rows, source)
    if target is not None:
        check_target(frame[target], codebook.entry(target), source, target)
    return frame


def size_in_words(records, codebook):
    """The public number of records or people, as a number and in words."""
    n_rows = records["X"].num_rows
    if "groups" not in records:
        return n_rows, counted(n_rows, "record")
    n_people = read_people(records["groups"], codebook.max_rows_per_group, n_rows).n_groups
    return n_people, f"{n_people:,} people"


def _progress_printer(verbose):
    """A function that occasionally prints the number of records read."""
    n_messages = 0

    def print_progress(n_records):
        nonlocal n_messages
        if verbose and n_records // _RECORDS_PER_MESSAGE > n_messages:
            n_messages = n_records // _RECORDS_PER_MESSAGE
            print(f"{n_records:,} records read", file=sys.stderr, flush=True)

    return print_progress


# --- Parquet ---------------------------------------------------------------------------------------------------------


class ParquetFile:
    """A Parquet file.

    Parameters
    ----------
    path : str
    """

    place_of_names, record = "", "row"

    def __init__(self, path):
        self.name = os.path.basename(path)
        open(path, "rb").close()  # raises if it may not be read
        self._file = read_by_engine(self.name, pyarrow.parquet.ParquetFile, path)
        self.outline = self._file.schema_arrow
        self.names = self.outline.names
        refuse_repeated(self.names, f"{self.name} must have distinct column names")

    def read(self, entries, progress):
        """The columns with an entry, in the order of the file; as in :meth:`CsvFile.read`."""
        names = [name for name in self.names if name in entries]
        for name in names:
            if entries[name] is not None:
                check_type(self.outline.field(name).type, entries[name], name, self.name)
        table = read_by_engine(self.name, self._file.read, columns=names)
        progress(len(table))
        return pyarrow.table([self._described(table.column(name), entries[name], name) for name in names], names)

    def place_of(self, record):
        """Where a record is, counted from 0."""
        return f"row {record + 1}"

    def about_blank_end(self):
        """Nothing: no program writes blank rows into such a file."""
        return ""

    def _described(self, column, entry, name):
        """A column of the type that the codebook says: text is read as in a CSV, and numbers may be durations."""
        where = f"column {quoted(name)} of {self.name}"
        if entry is not None and is_text(column.type) and not entry.has_text_labels:
            return spelled_in_place(column.cast(pyarrow.string()), entry, where, self.place_of)
        is_duration = entry is not None and entry.kind == DURATION
        return in_unit(column, entry, where) if is_duration and is_numeric_type(column.type) else column


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


_MOST_BYTES = 2**22  # of the names in the first line, as many as a codebook has
_DELIMITERS = ",;\t|"
_OTHER_FILES = {
    "\x1f\x8b": "a compressed file: let its name end in .csv.gz",
    "PK\x03\x04": "a spreadsheet or a packed file: save it as CSV UTF-8, or unpack it first",
    "PAR1": "a Parquet file: let its name end in .parquet",
    "\xff\xfe": "UTF-16: save it as CSV UTF-8",
    "\xfe\xff": "UTF-16: save it as CSV UTF-8",
}
# Read from pyarrow's message, because its `invalid_row_handler` prints a traceback about bytes that are not UTF-8.
_NUMBER_OF_VALUES = re.compile(r"^CSV parse error: (?:Row #\d+: )?Expected \d+ columns, got (\d+)")


class CsvFile:
    """A CSV file in UTF-8, with column names in the first line.

    Parameters
    ----------
    path : str
    delimiter, decimal : str
    has_line_breaks : bool, default=False
        Whether quoted values may contain line breaks. Otherwise each line is one record: an unclosed quotation mark
        would join many lines into one value, so that a record could swallow others.
    """

    place_of_names, record = " in its first line", "line"

    def __init__(self, path, delimiter=",", decimal=".", has_line_breaks=False):
        self._path, self.name = path, os.path.basename(path)
        self._delimiter, self._decimal, self._has_line_breaks = delimiter, decimal, has_line_breaks
        header = self._header()
        self.names = [name for name in header if name]  # columns without a name cannot be described
        self._all_names = [name or f"\0{j}" for j, name in enumerate(header)]
        self._check_delimiter()
        refuse_repeated(self.names, f"{self.name} must have distinct column names in its first line")

    @property
    def outline(self):
        """The input of a template: names without types, because a CSV file has none."""
        return self.names

    def read(self, entries, progress):
        """The columns with an entry, in the order of the file.

        Parameters
        ----------
        entries : dict of str to ColumnEntry or None
            Entries for :func:`spelled`.
        progress : callable
            ``progress(n_records)`` is called with the number of records read so far.

        Returns
        -------
        pyarrow.Table
        """
        n_lines = self._count_lines()
        schema = pyarrow.schema([(name, type_of(entries[name], name)) for name in self.names if name in entries])
        if n_lines == 0:  # an error in pyarrow
            return schema.empty_table()
        batches, n_records = [], 0
        for batch in self._batches(schema.names):
            columns = [self._spelled(batch[name], entries[name], name, n_records) for name in schema.names]
            batches.append(pyarrow.record_batch(columns, schema=schema))
            n_records += len(batch)
            progress(n_records)
        if n_records != n_lines and not self._has_line_breaks:
            raise ValueError(
                f"{self.name} must have one record per line, got a value over several lines: a quotation mark is not "
                "closed, or a quoted value contains a line break, which --line-breaks allows."
            )
        return pyarrow.Table.from_batches(batches, schema)

    def place_of(self, record):
        """Where a record is, counted from 0: its line, or its number where a record may have several lines."""
        if self._has_line_breaks:
            return f"record {record + 1}"
        with self._lines() as file:
            numbers = (number for number, line in enumerate(file, start=1) if number > 1 and self._is_record(line))
            return f"line {next(islice(numbers, record, None))}"

    def about_blank_end(self):
        """A remark if the last line has delimiters only, as spreadsheets write it below a table."""
        with self._lines() as file:
            last = ""
            for line in file:
                last = line if self._is_record(line) else last
        is_blank = len(self._all_names) > 1 and not last.strip(self._delimiter + ' "\n\t')
        return (
            f" The last line of {self.name} is blank: delete the blank lines at the end of the file."
            if is_blank
            else ""
        )

    def _spelled(self, text, entry, name, n_before):
        where = f"column {quoted(name)} of {self.name}"
        return spelled_in_place(text, entry, where, lambda i: self.place_of(n_before + i), self._decimal)

    def _header(self):
        """The names in the first line. Nothing else is read."""
        with self._lines() as file:
            line = file.readline(_MOST_BYTES + 1)
        if len(line) > _MOST_BYTES:
            raise ValueError(
                f"{self.name} must have column names in the first line, of at most {_MOST_BYTES:,} bytes together, got "
                "more: save a table of that many columns as .parquet."
            )
        other = next((kind for start, kind in _OTHER_FILES.items() if line.startswith(start)), None)
        if other is not None:
            raise ValueError(f"{self.name} must be a CSV file in UTF-8, got {other}.")
        try:
            text = line.encode("latin-1").decode("utf-8-sig")
            names = next(csv.reader([text], delimiter=self._delimiter, strict=True), [])
        except UnicodeDecodeError:
            kind = "letters in another encoding: save it as CSV UTF-8"
        except csv.Error:
            kind = "a quotation mark that is not closed"
        else:
            if any(names) and not sum(map(bool, names)) == 1 < len(names) - 1:
                return names
            kind = "a title, which is to be deleted" if any(names) else "an empty line, which is to be deleted"
        raise ValueError(f"{self.name} must have column names in the first line, in UTF-8, got {kind}.")

    @contextmanager
    def _lines(self):
        """The file, opened for its lines, in an encoding in which all bytes are valid."""
        try:
            with (gzip.open if self._path.lower().endswith(".gz") else open)(self._path, "rt", encoding="latin-1") as f:
                yield f
            return
        except (gzip.BadGzipFile, EOFError, zlib.error):  # raised below, because their messages quote bytes
            pass
        raise ValueError(
            f"{self.name} must be a compressed file, as its name says, got another or a damaged one: if it is not "
            "compressed, let its name end in .csv."
        )

    def _check_delimiter(self):
        """Raise if the names seem to have another delimiter, because columns would not be found."""
        found = [letter for letter in _DELIMITERS if letter in self.names[0]] if len(self.names) == 1 else []
        if found and self._delimiter not in self.names[0]:
            option = {"\t": "tab", ",": ","}.get(found[0], repr(found[0]))
            between = {"\t": "tabs", ",": "commas"}.get(self._delimiter, repr(self._delimiter))
            raise ValueError(
                f"{self.name} must have {between} between names, got another delimiter: pass --delimiter {option}."
            )

    def _count_lines(self):
        """Number of nonempty lines after the header."""
        with self._lines() as file:
            file.readline()
            return sum(map(self._is_record, file))

    def _is_record(self, line):
        return line != "\n" or len(self._all_names) == 1

    def _batches(self, names):
        """Batches of records, as text; errors quote none of them."""
        texts = dict.fromkeys(self._all_names, pyarrow.string())
        stream = self._by_library(
            pyarrow.csv.open_csv,
            self._path,
            pyarrow.csv.ReadOptions(column_names=self._all_names, skip_rows=1),
            pyarrow.csv.ParseOptions(
                delimiter=self._delimiter,
                newlines_in_values=True,  # so that blocks do not end inside quotes
                ignore_empty_lines=len(self._all_names) > 1,
            ),
            pyarrow.csv.ConvertOptions(column_types=texts, include_columns=names, strings_can_be_null=False),
        )
        while (batch := self._by_library(next, stream, None)) is not None:
            yield batch

    def _by_library(self, read, *arguments):
        found = []

        def noted(*arguments):
            try:
                return read(*arguments)
            except pyarrow.ArrowInvalid as error:
                found.extend(_NUMBER_OF_VALUES.findall(str(error)))
                raise

        try:
            return read_by_engine(self.name, noted, *arguments)
        except ValueError:
            if not found:
                raise
        n_names = len(self._all_names)
        raise ValueError(
            f"{self.name} must have {n_names} values in every line, as in the first, got {found[0]} in one line."
        )
