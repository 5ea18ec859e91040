"""A private additive model of numbers."""

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from skdpmic._utils.rollback import one_call_at_a_time
from skdpmic._utils.typing import BesideTable, Categories, FromData, RandomState, Range, Ranges, TableLike
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.models.additive_model import PrivateAdditiveModel
from skdpmic.models.additive_plan import additive_plan
from skdpmic.release.path import publish, store
from skdpmic.table.domains import NUMBERS


class PrivateAdditiveRegressor(RegressorMixin, PrivateAdditiveModel):
    """DOC"""

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        bounds: Ranges | FromData | None = None,
        categories: Categories | None = None,
        target_bounds: Range | FromData | None = None,
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
        self.target_bounds = target_bounds
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
        return additive_plan(self, target_bounds=self.target_bounds)

    def predict(self, X: TableLike) -> Any:
        """DOC"""
        scores, domain = self._scores(X), self._target_domain
        positions = np.clip(scores[:, 0], *domain.encoded)
        return positions if domain.bounds == domain.encoded and domain.of == NUMBERS else domain.decode_all(positions)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # on the small tables of scikit-learn's checks, because of the noise
        return tags
