"""A persistent privacy budget: costs are on disk before noise is drawn (``docs/theory/ledger.md``)."""

import copy
import math
import os
from collections import Counter
from datetime import UTC, datetime
from typing import Any, Literal, Self

from skdpmic._utils.exceptions import BudgetError
from skdpmic.budget.filters import Cost, make_filter
from skdpmic.budget.foreign_mechanisms import ForeignMechanismsMixin
from skdpmic.budget.ledger_exports import LedgerExportsMixin
from skdpmic.budget.ledger_file import LedgerEntry
from skdpmic.budget.ledger_storage import storage_at
from skdpmic.privacy.parameters import check_delta, check_epsilon


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

    Clones of an estimator share its ledger. A pickled ledger consists of its path, limits and purpose, so worker
    processes charge the same file. No connection stays open between calls; a ``with`` statement is supported but not
    needed. A password in a URL is neither pickled nor shown: in the process that unpickles a ledger, libpq takes it
    from ``PGPASSWORD`` or ``~/.pgpass``, which are also better places for it than a URL.

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

    def __init__(
        self,
        path: str | os.PathLike[str],
        epsilon: float,
        delta: float = 0.0,
        *,
        composition: Literal["auto", "basic", "zcdp"] = "auto",
    ) -> None:
        check_epsilon(epsilon)
        if epsilon == math.inf:
            raise ValueError(f"epsilon must be finite, got {epsilon!r}.")
        check_delta(delta)
        if composition == "auto":
            composition = "zcdp" if delta > 0 else "basic"
        if composition not in ("basic", "zcdp"):
            raise ValueError(f"composition must be 'auto', 'basic' or 'zcdp', got {composition!r}.")
        if composition == "zcdp" and delta == 0:
            raise ValueError(f"composition='zcdp' needs delta > 0, got {delta!r}.")
        self._storage = storage_at(path)
        del path  # it may contain a password, which no traceback may show
        self.epsilon = float(epsilon)
        self.delta = float(delta)
        self.composition = composition
        if not self._storage.exists():
            self._storage.create(self._limits())
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
        ledger.epsilon, ledger.delta, ledger.composition = limits
        return ledger

    @property
    def path(self) -> str:
        """The real path of the file, or the URL without its password."""
        return self._storage.path

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
            If `purpose` is not a str, or is blank.

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
        if not isinstance(purpose, str) or not purpose.strip():  # type: ignore[redundant-expr]
            raise ValueError(f"purpose must be a non-blank str, got {purpose!r}.")
        ledger = copy.copy(self)
        ledger.purpose = str(purpose)
        return ledger

    def charge(
        self,
        what: str,
        epsilon: float,
        delta: float = 0.0,
        *,
        rho: float | None = None,
        n: int | None = None,
        d: int | None = None,
        k: int | None = None,
        statistic: str | None = None,
        release: str | None = None,
        mechanism: str | None = None,
        epsilon_of_target: float | None = None,
    ) -> None:
        """Charge a cost, before the release it pays for.

        The estimators call this. For anything else that you publish about the same records, use :meth:`spend`. Anyone
        who can read the file can read all arguments, so none of them may be read from the data.

        Parameters
        ----------
        what : str
            Name of the estimator or function that spends it, or any text.
        epsilon : float
            Above 0.
        delta : float, default=0.0
            In [0, 1).
        rho : float, default=None
            Rho of the release, if it is also rho-zCDP; required for delta > 0 in a ledger with composition="zcdp". With
            delta 0, the default is ``epsilon**2 / 2``.
        n, d : int, default=None
            Number of records and of features.
        k : int, default=None
            Number of features chosen, if only their names are published.
        statistic : str, default=None
            Statistic computed, such as "mtv_r".
        release : str, default=None
            What is published. The estimators write "scores", "names", "tables", "matrix", "bounds", "choice" or
            "reports".
        mechanism : str, default=None
            Mechanism that draws the noise, such as "laplace".
        epsilon_of_target : float, default=None
            Part of epsilon spent on the target itself, before any feature is scored.

        Raises
        ------
        BudgetError
            If the total would exceed the limit. Nothing is written then.
        ValueError
            If an argument is not as described, or the file is no longer this ledger, or is damaged.
        OSError
            If the charge cannot be written, or if it is unknown whether a database has written it. In the second case,
            as the message says, count it as spent; in both cases, publish nothing.
        """
        check_epsilon(epsilon)
        check_delta(delta)
        if rho is not None and not rho >= 0:
            raise ValueError(f"rho must be None or a number >= 0, got {rho!r}.")
        cost = Cost(float(epsilon), float(delta), None if rho is None else float(rho))
        limit = self._filter()
        limit.check(cost)

        def pay(book):
            costs = _costs(book.entries)
            if math.inf in cost or not limit.accepts([*costs, cost]):
                raise BudgetError(
                    f"a cost of (epsilon, delta) = {cost[:2]} does not fit in the ledger {self.path!r}: "
                    f"{limit.spent(costs)} of {(self.epsilon, self.delta)} is spent."
                )
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            paid = (str(what), now, cost.epsilon, cost.delta, _whole(n), _whole(d), cost.rho)
            released = (_text(statistic), _text(release), _text(mechanism), _whole(k))
            of_target = None if epsilon_of_target is None else float(epsilon_of_target)
            book.append(LedgerEntry(*paid, *released, self.purpose, of_target))

        self._transact(pay, writes=True)

    def spent(self) -> tuple[float, float]:
        """Return the total cost of all charges.

        Returns
        -------
        epsilon, delta : float
            With composition="zcdp", the smaller of the two totals.
        """
        return self._filter().spent(_costs(self.entries()))

    def remaining(self) -> tuple[float, float]:
        """Return the largest cost that would still be accepted.

        Returns
        -------
        epsilon, delta : float
            With composition="basic", the limit minus the total spent. With "zcdp", the cost of one more fit: one with
            Gaussian noise at this delta, or, if delta is 0, one with a single part; an even split over several scores
            costs less.
        """
        return self._filter().remaining(_costs(self.entries()))

    def entries(self) -> list[LedgerEntry]:
        """Return all charges, oldest first.

        Returns
        -------
        list of LedgerEntry
            Named tuples (what, when, epsilon, delta, n, d, rho, statistic, release, mechanism, k, purpose). Their str
            states what spent the charge, on what, and for which purpose.
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
        entries, limit, spent = self.entries(), self._filter(), []
        counts: Counter[tuple[float, float, float | None]] = Counter()
        for entry in entries:
            counts[entry.epsilon, entry.delta, entry.rho] += 1
            spent.append(limit.spent(_with_counts(counts)))
        return entries, spent

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
            spent = self.spent()
        except (OSError, ValueError):
            spent = "unknown, because it cannot be read"
        purpose = "" if self.purpose is None else f", purpose={self.purpose!r}"
        return f"BudgetLedger({self.path!r}, epsilon={self.epsilon}, delta={self.delta}, spent={spent}{purpose})"

    def _filter(self):
        return make_filter(self.composition, self.epsilon, self.delta)

    def _limits(self):
        return self.epsilon, self.delta, self.composition

    def _transact(self, work, *, writes):
        """The result of `work` on the :class:`Book`, in a transaction, if the limits are still the same."""

        def checked(book):
            if book.limits != self._limits():
                raise ValueError(
                    f"the limits of the ledger {self.path!r} are (epsilon, delta, composition) = {book.limits}, got "
                    f"{self._limits()}. Use BudgetLedger.open(path) to open it with the stored limits."
                )
            return work(book)

        return self._storage.transact(checked, writes=writes)


def _costs(entries):
    """Costs of the entries; equal costs are combined."""
    return _with_counts(Counter((entry.epsilon, entry.delta, entry.rho) for entry in entries))


def _with_counts(counts):
    return [Cost(*cost, count) for cost, count in counts.items()]


def _whole(number):
    return None if number is None else int(number)


def _text(text):
    return None if text is None else str(text)


def check_ledger(ledger):
    """Raise unless `ledger` is a BudgetLedger or None."""
    if ledger is not None and not isinstance(ledger, BudgetLedger):
        raise ValueError(f"ledger must be a BudgetLedger or None, got {ledger!r}.")
