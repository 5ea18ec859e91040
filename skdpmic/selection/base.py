"""What both estimators do: describe, read, score, pay, release, keep."""

import warnings
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator

from skdpmic._utils.arguments import check_n_jobs, check_verbose
from skdpmic._utils.fitted import check_published
from skdpmic._utils.no_cache import NeverCached
from skdpmic._utils.progress import Progress
from skdpmic._utils.results import ResultsMixin
from skdpmic._utils.rollback import unchanged_on_error
from skdpmic._utils.summaries import ShownInNotebooks, Terms, shown_scores
from skdpmic._utils.typing import ColumnLike, Floats, RandomState, TableLike
from skdpmic.budget.ledger import check_ledger
from skdpmic.planning.chances import chances_of_missing_a_perfect_score
from skdpmic.planning.plan import plan_of_fit
from skdpmic.planning.request import Request, checked
from skdpmic.planning.rows import ReleasePlan
from skdpmic.privacy.mechanisms import GaussianMechanism, LaplaceMechanism
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.parameters import check_confidence, check_delta, check_epsilon, warn_of_delta, warn_of_seed
from skdpmic.release.kinds import GaussianScores, LaplaceScores, NoisyTables
from skdpmic.statistics.null_laws.null_model import PublicForPValues
from skdpmic.statistics.registry import statistic_named, warn_of_copies
from skdpmic.table.described import description_of_parts, n_public_classes
from skdpmic.table.features import labels_of, n_features_of, warn_of_many_labels
from skdpmic.table.people import check_given_together, check_max_rows, read_people
from skdpmic.table.public import asks_for_data, warn_of_data
from skdpmic.table.reading import read_records

PUBLIC = ("bounds", "categories", "target_bounds", "classes")


