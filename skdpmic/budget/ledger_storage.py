"""Where a ledger is kept: in a file, or in a database. A ledger knows of both only what is said here."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from skdpmic.budget.ledger_database import DatabaseStorage, is_url
from skdpmic.budget.ledger_file import LedgerEntry, create_ledger_file, open_ledger_file


class Book(Protocol):
    """What is written in a ledger, during one transaction, after everything that can be wrong with it was looked for.

    Attributes
    ----------
    limits : tuple
        (epsilon, delta, composition).
    entries : list of LedgerEntry
        Those at the beginning of the transaction, oldest first.
    """

    limits: tuple[float, float, str]
    entries: list[LedgerEntry]

    def append(self, entry: LedgerEntry) -> None:
        """Write an entry. A database puts its own time in the place of that of the entry."""


class Storage(Protocol):
    """A place for one ledger; it can be pickled."""

    @property
    def path(self) -> str:
        """What it is called in messages. Two places with the same path are the same."""

    def exists(self) -> bool:
        """Whether there is something in this place."""

    def create(self, limits: tuple[float, float, str]) -> None:
        """Make a ledger, or leave the one that somebody else has made in the meantime."""

    def transact(self, work: Callable[[Any], Any], *, writes: bool) -> Any:
        """What `work` returns of the :class:`Book`.

        With `writes`, no other transaction writes from before the book is read until what was appended is on disk; an
        error undoes it. `work` may be called again, if the database asks for that.
        """


@dataclass(frozen=True)
class FileStorage:
    """A file with this real path."""

    path: str

    def exists(self):
        """Whether there is a file."""
        return os.path.exists(self.path)

    def create(self, limits):
        """Make the file, if there still is none."""
        create_ledger_file(self.path, limits)

    def transact(self, work, *, writes):
        """What `work` returns of the :class:`LedgerFile`."""
        with open_ledger_file(self.path, "IMMEDIATE" if writes else "DEFERRED") as file:
            return work(file)


def storage_at(place: str | os.PathLike[str]) -> Storage:
    """The file, or the database if `place` is a URL."""
    if is_url(place):
        return DatabaseStorage(place)
    return FileStorage(os.path.realpath(os.fsdecode(place)))  # workers may run in another folder
