"""A statistic and a mechanism that the package does not have; each is all that a new one requires."""

from dataclasses import dataclass

import numpy as np

from skdpmic._utils.jit import jit
from skdpmic.privacy.mechanisms import LaplaceMechanism
from skdpmic.statistics.measure import Measure, Statistic


@jit
def share_of_agreement(x_is_high, y_is_high):
    """The share of records that are high in both columns or in neither."""
    n_agreeing = 0
    for i in range(len(x_is_high)):
        n_agreeing += x_is_high[i] == y_is_high[i]
    return n_agreeing / len(x_is_high)


class Agreement(Statistic):
    """The share of records that lie in the same half of both columns."""

    name = "agreement"

    def measure(self, B, c, n, epsilon, n_classes):
        return Halves(n_classes)


@dataclass(frozen=True)
class Halves(Measure):
    """The division of each range into halves."""

    n_classes: int | None

    def sensitivity(self, shape):
        return shape.rows_per_group / shape.n_samples

    def rounding_error(self, shape):
        return 2.0**-50

    def scorer(self, target, source):
        middle = np.mean(target.bounds) if target.n_classes is None else (target.n_classes - 1) / 2
        return HalvesScorer(target.values > middle)


class HalvesScorer:
    """Scores features against one target."""

    def __init__(self, y_is_high):
        self._y_is_high = np.ascontiguousarray(y_is_high)

    def score(self, x, scale):
        middle = np.mean(scale) if isinstance(scale, tuple) else scale.n_parts / 2
        return float(share_of_agreement(np.ascontiguousarray(x > middle), self._y_is_high))


class Doubled(LaplaceMechanism):
    """Laplace noise of twice the required scale."""

    name = "doubled"

    @classmethod
    def for_budget(cls, budget, n_scores, steps):
        return cls(2 * LaplaceMechanism.for_budget(budget, n_scores, steps).scale)

    @staticmethod
    def epsilon_per_score(budget, n_scores):
        return float(budget.epsilon) / n_scores / 2
