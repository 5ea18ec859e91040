"""All correlations of a table in one release, under differential privacy."""

from typing import Any, Self

import numpy as np

from skdpmic._utils.errors import warn
from skdpmic._utils.private_estimator import check_published
from skdpmic._utils.rollback import one_call_at_a_time
from skdpmic._utils.summaries import ResultColumn, Summary, facts_of_release, interval_column, number_column, why_broken
from skdpmic._utils.texts import counted, names_of
from skdpmic._utils.typing import BesideTable, Categories, ColumnLike, RandomState, TableLike
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.correlation.matrices import FEW_TIES, columns_with_ties, nearest_correlation, pearson_of_kendall
from skdpmic.correlation.matrix_release import KendallRelease, PrivateMatrixEstimator, matrix_plan
from skdpmic.privacy.parameters import check_confidence
from skdpmic.release.path import publish, store
from skdpmic.table.facts import PublicFacts
from skdpmic.table.features import listed
from skdpmic.table.frames import columns_by_columns
from skdpmic.table.normal_form.containers import as_frame, in_memory, is_frame
from skdpmic.table.reading import read_features


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

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        categories: Categories | None = None,
        max_rows_per_group: int | None = None,
        ledger: BudgetLedger | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.categories = categories
        self.max_rows_per_group = max_rows_per_group
        self.ledger = ledger
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @one_call_at_a_time
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
        RuntimeError
            If another call that changes the estimator is not finished, in another thread. Nothing is charged.

        Warns
        -----
        PrivacyLeakWarning
            If `random_state` is set.
        UserWarning
            If the noise will exceed the signal, or delta is above ``1 / n_samples``.
        """
        plan = self._plan()
        X = in_memory(X)
        records = plan.read(X, groups)
        ready = plan.ready(records.public)
        published = publish(ready, records, ledger=self.ledger, random_state=self.random_state)
        store(self, published | _labelled(published["noisy_correlation_"], X))
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


def _labelled(noisy, X):
    """The released matrix and the nearest correlation matrix, with the column names of X if it has any."""
    matrices = {"correlation_": nearest_correlation(noisy), "noisy_correlation_": noisy}
    if not is_frame(X):
        return matrices
    return {name: columns_by_columns(matrix, as_frame(X)) for name, matrix in matrices.items()}
