"""A persistent privacy budget: costs are on disk before noise is drawn (``docs/theory/ledger.md``)."""

import contextlib
import copy
import math
import os
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, Self

from skdpmic._utils.dataframes import dataframe
from skdpmic._utils.texts import BudgetError, quoted, require, require_type
from skdpmic.budget.ledger_database import DatabaseStorage, is_url
from skdpmic.budget.ledger_entry import PLURAL, LedgerEntry, checked_entry, count_or_none, number_of, text_of
from skdpmic.budget.ledger_file import FileStorage
from skdpmic.privacy.composition import FILTERS, Cost, check_delta, check_epsilon


class Limits(NamedTuple):
    """The limits of a ledger, as stored with it."""

    epsilon: float
    delta: float
    composition: str  # "basic" or "zcdp"
    max_rows_per_person: int | None  # None if costs of records and people are not added up

    @property
    def filter(self) -> Any:
        """The filter that decides which costs fit."""
        return FILTERS[self.composition](self.epsilon, self.delta)

    def unit_of(self, entries: Sequence[LedgerEntry]) -> str | None:
        """The unit of the total of these entries; None if nothing has decided it."""
        if self.max_rows_per_person is not None:
            return "person"
        return entries[0].unit if entries else None

    def cost(self, entry: LedgerEntry) -> Cost:
        """The cost of an entry for one unit of the total."""
        rows = self.max_rows_per_person if entry.unit == "record" else None
        return Cost(entry.epsilon, entry.delta, entry.rho, rows=rows or 1)

    def spent(self, entries: Sequence[LedgerEntry]) -> tuple[float, float]:
        """The total (epsilon, delta) of these entries."""
        return self.filter.spent(self._costs(entries))

    def remaining(self, entries: Sequence[LedgerEntry]) -> tuple[float, float]:
        """The largest (epsilon, delta) that would still be accepted after these entries."""
        return self.filter.remaining(self._costs(entries))

    def check(self, entry: LedgerEntry, entries: Sequence[LedgerEntry], path: str) -> None:
        """Raise a :class:`BudgetError` unless this entry can be added to these entries of the ledger at `path`."""
        self._check_unit(entry, entries, path)
        costs, (cost,) = self._costs(entries), self._costs([entry])
        if math.inf in cost or not self.filter.accepts([*costs, cost]):
            counted = "" if cost.rows == 1 else f" for one record, which counts {cost.rows:,} times for a person,"
            remains = f"{self.remaining(entries)} remains{' for a person' if counted else ''}"
            raise BudgetError(
                f"a cost of (epsilon, delta) = {cost[:2]}{counted} does not fit in the ledger {path!r}: "
                f"{self.filter.spent(costs)} of {(self.epsilon, self.delta)} is spent, {remains}."
            )

    def standing(self, entries: Sequence[LedgerEntry]) -> dict[str, Any]:
        """The limits, the unit, and what is spent and remains after these entries, in plain values."""
        costs = {"limit": self[:2], "spent": self.spent(entries), "remaining": self.remaining(entries)}
        return {
            "composition": self.composition,
            "unit": self.unit_of(entries),
            "max_rows_per_person": self.max_rows_per_person,
            **{name: {"epsilon": epsilon, "delta": delta} for name, (epsilon, delta) in costs.items()},
        }

    def _check_unit(self, entry, entries, path):
        unit = self.unit_of(entries)
        if unit in (None, entry.unit) or self.max_rows_per_person is not None:
            return
        remedy = (
            "Pass groups and max_rows_per_group to the fit (or unit='person', if a cost covers all records of a person)"
            if entry.unit == "record"
            else "Leave out groups, if nobody has several records"
        )
        raise BudgetError(
            f"a cost for {PLURAL[entry.unit]} cannot be added up in the ledger {path!r}, whose charges are for "
            f"{PLURAL[unit]}, because nothing limits how many records a person has. {remedy}; or create another ledger "
            "with max_rows_per_person, the largest number of records of a person, and charge there what was spent here."
        )

    def _costs(self, entries):
        """The costs of these entries for one unit of the total; equal costs are combined."""
        return _with_counts(Counter(map(self.cost, entries)))


