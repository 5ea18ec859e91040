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
from skdpmic.privacy.ledger import check_ledger
from skdpmic.privacy.mechanisms import GaussianMechanism, LaplaceMechanism, grid_sensitivity
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.pairs import resolve_B, resolve_c
from skdpmic.targets import check_kind, make_target
from skdpmic.validation import check_feature_bounds, check_table, unchanged_on_error, warn_of_data


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
        NotImplementedError
            If `mechanism` asks for what this version does not have.

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

            self.epsilon_per_feature_ = self._epsilon_per_feature()
            self.B_ = resolve_B(self.B, len(X), self.epsilon_per_feature_)
            self.c_ = resolve_c(self.c)
            cost = self._cost()
            self._charge(cost, len(X))
            scorer = target.scorer(self.B_, self.c_)
            raw = RawScores(
                values=_score_features(scorer, X, lower, upper, self.n_jobs),
                steps=grid_sensitivity(target.sensitivity(self.B_), scorer.rounding_error),
            )
            self._release(raw, entropy_source(self.random_state))
            self.privacy_spent_ = (cost.epsilon, cost.delta)
        return self

    def _check_parameters(self):
        check_epsilon(self.epsilon)
        check_delta(self.delta)
        if self.mechanism not in ("laplace", "gaussian", "geometric"):
            raise ValueError(f"mechanism must be 'laplace', 'gaussian' or 'geometric', got {self.mechanism!r}.")
        if self.mechanism == "geometric":
            raise NotImplementedError("mechanism='geometric' is not available yet; use 'laplace' or 'gaussian'.")
        self._check_delta_of_mechanism()
        check_ledger(self.ledger)

    def _check_delta_of_mechanism(self):
        """Refuse a mechanism that cannot do with the delta, or would not use it."""
        if self.mechanism == "gaussian" and self.delta == 0:
            raise ValueError(f"delta must be > 0 with mechanism='gaussian', got {self.delta!r}.")
        if self.mechanism == "laplace" and self.delta > 0:
            raise ValueError(
                f"delta must be 0 with mechanism='laplace', whose guarantee needs none, got {self.delta!r}; "
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

    def _cost(self):
        """What a fit costs."""
        rho = rho_for(self.epsilon, self.delta) if self.delta > 0 else None
        return Cost(float(self.epsilon), float(self.delta), rho)

    def _charge(self, cost, n_samples):
        """Write the cost down before there is a score: without budget there is nothing to compute."""
        if self.ledger is not None:
            what = f"{type(self).__name__}, {self.mechanism}"
            self.ledger.charge(what, cost.epsilon, cost.delta, rho=cost.rho, n=n_samples, d=self.n_features_in_)

    def _mechanism_for_budget(self, steps):
        if self.mechanism == "gaussian":
            return GaussianMechanism.for_budget(self.epsilon, self.delta, self.n_features_in_, steps)
        return LaplaceMechanism.for_budget(self.epsilon, self.n_features_in_, steps)

    def _release(self, raw, source):
        """Publish all scores with noise."""
        mechanism = self._mechanism_for_budget(raw.steps)
        self.scores_, order = mechanism.release(raw.values, source)
        self.ranking_ = np.empty(len(order), dtype=np.int64)
        self.ranking_[order] = np.arange(1, len(order) + 1)
        self.noise_scale_ = mechanism.noise_scale

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
        if not isinstance(confidence, numbers.Real) or not 0 < confidence < 1:
            raise ValueError(f"confidence must be a number in (0, 1), got {confidence!r}.")
        # What the fit spent tells its mechanism, even if the parameter has been set anew since.
        mechanism = GaussianMechanism if self.privacy_spent_[1] > 0 else LaplaceMechanism
        return mechanism.of_noise_scale(self.noise_scale_).interval(self.scores_, confidence)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _score_features(scorer, X, lower, upper, n_jobs):
    """Raw score of each column of X, in an order that does not depend on `n_jobs`."""
    n_features = X.shape[1]
    n_blocks = min(n_features, max(1, effective_n_jobs(n_jobs) * 4))
    blocks = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_score_block)(scorer, X[:, block], lower[block], upper[block])
        for block in gen_even_slices(n_features, n_blocks)
    )
    return np.concatenate(blocks)


def _score_block(scorer, X, lower, upper):
    return np.array([scorer.score(X[:, j], (lower[j], upper[j])) for j in range(X.shape[1])])
