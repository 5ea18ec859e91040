"""One noisy matrix of all Kendall correlations of a table, and the estimators that release it."""

import warnings
from dataclasses import dataclass

import numpy as np

from skdpmic._utils.readable import is_dask_collection
from skdpmic.budget.filters import Cost
from skdpmic.correlation.concordance import concordances
from skdpmic.correlation.concordance_noise import NoisyConcordances
from skdpmic.selection.base import PrivateEstimator
from skdpmic.statistics.ranks.kernels import MAX_RECORDS, mid_ranks
from skdpmic.statistics.ranks.statistic import in_order
from skdpmic.table.facts import PublicFacts

_DROWNS = 1 / 3  # standard deviation of the noise: a correlation of 1 is three of them from 0


@dataclass(frozen=True)
class KendallRelease:
    """A release, as those in `release/kinds.py`, that publishes all correlations of the columns of a table."""

    epsilon: float
    delta: float
    n_columns: int

    publishes = "matrix"
    k = None

    @property
    def cost(self):
        """What the ledger is charged."""
        return Cost.concentrated(self.epsilon, self.delta)

    def mechanism(self, measure, shape):
        """The noise."""
        if shape.n_samples > MAX_RECORDS:
            raise ValueError(f"X must have at most {MAX_RECORDS:,} samples, got n_samples={shape.n_samples:,}.")
        return NoisyConcordances.for_budget(
            self.epsilon, self.delta, self.n_columns, shape.n_samples, shape.rows_per_group
        )

    def draw(self, records, measure, mechanism, n_jobs, random_bytes):
        """What is published of the records."""
        ranks = records.map_features(_ranks, n_jobs)
        if records.target is not None:
            ranks.append(mid_ranks(records.target.values))
        sums = concordances(ranks, n_jobs, records.progress)
        noisy = np.empty((self.n_columns, self.n_columns))
        above = np.triu_indices(self.n_columns)
        noisy[above] = noisy.T[above] = mechanism.release(sums, random_bytes)
        untied = noisy.diagonal().copy()
        np.fill_diagonal(noisy, 1.0)
        return {"noisy_correlation_": noisy, "untied_fraction_": untied, "noise_scale_": mechanism.noise_scale}


def _ranks(column, scale):
    return mid_ranks(in_order(column, scale))


class PrivateMatrixEstimator(PrivateEstimator):
    """An estimator that releases a noisy matrix of Kendall's correlations, and what follows from it."""

    _computed = "kendall"
    _n_targets = 0  # columns of the matrix that are not features

    def noise_scale_for(self, n_samples: int, n_features: int) -> float:
        """Standard deviation of the noise on each correlation, `noise_scale_`, in a fit to a table of this shape.

        Costs no privacy: nothing but the parameters and these numbers is used, and no ledger is charged.

        Parameters
        ----------
        n_samples : int
            Number of records, at least 4; of people, with `max_rows_per_group`.
        n_features : int

        Returns
        -------
        float
        """
        self._check_parameters()
        for name, value, least in (("n_samples", n_samples, 4), ("n_features", n_features, 2 - self._n_targets)):
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
                raise ValueError(f"{name} must be an int >= {least}, got {value!r}.")
        each = self.max_rows_per_group or 1
        n_columns = int(n_features) + self._n_targets
        budget = (self.epsilon, self.delta, n_columns, int(n_samples) * each, each)
        return NoisyConcordances.for_budget(*budget).noise_scale

    def _facts(self):
        return PublicFacts(categories=self.categories, max_rows_per_group=self.max_rows_per_group, needs_ranges=False)

    def _cost_for(self, n_features):
        return Cost.concentrated(self.epsilon, self.delta)

    def _release_for(self, n_features):
        return KendallRelease(self.epsilon, self.delta, n_features + self._n_targets)

    def _store(self, released, release, mechanism, measure, records):
        super()._store(released, release, mechanism, measure, records)
        self._mechanism = mechanism  # public numbers

    def _check_parameters(self):
        super()._check_parameters()
        if self.delta == 0:
            raise ValueError(f"delta must be a number in (0, 1), got {self.delta!r}.")

    def _warn_about_noise(self, release, mechanism, measure, shape, stacklevel):
        if mechanism.noise_scale > _DROWNS:
            warnings.warn(
                f"noise will exceed the signal: with n_samples={shape.n_groups:,}, n_features={shape.n_features:,} and "
                f"epsilon={float(self.epsilon):g}, the noise on each correlation has a standard deviation of "
                f"{mechanism.noise_scale:.2g}. It falls as n_samples times epsilon grows, and as n_features falls: "
                "noise_scale_for tells how much of each is needed.",
                stacklevel=stacklevel + 1,
            )


def refuse_one_column(estimator, records):
    """Raise if there is no second column."""
    if records.n_features < 2:
        raise ValueError(
            f"Found array with 1 feature(s) (shape=({records.n_samples}, 1)) while a minimum of 2 is required by "
            f"{type(estimator).__name__}."
        )


def refuse_dask_of_ranks(X):
    """Raise if X is a dask collection."""
    if is_dask_collection(X):
        raise TypeError(
            "X must be in memory, as ranks in a piece of a table do not tell the ranks in all of it, got a dask "
            "collection: pass X.compute()."
        )
