"""Choosing k features without publishing a score (``docs/theory/top_k.md``).

The noise of the one-shot mechanism grows with k, and needs no delta; with k choices by the exponential mechanism, it
grows with the square root of k; noise in a cube grows only with the number of candidates. Choices one at a time, each
by scores that depend on earlier choices, compose likewise.
"""

import math
from dataclasses import dataclass
from heapq import nlargest
from itertools import pairwise

import numpy as np
from scipy import stats

from skdpmic.privacy.composition import budget_of, scale_for_rho
from skdpmic.privacy.mechanisms import (
    GRID,
    CubeLaw,
    KNormMechanism,
    LaplaceMechanism,
    NoiseOnGrid,
    reach_of_difference,
    scale_for_budget,
    to_grid,
)
from skdpmic.privacy.noise import discrete_k_norm, discrete_laplace, exponential_choice, geometric

MOST_CUBE_NOISE = 2 / 3  # of the other noise; noise in a cube must be smaller, because it releases no gaps


def mechanism_of_names(epsilon, delta, k, n_candidates=None):
    """The mechanism with the least noise; a cube only if it has so much less that this outweighs the missing gaps.

    Parameters
    ----------
    epsilon, delta : float
    k : int
    n_candidates : int, default=None
        Number of features to choose from; None excludes noise in a cube.
    """
    whole, at_once = budget_of(epsilon), OneShotTopK
    per_score = OneShotTopK.epsilon_per_score(whole, k)
    if delta > 0 and (in_turn := ExponentialTopK.epsilon_per_score(budget_of(epsilon, delta), k)) > per_score:
        at_once, per_score = ExponentialTopK, in_turn
    if n_candidates is None or epsilon == math.inf:
        return at_once
    return CubeTopK if per_score <= MOST_CUBE_NOISE * CubeTopK.epsilon_per_score(whole, k, n_candidates) else at_once


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

    has_gaps = False  # whether the gaps between the noisy scores of those chosen cost nothing more

    def choose(self, adjusted, random_bytes):
        """The index of one feature, from scores in integer grid steps."""
        return int(np.argmax(adjusted)) if self.scale == 0 else int(self._choose(adjusted, random_bytes)[0][0])

    def release(self, scores, random_bytes, offsets=0.0):
        """Indices of the k features chosen, best first, by their scores minus their public `offsets`, and the gaps.

        A gap is the difference between the noisy scores of a feature and of the next one chosen, never of one that was
        not chosen; None in place of the k - 1 gaps if they cost more.
        """
        if self.scale == 0:
            chosen = np.argsort(offsets - scores, kind="stable")[: self.k]
            return chosen, -np.diff((scores - offsets)[chosen]) if self.has_gaps else None
        # Rounding to integer grid steps does not increase the sensitivity.
        steps = to_grid(scores) - to_grid(np.broadcast_to(offsets, scores.shape))
        chosen, noisy = self._choose(steps, random_bytes)
        gaps = [noisy[i] - noisy[following] for i, following in pairwise(chosen)] if self.has_gaps else None
        return np.array(chosen, dtype=np.int64), None if gaps is None else np.array(gaps, dtype=np.float64) * GRID

    def _choose(self, scores, random_bytes):
        """Indices of the features with the largest noisy scores, and these scores, in grid steps."""
        noisy = scores + self._noise(len(scores), random_bytes)
        return nlargest(self.k, range(len(noisy)), key=noisy.__getitem__), noisy


class OneShotTopK(_TopK):
    """Adds one-sided geometric noise to every score and takes the k largest, ties broken by index: pure epsilon.

    Parameters
    ----------
    k : int
    scale : int
        Scale of the noise in grid steps; 0 for none.
    """

    name = "one-shot"
    needs_delta, has_gaps = False, True
    _law = stats.expon

    @classmethod
    def for_budget(cls, budget, k, steps, n_candidates=None):
        """The mechanism that spends epsilon on scores of sensitivity `steps`: scale 2 k steps / epsilon."""
        return cls(k, scale_for_budget(budget.epsilon, 2 * k * steps))

    @staticmethod
    def epsilon_per_score(budget, k, n_candidates=None):
        """Sensitivity over the standard deviation of the noise, which equals the scale."""
        return float(budget.epsilon) / (2 * k)

    def half_width(self, confidence):
        """Half-width of an interval of at least this confidence for the noise on the difference of two scores.

        The difference of two independent geometric numbers of one scale is discrete Laplace of that scale.
        """
        return LaplaceMechanism(self.scale).half_width(confidence)

    def _noise(self, size, random_bytes):
        return geometric(self.scale, size, random_bytes)


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
        which nothing is known. Each holds for its rank separately.
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
    needs_delta = True
    _law = stats.gumbel_r

    @classmethod
    def for_budget(cls, budget, k, steps, n_candidates=None):
        """The mechanism that spends rho on scores of sensitivity `steps`: scale sqrt(k / (2 rho)) steps."""
        return cls(k, scale_for_rho(budget.rho, k, steps))

    @staticmethod
    def epsilon_per_score(budget, k, n_candidates=None):
        """Sensitivity over the standard deviation of the noise, which is pi / sqrt(6) times the scale."""
        return math.sqrt(6) / math.pi * math.sqrt(2 * budget.rho / k)

    def half_width(self, confidence):
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
        return chosen, None


