"""The table of a command (CSV, Parquet, a query), of which only columns described by a codebook are read."""

import importlib.util
import os
import re
import sys
from pathlib import Path

import duckdb
import pyarrow
import pyarrow.parquet

from skdpmic._utils.errors import read_by_engine
from skdpmic._utils.readable import refuse_repeated
from skdpmic._utils.texts import counted
from skdpmic._utils.user_files import check_regular
from skdpmic.command_line.spelled_values import with_durations
from skdpmic.table.people import read_people

_EVERY = 1_000_000  # records between progress messages


def open_data(arguments):
    """The file or query of a command, with `names` of columns, an `outline` of names and types, and `read`."""
    _check_installed("pyarrow", "reading a table")
    if arguments.query is not None:
        _check_installed("duckdb", "--query")
        from skdpmic.command_line.data_source import Query

        return Query(arguments.query, arguments.database)
    check_regular(arguments.data, "DATA")  # which is read more than once
    kind = Path(arguments.data).suffix.lower()
    if kind == ".csv":
        from skdpmic.command_line.csv_file import CsvFile

        how = (arguments.delimiter or ",", arguments.decimal or ".", arguments.line_breaks)
        return CsvFile(arguments.data, *how)
    if kind == ".parquet":
        from skdpmic.command_line.data_source import ParquetFile

        return ParquetFile(arguments.data)
    raise ValueError(f"DATA must be a .csv or .parquet file, got {arguments.data!r}; or pass --query.")


def _check_installed(library, what):
    if importlib.util.find_spec(library) is None:
        raise ImportError(f"{what} requires {library}: pip install {library}")


def read_frame(source, codebook, target=None, features=None, *, verbose=False):
    """The columns used, as an Arrow table.

    Parameters
    ----------
    source : CsvFile, ParquetFile or Query
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
    no_rows = pyarrow.schema([(name, pyarrow.string()) for name in source.names]).empty_table()
    without_rows = codebook.records(no_rows, target, features)
    used = without_rows["X"].column_names + ([] if target is None else [target])
    entries = {name: codebook.entry(name) for name in used} | dict.fromkeys(codebook.groups)
    return source.read(entries, _noter(verbose and not codebook.groups))  # with people, the number of rows is private


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
        self._name = os.path.basename(path)
        open(path, "rb").close()  # raises if it may not be read
        self._file = read_by_engine(self._name, pyarrow.parquet.ParquetFile, path)
        self.outline = self._file.schema_arrow
        self.names = self.outline.names
        refuse_repeated(self.names, f"{self._name} must have distinct column names")

    def read(self, entries, note):
        """The columns with an entry, in the order of the file; as in :meth:`CsvFile.read`."""
        names = [name for name in self.names if name in entries]
        table = read_by_engine(self._name, self._file.read, columns=names)
        note(len(table))
        return with_durations(table.select(names), entries, self._name)


# --- The result of a query -------------------------------------------------------------------------------------------


_NAME = "the result of --query"
# Steps in DuckDB's query plan that guess types from values.
_GUESSES = re.compile(r'"name": "(?:READ|SNIFF)_(CSV|JSON|NDJSON|XLSX)')
# Errors raised before a record is read, whose first line describes the query; for others, only the type is shown.
_ABOUT_THE_QUERY = (duckdb.ParserException, duckdb.CatalogException, duckdb.BinderException)


class Query:
    """A read-only query.

    Parameters
    ----------
    sql : str
    database : str or None
        A database file, opened read-only.
    """

    def __init__(self, sql, database=None):
        if database is not None:
            check_regular(database, "--database")
            open(database, "rb").close()  # raises if it may not be read
        options = {"python_enable_replacements": "false"}  # tables cannot be variables of this program
        where = ":memory:" if database is None else database
        connection = self._connection = read_by_engine(
            "--database", duckdb.connect, where, database is not None, options
        )
        _check_statement(connection, sql)
        self._relation = _prepared(connection.sql, sql)
        self.names = list(self._relation.columns)
        refuse_repeated(self.names, f"{_NAME} must have distinct column names")
        _check_plan(connection, sql)
        self.outline = _prepared(pyarrow.table, self._relation.limit(0)).schema

    def read(self, entries, note):
        """The columns with an entry, in the order of the query; as in :meth:`CsvFile.read`."""
        names = [name for name in self.names if name in entries]
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        relation = _prepared(self._relation.project, quoted)
        table = read_by_engine(_NAME, pyarrow.table, relation)
        note(len(table))
        return with_durations(table, entries, _NAME)


def _check_statement(connection, sql):
    statements = _prepared(connection.extract_statements, sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise ValueError("--query must be a single SELECT statement, got another one or several.")


def _check_plan(connection, sql):
    """Raise if the query reads text with guessed types: one record could change how all others are read."""
    ((_, plan),) = _prepared(lambda: connection.execute(f"EXPLAIN (FORMAT JSON) {sql}").fetchall())
    found = _GUESSES.search(plan)
    if found:
        raise ValueError(
            f"--query must not read {found[1]}, whose types are guessed from the values: pass a .csv file as DATA, or "
            "load it into a database table with declared types."
        )


def _prepared(prepare, *arguments):
    """Run a step before any record is read; errors describe the query in one line."""
    try:
        return prepare(*arguments)
    except _ABOUT_THE_QUERY as error:
        message = str(error).partition("\n")[0]
    except duckdb.Error as error:
        message = f"DuckDB failed with {type(error).__name__}; run it in DuckDB to see why"
    raise ValueError(f"--query cannot be run: {message}.".replace("!.", "."))
