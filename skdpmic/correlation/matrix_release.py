"""One release of all columns of a table together: the plan of a fit, and Kendall's correlations with their noise."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skdpmic._utils.arguments import check_whole
from skdpmic._utils.errors import warn
from skdpmic._utils.private_estimator import PrivateEstimator
from skdpmic._utils.progress import SILENT, Progress
from skdpmic._utils.readable import is_dask_collection
from skdpmic._utils.texts import quoted
from skdpmic.budget.filters import Cost
from skdpmic.privacy.composition import rho_for, scale_for_rho
from skdpmic.privacy.mechanisms import gaussian_quantile
from skdpmic.privacy.noise import discrete_gaussian
from skdpmic.release.fit_plan import FitPlan, check_budget_and_run
from skdpmic.release.path import Ready
from skdpmic.statistics.ranks.kernels import MAX_RECORDS, concordance, mid_ranks
from skdpmic.statistics.ranks.statistic import in_order
from skdpmic.statistics.sensitivity import kendall_matrix_squared_sensitivity
from skdpmic.table.people import check_given_together
from skdpmic.table.reading import open_records


@dataclass(frozen=True, eq=False, kw_only=True)
class MatrixPlan(FitPlan):
    """What is published of all columns of a table together, without a target."""

    release_of: Callable[[Any], Any]  # the release of columns with these domains
    read_columns: Callable[[Any, Any, Any], Any]  # records of an opened table, by its facts, and the object it was

    fewest_features = 1

    def cost(self, n_features):
        """The cost of a fit, to any number of features."""
        return ReleaseOfColumns(self.epsilon, self.delta).cost

    def measure(self, n_people, n_features, n_classes):
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
        release = self.release_of(public.shape.domains)
        self.warn_about_table(public)
        mechanism = release.mechanism(public.shape)
        release.warn_about_noise(mechanism, public.shape)
        entry = self.entry(release, mechanism, public.shape, release.statistic)
        return Ready(entry, partial(_results, self, release, mechanism, entry))


def _results(plan, release, mechanism, entry, records, random_bytes):
    """What an estimator stores of a release: all of it noisy or public."""
    sampled = records.sampled(Progress(plan.reader, plan.verbose))
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


def matrix_plan(estimator, facts, release_of, read_columns):
    """The plan of an estimator; a ValueError or TypeError if a parameter that all of them have is invalid."""
    check_budget_and_run(estimator)
    if estimator.delta == 0:
        raise ValueError(f"delta must be a number in (0, 1), got {quoted(estimator.delta)}.")
    return MatrixPlan.of(estimator, facts, release_of=release_of, read_columns=read_columns)


# --- Kendall's correlations, and their noise -------------------------------------------------------------------------


_SHORT = 1500  # records: below, passing the interpreter's lock to a thread takes longer than a pair of columns
_MAX_NOISE_SCALE = 1 / 3  # standard deviation of the noise, a third of the largest correlation


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
        rows = (_row_of_concordances(ranks, i) for i in places)
    else:
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as=progress.return_as)
        rows = parallel(delayed(_row_of_concordances)(ranks, i) for i in places)
    rows = progress.track(rows, len(ranks) * (len(ranks) + 1) // 2, "pairs of columns", size=len)
    return np.array([total for row in rows for total in row], dtype=np.int64)


def _row_of_concordances(ranks, i):
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

    def half_width(self, confidence):
        """Half-width of an interval of at least this confidence for a noise-free correlation."""
        return 0.0 if self.scale == 0 else (gaussian_quantile(self.scale, confidence) + 1) / self.n_pairs


@dataclass(frozen=True)
class ReleaseOfColumns:
    """A release, like those in `release/kinds.py`, of all columns of a table together, which no measure scores."""

    epsilon: float
    delta: float

    k = None
    epsilon_of_target = 0

    @property
    def cost(self):
        """The charge of the ledger."""
        return Cost.concentrated(self.epsilon, self.delta)


@dataclass(frozen=True)
class KendallRelease(ReleaseOfColumns):
    """A release of all correlations of the columns of a table."""

    publishes = "matrix"
    statistic = "kendall"

    def mechanism(self, shape):
        """The noise."""
        if shape.n_samples > MAX_RECORDS:
            raise ValueError(f"X must have at most {MAX_RECORDS:,} samples, got n_samples={shape.n_samples:,}.")
        size = shape.n_features, shape.n_samples, shape.rows_per_group
        return NoisyConcordances.for_budget(self.epsilon, self.delta, *size)

    def warn_about_noise(self, mechanism, shape):
        """Warn if no correlation can be distinguished from noise."""
        if mechanism.noise_scale > _MAX_NOISE_SCALE:
            advice = "It falls as n_samples * epsilon grows and as n_features falls; noise_scale_for computes it."
            warn_about_excessive_noise("each correlation", mechanism.noise_scale, self.epsilon, shape, advice)

    def draw(self, records, mechanism, n_jobs, random_bytes):
        """The published attributes."""
        ranks = records.map_features(_ranks, n_jobs)
        sums = concordances(ranks, n_jobs, records.progress)
        noisy = np.empty((len(ranks), len(ranks)))
        above = np.triu_indices(len(ranks))
        noisy[above] = noisy.T[above] = mechanism.release(sums, random_bytes)
        untied = noisy.diagonal().copy()
        np.fill_diagonal(noisy, 1.0)
        return {"noisy_correlation_": noisy, "untied_fraction_": untied, "noise_scale_": mechanism.noise_scale}


def _ranks(column, domain):
    return mid_ranks(in_order(column, domain))


def warn_about_excessive_noise(what, noise_scale, epsilon, shape, advice):
    """Warn that the noise on `what` exceeds the signal."""
    warn(
        f"noise will exceed the signal: with n_samples={shape.n_groups:,}, n_features={shape.n_features:,} and "
        f"epsilon={float(epsilon):g}, the noise on {what} has a standard deviation of {noise_scale:.2g}. {advice}",
    )
