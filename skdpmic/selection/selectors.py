"""The scorer and the selectors: private scores of all features, and names of the best."""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats
from scipy.integrate import cumulative_trapezoid
from sklearn import config_context

from skdpmic._utils.arguments import check_k, is_number
from skdpmic._utils.bases import AsksForContainer, OneToOneFeatureMixin, SelectorMixin, TransformerMixin
from skdpmic._utils.never_cached import never_cached
from skdpmic._utils.private_estimator import best_first, check_published, share_of_possible
from skdpmic._utils.texts import in_short, quoted, require, warn
from skdpmic._utils.typing import Auto, BesideTable, ColumnLike, Correction, Floats, Range, Ranges, TableLike
from skdpmic.privacy.mechanisms import MECHANISMS, CubeLaw
from skdpmic.privacy.top_k import confidence_among_best
from skdpmic.selection.scoring import PrivateScores, PrivateScoring
from skdpmic.selection.scoring_plan import MeasureParameters, check_mechanism, n_to_keep, scoring_plan
from skdpmic.statistics.mic.noisy_tables import GeometricMechanism
from skdpmic.statistics.registry import statistic_named
from skdpmic.table.facts import check_keep, kept_columns
from skdpmic.table.records import read_numbers
from skdpmic.table.tables import among_zeros, check_columns_seen, open_table, with_columns


class ColumnSelectionMixin(AsksForContainer, SelectorMixin):
    """A feature selector for tables that may hold more than numbers."""

    def transform(self, X: TableLike) -> Any:
        """Keep the selected features.

        Parameters
        ----------
        X : array-like, dataframe or sparse matrix of shape (n_samples, n_features)
            Or any object with ``__arrow_c_stream__``, which is read as a whole by pyarrow.

        Returns
        -------
        X_selected : array-like of shape (n_samples, n_selected_features)
            The values of these columns, unchanged, in the container of X: a dataframe of the same library, with the
            types of its columns and the names of `get_feature_names_out`; a sparse matrix; or an array, of objects
            if X is a list of rows with other values than floats. For an Arrow stream, a dataframe of the library that
            read it. `set_output` may ask for another container; columns of types that it lacks then hold objects.
        """
        support = self.get_support()
        table = open_table(X, type(self).__name__, takes_text=True)
        check_columns_seen(self, table)
        if not support.any():
            warn("No features were selected: either the data is too noisy or the selection test too strict.")
        with config_context(array_api_dispatch=False):
            container = super().transform(None)
        return with_columns(table, np.flatnonzero(support).tolist(), self.get_feature_names_out(), container)

    def inverse_transform(self, X: TableLike) -> Any:
        """Put zeros where `transform` removed features.

        Parameters
        ----------
        X : array-like, dataframe or sparse matrix of shape (n_samples, n_selected_features)
            The selected features, in order; missing values are kept.

        Returns
        -------
        X_original : array-like of shape (n_samples, n_features)
            In the container of X, as for `transform`; a dataframe has the feature names seen in `fit`.
        """
        support = self.get_support()
        table = open_table(X, type(self).__name__, takes_text=True)
        if table.n_features != support.sum():
            raise ValueError("X has a different shape than during fitting.")
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(len(support))])  # as scikit-learn's
        return among_zeros(table, support, names)


