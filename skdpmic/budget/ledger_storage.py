"""The storage of a ledger, a file or a database: the interface that ledgers use."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from skdpmic.budget.ledger_database import DatabaseStorage, is_url
from skdpmic.budget.ledger_entry import LedgerEntry
from skdpmic.budget.ledger_file import create_ledger_file, open_ledger_file

Limits = tuple[float, float, str, int | None]


class Book(Protocol):
    """The contents of a ledger during one transaction, after all checks.

    Attributes
    ----------
    limits : tuple
        (epsilon, delta, composition, max_rows_per_person).
    entries : list of LedgerEntry
        Entries at the beginning of the transaction, oldest first.
    digests : list of bytes
        Of the ledger without entries, which no other ledger has, and of each entry with all before it.
    """

    limits: Limits
    entries: list[LedgerEntry]
    digests: list[bytes]

    def append(self, entry: LedgerEntry) -> None:
        """Write an entry. A database replaces its time by that of the server."""


class Storage(Protocol):
    """The storage of one ledger; it can be pickled."""

    @property
    def path(self) -> str:
        """Its name in messages. Two storages with the same path are the same."""

    def exists(self) -> bool:
        """Whether the storage exists."""

    def create(self, limits: Limits) -> None:
        """Create a ledger, unless another process has created it in the meantime."""

    def transact(self, work: Callable[[Any], Any], *, writes: bool) -> Any:
        """The result of `work` on the :class:`Book`.

        With `writes`, no other transaction writes from before the book is read until the new entry is on disk; errors
        roll back. `work` may be called again if the database requires it.
        """


@dataclass(frozen=True)
class FileStorage:
    """A file at this real path."""

    path: str

    def exists(self):
        """Whether there is a file."""
        return os.path.exists(self.path)

    def create(self, limits):
        """Create the file, unless it exists."""
        create_ledger_file(self.path, limits)

    def transact(self, work, *, writes):
        """The result of `work` on the :class:`LedgerFile`."""
        with open_ledger_file(self.path, "IMMEDIATE" if writes else "DEFERRED") as file:
            return work(file)


def storage_at(place: str | os.PathLike[str]) -> Storage:
    """The file, or the database if `place` is a URL."""
    if not isinstance(place, str | bytes | os.PathLike):
        raise TypeError(f"path must be a str or a path-like, got {type(place).__name__}.")
    if is_url(place):
        return DatabaseStorage(place)
    path = os.fsdecode(place)
    if not is_path(path):
        raise ValueError(f"path must be a path or the URL of a database, got {path!r}.")
    return FileStorage(os.path.realpath(path))  # workers may run in another folder


def is_path(text):
    """Whether a file can have this path."""
    try:
        return bool(text) and "\0" not in text and bool(os.fsencode(text))
    except UnicodeEncodeError:  # of a lone surrogate
        return False


def transact(storage, limits, seen, work, *, writes):
    """The result of `work` on a book, and what was then seen of it.

    Parameters
    ----------
    storage : Storage
    limits : Limits
        Those that the book must have.
    seen : (int, bytes) or None
        Number and digest of what was read last, taken before the transaction, because entries may be added at any time:
        the book must go on from there.
    work : callable
    writes : bool
    """

    def checked(book):
        _check_book(book, storage.path, limits, seen)
        result = work(book)
        return result, (len(book.digests), book.digests[-1])

    return storage.transact(checked, writes=writes) or (None, seen)  # a database may only say that it has written


def _check_book(book, path, limits, seen):
    """Raise if the book has other limits, or is not the one that was seen before."""
    if book.limits != limits:
        raise ValueError(
            f"the limits of the ledger {path!r} are (epsilon, delta, composition, max_rows_per_person) = "
            f"{book.limits}, got {tuple(limits)}. Use BudgetLedger.open(path) to open it with the stored limits."
        )
    if seen is not None and book.digests[seen[0] - 1 : seen[0]] != [seen[1]]:
        raise ValueError(
            f"the ledger {path!r} is not the one that was opened: another one, or an older copy, is in its place. Put "
            "it back, or use BudgetLedger.open(path) and record there, with spend, what it lacks."
        )
