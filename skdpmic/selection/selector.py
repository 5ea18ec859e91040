"""Private scores of all features, and the features that they choose."""

import math
import numbers
from dataclasses import KW_ONLY
from typing import Literal

from scipy import stats

from skdpmic._utils.constructors import parameters
from skdpmic._utils.fitted import check_published
from skdpmic._utils.typing import Auto, Categories, ColumnLike, Correction, FromData, RandomState, Range, Ranges
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.release.repeated_choices import ReleasedScores, chances_among_best
from skdpmic.selection.column_selection import ColumnSelectionMixin, check_k, n_to_keep, warn_about_k
from skdpmic.selection.released_scores import PrivateScores


@parameters
class DPMICSelectorParameters:
    """What :class:`DPMICSelector` is told; apart from it, as type checkers cannot read its other bases."""

    k: int | Literal["all"] = 10
    _: KW_ONLY
    statistic: str = "mic_r"
    epsilon: float = 1.0
    delta: float = 0.0
    bounds: Ranges | FromData | None = None
    categories: Categories | None = None
    target_bounds: Range | FromData | None = None
    classes: ColumnLike | None = None
    target_shares: ColumnLike | Literal["learn"] | None = None
    threshold: float | None = None
    fdr: float | None = None
    mechanism: Literal["laplace", "gaussian", "k-norm"] = "laplace"
    B: float | Auto = "auto"
    c: float | Auto = "auto"
    correction: Correction = "miller-madow"
    max_rows_per_group: int | None = None
    max_weight: float | None = None
    ledger: BudgetLedger | None = None
    n_jobs: int | None = None
    verbose: int = 0
    random_state: RandomState = None


