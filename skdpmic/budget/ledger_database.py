"""The database of a team's ledger: the guarantees of the file, on a server (``docs/theory/ledger.md``).

A charge locks the table `head` from before it reads until it is committed. It has a random id, which identifies it if
the answer to its COMMIT is lost.
"""

import functools
import hashlib
import itertools
import os
import random
import re
import secrets
import struct
import time

from skdpmic.budget.ledger_entry import LedgerEntry, columns_in_sql
from skdpmic.budget.ledger_file import check_format, checked_chain, damaged, digest_of

_WAIT = 60  # seconds for others to finish writing, and for a server to return after a lost answer
_N_TRIES = 30  # of a transaction refused because of concurrent ones
_URL = re.compile(r"\s*[A-Za-z][\w+.-]+:/")
_SECRET = re.compile(r"passw|pwd|secret|token|odbc_connect", re.IGNORECASE)  # in names of URL query parameters
_TIMEOUTS = {  # of libpq, to notice a lost server within a minute
    "connect_timeout": 20,
    "keepalives_idle": 10,
    "keepalives_interval": 10,
    "keepalives_count": 4,
    "tcp_user_timeout": 1000 * _WAIT,
}
_RETRIED = {"40001", "40P01", "23505"}  # not serialisable, deadlock, duplicate number: others were faster
_ROLLED_BACK = {"40001", "40P01"}  # answers to COMMIT after which certainly nothing is written
_NOT_A_LEDGER = {"42P01", "42703", "3F000"}  # no such table, column or schema
_MEANINGS = {
    "42501": (PermissionError, "this user lacks a privilege"),
    "55P03": (OSError, f"other processes locked it for {_WAIT} s"),
    **dict.fromkeys(_RETRIED, (OSError, "too many processes write to it")),
}
_jitter = random.SystemRandom()  # not the generator that users can seed


def is_url(place):
    """Whether `place` is the URL of a database, perhaps mistyped: messages show paths, but never passwords."""
    return _URL.match(os.fsdecode(place)) is not None


class DatabaseStorage:
    """A database at this URL, accessed by SQLAlchemy.

    A copy is the same object. A pickle contains the URL without passwords.
    """

    def __init__(self, url):
        # Errors of the URL are raised at the first use, when no variable in the traceback holds the password any more.
        self._url, self._problem = _parsed(url)
        self.path = "<URL that cannot be read>"
        if self._url is not None:
            query = {name: value for name, value in self._url.query.items() if not _SECRET.search(name)}
            shown = self._url._replace(password=None).set(query=query)
            self.path = shown.render_as_string(hide_password=False)

    def __reduce__(self):
        return type(self), (self.path,)

    def __deepcopy__(self, memo):
        return self

    def exists(self):
        """Whether there is a ledger, or the remains of one."""

        def has_head():
            from sqlalchemy import inspect

            with self.engine.connect() as connection:
                return inspect(connection).has_table("head", _SCHEMA)

        return self._in_own_words(has_head)

    def create(self, limits):
        """Create the tables in one transaction, unless another process has created them in the meantime."""

        def create_tables():
            identity = secrets.token_bytes(32)  # no two ledgers have a digest in common
            digest = _digest_of_limits(identity, limits)
            with self.engine.begin() as connection:
                for statement in (f"CREATE SCHEMA IF NOT EXISTS {_SCHEMA}", *_TABLES):
                    connection.exec_driver_sql(statement)
                _insert(connection, "limits", (1, *limits, digest))
                _insert(connection, "head", (1, _VERSION, identity, digest))

        try:
            self._in_own_words(create_tables)
        except (OSError, ValueError):
            if not self.exists():
                raise

    def transact(self, work, *, writes):
        """The result of `work` on the :class:`DatabaseBook`; None if it writes.

        Attempts are repeated until the outcome of one is known, or the time is up.

        Raises
        ------
        OSError
            Also if an answer was lost and it is unknown whether the entry that `work` appended is written. The message
            says that it must be counted as spent.
        """
        self._in_own_words(lambda: self.engine)
        from sqlalchemy.exc import SQLAlchemyError

        charge_id, deadline, may_be_written = secrets.token_hex(16), time.monotonic() + _WAIT, False
        for n_tries in itertools.count(1):
            is_sent = False  # whether the COMMIT of this attempt was sent
            try:
                with self.engine.connect() as connection:
                    if writes:
                        _lock_head(self.path, connection, max(1.0, deadline - time.monotonic()))
                    book = DatabaseBook(self.path, connection, charge_id)
                    if charge_id in book.charge_ids:  # written by an attempt whose answer was lost
                        return None
                    may_be_written = False  # an attempt still running would hold the lock
                    result = work(book)
                    if writes:
                        is_sent = True
                        connection.commit()
                    return result
            except SQLAlchemyError as error:
                code, problem = sqlstate(error), self.in_words(error)
                may_be_written |= is_sent and code not in _ROLLED_BACK
                may_succeed = may_be_written or (code in _RETRIED and n_tries < _N_TRIES)
                if not may_succeed or time.monotonic() >= deadline:
                    break
            except (OSError, ValueError) as error:
                problem = error
                break
            time.sleep(_jitter.uniform(0.5, 1) * min(2.0, 0.005 * 2**n_tries))
        if may_be_written:
            problem = OSError(
                f"a charge of the ledger {self.path!r} may have been written: the answer was lost, and could "
                f"not be requested again. Count it as spent, and publish nothing for it. ({problem})"
            )
        raise problem  # here, so that it does not chain the error of SQLAlchemy

    @functools.cached_property
    def engine(self):
        """The engine, which keeps no connection open, so that forks and threads can share it."""
        from sqlalchemy import create_engine
        from sqlalchemy.pool import NullPool

        patience = _TIMEOUTS if self._url.get_driver_name() in ("psycopg", "psycopg2") else {}
        patience = {name: value for name, value in patience.items() if name not in self._url.query}
        options = {"poolclass": NullPool, "hide_parameters": True, "connect_args": patience}
        return create_engine(self._url, isolation_level="SERIALIZABLE", **options)

    def in_words(self, error):
        """An error of our own, because those of SQLAlchemy may quote what was written, and credentials."""
        code, kind = sqlstate(error), type(getattr(error, "orig", None) or error).__name__
        if code in _NOT_A_LEDGER:
            return damaged(self.path, "tables or columns are missing")
        what = f"SQLSTATE {code}" if code else "the server must be reachable, and this user able to log in"
        of_error, what = _MEANINGS.get(code, (OSError, f"{kind}, {what}"))
        if kind == "DataError" or (code or "").startswith("22"):
            of_error, what = ValueError, "the database cannot store such a str or number"
        if kind in ("ArgumentError", "NoSuchModuleError"):
            of_error, what = ValueError, f"SQLAlchemy does not accept its URL ({kind})"
        return of_error(f"the ledger {self.path!r} cannot be used: {what}.")

    def _in_own_words(self, action):
        if self._problem is not None:
            raise self._problem
        from sqlalchemy.exc import SQLAlchemyError

        try:
            return action()
        except SQLAlchemyError as error:
            problem = self.in_words(error)
        except ModuleNotFoundError as error:
            problem = ModuleNotFoundError(
                f"the ledger {self.path!r} requires the module {error.name!r}. For postgresql+psycopg://, install it "
                "by pip install 'skdpmic[team]'."
            )
        raise problem  # here, so that it does not chain the error of SQLAlchemy


