"""What a fit publishes of all pairs of columns of a table, and how it reads them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from skdpmic._utils.arguments import check_whole
from skdpmic._utils.private_estimator import PrivateEstimator
from skdpmic._utils.progress import Progress
from skdpmic._utils.readable import is_dask_collection
from skdpmic.correlation.kendall_release import NoisyConcordances, ReleaseOfColumns
from skdpmic.release.fit_plan import FitPlan, check_budget_and_run
from skdpmic.release.path import Ready
from skdpmic.table.people import check_given_together
from skdpmic.table.reading import open_records


@dataclass(frozen=True, eq=False, kw_only=True)
class MatrixPlan(FitPlan):
    """What is published of all columns of a table together, without a target."""

    release_for: Callable[[Any], Any]  # the release of a table of this Shape
    read_columns: Callable[[Any, Any, Any], Any]  # records of an opened table, by its facts, and the object it was

    n_kept = 0

    def cost(self, n_features):
        """The cost of a fit, to any number of features."""
        return ReleaseOfColumns(self.epsilon, self.delta).cost

    def measure(self, n_persons, n_features, n_classes):
        """None: no feature is scored."""

    def read_table(self, X, y=None):
        """The records of a table in memory; y is ignored."""
        if is_dask_collection(X):
            raise TypeError(
                "X must be in memory, because ranks cannot be computed from pieces of a table, got a dask "
                "collection: pass X.compute()."
            )
        table = open_records(self.facts, X, self.reader)
        if table.n_features < 2:
            raise ValueError(
                f"Found array with 1 feature(s) (shape=({table.n_samples}, 1)) while a minimum of 2 is required by "
                f"{self.reader}."
            )
        return self.read_columns(table, self.facts, X)

    def read(self, X, groups):
        """The records of a table in memory, and the people behind them."""
        each = self.facts.max_rows_per_group
        check_given_together(groups, each)
        return self.read_table(X).of_people(groups, each)

    def ready(self, public):
        """The release of a table of which this is public; warns, and refuses what cannot be released."""
        release = self.release_for(public.shape)
        self.warn_about_table(public)
        mechanism = release.mechanism(public.shape)
        release.warn_about_noise(mechanism, public.shape)
        entry = self.entry(release, mechanism, public.shape, release.statistic)
        return Ready(entry, partial(_results, self, release, mechanism, entry))


def _results(plan, release, mechanism, entry, records, random_bytes):
    """What an estimator stores of a release: all of it noisy or public."""
    sampled = records.sampled(random_bytes, Progress(plan.reader, plan.verbose))
    released = release.draw(sampled, mechanism, plan.n_jobs, random_bytes)
    return plan.results(records.public, released, entry) | {"_mechanism": mechanism}


class PrivateMatrixEstimator(PrivateEstimator):
    """An estimator that releases a noisy matrix of Kendall's correlations, and results computed from it."""

    _plan: Callable[[], MatrixPlan]

    def noise_scale_for(self, n_samples: int, n_features: int) -> float:
        """Compute `noise_scale_` of a fit to a table of this shape: the standard deviation of each correlation's noise.

        Costs no privacy: it uses only the parameters and these numbers, and charges no ledger.

        Parameters
        ----------
        n_samples : int
            Number of records, at least 4; number of people with `max_rows_per_group`.
        n_features : int

        Returns
        -------
        float
        """
        plan = self._plan()
        check_whole(n_samples, "n_samples", 4)
        check_whole(n_features, "n_features", 2)
        each = plan.facts.max_rows_per_group or 1
        budget = (plan.epsilon, plan.delta, int(n_features), int(n_samples) * each, each)
        return NoisyConcordances.for_budget(*budget).noise_scale

    def __sklearn_is_fitted__(self):
        return hasattr(self, "noise_scale_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags


def matrix_plan(estimator, facts, release_for, read_columns):
    """The plan of an estimator; a ValueError or TypeError if a parameter that all of them have is invalid."""
    check_budget_and_run(estimator)
    if estimator.delta == 0:
        raise ValueError(f"delta must be a number in (0, 1), got {estimator.delta!r}.")
    return MatrixPlan.of(estimator, facts, release_for=release_for, read_columns=read_columns)
