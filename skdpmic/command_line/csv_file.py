"""A table in a CSV file with one record per line."""

import csv
import gzip
import os
import re
import zlib
from contextlib import contextmanager
from itertools import islice

import pyarrow
import pyarrow.csv

from skdpmic._utils.errors import read_by_engine
from skdpmic._utils.readable import refuse_repeated
from skdpmic._utils.texts import quoted
from skdpmic.command_line.spelled_values import spelled_in_place, type_of

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
