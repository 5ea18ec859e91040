"""One noisy matrix of all Kendall correlations of a table, and the base of the estimators that release it.

Its sums are the concordant minus the discordant pairs of records, for each pair of columns
(``docs/theory/kendall_matrix.md``).
"""

from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skdpmic._utils.arguments import check_whole
from skdpmic._utils.exceptions import warn
from skdpmic._utils.progress import SILENT
from skdpmic._utils.readable import is_dask_collection
from skdpmic.budget.filters import Cost
from skdpmic.privacy.composition import rho_for, scale_for_rho
from skdpmic.privacy.mechanisms import gaussian_quantile
from skdpmic.privacy.noise import discrete_gaussian
from skdpmic.selection.matrix_base import PublishesMatrix
from skdpmic.statistics.ranks.kernels import MAX_RECORDS, concordance, mid_ranks
from skdpmic.statistics.ranks.sensitivity import kendall_matrix_squared_sensitivity
from skdpmic.statistics.ranks.statistic import in_order
from skdpmic.table.facts import PublicFacts
from skdpmic.table.reading import open_records

_SHORT = 1500  # records: below, passing the interpreter's lock to a thread takes longer than a pair of columns
_DROWNS = 1 / 3  # standard deviation of the noise, a third of the largest correlation


def concordances(ranks, n_jobs=None, progress=SILENT):
    """Concordant minus discordant pairs of records, for each pair of columns, and each column with itself.

    For a column with itself, this is the number of untied pairs.

    Parameters
    ----------
    ranks : list of n_columns int64 ndarrays of shape (n_samples,)
        Ranks from :func:`skdpmic.statistics.ranks.kernels.mid_ranks`, of at most ``MAX_RECORDS`` records.
    n_jobs : int, default=None
    progress : Progress, default=SILENT

    Returns
    -------
    int64 ndarray of shape (n_columns (n_columns + 1) / 2,)
        In the order of ``np.triu_indices(n_columns)``, for any `n_jobs`.
    """
    places = range(len(ranks))
    if effective_n_jobs(n_jobs) == 1 or len(ranks[0]) < _SHORT:
        rows = (_of_row(ranks, i) for i in places)
    else:
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as=progress.return_as)
        rows = parallel(delayed(_of_row)(ranks, i) for i in places)
    rows = progress.track(rows, len(ranks) * (len(ranks) + 1) // 2, "pairs of columns", size=len)
    return np.array([total for row in rows for total in row], dtype=np.int64)


def _of_row(ranks, i):
    return [concordance(ranks[i], other) for other in ranks[i:]]


@dataclass(frozen=True)
class NoisyConcordances:
    """Independent noise on all Kendall sums; these are integers, so nothing is rounded.

    Parameters
    ----------
    scale : int
        Standard deviation of the noise on a sum, in pairs of records; 0 for none.
    n_pairs : int
        Number of pairs of records.
    """

    scale: int
    n_pairs: int

    name = "gaussian"

    @classmethod
    def for_budget(cls, epsilon, delta, n_columns, n, rows_per_group=1):
        """The mechanism that releases the sums of this many columns and records with budget (epsilon, delta)."""
        squared_sensitivity = kendall_matrix_squared_sensitivity(n_columns, n, rows_per_group)
        return cls(scale_for_rho(rho_for(epsilon, delta), squared_sensitivity, 1), n * (n - 1) // 2)

    @property
    def noise_scale(self):
        """Standard deviation of the noise on a correlation."""
        return self.scale / self.n_pairs

    def release(self, sums, random_bytes):
        """Noisy correlations, not clamped to [-1, 1]: a float64 ndarray of the shape of `sums`."""
        noisy = sums.astype(object)
        if self.scale > 0:
            noisy = noisy + discrete_gaussian(self.scale**2, len(sums), random_bytes)
        return np.array([total / self.n_pairs for total in noisy])

    def margin(self, confidence):
        """Half-width of an interval of at least this confidence for a noise-free correlation."""
        return 0.0 if self.scale == 0 else (gaussian_quantile(self.scale, confidence) + 1) / self.n_pairs


@dataclass(frozen=True)
class KendallRelease:
    """A release, like those in `release/kinds.py`, of all correlations of the columns of a table."""

    epsilon: float
    delta: float
    n_columns: int

    publishes = "matrix"
    k = None

    @property
    def cost(self):
        """The charge of the ledger."""
        return Cost.concentrated(self.epsilon, self.delta)

    def mechanism(self, measure, shape):
        """The noise."""
        if shape.n_samples > MAX_RECORDS:
            raise ValueError(f"X must have at most {MAX_RECORDS:,} samples, got n_samples={shape.n_samples:,}.")
        size = self.n_columns, shape.n_samples, shape.rows_per_group
        return NoisyConcordances.for_budget(self.epsilon, self.delta, *size)

    def draw(self, records, measure, mechanism, n_jobs, random_bytes):
        """The published attributes."""
        ranks = records.map_features(_ranks, n_jobs)
        sums = concordances(ranks, n_jobs, records.progress)
        noisy = np.empty((self.n_columns, self.n_columns))
        above = np.triu_indices(self.n_columns)
        noisy[above] = noisy.T[above] = mechanism.release(sums, random_bytes)
        untied = noisy.diagonal().copy()
        np.fill_diagonal(noisy, 1.0)
        return {"noisy_correlation_": noisy, "untied_fraction_": untied, "noise_scale_": mechanism.noise_scale}


def _ranks(column, domain):
    return mid_ranks(in_order(column, domain))


class PrivateMatrixEstimator(PublishesMatrix):
    """An estimator that releases a noisy matrix of Kendall's correlations, and results computed from it."""

    _computed = "kendall"

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
        self._check_parameters()
        check_whole(n_samples, "n_samples", 4)
        check_whole(n_features, "n_features", 2)
        each = self.max_rows_per_group or 1
        budget = (self.epsilon, self.delta, int(n_features), int(n_samples) * each, each)
        return NoisyConcordances.for_budget(*budget).noise_scale

    def _facts(self):
        return PublicFacts(categories=self.categories, max_rows_per_group=self.max_rows_per_group, needs_ranges=False)

    def _cost_for(self, n_features):
        return Cost.concentrated(self.epsilon, self.delta)

    def _open(self, X):
        """A table of all columns of the matrix."""
        refuse_dask_of_ranks(X)
        table = open_records(self._facts(), X, type(self).__name__)
        if table.n_features < 2:
            raise ValueError(
                f"Found array with 1 feature(s) (shape=({table.n_samples}, 1)) while a minimum of 2 is required by "
                f"{type(self).__name__}."
            )
        return table

    def _release_for(self, n_features, n_groups, n_classes):
        return KendallRelease(self.epsilon, self.delta, n_features)

    def _store(self, released, release, mechanism, measure, records):
        super()._store(released, release, mechanism, measure, records)
        self._mechanism = mechanism  # public numbers

    def _check_parameters(self):
        super()._check_parameters()
        if self.delta == 0:
            raise ValueError(f"delta must be a number in (0, 1), got {self.delta!r}.")

    def _warn_about_noise(self, release, mechanism, measure, shape):
        if mechanism.noise_scale > _DROWNS:
            advice = "It falls as n_samples * epsilon grows and as n_features falls; noise_scale_for computes it."
            self._warn_that_noise_drowns("each correlation", mechanism, shape, advice)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags

    def _warn_that_noise_drowns(self, what, mechanism, shape, advice):
        warn(
            f"noise will exceed the signal: with n_samples={shape.n_groups:,}, n_features={shape.n_features:,} and "
            f"epsilon={float(self.epsilon):g}, the noise on {what} has a standard deviation of "
            f"{mechanism.noise_scale:.2g}. {advice}",
        )


def refuse_dask_of_ranks(X):
    """Raise if X is a dask collection."""
    if is_dask_collection(X):
        raise TypeError(
            "X must be in memory, because ranks cannot be computed from pieces of a table, got a dask "
            "collection: pass X.compute()."
        )
