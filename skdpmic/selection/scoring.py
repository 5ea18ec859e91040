"""The base of selectors and scorer: features are scored against a target by a statistic."""

from typing import Any, Literal, NamedTuple, Self

from skdpmic._utils.exceptions import warn
from skdpmic._utils.fitted import check_published
from skdpmic._utils.results import ResultsMixin
from skdpmic._utils.rollback import rollback_on_error
from skdpmic._utils.texts import in_short
from skdpmic._utils.typing import BesideTable, Floats, TableLike
from skdpmic.planning.chances import excess_of_noise, share_found
from skdpmic.planning.plan import Request, checked, plan_of_fit, scores_of
from skdpmic.planning.rows import ReleasePlan
from skdpmic.privacy.parameters import check_confidence
from skdpmic.selection.base import PrivateEstimator
from skdpmic.statistics.mtv.learnt_margin import shares_interval
from skdpmic.statistics.registry import check_of_target, check_takes_weights, statistic_named, warn_about_copies
from skdpmic.table.facts import PublicFacts
from skdpmic.table.people import check_given_together
from skdpmic.table.public import asks_for_data
from skdpmic.table.targets import USUAL_MEAN, check_target_shares, check_weights_given

_FEWEST = 4  # smallest number of features warned about: among fewer, chance finds the best


class Grids(NamedTuple):
    """The grids that the parameters ask for."""

    B: Any = "auto"
    c: Any = "auto"
    correction: Any = "miller-madow"