@dataclass(frozen=True)
class CubeTopK(_TopK):
    """Adds noise in a cube to all scores together and takes the k largest, ties broken by index: pure epsilon.

    Parameters
    ----------
    k : int
    scale : int
        Scale of the noise in grid steps; 0 for none.
    n_scores : int
        Number of scores; the distribution depends on it, the cost does not.
    """

    n_scores: int

    name = "k-norm"
    needs_delta = False
    noise_scale, law = KNormMechanism.noise_scale, KNormMechanism.law  # on each score

    @classmethod
    def for_budget(cls, budget, k, steps, n_candidates):
        """The mechanism that spends epsilon on scores of sensitivity `steps`: scale steps / epsilon."""
        return cls(k, scale_for_budget(budget.epsilon, steps), n_candidates)

    @staticmethod
    def epsilon_per_score(budget, k, n_candidates):
        """Sensitivity over the standard deviation of the noise."""
        return float(budget.epsilon) / CubeLaw(n_candidates, 1.0).std()

    def half_width(self, confidence):
        """Half-width of an interval of at least this confidence for the noise on the difference of two scores."""
        reach = self.scale * reach_of_difference(1 - confidence, self.n_scores)
        return (math.ceil(reach * (1 + 2.0**-36) + 1.5) + 1) * GRID

    def _noise(self, size, random_bytes):
        return discrete_k_norm(self.scale, size, random_bytes)


# --- Choices one at a time -------------------------------------------------------------------------------------------
#
# Choosing k features one at a time, each by its gain over earlier choices (``docs/theory/joint.md``).
#
# The gain of a feature depends on those already chosen, so fresh noise is drawn for each choice. It has the same
# scale as if all k were chosen at once.


# How far the worth of a feature may be from its gain, per scale of the noise and per 1/sqrt(n): docs/theory/joint.md.
_PER_NOISE, _PER_CHANCE = 10, 4


class ChoicesInTurn(NoiseOnGrid):
    """Publishes only the names of k features, in the order of the choices.

    Parameters
    ----------
    at_once : OneShotTopK or ExponentialTopK
        The mechanism that would choose all k at once.
    own_scale : int
        Scale, in grid steps, of the Laplace noise on the single scores that the gains of others refer to.
    """

    def __init__(self, at_once, own_scale):
        self._own_scale = own_scale
        self.k, self._one_choice = at_once.k, type(at_once)(1, at_once.scale)
        # The noise in each choice, and its effect on the difference of two scores.
        self.scale, self._law, self.half_width = at_once.scale, at_once._law, at_once.half_width

    @property
    def name(self):
        """For a single choice, one-sided exponential noise is equivalent to "permute-and-flip"."""
        return "permute-and-flip" if isinstance(self._one_choice, OneShotTopK) else self._one_choice.name

    def reach(self, n, factor):
        """How far the worth of a feature may be from its gain, in grid steps, for n people: as gains are uncertain.

        The `factor` is that of chance scores.
        """
        return int((_PER_NOISE * self.noise_scale + _PER_CHANCE * factor / math.sqrt(n)) / GRID)

    def release(self, candidates, alone, worths_beside, by_chance, reach, random_bytes, kept=()):
        """The k features chosen, in order.

        Parameters
        ----------
        candidates : ndarray of shape (n_candidates,)
            Numbers of the features to choose from, ascending.
        alone : ndarray of shape (n_candidates,) of integers
            Single scores of the candidates, in grid steps.
        worths_beside : callable
            ``worths_beside(feature, taken)`` returns the joint scores of all candidates not taken with a feature that
            is kept or chosen, ascending by number, and the single score of that feature; in grid steps. It is called
            once for each of these features except the last. A candidate is judged by its single score, moved no
            further than `reach` from its smallest gain over any of them.
        by_chance : callable
            ``by_chance(feature, taken, own)`` returns the gains of independent candidates, from public numbers and
            `own`, the noisy single score of that feature.
        reach : int
            In grid steps; public.
        random_bytes : callable
            Random bytes.
        kept : sequence of int, default=()
            Features kept in any case, which count as chosen.
        """
        remaining, chosen, compared, gains = np.array(candidates), [], kept, None
        while True:
            for feature in compared:
                together, own = worths_beside(feature, [*kept, *chosen])
                own += discrete_laplace(self._own_scale, 1, random_bytes)[0] if self._own_scale else 0
                added = together - own - by_chance(feature, [*kept, *chosen], own)
                gains = added if gains is None else np.minimum(gains, added)
            worths = alone if gains is None else np.minimum(np.maximum(alone, gains - reach), gains + reach)
            place = self._one_choice.choose(worths, random_bytes)
            chosen.append(int(remaining[place]))
            if len(chosen) == self.k:
                return np.array(chosen, dtype=np.int64)
            gains = None if gains is None else np.delete(gains, place)
            remaining, alone, compared = np.delete(remaining, place), np.delete(alone, place), chosen[-1:]
