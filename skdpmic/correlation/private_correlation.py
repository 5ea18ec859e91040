"""All correlations of a table in one release, under differential privacy."""

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed

from skdpmic._utils.arguments import check_whole
from skdpmic._utils.private_estimator import PrivateEstimator, check_published
from skdpmic._utils.readable import is_dask_collection
from skdpmic._utils.summaries import ResultColumn, Summary, facts_of_release, interval_column, number_column, why_broken
from skdpmic._utils.texts import SILENT, Progress, counted, names_of, require, warn
from skdpmic._utils.typing import BesideTable, Categories, ColumnLike, RandomState, TableLike
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.privacy.composition import check_confidence, rho_for, scale_for_rho
from skdpmic.privacy.noise import discrete_gaussian, with_noise
from skdpmic.privacy.quantiles import gaussian_quantile
from skdpmic.release.path import Ready, UnscoredPlan, UnscoredRelease, check_budget_and_run, run, store
from skdpmic.statistics.ranks import MAX_RECORDS, concordance, in_order, mid_ranks
from skdpmic.statistics.sensitivity import kendall_matrix_squared_sensitivity
from skdpmic.table.facts import FEWEST, PublicFacts, listed
from skdpmic.table.frames import as_frame, columns_by_columns, in_memory, is_frame
from skdpmic.table.records import read_features
from skdpmic.table.tables import open_table


@dataclass(frozen=True, eq=False, kw_only=True)
class MatrixPlan(UnscoredPlan):
    """What is published of all columns of a table together, without a target."""

    release_of: Callable[[Any], Any]  # the release of columns with these domains
    read_columns: Callable[[Any, Any, Any], Any]  # records of an opened table, by its facts, and the object it was

    def cost(self, n_features):
        """The cost of a fit, to any number of features."""
        return UnscoredRelease(self.epsilon, self.delta).cost

    def read_table(self, X, y=None):
        """The records of a table in memory; y is ignored."""
        if is_dask_collection(X):
            raise TypeError(
                "X must be in memory, because ranks cannot be computed from pieces of a table, got a dask "
                "collection: pass X.compute()."
            )
        table = open_table(X, self.reader, takes_text=self.facts.takes_text, least=FEWEST)
        if table.n_features < 2:
            raise ValueError(
                f"Found array with 1 feature(s) (shape=({table.n_samples}, 1)) while a minimum of 2 is required by "
                f"{self.reader}."
            )
        return self.read_columns(table, self.facts, X)

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


@dataclass(eq=False, repr=False)
class PrivateMatrixEstimator(PrivateEstimator):
    """An estimator that releases a noisy matrix of Kendall's correlations, and results computed from it."""

    epsilon: float = 1.0
    delta: float = 1e-6
    _: KW_ONLY
    categories: Categories | None = None
    max_rows_per_group: int | None = None
    ledger: BudgetLedger | None = None
    n_jobs: int | None = None
    verbose: int = 0
    random_state: RandomState = None

    def _plan(self):
        """The `MatrixPlan` of a fit."""
        raise NotImplementedError

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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags


def matrix_plan(estimator, facts, release_of, read_columns):
    """The plan of an estimator; a ValueError or TypeError if a parameter that all of them have is invalid."""
    check_budget_and_run(estimator)
    require(estimator.delta > 0, "delta must be a number in (0, 1)", estimator.delta)
    return MatrixPlan.of(estimator, facts, release_of=release_of, read_columns=read_columns)


# --- Kendall's correlations, and their noise -------------------------------------------------------------------------


_MAX_NOISE_SCALE = 1 / 3  # standard deviation of the noise, a third of the largest correlation


def concordances(ranks, n_jobs=None, progress=SILENT):
    """Concordant minus discordant pairs of records, for each pair of columns, and each column with itself.

    For a column with itself, this is the number of untied pairs.

    Parameters
    ----------
    ranks : list of n_columns int64 ndarrays of shape (n_samples,)
        Ranks from :func:`skdpmic.statistics.ranks.mid_ranks`, of at most ``MAX_RECORDS`` records.
    n_jobs : int, default=None
    progress : Progress, default=SILENT

    Returns
    -------
    int64 ndarray of shape (n_columns (n_columns + 1) / 2,)
        In the order of ``np.triu_indices(n_columns)``, for any `n_jobs`.
    """
    parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as=progress.return_as)
    rows = parallel(delayed(_row_of_concordances)(ranks, i) for i in range(len(ranks)))
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
        return with_noise(discrete_gaussian, self.scale**2, sums, random_bytes) / self.n_pairs

    def half_width(self, confidence):
        """Half-width of an interval of at least this confidence for a noise-free correlation."""
        return 0.0 if self.scale == 0 else (gaussian_quantile(self.scale, confidence) + 1) / self.n_pairs