@dataclass(eq=False, repr=False, kw_only=True)
class DPMICScorer(OneToOneFeatureMixin, TransformerMixin, PrivateScores):
    """Score features by a differentially private measure of their dependence on the target.

    A score is a noisy Maximal Information Coefficient, which finds dependence of any shape, or another `statistic`. All
    scores together are released under epsilon-differential privacy: replacing one record (one row of X and y; with
    `max_rows_per_group`, all rows of one person) changes the probability of any outcome by a factor of at most
    exp(epsilon). With `delta`, they are released under (epsilon, delta)-differential privacy.

    Parameters
    ----------
    statistic : str, default="mic_r"
        Measure of dependence on the target; scores are in [0, 1]. "mic_r" is the Maximal Information Coefficient,
        :func:`mic_r`. "mtv_r", :func:`mtv_r`, is a total variation; it also finds dependence of any shape, at about a
        sixth of the epsilon. "kendall" finds monotonic trends. It uses ranks: it needs neither `bounds` nor
        `target_bounds`, ignores `B` and `c`, and does not support chunks, sketches or dask collections, nor more than
        two classes, which are in ascending order of their labels.
    epsilon : float, default=1.0
        Privacy budget of one `fit`, for everything it releases; above 0. Infinity adds no noise.
    delta : float, default=0.0
        How much the probability of any outcome may change beyond the factor exp(epsilon), in [0, 1). If not 0, choose
        it far below ``1 / n_samples``. Must be above 0 with ``mechanism="gaussian"`` and 0 otherwise.
    bounds : tuple, array-like or dict, default=None
        Public ranges of numeric features, required except with "kendall"; values outside are clipped. A range
        is ``(lower, upper)``; or ``(lower, upper, "log")`` for skewed columns, which are cut into equal parts on the
        scale ``sign(x) * log(1 + abs(x))``; or three or more increasing numbers, with the same number of parts between
        each two neighbours (:func:`private_bounds` learns these); or, for integers, ``range(1, 6)``, which holds 1 to
        5: other numbers count as the nearest of them, halves up. Columns of dates or durations need bounds of dates or
        durations. A single range applies to all features not in `categories`; a dict gives one range per feature, by
        name, or by number if X is an array; ``(lower, upper)`` may also be two arrays of shape (n_features,).
    categories : dict, default=None
        Public labels of nominal features, by name, or by number if X is an array: lists of at least 2 distinct strings
        or numbers. Any other label counts as "other", which has its own bin. Together with a dict of `bounds`, it must
        cover every feature except boolean columns and columns whose type declares its labels (such as Polars Enum),
        which need no entry. With "kendall", the order of the labels matters, and text columns need labels.
    target_bounds : tuple or array-like, default=None
        Public range of a continuous target, in the form of an entry of `bounds`. Give exactly one of
        `target_bounds` and `classes`; with "kendall", a continuous target needs neither.
    classes : array-like, default=None
        All labels a discrete target can have, in any order; not in a VotingClassifier, which numbers them.
    target_shares : array-like, default=None
        Public distribution of the target, with ``statistic="mtv_r"``: the share of the records in each class, in the
        order of `classes` (in ascending order, if only a sketch has these), or in each half, quarter or eighth of
        `target_bounds`; all above 0, with a sum of 1. If None, 15% of the budget is spent on learning it
        (`target_shares_`), unless there are more than four classes. Wrong shares cost power, not privacy
        (``docs/theory/known_margin.md``). With "mic_r" and "kendall", shares of `classes` only determine
        `largest_possible_score_`.
    mechanism : {"laplace", "gaussian", "k-norm", "geometric"}, default="laplace"
        How noise is added. "laplace" splits epsilon evenly over the features. "k-norm" draws the noise of all scores
        together, uniformly from a cube of random size. For the same epsilon and without `delta`, it adds less than half
        as much noise from 10 features on: choose it for two or more features, unless `delta` may be above 0. "gaussian"
        needs `delta`; it adds less noise than "laplace" from about 11 features on, and less than "k-norm" from about 60
        on. "geometric" adds noise to one table of counts per feature, publishes these tables as `noisy_counts_`, and
        computes the scores from them (MICr only).
    B : float or "auto", default="auto"
        Maximum grid size: a number of cells >= 4; an exponent in (0, 1), for ``n_samples ** B`` cells; or "auto", a
        value tuned for n_samples, `epsilon_per_feature_` and the number of classes
        (``benchmarks/results/defaults.md``). A number may be at most n_samples, or 1,000, or 100 per class, whichever
        is largest; without classes it may never exceed 10,000.
    c : float or "auto", default="auto"
        How many times finer than a merged partition its master partition is; above 0, and small enough that it has at
        most as many parts as a grid may have cells; "auto" as for `B`. With ``mechanism="geometric"``, how many times
        finer the noisy table is than the finest square grid, as in :func:`private_score`.
    correction : None or "miller-madow", default="miller-madow"
        Bias correction for ``statistic="mic_r"``: None gives the MICr of the paper. "miller-madow" searches fewer grids
        and subtracts a public amount from the score of each, as in :func:`mic_r`: less biased, faster and equally
        private. ``mechanism="geometric"`` uses a different correction.
    max_rows_per_group : int, default=None
        If given, the guarantee covers all rows of a person together. `groups` in `fit` identifies the person behind
        each row, and each person contributes exactly this many rows: a sample, alike in every fit, if more,
        repeated rows if there are fewer. Noise and budget are then per person, and the number of people is public, as
        n_samples is otherwise. 1 is best with ``statistic="mic_r"``, whose noise is a tenth higher from 2 on. With the
        others, use the number of rows that people have: they find more, for the same noise
        (``docs/theory/people.md``).
    max_weight : float, default=None
        If given, rows have survey weights (`sample_weight` of `fit`), which are clipped to this public number. The
        scores are then those of the population that the rows represent. With ``statistic="mtv_r"`` only. The noise is
        the same as without weights, but scores are multiplied by the mean weight over `max_weight`; a few times the
        mean weight is a good choice (``docs/choose/survey_weights.md``).
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
    scores_ : ndarray of shape (n_features,)
        Private scores in [0, 1].
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature by private score minus `null_scores_`; 1 is the best.
    null_scores_ : ndarray of shape (n_features,)
        Mean score of a feature of the same kind (such as numbers or labels) that is independent of y, simulated from
        public numbers only. 0 if all features are of one kind.
    epsilon_per_feature_ : float
        Privacy budget per score, ``epsilon / n_features``; with "gaussian" and "k-norm", the epsilon at which Laplace
        noise on one score has the same standard deviation.
    noise_scale_ : float
        Scale of the Laplace noise on each score; with "gaussian" and "k-norm", its standard deviation; with
        "geometric", scale of the noise on each count, in records.
    noisy_counts_ : ndarray of shape (n_features, n_parts, n_parts) or (n_features, n_parts, n_classes)
        Noisy number of records in each part of a feature (rows) and of the target (columns); only with
        ``mechanism="geometric"``.
    target_shares_ : ndarray of shape (n_classes,) or (2,)
        With ``statistic="mtv_r"``, the noisy share of the records in each class, in ascending order of the labels, or
        on either side of `target_cut_`, learnt with 15% of the budget; or `target_shares`, if given. See
        `target_shares_interval` for their error. Not set with more than four classes.
    target_cut_ : float, datetime64 or timedelta64
        Cut point of a continuous target whose shares were learnt: the middle of `target_bounds`, or, if ``n_samples *
        epsilon`` is 334 or more, a value near the median, learnt with half of that budget. Records equal to it count as
        above it.
    mean_weight_ : float
        Noisy mean weight of the rows; only with `max_weight`, if `target_shares_` were learnt.
    largest_possible_score_ : float
        The largest score that any feature can have if the classes have the shares `target_shares_`: with two classes
        and "mtv_r", about twice the smaller share (``docs/theory/largest_scores.md``). Only with `classes` and
        `target_shares_`; with `max_weight`, only if these were learnt. 0 if their noise hides every division.
    privacy_spent_ : (float, float)
        Epsilon and delta of this fit; per person if `max_rows_per_group` is given.
    n_groups_ : int
        Number of people; only if `max_rows_per_group` is given.
    B_, c_ : float
        Values used; not with "kendall".
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features; only if X has column names, which must be str.

    See Also
    --------
    DPMICSelector : Keeps the best features.
    dp_mic_classif, dp_mic_regression : Function forms.
    skdpmic.plotting.ScoresDisplay : Plots the scores.
    skdpmic.counting.RangeGridSketch : Counts of a table that arrives in pieces, for `fit_sketch`.

    Notes
    -----
    scikit-learn's selectors pass their ``score_func`` an array without column names, so `bounds` cannot be a dict
    there. They break ties between scores clamped to 0 or 1 by column. DPMICSelector ranks scores before they are
    clamped, so it chooses better if noise is strong.

    Not covered by the guarantee: the output of `transform`, cross-validated scores, errors raised on invalid data,
    timing.

    References
    ----------
    .. [1] J. Lazarsfeld, A. Johnson and E. Adeniran, "Differentially Private Maximal Information
       Coefficients", ICML 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_selection import SelectKBest
    >>> from skdpmic import DPMICScorer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(5000, 3))
    >>> y = (X[:, 1] - 0.5) ** 2
    >>> scorer = DPMICScorer(epsilon=5, bounds=(0, 1), target_bounds=(0, 0.25))
    >>> scorer.fit(X, y).ranking_.tolist()[1]
    1
    >>> SelectKBest(scorer, k=1).fit(X, y).get_support()
    array([False,  True, False])
    """

    mechanism: Literal["laplace", "gaussian", "k-norm", "geometric"] = "laplace"
    B: float | Auto = "auto"
    c: float | Auto = "auto"
    correction: Correction = "miller-madow"

    def _plan(self):
        return scores_plan(self, (*MECHANISMS, GeometricMechanism.name))

    def __call__(self, X: TableLike, y: BesideTable) -> Floats | tuple[Floats, Floats]:
        """Fit, and return the private scores and p-values, as ``SelectKBest(score_func=...)`` expects.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        scores : ndarray of shape (n_features,)
            A copy of `scores_`.
        p_values : ndarray of shape (n_features,)
            The result of `p_values`, for `SelectFdr`, `SelectFpr` and `SelectFwe`. With ``mechanism="geometric"`` or
            "kendall", which have no p-values, only the scores are returned.

        Raises
        ------
        ValueError
            As in `fit`, or if `max_rows_per_group` or `max_weight` is given: no `groups` or `sample_weight` are passed.
        """
        scores = self._scores(X, y)
        try:
            return scores, self.p_values()
        except AttributeError:  # no p-values
            return scores

    def _scores(self, X, y):
        """A copy of the scores of a fit without groups and weights."""
        for name, beside in (("max_rows_per_group", "groups"), ("max_weight", "sample_weight")):
            if getattr(self, name) is not None:
                raise ValueError(
                    f"{name} must be None if no {beside} can be passed, as in function forms and the score functions "
                    "of SelectKBest and similar, which get X and y only. Use DPMICSelector, or "
                    f"DPMICScorer.fit(X, y, {beside}=...)."
                )
        return self.fit(X, y).scores_.copy()

    def transform(self, X: TableLike) -> Any:
        """Multiply every column by its score.

        Parameters
        ----------
        X : array-like, dataframe or sparse matrix of shape (n_samples, n_features)
            Numbers only.

        Returns
        -------
        X_weighted : ndarray of shape (n_samples, n_features)
        """
        check_published(self)
        X = read_numbers(X, self)
        scores = self.scores_.astype(X.dtype)
        return X.multiply(scores).tocsr() if sparse.issparse(X) else X * scores

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@never_cached
def dp_mic_regression(
    X: TableLike,
    y: BesideTable,
    *,
    epsilon: float,
    bounds: Ranges | None = None,
    target_bounds: Range | None = None,
    **parameters: Any,
) -> Floats:
    """Private scores of features against a continuous target.

    Function form of :class:`DPMICScorer`, analogous to ``sklearn.feature_selection.mutual_info_regression``.

    Parameters
    ----------
    X : array-like, dataframe or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    epsilon : float
        Privacy budget for all scores together.
    bounds : tuple, array-like or dict, default=None
        Public ranges of numeric features, as in :class:`DPMICScorer`; required except with "kendall".
    target_bounds : tuple or array-like, default=None
        Public range of the target; required except with "kendall".
    **parameters
        Further parameters of :class:`DPMICScorer`, such as `categories` and `statistic`.

    Returns
    -------
    scores : ndarray of shape (n_features,)
        In [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import dp_mic_regression
    >>> X = np.random.default_rng(0).uniform(size=(5000, 2))
    >>> scores = dp_mic_regression(X, X[:, 0] ** 2, epsilon=5, bounds=(0, 1), target_bounds=(0, 1))
    >>> bool(scores[0] > scores[1])
    True
    """
    return DPMICScorer(epsilon=epsilon, bounds=bounds, target_bounds=target_bounds, **parameters)._scores(X, y)


