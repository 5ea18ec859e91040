"""The main selector: it publishes the names of the k best features, not their scores, with the least noise."""

from collections.abc import Sequence
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from skdpmic._utils.arguments import check_k
from skdpmic._utils.private_estimator import check_published
from skdpmic._utils.results import best_first
from skdpmic._utils.texts import quoted
from skdpmic._utils.typing import Categories, ColumnLike, FromData, RandomState, Range, Ranges
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.privacy.top_k import confidence_among_best
from skdpmic.selection.column_selection import ColumnSelectionMixin
from skdpmic.selection.scoring import PrivateScoring
from skdpmic.selection.scoring_plan import BestNames, MeasureParameters, n_to_keep, scoring_plan
from skdpmic.table.features import check_keep, kept_columns

_CRITERIA = ("single", "joint", "auto")


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
        times the epsilon. "kendall" finds monotonic trends, "chatterjee" finds functions,
        "distance_correlation" finds both, less sharply. These three use ranks: they need neither `bounds` nor
        `target_bounds`, and do not support chunks, sketches or dask collections. Kendall supports two
        classes, the other two any number, in ascending order of their labels.
    epsilon : float, default=1.0
        Privacy budget of one `fit`, for everything it releases; above 0. Infinity adds no noise.
    delta : float, default=0.0
        How much the probability of any outcome may change beyond the factor exp(epsilon), in [0, 1). Use 0, or a value
        far below ``1 / n_samples``: this allows a second mechanism, which is used if it has less noise.
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
    target_shares : array-like, default=None
        Public distribution of the target, with ``statistic="mtv_r"``: the share of the records in each class, in the
        order of `classes` (in ascending order, if only a sketch has these), or in each half, quarter or eighth of
        `target_bounds`, or on either side of `target_cut`; all above 0, with a sum of 1. If None, 15% of the budget is
        spent on learning it (`target_shares_`), unless there are more than four classes. Wrong shares cost power, not
        privacy (``docs/theory/known_margin.md``).
    target_cut : float, date or duration, default=None
        Public cut of a continuous target, inside `target_bounds`: `target_shares` are then the two shares of the
        records below it and from it on. Like them, it costs nothing. With `target_shares_` and `target_cut_` of an
        earlier fit, the scores are those that its intervals refer to.
    criterion : {"single", "joint", "auto"}, default="auto"
        How features are chosen. "single" chooses the k features with the largest scores, each scored separately.
        "joint" chooses one feature at a time: first the one with the largest single score, then always the one whose
        smallest gain over any earlier choice is largest; the more noise there is, the more its single score also
        counts. Copies and irrelevant features then come last, and the noise is a ninth larger than that of one-shot or
        exponential choices. It requires ``statistic="mtv_r"``, and does not support chunks or sketches, which are
        counted once. "auto" uses "joint" where it is possible and there is hardly any noise: for 5 features, from
        ``n_samples * epsilon`` of about 120,000 (``docs/choose/redundancy.md``).
    keep : list of str or int, default=()
        Names of features to keep in any case (numbers if X is an array), such as age, sex or a treatment. The list is
        public, so it needs no noise and costs nothing. `transform` keeps them in addition to the `k` features chosen.
        With joint scores they count as chosen before the others, which are compared with them: they then need `bounds`
        or `categories`, and "auto" uses joint scores only if all have an entry. Otherwise their values are not used.
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
        epsilon`` is 334 or more, a value near the median, learnt with half of that budget; or `target_cut`, if given.
        Records equal to it count as above it.
    mean_weight_ : float
        Noisy mean weight of the rows; only with `max_weight`, if `target_shares_` were learnt.
    privacy_spent_ : (float, float)
        Epsilon and delta of this fit; per person if `max_rows_per_group` is given.
    n_groups_ : int
        Number of people; only if `max_rows_per_group` is given.
    B_, c_ : float
        Values used (``benchmarks/results/defaults.md``); not with rank statistics.
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

    def __init__(
        self,
        k: int | Literal["all"],
        *,
        statistic: str = "mtv_r",
        epsilon: float = 1.0,
        delta: float = 0.0,
        bounds: Ranges | FromData | None = None,
        categories: Categories | None = None,
        target_bounds: Range | FromData | None = None,
        classes: ColumnLike | None = None,
        target_shares: ColumnLike | None = None,
        target_cut: Any = None,
        criterion: Literal["single", "joint", "auto"] = "auto",
        keep: Sequence[str | int] | NDArray[Any] = (),
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
        self.criterion = criterion
        self.keep = keep
        self.max_rows_per_group = max_rows_per_group
        self.max_weight = max_weight
        self.ledger = ledger
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @property
    def scores_(self) -> NoReturn:
        """Not available: only names are published, and the gaps between them."""
        raise AttributeError(
            f"{type(self).__name__} publishes names, and gaps between them (gaps_), but no scores: DPMICSelector "
            'publishes scores, with the least noise as DPMICSelector(k, statistic="mtv_r", mechanism="k-norm", ...).'
        )

    def _plan(self):
        check_k(self.k)
        check_keep(self.keep)
        _check_criterion(self.criterion, self.statistic)
        reads_kept = self._reads_kept()
        can_be_joint = self.statistic == "mtv_r" and reads_kept
        names = BestNames(self.k, self.criterion, self.keep, can_be_joint)
        return scoring_plan(self, MeasureParameters(), names, reads_kept)

    def _reads_kept(self):
        """Whether other features can be compared with those of `keep`."""
        if self.criterion != "auto":
            return self.criterion == "joint"
        described = {*(self.bounds if isinstance(self.bounds, dict) else self.keep), *(self.categories or {})}
        return self.statistic == "mtv_r" and described.issuperset(self.keep)

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


def _check_criterion(criterion, statistic):
    if not isinstance(criterion, str) or criterion not in _CRITERIA:
        raise ValueError(f"criterion must be one of {list(_CRITERIA)}, got {quoted(criterion)}.")
    if criterion == "joint" and statistic != "mtv_r":
        raise ValueError(
            f"criterion must be 'single' or 'auto' with statistic={quoted(statistic)}, got 'joint': only 'mtv_r' "
            "scores features together."
        )