class PrivateEstimator(ShownInNotebooks, NeverCached, BaseEstimator):
    """All of an estimator except what it publishes, and what it does with that."""

    def fit(self, X: TableLike, y: ColumnLike, groups: ColumnLike | None = None) -> Self:
        """Score every feature against the target, and keep what is released with noise.

        Parameters
        ----------
        X : array-like, dataframe, sparse matrix or dask collection of shape (n_samples, n_features)
            One record per row; at least 4 rows. Columns hold numbers, labels, booleans, dates or durations, as `bounds`
            and `categories` say; missing values form a part of their own, and are never an error. Dataframes may be of
            any library that narwhals knows or that has the Arrow protocol; of a LazyFrame of Polars, whose rows must
            always come in the same order, only some are in memory at a time. Masked arrays are refused, as their hidden
            values would be read.
        y : array-like of shape (n_samples,)
            The target, without missing values: numbers or dates within `target_bounds` (clipped otherwise), or labels
            from `classes`. Where X is a dask collection, so is y, in partitions of the same rows.
        groups : array-like of shape (n_samples,), default=None
            The person each row belongs to, given if and only if `max_rows_per_group` is: labels of at least 4 people,
            hashable, and none of them missing. X must then be in memory.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError, TypeError
            If a parameter or the data is not as described. The estimator is then left as it was.
        BudgetError
            If the cost does not fit in `ledger`. The estimator is left as it was, and no noise is drawn.

        Warns
        -----
        PrivacyLeakWarning
            If bounds or classes are read from the data, or `random_state` is set.
        """
        with unchanged_on_error(self):
            self._check_parameters()
            check_given_together(groups, self.max_rows_per_group)
            self._publish(*self._read(X, y, groups))
        return self

    def __sklearn_is_fitted__(self):
        return hasattr(self, "ranking_")

    # --- Read and score --------------------------------------------------------------------------------------

    def _read(self, X, y, groups):
        """The records, and the measure that they are to be scored by."""
        self._forget()
        records = self._records(X, y)
        if groups is not None:
            people = read_people(groups, self.max_rows_per_group, records.n_samples)
            records = records._replace(people=people)
            self.n_groups_ = people.n_groups
        return records, self._measure(records.shape.n_groups, records.n_features, records.n_classes)

    def _records(self, X, y):
        """The records, each a row."""
        return read_records(self, X, y, statistic_named(self.statistic, self.correction).needs_ranges)

    def _forget(self):
        """Drop what an earlier fit left."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            del vars(self)[name]
        for name in ("_terms", "_described"):
            vars(self).pop(name, None)

    def _measure(self, n_persons, n_features, n_classes):
        """What suits this many people, each of whom is one row of X unless `max_rows_per_group` is given."""
        statistic, way = statistic_named(self.statistic, self.correction), self._way(n_features)
        measure = way.measure(statistic, self.B, self.c, n_persons, n_classes)
        return measure if self.max_rows_per_group is None else measure.of_groups(self.max_rows_per_group)

    # --- Pay and release: one way, whichever way the data came -----------------------------------------------

    def _way(self, n_features):
        """How the budget is spent on this many features."""
        if self.mechanism == "geometric":
            return NoisyTables(self.epsilon, n_features)
        if self.mechanism == "gaussian":
            return GaussianScores(self.epsilon, n_features, self.delta)
        return LaplaceScores(self.epsilon, n_features)

    def _publish(self, records, measure):
        """Charge the ledger, draw the noise, and keep what is private.

        All that follows from public numbers is computed before the charge, so that an error there costs nothing.
        """
        self._warn(records.n_features, stacklevel=3)
        self._warn_of_labels(records.shape, stacklevel=3)
        warn_of_delta(self.delta, records.shape.n_groups, stacklevel=3)
        source, way = entropy_source(self.random_state), self._way(records.n_features)
        mechanism = way.mechanism(measure, records.shape)
        self._described = description_of_parts(self, records, measure)
        self._warn_of_noise(way, mechanism, measure, records.shape, stacklevel=3)
        self._pay(way.cost, records)
        vars(self).pop("_sketch", None)
        records = records.watched(Progress(type(self).__name__, self.verbose))
        released = way.release(records.drawn(source), measure, mechanism, self.n_jobs, source)
        self._keep(released, way, measure, records.shape)

    def _pay(self, cost, records):
        """Write the cost down before there is a score: without budget there is nothing to compute."""
        if self.ledger is not None:
            what = f"{type(self).__name__}, {self._computed}, {self.mechanism}"
            n, d = records.shape.n_groups, records.n_features
            self.ledger.charge(what, cost.epsilon, cost.delta, rho=cost.rho, n=n, d=d)

    def _keep(self, released, way, measure, shape):
        """Keep what was released, and the public numbers behind it."""
        vars(self).update(released)
        self.privacy_spent_ = (way.cost.epsilon, way.cost.delta)
        noise = released.get("support_mechanism_", self.mechanism)
        public = (shape.n_groups, self.max_rows_per_group, self._broken_by())
        self._terms = Terms(self._computed, noise, *self.privacy_spent_, *public)

    _computed = property(lambda self: self.statistic)  # of the records

    # --- Parameters ------------------------------------------------------------------------------------------

    def _check_parameters(self):
        """Raise unless the parameters that need no data are as described."""
        statistic = statistic_named(self.statistic, self.correction)
        check_epsilon(self.epsilon)
        check_delta(self.delta)
        if self.mechanism not in ("laplace", "gaussian", "geometric"):
            raise ValueError(f"mechanism must be 'laplace', 'gaussian' or 'geometric', got {self.mechanism!r}.")
        if self.mechanism == "geometric" and not statistic.has_tables:
            raise ValueError(
                f"mechanism must be 'laplace' or 'gaussian' with statistic={self.statistic!r}, got 'geometric', whose "
                "noisy tables are used for statistic='mic_r' only."
            )
        self._check_delta_of_mechanism()
        check_max_rows(self.max_rows_per_group)
        check_ledger(self.ledger)
        check_n_jobs(self.n_jobs)
        check_verbose(self.verbose)
        entropy_source(self.random_state)  # now, as an error must come before the ledger is charged

    def _check_delta_of_mechanism(self):
        """Refuse a mechanism that needs a delta and has none, or would not use the one it has."""
        if self.mechanism == "gaussian" and self.delta == 0:
            raise ValueError(f"delta must be > 0 with mechanism='gaussian', got {self.delta!r}.")
        if self.mechanism != "gaussian" and self.delta > 0:
            raise ValueError(
                f"delta must be 0 with mechanism={self.mechanism!r}, whose guarantee needs none, got {self.delta!r}; "
                "use mechanism='gaussian'."
            )

    def _warn(self, n_features, stacklevel):
        """Say what the user should know about a release, before it is paid for."""
        for name in self._public_names():
            warn_of_data(name, getattr(self, name), stacklevel + 1)
        if self.max_rows_per_group is not None:
            warn_of_copies(self.statistic, self.max_rows_per_group, stacklevel + 1)
        if self.random_state is not None:
            warn_of_seed(stacklevel + 1)

    def _public_names(self):
        """Names of the public arguments that are used."""
        return PUBLIC if statistic_named(self.statistic, self.correction).needs_ranges else ("classes",)

    def _broken_by(self):
        """Names of the parameters with which the guarantee does not hold."""
        read = [name for name in self._public_names() if asks_for_data(getattr(self, name))]
        return (*read, *(["random_state"] if self.random_state is not None else []))

    def _warn_of_labels(self, shape, stacklevel):
        """Warn of labels that are too many for the number of records."""
        warn_of_many_labels(shape, getattr(self, "feature_names_in_", None), stacklevel + 1)

    def _warn_of_noise(self, way, mechanism, measure, shape, stacklevel):
        """Warn if noise drowns everything, as public numbers show; return whether it does."""
        law = way.law(mechanism, measure, shape)
        if law is None:
            return False
        n_wanted = self._n_wanted(shape.n_features)
        n_places = n_wanted if n_wanted is not None and n_wanted < shape.n_features else 1
        missed, by_lot = chances_of_missing_a_perfect_score(shape.n_features, n_places, law, way.draws_anew)
        drowns = missed > by_lot / 2
        if drowns:
            warnings.warn(
                f"noise drowns everything: with n_samples={shape.n_groups:,}, n_features={shape.n_features:,} and "
                f"epsilon={float(self.epsilon):g}, a feature with a score of 1 is not among the best {n_places} of "
                f"features with scores of 0 with probability {missed:.2f}, and {by_lot:.2f} if features are drawn "
                "at random. More rows, a larger epsilon, fewer features and, for a choice without scores, "
                "release='support' and a smaller k reduce the noise: skdpmic.plan_release tells how much of each is "
                "needed.",
                stacklevel=stacklevel + 1,
            )
        return drowns

    def _n_wanted(self, n_features):
        """How many features are to be chosen; None if that is open."""
        return None

    def __repr__(self, N_CHAR_MAX=700):
        with np.printoptions(threshold=10, edgeitems=2):
            return super().__repr__(N_CHAR_MAX)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags


class PrivateScores(ResultsMixin, PrivateEstimator):
    """The scorer and the selector: an estimator that releases scores."""

    def _forget(self):
        super()._forget()
        vars(self).pop("_public_for_p_values", None)

    def _keep(self, released, way, measure, shape):
        super()._keep(released, way, measure, shape)
        self.epsilon_per_feature_ = way.epsilon_per_feature
        if measure.B is not None:
            self.B_, self.c_ = measure.B, measure.c
        self._public_for_p_values = PublicForPValues.of_shape(measure, shape)

    def _shown(self):
        return shown_scores(self)

    # --- Before the data -------------------------------------------------------------------------------------

    def plan(self, n_samples: int, n_features: int | None = None) -> ReleasePlan:
        """How much noise a fit to a table of this shape will have, compared with other mechanisms and statistics.

        Costs no privacy: nothing but the parameters and these numbers is used, and no ledger is charged.

        Parameters
        ----------
        n_samples : int
            Number of records, at least 4.
        n_features : int, default=None
            Number of features; needed if neither `bounds` nor `categories` gives it.

        Returns
        -------
        ReleasePlan
            The first row is what `fit` will do with these parameters: its `noise_scale` is `noise_scale_`, its
            `epsilon` and `delta` are `privacy_spent_`. After it come the other releases for the same epsilon, those
            with the least error first, as :func:`plan_release` finds them; in these B and c are automatic.

        Raises
        ------
        ValueError
            If a parameter is not as described, epsilon is infinite, or the classes are to be read from the data.

        Examples
        --------
        >>> from skdpmic import DPMICSelector
        >>> plan = DPMICSelector(k=5, epsilon=0.5, bounds=(0, 1), target_bounds=(0, 1)).plan(10_000, 100)
        >>> plan[0].statistic, round(plan[0].error, 2), plan[1].release, plan[1].statistic, round(plan[1].error, 3)
        ('mic_r', 0.88, 'support', 'mtv_r', 0.024)
        """
        self._check_parameters()
        if asks_for_data(self.classes):
            raise ValueError("classes must be public for a plan, which depends on their number, got 'data'.")
        if n_features is None and statistic_named(self.statistic, self.correction).needs_ranges:
            n_features = n_features_of(self.bounds, self.categories)
        n_classes = n_public_classes(self)
        given = (n_samples, n_features, None, self.epsilon, None, self.delta, n_classes, self.max_rows_per_group)
        request = checked(Request(*given))
        n_samples, n_features = request.n_samples, request.n_features
        request = request._replace(k=self._n_wanted(n_features))
        measure = self._measure(n_samples, n_features, n_classes)
        is_simulated = (self.B, self.c, self.correction) == ("auto", "auto", "miller-madow")
        scales = self._public_scales(n_features)
        return plan_of_fit(self._way(n_features), measure, self.statistic, request, scales, is_simulated)

    def _public_scales(self, n_features):
        """What kernels will know about the features; without labels, the same as about any numbers."""
        if self.categories is None or not statistic_named(self.statistic, self.correction).needs_ranges:
            return [(0.0, 1.0)] * n_features
        nominal = [labels_of(labels, "categories").scale for labels in self.categories.values()]
        return nominal + [(0.0, 1.0)] * (n_features - len(nominal))

    # --- After the release -----------------------------------------------------------------------------------

    def scores_interval(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Intervals for the scores without noise, from the known law of the noise alone.

        Costs no privacy: nothing but what was released is used.

        Parameters
        ----------
        confidence : float, default=0.95
            For each feature by itself; in (0, 1). For all at once, ``1 - 0.05 / n_features`` gives 95%.

        Returns
        -------
        lower, upper : ndarrays of shape (n_features,)
        """
        mechanism = self._mechanism_of_scores("scores_interval")
        check_confidence(confidence)
        return mechanism.interval(self.scores_, confidence)

    def p_values(self, *, n_resamples: int = 9999, random_state: RandomState = 0) -> Floats:
        """How likely a feature independent of the target would be to score at least as much, noise included.

        Costs no privacy: nothing but what was released, and public numbers, are used. Not corrected for there being
        several features: ``scipy.stats.false_discovery_control`` and scikit-learn's `SelectFdr` do that, or `fdr` of
        :class:`DPMICSelector`.

        Parameters
        ----------
        n_resamples : int, default=9999
            With ranks, how many scores of independent variables are simulated; at least 1. No p-value is then below
            ``1 / (n_resamples + 1)``.
        random_state : None, int or RandomState, default=0
            For these simulations, which hide nothing: with the default, one release always has the same p-values.

        Returns
        -------
        p_values : ndarray of shape (n_features,)
            In [0, 1]; 1 for a score of 0. If all records are independent of one another, and a feature is independent
            of the target, its p-value is at most a with probability at most a, for every a. With "chatterjee" and
            "distance_correlation" it is exact but for the simulation; above 10,000 and 2,000 records, respectively,
            only that many are simulated, and their scores scaled to the standard deviation for all records. With the
            other statistics it is an upper bound, as their law depends on how the values are spread, or on ties: close
            where noise is stronger than chance, and too large where it is not (``docs/how_to/significance.md``).

        Raises
        ------
        AttributeError
            If no scores with noise of a known law were published, or if people have several rows each, which are not
            independent.
        ValueError
            If `n_resamples` is not as described.

        Examples
        --------
        >>> import numpy as np
        >>> from skdpmic import DPMICScorer
        >>> X = np.random.default_rng(0).normal(size=(5000, 3))
        >>> y = X[:, 1] + np.random.default_rng(1).normal(size=5000)
        >>> scorer = DPMICScorer(statistic="kendall", epsilon=1.0).fit(X, y)
        >>> bool(scorer.p_values()[1] < 0.01)
        True
        """
        noise = self._mechanism_of_scores("p_values").law
        return self._public_for_p_values.p_values(self.scores_, noise, n_resamples, random_state)

    def _mechanism_of_scores(self, name):
        """What made the scores; an AttributeError if there are none that `name` can be found from."""
        check_published(self)
        if not hasattr(self, "scores_"):
            raise AttributeError(f"{name} needs scores, and release='support' publishes none.")
        if hasattr(self, "noisy_counts_"):
            raise AttributeError(
                f"{name} needs scores with noise of a known law, and mechanism='geometric' adds it to counts."
            )
        # What the fit spent shows which mechanism it used, even if the parameter has been set anew since.
        mechanism = GaussianMechanism if self.privacy_spent_[1] > 0 else LaplaceMechanism
        return mechanism.of_noise_scale(self.noise_scale_)