def checked_limits(epsilon: Any, delta: Any, composition: Any, max_rows_per_person: Any) -> Limits:
    """The limits that a user passed; a ValueError if they are invalid."""
    epsilon, delta = number_of(epsilon, "epsilon"), number_of(delta, "delta")
    check_epsilon(epsilon)
    require(epsilon != math.inf, "epsilon must be finite", epsilon)
    check_delta(delta)
    if not isinstance(composition, str) or composition not in ("auto", *FILTERS):
        raise ValueError(f"composition must be 'auto', 'basic' or 'zcdp', got {quoted(composition)}.")
    if composition == "auto":
        composition = "zcdp" if delta > 0 else "basic"
    require(composition == "basic" or delta > 0, "composition='zcdp' needs delta > 0", delta)
    return Limits(epsilon, delta, str(composition), count_or_none(max_rows_per_person, "max_rows_per_person", least=1))


def _with_counts(counts):
    return [cost._replace(count=count) for cost, count in counts.items()]


class BudgetLedger:
    """A persistent privacy budget in a file or database, for all fits on one table, in any number of processes.

    Every fit of an estimator with ``ledger=`` writes its cost before it draws noise. If the total would exceed the
    limit, the fit raises :class:`BudgetError` and draws no noise. A crash can lose a result, but never a charge.

    Parameters
    ----------
    path : str or path-like
        Path of the file, which is created if it does not exist; its folder must exist and be writable. Or the URL of a
        database, for people on several machines: "postgresql+psycopg://user@host/db" (``pip install "skdpmic[team]"``,
        ``docs/publish/team_budget.md``).
    epsilon : float
        Limit of the total, above 0 and finite.
    delta : float, default=0.0
        Limit of the total, in [0, 1).
    composition : {"auto", "basic", "zcdp"}, default="auto"
        How costs are added up. "basic" sums epsilons and deltas. "zcdp", for delta > 0, accepts a charge if all charges
        have delta 0 and their epsilons fit, or if their zCDP costs fit. The zCDP cost of a charge with delta 0 is at
        most ``epsilon**2 / 2``, and ``epsilon**2 / (2 d)`` for d scores with Laplace noise. This allows many more fits.
        "auto" is "zcdp" if delta > 0, else "basic".
    max_rows_per_person : int, default=None
        Largest number of records of any one person in the table, known in advance and not read from it. The ledger then
        adds up costs per person, and a cost per record counts for that many records: ``m * epsilon``, or
        ``m**2 * rho``. None allows charges of one unit only: per record, or per person (fits with `groups`).

    Attributes
    ----------
    purpose : str or None
        Purpose recorded with charges; None unless set by :meth:`for_purpose`.

    Raises
    ------
    ValueError
        If a parameter is invalid; if the file exists and has other limits, is not a ledger, or is damaged. The message
        names the damaged entry.
    OSError
        If the file cannot be read or written, is locked for more than a minute, has a second name (a hard link) or a
        write-ahead log, or was moved without its journal.

    Notes
    -----
    The limit applies to the records of one table: use one ledger for everything published about the same people.
    Numbers are read as decimals and added exactly: ten charges of 0.1 fit in a limit of 1.0.

    **A total has one unit**, that of its first charge: :meth:`unit`. A fit without `groups` protects one record, and
    nothing limits how many records a person has; so its cost cannot be added to that of a fit with `groups`, unless
    `max_rows_per_person` is given. Whether `groups` identify people cannot be checked.

    Clones of an estimator share its ledger, and processes to which it is pickled charge the same file or database. A
    password in a URL is neither pickled nor shown.

    **The file is the budget.** If you delete it, copy it, or restore an older copy, the limit no longer holds: keep the
    file with the table, with the same care. Digests of all entries are checked at every use, so a damaged file is an
    error, never a lower total (``docs/theory/ledger.md``).

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from skdpmic import BudgetError, BudgetLedger, DPMICScorer
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.uniform(size=(500, 2)), rng.uniform(size=500)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = BudgetLedger(folder + "/patients.db", epsilon=1.0)
    ...     scorer = DPMICScorer(epsilon=0.7, bounds=(0, 1), target_bounds=(0, 1), ledger=ledger).fit(X, y)
    ...     print(ledger.spent(), ledger.remaining())
    ...     try:
    ...         scorer.fit(X, y)
    ...     except BudgetError:
    ...         print("refused")
    (0.7, 0.0) (0.3, 0.0)
    refused
    """

    purpose: str | None = None
    _seen: tuple[int, bytes] | None = None  # number and digest of what was last read

    def __init__(
        self,
        path: str | os.PathLike[str],
        epsilon: float,
        delta: float = 0.0,
        *,
        composition: Literal["auto", "basic", "zcdp"] = "auto",
        max_rows_per_person: int | None = None,
    ) -> None:
        limits = checked_limits(epsilon, delta, composition, max_rows_per_person)
        self._storage = storage_at(path)
        del path  # it may contain a password, which no traceback may show
        self.epsilon, self.delta, self.composition, self.max_rows_per_person = limits
        if not self._storage.exists():
            self._storage.create(limits)
        self.entries()  # raises if they cannot be read

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open the ledger in an existing file or database, with the limits stored there.

        Parameters
        ----------
        path : str or path-like
            Or the URL of a database.

        Returns
        -------
        BudgetLedger
        """
        storage = storage_at(path)
        del path
        limits = storage.transact(lambda book: book.limits, writes=False)
        ledger = cls.__new__(cls)
        ledger._storage = storage
        ledger.epsilon, ledger.delta, ledger.composition, ledger.max_rows_per_person = limits
        ledger.entries()
        return ledger

    @property
    def path(self) -> str:
        """The real path of the file, or the URL without its password."""
        return self._storage.path

    @property
    def limits(self) -> Limits:
        """Epsilon, delta, composition and `max_rows_per_person`, as stored with the ledger."""
        return Limits(self.epsilon, self.delta, self.composition, self.max_rows_per_person)

    def for_purpose(self, purpose: str) -> Self:
        """Return the same ledger, which records its charges under this purpose.

        Pass it to all estimators and functions that serve one question, to identify their entries.

        Parameters
        ----------
        purpose : str
            Anyone who can read the file can read this, so it must not contain anything read from the data.

        Returns
        -------
        BudgetLedger
            A ledger with the same file and limits. It is equal to this one, which is not changed.
        """
        ledger = copy.copy(self)
        ledger.purpose = text_of(purpose, "purpose")
        return ledger

    def charge(
        self,
        what: str,
        epsilon: float,
        delta: float = 0.0,
        *,
        rho: float | None = None,
        unit: Literal["record", "person"] = "record",
    ) -> None:
        """Charge a cost before the release it pays for; :meth:`spend` charges it and then runs a block.

        Anyone who can read the file can read all arguments, so none of them may be read from the data.

        Parameters
        ----------
        what : str
            Name of the estimator or function that spends it, or any text that is not blank.
        epsilon : float
            Above 0.
        delta : float, default=0.0
            In [0, 1).
        rho : float, default=None
            Rho of the release, if it is also rho-zCDP; required for delta > 0 in a ledger with composition="zcdp".
        unit : {"record", "person"}, default="record"
            What the cost covers: one record, or all records of a person.

        Raises
        ------
        BudgetError
            If the total would exceed the limit, or if `unit` is not that of the ledger. Nothing is written then.
        ValueError
            If an argument is not as described, or the file is no longer this ledger, or is damaged.
        OSError
            If the charge cannot be written, or if it is unknown whether a database has written it, and it must be
            counted as spent, as the message says; in both cases, publish nothing.
        """
        self.charge_entry(LedgerEntry(what, epsilon, delta, rho, unit))

    def charge_entry(self, entry: LedgerEntry) -> None:
        """Charge a release described by its entry, before it is drawn, as estimators do; see :meth:`charge`.

        Parameters
        ----------
        entry : LedgerEntry
            Its `purpose` and `when` are not read.
        """
        entry = checked_entry(entry._replace(purpose=self.purpose, when=""))
        limits = self.limits
        if limits.composition == "zcdp" and entry.delta > 0 and entry.rho is None:
            raise ValueError(
                "rho must be given for a cost with delta > 0 in a ledger with composition='zcdp', got None. Pass the "
                "rho of its zCDP guarantee, or keep such costs in a ledger with composition='basic'."
            )

        def pay(book):
            limits.check(entry, book.entries, self.path)
            book.append(entry._replace(when=datetime.now(UTC).isoformat(timespec="milliseconds")))

        self._transact(pay, writes=True)

    def spend(
        self,
        purpose: str,
        epsilon: float,
        delta: float = 0.0,
        *,
        by: str = "another library",
        rho: float | None = None,
        unit: Literal["record", "person"] = "record",
    ) -> contextlib.AbstractContextManager[tuple[float, float]]:
        """Charge a mechanism of another library, then run it inside a ``with`` block.

        The cost is on disk before the block runs. If the block fails, the charge stays, because its result may have
        been seen. If the cost does not fit, :class:`BudgetError` is raised and the block does not run.

        The ledger cannot check the cost: pass what the library guarantees if one `unit` is replaced, and publish
        nothing else from the block.

        Parameters
        ----------
        purpose : str
            Purpose of the result, appended to that of :meth:`for_purpose`, if any; nothing that is read from the data.
        epsilon : float
            Above 0.
        delta : float, default=0.0
            In [0, 1).
        by : str, default="another library"
            Name of the mechanism, such as "OpenDP AIM".
        rho : float, default=None
            Rho of the mechanism, if it is also rho-zCDP; required for delta > 0 in a ledger with composition="zcdp".
        unit : {"record", "person"}, default="record"
            What the library's guarantee covers: one record, as most do, or all records of a person.

        Returns
        -------
        context manager
            For one ``with`` statement. Its ``as`` target is (epsilon, delta), to pass to the mechanism.

        Raises
        ------
        BudgetError, ValueError, OSError
            As by :meth:`charge`.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from skdpmic import BudgetLedger
        >>> records = np.random.default_rng(0).integers(0, 2, size=1000)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger = BudgetLedger(folder + "/patients.db", epsilon=1.0)
        ...     with ledger.spend("number of smokers", 0.4, by="numpy") as (epsilon, delta):
        ...         smokers = records.sum() + np.random.default_rng().laplace(scale=1 / epsilon)
        ...     print(ledger.entries()[0], ledger.remaining())
        number of smokers: numpy (0.6, 0.0)
        """
        purpose, by = text_of(purpose, "purpose"), text_of(by, "by")
        of_block = self.for_purpose(purpose if self.purpose is None else f"{self.purpose}, {purpose}")
        of_block.charge(by, epsilon, delta, rho=rho, unit=unit)
        return _Paid(float(epsilon), float(delta))

    def unit(self) -> str | None:
        """Return whom the total protects.

        Returns
        -------
        {"record", "person"} or None
            "person" with `max_rows_per_person`, else that of the first charge; None before it.
        """
        return self.limits.unit_of(self.entries())

    def spent(self) -> tuple[float, float]:
        """Return the total cost of all charges, for one :meth:`unit`.

        Returns
        -------
        epsilon, delta : float
            With composition="zcdp", the smaller of the two totals.
        """
        return self.limits.spent(self.entries())

    def remaining(self) -> tuple[float, float]:
        """Return the largest cost that would still be accepted, for one :meth:`unit`.

        Returns
        -------
        epsilon, delta : float
            With composition="basic", the limit minus the total spent. With "zcdp", the cost of one more fit with
            Gaussian noise at this delta, or, if delta is 0, with a single part.
        """
        return self.limits.remaining(self.entries())

    def entries(self) -> list[LedgerEntry]:
        """Return all charges, oldest first.

        Returns
        -------
        list of LedgerEntry
            Their str states what spent the charge, on what, and for which purpose.
        """
        return self._transact(lambda book: book.entries, writes=False)

    def history(self) -> tuple[list[LedgerEntry], list[tuple[float, float]]]:
        """Return all charges, oldest first, and the total spent after each.

        Returns
        -------
        entries : list of LedgerEntry
        spent : list of (float, float)
            Value of `spent` when this entry was the last.
        """
        entries, limits, spent, counts = self.entries(), self.limits, [], Counter[Cost]()
        for entry in entries:
            counts[limits.cost(entry)] += 1
            spent.append(limits.filter.spent(_with_counts(counts)))
        return entries, spent

    def to_frame(self) -> Any:
        """Return all charges as a table, oldest first, with the total spent after each.

        Returns
        -------
        pandas.DataFrame
            One row per entry: `when` (UTC, as str) and the other fields of a LedgerEntry; and `spent_epsilon` and
            `spent_delta`, the result of `spent` when this entry was the last.

        Raises
        ------
        ImportError
            If pandas is not installed.

        """
        entries, spent = self.history()
        rows = [(entry.when, *entry[:-1], *total) for entry, total in zip(entries, spent, strict=True)]
        return dataframe(rows, ["when", *LedgerEntry._fields[:-1], "spent_epsilon", "spent_delta"])

    def __sklearn_clone__(self):
        return self

    def __eq__(self, other):
        return self.path == other.path if isinstance(other, BudgetLedger) else NotImplemented

    def __hash__(self):
        return hash(self.path)

    def __repr__(self):
        try:
            entries = self.entries()
            spent, unit = self.limits.spent(entries), self.limits.unit_of(entries)
        except (ImportError, OSError, ValueError):
            spent, unit = "unknown, because it cannot be read", None
        facts = {"unit": unit, "max_rows_per_person": self.max_rows_per_person, "purpose": self.purpose}
        more = "".join(f", {name}={fact!r}" for name, fact in facts.items() if fact is not None)
        return f"BudgetLedger({self.path!r}, epsilon={self.epsilon}, delta={self.delta}, spent={spent}{more})"

    def _transact(self, work, *, writes):
        """Run `work` on the stored limits and entries, provided that they are those of this ledger."""
        seen = self._seen  # before the transaction: other threads may add entries at any time, and the book must go on

        def checked(book):
            if book.limits != self.limits:
                raise ValueError(
                    f"the limits of the ledger {self.path!r} are (epsilon, delta, composition, max_rows_per_person) = "
                    f"{book.limits}, got {tuple(self.limits)}. Use BudgetLedger.open(path) to open it with the stored "
                    "limits."
                )
            if seen is not None and book.digests[seen[0] - 1 : seen[0]] != [seen[1]]:
                raise ValueError(
                    f"the ledger {self.path!r} is not the one that was opened: another one, or an older copy, "
                    "is in its place. Put it back, or use BudgetLedger.open(path) and record there, with spend, what "
                    "it lacks."
                )
            result = work(book)
            return result, (len(book.digests), book.digests[-1])

        # A database may only say that it has written.
        result, self._seen = self._storage.transact(checked, writes=writes) or (None, seen)
        return result


class _Paid(contextlib.AbstractContextManager):
    """A block that has been charged, to be run once."""

    def __init__(self, epsilon, delta):
        self._cost, self._is_used = (epsilon, delta), False

    def __enter__(self):
        if self._is_used:
            raise RuntimeError("a charge pays for one block only. Call spend again.")
        self._is_used = True
        return self._cost

    def __exit__(self, *exception):
        """Keep the charge, whatever happened, and propagate errors."""


def check_ledger(ledger):
    """Raise unless `ledger` is a BudgetLedger or None."""
    if ledger is not None and not isinstance(ledger, BudgetLedger):
        kind = type(ledger).__name__  # a URL may contain a password
        raise ValueError(f"ledger must be a BudgetLedger or None, got {kind}: pass BudgetLedger(path, epsilon=...).")


def storage_at(place: str | os.PathLike[str]) -> FileStorage | DatabaseStorage:
    """The file, or the database if `place` is a URL."""
    require_type(isinstance(place, str | bytes | os.PathLike), "path must be a str or a path-like", place)
    if is_url(place):
        return DatabaseStorage(place)
    path = os.fsdecode(place)
    with contextlib.suppress(UnicodeEncodeError):  # of a lone surrogate
        if os.fsencode(path) and "\0" not in path:
            return FileStorage(os.path.realpath(path))  # workers may run in another folder
    raise ValueError(f"path must be a path or the URL of a database, got {path!r}.")
