"""Private scores of all features: the estimator and its function forms."""

from dataclasses import KW_ONLY
from typing import Any, Literal

from scipy import sparse
from sklearn.base import OneToOneFeatureMixin, TransformerMixin

from skdpmic._utils.constructors import parameters
from skdpmic._utils.fitted import check_published
from skdpmic._utils.no_cache import never_cached
from skdpmic._utils.typing import (
    Auto,
    BesideTable,
    Categories,
    ColumnLike,
    Correction,
    Floats,
    FromData,
    RandomState,
    Range,
    Ranges,
    TableLike,
)
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.selection.released_scores import PrivateScores
from skdpmic.statistics.mic.noisy_tables import GeometricMechanism
from skdpmic.table.reading import read_numbers


@parameters
class DPMICScorerParameters:
    """What :class:`DPMICScorer` is told; apart from it, as type checkers cannot read its other bases."""

    _: KW_ONLY
    statistic: str = "mic_r"
    epsilon: float = 1.0
    delta: float = 0.0
    bounds: Ranges | FromData | None = None
    categories: Categories | None = None
    target_bounds: Range | FromData | None = None
    classes: ColumnLike | None = None
    target_shares: ColumnLike | Literal["learn"] | None = None
    mechanism: Literal["laplace", "gaussian", "k-norm", "geometric"] = "laplace"
    B: float | Auto = "auto"
    c: float | Auto = "auto"
    correction: Correction = "miller-madow"
    max_rows_per_group: int | None = None
    max_weight: float | None = None
    ledger: BudgetLedger | None = None
    n_jobs: int | None = None
    verbose: int = 0
    random_state: RandomState = None


