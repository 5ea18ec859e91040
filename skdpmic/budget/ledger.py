"""A persistent privacy budget: costs are on disk before noise is drawn (``docs/theory/ledger.md``)."""

import copy
import os
from datetime import UTC, datetime
from typing import Any, Literal, Self

from skdpmic.budget.foreign_mechanisms import ForeignMechanismsMixin
from skdpmic.budget.ledger_entry import LedgerEntry, checked_entry, text_of
from skdpmic.budget.ledger_exports import LedgerExportsMixin
from skdpmic.budget.ledger_limits import Limits, checked_limits
from skdpmic.budget.ledger_storage import storage_at


class BudgetLedger(ForeignMechanismsMixin, LedgerExportsMixin):
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
        If the file cannot be read or written, is locked for more than a minute, has a second name (a hard link), or was
        moved without its journal.

    See Also
    --------
    search_cost : Computes the privacy cost of a parameter search.
    skdpmic.plotting.LedgerDisplay : Plots the charges.

    Notes
    -----
    The limit applies to the records of one table: use one ledger for everything published about the same people. For
    the theorem and what it does not cover, see ``docs/theory/ledger.md``. Numbers are read as decimals and added
    exactly: ten charges of 0.1 fit in a limit of 1.0.

    **A total has one unit**, that of its first charge: :meth:`unit`. A fit without `groups` protects one record, and
    nothing limits how many records a person has; so its cost cannot be added to that of a fit with `groups`, unless
    `max_rows_per_person` is given. Whom `groups` identify cannot be checked: use one ledger for people, another for
    households.

    Clones of an estimator share its ledger. A pickled ledger consists of its path, limits, purpose and the digest of
    what it has read, so worker processes charge the same file, and notice if another one is in its place. No connection
    stays open between calls; a ``with`` statement is supported but not needed. A password in a URL is neither pickled
    nor shown: in the process that unpickles a ledger, libpq takes it from ``PGPASSWORD`` or ``~/.pgpass``, which are
    also better places for it than a URL.

    **The file is the budget.** If you delete it, copy it, or restore an older copy, you create a new or second budget,
    and the limit no longer holds: keep the file with the table, with the same care. Move it only while no process uses
    it, together with the file ``<path>-journal`` if that exists, which undoes an incomplete write after a crash. In a
    container, mount the folder, not just the file. Digests of all entries are checked at every use, so a damaged file
    is an error, never a lower total; they do not stop people who can write to the file.

    References
    ----------
    .. [1] R. Rogers, A. Roth, J. Ullman and S. Vadhan, "Privacy Odometers and Filters: Pay-as-you-Go Composition",
       NeurIPS 2016.
    .. [2] V. Feldman and T. Zrnic, "Individual Privacy Accounting via a Renyi Filter", NeurIPS 2021.

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
    _seen: tuple[int, bytes] | None = None  # number and digest of what was last read: see `_check_book`

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

        Raises
        ------
        ValueError
            If the file is not a ledger or is damaged.
        OSError
            If the file cannot be read, has a second name, or was moved without its journal.
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

        Raises
        ------
        ValueError
            If `purpose` is not a str, is blank, or contains NUL characters or lone surrogates.

        Examples
        --------
        >>> import tempfile
        >>> from skdpmic import BudgetLedger
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger = BudgetLedger(folder + "/patients.db", epsilon=1.0)
        ...     ledger.for_purpose("annual report").charge("mean age", 0.25)
        ...     ledger.charge("median age", 0.5)
        ...     for entry in ledger.entries():
        ...         print(entry)
        annual report: mean age
        median age
        """
        ledger = copy.copy(self)
        ledger.purpose = text_of(purpose, "purpose")
        return ledger

    def charge(self, what: str, epsilon: float, delta: float = 0.0, **fields: Any) -> None:
        """Charge a cost, before the release it pays for.

        For anything that you publish about the same records without an estimator of this package, use :meth:`spend`.
        Anyone who can read the file can read all arguments, so none of them may be read from the data.

        Parameters
        ----------
        what : str
            Name of the estimator or function that spends it, or any text that is not blank.
        epsilon : float
            Above 0.
        delta : float, default=0.0
            In [0, 1).
        **fields : dict
            Other fields of a ``LedgerEntry`` except `purpose` and `when`, such as ``rho``, required for delta > 0
            in a ledger with composition="zcdp"; ``unit="person"``, if the cost protects all records of a person; and
            ``n``, ``d``, ``statistic``, ``release`` and ``mechanism``.

        Raises
        ------
        BudgetError
            If the total would exceed the limit, or if `unit` is not that of the ledger. Nothing is written then.
        ValueError
            If an argument is not as described, or the file is no longer this ledger, or is damaged.
        OSError
            If the charge cannot be written, or if it is unknown whether a database has written it. In the second case,
            as the message says, count it as spent; in both cases, publish nothing.
        """
        self.charge_entry(LedgerEntry(what, epsilon, delta, purpose=None, when="", **fields))

    def charge_entry(self, entry: LedgerEntry) -> None:
        """Charge a release described by its entry, before it is drawn. Estimators call this; see :meth:`charge`.

        Parameters
        ----------
        entry : LedgerEntry
            Its `purpose` and `when` are not read.
        """
        entry = checked_entry(entry._replace(purpose=self.purpose, when=""))
        limits = self.limits
        limits.filter.check(entry)

        def pay(book):
            limits.check(entry, book.entries, self.path)
            book.append(entry._replace(when=datetime.now(UTC).isoformat(timespec="milliseconds")))

        self._transact(pay, writes=True)

    def unit(self) -> str | None:
        """Return whom the total protects.

        Returns
        -------
        {"record", "person"} or None
            "person" if `max_rows_per_person` is given; else the unit of the first charge, or None before it.
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
            With composition="basic", the limit minus the total spent. With "zcdp", the cost of one more fit: one with
            Gaussian noise at this delta, or, if delta is 0, one with a single part; an even split over several scores
            costs less.
        """
        return self.limits.remaining(self.entries())

    def entries(self) -> list[LedgerEntry]:
        """Return all charges, oldest first.

        Returns
        -------
        list of LedgerEntry
            Named tuples. Their str states what spent the charge, on what, and for which purpose.
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
        entries = self.entries()
        return entries, self.limits.spent_after_each(entries)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: Any) -> None:
        """Do nothing: no connection is open between calls."""

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
        except (OSError, ValueError):
            spent, unit = "unknown, because it cannot be read", None
        facts = {"unit": unit, "max_rows_per_person": self.max_rows_per_person, "purpose": self.purpose}
        more = "".join(f", {name}={fact!r}" for name, fact in facts.items() if fact is not None)
        return f"BudgetLedger({self.path!r}, epsilon={self.epsilon}, delta={self.delta}, spent={spent}{more})"

    def _transact(self, work, *, writes):
        """The result of `work` on the :class:`Book`, in a transaction, if it is still the same ledger."""
        seen = self._seen  # before the transaction begins, because entries may be added at any time

        def checked(book):
            self._check_book(book, seen)
            result = work(book)
            return result, (len(book.digests), book.digests[-1])

        done = self._storage.transact(checked, writes=writes)
        result, self._seen = done or (None, seen)  # a database may only say that it has written
        return result

    def _check_book(self, book, seen):
        if book.limits != self.limits:
            raise ValueError(
                f"the limits of the ledger {self.path!r} are (epsilon, delta, composition, max_rows_per_person) = "
                f"{book.limits}, got {tuple(self.limits)}. Use BudgetLedger.open(path) to open it with the "
                "stored limits."
            )
        if seen is not None and book.digests[seen[0] - 1 : seen[0]] != [seen[1]]:
            raise ValueError(
                f"the ledger {self.path!r} is not the one that was opened: another one, or an older copy, is in its "
                "place. Put it back, or use BudgetLedger.open(path) and record there, with spend, what it lacks."
            )


def check_ledger(ledger):
    """Raise unless `ledger` is a BudgetLedger or None."""
    if ledger is not None and not isinstance(ledger, BudgetLedger):
        raise ValueError(f"ledger must be a BudgetLedger or None, got {ledger!r}.")
