"""A table that a query of DuckDB gives, with its types."""

import re

import duckdb
import pyarrow

from skdpmic._utils.errors import read_by_engine
from skdpmic._utils.readable import refuse_repeated
from skdpmic.command_line.spelled_values import with_durations

_NAME = "the result of --query"
# Steps of a query that guess types from values, as they are in the plan of DuckDB.
_GUESSES = re.compile(r'"name": "(?:READ|SNIFF)_(CSV|JSON|NDJSON|XLSX)')
# They say what is wrong with the query in the first line, before a record is read; of others only the kind is told.
_ABOUT_THE_QUERY = (duckdb.ParserException, duckdb.CatalogException, duckdb.BinderException)


class Query:
    """A query that reads and does nothing else.

    Parameters
    ----------
    sql : str
    database : str or None
        A file, which is only read.
    """

    def __init__(self, sql, database=None):
        if database is not None:
            open(database, "rb").close()  # whose error says what is wrong with the path
        options = {"python_enable_replacements": "false"}  # no table is a variable of this program
        where = ":memory:" if database is None else database
        connection = self._connection = read_by_engine(
            "--database", duckdb.connect, where, database is not None, options
        )
        _check_statement(connection, sql)
        self._relation = _prepared(connection.sql, sql)
        self.names = list(self._relation.columns)
        refuse_repeated(self.names, f"{_NAME} must have a different name for each column")
        _check_plan(connection, sql)
        self.outline = _prepared(pyarrow.table, self._relation.limit(0)).schema

    def read(self, entries, note):
        """The columns that have an entry, in the order of the query; as of :meth:`CsvFile.read`."""
        names = [name for name in self.names if name in entries]
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        relation = _prepared(self._relation.project, quoted)
        table = read_by_engine(_NAME, pyarrow.table, relation)
        note(len(table))
        return with_durations(table, entries, _NAME)


def _check_statement(connection, sql):
    statements = _prepared(connection.extract_statements, sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise ValueError("--query must be one statement that selects, got another or several.")


def _check_plan(connection, sql):
    """Raise if the query reads text whose types are guessed: one record could change how all others are read."""
    ((_, plan),) = _prepared(lambda: connection.execute(f"EXPLAIN (FORMAT JSON) {sql}").fetchall())
    found = _GUESSES.search(plan)
    if found:
        raise ValueError(
            f"--query must not read {found[1]}, whose types are guessed from the values: give a file .csv as DATA, or "
            "load it into a table of a database with declared types."
        )


def _prepared(prepare, *arguments):
    """What is done before a record is read: an error says in one line what is wrong with the query."""
    try:
        return prepare(*arguments)
    except _ABOUT_THE_QUERY as error:
        message = str(error).partition("\n")[0]
    except duckdb.Error as error:
        message = f"DuckDB failed with {type(error).__name__}; run it there to see why"
    raise ValueError(f"--query cannot be run: {message}.".replace("!.", "."))
