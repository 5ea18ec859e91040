"""The common base of feature selectors and scorers: the fit to tables, pieces of tables and sketches."""

import math
import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from skdpmic._utils.arguments import check_whole, one_of
from skdpmic._utils.private_estimator import PrivateEstimator, ResultsMixin, check_published
from skdpmic._utils.readable import column_names, is_dask_collection, refuse_masked, refuse_target_among
from skdpmic._utils.summaries import INTERVAL, Summary, by_rank, facts_of_release, feature_columns, why_broken
from skdpmic._utils.texts import counted, quoted, require, require_type, warn
from skdpmic._utils.typing import BesideTable, Categories, ColumnLike, Floats, RandomState, Range, Ranges, TableLike
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.counting import streams
from skdpmic.counting.sketch import RangeGridSketch, are_equal, count_into
from skdpmic.planning.plan import Request, checked, plan_of_fit
from skdpmic.planning.rows import ReleasePlan
from skdpmic.privacy.composition import check_confidence
from skdpmic.privacy.mechanisms import MECHANISMS
from skdpmic.release.path import run, store
from skdpmic.selection.scoring_plan import MeasureParameters, NullModel, ScoringPlan
from skdpmic.statistics.grids import check_B, check_c
from skdpmic.statistics.mic.noisy_tables import GeometricMechanism
from skdpmic.statistics.mtv.released_shares import shares_interval
from skdpmic.statistics.registry import check_mergeable, statistic_named
from skdpmic.table.facts import kept_columns
from skdpmic.table.frames import column_of, in_memory, is_lazy
from skdpmic.table.records import check_enough, read_records, refuse_dask
from skdpmic.table.tables import columns_seen, open_table
from skdpmic.table.values import (
    USUAL_MEAN,
    check_classes,
    check_given_together,
    check_weights_given,
    one_dimensional,
    read_weights,
    target_domain,
)

_Method = TypeVar("_Method")


def _check_pieces(statistic, max_rows_per_group):
    """Raise unless scores can be computed from counts of pieces."""
    check_mergeable(statistic)
    if max_rows_per_group is not None:
        raise ValueError(
            f"max_rows_per_group must be None if records come in pieces, got {quoted(max_rows_per_group)}: the rows of "
            "one person may be in several pieces."
        )


def if_counts_suffice(method: _Method) -> _Method:
    """A method of estimators whose scores can be computed from counts; otherwise its AttributeError gives the reason.

    This needs few parameters, so that other ones may be invalid.
    """
    return available_if(_counts_suffice)(method)


def _counts_suffice(estimator):
    given = estimator.get_params(deep=False)
    try:
        _check_pieces(statistic_named(estimator.statistic, given.get("correction")), estimator.max_rows_per_group)
        if given.get("criterion") == "joint":
            raise ValueError(
                "criterion must be 'single' or 'auto' if records are counted in chunks or sketches, got 'joint': "
                "it counts features together with those chosen. fit takes a LazyFrame or a dask collection."
            )
    except ValueError as error:
        raise AttributeError(str(error)) from None
    return True


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
    order = by_rank(estimator)[: n_rows + np.count_nonzero(estimator.ranking_ == 0)]  # with those kept in any case
    chosen, is_chosen = _choice(estimator)
    facts, columns = facts_of_release(estimator, released), feature_columns(estimator)
    if any(column.title == INTERVAL for column in columns):
        facts.append(("Intervals", f"for {estimator._what_intervals_hold}"))
    return Summary(facts + chosen, why_broken(entry), columns, order, is_chosen, "feature", (entry,))


