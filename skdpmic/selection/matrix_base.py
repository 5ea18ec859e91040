"""The steps of the estimators of matrices: check, read, charge, draw, keep."""

from typing import Any, NamedTuple

from skdpmic._utils.arguments import check_n_jobs, check_verbose
from skdpmic._utils.private_estimator import PrivateEstimator
from skdpmic._utils.progress import Progress
from skdpmic.budget.ledger import check_ledger
from skdpmic.budget.ledger_entry import LedgerEntry
from skdpmic.budget.units import unit_of
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.parameters import check_delta, check_epsilon, warn_about_delta
from skdpmic.release.path import run
from skdpmic.table.features import warn_about_many_labels
from skdpmic.table.people import check_max_rows, read_people


class _MatrixPlan(NamedTuple):
    """The part of a plan that searches ask for."""

    facts: Any
    computed: Any
    cost: Any
    read_table: Any
    measure: Any
    broken_by: tuple[str, ...]
    n_kept: int = 0


class PublishesMatrix(PrivateEstimator):
    """An estimator that makes a private release from a table.

    Subclasses define by methods what is public (`_facts`), what is computed (`_computed`, for ledgers), how it is
    released (`_release_for`), when its noise will exceed the signal (`_warn_about_noise`), and what to keep of the
    release (`_store`).
    """

    # --- Read ------------------------------------------------------------------------------------------------

    def _read(self, X, y, groups, sample_weight=None):
        """The records, and the measure that scores them."""
        self._reset()
        records = self._records(X, y)
        vars(self).update(records.seen)
        if groups is not None:
            people = read_people(groups, self.max_rows_per_group, records.n_samples)
            records = records._replace(people=people)
            self.n_groups_ = people.n_groups
        return records, self._measure(records.shape.n_groups, records.n_features, records.n_classes)

    def _reset(self):
        """Delete the results of an earlier fit."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            del vars(self)[name]
        for name in ("_entry", "_described"):
            vars(self).pop(name, None)

    def _measure(self, n_persons, n_features, n_classes):
        """The measure for this many people; without `max_rows_per_group`, each row of X is one person."""
        return None

    # --- Cost -------------------------------------------------------------------------------------------------

    def _cost_for(self, n_features):
        """The cost of a fit to a table of this many features: of the costliest release, if several are possible."""
        releases = [self._release_for(n_features, None, n_classes) for n_classes in self._facts().numbers_of_classes]
        return max((release.cost for release in releases), key=lambda cost: cost.in_zcdp)

    def _plan(self):
        self._check_parameters()
        return _MatrixPlan(
            self._facts(), type(self).__name__, self._cost_for, self._records, self._measure, self._broken_by()
        )

    # --- Charge, draw, keep: one way, whichever way the data came --------------------------------------------

    def _publish(self, records, measure):
        """Charge the cost, and publish the release of the records.

        Everything that depends on public numbers only is computed before the charge, so an error there costs nothing.
        """
        shape = records.shape
        n_groups = shape.n_groups
        release = self._release_for(records.n_features, n_groups, records.n_classes)
        self._warn(shape)
        mechanism = release.mechanism(measure, shape)

        def draw(random_bytes):
            shown = records.sampled(random_bytes, Progress(type(self).__name__, self.verbose))
            learnt = self._learnt(release, shown, measure, random_bytes)
            return learnt, release.draw(shown, learnt, mechanism, self.n_jobs, random_bytes)

        def keep(result):
            learnt, released = result
            self._entry = entry
            self._store(released, release, mechanism, learnt, records)

        entry = LedgerEntry(
            type(self).__name__,
            *release.cost[:3],
            n=n_groups,
            d=shape.n_features,
            k=release.k,
            statistic=self._computed,
            release=release.publishes,
            mechanism=mechanism.name,
            epsilon_of_target=self._epsilon_of_target(release),
            unit=unit_of(self.max_rows_per_group),
            rows_per_person=self.max_rows_per_group,
            broken_by=", ".join(self._broken_by()),
        )
        self._warn_about_noise(release, mechanism, measure, shape)
        run(entry, draw, keep, ledger=self.ledger, random_state=self.random_state)

    def _learnt(self, release, records, measure, random_bytes):
        """The measure, after it has learnt about the target, which comes before scoring."""
        return measure

    def _epsilon_of_target(self, release):
        """Epsilon of what is learnt about the target; None if nothing is learnt."""
        return None

    def _store(self, released, release, mechanism, measure, records):
        """Store the release, and the public numbers it depends on."""
        vars(self).update(released)
        self.privacy_spent_ = release.cost[:2]

    # --- Parameters ------------------------------------------------------------------------------------------

    def _check_parameters(self):
        """Raise if a parameter that can be checked without data is invalid."""
        check_epsilon(self.epsilon)
        check_delta(self.delta)
        check_max_rows(self.max_rows_per_group)
        check_ledger(self.ledger)
        check_n_jobs(self.n_jobs)
        check_verbose(self.verbose)
        entropy_source(self.random_state)  # now, because an error must come before the charge

    def _warn(self, shape):
        """Warn about problems of a release before it is charged."""
        facts = self._facts()
        facts.warn_about_data()
        if facts.needs_ranges:  # ranks have no parts with too few records
            warn_about_many_labels(shape, getattr(self, "feature_names_in_", None))
        warn_about_delta(self.delta, shape.n_groups)

    def _broken_by(self):
        """Names of the parameters whose values break the guarantee."""
        return (*self._facts().read_from_data, *(["random_state"] if self.random_state is not None else []))
