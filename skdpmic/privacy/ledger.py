"""A privacy budget that outlives the process: a cost is on disk before noise is drawn (``docs/theory/ledger.md``)."""

import contextlib
import math
import os
import sqlite3
import tempfile
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from skdpmic.exceptions import BudgetError
from skdpmic.privacy.arguments import check_delta, check_epsilon
from skdpmic.privacy.filters import Cost, make_filter

_APPLICATION_ID = 0x736B6470  # "skdp", where SQLite keeps the kind of a file
_VERSION = 1  # of the tables below
_WAIT = 60  # seconds for other processes to finish writing
_TABLES = (
    "CREATE TABLE limits (epsilon REAL NOT NULL, delta REAL NOT NULL, composition TEXT NOT NULL)",
    "CREATE TABLE entries (id INTEGER PRIMARY KEY, what TEXT NOT NULL, time TEXT NOT NULL, epsilon REAL NOT NULL, "
    "delta REAL NOT NULL, rho REAL, n INTEGER, d INTEGER)",
)
_NOT_A_LEDGER = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}  # no table, damaged, foreign

# A fork while another thread is inside SQLite would leave the child with locks that nobody releases.
_inside_sqlite = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_inside_sqlite.acquire,
        after_in_parent=_inside_sqlite.release,
        after_in_child=_inside_sqlite.release,
    )


class LedgerEntry(NamedTuple):
    """One charge of a :class:`BudgetLedger`."""

    what: str  # who spent
    when: str  # UTC, ISO 8601
    epsilon: float
    delta: float
    n: int | None  # records
    d: int | None  # features
    rho: float | None  # of a zCDP guarantee, where one was given