@dataclass(frozen=True)
class KendallRelease(UnscoredRelease):
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


class PrivateCorrelation(PrivateMatrixEstimator):
    """Release Kendall's correlations between all columns of a table under differential privacy.

    A correlation is Kendall's tau-a: the number of pairs of records that two columns order in the same way, minus the
    number that they order in opposite ways, divided by the number of all pairs. It is in [-1, 1], needs no bounds, and
    is invariant under increasing transformations of a column. The whole matrix satisfies (epsilon, delta)-differential
    privacy: replacing one record, which is a row with all its columns, changes the probability of any outcome by a
    factor of at most exp(epsilon), plus delta.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget of one `fit`, for everything it releases; above 0. Infinity adds no noise.
    delta : float, default=1e-6
        How much the probability of any outcome may change beyond the factor exp(epsilon), in (0, 1). Choose it far
        below ``1 / n_samples``.
    categories : dict, default=None
        Public labels of nominal columns, by name, or by number if X is an array, in ranking order; required for text
        columns, but not for types that declare their labels (such as Polars Enum). Other labels come last. Missing
        values of any column come first, and are equal to one another.
    max_rows_per_group : int, default=None
        If given, the guarantee covers all rows of a person together. `groups` in `fit` identifies the person behind
        each row, and each person contributes exactly this many rows: a sample, alike in every fit, if more,
        repeated rows if there are fewer. The number of people is public, as n_samples is otherwise.
    ledger : BudgetLedger, default=None
        Ledger that every `fit` charges, after the data is validated and before anything is computed.
    n_jobs : int, default=None
        Number of parallel jobs (see joblib). The result does not depend on it.
    verbose : int, default=0
        Verbosity of `fit`, which prints how many columns are done and the elapsed time: 0 prints nothing, 1 about ten
        lines in each pass over the columns, 2 more. The time is not covered by the guarantee: do not publish it.
    random_state : None, int or RandomState, default=None
        None draws noise from the operating system's entropy. A seed is for tests only: it breaks the guarantee and
        warns.

    Attributes
    ----------
    correlation_ : ndarray or dataframe of shape (n_features, n_features)
        The correlation matrix nearest to `noisy_correlation_` clamped to [-1, 1]: like the matrix of the data, it is
        positive semidefinite with a diagonal of ones. So the sum of its squared errors over all entries is never above
        that of `noisy_correlation_`; the error of a single entry, or the largest one, may be. If noise takes entries
        beyond [-1, 1], the correlation matrix nearest to `noisy_correlation_` itself may differ. For a dataframe, this
        is a dataframe of the same library with the column names, which are also the index in pandas; in libraries
        without an index, the rows are in the order of the columns.
    noisy_correlation_ : ndarray or dataframe of shape (n_features, n_features)
        The release: noisy tau-a of each pair of columns, not clamped to [-1, 1], with a diagonal of ones.
    untied_fraction_ : ndarray of shape (n_features,)
        Share of pairs of records with different values, with the same noise, for each column; 1 without ties. It is
        part of the release, at no further cost. ``tau / sqrt(share * share)`` is Kendall's tau-b.
    noise_scale_ : float
        Standard deviation of the noise, which is independent for each correlation: about ``9 n_features / n_samples``
        at epsilon=1 and delta=1e-6.
    privacy_spent_ : (float, float)
        Epsilon and delta of this fit; per person if `max_rows_per_group` is given.
    n_groups_ : int
        Number of people; only if `max_rows_per_group` is given.
    n_features_in_ : int
        Number of columns, at least 2.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns; only if X has column names, which must be str.

    See Also
    --------
    private_score : Scores one pair of columns.

    Notes
    -----
    At epsilon=1 and delta=1e-6, about 300 records per column are needed to distinguish a correlation of 0.1 from 0. The
    budget covers everything computed from the matrix: partial correlations, clusters of columns, components, a linear
    model.

    See ``docs/theory/kendall_matrix.md`` for the theorem, and ``docs/choose/correlation.md`` for a guide. Not covered
    by the guarantee: errors raised on invalid data, timing.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic.correlation import PrivateCorrelation
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 3))
    >>> X[:, 1] += X[:, 0]
    >>> private = PrivateCorrelation(epsilon=1.0, delta=1e-6).fit(X)
    >>> private.correlation_.shape, round(private.noise_scale_, 4)
    ((3, 3), 0.0013)
    >>> bool(abs(private.correlation_[0, 1] - 0.5) < 0.05), bool(abs(private.correlation_[0, 2]) < 0.05)
    (True, True)
    """

    def fit(self, X: TableLike, y: ColumnLike | None = None, groups: BesideTable | None = None) -> Self:
        """Release the correlations of all columns.

        Parameters
        ----------
        X : array-like, dataframe or sparse matrix of shape (n_samples, n_features)
            One record per row; at least 4 rows and 2 columns. Columns hold numbers, dates, durations, booleans, or
            labels as described by `categories`.
        y : None
            Ignored. To include a target, make it a column of X.
        groups : array-like of shape (n_samples,), default=None
            Identifies the person behind each row; given if and only if `max_rows_per_group` is. Hashable labels of at
            least 4 people, none missing.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError, TypeError
            If a parameter or the data is invalid. The estimator is left unchanged.
        BudgetError
            If the cost does not fit in `ledger`. The estimator is left unchanged, and no noise is drawn.

        Warns
        -----
        PrivacyLeakWarning
            If `random_state` is set.
        UserWarning
            If the noise will exceed the signal, or delta is above ``1 / n_samples``.
        """
        plan = self._plan()
        X = in_memory(X)
        records = plan.read(X, None, groups)
        ready = plan.ready(records.public)
        published = run(ready.entry, partial(ready.draw, records), ledger=self.ledger, random_state=self.random_state)
        noisy = published["noisy_correlation_"]
        matrices = {"correlation_": nearest_correlation(noisy), "noisy_correlation_": noisy}
        if is_frame(X):
            matrices = {name: columns_by_columns(matrix, as_frame(X)) for name, matrix in matrices.items()}
        store(self, published | matrices)
        return self

    def correlation_interval(self, confidence: float = 0.95) -> tuple[Any, Any]:
        """Confidence intervals for the noise-free correlations, from the known noise distribution.

        They are for Kendall's correlations of these records, not for those of the population or for Pearson's. Costs no
        privacy: it uses only what was released.

        Parameters
        ----------
        confidence : float, default=0.95
            Confidence level, in (0, 1): an interval contains its noise-free correlation with at least this probability,
            each separately.

        Returns
        -------
        lower, upper : ndarrays or dataframes of shape (n_features, n_features)
            In the form of `correlation_`, with diagonals of ones.
        """
        check_published(self)
        check_confidence(confidence)
        noisy, margin = np.asarray(self.noisy_correlation_), self._mechanism.half_width(confidence)
        ends = [np.clip(noisy + side * margin, -1.0, 1.0) for side in (-1, 1)]
        for end in ends:
            np.fill_diagonal(end, 1.0)
        return tuple(map(self._like, ends))

    def pearson_correlation(self) -> Any:
        """Compute Pearson's correlations for columns that are increasing functions of jointly normal ones.

        They are ``sin(pi/2 tau)``, where tau is Kendall's (Greiner). Costs no privacy: it uses only what was
        released.

        Returns
        -------
        ndarray or dataframe of shape (n_features, n_features)
            The nearest correlation matrix to these, in the form of `correlation_`. NaN for a column with many ties (see
            `untied_fraction_`), where Pearson's correlation is another function of Kendall's; other entries are
            computed without such columns.

        Warns
        -----
        UserWarning
            If there are such columns.
        """
        check_published(self)
        noisy, tied = np.asarray(self.noisy_correlation_), columns_with_ties(self.untied_fraction_, self.noise_scale_)
        pearson, others = np.full(noisy.shape, np.nan), np.delete(np.arange(len(noisy)), tied)
        pearson[np.ix_(others, others)] = nearest_correlation(pearson_of_kendall(noisy[np.ix_(others, others)]))
        np.fill_diagonal(pearson, 1.0)
        if tied:
            warn(
                f"untied_fraction_ of {listed(tied, getattr(self, 'feature_names_in_', None))} is below {FEW_TIES:g}: "
                "values repeat, so Pearson's correlations cannot be computed from Kendall's and are NaN. Use "
                "correlation_, Kendall's correlations.",
            )
        return self._like(pearson)

    def _shown(self):
        """The strongest correlations of a :class:`PrivateCorrelation`."""
        names, pairs = names_of(self), np.triu_indices(self.n_features_in_, k=1)
        noisy, *ends = (np.asarray(matrix)[pairs] for matrix in (self.noisy_correlation_, *self.correlation_interval()))
        columns = [
            *(ResultColumn("column", [names[j] for j in side]) for side in pairs),
            number_column("noisy correlation", noisy),
            interval_column(*ends),
        ]
        released = f"Kendall's correlations of {counted(len(names), 'column')}; the strongest are shown"
        facts = facts_of_release(self, released, noisy="correlation")
        facts.append(("Intervals", "for the noise-free correlation of these records, each by itself"))
        order = np.argsort(-np.abs(noisy), kind="stable")
        return Summary(facts, why_broken(self._entry), columns, order, unit="pair", entries=(self._entry,))

    def _plan(self):
        facts = PublicFacts(categories=self.categories, max_rows_per_group=self.max_rows_per_group, needs_ranges=False)
        release = KendallRelease(self.epsilon, self.delta)
        return matrix_plan(self, facts, lambda domains: release, lambda table, facts, X: read_features(table, facts))

    def _like(self, matrix):
        """A matrix in the form of `correlation_`."""
        like = self.correlation_
        return columns_by_columns(matrix, as_frame(like)) if is_frame(like) else matrix


