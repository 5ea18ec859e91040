"""Private selection of complementary features: forward selection from one noisy matrix."""

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
    """Parameters of :class:`PrivateForwardSelector`; separate, because type checkers cannot read its other bases."""

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
    """Select complementary features by forward selection, under differential privacy.

    If several features are redundant, the k best single features are near copies of one another. This selector makes
    one release of the Kendall correlations of all features and the target, a noisy matrix as in
    :class:`PrivateCorrelation`, and then repeatedly adds the feature that raises R squared most. It finds monotonic
    relationships only. The selection satisfies (epsilon, delta)-differential privacy: replacing one record (one row of
    X and y; with `max_rows_per_group`, all rows of one person) changes the probability of any outcome by a factor of at
    most exp(epsilon), plus delta.

    Parameters
    ----------
    k : int or "all", default=10
        Number of features to keep; at least 1.
    epsilon : float, default=1.0
        Privacy budget of one `fit`, for everything it releases; above 0. Infinity adds no noise.
    delta : float, default=1e-6
        How much the probability of any outcome may change beyond the factor exp(epsilon), in (0, 1). Choose it far
        below ``1 / n_samples``.
    categories : dict, default=None
        Public labels of nominal columns, by name, or by number if X is an array, in ranking order; required for text
        columns, but not for types that declare their labels (such as Polars Enum). Other labels come last. Missing
        values of any column come first, and are equal to one another.
    classes : array-like, default=None
        The two labels of a discrete target; or "data", which reads them from y, breaks the guarantee and warns. Not
        needed for a numeric target; more than two classes have no order.
    max_rows_per_group : int, default=None
        If given, the guarantee covers all rows of a person together. `groups` in `fit` identifies the person behind
        each row, and each person contributes exactly this many rows: a random sample of them if there are more,
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
    ranking_ : ndarray of shape (n_features,)
        Position of each feature in the order of selection, 1 for the first.
    r2_path_ : ndarray of shape (n_features,)
        Estimate from the matrix of the R squared of a linear model with the first feature selected, the first two, and
        so on; of ranks, or of columns transformed to normality. It is too high if noise is large, because features are
        selected for a high value. It is NaN from the first feature with many ties (see `untied_fraction_`), and
        everywhere if the target has many ties, like two classes: Pearson's correlations of such columns are other
        functions of Kendall's.
    correlation_ : ndarray of shape (n_features + 1, n_features + 1)
        Kendall's correlations of the features and, last, the target: the correlation matrix nearest to
        `noisy_correlation_` clamped to [-1, 1].
    noisy_correlation_ : ndarray of shape (n_features + 1, n_features + 1)
        The release: noisy tau-a of each pair of columns, not clamped to [-1, 1], with a diagonal of ones.
    untied_fraction_ : ndarray of shape (n_features + 1,)
        Share of pairs of records with different values, with the same noise, for each feature and the target.
    noise_scale_ : float
        Standard deviation of the noise on each correlation: about ``9 (n_features + 1) / n_samples`` at epsilon=1 and
        delta=1e-6.
    privacy_spent_ : (float, float)
        Epsilon and delta of this fit; per person if `max_rows_per_group` is given.
    n_groups_ : int
        Number of people; only if `max_rows_per_group` is given.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features; only if X has column names, which must be str.

    See Also
    --------
    PrivateSelectKBest : Selects the best single features, by dependence of any shape, with less noise if k is small.
    PrivateCorrelation : Releases the matrix itself.

    Notes
    -----
    If features are near copies of one another, this selector does better than PrivateSelectKBest once `noise_scale_` is
    below about 0.1, which takes about 100 records per feature at epsilon=1 and delta=1e-6. With more noise, or without
    redundant features, PrivateSelectKBest does better (``docs/choose/correlation.md``). The algorithm accounts for the
    known noise scale: it shrinks correlations among features that may be due to noise, replaces the matrix by the
    nearest correlation matrix, and adds a ridge so that the residual of a feature is not noise alone. After a fit,
    changing `k` costs no further budget.

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
    >>> selector.set_params(k=3).transform(X).shape  # no further cost
    (20000, 3)
    """

    _n_targets = 1

    def fit(self, X: TableLike, y: BesideTable, groups: BesideTable | None = None) -> Self:
        """Release the correlations of the features and the target, and order the features.

        Parameters
        ----------
        X : array-like, dataframe or sparse matrix of shape (n_samples, n_features)
            One record per row; at least 4 rows. Columns hold numbers, dates, durations, booleans, or labels as
            described by `categories`.
        y : array-like of shape (n_samples,)
            The target, without missing values: numbers or dates, or labels from `classes`.
        groups : array-like of shape (n_samples,), default=None
            Identifies the person behind each row; given if and only if `max_rows_per_group` is. Hashable labels of at
            least 4 people, none missing.

        Returns
        -------
        self : object
            The fitted selector.

        Raises
        ------
        ValueError, TypeError
            If a parameter or the data is invalid. The selector is left unchanged.
        BudgetError
            If the cost does not fit in `ledger`. The selector is left unchanged, and no noise is drawn.
        RuntimeError
            If another call that changes the selector is not finished, in another thread. Nothing is charged.

        Warns
        -----
        PrivacyLeakWarning
            If classes are read from the data, or `random_state` is set.
        UserWarning
            If the noise will exceed the signal, delta is above ``1 / n_samples``, or k is above the number of features.
            After the charge, if the released `untied_fraction_` shows columns with many ties.
        """
        with rollback_on_error(self) as keep:
            self._check_parameters()
            check_given_together(groups, self.max_rows_per_group)
            self._publish(*self._read(X, y, groups))
            keep()  # if warnings are errors
            self._warn_about_ties(stacklevel=2)
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
            raise ValueError(f"classes must be 2 labels, because more labels have no order, got {records.n_classes}.")
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
        """Warn, after the release, about columns with many ties according to the noisy shares."""
        tied = columns_with_ties(self.untied_fraction_, self.noise_scale_)
        features = [j for j in tied if j < self.n_features_in_]
        columns = [listed(features, getattr(self, "feature_names_in_", None))] if features else []
        columns += ["the target"] if len(tied) > len(features) else []
        if columns:
            warnings.warn(
                f"untied_fraction_ of {' and '.join(columns)} is below {FEW_TIES:g}: values repeat, so R squared "
                "cannot be computed from Kendall's correlations. r2_path_ is NaN from the first such feature on, and "
                "everywhere if the target is one; the order of features is then a rule of thumb. PrivateSelectKBest "
                "handles such columns, in a separate release; the present one has been charged and is kept.",
                stacklevel=stacklevel + 1,
            )

    def _further_columns(self):
        return {"r2": self.r2_path_[self.ranking_ - 1]}

    _shown = shown_forward

    def _get_support_mask(self):
        check_published(self)
        return self.ranking_ <= n_to_keep(self.k, self.n_features_in_)
