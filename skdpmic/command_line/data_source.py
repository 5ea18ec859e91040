"""The table of a command (CSV or Parquet), of which only columns described by a codebook are read."""

import os
import sys
from pathlib import Path

try:
    import pyarrow
    import pyarrow.parquet
except ImportError as error:
    raise ImportError("reading a table requires pyarrow: pip install pyarrow") from error

from skdpmic._utils.errors import read_by_engine
from skdpmic._utils.readable import abbreviated, almost, refuse_repeated
from skdpmic._utils.texts import counted
from skdpmic._utils.user_files import check_regular
from skdpmic.codebook.column import is_pattern
from skdpmic.command_line.csv_file import CsvFile
from skdpmic.command_line.spelled_values import with_durations
from skdpmic.table.people import read_people
from skdpmic.table.reading import FEWEST

_EVERY = 1_000_000  # records between progress messages
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
        "another kind as one of these."
    )


def read_frame(source, codebook, target=None, features=None, keep=(), *, verbose=False):
    """The columns used, as an Arrow table.

    Parameters
    ----------
    source : CsvFile or ParquetFile
    codebook : Codebook
    target : str, default=None
    features : list of str, default=None
        Features, as in :meth:`Codebook.records`.
    keep : list of str, default=()
        Features kept in any case.
    verbose : bool, default=False
        Whether to print the number of records read.

    Returns
    -------
    pyarrow.Table
    """
    import pyarrow

    # The names determine which columns are needed, and whether any are missing.
    _check_names(source, codebook, target, features, keep)
    no_rows = pyarrow.schema([(name, pyarrow.string()) for name in source.names]).empty_table()
    without_rows = codebook.records(no_rows, target, features)
    used = without_rows["X"].column_names + ([] if target is None else [target])
    entries = {name: codebook.entry(name) for name in used} | dict.fromkeys(codebook.groups)
    frame = source.read(entries, _noter(verbose and not codebook.groups))  # with people, the number of rows is private
    if frame.num_rows < FEWEST:
        raise ValueError(f"{source.name} must have at least {FEWEST} records, got {frame.num_rows}.")
    if target is not None:
        _check_target(frame, target, codebook.entry(target), source)
    return frame


def _check_names(source, codebook, target, features, keep):
    """Raise if the file lacks columns, in the words of the options and the codebook."""
    described = [*codebook.groups, *(name for name, entry in codebook.columns.items() if entry.is_used)]
    wanted = {
        "--target": [] if target is None else [target],
        "--features": features or [],
        "--keep": keep,
        "the codebook": [] if features is not None else [name for name in described if not is_pattern(name)],
    }
    for place, names in wanted.items():
        missing = [name for name in names if name not in source.names]
        if not missing:
            continue
        told = f"{place} names columns that {source.name} does not have: {abbreviated(missing)}."
        if not set(described) & set(source.names):
            told += " None of its columns is in the codebook: its first line must have their names, and nothing above."
        raise ValueError(f"{told}{almost(missing, source.names)}")


def _check_target(frame, target, entry, source):
    """Raise if some records have no target, or another label, with what to do."""
    missing = frame[target].is_null().to_pylist()
    if not any(missing):
        if entry.labels and set(frame[target].unique().to_pylist()) - set(entry.labels):
            raise ValueError(
                f"column {target!r} of {source.name} must hold only labels that the codebook lists, "
                f"{abbreviated(entry.labels)}, because it is the target, got at least one other."
            )
        return
    first, is_last = missing.index(True), all(missing[missing.index(True) :])
    remedy = "delete these records, whose number is then public"
    if entry.labels:
        remedy = f"write a label for them, such as 'unknown', in the file and in the codebook, or {remedy}"
    if is_last and all(column.slice(first).null_count == len(frame) - first for column in frame.columns):
        remedy = "delete the blank lines at the end of the file"
    raise ValueError(
        f"{source.name} must have a target in every record, got none in column {target!r} of record {first + 1}, or of "
        f"more: {remedy}."
    )


def size_in_words(records, codebook):
    """The public number of records or people, as a number and in words."""
    n_rows = records["X"].num_rows
    if "groups" not in records:
        return n_rows, counted(n_rows, "record")
    n_people = read_people(records["groups"], codebook.max_rows_per_group, n_rows).n_groups
    return n_people, f"{n_people:,} people"


def _noter(verbose):
    """A function that occasionally prints the number of records read."""
    told = 0

    def note(n_records):
        nonlocal told
        if verbose and n_records // _EVERY > told:
            told = n_records // _EVERY
            print(f"{n_records:,} records read", file=sys.stderr, flush=True)

    return note


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

    def read(self, entries, note):
        """The columns with an entry, in the order of the file; as in :meth:`CsvFile.read`."""
        names = [name for name in self.names if name in entries]
        table = read_by_engine(self.name, self._file.read, columns=names)
        note(len(table))
        return with_durations(table.select(names), entries, self.name)
