"""The front door: the names of the k best features, not their scores, with the least noise."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from skdpmic._utils.constructors import parameters
from skdpmic._utils.fitted import check_published
from skdpmic._utils.results import in_order
from skdpmic._utils.summaries import shown_scores
from skdpmic._utils.typing import Categories, ColumnLike, FromData, RandomState, Range, Ranges
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.privacy.top_k import confidence_among_best
from skdpmic.release.kinds import BestFeatures, jointly
from skdpmic.selection.column_selection import ColumnSelectionMixin, check_k, n_to_keep, warn_about_k
from skdpmic.selection.incremental import IncrementalFitMixin
from skdpmic.selection.scoring import PrivateScoring
from skdpmic.table.kept import check_keep, kept_columns
from skdpmic.table.weights import USUAL_MEAN

_CRITERIA = ("single", "joint", "auto")
_ENOUGH = 500  # "auto" is joint where a choice has noise of 2 / 500 or less: docs/theory/joint.md


@parameters
class PrivateSelectKBestParameters:
    """What :class:`PrivateSelectKBest` is told; apart from it, as type checkers cannot read its other bases."""

    k: int | Literal["all"]
    _: KW_ONLY
    statistic: str = "mtv_r"
    epsilon: float = 1.0
    delta: float = 0.0
    bounds: Ranges | FromData | None = None
    categories: Categories | None = None
    target_bounds: Range | FromData | None = None
    classes: ColumnLike | None = None
    target_shares: ColumnLike | None = None
    criterion: Literal["single", "joint", "auto"] = "auto"
    keep: Sequence[str | int] | NDArray[Any] = ()
    max_rows_per_group: int | None = None
    max_weight: float | None = None
    ledger: BudgetLedger | None = None
    n_jobs: int | None = None
    verbose: int = 0
    random_state: RandomState = None


class PrivateSelectKBest(PrivateSelectKBestParameters, ColumnSelectionMixin, IncrementalFitMixin, PrivateScoring):
    """Select the k best features under differential privacy, and publish their names, not their scores.

    Features are scored by a measure of their dependence on the target. What is released is which k features have the
    largest scores, in order, and how far these are apart where that is free (`gaps_`); no score is. That needs far less
    noise than publishing scores, and satisfies epsilon-differential privacy: replacing one record (one row of X and y;
    with `max_rows_per_group`, all rows of one person) changes the probability of any outcome by a factor of at most
    exp(epsilon). With `delta`, it satisfies (epsilon, delta)-differential privacy.

    Parameters
    ----------
    k : int or "all"
        How many features to choose, in addition to those of `keep`; at least 1. The noise grows with it.
    statistic : str, default="mtv_r"
        What a score is, always in [0, 1]. "mtv_r", :func:`mtv_r`, is a total variation, and finds dependence of any
        shape. "mic_r" is the Maximal Information Coefficient, :func:`mic_r`, at about six times the epsilon. "kendall"
        and "spearman" find monotonic trends, "chatterjee" finds functions, "distance_correlation" both, less
        sharply; these four use ranks, so they need neither `bounds` nor `target_bounds`, and cannot be scored from
        chunks, sketches or dask collections. Kendall and Spearman allow two classes, the other two any number, in
        ascending order of their labels.
    epsilon : float, default=1.0
        Privacy budget of one `fit`, for all that it releases together; above 0. Infinity adds no noise.
    delta : float, default=0.0
        How much the probability of any outcome may change beyond that factor, in [0, 1); far below ``1 / n_samples`` if
        not 0. It allows another mechanism, which is taken where it has less noise.
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
    target_shares : array-like, default=None
        What is publicly known of the target, with ``statistic="mtv_r"``: the share of the records of each class, in the
        order of `classes`, or in each half, quarter or eighth of `target_bounds`; above 0, with a sum of 1. If it is
        None, 15% of the budget is spent on what is to be known (`target_shares_`), unless there are more than four
        classes. Shares that are wrong cost power, not privacy (``docs/theory/known_margin.md``).
    criterion : {"single", "joint", "auto"}, default="auto"
        What a feature is chosen by. "single" takes the k that tell most of the target, each by itself. "joint" takes
        one after the other: the first tells most by itself; each later one adds most to the one of those before it that
        it adds least to. So copies and junk come last, and the noise is larger by a ninth only; scores of
        ``statistic="mtv_r"`` alone can do it, and not those of chunks or sketches, which are counted once. "auto"
        takes "joint" where it is possible and the noise is small enough: for 5 features, from
        ``n_samples * epsilon`` of about 6,000 on (``docs/choose/redundancy.md``).
    keep : list of str or int, default=()
        Names or numbers of features that are wanted in any case, such as age, sex or a treatment: public, without
        noise and at no cost. They are in the output of `transform`, in addition to the `k` that are chosen, and with
        joint scores they count as chosen before. Those are compared with them, so they need `bounds` or `categories`
        then, and with "auto" joint scores are taken only if all have an entry. Otherwise nothing of them is looked at.
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
    ranking_ : ndarray of shape (n_features,)
        Place of each feature, 1 for the best, by private score less `null_scores_`; all features that were not chosen
        share the next place, and those of `keep` have 0.
    null_scores_ : ndarray of shape (n_features,)
        Where features of several kinds are compared, such as numbers and labels: what a feature of that kind scores on
        average if it has nothing to do with y, simulated from public numbers only. 0 where all are of one kind.
    n_ranked_ : int
        How many places of `ranking_` were released: the k chosen.
    gaps_ : ndarray of shape (k - 1,)
        How much larger the private score of each chosen feature, less its `null_scores_`, is than that of the next one
        chosen, with noise; empty if one was chosen. Only with ``mechanism_="one-shot"``, where this costs nothing more.
        A gap above ``3 * noise_scale_`` is clear: if any feature that comes later, chosen or not, were as good, a gap
        that large would have a probability of at most 5% (``docs/theory/top_k.md``).
    criterion_ : {"single", "joint"}
        What the features were chosen by.
    mechanism_ : {"one-shot", "permute-and-flip", "exponential"}
        What chose the features. "one-shot" adds exponential noise once and needs no delta; so does "permute-and-flip",
        which draws it anew for each choice by joint scores; "exponential" chooses k times by the exponential mechanism,
        where `delta` > 0 makes that less noisy. Which one it is follows from public numbers.
    noise_scale_ : float
        Scale of the noise on each score: of one-sided exponential noise, or of Gumbel noise with the exponential
        mechanism. With "one-shot" it is ``2 k / epsilon`` times the sensitivity of a score, for what is left of epsilon
        where a part of it is for the target.
    epsilon_per_feature_ : float
        Sensitivity of a score over the standard deviation of the noise, which is ``epsilon / (2 k)`` for the one-shot
        mechanism, for what is left of epsilon.
    target_shares_ : ndarray of shape (n_classes,) or (2,)
        With ``statistic="mtv_r"``, the share of the records of each class, in ascending order of the labels, or on
        either side of `target_cut_`, with noise, for which 15% of the budget is spent; or what `target_shares` was.
        `target_shares_interval` tells how far off they may be. Not with more than four classes.
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
        The grids used (``docs/evidence/defaults.md``); not with ranks.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features; only if X has string column names.

    See Also
    --------
    DPMICSelector : Publishes all scores, and keeps the best features, or those above a threshold.
    DPMICScorer : Publishes scores.
    skdpmic.counting.RangeGridSketch : Counts of a table that comes in pieces, for `fit_sketch`.
    private_bounds : Learns bounds of columns of which nothing is known.
    skdpmic.plotting.GapsDisplay : Draws how clear the choice was.
    plan_release : How much noise there will be, before there is data.

    Notes
    -----
    After a fit, a smaller `k` costs no further budget.

    By joint scores, a LazyFrame or a dask collection is read once more for each feature chosen except the last, and
    has to give the same rows each time.

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

    Where one column repeats another, joint scores choose something new instead of the copy:

    >>> X[:, 4], y = X[:, 3], y + 0.2 * X[:, 5]
    >>> public = {"epsilon": 5, "bounds": (0, 1), "target_bounds": (0, 0.45)}
    >>> ways = [PrivateSelectKBest(2, criterion=way, **public).fit(X, y) for way in ("single", "joint")]
    >>> ways[0].get_support(indices=True).tolist(), 5 in ways[1].get_support(indices=True)
    ([3, 4], True)

    If these are five rows for each of a thousand people:

    >>> selector.set_params(max_rows_per_group=1).fit(X, y, groups=np.arange(5000) // 5).n_groups_
    1000
    """

    _quieter = "a smaller k"

    def _check_parameters(self):
        super()._check_parameters()
        check_k(self.k)
        check_keep(self.keep)
        self._check_criterion()

    def _check_criterion(self):
        if not isinstance(self.criterion, str) or self.criterion not in _CRITERIA:
            raise ValueError(f"criterion must be one of {list(_CRITERIA)}, got {self.criterion!r}.")
        if self.criterion == "joint" and self.statistic != "mtv_r":
            raise ValueError(
                f"criterion must be 'single' or 'auto' with statistic={self.statistic!r}, got 'joint': only 'mtv_r' "
                "scores features together."
            )

    def _check_one_pass(self):
        if self.criterion == "joint":
            raise ValueError(
                "criterion must be 'single' or 'auto' where records are counted once, in chunks or sketches, got "
                "'joint': features are counted again, together with those that are chosen. fit reads a LazyFrame or a "
                "dask collection as often as it takes."
            )

    def _release_for(self, n_features, n_groups=None):
        n_kept = len(self.keep)
        k, learns = n_to_keep(self.k, n_features - n_kept), self._learns_target()
        single = BestFeatures(self.epsilon, self.delta, k, learns=learns)
        is_joint = k + n_kept > 1 and self._chooses_jointly(single, n_groups)
        return jointly(single, n_kept) if is_joint else single

    def _n_kept(self):
        return len(self.keep)

    def _kept(self, n_features, names):
        return kept_columns(self.keep, n_features, names)

    def _facts(self):
        return replace(super()._facts(), keep=self.keep, reads_kept=self._reads_kept())

    def _reads_kept(self):
        """Whether other features may be compared with those that are kept."""
        if self.criterion != "auto":
            return self.criterion == "joint"
        described = {*(self.bounds if isinstance(self.bounds, dict) else self.keep), *(self.categories or {})}
        return self.statistic == "mtv_r" and described.issuperset(self.keep)

    def _chooses_jointly(self, release, n_groups):
        """By public numbers; without a number of people, records cannot be read again, or it is not known yet."""
        if self.criterion != "auto":
            return self.criterion == "joint"
        is_able = n_groups is not None and self.statistic == "mtv_r" and self._reads_kept()
        signal = 1.0 if self.max_weight is None else USUAL_MEAN
        return is_able and n_groups * signal * release.epsilon_per_feature >= _ENOUGH

    def _warn(self, shape, stacklevel):
        super()._warn(shape, stacklevel + 1)
        warn_about_k(self.k, shape.n_features - len(self.keep), stacklevel + 1)

    def _n_wanted(self, n_features):
        return n_to_keep(self.k, n_features - len(self.keep))

    def _further_columns(self):
        if not hasattr(self, "gaps_"):
            return {}
        columns = {name: np.full(self.n_features_in_, np.nan) for name in ("gap", "among_best")}
        order = in_order(self.ranking_)
        columns["gap"][order[: len(self.gaps_)]] = self.gaps_
        chosen, sure = self._chosen_and_sure()
        columns["among_best"][chosen[sure > 0]] = sure[sure > 0]
        return columns

    def _chosen_and_sure(self):
        """The features chosen with the k that the selector has now, and how sure it is that each is among the best."""
        k = min(n_to_keep(self.k, np.count_nonzero(self.ranking_)), self.n_ranked_)
        return in_order(self.ranking_)[:k], confidence_among_best(self.gaps_[: k - 1], self.noise_scale_)

    _shown = shown_scores

    def _get_support_mask(self):
        check_published(self)
        n_kept = n_to_keep(self.k, np.count_nonzero(self.ranking_))
        if n_kept > self.n_ranked_:
            raise ValueError(
                f"k must be at most {self.n_ranked_}, the number of features whose names were published, got "
                f"{self.k!r}: fit again, which costs its own budget."
            )
        support = (self.ranking_ > 0) & (self.ranking_ <= n_kept)
        support[list(self._kept(self.n_features_in_, getattr(self, "feature_names_in_", None)))] = True
        return support
