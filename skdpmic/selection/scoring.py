"""The common base of feature selectors and scorers: the fit to tables, pieces of tables and sketches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import NotFittedError

from skdpmic._utils.arguments import check_whole
from skdpmic._utils.bases import OneToOneFeatureMixin, TransformerMixin
from skdpmic._utils.private_estimator import (
    PrivateEstimator,
    ResultsMixin,
    check_published,
    never_cached,
)
from skdpmic._utils.summaries import (
    INTERVAL,
    MOST_ROWS,
    Summary,
    and_more,
    by_rank,
    facts_of_release,
    feature_columns,
    why_broken,
)
from skdpmic._utils.texts import counted, names_of
from skdpmic._utils.typing import (
    Auto,
    BesideTable,
    Categories,
    ColumnLike,
    Correction,
    Floats,
    RandomState,
    Range,
    Ranges,
    TableLike,
)
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.counting.sketch import RangeGridSketch, count_into
from skdpmic.planning.plan import Request, checked, plan_of_fit
from skdpmic.planning.rows import ReleasePlan
from skdpmic.privacy.composition import check_confidence
from skdpmic.privacy.mechanisms import MECHANISMS
from skdpmic.release.path import run, store
from skdpmic.selection.scoring_plan import (
    MeasureParameters,
    NullModel,
    ScoringPlan,
    check_mechanism,
    scoring_plan,
)
from skdpmic.selection.sources import (
    check_agreement,
    empty_sketch,
    if_counts_suffice,
    read,
    read_sketch,
    sketch_for,
    warn_about_expected,
)
from skdpmic.statistics.mic.noisy_tables import GeometricMechanism
from skdpmic.statistics.mtv.released_shares import shares_interval
from skdpmic.table.frames import in_memory
from skdpmic.table.records import read_numbers, refuse_dask
from skdpmic.table.targets import USUAL_MEAN


def shown_scores(estimator):
    """Scores, or the names of the best features, of a scorer or selector."""
    entry, features = estimator._entry, counted(estimator.n_features_in_, "feature")
    n_rows = estimator.n_features_in_
    if not hasattr(estimator, "scores_"):
        n_rows = estimator.n_ranked_
        gaps = ", and the gaps between them" if len(getattr(estimator, "gaps_", ())) else ""
        released = f"names of the best {n_rows:,} of {features}, in order, by {entry.statistic}{gaps}; no scores"
    else:
        tables = ", and the noisy tables of counts behind them" if hasattr(estimator, "noisy_counts_") else ""
        released = f"scores of {features}, by {entry.statistic}{tables}"
    order = by_rank(estimator)[:n_rows]
    chosen, is_chosen = _choice(estimator, set(order[:MOST_ROWS]))
    facts, columns = facts_of_release(estimator, released), feature_columns(estimator)
    if any(column.title == INTERVAL for column in columns):
        facts.append(("Intervals", f"for {estimator._what_intervals_hold}"))
    return Summary(facts + chosen, why_broken(entry), columns, order, is_chosen, "feature", (entry,))


def _choice(estimator, listed):
    """A description of the chosen features, and these features; None if there are none, or if they are unknown.

    Features that are `listed` in the table are marked there.
    """
    if not hasattr(estimator, "get_support"):
        return [], None
    try:
        is_chosen = estimator.get_support()
    except ValueError as error:  # of parameters changed since
        return [("Chosen", str(error))], None
    names = [name for j, name in enumerate(names_of(estimator)) if is_chosen[j] and j not in listed]
    text = f"{is_chosen.sum():,} of {counted(len(is_chosen), 'feature')}"
    others = f", among them {', '.join(names[:MOST_ROWS])}{and_more(len(names))}" if names else ""
    return [("Chosen", text + others)], is_chosen


@dataclass(eq=False, repr=False, kw_only=True)
class ScoringParameters:
    """The parameters of all estimators that score features against a target."""

    statistic: str = "mic_r"
    epsilon: float = 1.0
    delta: float = 0.0
    bounds: Ranges | None = None
    categories: Categories | None = None
    target_bounds: Range | None = None
    classes: ColumnLike | None = None
    target_shares: ColumnLike | None = None
    max_rows_per_group: int | None = None
    max_weight: float | None = None
    ledger: BudgetLedger | None = None
    n_jobs: int | None = None
    verbose: int = 0
    random_state: RandomState = None


class PrivateScoring(ScoringParameters, ResultsMixin, PrivateEstimator):
    """An estimator that scores features against a target and publishes scores or names, as its `_plan` says."""

    _sketch: RangeGridSketch
    _target_shares: Any

    _plan: Callable[[], ScoringPlan]  # checks and resolves the parameters

    def fit(
        self,
        X: TableLike,
        y: BesideTable | None = None,
        groups: BesideTable | None = None,
        sample_weight: BesideTable | None = None,
    ) -> Self:
        """Score every feature against the target, and store the noisy release.

        Parameters
        ----------
        X : array-like, dataframe, sparse matrix or dask collection of shape (n_samples, n_features)
            One record per row; at least 4 rows. Columns hold numbers, labels, booleans, dates or durations, according
            to `bounds` and `categories`. Missing values are never an error: they have their own bin. Dataframes of any
            library supported by narwhals are accepted. An object with ``__arrow_c_stream__``, such as a DuckDB relation
            or a RecordBatchReader, is read once and as a whole, by pyarrow or Polars; its schema gives the column
            types. A Polars LazyFrame is read in batches, once; for joint scores, one byte per value is held in
            memory (by the workers of dask, for its collections). Masked arrays are refused, because their hidden
            values would be read.
        y : array-like of shape (n_samples,)
            The target, without missing values: numbers or dates, clipped to `target_bounds`, or labels from `classes`.
            If X is a dask collection, y must be one with the same partitions. y, `groups` and `sample_weight` may also
            be a dataframe, LazyFrame or Arrow stream of one column, or an Arrow array. Rows must be in the same order
            as in X; a query guarantees that only if it sorts them.
        groups : array-like of shape (n_samples,), default=None
            Identifies the person behind each row; given if and only if `max_rows_per_group` is. Hashable labels of at
            least 4 people, none missing. X must then be in memory.
        sample_weight : array-like of shape (n_samples,), default=None
            Survey weight of each row; given if and only if `max_weight` is. At least 0, and clipped to `max_weight`. If
            X is a dask collection, this must be one with the same partitions.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError, TypeError
            If a parameter or the data is invalid. The estimator is left unchanged.
        BudgetError
            If the cost does not fit in `ledger`. The estimator is left unchanged, and no noise is drawn.

        Warns
        -----
        PrivacyLeakWarning
            If bounds or classes are read from the data, or `random_state` is set.
        UserWarning
            Before the charge, if noise will exceed the signal of a typical table. After the release, if it does by the
            released mean weight or shares of the classes, or if no score reaches the `threshold` of a
            :class:`DPMICSelector`.
        """
        plan = self._plan()
        records = read(plan, X, y, groups, sample_weight)
        return self._release(plan, records)

    def _release(self, plan, records):
        """Release, store, then warn about what only the release shows: nothing is lost if warnings are errors."""
        ready = plan.ready(records.public)
        published = run(ready.entry, partial(ready.draw, records), ledger=self.ledger, random_state=self.random_state)
        store(self, published)
        ready.warn_after(published)
        self._warn_of_release()
        return self

    def _warn_of_release(self):
        """Warn about what only the release shows, for one kind of estimator."""

    # --- Records that are counted first, wherever they are -----------------------------------------------------------

    @if_counts_suffice
    def fit_sketch(self, sketch: RangeGridSketch) -> Self:
        """Score every feature from the counts of a sketch, and store the noisy release.

        This is equivalent to `fit` on the records counted, and gives the same numbers for the same seed, with one
        exception: with ``statistic="mtv_r"``, a learnt `target_cut_` of a continuous target is a multiple of an eighth
        of its range.

        Parameters
        ----------
        sketch : RangeGridSketch
            Counts of at least 4 records. It is not changed, and remains as sensitive as the data.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError, TypeError
            If `bounds`, `categories`, `target_bounds`, `classes`, `B` or `c` of the estimator is given and differs from
            that of the sketch, if `max_weight` differs, if the number of `target_shares` does not suit its target, or
            if `mechanism` needs other counts. The estimator is left unchanged. Those of the first six that are None or
            "auto", and a B that is an exponent, are taken from the sketch.
        BudgetError
            If the cost does not fit in `ledger`. The estimator is left unchanged, and no noise is drawn.
        RuntimeError
            If another thread counts into the sketch. Nothing is charged.

        Warns
        -----
        PrivacyLeakWarning
            If `random_state` is set.
        """
        plan = self._plan()
        if not isinstance(sketch, RangeGridSketch):
            raise TypeError(f"sketch must be a RangeGridSketch, got {type(sketch).__name__}.")
        with sketch._in_use():
            return self._release(plan, read_sketch(plan, sketch))

    @if_counts_suffice
    def partial_fit(
        self,
        X: TableLike,
        y: BesideTable,
        n_expected: int = 100_000,
        sample_weight: BesideTable | None = None,
    ) -> Self:
        """Count a chunk of records, for a later `publish`.

        **Until `publish`, the estimator holds exact counts and is as sensitive as the data**; it cannot be pickled. The
        first call deletes the results of an earlier fit. It costs no budget, because nothing is released. Available
        only if the scores can be computed from counts.

        Parameters
        ----------
        X : array-like, dataframe or sparse matrix of shape (n_chunk_samples, n_features)
            As in `fit`, but in memory, and with any number of rows.
        y : array-like of shape (n_chunk_samples,)
        n_expected : int, default=100_000
            Approximate number of records in all chunks; public. The first call uses it to choose the parameters that
            depend on n_samples: B, if it is "auto" or an exponent, and c. Later calls ignore it. The noise does not
            depend on it.
        sample_weight : array-like of shape (n_chunk_samples,), default=None
            As in `fit`.

        Returns
        -------
        self : object
            The estimator, with the chunk counted.

        Raises
        ------
        ValueError, TypeError
            If a parameter or the chunk is invalid. The estimator is left unchanged.
        RuntimeError
            If another thread counts a chunk, or publishes.
        """
        refuse_dask(X)
        plan = self._plan()
        X = in_memory(X)  # the first chunk is read twice
        if "_sketch" in vars(self):
            check_agreement(plan, self._sketch)
            count_into(self._sketch, self, X, y, self.n_jobs, sample_weight=sample_weight)
            return self
        check_whole(n_expected, "n_expected", 4)
        sketch, seen = sketch_for(plan, n_expected, X)
        count_into(sketch, sketch, X, y, self.n_jobs, sample_weight=sample_weight, reader=plan.reader)
        store(self, {"_sketch": sketch} | seen)
        return self

    @if_counts_suffice
    def publish(self) -> Self:
        """Make the release that `fit` would make for all chunks since the last `publish`, and delete their counts.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        NotFittedError
            If there has been no `partial_fit` since the last `publish` or `fit`.
        ValueError
            If there are fewer than 4 records, or the parameters have changed since the first `partial_fit`.
        BudgetError
            If the cost does not fit in `ledger`. No noise is drawn, and the estimator keeps its counts.
        RuntimeError
            If another thread counts a chunk. Nothing is charged.

        Warns
        -----
        PrivacyLeakWarning
            If `random_state` is set.
        UserWarning
            If the number of records is so far from `n_expected` that the scores suffer.
        """
        if "_sketch" not in vars(self):
            raise NotFittedError(f"This {type(self).__name__} has nothing to publish: call 'partial_fit' first.")
        plan = self._plan()
        with self._sketch._in_use():
            records = read_sketch(plan, self._sketch)
            warn_about_expected(plan, records.public)
            return self._release(plan, records)

    @if_counts_suffice
    def empty_sketch(
        self,
        n_samples: int,
        *,
        n_features: int | None = None,
        feature_names: Sequence[str] | NDArray[Any] | None = None,
    ) -> RangeGridSketch:
        """Make an empty sketch for this estimator, to be filled elsewhere and passed to `fit_sketch`.

        Parameters
        ----------
        n_samples : int
            Approximate number of records in all; public. Every parameter that depends on it is chosen here.
        n_features : int, default=None
            Number of features; required if neither `bounds` nor `feature_names` determines it.
        feature_names : array-like of str, default=None
            Names of the features.

        Returns
        -------
        RangeGridSketch

        Raises
        ------
        ValueError
            If a parameter is invalid.
        """
        plan = self._plan()
        check_whole(n_samples, "n_samples", 4)
        return empty_sketch(plan, n_samples, n_features, feature_names)

    def __getstate__(self):
        if "_sketch" in vars(self):
            raise TypeError(
                f"cannot pickle or copy a {type(self).__name__} between partial_fit and publish: it holds exact "
                "counts, as sensitive as the data. To move counts deliberately, use a RangeGridSketch."
            )
        return super().__getstate__()

    # --- Before and after a fit --------------------------------------------------------------------------------------

    def plan(
        self,
        n_samples: int,
        n_features: int | None = None,
        *,
        mean_weight: float = USUAL_MEAN,
        signal: Literal["strong", "typical", "weak"] = "weak",
    ) -> ReleasePlan:
        """Plan the noise of a fit to a table of this shape, and compare it with other mechanisms and statistics.

        Costs no privacy: it uses only the parameters and these numbers, and charges no ledger.

        Parameters
        ----------
        n_samples : int
            Number of records, at least 4.
        n_features : int, default=None
            Number of features; required if neither `bounds` nor `categories` determines it.
        mean_weight : float, default=0.25
            Approximate mean weight of the records, as a share of `max_weight`; used only if that is given.
        signal : {"strong", "typical", "weak"}, default="weak"
            Assumption about the scores behind `found`, the share of the best features found; as in
            :func:`plan_release`.

        Returns
        -------
        ReleasePlan
            The first row describes `fit` with these parameters: its `noise_scale` is `noise_scale_`, its `epsilon` and
            `delta` are `privacy_spent_`. The other rows are the other releases for the same epsilon, in order of
            increasing error, as :func:`plan_release` finds them; their B and c are automatic.

        Raises
        ------
        ValueError
            If a parameter is invalid or epsilon is infinite.

        Examples
        --------
        >>> from skdpmic import DPMICSelector
        >>> plan = DPMICSelector(k=5, epsilon=0.5, bounds=(0, 1), target_bounds=(0, 1)).plan(10_000, 100)
        >>> plan[0].statistic, round(plan[0].error, 2), plan[1].release, plan[1].statistic, round(plan[1].error, 3)
        ('mic_r', 0.88, 'names', 'mtv_r', 0.014)
        """
        fitted = self._plan()
        facts = fitted.facts
        n_features = facts.n_features if n_features is None else n_features
        given = (n_samples, n_features, None, self.epsilon, None, self.delta, facts.n_classes, self.max_rows_per_group)
        request = checked(Request(*given, None if self.max_weight is None else mean_weight, signal))
        n_samples, n_features = request.n_samples, request.n_features
        fitted.check_has_choice(n_features)
        request = request._replace(k=fitted.n_wanted(n_features))
        release = fitted.release(n_features, n_samples, facts.n_classes)
        measure = fitted.measure(n_samples, n_features, facts.n_classes)
        assumed = (len(fitted.keep), fitted.asked == MeasureParameters())
        return plan_of_fit(release, measure, self.statistic, request, facts.public_domains(n_features), *assumed)

    def target_shares_interval(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Confidence intervals for the shares of the records that `target_shares_` estimate.

        They are for the records of this fit, on either side of the `target_cut_` as it was released. Costs no
        privacy: it uses only what was released.

        Parameters
        ----------
        confidence : float, default=0.95
            Confidence level, in (0, 1): an interval contains its share with at least this probability.

        Returns
        -------
        lower, upper : ndarrays of shape (n_shares,)

        Raises
        ------
        AttributeError
            If no shares were learnt.
        ValueError
            If `confidence` is not as described.
        """
        check_published(self)
        check_confidence(confidence)
        if self._target_shares is None or self._target_shares.is_public:
            raise AttributeError(
                "target_shares_interval requires learnt shares of the target: fit with target_shares=None."
            )
        return shares_interval(self._target_shares, confidence)

    _shown = shown_scores

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags


