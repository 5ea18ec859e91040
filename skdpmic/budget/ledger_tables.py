"""The tables of a ledger in a database: entries persist, and are read as they were written.

Rows of limits and entries are only ever added, so users need no privilege to update or delete them; `head` has one
row, with the last digest.
"""

import functools
import hashlib
import struct
from datetime import UTC
from types import SimpleNamespace
from typing import get_args, get_type_hints

from skdpmic.budget.ledger_entry import LedgerEntry
from skdpmic.budget.ledger_file import check_format, digest_of, new_identity

_VERSION = 3
_CLOCKS = {"postgresql": "clock_timestamp() AT TIME ZONE 'UTC'"}


@functools.cache
def ledger_tables(is_postgresql):
    """The tables in SQLAlchemy: in a separate schema, or with prefixed names."""
    import sqlalchemy as sql

    metadata = sql.MetaData(schema="skdpmic" if is_postgresql else None)
    prefix = "" if is_postgresql else "skdpmic_"

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
        f"{prefix}limits",
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
        f"{prefix}entries",
        metadata,
        number(),
        column("charge_id", sql.String(32), unique=True),
        *fields,
        column("digest", sql.LargeBinary(32)),
        sql.CheckConstraint(f"epsilon > 0 AND epsilon <= {largest} AND delta >= 0 AND delta < 1"),
        sql.CheckConstraint(f"rho IS NULL OR (rho > 0 AND rho <= {largest})"),
    )
    head = sql.Table(
        f"{prefix}head",
        metadata,
        sql.Column("id", sql.Integer, primary_key=True, autoincrement=False),
        column("version", sql.Integer),
        column("identity", sql.LargeBinary(32)),
        column("digest", sql.LargeBinary(32)),
    )
    return SimpleNamespace(limits=limits, entries=entries, head=head)


def write_new(connection, tables, limits):
    """Create the tables, with the first limits."""
    from sqlalchemy.schema import CreateSchema

    if tables.head.schema:
        connection.execute(CreateSchema(tables.head.schema, if_not_exists=True))
    tables.head.metadata.create_all(connection, checkfirst=False)
    identity = new_identity()
    digest = _digest_of_limits(identity, limits)
    _insert(connection, tables.limits, (1, *limits, digest))
    _insert(connection, tables.head, (1, _VERSION, identity, digest))


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

    def __init__(self, path, connection, tables, charge_id):
        self._path, self._connection, self._tables, self._charge_id = path, connection, tables, charge_id
        identity, last_digest = self._read_head()
        self.limits, first_digest = self._read_limits(identity)
        self.entries, self.charge_ids, self.digests = self._read_entries(first_digest)
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

    def _read_entries(self, digest):
        """All entries, their ids, and all digests from this first one on, after a check of their chain."""
        entries, charge_ids, digests = [], set(), [digest]
        for row in self._rows(self._tables.entries, self._tables.entries.c.number):
            digest = digest_of(digest, row[:-1])
            if row[0] != len(entries) + 1 or digest != row[-1]:
                raise self._damage(f"entry {len(entries) + 1} was changed or lost")
            entries.append(LedgerEntry(*row[2:-1]))
            charge_ids.add(row[1])
            digests.append(digest)
        return entries, charge_ids, digests

    def _now(self):
        """The server's time, but not before that of the last entry."""
        from sqlalchemy import DateTime, literal_column, select

        clock = _CLOCKS.get(self._connection.dialect.name, "CURRENT_TIMESTAMP")
        now = self._connection.execute(select(literal_column(clock, DateTime))).scalar_one()
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
