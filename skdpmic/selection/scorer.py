"""Private scores of all features: the estimator and its function forms."""

from dataclasses import dataclass
from typing import Any, Literal

from scipy import sparse
from sklearn.base import OneToOneFeatureMixin, TransformerMixin

from skdpmic._utils.private_estimator import check_published, never_cached
from skdpmic._utils.typing import (
    Auto,
    BesideTable,
    ColumnLike,
    Correction,
    Floats,
    FromData,
    Range,
    Ranges,
    TableLike,
)
from skdpmic.privacy.mechanisms import MECHANISMS
from skdpmic.selection.scoring import PrivateScores, scores_plan
from skdpmic.statistics.mic.noisy_tables import GeometricMechanism
from skdpmic.table.reading import read_numbers


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
        sixth of the epsilon. "kendall" finds monotonic trends, "chatterjee" finds functions,
        "distance_correlation" finds both, less sharply. These three use ranks: they need neither `bounds` nor
        `target_bounds`, ignore `B` and `c`, and do not support chunks, sketches or dask collections. Kendall
        supports two classes, the other two any number, in ascending order of their labels.
    epsilon : float, default=1.0
        Privacy budget of one `fit`, for everything it releases; above 0. Infinity adds no noise.
    delta : float, default=0.0
        How much the probability of any outcome may change beyond the factor exp(epsilon), in [0, 1). If not 0, choose
        it far below ``1 / n_samples``. Must be above 0 with ``mechanism="gaussian"`` and 0 otherwise.
    bounds : tuple, array-like or dict, default=None
        Public ranges of numeric features, required unless the statistic uses ranks; values outside are clipped. A range
        is ``(lower, upper)``; or ``(lower, upper, "log")`` for skewed columns, which are cut into equal parts on the
        scale ``sign(x) * log(1 + abs(x))``; or three or more increasing numbers, with the same number of parts between
        each two neighbours (:func:`private_bounds` learns these). Columns of dates or durations need bounds of dates or
        durations. A single range applies to all features not in `categories`; a dict gives one range per feature, by
        name, or by number if X is an array; ``(lower, upper)`` may also be two arrays of shape (n_features,). "data"
        reads the range from X, which breaks the guarantee and warns.
    categories : dict, default=None
        Public labels of nominal features, by name, or by number if X is an array: lists of at least 2 distinct strings
        or numbers. Any other label counts as "other", which has its own bin. Together with a dict of `bounds`, it must
        cover every feature except boolean columns and columns whose type declares its labels (such as Polars Enum),
        which need no entry. With rank statistics, the order of the labels matters, and text columns need labels.
    target_bounds : tuple or array-like, default=None
        Public range of a continuous target, in the form of an entry of `bounds`, or "data". Give exactly one of
        `target_bounds` and `classes`; rank statistics of a continuous target need neither.
    classes : array-like, default=None
        All labels a discrete target can have, in any order, or "data"; not in a VotingClassifier, which numbers them.
    target_shares : array-like or "learn", default=None
        Public distribution of the target, with ``statistic="mtv_r"``: the share of the records in each class, in the
        order of `classes` (in ascending order, if only a sketch has these), or in each half, quarter or eighth of
        `target_bounds`, or on either side of `target_cut`; all above 0, with a sum of 1. If None, 15% of the budget is
        spent on learning it (`target_shares_`), unless there are more than four classes. Wrong shares cost power, not
        privacy (``docs/theory/known_margin.md``). With "kendall" and two classes: the shares of the classes in the
        records, or in the population they were sampled from. Scores do not depend on them, but p-values do: they are
        smaller for rarer classes, and valid only if the shares are right. "learn" spends 15% of the budget on these
        shares; None spends nothing, and learns them only if epsilon is infinite. With "mic_r" and `classes`, shares
        only determine `largest_possible_score_`.
    target_cut : float, date or duration, default=None
        Public cut of a continuous target, inside `target_bounds`: `target_shares` are then the two shares of the
        records below it and from it on. Like them, it costs nothing. With `target_shares_` and `target_cut_` of an
        earlier fit, the scores are those that its intervals refer to.
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
        n_samples is otherwise. 1 is best with ``statistic="mic_r"``, whose noise is a tenth higher from 2 on, and with
        "chatterjee". With the others, use the number of rows that people have: they find more, for the same noise
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
        `target_shares_interval` for their error. Not set with more than four classes. With "kendall", see
        `target_shares`.
    target_cut_ : float, datetime64 or timedelta64
        Cut point of a continuous target whose shares were learnt: the middle of `target_bounds`, or, if ``n_samples *
        epsilon`` is 334 or more, a value near the median, learnt with half of that budget; or `target_cut`, if given.
        Records equal to it count as above it.
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
        Values used; not with rank statistics.
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
            The result of `p_values`, for `SelectFdr`, `SelectFpr` and `SelectFwe`. With ``mechanism="geometric"``,
            which has no p-values, only the scores are returned.

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
    bounds: Ranges | FromData | None = None,
    target_bounds: Range | FromData | None = None,
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
        Public ranges of numeric features, as in :class:`DPMICScorer`; required unless the statistic uses ranks.
    target_bounds : tuple or array-like, default=None
        Public range of the target; required unless the statistic uses ranks.
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
    bounds: Ranges | FromData | None = None,
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
        Public ranges of numeric features, as in :class:`DPMICScorer`; required unless the statistic uses ranks.
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
