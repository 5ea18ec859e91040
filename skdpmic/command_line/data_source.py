"""The table that a command is about, of which only columns that a codebook describes are read."""

import importlib.util
import sys
from pathlib import Path

from skdpmic._utils.texts import counted
from skdpmic.table.people import read_people

_EVERY = 1_000_000  # records, after which it is said how many are read


def open_data(arguments):
    """The file or query of a command: `names` of its columns, an `outline` of names and types, and `read`."""
    _check_installed("pyarrow", "reading a table")
    if arguments.query is not None:
        _check_installed("duckdb", "--query")
        from skdpmic.command_line.query import Query

        return Query(arguments.query, arguments.database)
    kind = Path(arguments.data).suffix.lower()
    if kind == ".csv":
        from skdpmic.command_line.csv_file import CsvFile

        how = (arguments.delimiter or ",", arguments.decimal or ".", arguments.line_breaks)
        return CsvFile(arguments.data, *how)
    if kind == ".parquet":
        from skdpmic.command_line.parquet_file import ParquetFile

        return ParquetFile(arguments.data)
    raise ValueError(f"DATA must be a file .csv or .parquet, got {arguments.data!r}; or give --query.")


def _check_installed(library, what):
    if importlib.util.find_spec(library) is None:
        raise ImportError(f"{what} needs {library}: pip install {library}")


def read_frame(source, codebook, target=None, features=None, *, verbose=False):
    """The columns that are used, as a table of Arrow.

    Parameters
    ----------
    source : CsvFile, ParquetFile or Query
    codebook : Codebook
    target : str, default=None
    features : list of str, default=None
        As :meth:`Codebook.records` takes them.
    verbose : bool, default=False
        Whether to say how many records are read.

    Returns
    -------
    pyarrow.Table
    """
    import pyarrow

    # Which columns are needed, and whether there are all of them, follows from their names.
    no_rows = pyarrow.schema([(name, pyarrow.string()) for name in source.names]).empty_table()
    without_rows = codebook.records(no_rows, target, features)
    used = without_rows["X"].column_names + ([] if target is None else [target])
    entries = {name: codebook.entry(name) for name in used} | dict.fromkeys(codebook.groups)
    return source.read(entries, _noter(verbose and not codebook.groups))  # of people, the number of rows is private


def size_in_words(records, codebook):
    """The number of records, or of people, which is public; and in words."""
    n_rows = records["X"].num_rows
    if "groups" not in records:
        return n_rows, counted(n_rows, "record")
    n_people = read_people(records["groups"], codebook.max_rows_per_group, n_rows).n_groups
    return n_people, f"{n_people:,} people"


def _noter(verbose):
    """What says now and then how many records are read."""
    told = 0

    def note(n_records):
        nonlocal told
        if verbose and n_records // _EVERY > told:
            told = n_records // _EVERY
            print(f"{n_records:,} records read", file=sys.stderr, flush=True)

    return note