@never_cached
def dp_mic_classif(
    X: TableLike,
    y: BesideTable,
    *,
    epsilon: float,
    bounds: Ranges | None = None,
    classes: ColumnLike,
    **parameters: Any,
) -> Floats:
    """Private scores of features against a discrete target.

    Function form of :class:`DPMICScorer`, analogous to ``sklearn.feature_selection.mutual_info_classif``.

    Parameters
    ----------
    X : array-like, dataframe or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    epsilon : float
        Privacy budget for all scores together.
    bounds : tuple, array-like or dict, default=None
        Public ranges of numeric features, as in :class:`DPMICScorer`; required except with "kendall".
    classes : array-like
        All labels the target can have, in any order.
    **parameters
        Further parameters of :class:`DPMICScorer`, such as `categories` and `statistic`.

    Returns
    -------
    scores : ndarray of shape (n_features,)
        In [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import dp_mic_classif
    >>> X = np.random.default_rng(0).uniform(size=(5000, 2))
    >>> scores = dp_mic_classif(X, X[:, 0] > 0.5, epsilon=5, bounds=(0, 1), classes=[False, True])
    >>> bool(scores[0] > scores[1])
    True
    """
    return DPMICScorer(epsilon=epsilon, bounds=bounds, classes=classes, **parameters)._scores(X, y)


def scores_plan(estimator, mechanisms, k=None, needs_largest=False):
    """The plan of an estimator that publishes the scores of all features, by one of these mechanisms."""
    asked = MeasureParameters(estimator.B, estimator.c, estimator.correction)
    plan = scoring_plan(estimator, asked, mechanism=estimator.mechanism, k=k, needs_largest=needs_largest)
    check_mechanism(estimator.mechanism, mechanisms, plan.statistic, plan.delta)
    return plan


