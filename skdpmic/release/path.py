"""The single path of a release: once ready, it is charged and drawn, and stored at the end."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from skdpmic._utils.arguments import check_n_jobs, check_verbose
from skdpmic._utils.texts import SILENT
from skdpmic.budget.ledger import check_ledger
from skdpmic.budget.ledger_entry import LedgerEntry, broken_by_seed, unit_of
from skdpmic.privacy.composition import Cost, check_delta, check_epsilon, warn_about_delta, warn_about_seed
from skdpmic.privacy.noise import discrete_gaussian, entropy_source, with_noise
from skdpmic.table.facts import PublicFacts, warn_about_many_labels
from skdpmic.table.frames import in_memory
from skdpmic.table.values import check_given_together, check_max_rows


def run(entry: LedgerEntry, draw: Callable[[Callable[[int], bytes]], Any], *, ledger: Any, random_state: Any) -> Any:
    """Check, charge, draw: every release that costs budget takes this path.

    An `entry` is made from public numbers, after all checks. So an error before the charge costs nothing, and
    nothing that depends on the records happens before it.

    Parameters
    ----------
    entry : LedgerEntry
    draw : callable
        ``draw(random_bytes)`` returns what is published.
    ledger : BudgetLedger or None
    random_state : None, int or RandomState

    Returns
    -------
    object
        What is published.
    """
    check_ledger(ledger)
    random_bytes = entropy_source(random_state)
    if random_state is not None:
        warn_about_seed()
    if ledger is not None:
        ledger.charge_entry(entry)
    return draw(random_bytes)


class Ready(NamedTuple):
    """A release that may be charged: everything public is checked and decided, without regard to any record."""

    entry: LedgerEntry
    draw: Callable[[Any, Callable[[int], bytes]], dict[str, Any]]  # of records and random bytes: all that is published


def store(estimator: Any, published: dict[str, Any]) -> None:
    """Replace what an earlier fit stored by what is published now, in one step that cannot be interrupted."""
    earlier = vars(estimator).get("_stored", ())
    kept = {name: value for name, value in vars(estimator).items() if name not in earlier}
    estimator.__dict__ = kept | published | {"_stored": tuple(sorted(published))}


def check_budget_and_run(estimator):
    """Raise if a parameter that all private estimators of a table have is invalid."""
    check_epsilon(estimator.epsilon)
    check_delta(estimator.delta)
    check_max_rows(estimator.max_rows_per_group)
    check_ledger(estimator.ledger)
    check_n_jobs(estimator.n_jobs)
    check_verbose(estimator.verbose)
    entropy_source(estimator.random_state)  # now, because an error must come before the charge


@dataclass(frozen=True, eq=False)
class FitPlan:
    """What a fit does, as a frozen value: it decides on cost, noise and warnings from public facts about a table.

    A :class:`skdpmic.table.records.PublicTable` cannot read a record; only `run` passes the records to the release that
    is ready.
    """

    reader: str  # the estimator, in errors and ledgers
    facts: PublicFacts
    epsilon: float
    delta: float
    n_jobs: int | None
    verbose: int
    broken_by: str  # the parameter that breaks the guarantee; empty if none does

    @classmethod
    def of(cls, estimator, facts, **further):
        """The plan of an estimator whose parameters are valid."""
        run = estimator.epsilon, estimator.delta, estimator.n_jobs, estimator.verbose
        return cls(type(estimator).__name__, facts, *run, broken_by_seed(estimator.random_state), **further)

    def check_has_choice(self, n_features):
        """Raise if a release from this many features would choose nothing; others than names choose nothing anyway."""

    def warn_about_table(self, public):
        """Warn about problems of a release that public numbers show."""
        if self.facts.needs_ranges:  # ranks have no parts with too few records
            described = public.description.domains if public.description else ()
            warn_about_many_labels(public.shape, public.names, described)
        warn_about_delta(self.delta, public.shape.n_groups)

    def entry(self, release, mechanism, shape, statistic):
        """The entry of the ledger for a release from a table of this shape."""
        max_rows = self.facts.max_rows_per_group
        return LedgerEntry(
            self.reader,
            *release.cost[:3],
            n=shape.n_groups,
            d=shape.n_features,
            k=release.k,
            statistic=statistic,
            release=release.publishes,
            mechanism=mechanism.name,
            epsilon_of_target=float(release.epsilon_of_target) or None,
            unit=unit_of(max_rows),
            rows_per_person=max_rows,
            broken_by=self.broken_by,
        )

    def results(self, public, released, entry):
        """What every fitted estimator stores: facts about the table, what is released, and the cost."""
        people = {} if self.facts.max_rows_per_group is None else {"n_groups_": public.shape.n_groups}
        return public.seen | released | people | {"privacy_spent_": (entry.epsilon, entry.delta), "_entry": entry}


@dataclass(frozen=True, eq=False)
class UnscoredPlan(FitPlan):
    """What is published of all columns of a table in memory together, without a score of each."""

    fewest_features = 1

    def measure(self, n_people, n_features, n_classes):
        """None: no feature is scored."""

    def read(self, X, y, groups):
        """The records of a table in memory, and the people behind them."""
        max_rows = self.facts.max_rows_per_group
        check_given_together(groups, max_rows)
        return self.read_table(in_memory(X), y).of_people(groups, max_rows)


@dataclass(frozen=True)
class UnscoredRelease:
    """A release, like those in `release/kinds.py`, of all columns of a table together, which no measure scores."""

    epsilon: float
    delta: float

    k = None
    epsilon_of_target = 0

    @property
    def cost(self):
        """The charge of the ledger."""
        return Cost.concentrated(self.epsilon, self.delta)


def tables_squared_sensitivity(n_tables, rows_per_group=1):
    """Squared L2 sensitivity of this many tables of counts together, for any columns: 2 m^2 per table.

    A record is in one cell of each table, and its replacement in another. The bound is attained.

    Parameters
    ----------
    n_tables : int
    rows_per_group : int, default=1
        Number of records per person, m, all of which may be replaced.

    Returns
    -------
    int
        Exact, in records.
    """
    return 2 * rows_per_group**2 * n_tables


def counts_of_sets(columns, sizes, sets, n_jobs=None, progress=SILENT):
    """The number of records with each combination of codes, for each set of columns.

    Parameters
    ----------
    columns : list of n_columns int64 ndarrays of shape (n_samples,)
        Codes 0 ... size - 1 of each column.
    sizes : list of n_columns int
        Number of possible codes of each column.
    sets : list of tuple of int
    n_jobs : int, default=None
    progress : Progress, default=SILENT

    Returns
    -------
    list of int64 ndarrays
        One table per set, with one axis per column.
    """
    parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as=progress.return_as)
    tables = parallel(delayed(_counts)(columns, sizes, each) for each in sets)
    return list(progress.track(tables, len(sets), f"tables of {len(sets[0])} columns" if sets else "tables"))


def _counts(columns, sizes, columns_of_table):
    shape = tuple(sizes[column] for column in columns_of_table)
    cells = np.ravel_multi_index([columns[column] for column in columns_of_table], shape)
    return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)


def with_gaussian_noise(tables, variance, random_bytes):
    """Tables with independent discrete Gaussian noise on every count, including zeros; not clamped at 0."""
    if variance == 0 or not tables:
        return tables
    ends = np.cumsum([table.size for table in tables])
    flat = np.concatenate([table.ravel() for table in tables])
    noisy = with_noise(discrete_gaussian, variance, flat, random_bytes)
    return [part.reshape(table.shape) for part, table in zip(np.split(noisy, ends[:-1]), tables, strict=True)]
