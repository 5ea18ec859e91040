"""The database of a team's ledger: the guarantees of the file, on a server (``docs/theory/ledger.md``).

A charge locks the table `head` from before it reads until it is committed. It has a random id, which identifies it if
the answer to its COMMIT is lost.
"""

import functools
import hashlib
import os
import random
import re
import secrets
import struct
import time
from datetime import UTC
from types import SimpleNamespace
from typing import get_args, get_type_hints

from skdpmic.budget.ledger_entry import LedgerEntry
from skdpmic.budget.ledger_file import check_format, checked_chain, digest_of, new_identity

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

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def exists(self):
        """Whether there is a ledger, or the remains of one."""
        return self._in_own_words(self._exists)

    def create(self, limits):
        """Create the tables in one transaction, unless another process has created them in the meantime."""
        try:
            self._in_own_words(functools.partial(self._create, limits))
        except (OSError, ValueError):
            if not self.exists():
                raise

    def transact(self, work, *, writes):
        """The result of `work` on the :class:`DatabaseBook`; None if it writes.

        Raises
        ------
        OSError
            Also if an answer was lost and it is unknown whether the entry that `work` appended is written. The message
            says that it must be counted as spent.
        """
        self._in_own_words(lambda: self.engine)
        return _Attempts(self, work, writes).result()

    @functools.cached_property
    def engine(self):
        """The engine, which keeps no connection open, so that forks and threads can share it."""
        return self._create_engine()

    def in_words(self, error):
        """An error of our own, because those of SQLAlchemy may quote what was written, and credentials."""
        orig = getattr(error, "orig", None)
        code, kind = sqlstate(error), type(error if orig is None else orig).__name__
        if code == "42501":
            return PermissionError(f"the ledger {self.path!r} cannot be used: this user lacks a privilege ({kind}).")
        if code == "55P03":
            return OSError(f"the ledger {self.path!r} cannot be used: other processes locked it for {_WAIT} s.")
        if code in ("42P01", "42703", "3F000"):
            return ValueError(f"{self.path!r} is not a privacy ledger, or is damaged (tables or columns are missing).")
        if code in _RETRIED:
            return OSError(f"the ledger {self.path!r} cannot be used: too many processes write to it.")
        if kind == "DataError" or (code or "").startswith("22"):
            return ValueError(f"the database of the ledger {self.path!r} cannot store such a str or number.")
        if kind in ("ArgumentError", "NoSuchModuleError"):
            return ValueError(f"the ledger {self.path!r} cannot be used: SQLAlchemy does not accept its URL ({kind}).")
        what = f"{kind}, SQLSTATE {code}" if code else f"{kind}: is the server reachable, and can this user log in?"
        return OSError(f"the ledger {self.path!r} cannot be used ({what}).")

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

    def _create_engine(self):
        from sqlalchemy import create_engine
        from sqlalchemy.pool import NullPool

        patience = _TIMEOUTS if self._url.get_driver_name() in ("psycopg", "psycopg2") else {}
        return create_engine(
            self._url,
            isolation_level="SERIALIZABLE",
            poolclass=NullPool,
            hide_parameters=True,
            connect_args={name: value for name, value in patience.items() if name not in self._url.query},
        )

    def _exists(self):
        from sqlalchemy import inspect

        with self.engine.connect() as connection:
            return inspect(connection).has_table("head", _SCHEMA)

    def _create(self, limits):
        """Create the tables, with the first limits."""
        from sqlalchemy.schema import CreateSchema

        tables, identity = ledger_tables(), new_identity()
        with self.engine.begin() as connection:
            connection.execute(CreateSchema(_SCHEMA, if_not_exists=True))
            tables.head.metadata.create_all(connection, checkfirst=False)
            digest = _digest_of_limits(identity, limits)
            _insert(connection, tables.limits, (1, *limits, digest))
            _insert(connection, tables.head, (1, _VERSION, identity, digest))


