"""A table in a CSV file with one record per line."""

import csv
import os
import re
from itertools import islice

import pyarrow
import pyarrow.csv

from skdpmic._utils.errors import read_by_engine
from skdpmic._utils.readable import abbreviated, refuse_repeated
from skdpmic.command_line.spelled_values import spelled_in_place, type_of

_DELIMITERS = ",;\t|"
_OPTIONS = {"\t": "tab"}
_OTHER_FILES = {
    b"\x1f\x8b": "a packed file: unpack it first",
    b"PK\x03\x04": "a spreadsheet or a packed file: save it as CSV UTF-8, or unpack it first",
    b"PAR1": "a Parquet file: let its name end in .parquet",
    b"\xff\xfe": "UTF-16: save it as CSV UTF-8",
    b"\xfe\xff": "UTF-16: save it as CSV UTF-8",
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
        self.names = self._header()
        self._check_delimiter()
        self._check_named()
        refuse_repeated(self.names, f"{self.name} must have distinct column names in its first line")

    @property
    def outline(self):
        """The input of a template: names without types, because a CSV file has none."""
        return self.names

    def read(self, entries, note):
        """The columns with an entry, in the order of the file.

        Parameters
        ----------
        entries : dict of str to ColumnEntry or None
            Entries for :func:`spelled`.
        note : callable
            ``note(n_records)`` is called with the number of records read so far.

        Returns
        -------
        pyarrow.Table
        """
        n_lines = read_by_engine(self.name, self._count_lines)
        schema = pyarrow.schema([(name, type_of(entries[name])) for name in self.names if name in entries])
        if n_lines == 0:  # an error in pyarrow
            return schema.empty_table()
        batches, n_records = [], 0
        for batch in self._batches(schema.names):
            columns = [self._spelled(batch[name], entries[name], name, n_records) for name in schema.names]
            batches.append(pyarrow.record_batch(columns, schema=schema))
            n_records += len(batch)
            note(n_records)
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
        is_record = (number for number, line in self._lines() if self._is_record(line))
        return f"line {next(islice(is_record, record, None))}"

    def about_blank_end(self):
        """A remark if the last line has delimiters only, as spreadsheets write it below a table."""
        last = ""
        for _, line in self._lines():
            last = line if self._is_record(line) else last
        is_blank = len(self.names) > 1 and not last.strip(self._delimiter + ' "\r\n\t')
        return f" The last line of {self.name} is blank but for delimiters: delete such lines." if is_blank else ""

    def _spelled(self, text, entry, name, n_before):
        where = f"column {name!r} of {self.name}"
        return spelled_in_place(text, entry, where, lambda i: self.place_of(n_before + i), self._decimal)

    def _header(self):
        """The names in the first line. Nothing else is read."""
        with open(self._path, "rb") as file:
            line = file.readline()
        other = next((kind for start, kind in _OTHER_FILES.items() if line.startswith(start)), None)
        if other is not None:
            raise ValueError(f"{self.name} must be a CSV file in UTF-8, got {other}.")
        if b"\r" in line.rstrip(b"\r\n"):
            raise ValueError(
                f"{self.name} must end its lines with LF or CR LF, got CR, as old programs write it: save it as CSV "
                "UTF-8."
            )
        try:
            names = next(csv.reader([line.decode("utf-8-sig")], delimiter=self._delimiter, strict=True), [])
        except UnicodeDecodeError:
            kind = "letters in another encoding: save it as CSV UTF-8"
        except csv.Error:
            kind = "a quotation mark that is not closed"
        else:
            if names:
                return names
            kind = "an empty line: delete the lines above the names"
        raise ValueError(f"{self.name} must have column names in the first line, in UTF-8, got {kind}.")

    def _check_named(self):
        """Raise if several columns have no name, as below a title, or beside a table in a spreadsheet."""
        blank = [j for j, name in enumerate(self.names) if not name.strip()]
        if len(blank) < 2:
            return
        n_named = len(self.names) - len(blank)
        remedy = (
            "if a title stands above the names, delete the lines above them"
            if n_named <= 1
            else "delete these columns, if they are empty, or name them"
        )
        places = abbreviated([j + 1 for j in blank])
        raise ValueError(
            f"{self.name} must name its columns in the first line, got none for columns {places}: {remedy}."
        )

    def _check_delimiter(self):
        """Raise if the names seem to have another delimiter, because columns would not be found."""
        found = [letter for letter in _DELIMITERS if letter in self.names[0]] if len(self.names) == 1 else []
        if found and self._delimiter in _DELIMITERS:
            used, option = (_OPTIONS.get(letter, f"'{letter}'") for letter in (self._delimiter, found[0]))
            raise ValueError(
                f"{self.name} must have the delimiter {used} between names, got another: pass --delimiter {option}."
            )

    def _count_lines(self):
        """Number of nonempty lines after the header."""
        return sum(self._is_record(line) for _, line in self._lines())

    def _is_record(self, line):
        return line != "\n" or len(self.names) == 1

    def _lines(self):
        """The lines after the header, numbered as in an editor."""
        with open(self._path, encoding="latin-1") as file:  # in which all bytes are valid
            file.readline()
            yield from enumerate(file, start=2)

    def _batches(self, names):
        """Batches of records, as text; errors quote none of them."""
        texts = dict.fromkeys(self.names, pyarrow.string())
        stream = self._by_library(
            pyarrow.csv.open_csv,
            self._path,
            pyarrow.csv.ReadOptions(column_names=self.names, skip_rows=1),
            pyarrow.csv.ParseOptions(
                delimiter=self._delimiter,
                newlines_in_values=True,  # so that blocks do not end inside quotes
                ignore_empty_lines=len(self.names) > 1,
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
        n_names = len(self.names)
        raise ValueError(
            f"{self.name} must have {n_names} values in every line, as in the first, got {found[0]} in one line."
        )
