"""Private choice of complementary features: forward selection from one noisy matrix."""

import warnings
from dataclasses import KW_ONLY, replace
from typing import Literal, Self

from skdpmic._utils.constructors import parameters
from skdpmic._utils.fitted import check_published
from skdpmic._utils.results import ResultsMixin
from skdpmic._utils.rollback import rollback_on_error
from skdpmic._utils.summaries import shown_forward
from skdpmic._utils.typing import BesideTable, Categories, ColumnLike, RandomState, TableLike
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.correlation.kendall_release import PrivateMatrixEstimator, refuse_dask_of_ranks
from skdpmic.correlation.matrices import FEW_TIES, columns_with_ties, forward_order, nearest_correlation
from skdpmic.release.kinds import places
from skdpmic.selection.column_selection import ColumnSelectionMixin, check_k, n_to_keep, warn_about_k
from skdpmic.table.features import listed
from skdpmic.table.people import check_given_together


@parameters
class PrivateForwardSelectorParameters:
    """What :class:`PrivateForwardSelector` is told; apart from it, as type checkers cannot read its other bases."""

    k: int | Literal["all"] = 10
    _: KW_ONLY
    epsilon: float = 1.0
    delta: float = 1e-6
    categories: Categories | None = None
    classes: ColumnLike | None = None
    max_rows_per_group: int | None = None
    ledger: BudgetLedger | None = None
    n_jobs: int | None = None
    verbose: int = 0
    random_state: RandomState = None