def sqlstate(error):
    """The SQLSTATE of an error, or None."""
    orig = getattr(error, "orig", None)
    return getattr(orig, "sqlstate", None) or getattr(orig, "pgcode", None)


def _lock_head(path, connection, seconds):
    """Wait until no other transaction writes, before the snapshot of this one is taken."""
    timeouts = {"lock_timeout": 1, "statement_timeout": 2, "idle_in_transaction_session_timeout": 1}  # the last one
    # frees the lock of a client that vanished
    for timeout, times in timeouts.items():
        connection.exec_driver_sql(f"SET LOCAL {timeout} = {int(1000 * seconds * times)}")
    connection.exec_driver_sql(f"LOCK TABLE {_SCHEMA}.head IN EXCLUSIVE MODE")
    if connection.exec_driver_sql("SHOW fsync").scalar_one() != "on":
        raise OSError(f"the ledger {path!r} cannot be charged: its server may lose charges (fsync = off).")
    if connection.exec_driver_sql("SHOW synchronous_commit").scalar_one() == "off":
        connection.exec_driver_sql("SET LOCAL synchronous_commit = on")


def _parsed(url):
    """The URL as parsed by SQLAlchemy, whose repr hides the password, and what is wrong with it; one is None."""
    try:
        from sqlalchemy import make_url
        from sqlalchemy.exc import ArgumentError
    except ModuleNotFoundError:
        return None, ModuleNotFoundError("a ledger in a database requires SQLAlchemy: pip install 'skdpmic[team]'.")
    try:
        url.encode()  # psycopg would fail here, with an error that quotes the password
        parsed = make_url(url)
    except (ArgumentError, AttributeError, ValueError):  # AttributeError if it is not a str
        return None, ValueError("the URL of a ledger cannot be read: write it as 'postgresql+psycopg://user@host/db'.")
    if parsed.get_backend_name() != "postgresql":  # locks and lost answers are tested with no other
        return None, ValueError("path must be the path of a file, or a URL of PostgreSQL, got one of another database.")
    return parsed, None


