"""What all fits to a table have in common: parameters that are checked once, warnings, the entry of the ledger."""

from dataclasses import dataclass

from skdpmic._utils.arguments import check_n_jobs, check_verbose
from skdpmic.budget.ledger import check_ledger
from skdpmic.budget.ledger_entry import LedgerEntry, unit_of
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.parameters import check_delta, check_epsilon, warn_about_delta
from skdpmic.table.facts import PublicFacts
from skdpmic.table.features import warn_about_many_labels
from skdpmic.table.people import check_max_rows


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

    A :class:`skdpmic.table.records.PublicTable` cannot read a record; only `publish` passes the records to the release
    that is ready.
    """

    reader: str  # the estimator, in errors and ledgers
    facts: PublicFacts
    epsilon: float
    delta: float
    n_jobs: int | None
    verbose: int
    broken_by: tuple[str, ...]  # names of the parameters whose values break the guarantee

    @classmethod
    def of(cls, estimator, facts, **further):
        """The plan of an estimator whose parameters are valid."""
        seed = ["random_state"] if estimator.random_state is not None else []
        run = estimator.epsilon, estimator.delta, estimator.n_jobs, estimator.verbose
        return cls(type(estimator).__name__, facts, *run, (*facts.read_from_data, *seed), **further)

    def check_has_choice(self, n_features):
        """Raise if a release from this many features would choose nothing; others than names choose nothing anyway."""

    def warn_about_table(self, public):
        """Warn about problems of a release that public numbers show."""
        self.facts.warn_about_data()
        if self.facts.needs_ranges:  # ranks have no parts with too few records
            warn_about_many_labels(public.shape, public.names)
        warn_about_delta(self.delta, public.shape.n_groups)

    def entry(self, release, mechanism, shape, statistic):
        """The entry of the ledger for a release from a table of this shape."""
        each = self.facts.max_rows_per_group
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
            unit=unit_of(each),
            rows_per_person=each,
            broken_by=", ".join(self.broken_by),
        )

    def results(self, public, released, entry):
        """What every fitted estimator stores: facts about the table, what is released, and the cost."""
        people = {} if self.facts.max_rows_per_group is None else {"n_groups_": public.shape.n_groups}
        return public.seen | released | people | {"privacy_spent_": (entry.epsilon, entry.delta), "_entry": entry}
