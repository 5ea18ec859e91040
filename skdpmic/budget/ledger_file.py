"""The file of a ledger: entries persist, and are read as they were written (``docs/theory/ledger.md``).

Each entry has a digest of its values and of the previous digest. Digests detect corruption, not manipulation: people
who can write to the file can also compute digests.
"""

import contextlib
import hashlib
import os
import secrets
import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path

from skdpmic.budget.ledger_entry import LedgerEntry, columns_in_sql

_APPLICATION_ID = 0x736B6470  # "skdp", in SQLite's field for the file type
_WAIT = 60  # seconds for other processes to finish writing
_TABLES = (
    "CREATE TABLE limits (epsilon REAL NOT NULL, delta REAL NOT NULL, composition TEXT NOT NULL, "
    "max_rows_per_person INTEGER, digest BLOB NOT NULL)",
    f"CREATE TABLE entries (id INTEGER PRIMARY KEY, {columns_in_sql('TEXT', 'REAL', 'INTEGER')}, digest BLOB NOT NULL)",
    # The random bytes from which the digests begin, the path at which the file was last written, and the last digest
    # again, so that no last entries can be lost.
    "CREATE TABLE head (identity BLOB NOT NULL, path BLOB NOT NULL, digest BLOB NOT NULL)",
)
_VERSION = 6
_DRAFT = ".ledger-"  # prefix of the name of a draft
_NOT_A_LEDGER = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}  # no table, damaged, foreign
_NO_ACCESS = {sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_AUTH}

# A fork while another thread is inside SQLite would leave the child with locks that are never released.
_inside_sqlite = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_inside_sqlite.acquire, after_in_parent=_inside_sqlite.release, after_in_child=_inside_sqlite.release
    )


@dataclass(frozen=True)
class FileStorage:
    """A file at this real path. Like every storage it can be pickled, and one with the same path is the same.

    What it passes to `work` is the contents during one transaction, after all checks: a :class:`LedgerFile`, or, of a
    database, a :class:`~skdpmic.budget.ledger_database.DatabaseBook`. Both have `limits`, `entries`, `digests` and
    `append`.
    """

    path: str

    def exists(self):
        """Whether there is a file."""
        return os.path.exists(self.path)

    def create(self, limits):
        """Write a draft, and rename it unless the name is taken: no process ever sees an incomplete file."""
        path, folder = self.path, os.path.dirname(self.path)
        _check_place(path)
        draft = os.path.join(folder, _DRAFT + secrets.token_hex(8))
        with _errors_of_folder(path, folder):
            open(draft, "x").close()
        try:
            _write_new(draft, path, limits)
            with _errors_of_folder(path, folder), contextlib.suppress(FileExistsError):  # another process was faster
                os.link(draft, path)
        finally:
            Path(draft).unlink(missing_ok=True)

    def transact(self, work, *, writes):
        """The result of `work` on the contents.

        With `writes`, no other transaction writes from before the contents are read until the new entry is on disk;
        errors roll back. `work` may be called again if a database requires it.
        """
        _check_log(self.path, is_used=os.path.exists(f"{self.path}-wal"))  # before SQLite copies it into the file
        with _inside_sqlite, _errors_about(self.path), contextlib.closing(_connect(self.path)) as connection:
            connection.execute(f"BEGIN {'IMMEDIATE' if writes else 'DEFERRED'}")
            result = work(LedgerFile(self.path, connection))
            connection.execute("COMMIT")
            return result