@dataclass(eq=False, repr=False)
class DPMICSelector(ColumnSelectionMixin, PrivateScores):
    """Select features by a differentially private measure of their dependence on the target.

    Prefer :class:`PrivateSelectKBest` if you only need the names of the best features: it has far less noise. This
    class publishes all scores; `threshold` and `fdr` let the scores decide how many features to keep. The measure is a
    Maximal Information Coefficient, as in [1]_, or another `statistic`. All scores together satisfy
    epsilon-differential privacy: replacing one record (one row of X and y; with `max_rows_per_group`, all rows of one
    person) changes the probability of any outcome by a factor of at most exp(epsilon). With `delta`, they satisfy
    (epsilon, delta)-differential privacy.

    Parameters
    ----------
    k : int or "all", default=10
        Number of features to keep; at least 1.
    statistic : str, default="mic_r"
        Measure of dependence on the target; scores are in [0, 1]. "mic_r" is the Maximal Information Coefficient,
        :func:`mic_r`. "mtv_r", :func:`mtv_r`, is a total variation; it also finds dependence of any shape, at about a
        sixth of the epsilon. "kendall" finds monotonic trends. It uses ranks: it needs neither `bounds` nor
        `target_bounds`, ignores `B` and `c`, and does not support chunks, sketches or dask collections, nor more than
        two classes, which are in ascending order of their labels.
    epsilon : float, default=1.0
        Privacy budget of one `fit`, for everything it releases; above 0. Infinity adds no noise.
    delta : float, default=0.0
        How much the probability of any outcome may change beyond the factor exp(epsilon), in [0, 1). If not 0, choose
        it far below ``1 / n_samples``. Must be above 0 with ``mechanism="gaussian"`` and 0 otherwise.
    bounds : tuple, array-like or dict, default=None
        Public ranges of numeric features, required except with "kendall"; values outside are clipped. A range
        is ``(lower, upper)``; or ``(lower, upper, "log")`` for skewed columns, which are cut into equal parts on the
        scale ``sign(x) * log(1 + abs(x))``; or three or more increasing numbers, with the same number of parts between
        each two neighbours (:func:`private_bounds` learns these); or, for integers, ``range(1, 6)``, which holds 1 to
        5: other numbers count as the nearest of them, halves up. Columns of dates or durations need bounds of dates or
        durations. A single range applies to all features not in `categories`; a dict gives one range per feature, by
        name, or by number if X is an array; ``(lower, upper)`` may also be two arrays of shape (n_features,).
    categories : dict, default=None
        Public labels of nominal features, by name, or by number if X is an array: lists of at least 2 distinct strings
        or numbers. Any other label counts as "other", which has its own bin. Together with a dict of `bounds`, it must
        cover every feature except boolean columns and columns whose type declares its labels (such as Polars Enum),
        which need no entry. With "kendall", the order of the labels matters, and text columns need labels.
    target_bounds : tuple or array-like, default=None
        Public range of a continuous target, in the form of an entry of `bounds`. Give exactly one of
        `target_bounds` and `classes`; with "kendall", a continuous target needs neither.
    classes : array-like, default=None
        All labels a discrete target can have, in any order; not in a VotingClassifier, which numbers them.
    target_shares : array-like, default=None
        Public distribution of the target, with ``statistic="mtv_r"``: the share of the records in each class, in the
        order of `classes` (in ascending order, if only a sketch has these), or in each half, quarter or eighth of
        `target_bounds`; all above 0, with a sum of 1. If None, 15% of the budget is spent on learning it
        (`target_shares_`), unless there are more than four classes. Wrong shares cost power, not privacy
        (``docs/theory/known_margin.md``). With "mic_r" and "kendall", shares of `classes` only determine
        `largest_possible_score_`.
    threshold : float or str, default=None
        If given, keep the features whose private score is at least this, and ignore `k`: a number in [0, 1]; or a share
        of `largest_possible_score_`, such as "0.5*possible", which needs known shares of the classes. If no score
        reaches it, `fit` warns.
    fdr : float, default=None
        If given, in (0, 1): keep the features that the Benjamini-Hochberg procedure selects from `p_values` at this
        level, and ignore `k`. On average, at most about this share of the features kept is independent of the target,
        unless scores of independent features are negatively related (``docs/choose/significance.md``). With
        ``mechanism="k-norm"``, whose noise depends between features, the Benjamini-Yekutieli procedure is used: it
        holds under any dependence, and keeps fewer features. Requires `max_rows_per_group` of None or 1, and no
        `threshold`.
    mechanism : {"laplace", "gaussian", "k-norm"}, default="laplace"
        How noise is added. "laplace" splits epsilon evenly over the features. "k-norm" draws the noise of all scores
        together, uniformly from a cube of random size. For the same epsilon and without `delta`, it adds less than half
        as much noise from 10 features on: choose it for two or more features, unless `delta` may be above 0. "gaussian"
        needs `delta`; it adds less noise than "laplace" from about 11 features on, and less than "k-norm" from about 60
        on.
    B : float or "auto", default="auto"
        Maximum grid size: a number of cells >= 4; an exponent in (0, 1), for ``n_samples ** B`` cells; or "auto", a
        value tuned for n_samples, `epsilon_per_feature_` and the number of classes
        (``benchmarks/results/defaults.md``). A number may be at most n_samples, or 1,000, or 100 per class, whichever
        is largest; without classes it may never exceed 10,000.
    c : float or "auto", default="auto"
        How many times finer than a merged partition its master partition is; above 0, and small enough that it has at
        most as many parts as a grid may have cells; "auto" as for `B`.
    correction : None or "miller-madow", default="miller-madow"
        Bias correction for ``statistic="mic_r"``: None gives the MICr of the paper. "miller-madow" searches fewer grids
        and subtracts a public amount from the score of each, as in :func:`mic_r`: less biased, faster and equally
        private.
    max_rows_per_group : int, default=None
        If given, the guarantee covers all rows of a person together. `groups` in `fit` identifies the person behind
        each row, and each person contributes exactly this many rows: a sample, alike in every fit, if more,
        repeated rows if there are fewer. Noise and budget are then per person, and the number of people is public, as
        n_samples is otherwise. 1 is best with ``statistic="mic_r"``, whose noise is a tenth higher from 2 on. With the
        others, use the number of rows that people have: they find more, for the same noise
        (``docs/theory/people.md``).
    max_weight : float, default=None
        If given, rows have survey weights (`sample_weight` of `fit`), which are clipped to this public number. The
        scores are then those of the population that the rows represent. With ``statistic="mtv_r"`` only. The noise is
        the same as without weights, but scores are multiplied by the mean weight over `max_weight`; a few times the
        mean weight is a good choice (``docs/choose/survey_weights.md``).
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
    scores_ : ndarray of shape (n_features,)
        Private scores in [0, 1].
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature by private score minus `null_scores_`; 1 is the best.
    null_scores_ : ndarray of shape (n_features,)
        Mean score of a feature of the same kind (such as numbers or labels) that is independent of y, simulated from
        public numbers only. 0 if all features are of one kind.
    epsilon_per_feature_ : float
        Privacy budget per score: ``epsilon / n_features`` with Laplace noise; with "gaussian" and "k-norm", the epsilon
        at which Laplace noise on one score has the same standard deviation.
    noise_scale_ : float
        Scale of the Laplace noise on each score; with "gaussian" and "k-norm", its standard deviation.
    target_shares_ : ndarray of shape (n_classes,) or (2,)
        With ``statistic="mtv_r"``, the noisy share of the records in each class, in ascending order of the labels, or
        on either side of `target_cut_`, learnt with 15% of the budget; or `target_shares`, if given. See
        `target_shares_interval` for their error. Not set with more than four classes.
    target_cut_ : float, datetime64 or timedelta64
        Cut point of a continuous target whose shares were learnt: the middle of `target_bounds`, or, if ``n_samples *
        epsilon`` is 334 or more, a value near the median, learnt with half of that budget. Records equal to it count as
        above it.
    mean_weight_ : float
        Noisy mean weight of the rows; only with `max_weight`, if `target_shares_` were learnt.
    largest_possible_score_ : float
        The largest score that any feature can have if the classes have the shares `target_shares_`: with two classes
        and "mtv_r", about twice the smaller share (``docs/theory/largest_scores.md``). Only with `classes` and
        `target_shares_`; with `max_weight`, only if these were learnt. 0 if their noise hides every division.
    privacy_spent_ : (float, float)
        Epsilon and delta of this fit; per person if `max_rows_per_group` is given.
    n_groups_ : int
        Number of people; only if `max_rows_per_group` is given.
    B_, c_ : float
        Values used; not with "kendall".
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features; only if X has column names, which must be str.

    See Also
    --------
    PrivateSelectKBest : Publishes only the names of the k best features, with far less noise.
    DPMICScorer : Publishes scores; can be the ``score_func`` of scikit-learn's selectors.
    skdpmic.counting.RangeGridSketch : Counts of a table that arrives in pieces, for `fit_sketch`.
    private_bounds : Learns the bounds of columns about which you know nothing.
    skdpmic.plotting.ScoresDisplay : Plots the scores.
    plan_release : Plans the noise before data is collected.

    Notes
    -----
    After a fit, changing `k`, `threshold` or `fdr` costs no further budget.

    ``B="auto"`` depends on the epsilon of each score, so fits with different `epsilon` may use slightly different
    grids.

    Not covered by the guarantee: the output of `transform`, cross-validated scores, errors raised on invalid data,
    timing.

    References
    ----------
    .. [1] J. Lazarsfeld, A. Johnson and E. Adeniran, "Differentially Private Maximal Information
       Coefficients", ICML 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import DPMICSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(5000, 20))
    >>> y = (X[:, 3] - 0.5) ** 2
    >>> selector = DPMICSelector(k=1, epsilon=8, bounds=(0, 1), target_bounds=(0, 0.25)).fit(X, y)
    >>> selector.get_support(indices=True), bool(selector.scores_[3] > 0.8)
    (array([3]), True)
    >>> selector.set_params(threshold=0.6).transform(X).shape  # costs nothing more
    (5000, 1)
    """

    k: int | Literal["all"] = 10
    _: KW_ONLY
    threshold: float | str | None = None
    fdr: float | None = None
    mechanism: Literal["laplace", "gaussian", "k-norm"] = "laplace"
    B: float | Auto = "auto"
    c: float | Auto = "auto"
    correction: Correction = "miller-madow"

    def _plan(self):
        is_relative = self.threshold is not None and read_threshold(self.threshold)[1]
        plan = scores_plan(self, tuple(MECHANISMS), self.k if self._keeps_k() else None, is_relative)
        check_k(self.k)
        self._check_fdr()
        return plan

    def _check_fdr(self):
        if self.fdr is None:
            return
        statistic = statistic_named(self.statistic, self.correction)
        changes_scores = self.classes is None or not statistic.is_explained_by_shares
        reasons = {
            "with target_shares, whose errors are not known": self.target_shares is not None and changes_scores,
            f"with statistic={quoted(self.statistic)}, whose scores have no p-values": not statistic.has_p_values,
            "or a number in (0, 1)": not is_number(self.fdr) or not 0 < self.fdr < 1,
            "if threshold is given": self.threshold is not None,
            "with max_weight, because scores of weighted rows have no p-values": self.max_weight is not None,
            f"with max_rows_per_group={quoted(self.max_rows_per_group)}, because the rows of a person are dependent": (
                self.max_rows_per_group is not None and self.max_rows_per_group > 1
            ),
        }
        for why, is_so in reasons.items():
            require(not is_so, f"fdr must be None {why}", self.fdr)

    def _further_columns(self):
        if not self._keeps_k() or not hasattr(self._noise, "law") or self.privacy_spent_[0] == math.inf:
            return {}
        k = n_to_keep(self.k, self.n_features_in_)
        return {"among_best": chances_among_best(self.scores_, self.null_scores_, self._noise.law, k)}

    def _keeps_k(self):
        return self.threshold is None and self.fdr is None

    def _get_support_mask(self):
        check_published(self)
        if self.fdr is not None:
            return self._discoveries()
        if self.threshold is not None:
            return self._reaching_threshold()
        return self.ranking_ <= n_to_keep(self.k, self.n_features_in_)

    def _reaching_threshold(self):
        """The features with a score of at least the threshold."""
        least, is_relative = read_threshold(self.threshold)
        if not is_relative:
            return self.scores_ >= least
        if not hasattr(self, "largest_possible_score_"):
            raise ValueError(
                f"threshold must be a number after this fit, whose largest possible score is not known, got "
                f"{quoted(self.threshold)}."
            )
        return share_of_possible(self.scores_, self.largest_possible_score_) >= least

    def _release(self, plan, records):
        """Release, then warn if the threshold keeps nothing."""
        super()._release(plan, records)
        if self.threshold is None or self._reaching_threshold().any():
            return self
        largest, remedy = in_short(self.scores_.max()), "Lower the threshold"
        if hasattr(self, "largest_possible_score_"):
            largest += f", of {in_short(self.largest_possible_score_)} possible with these shares of the classes"
            remedy += ", or make it a share of the largest possible score, such as threshold='0.5*possible'"
        elif self.classes is not None:
            remedy = "Scores of classes that are not equally common do not reach 1: lower the threshold"
        warn(
            f"no feature is kept by threshold={quoted(self.threshold)}: the largest released score is {largest}. "
            f"{remedy}. Changing it by set_params costs nothing."
        )
        return self

    def _discoveries(self):
        """The features selected by Benjamini-Hochberg, or by Benjamini-Yekutieli if the noise is dependent."""
        self._check_fdr()
        try:
            p_values = self.p_values()
        except AttributeError as error:
            raise ValueError(f"fdr must be None after this fit, got {quoted(self.fdr)}: {error}") from None
        has_common_error = self._null_model.measure.has_common_error
        method = "bh" if self._noise.is_independent and not has_common_error else "by"
        return stats.false_discovery_control(p_values, method=method) <= self.fdr