class PrivateScoring(ResultsMixin, PrivateEstimator):
    """An estimator that scores features against a target and publishes scores or names."""

    def fit(
        self,
        X: TableLike,
        y: BesideTable,
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
            types. A Polars LazyFrame is read in batches, and must always return its rows in the same order. Masked
            arrays are refused, because their hidden values would be read.
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
        RuntimeError
            If another call that changes the estimator is not finished, in another thread. Nothing is charged.

        Warns
        -----
        PrivacyLeakWarning
            If bounds or classes are read from the data, or `random_state` is set.
        """
        with rollback_on_error(self):
            self._check_parameters()
            check_given_together(groups, self.max_rows_per_group)
            check_weights_given(sample_weight, self.max_weight)
            self._publish(*self._read(X, y, groups, sample_weight))
        return self

    def _grids(self):
        return Grids()

    def _statistic(self):
        return statistic_named(self.statistic, self._grids().correction)

    @property
    def _computed(self):
        return self.statistic

    def _facts(self):
        return PublicFacts(
            self.bounds,
            self.categories,
            self.target_bounds,
            self.classes,
            self.max_rows_per_group,
            self._statistic().needs_ranges,
        )

    def _kept(self, n_features, names):
        """Indices of the features kept in any case."""
        return ()

    def _records(self, X, y):
        records = super()._records(X, y)
        return records._replace(kept=self._kept(records.n_features, getattr(self, "feature_names_in_", None)))

    def _measure(self, n_persons, n_features, n_classes):
        release, (B, c, _) = self._release_for(n_features, n_persons, n_classes), self._grids()
        measure = self._told(release.measure(self._statistic(), B, c, n_persons, n_classes))
        measure = measure if self.max_weight is None else measure.of_weights()
        return measure if self.max_rows_per_group is None else measure.of_groups(self.max_rows_per_group)

    def _told(self, measure):
        """The measure, with the public distribution of the target."""
        return measure if self.target_shares is None else measure.knowing(self._shares())

    def _check_told(self, statistic):
        """Raise if the given `target_shares` would not be used."""
        check_of_target(statistic)
        self._shares()

    def _shares(self):
        return check_target_shares(self.target_shares, self.target_bounds, self.classes)

    def _learns_target(self, n_classes):
        """Whether a part of the budget is spent on a target with this many classes, or of numbers."""
        return self.target_shares is None and self._statistic().learns_target(n_classes)

    def _learnt(self, release, records, measure, random_bytes):
        return release.learnt(records, measure, random_bytes)

    def _epsilon_of_target(self, release):
        return float(release.epsilon_of_target) or None

    def _store(self, released, release, mechanism, measure, records):
        super()._store(released, release, mechanism, measure, records)
        self.epsilon_per_feature_ = release.epsilon_per_feature
        if hasattr(measure, "B"):
            self.B_, self.c_ = measure.B, measure.c
        self._margin = getattr(measure, "margin", None)
        if self._margin is not None:
            self.target_shares_ = self._margin.published()
            if self._margin.mean_weight is not None:
                self.mean_weight_ = self._margin.mean_weight * float(self.max_weight)
            if records.n_classes is None and not self._margin.is_public:
                self.target_cut_ = records.target_domain.decode(self._margin.cut(records.target_domain.encoded))

    def _reset(self):
        super()._reset()
        vars(self).pop("_margin", None)

    def _check_parameters(self):
        statistic = self._statistic()  # raises if there is none of that name
        if self.target_shares is not None:
            self._check_told(statistic)
        check_takes_weights(statistic, self.max_weight)
        super()._check_parameters()

    def _warn(self, shape):
        super()._warn(shape)
        if self.max_rows_per_group is not None:
            warn_about_copies(self._statistic(), self.max_rows_per_group)

    def _warn_about_noise(self, release, mechanism, measure, shape):
        law = release.law(mechanism, measure, shape)
        if law is None:
            return False
        n_candidates = max(shape.n_features - self._n_kept(), _FEWEST)
        k = min(self._n_wanted(shape.n_features) or n_candidates, n_candidates // _FEWEST)
        factor = 1.0 if self.max_weight is None else USUAL_MEAN
        assumed = (scores_of(release, self.statistic), "weak", n_candidates, k, law)
        excess = excess_of_noise(*assumed) / factor
        if excess > 1:
            budget, found = shape.n_groups * float(self.epsilon), share_found(*assumed, factor)
            one = f"the best feature will be found in {found:.0%} of fits"
            best = f"{found:.0%} of the best {k} features will be found" if k > 1 else one
            warn(
                f"noise will exceed the signal of a typical table: with n_samples={shape.n_groups:,}, "
                f"n_features={shape.n_features:,} and epsilon={float(self.epsilon):g}, {best}, if scores fall as "
                "slowly as on a third of public tables. That becomes half at n_samples * epsilon = "
                f"{in_short(excess * budget)}, which is {in_short(budget)} here. Fewer features, or {self._quieter}, "
                "also reduce the noise; skdpmic.plan_release computes by how much.",
            )
        return excess > 1

    def target_shares_interval(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Confidence intervals for the shares of the records that `target_shares_` estimate.

        Costs no privacy: it uses only what was released.

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
        if self._margin is None or self._margin.is_public:
            raise AttributeError("target_shares_interval needs shares of the target that were learnt, got none.")
        return shares_interval(self._margin, confidence)

    def _n_wanted(self, n_features):
        """Number of features to choose; None if the scores decide it."""
        return None

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
            If a parameter is invalid, epsilon is infinite, or the classes are "data".

        Examples
        --------
        >>> from skdpmic import DPMICSelector
        >>> plan = DPMICSelector(k=5, epsilon=0.5, bounds=(0, 1), target_bounds=(0, 1)).plan(10_000, 100)
        >>> plan[0].statistic, round(plan[0].error, 2), plan[1].release, plan[1].statistic, round(plan[1].error, 3)
        ('mic_r', 0.88, 'names', 'mtv_r', 0.014)
        """
        self._check_parameters()
        if asks_for_data(self.classes):
            raise ValueError("classes must be public for a plan, because it depends on their number, got 'data'.")
        facts = self._facts()
        n_features = facts.n_features if n_features is None else n_features
        given = (n_samples, n_features, None, self.epsilon, None, self.delta, facts.n_classes, self.max_rows_per_group)
        request = checked(Request(*given, None if self.max_weight is None else mean_weight, signal))
        n_samples, n_features = request.n_samples, request.n_features
        request = request._replace(k=self._n_wanted(n_features))
        measure = self._measure(n_samples, n_features, facts.n_classes)
        release = self._release_for(n_features, n_samples, facts.n_classes)
        domains, assumed = facts.public_domains(n_features), (self._n_kept(), self._grids() == Grids())
        return plan_of_fit(release, measure, self.statistic, request, domains, *assumed)