_VERSION = 3
_SCHEMA = "skdpmic"
_CLOCK = """to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"')"""
_LARGEST = "1.7976931348623157e308"  # PostgreSQL sorts NaN above all numbers
_NUMBERS = "epsilon DOUBLE PRECISION NOT NULL, delta DOUBLE PRECISION NOT NULL"
_POSITIVE = f"CHECK (epsilon > 0 AND epsilon <= {_LARGEST} AND delta >= 0 AND delta < 1)"
_TABLES = (
    f"CREATE TABLE {_SCHEMA}.limits (number BIGINT PRIMARY KEY, {_NUMBERS}, composition VARCHAR(16) NOT NULL, "
    f"max_rows_per_person BIGINT, digest BYTEA NOT NULL, {_POSITIVE})",
    f"CREATE TABLE {_SCHEMA}.entries (number BIGINT PRIMARY KEY, charge_id VARCHAR(32) NOT NULL UNIQUE, "
    f"{columns_in_sql('TEXT', 'DOUBLE PRECISION', 'BIGINT')}, digest BYTEA NOT NULL, {_POSITIVE}, "
    f"CHECK (rho IS NULL OR (rho > 0 AND rho <= {_LARGEST})))",
    f"CREATE TABLE {_SCHEMA}.head (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, identity BYTEA NOT NULL, "
    "digest BYTEA NOT NULL)",
)


class DatabaseBook:
    """The contents of the database during one transaction, after all checks.

    Attributes
    ----------
    limits : tuple
        (epsilon, delta, composition, max_rows_per_person).
    entries : list of LedgerEntry
        Entries at the beginning of the transaction, oldest first.
    digests : list of bytes
        Digest of the first limits, and of each entry with all before it.
    charge_ids : set of str
        Random ids of the entries.
    """

    def __init__(self, path, connection, charge_id):
        self._path, self._connection, self._charge_id = path, connection, charge_id
        identity, last_digest = self._read_head()
        self.limits, first_digest = self._read_limits(identity)
        rows = self._rows("*", "entries", "ORDER BY number")
        self.digests = checked_chain(path, first_digest, rows)
        self.entries, self.charge_ids = [LedgerEntry(*row[2:-1]) for row in rows], {row[1] for row in rows}
        if last_digest != self.digests[-1]:
            raise damaged(path, f"what follows entry {len(self.entries)} was changed or lost")

    def append(self, entry):
        """Write a :class:`LedgerEntry`, with the server's time."""
        row = (len(self.entries) + 1, self._charge_id, *entry._replace(when=self._now()))
        row = (*row, digest_of(self.digests[-1], row))
        _insert(self._connection, "entries", row)
        (kept,) = self._rows("*", "entries", f"WHERE number = {row[0]}")
        if ascii(kept) != ascii(row):
            raise ValueError(f"the database of the ledger {self._path!r} does not store values as written.")
        _execute(self._connection, f"UPDATE {_SCHEMA}.head SET digest = :digest WHERE id = 1", digest=row[-1])
        self.digests.append(row[-1])

    def _rows(self, columns, table, condition=""):
        rows = _execute(self._connection, f"SELECT {columns} FROM {_SCHEMA}.{table} {condition}")
        return [tuple(bytes(value) if isinstance(value, memoryview) else value for value in row) for row in rows]

    def _read_head(self):
        versions = self._rows("version", "head")  # first: other formats have other columns
        if len(versions) != 1:
            raise damaged(self._path, "its head was changed or lost")
        check_format(self._path, *versions[0], _VERSION)
        ((identity, digest),) = self._rows("identity, digest", "head")
        return identity, digest

    def _read_limits(self, identity):
        """The last limits, and the digest of the first limits, which starts the chain. Limits can only rise."""
        rows = self._rows("*", "limits", "ORDER BY number")
        if not rows:
            raise damaged(self._path, "its limits were changed or lost")
        digest, last = identity, list(rows[0][1:-1])
        for place, (number, *limits, stored) in enumerate(rows, start=1):
            digest = _digest_of_limits(digest, limits)
            is_raised = limits[0] >= last[0] and limits[1] >= last[1] and limits[2:] == last[2:]
            if (number, stored) != (place, digest) or not is_raised:
                raise damaged(self._path, "its limits were changed")
            last = limits
        return tuple(last), rows[0][-1]

    def _now(self):
        """The server's time, but not before that of the last entry."""
        now = self._connection.exec_driver_sql(f"SELECT {_CLOCK}").scalar_one()
        return max(now, self.entries[-1].when) if self.entries else now


def _execute(connection, statement, **values):
    from sqlalchemy import text

    return connection.execute(text(statement), values)


def _insert(connection, table, row):
    values = {f"value{j}": value for j, value in enumerate(row)}
    _execute(connection, f"INSERT INTO {_SCHEMA}.{table} VALUES (:{', :'.join(values)})", **values)


def _digest_of_limits(previous, limits):
    """A digest that SQL can also compute, so that limits can be raised there."""
    epsilon, delta, composition, max_rows = limits
    return hashlib.sha256(previous + struct.pack(">ddq", epsilon, delta, max_rows or 0) + composition.encode()).digest()