_CRITERIA = ("single", "joint", "auto")


@dataclass(eq=False, repr=False)
class PrivateSelectKBest(ColumnSelectionMixin, PrivateScoring):
    """Select the k best features under differential privacy, and publish their names, not their scores.

    Features are scored by a measure of their dependence on the target. The release consists of the names of the k
    features with the largest scores, in order, and of the gaps between these scores where they cost nothing (`gaps_`);
    the scores are not released. This needs far less noise than publishing scores. It satisfies epsilon-differential
    privacy: replacing one record (one row of X and y; with `max_rows_per_group`, all rows of one person) changes the
    probability of any outcome by a factor of at most exp(epsilon). With `delta`, it satisfies (epsilon,
    delta)-differential privacy.

    Parameters
    ----------
    k : int or "all"
        Number of features to choose, in addition to those of `keep`; at least 1, and less than the number of those to
        choose from, or nothing would be chosen. "all" publishes their order. The noise grows with it.
    statistic : str, default="mtv_r"
        Measure of dependence on the target; scores are in [0, 1]. "mtv_r", :func:`mtv_r`, is a total variation and
        finds dependence of any shape. "mic_r" is the Maximal Information Coefficient, :func:`mic_r`; it needs about six
        times the epsilon. "kendall" finds monotonic trends. It uses ranks: it needs neither `bounds` nor
        `target_bounds`, and does not support chunks, sketches or dask collections, nor more than two classes, which are
        in ascending order of their labels.
    epsilon : float, default=1.0
        Privacy budget of one `fit`, for everything it releases; above 0. Infinity adds no noise.
    delta : float, default=0.0
        How much the probability of any outcome may change beyond the factor exp(epsilon), in [0, 1). Use 0, or a value
        far below ``1 / n_samples``: this allows a second mechanism, which is used if it has less noise.
    bounds : tuple, array-like or dict, default=None
        Public ranges of numeric features, required except with "kendall"; values outside are clipped. A range
        is ``(lower, upper)``; or ``(lower, upper, "log")`` for skewed columns, which are cut into equal parts on the
        scale ``sign(x) * log(1 + abs(x))``; or three or more increasing numbers, with the same number of parts between
        each two neighbours (:func:`private_bounds` learns these); or, for integers, ``range(1, 6)``, which holds 1 to
        5: other numbers count as the nearest of them, halves up. Columns of dates or durations need bounds of dates or
        durations. A single range applies to all features not in `categories`; a dict gives one range per feature, by
        name, or by number if X is an array; ``(lower, upper)`` may also be two arrays of shape (n_features,).
    categories : dict, default=None
        Public labels of nominal features, by name, or by number if X is an array: lists of at least 2 distinct strings
        or numbers. Any other label counts as "other", which has its own bin. Together with a dict of `bounds`, it must
        cover every feature except boolean columns and columns whose type declares its labels (such as Polars Enum),
        which need no entry. With "kendall", the order of the labels matters, and text columns need labels.
    target_bounds : tuple or array-like, default=None
        Public range of a continuous target, in the form of an entry of `bounds`. Give exactly one of
        `target_bounds` and `classes`; with "kendall", a continuous target needs neither.
    classes : array-like, default=None
        All labels a discrete target can have, in any order; not in a VotingClassifier, which numbers them.
    target_shares : array-like, default=None
        Public distribution of the target, with ``statistic="mtv_r"``: the share of the records in each class, in the
        order of `classes` (in ascending order, if only a sketch has these), or in each half, quarter or eighth of
        `target_bounds`; all above 0, with a sum of 1. If None, 15% of the budget is spent on learning it
        (`target_shares_`), unless there are more than four classes. Wrong shares cost power, not privacy
        (``docs/theory/known_margin.md``).
    criterion : {"single", "joint", "auto"}, default="auto"
        How features are chosen. "single" chooses the k features with the largest scores, each scored separately.
        "joint" chooses one feature at a time: first the one with the largest single score, then always the one whose
        single score is largest, where each is moved no further than a margin for noise and chance from the smallest
        gain over any earlier choice. Copies and irrelevant features then come last, and the noise is a ninth larger
        than that of one-shot or exponential choices. It requires ``statistic="mtv_r"``, and does not support chunks or
        sketches, which are counted once. "auto" uses "joint" where it is possible, the noise on scores is at most .01
        (for 5 features, from ``n_samples * epsilon`` of about 2,600) and costs a plan at most 2% of what it finds
        (``docs/choose/redundancy.md``).
    keep : list of str or int, default=()
        Names of features to keep in any case (numbers if X is an array), such as age, sex or a treatment. The list is
        public, so it needs no noise and costs nothing. `transform` keeps them in addition to the `k` features chosen.
        With joint scores they count as chosen before the others, which are compared with them: they then need `bounds`
        or `categories`, and "auto" uses joint scores only if all have an entry. Otherwise their values are not used.
    max_rows_per_group : int, default=None
        If given, the guarantee covers all rows of a person together. `groups` in `fit` identifies the person behind
        each row, and each person contributes exactly this many rows: a sample, alike in every fit, if more,
        repeated rows if there are fewer. Noise and budget are then per person, and the number of people is public, as
        n_samples is otherwise. 1 is best with ``statistic="mic_r"``, whose noise is a tenth higher from 2 on. With the
        others, use the number of rows that people have: they find more, for the same noise
        (``docs/theory/people.md``).
    max_weight : float, default=None
        If given, rows have survey weights (`sample_weight` of `fit`), which are clipped to this public number. The
        scores are then those of the population that the rows represent. With ``statistic="mtv_r"`` only. The noise is
        the same as without weights, but scores are multiplied by the mean weight over `max_weight`; a few times the
        mean weight is a good choice (``docs/choose/survey_weights.md``).
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
        Rank of each feature by private score minus `null_scores_`; 1 is the best. Features that were not chosen share
        the next rank; those of `keep` have 0.
    null_scores_ : ndarray of shape (n_features,)
        Mean score of a feature of the same kind (such as numbers or labels) that is independent of y, simulated from
        public numbers only. 0 if all features are of one kind.
    n_ranked_ : int
        Number of ranks that were released: those of the k features chosen.
    gaps_ : ndarray of shape (k - 1,)
        Noisy difference between the private scores (minus `null_scores_`) of each chosen feature and the next one
        chosen; empty if one was chosen. Only with ``mechanism_="one-shot"``, where it costs nothing more. A gap above
        ``3 * noise_scale_`` is clear: if any later feature, chosen or not, were as good, a gap that large would have a
        probability of at most 5% (``docs/theory/top_k.md``).
    criterion_ : {"single", "joint"}
        How the features were chosen.
    mechanism_ : {"one-shot", "k-norm", "permute-and-flip", "exponential"}
        Mechanism that chose the features; it depends on public numbers only. "one-shot" adds exponential noise once,
        and needs no delta. "k-norm" adds noise in a cube to all scores, and needs no delta; it is used where it has at
        most two thirds of the noise: from about half of the features on. "permute-and-flip" adds exponential noise
        again for each choice by joint scores, and needs no delta. "exponential" applies the exponential mechanism k
        times, where `delta` > 0 makes that less noisy.
    noise_scale_ : float
        Scale of the noise on each score: one-sided exponential noise, or Gumbel noise with the exponential mechanism;
        the standard deviation of noise in a cube. With "one-shot" it is ``2 k / epsilon`` times the sensitivity of a
        score; epsilon here is the budget that remains after the target's share.
    epsilon_per_feature_ : float
        Sensitivity of a score over the standard deviation of the noise: ``epsilon / (2 k)`` for the one-shot mechanism,
        with epsilon as in `noise_scale_`.
    target_shares_ : ndarray of shape (n_classes,) or (2,)
        With ``statistic="mtv_r"``, the noisy share of the records in each class, in ascending order of the labels, or
        on either side of `target_cut_`, learnt with 15% of the budget; or `target_shares`, if given. See
        `target_shares_interval` for their error. Not set with more than four classes.
    target_cut_ : float, datetime64 or timedelta64
        Cut point of a continuous target whose shares were learnt: the middle of `target_bounds`, or, if ``n_samples *
        epsilon`` is 334 or more, a value near the median, learnt with half of that budget. Records equal to it count as
        above it.
    mean_weight_ : float
        Noisy mean weight of the rows; only with `max_weight`, if `target_shares_` were learnt.
    privacy_spent_ : (float, float)
        Epsilon and delta of this fit; per person if `max_rows_per_group` is given.
    n_groups_ : int
        Number of people; only if `max_rows_per_group` is given.
    B_, c_ : float
        Values used (``benchmarks/results/defaults.md``); not with "kendall".
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features; only if X has column names, which must be str.

    See Also
    --------
    DPMICSelector : Publishes all scores, and keeps the best features or those above a threshold.
    DPMICScorer : Publishes scores.
    skdpmic.counting.RangeGridSketch : Counts of a table that arrives in pieces, for `fit_sketch`.
    private_bounds : Learns the bounds of columns about which you know nothing.
    skdpmic.plotting.GapsDisplay : Plots the gaps between the features chosen.
    plan_release : Plans the noise before data is collected.

    Notes
    -----
    After a fit, a smaller `k` costs no further budget.

    With joint scores, a LazyFrame or dask collection is read once more for each feature chosen except the last, and
    must return the same rows each time.

    Not covered by the guarantee: the output of `transform`, cross-validated scores, errors raised on invalid data,
    timing.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import PrivateSelectKBest
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(5000, 20))
    >>> y = (X[:, 3] - 0.5) ** 2
    >>> selector = PrivateSelectKBest(k=1, epsilon=1, bounds=(0, 1), target_bounds=(0, 0.25))
    >>> selector.fit(X, y).get_support(indices=True)
    array([3])
    >>> selector.transform(X).shape
    (5000, 1)

    If one column repeats another, joint scores choose a new feature instead of the copy:

    >>> X[:, 4], y = X[:, 3], y + 0.2 * X[:, 5]
    >>> public = {"epsilon": 5, "bounds": (0, 1), "target_bounds": (0, 0.45)}
    >>> ways = [PrivateSelectKBest(2, criterion=way, **public).fit(X, y) for way in ("single", "joint")]
    >>> ways[0].get_support(indices=True).tolist(), 5 in ways[1].get_support(indices=True)
    ([3, 4], True)

    With five rows from each of a thousand people:

    >>> selector.set_params(max_rows_per_group=1).fit(X, y, groups=np.arange(5000) // 5).n_groups_
    1000
    """

    k: int | Literal["all"]
    _: KW_ONLY
    statistic: str = "mtv_r"
    target_shares: ColumnLike | None = None
    criterion: Literal["single", "joint", "auto"] = "auto"
    keep: Sequence[str | int] | NDArray[Any] = ()

    def _plan(self):
        check_k(self.k)
        check_keep(self.keep)
        if not isinstance(self.criterion, str) or self.criterion not in _CRITERIA:
            raise ValueError(f"criterion must be one of {list(_CRITERIA)}, got {quoted(self.criterion)}.")
        if self.criterion == "joint" and self.statistic != "mtv_r":
            raise ValueError(
                f"criterion must be 'single' or 'auto' with statistic={quoted(self.statistic)}, got 'joint': only "
                "'mtv_r' scores features together."
            )
        described = {*(self.bounds if isinstance(self.bounds, dict) else self.keep), *(self.categories or {})}
        can_be_compared = self.statistic == "mtv_r" and described.issuperset(self.keep)  # others, with those of `keep`
        reads_kept = can_be_compared if self.criterion == "auto" else self.criterion == "joint"
        names = {"k": self.k, "criterion": self.criterion, "keep": self.keep, "reads_kept": reads_kept}
        return scoring_plan(self, MeasureParameters(), can_be_joint=reads_kept, **names)

    def _further_columns(self):
        if not hasattr(self, "gaps_"):
            return {}
        columns = {name: np.full(self.n_features_in_, np.nan) for name in ("gap", "among_best")}
        order = best_first(self.ranking_)
        columns["gap"][order[: len(self.gaps_)]] = self.gaps_
        k = min(n_to_keep(self.k, np.count_nonzero(self.ranking_)), self.n_ranked_)
        sure = confidence_among_best(self.gaps_[: k - 1], self.noise_scale_)
        columns["among_best"][order[:k][sure > 0]] = sure[sure > 0]
        return columns

    def _get_support_mask(self):
        check_published(self)
        n_kept = n_to_keep(self.k, np.count_nonzero(self.ranking_))
        if n_kept > self.n_ranked_:
            raise ValueError(
                f"k must be at most {self.n_ranked_}, the number of features whose names were published, got "
                f"{quoted(self.k)}: fit again, which costs its own budget."
            )
        support = (self.ranking_ > 0) & (self.ranking_ <= n_kept)
        support[list(kept_columns(self.keep, self.n_features_in_, getattr(self, "feature_names_in_", None)))] = True
        return support