def _choice(estimator):
    """The number of features chosen, and which these are; None if none are, or if they are unknown."""
    if not hasattr(estimator, "get_support"):
        return [], None
    try:
        is_chosen = estimator.get_support()
    except ValueError as error:  # of parameters changed since
        return [("Chosen", str(error))], None
    return [("Chosen", f"{is_chosen.sum():,} of {counted(len(is_chosen), 'feature')}")], is_chosen


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
            or a RecordBatchReader, is read once and as a whole, by pyarrow; its schema gives the column
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
            If `random_state` is set.
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
        return self

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
        require_type(isinstance(sketch, RangeGridSketch), "sketch must be a RangeGridSketch", sketch)
        with sketch._in_use():
            return self._release(plan, read_sketch(plan, sketch))

    @if_counts_suffice
    def partial_fit(
        self, X: TableLike, y: BesideTable, n_expected: int = 100_000, sample_weight: BesideTable | None = None
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
        return f"the noise-free score{self._learnt_of_target}"

    @property
    def _learnt_of_target(self):
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


# --- Records: a table in memory, a dask collection, a LazyFrame or the counts of a sketch -----------------------------


def read(plan, X, y, groups=None, sample_weight=None):
    """The records of a table, wherever it is, each converted to numbers separately.

    Parameters
    ----------
    plan : ScoringPlan
    X, y, groups, sample_weight : as in `fit`

    Returns
    -------
    Records
    """
    max_rows = plan.facts.max_rows_per_group
    check_given_together(groups, max_rows)
    check_weights_given(sample_weight, plan.max_weight)
    if is_dask_collection(X):
        return _count_on_workers(plan, X, y, sample_weight)
    if is_lazy(X) and groups is None and plan.statistic.is_mergeable:
        return _count_lazily(plan, X, y, sample_weight)
    records = read_records(plan.facts, X, y, plan.reader)
    if sample_weight is not None:
        records = records.with_weights(read_weights(sample_weight, plan.max_weight, records.public.shape.n_samples))
    return records.of_people(groups, max_rows)


def _count_lazily(plan, X, y, sample_weight):
    """The records of a LazyFrame, counted in batches."""
    if y is None:
        raise ValueError(f"{plan.reader} requires y to be passed, but the target y is None.")
    refuse_target_among(column_names(X), y)
    y = column_of(y, "y", one_dimensional)
    check_enough(y.n_samples)
    weights = None if sample_weight is None else column_of(sample_weight, "sample_weight")
    if weights is not None and weights.n_samples != y.n_samples:
        lengths = f"{weights.n_samples} and {y.n_samples}"
        raise ValueError(f"sample_weight must have one weight for each row of X and y, got {lengths}.")
    sketch, _ = sketch_for(plan, y.n_samples, X.head(0))
    holds = plan.counts_pairs(y.n_samples, sketch)
    held = streams.count_batches(sketch, plan.reader, X, y, weights, plan.n_jobs, holds=holds)
    return read_sketch(plan, sketch, partial(_count_pairs, sketch, held, plan.n_jobs) if holds else None)


def _count_pairs(sketch, held, n_jobs, j):
    """The counts of each feature together with feature j, in all rows that are held."""
    return streams.added([streams.pair_counts(sketch, rows, j, n_jobs) for rows in held])


def _count_on_workers(plan, X, y, sample_weight):
    """The records of a dask collection, counted by its workers."""
    _check_pieces(plan.statistic, plan.facts.max_rows_per_group)
    n_dimensions = getattr(X, "ndim", "no")
    if n_dimensions != 2:
        raise ValueError(f"X must be 2-dimensional, got a dask collection of {n_dimensions} dimension(s).")
    refuse_masked(y, "y")
    refuse_masked(sample_weight, "sample_weight")
    depends_on_n = "auto" in (plan.asked.B, plan.asked.c) or _is_exponent(plan.asked.B)
    n_samples = streams.n_rows(X) if depends_on_n else math.inf  # counting rows takes a pass over them
    check_enough(n_samples)
    names = streams.feature_names(X)
    refuse_target_among(names, y)
    plan.facts.domains(X.shape[1], names)  # raises if names in dicts are not columns
    empty = empty_sketch(plan, n_samples, X.shape[1], names)
    holds = plan.counts_pairs(n_samples, empty)
    sketch, count_pairs = streams.count_collection(empty, X, y, sample_weight, holds=holds)
    if n_samples not in (sketch.n_samples, math.inf):
        raise ValueError("X must return the same rows each time it is read, got different numbers of rows.")
    plan.measure(sketch.n_samples, sketch.n_features_in_, sketch.n_classes)  # raises if it is too large for them
    return read_sketch(plan, sketch, count_pairs)


def sketch_for(plan, n_samples, X):
    """An empty sketch for a given table, whose columns must match the dicts; and the fitted attributes of these."""
    table = open_table(X, plan.reader, takes_text=plan.facts.takes_text)
    seen = columns_seen(table)
    columns = (table.n_features, table.names_as_text(), table.declared())
    plan.facts.domains(*columns)
    return empty_sketch(plan, n_samples, *columns), seen


def empty_sketch(plan, n_samples, n_features, feature_names, declared=None):
    """An empty sketch with the grids for about this many records."""
    description = plan.facts.describe_unseen(n_features, feature_names, declared)
    measure = plan.measure(n_samples, description.n_features, description.n_classes)
    return RangeGridSketch.described(
        description,
        statistic=plan.statistic.name,
        correction=plan.asked.correction,
        B=measure.B,
        c=measure.c,
        n_parts=measure.n_parts,
        max_weight=plan.max_weight,
    )


def read_sketch(plan, sketch, count_pairs=None):
    """The records of a sketch, if it suits the plan; `count_pairs` as in `records_of_sketch`."""
    check_agreement(plan, sketch)
    kept = kept_columns(plan.facts.keep, sketch.n_features_in_, sketch.description.names)
    return streams.records_of_sketch(sketch, count_pairs, kept)


def check_agreement(plan, sketch):
    """Raise unless a sketch matches the parameters.

    What is not given matches, and "auto", and an exponent B: the sketch was built for an expected number of records.
    """
    facts, description, (B, c, correction) = plan.facts, sketch.description, plan.asked
    streams.check_features(description, facts)
    target, classes = description.target, facts.classes
    if B != "auto":
        check_B(B)
    if c != "auto":
        check_c(c)
    is_corrected = sketch.statistic == "mic_r" and sketch.n_parts is None
    has_target = facts.target_bounds is None or target_domain(facts.target_bounds) == target
    has_classes = classes is None or are_equal(check_classes(classes), description.classes)
    parameters = {  # as given, of the sketch, and whether they agree
        "statistic": (plan.statistic.name, sketch.statistic, plan.statistic.name == sketch.statistic),
        "target_bounds": (facts.target_bounds, target and target.bounds, has_target),
        "classes": (classes, description.classes, has_classes),
        "max_weight": (plan.max_weight, sketch.max_weight, plan.max_weight == sketch.max_weight),
        "correction": (correction, sketch.correction, not is_corrected or correction == sketch.correction),
        "B": (B, sketch.B, B == "auto" or B < 1 or B == sketch.B),
        "c": (c, sketch.c, c in ("auto", sketch.c)),
    }
    for name, (given, own, are_alike) in parameters.items():
        require(are_alike, f"{name} must be that of the sketch, {quoted(own)}", given)
    mechanism = plan.mechanism
    if mechanism is None and sketch.n_parts is not None:
        raise ValueError(f"the sketch must have n_parts=None to choose features, got n_parts={sketch.n_parts}.")
    if (mechanism == GeometricMechanism.name) != (sketch.n_parts is not None):
        kind = one_of(MECHANISMS) if sketch.n_parts is None else "'geometric', because the sketch has n_parts,"
        raise ValueError(f"mechanism must be {kind} with this sketch, got {quoted(mechanism)}.")
    if plan.shares is not None:
        sketch.measure.with_target_shares(plan.shares)  # raises if their number does not suit the sketch


def _is_exponent(B):
    """Whether B is an exponent of the number of records."""
    return isinstance(B, numbers.Real) and B < 1


def warn_about_expected(plan, public):
    """Warn if B was chosen for a very different number of records."""
    B, n = plan.asked.B, public.shape.n_samples
    if B != "auto" and not _is_exponent(B):
        return
    chosen, fitting = public.measure.B, plan.measure(n, public.shape.n_features, public.n_classes).B
    if not 0.5 <= chosen / fitting <= 2:
        warn(
            f"B={chosen:.4g} was chosen for the n_expected of the first partial_fit; {fitting:.4g} would suit the "
            f"{n:,} records received."
        )
