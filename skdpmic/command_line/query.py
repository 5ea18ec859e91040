"""The result of a DuckDB query, with its types."""

import re

import duckdb
import pyarrow

from skdpmic._utils.errors import read_by_engine
from skdpmic._utils.readable import refuse_repeated
from skdpmic._utils.user_files import check_regular
from skdpmic.command_line.spelled_values import with_durations

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