def read_threshold(threshold):
    """The least score kept, and whether it is a share of the largest possible one; a ValueError if it is invalid."""
    value, is_relative = threshold, isinstance(threshold, str)
    if is_relative:
        part, _, of = threshold.partition("*")
        with suppress(ValueError):  # raised below, with the allowed values
            value = float(part) if of.strip() == "possible" else None
    if not is_number(value) or not 0 <= value <= 1:
        raise ValueError(
            "threshold must be None, a number in [0, 1], or a share of the largest possible score, such as "
            f"'0.5*possible', got {quoted(threshold)}."
        )
    return float(value), is_relative


# --- Draws of the noise-free scores ----------------------------------------------------------------------------------
#
# The prior of each score is uniform on [0, 1], independently. A score between 0 and 1 is the truth plus noise; a
# score clamped to 0 or 1 only shows that the truth plus noise lay beyond. All of this is post-processing of released
# scores. Noise in a cube is independent given the size of the cube, so the size is drawn first, from its distribution
# given all scores.


_REACH = 40  # noise beyond this many scales has probability exp(-40)
_N_NODES, _N_NODES_OF_CUBES = 4001, 1001
_N_AT_ONCE = 1_000_000  # numbers
_MOST_NUMBERS = 10_000_000  # drawn to estimate which features are among the best


