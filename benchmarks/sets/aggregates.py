"""Joint scores put together in other ways than the package's, at exactly the noise of single scores.

What a feature is worth is the minimum, or the mean, of its joint scores with those that were chosen. Nothing is
released of these, so all of the budget is for the choices. Why the package does not: ``docs/theory/joint.md``.
"""

from dataclasses import dataclass

import numpy as np

from skdpmic import PrivateSelectKBest
from skdpmic.privacy.mechanisms import to_grid
from skdpmic.release import kinds
from skdpmic.release.kinds import BestFeatures, JointFeatures


@dataclass(frozen=True)
class _Aggregated(BestFeatures):
    """Of integers, in which a mean that is rounded down moves no further than each of them."""

    is_mean: bool = False

    def _chosen(self, records, measure, mechanism, n_jobs, random_bytes, candidates, by_chance):
        one_choice = type(mechanism)(1, mechanism.scale)
        worths = to_grid(kinds._scores(records, measure, n_jobs, random_bytes)) - to_grid(by_chance)
        left, chosen, beside = list(candidates), [], []
        while True:
            place = one_choice.choose(worths, random_bytes)
            chosen.append(left.pop(place))
            if len(chosen) == self.k:
                return np.array(chosen), None
            beside = [np.delete(scores, place) for scores in beside]
            beside.append(to_grid(records.scores_beside(chosen[-1], measure, chosen, n_jobs)))
            worths = sum(beside) // len(beside) if self.is_mean else np.min(beside, axis=0)


class PlainMinimum(PrivateSelectKBest):
    """By the smallest joint score with a feature that was chosen."""

    _is_mean = False

    def _release_for(self, n_features, n_groups, n_classes):
        of = super()._release_for(n_features, n_groups, n_classes)
        if not isinstance(of, JointFeatures):
            return of
        return _Aggregated(of.epsilon, of.delta, of.k, learns=of.learns, is_mean=self._is_mean)


class Mean(PlainMinimum):
    """By the mean of these."""

    _is_mean = True
