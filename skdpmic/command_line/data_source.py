"""The table of a command (CSV or Parquet), of which only columns described by a codebook are read."""

import os
import sys
from pathlib import Path

try:
    import pyarrow
    import pyarrow.parquet
except ImportError as error:
    raise ImportError("reading a table requires pyarrow: pip install 'skdpmic[command-line]'") from error

from skdpmic._utils.errors import read_by_engine
from skdpmic._utils.readable import refuse_repeated
from skdpmic._utils.texts import counted, quoted
from skdpmic._utils.user_files import check_regular
from skdpmic.codebook.column import DURATION
from skdpmic.command_line.csv_file import CsvFile
from skdpmic.command_line.named_columns import (
    check_in_file,
    check_some,
    check_target,
    check_type,
    is_numeric_type,
    is_text,
)
from skdpmic.command_line.spelled_values import in_unit, spelled_in_place
from skdpmic.table.people import read_people

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