class _Attempts:
    """One transaction, repeated until its outcome is known or the time is up."""

    def __init__(self, storage, work, writes):
        self._storage, self._work, self._writes = storage, work, writes
        self._charge_id = secrets.token_hex(16)
        self._deadline = time.monotonic() + _WAIT
        self._n_tries = 0
        self._is_sent = False  # whether the COMMIT of this attempt was sent
        self._may_be_written = False  # by an earlier attempt

    def result(self):
        """The result of the work."""
        from sqlalchemy.exc import SQLAlchemyError

        problem = None
        while problem is None:
            self._n_tries += 1
            self._is_sent = False
            try:
                return self._run()
            except SQLAlchemyError as error:
                problem = self._decide(error)
            except (OSError, ValueError) as error:
                if not self._may_be_written:
                    raise
                problem = error
            if problem is None:
                time.sleep(_jitter.uniform(0.5, 1) * min(2.0, 0.005 * 2**self._n_tries))
        if self._may_be_written:
            raise OSError(
                f"a charge of the ledger {self._storage.path!r} may have been written: the answer was lost, and could "
                f"not be requested again. Count it as spent, and publish nothing for it. ({problem})"
            )
        raise problem  # here, so that it does not chain the error of SQLAlchemy

    def _run(self):
        with self._storage.engine.connect() as connection:
            if self._writes:
                _lock_head(self._storage.path, connection, max(1.0, self._deadline - time.monotonic()))
            book = DatabaseBook(self._storage.path, connection, self._charge_id)
            if self._charge_id in book.charge_ids:  # written by an attempt whose answer was lost
                return None
            self._may_be_written = False  # an attempt still running would hold the lock
            result = self._work(book)
            if self._writes:
                self._is_sent = True
                connection.commit()
            return result

    def _decide(self, error):
        """None if another attempt may succeed; otherwise the error in our own words."""
        code = sqlstate(error)
        if self._is_sent and code not in _ROLLED_BACK:
            self._may_be_written = True
        has_time = time.monotonic() < self._deadline
        may_succeed = self._may_be_written or (code in _RETRIED and self._n_tries < _N_TRIES)
        return None if has_time and may_succeed else self._storage.in_words(error)


def sqlstate(error):
    """The SQLSTATE of an error, or None."""
    orig = getattr(error, "orig", None)
    return getattr(orig, "sqlstate", None) or getattr(orig, "pgcode", None)


def _lock_head(path, connection, seconds):
    """Wait until no other transaction writes, before the snapshot of this one is taken."""
    timeouts = {"lock_timeout": 1, "statement_timeout": 2, "idle_in_transaction_session_timeout": 1}  # the last one
    # frees the lock of a client that vanished
    for statement in (
        *(f"SET LOCAL {timeout} = {int(1000 * seconds * times)}" for timeout, times in timeouts.items()),
        f"LOCK TABLE {_SCHEMA}.head IN EXCLUSIVE MODE",
    ):
        connection.exec_driver_sql(statement)
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
_CLOCK = "clock_timestamp() AT TIME ZONE 'UTC'"