class BudgetLedger:
    """A durable privacy budget in a file, for all fits on one table, in any number of processes.

    Every fit of an estimator with ``ledger=`` writes its cost first, and only then draws noise. If the total would
    pass the limit, it raises :class:`BudgetError` instead and draws none. A crash can lose a result, never a charge.

    Parameters
    ----------
    path : str or path-like
        The file; created if there is none. Its folder must exist, and be writable.
    epsilon : float
        Limit of the total, above 0 and finite.
    delta : float, default=0.0
        Limit of the total, in [0, 1).
    composition : {"auto", "basic", "zcdp"}, default="auto"
        How costs add up. "basic": epsilons and deltas are summed. "zcdp", for delta > 0: a charge is accepted while
        all charges have delta 0 and their epsilons fit, or while the zCDP costs of all (``epsilon**2 / 2`` for one
        with delta 0) fit; this allows many more fits with Gaussian noise. "auto" is "zcdp" if delta > 0, else
        "basic".

    Raises
    ------
    ValueError
        If a parameter is not as described, if the file exists and has other limits, or if it is no ledger or
        is damaged.
    OSError
        If the file cannot be read or written, or is locked for more than a minute.

    See Also
    --------
    search_cost : What a search over parameters will spend.

    Notes
    -----
    The limit holds for the records of one table: use one ledger for everything that is published about the same people.
    The theorem, and what it does not cover, is in ``docs/theory/ledger.md``. Numbers are taken as the decimals
    that they are written as, and added exactly: ten charges of 0.1 fit in a limit of 1.0.

    Clones of an estimator share its ledger. A pickled ledger is its path and its limits, so worker processes charge
    the same file. No connection stays open between calls; the ``with`` statement is there for those who like it.

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

    def __init__(self, path, epsilon, delta=0.0, *, composition="auto"):
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
        self.path = os.path.realpath(path)  # workers may run in another folder
        self.epsilon = float(epsilon)
        self.delta = float(delta)
        self.composition = composition
        if not os.path.exists(self.path):
            self._create()
        self._check_integrity()

    @classmethod
    def open(cls, path):
        """The ledger in an existing file, with the limits that it was made with.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        BudgetLedger

        Raises
        ------
        ValueError
            If the file is no ledger, or is damaged.
        OSError
            If it cannot be read.
        """
        ledger = cls.__new__(cls)
        ledger.path = os.path.realpath(path)
        with ledger._transaction("DEFERRED", check_limits=False) as connection:
            (limits,) = connection.execute("SELECT epsilon, delta, composition FROM limits")
        ledger.epsilon, ledger.delta, ledger.composition = limits
        ledger._check_integrity()
        return ledger

    def charge(self, what, epsilon, delta=0.0, *, rho=None, n=None, d=None):
        """Write down a cost, before what costs it happens.

        The estimators call this. Call it yourself for anything else that is published about the same records.

        Parameters
        ----------
        what : str
            Who spends. It is readable to all who can read the file.
        epsilon : float
            Above 0.
        delta : float, default=0.0
            In [0, 1).
        rho : float, default=None
            If what is charged is also rho-zCDP, its rho; needed for delta > 0 in a ledger with composition="zcdp".
        n, d : int, default=None
            Number of records and of features.

        Raises
        ------
        BudgetError
            If the total would pass the limit. Nothing is written then.
        ValueError
            If an argument is not as described, or the file is no longer this ledger.
        OSError
            If the charge cannot be written. Do not publish anything then.
        """
        check_epsilon(epsilon)
        check_delta(delta)
        if rho is not None and not rho >= 0:
            raise ValueError(f"rho must be None or a number >= 0, got {rho!r}.")
        cost = Cost(float(epsilon), float(delta), None if rho is None else float(rho))
        limit = self._filter()
        limit.check(cost)
        with self._transaction("IMMEDIATE") as connection:
            costs = _costs(connection)
            if math.inf in cost or not limit.accepts([*costs, cost]):
                raise BudgetError(
                    f"a cost of (epsilon, delta) = {cost[:2]} does not fit in the ledger {self.path!r}: "
                    f"{limit.spent(costs)} of {(self.epsilon, self.delta)} is spent."
                )
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            connection.execute(
                "INSERT INTO entries (what, time, epsilon, delta, rho, n, d) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (str(what), now, cost.epsilon, cost.delta, cost.rho, _whole(n), _whole(d)),
            )

    def spent(self):
        """What all charges cost together.

        Returns
        -------
        epsilon, delta : float
            With composition="zcdp", the better of the two ways of adding up.
        """
        return self._filter().spent(self._read_costs())

    def remaining(self):
        """The largest cost that would still be accepted.

        Returns
        -------
        epsilon, delta : float
            With composition="basic", limit minus spent. With "zcdp" the cost of one fit: with Gaussian noise at this
            delta, or, if delta is 0, with Laplace noise.
        """
        return self._filter().remaining(self._read_costs())

    def entries(self):
        """All charges, oldest first.

        Returns
        -------
        list of LedgerEntry
            Named tuples (what, when, epsilon, delta, n, d, rho).
        """
        with self._transaction("DEFERRED") as connection:
            rows = connection.execute("SELECT what, time, epsilon, delta, n, d, rho FROM entries ORDER BY id")
            return [LedgerEntry(*row) for row in rows]

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        """Nothing is open between calls."""

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
            spent = "unknown, the file cannot be read"
        return f"BudgetLedger({self.path!r}, epsilon={self.epsilon}, delta={self.delta}, spent={spent})"

    def _filter(self):
        return make_filter(self.composition, self.epsilon, self.delta)

    def _read_costs(self):
        with self._transaction("DEFERRED") as connection:
            return _costs(connection)

    def _create(self):
        """Write a new ledger under another name, and link it to its path: no one ever sees half of it."""
        with tempfile.TemporaryDirectory(dir=os.path.dirname(self.path), prefix=".ledger-") as folder:
            draft = os.path.join(folder, "ledger")
            Path(draft).touch()
            with _inside_sqlite, _errors_about(self.path), contextlib.closing(_connect(draft)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                for table in _TABLES:
                    connection.execute(table)
                connection.execute("INSERT INTO limits VALUES (?, ?, ?)", self._limits())
                connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {_VERSION}")
                connection.execute("COMMIT")
            with contextlib.suppress(FileExistsError):  # another process was faster
                os.link(draft, self.path)

    @contextlib.contextmanager
    def _transaction(self, kind, check_limits=True):
        """A connection inside a transaction on this ledger, which an error undoes."""
        with _inside_sqlite, _errors_about(self.path), contextlib.closing(_connect(self.path)) as connection:
            connection.execute(f"BEGIN {kind}")
            self._check_kind(connection)
            if check_limits:
                self._check_limits(connection)
            yield connection
            connection.execute("COMMIT")

    def _check_kind(self, connection):
        (application_id,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application_id != _APPLICATION_ID:
            raise ValueError(f"{self.path!r} is not a privacy ledger.")
        if version != _VERSION:
            raise ValueError(
                f"the ledger {self.path!r} has format {version}, and this version of skdpmic reads {_VERSION}."
            )

    def _check_limits(self, connection):
        stored = connection.execute("SELECT epsilon, delta, composition FROM limits").fetchone()
        if stored != self._limits():
            raise ValueError(
                f"the limits of the ledger {self.path!r} are (epsilon, delta, composition) = {stored}, got "
                f"{self._limits()}. BudgetLedger.open(path) takes those that are stored."
            )

    def _limits(self):
        return self.epsilon, self.delta, self.composition

    def _check_integrity(self):
        with self._transaction("DEFERRED") as connection:
            if connection.execute("PRAGMA quick_check").fetchall() != [("ok",)]:
                raise sqlite3.DatabaseError("it is damaged")


def _connect(path):
    """A connection to an existing file: one that vanished must not come back as a new budget."""
    connection = sqlite3.connect(f"{Path(path).as_uri()}?mode=rw", uri=True, timeout=_WAIT, isolation_level=None)
    connection.execute("PRAGMA synchronous = EXTRA")  # FULL could undo the last charge if the power fails
    return connection


def _costs(connection):
    """All costs so far, equal ones together."""
    rows = connection.execute("SELECT epsilon, delta, rho, COUNT(*) FROM entries GROUP BY epsilon, delta, rho")
    return [Cost(*row) for row in rows]


def _whole(number):
    return None if number is None else int(number)


@contextlib.contextmanager
def _errors_about(path):
    """Turn SQLite's errors into ones that name the file and say whether it is the file's fault."""
    try:
        yield
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF in _NOT_A_LEDGER:
            raise ValueError(f"{path!r} is not a privacy ledger, or is damaged ({error}).") from None
        raise OSError(f"the ledger {path!r} cannot be used: {error}.") from None


def check_ledger(ledger):
    """Raise unless `ledger` is one, or None."""
    if ledger is not None and not isinstance(ledger, BudgetLedger):
        raise ValueError(f"ledger must be a BudgetLedger or None, got {ledger!r}.")
