"""What both estimators do: from a table and a budget to scores with noise."""

import math
import numbers
import warnings

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skdpmic.agreement import check_agreement, check_publishable
from skdpmic.checks.readable import is_dask_collection, refuse_unreadable
from skdpmic.counting.distributed import count_collection, feature_names, n_rows
from skdpmic.counting.sketch import RangeGridSketch, SketchedRecords, count_into
from skdpmic.defaults import resolve_B, resolve_c, resolve_parts
from skdpmic.dependence.optimize_axis import entropy_table, rounding_error
from skdpmic.description import check_public, describe
from skdpmic.privacy.arguments import check_delta, check_epsilon, warn_of_seed
from skdpmic.privacy.composition import rho_for
from skdpmic.privacy.filters import Cost
from skdpmic.privacy.geometric import GeometricMechanism, TableScorer
from skdpmic.privacy.ledger import check_ledger
from skdpmic.privacy.mechanisms import GaussianMechanism, LaplaceMechanism, grid_sensitivity
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.sensitivity import mic_r_sensitivity
from skdpmic.records import GridSizes, Records
from skdpmic.targets import check_kind, make_target
from skdpmic.uncached import NeverCached
from skdpmic.validation import (
    check_feature_bounds,
    check_n_jobs,
    check_table,
    refuse_dask,
    unchanged_on_error,
    warn_of_data,
    with_bounds,
)


def _check_expected(name, n):
    if not isinstance(n, numbers.Integral) or n < 4:
        raise ValueError(f"{name} must be an int >= 4, got {n!r}.")


def _all_is_public(estimator):
    """Whether records can come in pieces; an AttributeError says why not."""
    try:
        for name in ("bounds", "target_bounds", "classes"):
            check_public(name, getattr(estimator, name))
    except ValueError as error:
        raise AttributeError(str(error)) from None
    return True