class LedgerFile:
    """The contents of the file during one transaction, after all checks.

    Attributes
    ----------
    limits : tuple
        (epsilon, delta, composition, max_rows_per_person).
    entries : list of LedgerEntry
        Entries at the beginning of the transaction, oldest first.
    digests : list of bytes
        Digest of the limits, and of each entry with all before it.
    """

    def __init__(self, path, connection):
        self._path, self._connection = path, connection
        self._check_kind()
        self._check_names()
        self._check_pages()
        identity, last_path, last_digest = self._only_row("head")
        self._check_journal_of(last_path)
        self.limits, first_digest = self._read_limits(identity)
        rows = self._connection.execute("SELECT * FROM entries ORDER BY id").fetchall()
        self.digests = checked_chain(path, first_digest, rows)
        self.entries = [LedgerEntry(*row[1:-1]) for row in rows]
        if last_digest != digest_of(self.digests[-1], last_path):
            raise damaged(self._path, f"what follows entry {len(self.entries)} was changed or lost")

    def append(self, entry):
        """Write a :class:`LedgerEntry`."""
        self._connection.execute(f"INSERT INTO entries VALUES (NULL, {', '.join('?' * len(entry))}, '')", entry)
        self.digests.append(_seal(self._connection, "entries", self.digests[-1]))
        path = os.fsencode(self._path)
        self._connection.execute("UPDATE head SET path = ?, digest = ?", (path, digest_of(self.digests[-1], path)))

    def _check_kind(self):
        names = "application_id", "user_version", "journal_mode"
        kind, version, mode = (self._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
        if kind != _APPLICATION_ID:
            raise ValueError(f"{self._path!r} is not a privacy ledger.")
        check_format(self._path, version, _VERSION)
        _check_log(self._path, is_used=mode == "wal")

    def _check_names(self):
        """Refuse hard links: each name has its own journal, which could undo what was written under another name."""
        if os.stat(self._path).st_nlink > 1:
            _remove_draft(self._path)
        if (n_names := os.stat(self._path).st_nlink) > 1:
            raise OSError(
                f"the ledger {self._path!r} has {n_names} names (hard links), and a charge under one could be undone "
                "under another. Remove all names except the one used so far."
            )

    def _check_journal_of(self, last_path):
        """Refuse a file that was moved without the journal that undoes an incomplete write."""
        if not isinstance(last_path, bytes):
            raise damaged(self._path, "its head was changed")
        last_path = os.fsdecode(last_path)
        journal = f"{last_path}-journal"
        if os.path.exists(journal) and not _is_same_name(last_path, self._path):
            raise OSError(
                f"the ledger {self._path!r} was last written as {last_path!r}, and {journal!r} still exists: an "
                f"incomplete write may have to be undone. Open {last_path!r} first, which removes it; if it was moved, "
                f"move it back, or move that file to {self._path + '-journal'!r}."
            )

    def _check_pages(self):
        if self._connection.execute("PRAGMA quick_check").fetchall() != [("ok",)]:
            raise damaged(self._path, "its pages are not in order")
        if self._connection.execute("SELECT sql FROM sqlite_master").fetchall() != [(table,) for table in _TABLES]:
            raise damaged(self._path, "its tables were changed")

    def _only_row(self, table):
        rows = self._connection.execute(f"SELECT * FROM {table}").fetchall()
        if len(rows) != 1:
            raise damaged(self._path, f"its {table} was changed or lost")
        return rows[0]

    def _read_limits(self, identity):
        *limits, digest = self._only_row("limits")
        if not isinstance(identity, bytes) or digest != digest_of(identity, tuple(limits)):
            raise damaged(self._path, "its limits were changed")
        return tuple(limits), digest


def _check_place(path):
    """Refuse a new file in a missing folder, or next to a journal that would write an old ledger into it."""
    folder, journal = os.path.dirname(path), f"{path}-journal"
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"the ledger {path!r} cannot be created: there is no folder {folder!r}.")
    if os.path.exists(journal) and not os.path.exists(path):  # in this order: another process may be creating it
        raise FileExistsError(
            f"the ledger {path!r} cannot be created: {journal!r} belongs to an earlier ledger of this name. If that "
            "was moved, move this file with it, and rename it to match; if it was deleted, also delete this file."
        )


def _check_log(path, is_used):
    """Refuse a write-ahead log: it may belong to another ledger, and its charges are lost if only the file is moved."""
    if is_used:
        raise OSError(
            f"the ledger {path!r} cannot be used with a write-ahead log, {path + '-wal'!r}, because charges could be "
            "lost. If another program switched it on, close that program, and run PRAGMA journal_mode = DELETE; if "
            "this log belongs to an earlier ledger of the same name, delete it."
        )