class PrivateForwardSelector(
    PrivateForwardSelectorParameters, ResultsMixin, ColumnSelectionMixin, PrivateMatrixEstimator
):
    """Select features one after another by what each adds to those before it, under differential privacy.

    Where several features say the same, the k best single ones are copies of one another. This selector releases the
    correlations of all features and the target at once, in a matrix of Kendall's correlations with noise, as
    :class:`PrivateCorrelation` does, and takes the feature that raises R squared most, again and again. It sees
    monotonic relationships only. The choice satisfies (epsilon, delta)-differential privacy: replacing one record (one
    row of X and y; with `max_rows_per_group`, all rows of one person) changes the probability of any outcome by a
    factor of at most exp(epsilon), apart from delta.

    Parameters
    ----------
    k : int or "all", default=10
        How many features to keep; at least 1.
    epsilon : float, default=1.0
        Privacy budget of one `fit`, for all that it releases together; above 0. Infinity adds no noise.
    delta : float, default=1e-6
        How much the probability of any outcome may change beyond that factor, in (0, 1); far below ``1 / n_samples``.
    categories : dict, default=None
        Public labels of nominal columns, by name or number, in the order in which they count; required for columns of
        text, but not for types that declare their labels (Enum of Polars). Labels that are not among them come last.
        Missing values of any column come first, and are equal to one another.
    classes : array-like, default=None
        The two labels of a discrete target, or "data", which reads them from y, breaks the guarantee, and warns. A
        numeric target needs none; more than two classes have no order.
    max_rows_per_group : int, default=None
        If given, each person is protected as a whole, with all their rows: `groups` tells `fit` whose row each one is,
        and everybody counts for exactly this many rows, drawn at random if there are more, repeated if there are fewer.
        The number of people is public, as n_samples otherwise is.
    ledger : BudgetLedger, default=None
        Where every `fit` writes its cost, after the data is validated and before anything is computed.
    n_jobs : int, default=None
        Number of parallel jobs (see joblib). The result does not depend on it.
    verbose : int, default=0
        Whether `fit` prints how many columns are done, and the time that it took: 0 prints nothing, 1 about ten lines
        in each pass over the columns, 2 more. Time is not covered by the guarantee: keep the lines to yourself.
    random_state : None, int or RandomState, default=None
        None draws noise from the operating system's entropy. A seed is for tests; it breaks the guarantee, and warns.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        Place of each feature in the order in which they are taken, 1 for the first.
    r2_path_ : ndarray of shape (n_features,)
        Estimate, from the matrix, of the R squared of a linear model with the first feature taken, with the first two,
        and so on; of ranks, or of columns that were made normal. Too high where noise is large, as features are chosen
        for a high value. NaN from the first feature on whose values often repeat, by its `untied_fraction_`, and
        throughout if those of the target do, as two classes: their correlations are other functions of Kendall's.
    correlation_ : ndarray of shape (n_features + 1, n_features + 1)
        Kendall's correlations of the features and, last, the target: the correlation matrix that is nearest to
        `noisy_correlation_` cut to [-1, 1].
    noisy_correlation_ : ndarray of shape (n_features + 1, n_features + 1)
        What was released: tau-a of each pair of columns, with noise, not clamped to [-1, 1], and a diagonal of ones.
    untied_fraction_ : ndarray of shape (n_features + 1,)
        Share of the pairs of records whose values differ, with the same noise, for each feature and the target.
    noise_scale_ : float
        Standard deviation of the noise on each correlation: about ``9 (n_features + 1) / n_samples`` at epsilon=1 and
        delta=1e-6.
    privacy_spent_ : (float, float)
        Epsilon and delta of this fit; per person, with `max_rows_per_group`.
    n_groups_ : int
        Number of people; only with `max_rows_per_group`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features; only if X has string column names.

    See Also
    --------
    PrivateSelectKBest : The best single features, by dependence of any shape, with less noise where k is small.
    PrivateCorrelation : The matrix by itself.

    Notes
    -----
    Where features are near copies of one another, it finds more than the best single features do once `noise_scale_` is
    below about 0.1, which takes about 100 records per feature at epsilon=1 and delta=1e-6. With more noise, or where no
    feature repeats another, PrivateSelectKBest chooses better (``docs/choose/correlation.md``).
    The size of the noise is known, so it is taken into account: correlations among features that may be due to noise
    are shrunk, the matrix is replaced by the nearest correlation matrix, and a ridge keeps what is left of a feature
    from being noise alone. After a fit, changing `k` costs no further budget.

    Not covered by the guarantee: the output of `transform`, cross-validated scores, errors raised on invalid data,
    timing.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic.correlation import PrivateForwardSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 4))
    >>> X[:, 1] = X[:, 0] + 0.1 * X[:, 1]  # nearly a copy
    >>> y = 2 * X[:, 0] + X[:, 2] + rng.normal(size=20_000)
    >>> selector = PrivateForwardSelector(k=2, epsilon=1.0, delta=1e-6).fit(X, y)
    >>> selector.get_support()[[2, 3]].tolist(), int(selector.get_support().sum())
    ([True, False], 2)
    >>> selector.set_params(k=3).transform(X).shape  # costs nothing more
    (20000, 3)
    """

    _n_targets = 1

    def fit(self, X: TableLike, y: BesideTable, groups: BesideTable | None = None) -> Self:
        """Release the correlations of the features and the target, and put the features in order.

        Parameters
        ----------
        X : array-like, dataframe or sparse matrix of shape (n_samples, n_features)
            One record per row; at least 4 rows. Columns hold numbers, dates, durations or booleans, or labels, as
            `categories` say.
        y : array-like of shape (n_samples,)
            The target, without missing values: numbers or dates, or labels from `classes`.
        groups : array-like of shape (n_samples,), default=None
            The person each row belongs to, given if and only if `max_rows_per_group` is: labels of at least 4 people,
            hashable, and none of them missing.

        Returns
        -------
        self : object
            The fitted selector.

        Raises
        ------
        ValueError, TypeError
            If a parameter or the data is not as described. The selector is then left as it was.
        BudgetError
            If the cost does not fit in `ledger`. The selector is left as it was, and no noise is drawn.

        Warns
        -----
        PrivacyLeakWarning
            If classes are read from the data, or `random_state` is set.
        UserWarning
            If the noise will exceed the signal, delta is above ``1 / n_samples``, or k is above the number of features.
            After the charge, if the released `untied_fraction_` show columns whose values often repeat.
        """
        with rollback_on_error(self):
            self._check_parameters()
            check_given_together(groups, self.max_rows_per_group)
            self._publish(*self._read(X, y, groups))
        self._warn_about_ties(stacklevel=2)  # where warnings are errors, what has been paid for is kept
        return self

    def _check_parameters(self):
        super()._check_parameters()
        check_k(self.k)

    def _facts(self):
        return replace(super()._facts(), classes=self.classes)

    def _records(self, X, y):
        refuse_dask_of_ranks(X)
        records = super()._records(X, y)
        if records.n_classes is not None and records.n_classes > 2:
            raise ValueError(f"classes must be 2 labels, as more than that have no order, got {records.n_classes}.")
        return records

    def _warn(self, shape, stacklevel):
        super()._warn(shape, stacklevel + 1)
        warn_about_k(self.k, shape.n_features, stacklevel + 1)

    def _store(self, released, release, mechanism, measure, records):
        super()._store(released, release, mechanism, measure, records)
        self.correlation_ = nearest_correlation(self.noisy_correlation_)
        order, self.r2_path_ = forward_order(self.noisy_correlation_, self.untied_fraction_, self.noise_scale_)
        self.ranking_ = places(order)

    def _warn_about_ties(self, stacklevel):
        """Warn, after the release, of columns with many ties, as the noisy shares show."""
        tied = columns_with_ties(self.untied_fraction_, self.noise_scale_)
        features = [j for j in tied if j < self.n_features_in_]
        columns = [listed(features, getattr(self, "feature_names_in_", None))] if features else []
        columns += ["the target"] if len(tied) > len(features) else []
        if columns:
            warnings.warn(
                f"untied_fraction_ of {' and '.join(columns)} is below {FEW_TIES:g}: values repeat there, so R squared "
                "does not follow from Kendall's correlations. r2_path_ is NaN from the first such feature on, and "
                "throughout if the target is one; the order stands. PrivateSelectKBest scores such columns by tables: "
                "that is a release of its own; this one is paid for, and kept.",
                stacklevel=stacklevel + 1,
            )

    def _further_columns(self):
        return {"r2": self.r2_path_[self.ranking_ - 1]}

    _shown = shown_forward

    def _get_support_mask(self):
        check_published(self)
        return self.ranking_ <= n_to_keep(self.k, self.n_features_in_)
