"""Private scores of all features, and selection by these scores."""

import math
from typing import Any, Literal

from scipy import stats

from skdpmic._utils.arguments import check_k, is_number
from skdpmic._utils.errors import warn
from skdpmic._utils.private_estimator import check_published
from skdpmic._utils.results import share_of_possible
from skdpmic._utils.texts import in_short, quoted
from skdpmic._utils.typing import Auto, Categories, ColumnLike, Correction, FromData, RandomState, Range, Ranges
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.privacy.mechanisms import MECHANISMS
from skdpmic.release.among_best import chances_among_best
from skdpmic.selection.column_selection import ColumnSelectionMixin
from skdpmic.selection.released_scores import PrivateScores, scores_plan
from skdpmic.selection.scoring_plan import n_to_keep
from skdpmic.selection.thresholds import read_threshold
from skdpmic.statistics.registry import statistic_named


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
        Privacy budget per score: ``epsilon / n_features`` with Laplace noise; with "gaussian" and "k-norm", the epsilon
        at which Laplace noise on one score has the same standard deviation.
    noise_scale_ : float
        Scale of the Laplace noise on each score; with "gaussian" and "k-norm", its standard deviation.
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

    def __init__(
        self,
        k: int | Literal["all"] = 10,
        *,
        statistic: str = "mic_r",
        epsilon: float = 1.0,
        delta: float = 0.0,
        bounds: Ranges | FromData | None = None,
        categories: Categories | None = None,
        target_bounds: Range | FromData | None = None,
        classes: ColumnLike | None = None,
        target_shares: ColumnLike | Literal["learn"] | None = None,
        target_cut: Any = None,
        threshold: float | str | None = None,
        fdr: float | None = None,
        mechanism: Literal["laplace", "gaussian", "k-norm"] = "laplace",
        B: float | Auto = "auto",
        c: float | Auto = "auto",
        correction: Correction = "miller-madow",
        max_rows_per_group: int | None = None,
        max_weight: float | None = None,
        ledger: BudgetLedger | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: RandomState = None,
    ) -> None:
        self.k = k
        self.statistic = statistic
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.categories = categories
        self.target_bounds = target_bounds
        self.classes = classes
        self.target_shares = target_shares
        self.target_cut = target_cut
        self.threshold = threshold
        self.fdr = fdr
        self.mechanism = mechanism
        self.B = B
        self.c = c
        self.correction = correction
        self.max_rows_per_group = max_rows_per_group
        self.max_weight = max_weight
        self.ledger = ledger
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _plan(self):
        is_relative = self.threshold is not None and read_threshold(self.threshold).is_relative
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
            "or a number in (0, 1)": not is_number(self.fdr) or not 0 < self.fdr < 1,
            "if threshold is given": self.threshold is not None,
            "with max_weight, because scores of weighted rows have no p-values": self.max_weight is not None,
            f"with max_rows_per_group={quoted(self.max_rows_per_group)}, because the rows of a person are dependent": (
                self.max_rows_per_group is not None and self.max_rows_per_group > 1
            ),
        }
        for why, is_so in reasons.items():
            if is_so:
                raise ValueError(f"fdr must be None {why}, got {quoted(self.fdr)}.")

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

    def _warn_of_release(self):
        """Warn if the threshold keeps nothing, which only this release shows."""
        if self.threshold is None or self._reaching_threshold().any():
            return
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
