"""Choosing k features without publishing a score (``docs/theory/top_k.md``).

The noise of the one-shot mechanism grows with k, and needs no delta; that of k choices by the exponential mechanism
grows with the square root of k.
"""

import math
from dataclasses import dataclass
from heapq import nlargest
from itertools import pairwise

import numpy as np
from scipy import stats

from skdpmic.privacy.budgets import budget_of
from skdpmic.privacy.composition import scale_for_rho
from skdpmic.privacy.mechanisms import GRID, LaplaceMechanism, NoiseOnGrid, scale_for_budget, to_grid
from skdpmic.privacy.noise import exponential_choice, geometric


def needs_no_delta(epsilon, delta, k):
    """Whether the one-shot mechanism, which spends epsilon only, has the smaller standard deviation of the noise."""
    if delta == 0:
        return True
    at_once = OneShotTopK.epsilon_per_score(budget_of(epsilon), k)
    return at_once >= ExponentialTopK.epsilon_per_score(budget_of(epsilon, delta), k)


@dataclass(frozen=True)
class _TopK(NoiseOnGrid):
    """Publishes the names of the k best features, in order, and no scores.

    Parameters
    ----------
    k : int
    scale : int
        Scale of the noise in grid steps; 0 for none.
    """

    k: int
    scale: int

    def choose(self, adjusted, random_bytes):
        """The index of one feature, from scores in integer grid steps."""
        return int(np.argmax(adjusted)) if self.scale == 0 else int(self._choose(adjusted, random_bytes)[0])

    def release(self, scores, random_bytes, offsets=0.0):
        """Indices of the k features chosen, best first, by their scores minus their public `offsets`."""
        if self.scale == 0:
            return np.argsort(offsets - scores, kind="stable")[: self.k]
        return np.array(self._choose(_in_steps(scores, offsets), random_bytes), dtype=np.int64)

    def release_with_gaps(self, scores, random_bytes, offsets=0.0):
        """The chosen features, and the k - 1 gaps between their noisy scores if these cost nothing more, else None."""
        return self.release(scores, random_bytes, offsets), None


def _in_steps(scores, offsets):
    """Scores minus their offsets, in integer grid steps, which does not increase the sensitivity."""
    return to_grid(scores) - to_grid(np.broadcast_to(offsets, scores.shape))


class OneShotTopK(_TopK):
    """Adds one-sided geometric noise to every score and takes the k largest, ties broken by index: pure epsilon.

    Parameters
    ----------
    k : int
    scale : int
        Scale of the noise in grid steps; 0 for none.
    """

    name = "one-shot"
    _law = stats.expon

    @classmethod
    def for_budget(cls, budget, k, steps):
        """The mechanism that spends epsilon on scores of sensitivity `steps`: scale 2 k steps / epsilon."""
        return cls(k, scale_for_budget(budget.epsilon, 2 * k * steps))

    @staticmethod
    def epsilon_per_score(budget, k):
        """Sensitivity over the standard deviation of the noise, which equals the scale."""
        return float(budget.epsilon) / (2 * k)

    def margin(self, confidence):
        """Half-width of an interval of at least this confidence for the noise on the difference of two scores.

        The difference of two independent geometric numbers of one scale is discrete Laplace of that scale.
        """
        return LaplaceMechanism(self.scale).margin(confidence)

    def release_with_gaps(self, scores, random_bytes, offsets=0.0):
        """The indices, and the gaps from each noisy score to the next one chosen; never to one that was not chosen."""
        if self.scale == 0:
            chosen = self.release(scores, random_bytes, offsets)
            return chosen, -np.diff((scores - offsets)[chosen])
        noisy = self._with_noise(_in_steps(scores, offsets), random_bytes)
        chosen = self._largest(noisy)
        gaps = [noisy[i] - noisy[following] for i, following in pairwise(chosen)]
        return np.array(chosen, dtype=np.int64), np.array(gaps, dtype=np.float64) * GRID

    def _choose(self, scores, random_bytes):
        return self._largest(self._with_noise(scores, random_bytes))

    def _with_noise(self, scores, random_bytes):
        return scores + geometric(self.scale, len(scores), random_bytes)

    def _largest(self, noisy):
        return nlargest(self.k, range(len(noisy)), key=noisy.__getitem__)


def confidence_among_best(gaps, noise_scale):
    """Confidence that the feature at each rank of a one-shot choice is among the k best: docs/theory/top_k.md.

    Parameters
    ----------
    gaps : ndarray of shape (k - 1,)
        Gaps between the noisy scores of successive features.
    noise_scale : float
        Scale of the noise, on the scale of scores.

    Returns
    -------
    ndarray of shape (k,)
        (1 - exp(-g))^(k - j) at rank j, whose noisy score is g scales above the last one; 0 for the last one, about
        which nothing is known. Each holds for its rank by itself.
    """
    if noise_scale == 0:
        return np.ones(len(gaps) + 1)
    above_last = np.cumsum(gaps[::-1])[::-1] / noise_scale
    return np.append((-np.expm1(-above_last)) ** np.arange(len(gaps), 0, -1), 0.0)


class ExponentialTopK(_TopK):
    """Chooses k times by the exponential mechanism, without replacement: (epsilon, delta).

    The list has the same distribution as the k largest scores with Gumbel noise of the same scale (Durfee and Rogers
    2019).

    Parameters
    ----------
    k : int
    scale : int
        Scale in grid steps: the probability of a score s is proportional to exp(s / scale). 0 for no noise.
    """

    name = "exponential"
    _law = stats.gumbel_r

    @classmethod
    def for_budget(cls, budget, k, steps):
        """The mechanism that spends rho on scores of sensitivity `steps`: scale sqrt(k / (2 rho)) steps."""
        return cls(k, scale_for_rho(budget.rho, k, steps))

    @staticmethod
    def epsilon_per_score(budget, k):
        """Sensitivity over the standard deviation of the noise, which is pi / sqrt(6) times the scale."""
        return math.sqrt(6) / math.pi * math.sqrt(2 * budget.rho / k)

    def margin(self, confidence):
        """Half-width of an interval of at least this confidence for the noise on the difference of two scores.

        The difference of two independent Gumbel numbers of one scale is logistic: its absolute value is above q with
        probability 2 / (1 + exp(q / scale)).
        """
        if self.scale == 0:
            return 0.0
        return (math.ceil(self.scale * math.log((1 + confidence) / (1 - confidence))) + 1) * GRID

    def _choose(self, scores, random_bytes):
        remaining, chosen = np.arange(len(scores)), []
        for _ in range(self.k):
            place = exponential_choice(scores[remaining], self.scale, random_bytes)
            chosen.append(remaining[place])
            remaining = np.delete(remaining, place)
        return chosen