def chances_among_best(scores, null_scores, law, k):
    """The probability that each feature is among the best k without noise, given the released scores: (n_features,).

    Parameters
    ----------
    scores : ndarray of shape (n_features,)
        Released scores, clamped to [0, 1].
    null_scores : ndarray of shape (n_features,)
        Public amounts that are subtracted from the scores before they are compared.
    law : frozen continuous distribution of scipy or CubeLaw
        Distribution of the noise, symmetric around 0.
    k : int
    """
    n_draws = max(min(1000, _MOST_NUMBERS // len(scores)), 1)
    truths = draw_truths(scores, law, n_draws, np.random.default_rng(0)) - null_scores
    best = np.argpartition(-truths, k - 1, axis=1)[:, :k]
    return np.bincount(best.ravel(), minlength=len(scores)) / n_draws


def draw_truths(scores, law, n_draws, random):
    """Noise-free scores, drawn from their distribution given the released scores.

    Parameters
    ----------
    scores : ndarray of shape (n_features,)
        Released scores, clamped to [0, 1].
    law : frozen continuous distribution of scipy or CubeLaw
        Distribution of the noise, symmetric around 0.
    n_draws : int
    random : numpy Generator

    Returns
    -------
    ndarray of shape (n_draws, n_features)
        In [0, 1].
    """
    scores = np.asarray(scores, dtype=np.float64)
    chances = random.random((n_draws, len(scores)))
    if isinstance(law, CubeLaw):
        return _truths_in_cubes(scores, _half_widths(scores, law, n_draws, random)[:, np.newaxis], chances)
    # The truth is in [0, 1] if the noise is between scores - 1 and scores.
    least, largest = law.cdf(scores - 1), law.cdf(scores)
    truths = np.clip(scores - law.ppf(least + chances * (largest - least)), 0, 1)
    above_0 = _quantiles_above_clamped(law)
    truths[:, scores == 0] = above_0(chances[:, scores == 0])
    truths[:, scores == 1] = 1 - above_0(chances[:, scores == 1])
    return truths


def _quantiles_above_clamped(law):
    """Quantile function of the truth if 0 was released: its density at t is proportional to P(noise <= -t)."""
    nodes = np.linspace(0, min(1, _REACH * law.std()), _N_NODES)
    mass = cumulative_trapezoid(law.cdf(-nodes), nodes, initial=0)
    return lambda chances: np.interp(chances * mass[-1], mass, nodes)


def _truths_in_cubes(scores, m, chances):
    """Quantiles of truths if the noise is uniform on [-m, m]; m of shape (n_draws, 1).

    The truth is uniform within m of a score inside (0, 1). If 0 was released, its density is proportional to m - t.
    """
    least, largest = np.maximum(scores - m, 0), np.minimum(scores + m, 1)
    truths = least + chances * (largest - least)
    from_end = m - np.sqrt(np.maximum(m**2 - 2 * chances * _mass_above_clamped(m), 0))
    from_end = np.clip(from_end, 0, 1)
    return np.where(scores == 0, from_end, np.where(scores == 1, 1 - from_end, truths))


def _mass_above_clamped(m):
    """The integral of m - t over truths t in [0, min(m, 1)]."""
    reach = np.minimum(m, 1)
    return reach * (m - reach / 2)


def _half_widths(scores, law, n_draws, random):
    """Half-widths m of the cube of all noise, drawn from their distribution given the released scores.

    A priori m is a gamma variable of shape n_scores + 1. Its density is multiplied by the likelihood of each score, up
    to a constant: the length of the truths in [0, 1] within m of it, over 2 m; for a clamped score, the mass above,
    over 2 m. All powers of m cancel.
    """
    inside = scores[(scores > 0) & (scores < 1)]
    n_clamped = len(scores) - len(inside)

    def log_density(m):
        parts = np.array_split(m[:, np.newaxis], 1 + m.size * inside.size // _N_AT_ONCE)
        truths = [np.log(np.minimum(inside + p, 1) - np.maximum(inside - p, 0)).sum(axis=1) for p in parts]
        return np.concatenate(truths) + n_clamped * np.log(_mass_above_clamped(m)) - m / law.scale

    # The density is log-concave, with tails no heavier than those of a gamma distribution of this shape.
    shape = len(inside) + 2 * n_clamped + 1
    nodes = law.scale * np.geomspace(1e-9, shape + _REACH * np.sqrt(shape) + _REACH, _N_NODES_OF_CUBES)
    for _ in range(2):  # from the whole range to where the mass is
        logs = log_density(nodes)
        likely = np.flatnonzero(logs > logs.max() - _REACH)
        ends = nodes[max(likely[0] - 1, 0)], nodes[min(likely[-1] + 1, len(nodes) - 1)]
        nodes = np.linspace(*ends, _N_NODES_OF_CUBES)
    logs = log_density(nodes)
    mass = cumulative_trapezoid(np.exp(logs - logs.max()), nodes, initial=0)
    return np.interp(random.random(n_draws) * mass[-1], mass, nodes)


# --- Repeated choices ------------------------------------------------------------------------------------------------