_TIE_FREE = 3.0  # standard deviations of the noise
FEW_TIES = 0.99  # share of untied pairs; with more ties, Greiner's sine formula does not hold
_TINY = 1e-12
_CLOSE, _MOST_STEPS = 1e-9, 400  # tolerance of the diagonal


def nearest_correlation(matrix):
    """The correlation matrix nearest, in the Frobenius norm, to a symmetric matrix clamped to [-1, 1].

    A correlation matrix is positive semidefinite with a diagonal of ones. The one nearest to the unclamped matrix may
    differ. Both steps, clamping and what follows, project onto a convex set, so neither increases the distance to any
    correlation matrix [1]_. With ``(.)+`` for the positive semidefinite part, the nearest is ``(matrix + diag(t))+``
    for the t that makes its diagonal one, the minimum of a smooth convex function [2]_.

    Parameters
    ----------
    matrix : ndarray of shape (n_columns, n_columns)
        Symmetric.

    Returns
    -------
    ndarray of shape (n_columns, n_columns)

    References
    ----------
    .. [1] N. J. Higham, "Computing the nearest correlation matrix", IMA Journal of Numerical Analysis 2002.
    .. [2] H. Qi and D. Sun, "A Quadratically Convergent Newton Method for Computing the Nearest Correlation Matrix",
       SIAM Journal on Matrix Analysis and Applications 2006.
    """
    target = np.clip(matrix, -1.0, 1.0)
    np.fill_diagonal(target, 1.0)
    if (np.linalg.eigvalsh(target) >= 0).all():  # also if there are no columns
        return target

    shift, step = np.zeros(len(target)), 1.0
    part = _positive_part(target)
    excess = part.diagonal() - 1  # the gradient, which changes by at most the change of the shift
    for iteration in range(_MOST_STEPS):
        if np.abs(excess).max() < _CLOSE:
            break
        change = -step * excess
        shift = shift + change
        part = _positive_part(target + np.diag(shift))
        bend = part.diagonal() - 1 - excess
        excess = excess + bend
        along = change @ bend
        # The step of Barzilai and Borwein is fast; if it fails, a step of 1 always converges.
        step = max(1.0, change @ change / along) if along > 0 and iteration < _MOST_STEPS // 2 else 1.0
    root = np.sqrt(part.diagonal())
    part = np.clip(part / np.outer(root, root), -1.0, 1.0)
    np.fill_diagonal(part, 1.0)
    return (part + part.T) / 2


