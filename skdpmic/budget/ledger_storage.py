"""The storage of a ledger, a file or a database: the interface that ledgers use."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from skdpmic.budget.ledger_database import DatabaseStorage, is_url
from skdpmic.budget.ledger_file import LedgerEntry, create_ledger_file, open_ledger_file


class Book(Protocol):
    """The contents of a ledger during one transaction, after all checks.

    Attributes
    ----------
    limits : tuple
        (epsilon, delta, composition).
    entries : list of LedgerEntry
        Entries at the beginning of the transaction, oldest first.
    """

    limits: tuple[float, float, str]
    entries: list[LedgerEntry]

    def append(self, entry: LedgerEntry) -> None:
        """Write an entry. A database replaces its time by that of the server."""


class Storage(Protocol):
    """The storage of one ledger; it can be pickled."""

    @property
    def path(self) -> str:
        """Its name in messages. Two storages with the same path are the same."""

    def exists(self) -> bool:
        """Whether the storage exists."""

    def create(self, limits: tuple[float, float, str]) -> None:
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
    if is_url(place):
        return DatabaseStorage(place)
    return FileStorage(os.path.realpath(os.fsdecode(place)))  # workers may run in another folder