def _write_new(draft, path, limits):
    with _inside_sqlite, _errors_about(path), contextlib.closing(_connect(draft)) as connection:
        connection.execute("PRAGMA journal_mode = MEMORY")  # an unfinished draft is never used
        connection.execute("BEGIN IMMEDIATE")
        for table in _TABLES:
            connection.execute(table)
        connection.execute("INSERT INTO limits VALUES (?, ?, ?, ?, '')", limits)
        identity, name = secrets.token_bytes(32), os.fsencode(path)  # no two ledgers have a digest in common
        digest = digest_of(_seal(connection, "limits", identity), name)
        connection.execute("INSERT INTO head VALUES (?, ?, ?)", (identity, name, digest))
        connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {_VERSION}")
        connection.execute("COMMIT")


def _remove_draft(path):
    """Remove the name of the draft, in case the process that made this file has not done so, or was killed."""
    for draft in Path(path).parent.glob(_DRAFT + "*"):
        with contextlib.suppress(FileNotFoundError):
            if draft.samefile(path):
                draft.unlink()


def _connect(path):
    """A connection to an existing file: a missing file must not return as a new budget."""
    connection = sqlite3.connect(f"{Path(path).as_uri()}?mode=rw", uri=True, timeout=_WAIT, isolation_level=None)
    connection.execute("PRAGMA synchronous = EXTRA")  # FULL could undo the last charge if the power fails
    return connection


def _seal(connection, table, previous):
    """Write the digest of the newest row, computed from the values as read back."""
    row = connection.execute(f"SELECT * FROM {table} WHERE rowid = last_insert_rowid()").fetchone()
    digest = digest_of(previous, row[:-1])
    connection.execute(f"UPDATE {table} SET digest = ? WHERE rowid = last_insert_rowid()", (digest,))
    return digest


def check_format(path, version, known):
    """Raise unless a ledger has the format that this version of the package reads."""
    if version != known:
        raise ValueError(
            f"the ledger {path!r} has format {version}, but this version of skdpmic reads {known}. Use the version of "
            "skdpmic that wrote it, or read its total there and record that in a new ledger with spend."
        )


def damaged(path, what):
    """The error of a file or database that is not a ledger, or whose digests do not agree."""
    return ValueError(f"{path!r} is not a privacy ledger, or is damaged ({what}).")


def digest_of(previous, values):
    """A digest of all bits of these values and, by `previous`, of everything written before."""
    return hashlib.sha256(previous + ascii(values).encode()).digest()


def checked_chain(path, first, rows):
    """The digest before each row and after the last, if each row has its number and digest; an error if not."""
    digests = [first]
    for number, row in enumerate(rows, start=1):
        digest = digest_of(digests[-1], row[:-1])
        if (row[0], row[-1]) != (number, digest):
            raise damaged(path, f"entry {number} was changed or lost")
        digests.append(digest)
    return digests


def _is_same_name(path, other):
    """Whether two paths name the same file, perhaps through different mounts of its folder."""
    folder, other_folder = os.path.dirname(path), os.path.dirname(other)
    return os.path.basename(path) == os.path.basename(other) and os.path.samefile(folder, other_folder)


@contextlib.contextmanager
def _errors_about(path):
    """Turn SQLite's errors into errors that name the file and say whether it is damaged."""
    try:
        yield
    except sqlite3.Error as error:
        code, folder = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF, os.path.dirname(path)
        if code in _NOT_A_LEDGER:
            raise damaged(path, error) from None
        needs = f" The file must exist, and both the file and its folder {folder!r} must be writable."
        raise OSError(f"the ledger {path!r} cannot be used: {error}.{needs if code in _NO_ACCESS else ''}") from None


@contextlib.contextmanager
def _errors_of_folder(path, folder):
    """Turn the system's errors about a draft into errors that name the ledger and its folder."""
    try:
        yield
    except OSError as error:
        kind = PermissionError if isinstance(error, PermissionError) else OSError
        raise kind(
            f"the ledger {path!r} cannot be created in the folder {folder!r}: {error.strerror}. The folder must be "
            "writable, on a file system with hard links."
        ) from None