class BaseDPMIC(NeverCached, BaseEstimator):
    """Validation, scoring and the budget, shared by the scorer and the selector."""

    def fit(self, X, y):
        """Score every feature against the target, and keep what is released with noise.

        Parameters
        ----------
        X : array-like, dask array or dask dataframe of shape (n_samples, n_features)
            Real numbers, one record a row; at least 4 rows. Those outside `bounds` are clipped. Dates and durations
            are refused, as the unit that numpy or pandas counts them in may depend on all rows: pass, for instance,
            ``(column - pd.Timestamp("2020-01-01")) / pd.Timedelta(days=1)``. So are masked arrays, whose hidden
            values would be read, and sparse columns.
        y : array-like of shape (n_samples,)
            The target; numbers within `target_bounds` (clipped otherwise), or labels out of `classes`. Where X is
            a dask collection, one too, in partitions of the same rows.

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
            self._publish(self._count_where_it_lies(X, y) if is_dask_collection(X) else self._read(X, y))
        return self

    def fit_sketch(self, sketch):
        """Score every feature from the counts of a sketch, and keep what is released with noise.

        The release is that of `fit` on the records that were counted; with one seed, the same numbers.

        Parameters
        ----------
        sketch : RangeGridSketch
            At least 4 records. It stays as it is, and as sensitive as the data.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError, TypeError
            If `bounds`, `target_bounds`, `classes`, `B` or `c` of the estimator are given and differ from those of the
            sketch, or if `mechanism` needs other counts. What is None, "auto", or a B that is an exponent, is taken
            from the sketch. The estimator is then left as it was.
        BudgetError
            If the cost does not fit in `ledger`. The estimator is left as it was, and no noise is drawn.

        Warns
        -----
        PrivacyLeakWarning
            If `random_state` is set.
        """
        with unchanged_on_error(self):
            self._check_parameters()
            self._publish(self._accept(sketch))
        return self

    @available_if(_all_is_public)
    def partial_fit(self, X, y, n_expected=100_000):
        """Count a chunk of records, to be published later by `publish`.

        **Until `publish`, the estimator holds exact counts and is as sensitive as the data**; it refuses to be pickled.
        The first call forgets what an earlier fit released. Costs no budget: nothing is released. Available where
        `bounds`, `target_bounds` and `classes` are public, not "data".

        Parameters
        ----------
        X : array-like of shape (n_chunk_samples, n_features)
            As in `fit`, but in memory, and with any number of rows.
        y : array-like of shape (n_chunk_samples,)
        n_expected : int, default=100_000
            How many records there will be in all, about; public. The first call chooses by it what depends on
            n_samples: B if it is "auto" or an exponent, and c. Later calls ignore it. The noise does not depend on it.

        Returns
        -------
        self : object
            With the chunk counted.

        Raises
        ------
        ValueError, TypeError
            If a parameter or the chunk is not as described. The estimator is then left as it was.
        """
        refuse_dask(X)
        with unchanged_on_error(self):
            self._check_parameters()
            is_first = "_sketch" not in vars(self)
            if is_first:
                self._forget()
            else:
                check_agreement(self._sketch, self)
            y_numeric = check_kind(self.target_bounds, self.classes)
            X, y = check_table(self, X, y, y_numeric, reset=is_first, ensure_min_samples=0)
            if is_first:
                _check_expected("n_expected", n_expected)
                self._sketch = self._sketch_for(n_expected, X.shape[1], getattr(self, "feature_names_in_", None))
            count_into(self._sketch, X, y, self.n_jobs)
        return self

    def publish(self):
        """Publish what `fit` would publish of all chunks since the last `publish`, and drop their counts.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        NotFittedError
            If there was no `partial_fit` since the last `publish` or `fit`.
        ValueError
            If there are fewer than 4 records, or parameters do not agree with those at the first `partial_fit`.
        BudgetError
            If the cost does not fit in `ledger`. No noise is drawn, and the estimator keeps its counts.

        Warns
        -----
        PrivacyLeakWarning
            If `random_state` is set.
        UserWarning
            If there are so many more or fewer records than `n_expected` that the scores suffer from it.
        """
        if "_sketch" not in vars(self):
            raise NotFittedError(f"This {type(self).__name__} has nothing to publish: call 'partial_fit' first.")
        with unchanged_on_error(self):
            self._check_parameters()
            sketched = self._accept(self._sketch)
            self._warn_of_expected(sketched)
            self._publish(sketched)
        return self

    def empty_sketch(self, n_samples, *, n_features=None, feature_names=None):
        """The sketch that this estimator needs, without records: to be filled elsewhere and given to `fit_sketch`.

        Parameters
        ----------
        n_samples : int
            How many records there will be in all, about; public. Everything that depends on it is chosen here.
        n_features : int, default=None
            Number of features; needed if neither `bounds` nor `feature_names` tells.
        feature_names : array-like of str, default=None
            Names of the features.

        Returns
        -------
        RangeGridSketch

        Raises
        ------
        ValueError
            If a parameter is not as described.
        """
        self._check_parameters()
        _check_expected("n_samples", n_samples)
        return self._empty_sketch(n_samples, n_features, feature_names)

    def __getstate__(self):
        if "_sketch" in vars(self):
            raise TypeError(
                f"cannot pickle or copy a {type(self).__name__} between partial_fit and publish: it holds exact "
                "counts, as sensitive as the data. To move counts on purpose, use a RangeGridSketch."
            )
        return super().__getstate__()

    def __sklearn_is_fitted__(self):
        return hasattr(self, "ranking_")

    # --- The data, and the grids to look at it through -------------------------------------------------------

    def _read(self, X, y):
        self._forget()
        X, y = check_table(self, X, y, y_numeric=check_kind(self.target_bounds, self.classes))
        X, lower, upper = with_bounds(X, self.bounds, getattr(self, "feature_names_in_", None))
        target = make_target(y, self.target_bounds, self.classes)
        return Records(X, lower, upper, target, self._grid_sizes(*X.shape, target.n_classes))

    def _count_where_it_lies(self, X, y):
        """Count a dask collection on its workers."""
        n_dimensions = getattr(X, "ndim", "no")
        if n_dimensions != 2:
            raise ValueError(f"X must be 2-dimensional, got a dask collection of {n_dimensions} dimension(s).")
        refuse_unreadable(X, y)
        n_samples = n_rows(X) if self._sizes_depend_on_n() else math.inf  # which would take a pass over the rows
        if n_samples < 4:
            raise ValueError(f"Found array with {n_samples} sample(s) while a minimum of 4 is required.")
        data = self._accept(count_collection(self._sketch_for(n_samples, X.shape[1], feature_names(X)), X, y))
        self._grid_sizes(data.n_samples, self.n_features_in_, data.n_classes)  # an error, if too large for so many
        return data

    def _sketch_for(self, n_samples, n_features, names):
        """An empty sketch for a table at hand, whose columns a dict of bounds must match by their names."""
        if isinstance(self.bounds, dict):
            check_feature_bounds(self.bounds, n_features, names)
        return self._empty_sketch(n_samples, n_features, names)

    def _empty_sketch(self, n_samples, n_features, feature_names):
        public = {"bounds": self.bounds, "target_bounds": self.target_bounds, "classes": self.classes}
        public |= {"n_features": n_features, "feature_names": feature_names}
        description = describe(**public)
        sizes = self._grid_sizes(n_samples, description.n_features, description.n_classes)
        return RangeGridSketch(**public, **sizes._asdict())

    def _accept(self, sketch):
        """The records of a sketch, if it is one of this estimator's."""
        check_publishable(sketch, self)
        self._forget()
        self.n_features_in_ = sketch.n_features_in_
        if hasattr(sketch, "feature_names_in_"):
            self.feature_names_in_ = sketch.feature_names_in_
        return SketchedRecords(sketch)

    def _sizes_depend_on_n(self):
        return "auto" in (self.B, self.c) or self._B_is_exponent()

    def _B_is_exponent(self):
        return isinstance(self.B, numbers.Real) and self.B < 1

    def _grid_sizes(self, n_samples, n_features, n_classes):
        return self._grid_sizes_at(self._epsilon_per_feature(n_features), n_samples, n_classes)

    def _grid_sizes_at(self, epsilon, n_samples, n_classes):
        if self.mechanism == "geometric":
            B = resolve_B(self.B, n_samples, epsilon)  # of a continuous target, with which the parts were fitted
            n_parts, c = resolve_parts(B, self.c, n_samples, epsilon, n_classes)
            return GridSizes(B, c, n_parts)
        B = resolve_B(self.B, n_samples, epsilon, n_classes)
        return GridSizes(B, resolve_c(self.c, n_samples, epsilon, B, n_classes), None)

    def _forget(self):
        """Drop what an earlier fit left."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            del vars(self)[name]

    # --- Parameters ------------------------------------------------------------------------------------------

    def _check_parameters(self):
        check_epsilon(self.epsilon)
        check_delta(self.delta)
        if self.mechanism not in ("laplace", "gaussian", "geometric"):
            raise ValueError(f"mechanism must be 'laplace', 'gaussian' or 'geometric', got {self.mechanism!r}.")
        self._check_delta_of_mechanism()
        check_ledger(self.ledger)
        check_n_jobs(self.n_jobs)
        entropy_source(self.random_state)  # now, as an error must come before the ledger is charged

    def _check_delta_of_mechanism(self):
        """Refuse a mechanism that cannot do with the delta, or would not use it."""
        if self.mechanism == "gaussian" and self.delta == 0:
            raise ValueError(f"delta must be > 0 with mechanism='gaussian', got {self.delta!r}.")
        if self.mechanism != "gaussian" and self.delta > 0:
            raise ValueError(
                f"delta must be 0 with mechanism={self.mechanism!r}, whose guarantee needs none, got {self.delta!r}; "
                "use mechanism='gaussian'."
            )

    def _warn(self, stacklevel):
        """Say what the user should know of a release, before it is paid for."""
        for name in ("bounds", "target_bounds", "classes"):
            warn_of_data(name, getattr(self, name), stacklevel + 1)
        if self.random_state is not None:
            warn_of_seed(stacklevel + 1)

    def _warn_of_expected(self, sketched):
        """Warn if the B chosen for an expected number of records is far from that of their number."""
        if self.B != "auto" and not self._B_is_exponent():
            return
        fitting = self._grid_sizes(sketched.n_samples, self.n_features_in_, sketched.n_classes).B
        if not 0.5 <= sketched.sizes.B / fitting <= 2:
            warnings.warn(
                f"B={sketched.sizes.B:.4g} was chosen for the n_expected of the first partial_fit; {fitting:.4g} suits "
                f"the {sketched.n_samples:,} records that came.",
                stacklevel=3,
            )

    def _epsilon_per_feature(self, n_features):
        if self.mechanism == "gaussian":
            return GaussianMechanism.epsilon_per_score(self.epsilon, self.delta, n_features)
        return float(self.epsilon) / n_features

    def _cost(self):
        """What a fit costs."""
        rho = rho_for(self.epsilon, self.delta) if self.delta > 0 else None
        return Cost(float(self.epsilon), float(self.delta), rho)

    def _charge(self, cost, n_samples):
        """Write the cost down before there is a score: without budget there is nothing to compute."""
        if self.ledger is not None:
            what = f"{type(self).__name__}, {self.mechanism}"
            self.ledger.charge(what, cost.epsilon, cost.delta, rho=cost.rho, n=n_samples, d=self.n_features_in_)

    # --- The one release, whichever way the data came --------------------------------------------------------

    def _publish(self, data):
        """Charge the ledger, draw the noise, and keep what is private.

        All that follows from public numbers is made before the charge, so that an error in it costs nothing.
        """
        self._warn(stacklevel=3)
        source, cost = entropy_source(self.random_state), self._cost()
        mechanism = self._mechanism(data)
        self._charge(cost, data.n_samples)
        vars(self).pop("_sketch", None)
        self.epsilon_per_feature_ = self._epsilon_per_feature(self.n_features_in_)
        self.B_, self.c_ = data.sizes.B, data.sizes.c
        self._release(data, mechanism, source)
        self.privacy_spent_ = (cost.epsilon, cost.delta)

    def _mechanism(self, data):
        """The noise, which depends on public numbers only."""
        if self.mechanism == "geometric":
            mechanism = GeometricMechanism.for_budget(self.epsilon, self.n_features_in_)
            self._table_scorer(data, mechanism)  # whose grids are kept
            return mechanism
        steps = self._steps(data)
        if self.mechanism == "gaussian":
            return GaussianMechanism.for_budget(self.epsilon, self.delta, self.n_features_in_, steps)
        return LaplaceMechanism.for_budget(self.epsilon, self.n_features_in_, steps)

    def _steps(self, data):
        """How far one record can move each score, in grid steps."""
        n, plan = data.n_samples, data.sizes.plan(data.n_samples, data.n_classes)
        entropy_table(n)  # kept for the scores; an error, if n is too large for it
        return grid_sensitivity(mic_r_sensitivity(n), rounding_error(n, plan))

    def _release(self, data, mechanism, source):
        """Publish all scores with noise."""
        self.noise_scale_ = mechanism.noise_scale
        if self.mechanism == "geometric":
            self.scores_, order = self._release_counts(data, mechanism, source)
        else:
            self.scores_, order = mechanism.release(self._raw_scores(data), source)
        self.ranking_ = np.empty(len(order), dtype=np.int64)
        self.ranking_[order] = np.arange(1, len(order) + 1)

    def _raw_scores(self, data):
        """Scores without noise, of shape (n_features,)."""
        return np.array(data.each_feature(data.scorer().score, self.n_jobs))

    def _release_counts(self, data, mechanism, source):
        """Add noise to a table of counts for each feature, and compute scores from these."""
        counts = np.array(data.each_feature(data.counter().count, self.n_jobs))
        self.noisy_counts_ = mechanism.release(counts, data.n_samples, source)
        scorer = self._table_scorer(data, mechanism)
        scores = Parallel(n_jobs=self.n_jobs, prefer="threads")(delayed(scorer.score)(t) for t in self.noisy_counts_)
        return np.array(scores), np.argsort(-np.array(scores), kind="stable")

    @staticmethod
    def _table_scorer(data, mechanism):
        return TableScorer(data.n_samples, mechanism.scale, data.sizes.B, is_discrete=data.n_classes is not None)

    def scores_interval(self, confidence=0.95):
        """Intervals for the scores without noise, from the known law of the noise alone.

        Costs no privacy: nothing but what was released is used.

        Parameters
        ----------
        confidence : float, default=0.95
            For each feature by itself; in (0, 1). For all at once, ``1 - 0.05 / n_features`` gives 95 %.

        Returns
        -------
        lower, upper : ndarrays of shape (n_features,)
        """
        check_is_fitted(self)
        if not hasattr(self, "scores_"):
            raise AttributeError("scores_interval needs scores, and release='support' publishes none.")
        if hasattr(self, "noisy_counts_"):
            raise AttributeError(
                "scores_interval needs scores with noise of a known law, and mechanism='geometric' adds it to counts."
            )
        if not isinstance(confidence, numbers.Real) or not 0 < confidence < 1:
            raise ValueError(f"confidence must be a number in (0, 1), got {confidence!r}.")
        # What the fit spent tells its mechanism, even if the parameter has been set anew since.
        mechanism = GaussianMechanism if self.privacy_spent_[1] > 0 else LaplaceMechanism
        return mechanism.of_noise_scale(self.noise_scale_).interval(self.scores_, confidence)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
