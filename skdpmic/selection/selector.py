"""Private choice of features: the selector."""

import numbers
import warnings
from typing import Literal

from scipy import stats

from skdpmic._utils.fitted import check_published
from skdpmic._utils.typing import Auto, Categories, ColumnLike, Correction, FromData, RandomState, Range, Ranges
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.release.kinds import BestFeatures, GreedyFeatures
from skdpmic.selection.column_selection import KeptColumns, check_k, n_to_keep, warn_of_k
from skdpmic.selection.incremental import PrivateEstimatorOfPieces

LARGEST_REDUNDANCY = 1e30  # noise for much more, as an integer, would be too large to become a float
MOST_NOISE = 0.125  # scale up to which redundancy pays for whatever statistic: docs/how_to/redundancy.md


class DPMICSelector(KeptColumns, PrivateEstimatorOfPieces):
    """Select features by a differentially private measure of their dependence on the target.

    The measure is a Maximal Information Coefficient, which finds dependence of any shape, or another `statistic`. What
    is released -- all scores with noise, or only which features are the best -- satisfies epsilon-differential privacy:
    replacing one record (one row of X and y; with `max_rows_per_group`, all rows of one person) changes the probability
    of any outcome by a factor of at most exp(epsilon). With `delta`, it satisfies (epsilon, delta)-differential
    privacy.

    Parameters
    ----------
    k : int or "all", default=10
        How many features to keep; at least 1.
    statistic : str, default="mic_r"
        What a score is, always in [0, 1]. "mic_r" is the Maximal Information Coefficient, :func:`mic_r`. "mtv_r",
        :func:`mtv_r`, uses total variation instead, and also finds dependence of any shape, at about a fifth of the
        epsilon. "kendall" and "spearman" find what rises or falls, "chatterjee" finds functions, "distance_correlation"
        both, less sharply; these four use ranks, so they need neither `bounds` nor `target_bounds`, ignore `B` and `c`,
        and cannot be scored from chunks, sketches or dask collections. Kendall and Spearman allow two classes, the
        other two any number, in ascending order of their labels.
    epsilon : float, default=1.0
        Privacy budget of one `fit`, for all that it releases together; above 0. Infinity adds no noise.
    delta : float, default=0.0
        How much the probability of any outcome may change beyond that factor, in [0, 1); far below ``1 / n_samples`` if
        not 0. Must be above 0 with ``mechanism="gaussian"``; 0 with ``mechanism="laplace"`` and ``release="scores"``.
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
        that is not among them is "other", a part of its own. Together with a dict of `bounds` it covers every feature,
        except columns of booleans and of types that declare their labels (Enum of Polars), which need no entry. With
        ranks, the order of the labels counts, and labels of text columns are required.
    target_bounds : tuple or array-like, default=None
        Public range of a continuous target, like an entry of `bounds`, or "data". Give exactly one of `target_bounds`
        and `classes`; rank statistics of a continuous target need neither.
    classes : array-like, default=None
        All labels that a discrete target can have, in any order, or "data".
    threshold : float, default=None
        If given, keep the features whose private score reaches it, in [0, 1], and ignore `k`. Needs
        ``release="scores"``.
    fdr : float, default=None
        If given, keep the features that the Benjamini-Hochberg procedure keeps, applied to `p_values` at this level, in
        (0, 1), and ignore `k`: on average at most about this share of the features kept is independent of the target,
        unless scores of independent features are negatively related (``docs/how_to/significance.md``). Needs
        ``release="scores"`` with noise of a known law, `max_rows_per_group` of None or 1, and no `threshold`.
    release : {"scores", "support"}, default="scores"
        "scores" publishes every score; "support" publishes only which k features are the best, in order, with noise
        of scale ``2 k / epsilon`` times the sensitivity of a score, instead of ``n_features / epsilon`` times that.
    redundancy : float, default=0.0
        With ``release="support"``: how much less a feature counts if it says what others say. The first one chosen has
        the largest score; each later one has the largest score less `redundancy` times its mean score with those chosen
        before it. 0 chooses the k best single features. 1 finds more where columns repeat one another, at the price of
        noise nearly twice as large, so it needs enough rows (``docs/how_to/redundancy.md``), and `fit`, not chunks or
        sketches. It prefers columns unlike the chosen ones, so junk (nearly constant columns, rare labels, identifiers)
        is preferred to features that share something with them, even without noise: leave such columns out.
    mechanism : {"laplace", "gaussian", "geometric"}, default="laplace"
        How noise is added: "laplace" splits epsilon evenly over the scores; "gaussian" needs `delta`, and adds less
        noise from about 11 features on; "geometric" adds noise to one table of counts for each feature, and publishes
        these `noisy_counts_`, from which the scores are computed (MICr only). With ``release="support"``, either of the
        first two names takes the mechanism with the least noise that `delta` allows, `support_mechanism_`.
    B : float or "auto", default="auto"
        Maximum grid size: a number of cells >= 4, or an exponent in (0, 1) for ``n_samples ** B``, or the value tuned
        for n_samples, `epsilon_per_feature_` and the number of classes (``docs/results/defaults.md``). A number may be
        up to n_samples, but always up to 1,000 and up to 100 for each class, and without classes never above 10,000.
    c : float or "auto", default="auto"
        How much finer than a merged partition its master partition is; above 0, and such that it has no more parts
        than a grid may have cells; "auto" as for B. With
        ``mechanism="geometric"``, how much finer the noisy table is than the finest square grid, as in
        :func:`mic_r_geometric`.
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
    ledger : BudgetLedger, default=None
        Where every `fit` writes its cost, after the data is validated and before anything is computed.
    n_jobs : int, default=None
        Number of parallel jobs (see joblib). The result does not depend on it.
    verbose : int, default=0
        Whether `fit` prints how many columns are done, and the time that it took: 0 prints nothing, 1 about ten lines
        in each pass over the columns, 2 more. Time is outside the guarantee: show the lines to no one but yourself.
    random_state : None, int or RandomState, default=None
        None draws noise from the operating system's entropy. A seed is for tests; it breaks the guarantee, and warns.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Private scores in [0, 1]; absent with ``release="support"``.
    ranking_ : ndarray of shape (n_features,)
        Place of each feature by private score less `chance_scores_`, 1 for the best. With ``release="support"``, all
        features that were not chosen share the next place.
    chance_scores_ : ndarray of shape (n_features,)
        Where features of several kinds are compared, such as numbers and labels: what a feature of that kind scores on
        average if it has nothing to do with y, simulated from public numbers only. 0 where all are of one kind.
    n_ranked_ : int
        How many places of `ranking_` were released: all, or the k chosen.
    epsilon_per_feature_ : float
        How much a score is worth: ``epsilon / n_features`` with Laplace noise; with Gaussian noise, the epsilon of
        Laplace noise on one score that has the same standard deviation. With ``release="support"``, the sensitivity of
        a score over the standard deviation of the noise, which is ``epsilon / (2 k)`` for the one-shot mechanism, and
        with `redundancy` above 0 and without delta ``epsilon / (2 + 2 (k - 1) (1 + redundancy))``.
    noise_scale_ : float
        Scale of the noise on each score: of the Laplace law, or the standard deviation of the Gaussian. With
        ``release="support"``, of one-sided exponential noise, or of Gumbel noise with the exponential mechanism. With
        ``mechanism="geometric"``, scale of the noise on each count, in records.
    noisy_counts_ : ndarray of shape (n_features, n_parts, n_parts) or (n_features, n_parts, n_classes)
        Records in each part of a feature (rows) and of the target (columns), with noise; only with
        ``mechanism="geometric"``. :class:`skdpmic.plotting.NoisyCountsDisplay` draws it.
    support_mechanism_ : {"one-shot", "permute-and-flip", "exponential"}
        What chose the features; only with ``release="support"``. "one-shot" adds exponential noise once and needs no
        delta; so does "permute-and-flip" with `redundancy`, which draws it anew for each choice; "exponential" chooses
        k times by the exponential mechanism, where `delta` > 0 makes that less noisy.
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
    DPMICScorer : Publishes scores, and serves as ``score_func`` of scikit-learn's selectors.
    RangeGridSketch : Counts of a table that comes in pieces, for `fit_sketch`.
    private_bounds : Learns bounds of columns of which nothing is known.
    skdpmic.plotting.ScoresDisplay : Draws the scores.
    skdpmic.plotting.StabilityDisplay : Draws how often each feature would be chosen at another epsilon.
    plan_release : How much noise there will be, before there is data.

    Notes
    -----
    After a fit with ``release="scores"``, changing `k`, `threshold` or `fdr` costs no further budget.

    With `redundancy`, a LazyFrame or a dask collection is read once more for each feature chosen except the last, and
    has to give the same rows each time. Missing numbers of a feature that others are compared with count as the lower
    end of its range.

    ``B="auto"`` depends on the epsilon of each score, so fits with different `epsilon`, `k` or `release` may compare
    features by slightly different grids.

    Outside the guarantee: the output of `transform`, cross-validated scores, errors raised on invalid data, timing.

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
    >>> selector = DPMICSelector(k=1, epsilon=5, bounds=(0, 1), target_bounds=(0, 0.25), release="support")
    >>> selector.fit(X, y).get_support(indices=True)
    array([3])
    >>> selector.transform(X).shape
    (5000, 1)

    Where one column repeats another, redundancy chooses something new instead of the copy:

    >>> X[:, 4], y = X[:, 3], y + 0.2 * X[:, 5]
    >>> public = {"epsilon": 5, "bounds": (0, 1), "target_bounds": (0, 0.45), "release": "support"}
    >>> chosen = [DPMICSelector(2, redundancy=a, **public).fit(X, y).get_support(indices=True) for a in (0, 1)]
    >>> chosen[0].tolist(), 5 in chosen[1]
    ([3, 4], True)

    If these are five rows for each of a thousand people:

    >>> selector.set_params(max_rows_per_group=1).fit(X, y, groups=np.arange(5000) // 5).n_groups_
    1000
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
        threshold: float | None = None,
        fdr: float | None = None,
        release: Literal["scores", "support"] = "scores",
        redundancy: float = 0.0,
        mechanism: Literal["laplace", "gaussian", "geometric"] = "laplace",
        B: float | Auto = "auto",
        c: float | Auto = "auto",
        correction: Correction = "miller-madow",
        max_rows_per_group: int | None = None,
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
        self.threshold = threshold
        self.fdr = fdr
        self.release = release
        self.redundancy = redundancy
        self.mechanism = mechanism
        self.B = B
        self.c = c
        self.correction = correction
        self.max_rows_per_group = max_rows_per_group
        self.ledger = ledger
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self):
        super()._check_parameters()
        check_k(self.k)
        if self.release not in ("scores", "support"):
            raise ValueError(f"release must be 'scores' or 'support', got {self.release!r}.")
        if self.release == "support" and self.mechanism == "geometric":
            raise ValueError(
                "mechanism must be 'laplace' or 'gaussian' with release='support', which publishes no table, "
                f"got {self.mechanism!r}."
            )
        self._check_redundancy()
        self._check_fdr()
        if self.threshold is None:
            return
        if not isinstance(self.threshold, numbers.Real) or not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold must be None or a number in [0, 1], got {self.threshold!r}.")
        if self.release == "support":
            raise ValueError(
                f"threshold must be None with release='support', which publishes no scores, got {self.threshold!r}."
            )

    def _check_redundancy(self):
        is_number = isinstance(self.redundancy, numbers.Real) and not isinstance(self.redundancy, bool)
        if not is_number or not 0 <= self.redundancy <= LARGEST_REDUNDANCY:
            raise ValueError(
                f"redundancy must be a number >= 0, and at most {LARGEST_REDUNDANCY:g}, got {self.redundancy!r}."
            )
        if self.redundancy > 0 and self.release != "support":
            raise ValueError(
                f"redundancy must be 0 with release={self.release!r}, as it is taken off while features are chosen, "
                f"got {self.redundancy!r}: use release='support'."
            )

    def _check_one_pass(self):
        if isinstance(self.redundancy, numbers.Real) and self.redundancy > 0:
            raise ValueError(
                f"redundancy must be 0 where records are counted once, in chunks or sketches, got {self.redundancy!r}: "
                "these counts are of features with the target, and those with the features that are chosen are needed, "
                "too. fit reads a LazyFrame or a dask collection as often as it takes."
            )

    def _check_fdr(self):
        if self.fdr is None:
            return
        if not isinstance(self.fdr, numbers.Real) or not 0 < self.fdr < 1:
            raise ValueError(f"fdr must be None or a number in (0, 1), got {self.fdr!r}.")
        if self.threshold is not None:
            raise ValueError(f"fdr must be None where threshold is given, got {self.fdr!r}.")
        has_several_rows = self.max_rows_per_group is not None and self.max_rows_per_group > 1
        for is_set, setting, reason in (
            (self.release == "support", "release='support'", "which publishes no scores"),
            (self.mechanism == "geometric", "mechanism='geometric'", "whose scores have noise of no known law"),
            (has_several_rows, f"max_rows_per_group={self.max_rows_per_group!r}", "as rows of a person are dependent"),
        ):
            if is_set:
                raise ValueError(f"fdr must be None with {setting}, {reason}, got {self.fdr!r}.")

    def _check_delta_of_mechanism(self):
        # For the support, delta alone says which mechanisms are allowed; the one with the least noise is taken.
        if self.release != "support" or self.mechanism != "laplace":
            super()._check_delta_of_mechanism()

    def _way(self, n_features):
        if self.release == "scores":
            return super()._way(n_features)
        k = self._n_to_keep(n_features)
        if self.redundancy == 0 or k == 1:  # the first is chosen by its score alone
            return BestFeatures(self.epsilon, self.delta, k)
        return GreedyFeatures(self.epsilon, self.delta, k, self.redundancy)

    def _keep(self, released, way, measure, shape):
        super()._keep(released, way, measure, shape)
        if self.release == "scores":
            self.n_ranked_ = self.n_features_in_

    def _warn(self, n_features, stacklevel):
        super()._warn(n_features, stacklevel + 1)
        if self._keeps_k():
            warn_of_k(self.k, n_features, stacklevel + 1)

    def _warn_of_noise(self, way, mechanism, measure, shape, stacklevel):
        drowns = super()._warn_of_noise(way, mechanism, measure, shape, stacklevel + 1)
        if not drowns and isinstance(way, GreedyFeatures) and mechanism.noise_scale > MOST_NOISE:
            enough = shape.n_groups * self.epsilon * mechanism.noise_scale / MOST_NOISE
            warnings.warn(
                f"redundancy={float(self.redundancy):g} seldom pays for its noise here: with "
                f"n_samples={shape.n_groups:,}, epsilon={float(self.epsilon):g} and k={way.k} noise_scale_ is "
                f"{mechanism.noise_scale:.2g}, and which features say the same is known from about {MOST_NOISE:g} "
                f"downwards: where n_samples * epsilon is {enough:,.0f} or more. statistic='mtv_r', a smaller "
                "redundancy and a smaller k have less noise.",
                stacklevel=stacklevel + 1,
            )

    def _n_wanted(self, n_features):
        return self._n_to_keep(n_features) if self._keeps_k() else None

    def _keeps_k(self):
        return self.threshold is None and self.fdr is None

    def _n_to_keep(self, n_features):
        return n_to_keep(self.k, n_features)

    def _get_support_mask(self):
        check_published(self)
        if self.fdr is not None:
            return self._discoveries()
        if self.threshold is not None and hasattr(self, "scores_"):
            return self.scores_ >= self.threshold
        n_kept = self._n_to_keep(self.n_features_in_)
        if n_kept > self.n_ranked_:
            raise ValueError(
                f"k must be at most {self.n_ranked_}, the number of features whose names release='support' published, "
                f"got {self.k!r}: fit again, which costs its own budget."
            )
        return self.ranking_ <= n_kept

    def _discoveries(self):
        """Which features the procedure of Benjamini and Hochberg keeps."""
        self._check_fdr()
        try:
            p_values = self.p_values()
        except AttributeError as error:
            raise ValueError(f"fdr must be None after this fit, got {self.fdr!r}: {error}") from None
        return stats.false_discovery_control(p_values) <= self.fdr

    def __getattr__(self, name):
        if name == "scores_" and "support_mechanism_" in vars(self):
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}: release='support' publishes which features "
                "are the best, in order, and no scores."
            )
        return object.__getattribute__(self, name)  # raises what says why there is none