@functools.cache
def ledger_tables():
    """The tables `limits`, `entries` and `head` in SQLAlchemy."""
    import sqlalchemy as sql

    metadata = sql.MetaData(schema=_SCHEMA)

    def column(name, kind, **options):
        return sql.Column(name, kind, **{"nullable": False} | options)

    def number():
        return sql.Column("number", sql.BigInteger, primary_key=True, autoincrement=False)

    largest = "1.7976931348623157e308"  # PostgreSQL sorts NaN above all numbers
    types = {str: sql.Text, int: sql.BigInteger, float: sql.Double}
    fields = []
    for name, kind in get_type_hints(LedgerEntry).items():
        kinds = get_args(kind) or (kind,)  # of a union, or itself
        fields.append(column(name, types[kinds[0]], quote=True, nullable=type(None) in kinds))
    limits = sql.Table(
        "limits",
        metadata,
        number(),
        column("epsilon", sql.Double),
        column("delta", sql.Double),
        column("composition", sql.String(16)),
        column("max_rows_per_person", sql.BigInteger, nullable=True),
        column("digest", sql.LargeBinary(32)),
        sql.CheckConstraint(f"epsilon > 0 AND epsilon <= {largest} AND delta >= 0 AND delta < 1"),
    )
    entries = sql.Table(
        "entries",
        metadata,
        number(),
        column("charge_id", sql.String(32), unique=True),
        *fields,
        column("digest", sql.LargeBinary(32)),
        sql.CheckConstraint(f"epsilon > 0 AND epsilon <= {largest} AND delta >= 0 AND delta < 1"),
        sql.CheckConstraint(f"rho IS NULL OR (rho > 0 AND rho <= {largest})"),
    )
    head = sql.Table(
        "head",
        metadata,
        sql.Column("id", sql.Integer, primary_key=True, autoincrement=False),
        column("version", sql.Integer),
        column("identity", sql.LargeBinary(32)),
        column("digest", sql.LargeBinary(32)),
    )
    return SimpleNamespace(limits=limits, entries=entries, head=head)


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
        self._tables = ledger_tables()
        identity, last_digest = self._read_head()
        self.limits, first_digest = self._read_limits(identity)
        rows = self._rows(self._tables.entries, self._tables.entries.c.number)
        self.digests = checked_chain(first_digest, rows, self._damage)
        self.entries, self.charge_ids = [LedgerEntry(*row[2:-1]) for row in rows], {row[1] for row in rows}
        if last_digest != self.digests[-1]:
            raise self._damage(f"what follows entry {len(self.entries)} was changed or lost")

    def append(self, entry):
        """Write a :class:`LedgerEntry`, with the server's time."""
        from sqlalchemy import select, update

        entries, head = self._tables.entries, self._tables.head
        row = (len(self.entries) + 1, self._charge_id, *entry._replace(when=self._now()))
        row = (*row, digest_of(self.digests[-1], row))
        _insert(self._connection, entries, row)
        kept = self._connection.execute(select(entries).where(entries.c.number == row[0])).one()
        if ascii(tuple(kept)) != ascii(row):
            raise ValueError(f"the database of the ledger {self._path!r} does not store values as written.")
        self._connection.execute(update(head).where(head.c.id == 1).values(digest=row[-1]))
        self.digests.append(row[-1])

    def _rows(self, table, *order):
        from sqlalchemy import select

        return [tuple(row) for row in self._connection.execute(select(table).order_by(*order))]

    def _read_head(self):
        head = self._tables.head
        versions = [version for (version,) in self._rows(head.c.version)]  # first: other formats have other columns
        if len(versions) != 1:
            raise self._damage("its head was changed or lost")
        check_format(self._path, versions[0], _VERSION)
        ((_, _, identity, digest),) = self._rows(head)
        return identity, digest

    def _read_limits(self, identity):
        """The last limits, and the digest of the first limits, which starts the chain. Limits can only rise."""
        digest, all_limits, digests = identity, [], []
        for row in self._rows(self._tables.limits, self._tables.limits.c.number):
            number, *limits, stored = row
            digest = _digest_of_limits(digest, limits)
            is_raised = not all_limits or _is_raised(all_limits[-1], limits)
            if (number, stored) != (len(all_limits) + 1, digest) or not is_raised:
                raise self._damage("its limits were changed")
            all_limits.append(limits)
            digests.append(digest)
        if not all_limits:
            raise self._damage("its limits were changed or lost")
        return tuple(all_limits[-1]), digests[0]

    def _now(self):
        """The server's time, but not before that of the last entry."""
        from sqlalchemy import DateTime, literal_column, select

        now = self._connection.execute(select(literal_column(_CLOCK, DateTime))).scalar_one()
        text = now.replace(tzinfo=UTC).isoformat(timespec="milliseconds")
        return max(text, self.entries[-1].when) if self.entries else text

    def _damage(self, what):
        return ValueError(f"{self._path!r} is not a privacy ledger, or is damaged ({what}).")


def _insert(connection, table, row):
    connection.execute(table.insert().values(dict(zip(table.columns.keys(), row, strict=True))))


def _digest_of_limits(previous, limits):
    """A digest that SQL can also compute, so that limits can be raised there."""
    epsilon, delta, composition, max_rows = limits
    numbers = struct.pack(">ddq", epsilon, delta, max_rows or 0)
    return hashlib.sha256(previous + numbers + composition.encode()).digest()


def _is_raised(old, new):
    return new[0] >= old[0] and new[1] >= old[1] and new[2:] == old[2:]