class DPMICSelector(DPMICSelectorParameters, ColumnSelectionMixin, PrivateScores):
    """Select features by a differentially private measure of their dependence on the target.

    Prefer :class:`PrivateSelectKBest` if you need the names of the best features only: it has far less noise. This
    class is for scores: all of them are published, and `threshold` and `fdr` keep as many features as deserve it. The
    measure is a Maximal Information Coefficient, as in [1]_, or another `statistic`. All scores together satisfy
    epsilon-differential privacy: replacing one record (one row of X and y; with `max_rows_per_group`, all rows of one
    person) changes the probability of any outcome by a factor of at most exp(epsilon). With `delta`, they satisfy
    (epsilon, delta)-differential privacy.

    Parameters
    ----------
    k : int or "all", default=10
        How many features to keep; at least 1.
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
        How much the probability of any outcome may change beyond that factor, in [0, 1); far below ``1 / n_samples`` if
        not 0. Must be above 0 with ``mechanism="gaussian"`` and 0 otherwise.
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
    threshold : float, default=None
        If given, keep the features whose private score reaches it, in [0, 1], and ignore `k`.
    fdr : float, default=None
        If given, keep the features that the Benjamini-Hochberg procedure keeps, applied to `p_values` at this level, in
        (0, 1), and ignore `k`: on average at most about this share of the features kept is independent of the target,
        unless scores of independent features are negatively related (``docs/choose/significance.md``). With
        ``mechanism="k-norm"``, whose noise is not independent between features, the Benjamini-Yekutieli procedure,
        which holds however features are related, and keeps fewer. Needs `max_rows_per_group` of None or 1, and no
        `threshold`.
    mechanism : {"laplace", "gaussian", "k-norm"}, default="laplace"
        How noise is added: "laplace" splits epsilon evenly over the features; "k-norm" draws the noise on all scores
        together, uniform in a cube of random size, so it adds less than half of that at 10 features and more, for the
        same epsilon and without `delta`: the better choice for two or more features, unless `delta` may be above 0;
        "gaussian" needs `delta`, and adds less noise than "laplace" from about 11 features on and less than "k-norm"
        from about 60 on.
    B : float or "auto", default="auto"
        Maximum grid size: a number of cells >= 4, or an exponent in (0, 1) for ``n_samples ** B``, or the value tuned
        for n_samples, `epsilon_per_feature_` and the number of classes (``docs/evidence/defaults.md``). A number may be
        up to n_samples, but always up to 1,000 and up to 100 for each class, and without classes never above 10,000.
    c : float or "auto", default="auto"
        How much finer than a merged partition its master partition is; above 0, and such that it has no more parts
        than a grid may have cells; "auto" as for B.
    correction : None or "miller-madow", default="miller-madow"
        Correction for what grids show by chance, with ``statistic="mic_r"``: None is the paper's MICr. "miller-madow"
        takes a public amount off each of fewer grids, as :func:`mic_r` does with it: less biased, faster, and as
        private.
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
        Privacy budget per score: ``epsilon / n_features`` with Laplace noise; with "gaussian" and "k-norm", the epsilon
        of Laplace noise on one score that has the same standard deviation.
    noise_scale_ : float
        Scale of the Laplace noise on each score; with "gaussian" and "k-norm", its standard deviation.
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
    PrivateSelectKBest : Publishes the names of the k best features only, with far less noise.
    DPMICScorer : Publishes scores, and serves as ``score_func`` of scikit-learn's selectors.
    skdpmic.counting.RangeGridSketch : Counts of a table that comes in pieces, for `fit_sketch`.
    private_bounds : Learns bounds of columns of which nothing is known.
    skdpmic.plotting.ScoresDisplay : Draws the scores.
    skdpmic.plotting.StabilityDisplay : Draws how often each feature would be chosen at another epsilon.
    plan_release : How much noise there will be, before there is data.

    Notes
    -----
    After a fit, changing `k`, `threshold` or `fdr` costs no further budget.

    ``B="auto"`` depends on the epsilon of each score, so fits with different `epsilon` may compare features by slightly
    different grids.

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

    def _check_parameters(self):
        super()._check_parameters()
        check_k(self.k)
        self._check_fdr()
        if self.threshold is not None and (
            not isinstance(self.threshold, numbers.Real) or not 0 <= self.threshold <= 1
        ):
            raise ValueError(f"threshold must be None or a number in [0, 1], got {self.threshold!r}.")

    def _check_fdr(self):
        if self.fdr is None:
            return
        if self.target_shares is not None and not self._tests_by_classes():
            raise ValueError(f"fdr must be None with target_shares, whose errors nobody knows, got {self.fdr!r}.")
        if not isinstance(self.fdr, numbers.Real) or not 0 < self.fdr < 1:
            raise ValueError(f"fdr must be None or a number in (0, 1), got {self.fdr!r}.")
        if self.threshold is not None:
            raise ValueError(f"fdr must be None where threshold is given, got {self.fdr!r}.")
        if self.max_weight is not None:
            raise ValueError(
                f"fdr must be None with max_weight, as scores of weighted rows have no p-values, got {self.fdr!r}."
            )
        if self.max_rows_per_group is not None and self.max_rows_per_group > 1:
            raise ValueError(
                f"fdr must be None with max_rows_per_group={self.max_rows_per_group!r}, as rows of a person are "
                f"dependent, got {self.fdr!r}."
            )

    def _warn(self, shape, stacklevel):
        super()._warn(shape, stacklevel + 1)
        if self._keeps_k():
            warn_about_k(self.k, shape.n_features, stacklevel + 1)

    def _n_wanted(self, n_features):
        return n_to_keep(self.k, n_features) if self._keeps_k() else None

    def _further_columns(self):
        if not self._keeps_k() or not hasattr(self._noise, "law") or self.privacy_spent_[0] == math.inf:
            return {}
        scores, k = ReleasedScores.of_estimator(self, "to_frame"), n_to_keep(self.k, self.n_features_in_)
        return {"among_best": chances_among_best(scores, k)}

    def _keeps_k(self):
        return self.threshold is None and self.fdr is None

    def _get_support_mask(self):
        check_published(self)
        if self.fdr is not None:
            return self._discoveries()
        if self.threshold is not None:
            return self.scores_ >= self.threshold
        return self.ranking_ <= n_to_keep(self.k, self.n_features_in_)

    def _discoveries(self):
        """Which features the procedure of Benjamini and Hochberg keeps, or that for dependent noise."""
        self._check_fdr()
        try:
            p_values = self.p_values()
        except AttributeError as error:
            raise ValueError(f"fdr must be None after this fit, got {self.fdr!r}: {error}") from None
        has_common_error = self._null_model.measure.has_common_error
        method = "bh" if self._noise.is_independent and not has_common_error else "by"
        return stats.false_discovery_control(p_values, method=method) <= self.fdr
