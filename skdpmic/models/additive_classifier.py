"""A private additive model of classes."""

from typing import Any, Self

import numpy as np
from scipy import special
from sklearn.base import ClassifierMixin

from skdpmic._utils.rollback import one_call_at_a_time
from skdpmic._utils.typing import BesideTable, Categories, ColumnLike, Floats, FromData, RandomState, Ranges, TableLike
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.models.additive_model import PrivateAdditiveModel
from skdpmic.models.additive_plan import additive_plan
from skdpmic.release.path import publish, store


class PrivateAdditiveClassifier(ClassifierMixin, PrivateAdditiveModel):
    """DOC"""

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        bounds: Ranges | FromData | None = None,
        categories: Categories | None = None,
        classes: ColumnLike | FromData | None = None,
        max_rows_per_group: int | None = None,
        ledger: BudgetLedger | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.categories = categories
        self.classes = classes
        self.max_rows_per_group = max_rows_per_group
        self.ledger = ledger
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @one_call_at_a_time
    def fit(self, X: TableLike, y: BesideTable | None = None, groups: BesideTable | None = None) -> Self:
        """DOC"""
        plan = self._plan()
        records = plan.read(X, y, groups)
        ready = plan.ready(records.public)
        published = publish(ready, records, ledger=self.ledger, random_state=self.random_state)
        store(self, published)
        return self

    def _plan(self):
        return additive_plan(self, classes=self.classes)

    def decision_function(self, X: TableLike) -> Floats:
        """DOC"""
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: TableLike) -> Floats:
        """DOC"""
        scores, is_scorecard = self._scores(X), self.kind_ == "scorecard"
        if len(self.classes_) == 2:
            scores = np.hstack([-scores, scores]) / 2 if is_scorecard else np.hstack([0.5 - scores, 0.5 + scores])
        return special.softmax(scores, axis=1) if is_scorecard else nearest_distributions(scores)

    def predict(self, X: TableLike) -> Any:
        """DOC"""
        scores = self._scores(X)
        return self.classes_[(scores[:, 0] > 0).astype(int) if len(self.classes_) == 2 else scores.argmax(axis=1)]


    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on the small tables of scikit-learn's checks, because of the noise
        return tags


def nearest_distributions(scores):
    """The probabilities nearest to each row of scores: at least 0, with a sum of 1, in the same order.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
    """
    descending = -np.sort(-scores, axis=1)
    excess = (np.cumsum(descending, axis=1) - 1) / np.arange(1, scores.shape[1] + 1)
    n_positive = (descending > excess).sum(axis=1)
    return np.maximum(scores - excess[np.arange(len(scores)), n_positive - 1][:, None], 0.0)