class PrivateScores(PrivateScoring):
    """An estimator that publishes the scores of all features."""

    _null_model: NullModel

    def scores_interval(self, confidence: float = 0.95, *, simultaneous: bool = False) -> tuple[Floats, Floats]:
        """Confidence intervals for the noise-free scores, from the known noise distribution.

        If the fit learnt shares of the target that scores depend on, as with "mtv_r", these are the scores at
        `target_shares_` and `target_cut_` as they were released, not at those that would be learnt without noise.
        For two classes, if both shares are above their error, and without `max_weight`, a fit to the same rows with
        ``epsilon=inf``, the same `B_` and `c_`, and `target_shares` as released has these scores. These are larger than
        the scores to which noise was added by what was withheld for the error of the shares, if anything: an interval
        contains both, and its upper end is that much higher. The same holds for a number, whose scores are those at the
        released cut. With three or four classes such a fit has other scores, because given shares also serve against
        all classes at once, and the interval is for the score to which noise was added.

        Costs no privacy: it uses only what was released.

        Parameters
        ----------
        confidence : float, default=0.95
            Confidence level, in (0, 1): the interval of a feature contains its noise-free score with at least this
            probability.
        simultaneous : bool, default=False
            Whether all intervals contain their scores simultaneously at this confidence, rather than each separately.
            They are then wider: at 95%, by at most 28% with ``mechanism="k-norm"``, and by a factor of about ``log(20 *
            n_features) / 3`` with "laplace".

        Returns
        -------
        lower, upper : ndarrays of shape (n_features,)

        Raises
        ------
        AttributeError
            If the distribution of the noise on the scores is not known, as with ``mechanism="geometric"``.
        ValueError
            If `confidence` is invalid.
        """
        mechanism = self._mechanism_of_scores("scores_interval")
        check_confidence(confidence)
        lower, upper = mechanism.interval(self.scores_, confidence, simultaneous)
        return lower, np.minimum(upper + self._null_model.measure.withheld_for_error, 1.0)

    @property
    def _what_intervals_hold(self):
        """What an interval is for, in words."""
        return f"the noise-free score{self._scores_at}"

    @property
    def _scores_at(self):
        """The learnt facts about the target on which the noise-free scores rest, in words; empty if there are none."""
        if not self._null_model.measure.has_common_error or self._target_shares.is_public:
            return ""
        return " at the released target_shares_" + (" and target_cut_" if hasattr(self, "target_cut_") else "")

    def p_values(self) -> Floats:
        """Compute p-values of the scores: the probability that an independent feature scores at least as much.

        The noise is included. Costs no privacy: it uses only what was released, and public numbers. The p-values are
        not corrected for multiple testing: use ``scipy.stats.false_discovery_control``, scikit-learn's `SelectFdr`, or
        `fdr` of :class:`DPMICSelector`. With ``mechanism="k-norm"`` the p-values depend on one another, which only
        `fdr`, and ``method="by"`` of the first, allow for.

        Returns
        -------
        p_values : ndarray of shape (n_features,)
            In [0, 1]; 1 for a score of 0. If all records are independent of one another, and a feature is independent
            of the target, its p-value is at most a with probability at most a, for every a. It is an upper bound,
            because the distribution of scores depends on that of the values: the bound is close if noise is stronger
            than chance, and too large otherwise.

        Raises
        ------
        AttributeError
            If the distribution of the noise on the scores is not known, or that of scores of independent features, as
            with "kendall"; or if people have several rows each, because these are not independent.

        Examples
        --------
        >>> import numpy as np
        >>> from skdpmic import DPMICScorer
        >>> X = np.random.default_rng(0).uniform(size=(5000, 3))
        >>> scorer = DPMICScorer(statistic="mtv_r", epsilon=1.0, bounds=(0, 1), target_bounds=(0, 1))
        >>> scorer = scorer.fit(X, X[:, 1] ** 2)
        >>> bool(scorer.p_values()[1] < 0.01)
        True
        """
        noise = self._mechanism_of_scores("p_values").law
        return self._null_model.p_values(self.scores_, noise)

    def _mechanism_of_scores(self, name):
        """The mechanism that drew the noise on the scores; an AttributeError if its distribution is not known."""
        check_published(self)
        if not hasattr(self._noise, "law"):
            raise AttributeError(
                f"{name} needs noise with a known distribution, and mechanism={self._noise.name!r} adds it to counts."
            )
        return self._noise


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
        each two neighbours (:func:`private_bounds` learns these). Columns of dates or durations need bounds of dates or
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