def _positive_part(matrix):
    """The matrix with its negative eigenvalues set to 0."""
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.maximum(values, 0)) @ vectors.T


def pearson_of_kendall(taus):
    """Pearson's correlations of jointly normal columns with these Kendall correlations: ``sin(pi/2 tau)`` (Greiner)."""
    return np.sin(math.pi / 2 * np.clip(taus, -1.0, 1.0))


def known_shares(untied, noise_scale):
    """Shares of untied pairs: 1 if noise may hide that there are no ties, and never smaller than the noise allows.

    Parameters
    ----------
    untied : ndarray of shape (n_columns,)
        Noisy shares.
    noise_scale : float
        Standard deviation of the noise on each, at most 1.

    Returns
    -------
    ndarray of shape (n_columns,)
    """
    shares = np.where(untied > 1 - _TIE_FREE * noise_scale, 1.0, untied)
    return np.maximum(shares, max(min(_TIE_FREE * noise_scale, 1.0), _TINY))  # the share may be 0 for a constant


def columns_with_ties(untied, noise_scale):
    """Indices of the columns with evidence of many ties; parameters as in :func:`known_shares`."""
    return np.flatnonzero(known_shares(untied, min(noise_scale, 1.0)) < FEW_TIES).tolist()


def among_untied(taus, shares, noise_scale):
    """Pearson's correlations from Kendall's among untied pairs, and the noise on each.

    Parameters
    ----------
    taus : ndarray of shape (n_columns, n_columns)
        Noisy Kendall correlations; ties count 0.
    shares : ndarray of shape (n_columns,)
        From :func:`known_shares`.
    noise_scale : float
        Standard deviation of the noise on each.

    Returns
    -------
    correlation, noise : ndarrays of shape (n_columns, n_columns)
        The noise is given as standard deviations at a correlation of 0, where these are largest.
    """
    of_pairs = np.sqrt(np.outer(shares, shares))
    correlation = pearson_of_kendall(taus / of_pairs)
    np.fill_diagonal(correlation, 1.0)
    return correlation, noise_scale * math.pi / 2 / of_pairs
