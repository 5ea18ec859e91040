"""The file of a command: its kind, and the names of its columns, which take no library of tables for a CSV."""

import csv
import gzip
import os
from pathlib import Path

from skdpmic._utils.readable import refuse_repeated
from skdpmic._utils.texts import imported, quoted, read_by_engine
from skdpmic._utils.user_files import check_regular

REQUIRES = "reading a table requires pyarrow: pip install 'skdpmic[command-line]'"


def open_data(arguments):
    """The file of a command, with `names` of columns, an `outline` of names and types, and `read`."""
    check_regular(arguments.data)  # which is read more than once
    kind = Path(arguments.data.lower().removesuffix(".gz")).suffix
    if kind in (".csv", ".tsv", ".txt"):
        delimiter = arguments.delimiter or ("\t" if kind == ".tsv" else ",")
        return CsvFile(arguments.data, delimiter, arguments.decimal, arguments.line_breaks)
    if arguments.data.lower().endswith(".parquet"):
        return ParquetFile(arguments.data)
    raise ValueError(
        f"{arguments.data!r} must be a .csv, .tsv, .txt (each also .gz) or .parquet file, got another: save a table of "
        "another kind as one of these first."
    )


_MOST_BYTES = 2**22  # of the names in the first line, as many as a codebook has
_DELIMITERS = {",": ",", ";": "';'", "\t": "tab", "|": "'|'"}  # and how they are written as options
_OTHER_FILES = ("PK\x03\x04", "PAR1")  # of spreadsheets and Parquet, which may begin with valid UTF-8


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

    def __init__(self, path, delimiter=",", decimal=".", has_line_breaks=False):
        self.path, self.name = path, os.path.basename(path)
        self.delimiter, self.decimal, self.has_line_breaks = delimiter, decimal, has_line_breaks
        header = self._header(read_by_engine(self.name, self._first_line))
        # The input of a template is names only, because a CSV file has no types.
        self.outline = self.names = [name for name in header if name]  # columns without a name cannot be described
        self.all_names = [name or f"\0{j}" for j, name in enumerate(header)]
        refuse_repeated(self.names, f"{self.name} must have distinct column names in its first line")

    def read(self, entries):
        """The columns with an entry, in the order of the file.

        Parameters
        ----------
        entries : dict of str to ColumnEntry or None
            How values are read; None keeps text, for columns that identify people.

        Returns
        -------
        pyarrow.Table
        """
        from skdpmic.command_line.reading import read_csv

        return read_csv(self, entries)

    def lines(self):
        """The file, opened for its lines, in an encoding in which all bytes are valid."""
        return (gzip.open if self.path.lower().endswith(".gz") else open)(self.path, "rt", encoding="latin-1")

    def _header(self, line):
        """The names in the first line."""
        try:
            text = line.encode("latin-1").decode("utf-8-sig")
            names = next(csv.reader([text], delimiter=self.delimiter, strict=True), [])
        except (UnicodeDecodeError, csv.Error):
            names = []
        is_title = sum(map(bool, names)) == 1 < len(names) - 1
        if is_title or not any(names) or len(line) > _MOST_BYTES or line.startswith(_OTHER_FILES):
            raise ValueError(
                f"{self.name} must be a CSV file in UTF-8 with column names in the first line, at most 4 MiB of them, "
                "got another: delete a title or an empty line above the names, save a spreadsheet or text in another "
                "encoding as CSV UTF-8, and let the name of a compressed or Parquet file end in .csv.gz or .parquet."
            )
        other = next((sign for sign in _DELIMITERS if len(names) == 1 and sign in names[0]), None)
        if other is not None and self.delimiter not in names[0]:
            raise ValueError(
                f"{self.name} must have {quoted(self.delimiter)} between names, got another delimiter: pass "
                f"--delimiter {_DELIMITERS[other]}."
            )
        return names

    def _first_line(self):
        with self.lines() as file:
            return file.readline(_MOST_BYTES + 1)


class ParquetFile:
    """A Parquet file, whose names are read without the functions of pyarrow that compute.

    Parameters
    ----------
    path : str
    """

    def __init__(self, path):
        self.path, self.name = path, os.path.basename(path)
        open(path, "rb").close()  # raises if it may not be read
        self.outline = read_by_engine(self.name, imported("pyarrow.parquet", REQUIRES).read_schema, path)
        self.names = self.outline.names
        refuse_repeated(self.names, f"{self.name} must have distinct column names")

    def read(self, entries):
        """The columns with an entry, in the order of the file; as in :meth:`CsvFile.read`."""
        from skdpmic.command_line.reading import read_parquet

        return read_parquet(self, entries)