class DPMICScorer(DPMICScorerParameters, OneToOneFeatureMixin, TransformerMixin, PrivateScores):
    """Score features by a differentially private measure of their dependence on the target.

    A score is a Maximal Information Coefficient, which finds dependence of any shape, or another `statistic`, with
    noise. All scores together are released under epsilon-differential privacy: replacing one record (one row of X and
    y; with `max_rows_per_group`, all rows of one person) changes the probability of any outcome by a factor of at most
    exp(epsilon). With `delta`, they are released under (epsilon, delta)-differential privacy.

    Parameters
    ----------
    statistic : str, default="mic_r"
        What a score is, always in [0, 1]. "mic_r" is the Maximal Information Coefficient, :func:`mic_r`. "mtv_r",
        :func:`mtv_r`, uses total variation instead, and also finds dependence of any shape, at about a sixth of the
        epsilon. "kendall" and "spearman" find monotonic trends, "chatterjee" finds functions, "distance_correlation"
        both, less sharply; these four use ranks, so they need neither `bounds` nor `target_bounds`, ignore `B` and `c`,
        and cannot be scored from chunks, sketches or dask collections. Kendall and Spearman allow two classes, the
        other two any number, in ascending order of their labels.
    epsilon : float, default=1.0
        Privacy budget of one `fit`, for all that it releases together; above 0. Infinity adds no noise.
    delta : float, default=0.0
        How much the probability of any outcome may change beyond that factor, in [0, 1); far below ``1 / n_samples``
        if not 0. Must be above 0 with ``mechanism="gaussian"`` and 0 otherwise.
    bounds : tuple, array-like or dict, default=None
        Public ranges of numeric features, required unless the statistic uses ranks; values outside are clipped. A range
        is ``(lower, upper)``; ``(lower, upper, "log")``, for skewed columns, cut evenly in
        ``sign(x) * log(1 + abs(x))``; or three or more increasing numbers, with equally many parts between neighbours
        (:func:`private_bounds` learns these). Columns of dates or durations have bounds of dates or durations. A single
        range is for all features that are not in `categories`; a dict has one for each, by name or number; and
        ``(lower, upper)`` may be two arrays of shape (n_features,). "data" reads the range from X, which breaks the
        guarantee, and warns.
    categories : dict, default=None
        Public labels of nominal features, by name or number: lists of at least 2 different texts or numbers. A label
        that is not among them is "other", which has its own bin. Together with a dict of `bounds` it covers every
        feature, except columns of booleans and of types that declare their labels (Enum of Polars), which need no
        entry. With ranks, the order of the labels counts, and labels of text columns are required.
    target_bounds : tuple or array-like, default=None
        Public range of a continuous target, like an entry of `bounds`, or "data". Give exactly one of `target_bounds`
        and `classes`; rank statistics of a continuous target need neither.
    classes : array-like, default=None
        All labels that a discrete target can have, in any order, or "data".
    target_shares : array-like or "learn", default=None
        What is publicly known of the target, with ``statistic="mtv_r"``: the share of the records of each class, in the
        order of `classes`, or in each half, quarter or eighth of `target_bounds`; above 0, with a sum of 1. If it is
        None, 15% of the budget is spent on what is to be known (`target_shares_`), unless there are more than four
        classes. Shares that are wrong cost power, not privacy (``docs/theory/known_margin.md``). With "kendall" and
        "spearman", of two classes: their shares of the records, or of the population that these were drawn from.
        Scores do not depend on them, but p-values, which are smaller the rarer a class is, hold only if they are right.
        "learn" spends 15% of the budget on them, for that; None, nothing, except where epsilon is infinite.
    mechanism : {"laplace", "gaussian", "k-norm", "geometric"}, default="laplace"
        How noise is added: "laplace" splits epsilon evenly over the features; "k-norm" draws the noise on all scores
        together, uniform in a cube of random size, so it adds less than half of that at 10 features and more, for the
        same epsilon and without `delta`: the better choice for two or more features, unless `delta` may be above 0;
        "gaussian" needs `delta`, and adds less noise than "laplace" from about 11 features on and less than "k-norm"
        from about 60 on; "geometric" adds noise to one table of counts for each feature, and publishes these
        `noisy_counts_`, from which the scores are computed (MICr only).
    B : float or "auto", default="auto"
        Maximum grid size: a number of cells >= 4, or an exponent in (0, 1) for ``n_samples ** B``, or the value tuned
        for n_samples, `epsilon_per_feature_` and the number of classes (``docs/evidence/defaults.md``). A number may be
        up to n_samples, but always up to 1,000 and up to 100 for each class, and without classes never above 10,000.
    c : float or "auto", default="auto"
        How much finer than a merged partition its master partition is; above 0, and such that it has no more parts
        than a grid may have cells; "auto" as for B. With
        ``mechanism="geometric"``, how much finer the noisy table is than the finest square grid, as in
        :func:`private_score`.
    correction : None or "miller-madow", default="miller-madow"
        Correction for what grids show by chance, with ``statistic="mic_r"``: None is the paper's MICr. "miller-madow"
        takes a public amount off each of fewer grids, as :func:`mic_r` does with it: less biased, faster, and as
        private. ``mechanism="geometric"`` has a correction of its own.
    max_rows_per_group : int, default=None
        If given, each person is protected as a whole, with all their rows: `groups` tells `fit` whose row each one is,
        and everybody counts for exactly this many rows, drawn at random if there are more, repeated if there are fewer.
        Noise and budget are then per person, and the number of people is public, as n_samples otherwise is. 1 is best
        with ``statistic="mic_r"``, whose noise is a tenth higher from 2 on, and with "chatterjee"; the others find more
        with as many as people have, for the same noise (``docs/theory/people.md``).
    max_weight : float, default=None
        If given, each row has a survey weight, `sample_weight` of `fit`, and this is the largest one that counts: a
        public number, to which larger ones are clipped. What is chosen is then what would be chosen for the population
        that the rows stand for. With ``statistic="mtv_r"`` only. The noise is that of rows without weights, but scores
        are as many times smaller as the mean weight is; a few times the mean is a good choice
        (``docs/choose/survey_weights.md``).
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
    scores_ : ndarray of shape (n_features,)
        Private scores in [0, 1].
    ranking_ : ndarray of shape (n_features,)
        Place of each feature by private score less `null_scores_`, 1 for the best.
    null_scores_ : ndarray of shape (n_features,)
        Where features of several kinds are compared, such as numbers and labels: what a feature of that kind scores on
        average if it has nothing to do with y, simulated from public numbers only. 0 where all are of one kind.
    epsilon_per_feature_ : float
        The budget of each score, ``epsilon / n_features``; with "gaussian" and "k-norm", the epsilon of Laplace noise
        on one score that has the same standard deviation.
    noise_scale_ : float
        Scale of the Laplace noise on each score; with "gaussian" and "k-norm", its standard deviation; with
        ``mechanism="geometric"``, scale of the noise on each count, in records.
    noisy_counts_ : ndarray of shape (n_features, n_parts, n_parts) or (n_features, n_parts, n_classes)
        Records in each part of a feature (rows) and of the target (columns), with noise; only with
        ``mechanism="geometric"``. :class:`skdpmic.plotting.NoisyCountsDisplay` draws it.
    target_shares_ : ndarray of shape (n_classes,) or (2,)
        With ``statistic="mtv_r"``, the share of the records of each class, in ascending order of the labels, or on
        either side of `target_cut_`, with noise, for which 15% of the budget is spent; or what `target_shares` was.
        `target_shares_interval` tells how far off they may be. Not with more than four classes. With "kendall" and
        "spearman", where `target_shares` says so.
    target_cut_ : float, datetime64 or timedelta64
        Of a continuous target whose shares were learnt: the middle of `target_bounds`, or, if ``n_samples * epsilon``
        is 334 or more, a value near the median, learnt with half of that budget. Records at it are above it.
    mean_weight_ : float
        The mean weight of the rows, with noise; only with `max_weight`, where `target_shares_` were learnt.
    privacy_spent_ : (float, float)
        Epsilon and delta of this fit; per person, with `max_rows_per_group`.
    n_groups_ : int
        Number of people; only with `max_rows_per_group`.
    B_, c_ : float
        The values used; not with ranks.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features; only if X has string column names.

    See Also
    --------
    DPMICSelector : Keeps the best features.
    dp_mic_classif, dp_mic_regression : Function forms.
    skdpmic.plotting.ScoresDisplay : Draws the scores.
    skdpmic.plotting.StabilityDisplay : Draws how often each feature would be chosen at another epsilon.
    skdpmic.counting.RangeGridSketch : Counts of a table that comes in pieces, for `fit_sketch`.

    Notes
    -----
    As ``score_func`` of a scikit-learn selector, the scorer is given an array without column names, so `bounds` cannot
    be a dict there. Scores clamped to 0 or 1 are ties, which such a selector breaks by column; where noise is strong,
    DPMICSelector, which ranks scores before they are clamped, chooses better.

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

    def _mechanisms(self):
        return (*super()._mechanisms(), GeometricMechanism.name)

    def __call__(self, X: TableLike, y: BesideTable) -> Floats | tuple[Floats, Floats]:
        """Fit, and return the private scores and p-values: the form that ``SelectKBest(score_func=...)`` calls.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        scores : ndarray of shape (n_features,)
            A copy of `scores_`.
        p_values : ndarray of shape (n_features,)
            Of `p_values`, for `SelectFdr`, `SelectFpr` and `SelectFwe`. With ``mechanism="geometric"``, which has none,
            only the scores are returned.

        Raises
        ------
        ValueError
            If `max_rows_per_group` or `max_weight` is given, as this call cannot say whose the rows are, nor what they
            weigh; and as in `fit`.
        """
        scores = self._scores(X, y)
        try:
            return scores, self.p_values()
        except AttributeError:  # there are none
            return scores

    def _scores(self, X, y):
        """A copy of the scores, where nobody says whose the rows are, nor what they weigh."""
        if self.max_rows_per_group is not None:
            raise ValueError(
                f"max_rows_per_group must be None where no groups can be passed, got {self.max_rows_per_group!r}: "
                "function forms, and score functions of SelectKBest and the like, get X and y only. Use DPMICSelector, "
                "or DPMICScorer.fit(X, y, groups=...)."
            )
        if self.max_weight is not None:
            raise ValueError(
                f"max_weight must be None where no sample_weight can be passed, got {self.max_weight!r}: function "
                "forms, and score functions of SelectKBest and the like, get X and y only. Use DPMICSelector, or "
                "DPMICScorer.fit(X, y, sample_weight=...)."
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

    The function form of :class:`DPMICScorer`, beside ``sklearn.feature_selection.mutual_info_regression``.

    Parameters
    ----------
    X : array-like, dataframe or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    epsilon : float
        Privacy budget for all scores together.
    bounds : tuple, array-like or dict, default=None
        Public range of features of numbers, as in :class:`DPMICScorer`; required unless the statistic uses ranks.
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

    The function form of :class:`DPMICScorer`, beside ``sklearn.feature_selection.mutual_info_classif``.

    Parameters
    ----------
    X : array-like, dataframe or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    epsilon : float
        Privacy budget for all scores together.
    bounds : tuple, array-like or dict, default=None
        Public range of features of numbers, as in :class:`DPMICScorer`; required unless the statistic uses ranks.
    classes : array-like
        All labels that the target can have, in any order.
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
