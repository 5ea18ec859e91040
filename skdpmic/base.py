"""What both estimators do: from a table and a budget to scores with noise."""

import numbers
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.utils import gen_even_slices
from sklearn.utils.validation import check_is_fitted

from skdpmic.privacy.arguments import check_delta, check_epsilon, warn_of_seed
from skdpmic.privacy.composition import rho_for
from skdpmic.privacy.filters import Cost
from skdpmic.privacy.geometric import GeometricMechanism, TableScorer
from skdpmic.privacy.ledger import check_ledger
from skdpmic.privacy.mechanisms import GaussianMechanism, LaplaceMechanism, grid_sensitivity
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.pairs import resolve_B, resolve_c, resolve_parts
from skdpmic.targets import ContinuousY, DiscreteY, check_kind, make_target
from skdpmic.validation import check_feature_bounds, check_table, unchanged_on_error, warn_of_data

_RELEASED = ("scores_", "noisy_counts_", "support_mechanism_")  # those that not every mechanism releases


class Table(NamedTuple):
    """Records, and where they are said to lie."""

    X: np.ndarray  # (n_samples, n_features)
    lower: np.ndarray  # (n_features,)
    upper: np.ndarray  # (n_features,)
    target: ContinuousY | DiscreteY

    def each_feature(self, function, n_jobs):
        """``function(column, bounds)`` of each feature, in an array that does not depend on `n_jobs`."""
        n_features = self.X.shape[1]
        n_blocks = min(n_features, max(1, effective_n_jobs(n_jobs) * 4))
        blocks = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(_each_column)(function, self.X[:, block], self.lower[block], self.upper[block])
            for block in gen_even_slices(n_features, n_blocks)
        )
        return np.concatenate(blocks)


def _each_column(function, X, lower, upper):
    return np.array([function(X[:, j], (lower[j], upper[j])) for j in range(X.shape[1])])


class RawScores(NamedTuple):
    """Scores without noise, and how far one record can move each. Lives within `fit` only."""

    values: np.ndarray  # (n_features,)
    steps: int  # sensitivity, in grid steps


class BaseDPMIC(BaseEstimator):
    """Validation, scoring and the budget, shared by the scorer and the selector."""

    def fit(self, X, y):
        """Score every feature against the target, and keep what is released with noise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Real numbers, one record a row; at least 4 rows. Those outside `bounds` are clipped.
        y : array-like of shape (n_samples,)
            The target; numbers within `target_bounds` (clipped otherwise), or labels out of `classes`.

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
            X, y = check_table(self, X, y, y_numeric=check_kind(self.target_bounds, self.classes))
            lower, upper = check_feature_bounds(self.bounds, X, getattr(self, "feature_names_in_", None))
            target = make_target(y, self.target_bounds, self.classes)
            self._warn_of_leaks()

            for name in _RELEASED:  # by an earlier fit, perhaps with another mechanism
                vars(self).pop(name, None)
            self.epsilon_per_feature_ = self._epsilon_per_feature()
            self.B_, self.c_ = self._resolve_grid(len(X), target.n_classes)
            cost = self._cost()
            self._charge(cost, len(X))
            self._release(Table(X, lower, upper, target), entropy_source(self.random_state))
            self.privacy_spent_ = (cost.epsilon, cost.delta)
        return self

    def _check_parameters(self):
        check_epsilon(self.epsilon)
        check_delta(self.delta)
        if self.mechanism not in ("laplace", "gaussian", "geometric"):
            raise ValueError(f"mechanism must be 'laplace', 'gaussian' or 'geometric', got {self.mechanism!r}.")
        self._check_delta_of_mechanism()
        check_ledger(self.ledger)

    def _check_delta_of_mechanism(self):
        """Refuse a mechanism that cannot do with the delta, or would not use it."""
        if self.mechanism == "gaussian" and self.delta == 0:
            raise ValueError(f"delta must be > 0 with mechanism='gaussian', got {self.delta!r}.")
        if self.mechanism != "gaussian" and self.delta > 0:
            raise ValueError(
                f"delta must be 0 with mechanism={self.mechanism!r}, whose guarantee needs none, got {self.delta!r}; "
                "use mechanism='gaussian'."
            )

    def _warn_of_leaks(self):
        for name in ("bounds", "target_bounds", "classes"):
            warn_of_data(name, getattr(self, name), stacklevel=3)
        if self.random_state is not None:
            warn_of_seed(stacklevel=3)

    def _epsilon_per_feature(self):
        if self.mechanism == "gaussian":
            return GaussianMechanism.epsilon_per_score(self.epsilon, self.delta, self.n_features_in_)
        return float(self.epsilon) / self.n_features_in_

    def _resolve_grid(self, n_samples, n_classes):
        """B and c as numbers; for noisy tables, B of a continuous target, with which their parts were fitted."""
        epsilon = self.epsilon_per_feature_
        if self.mechanism == "geometric":
            B = resolve_B(self.B, n_samples, epsilon)
            return B, resolve_parts(B, self.c, n_samples, epsilon, n_classes)[1]
        return resolve_B(self.B, n_samples, epsilon, n_classes), resolve_c(self.c, n_samples, epsilon, n_classes)

    def _cost(self):
        """What a fit costs."""
        rho = rho_for(self.epsilon, self.delta) if self.delta > 0 else None
        return Cost(float(self.epsilon), float(self.delta), rho)

    def _charge(self, cost, n_samples):
        """Write the cost down before there is a score: without budget there is nothing to compute."""
        if self.ledger is not None:
            what = f"{type(self).__name__}, {self.mechanism}"
            self.ledger.charge(what, cost.epsilon, cost.delta, rho=cost.rho, n=n_samples, d=self.n_features_in_)

    def _release(self, table, source):
        """Publish all scores with noise."""
        if self.mechanism == "geometric":
            self.scores_, order = self._release_counts(table, source)
        else:
            self.scores_, order = self._release_scores(table, source)
        self.ranking_ = np.empty(len(order), dtype=np.int64)
        self.ranking_[order] = np.arange(1, len(order) + 1)

    def _release_scores(self, table, source):
        """Add noise to the scores."""
        raw = self._raw_scores(table)
        if self.mechanism == "gaussian":
            mechanism = GaussianMechanism.for_budget(self.epsilon, self.delta, self.n_features_in_, raw.steps)
        else:
            mechanism = LaplaceMechanism.for_budget(self.epsilon, self.n_features_in_, raw.steps)
        self.noise_scale_ = mechanism.noise_scale
        return mechanism.release(raw.values, source)

    def _raw_scores(self, table):
        scorer = table.target.scorer(self.B_, self.c_)
        return RawScores(
            values=table.each_feature(scorer.score, self.n_jobs),
            steps=grid_sensitivity(table.target.sensitivity(self.B_), scorer.rounding_error),
        )

    def _release_counts(self, table, source):
        """Add noise to a table of counts for each feature, and compute scores from these."""
        n, n_classes = len(table.X), table.target.n_classes
        n_parts, _ = resolve_parts(self.B_, self.c, n, self.epsilon_per_feature_, n_classes)
        mechanism = GeometricMechanism.for_budget(self.epsilon, self.n_features_in_)
        counts = table.each_feature(table.target.counter(n_parts).count, self.n_jobs)
        self.noisy_counts_ = mechanism.release(counts, n, source)
        self.noise_scale_ = mechanism.noise_scale
        scorer = TableScorer(n, mechanism.scale, self.B_, is_discrete=n_classes is not None)
        scores = Parallel(n_jobs=self.n_jobs, prefer="threads")(delayed(scorer.score)(t) for t in self.noisy_counts_)
        return np.array(scores), np.argsort(-np.array(scores), kind="stable")

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
