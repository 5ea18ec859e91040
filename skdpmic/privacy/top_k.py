"""Choosing k features without publishing a score (``docs/theory/top_k.md``).

The noise of the one-shot mechanism grows with k, and needs no delta; that of k choices by the exponential mechanism
grows with the square root of k. Choices one at a time, each by scores that depend on those before, compose likewise.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from heapq import nlargest
from itertools import pairwise

import numpy as np
from scipy import stats

from skdpmic.privacy.composition import budget_of, scale_for_rho
from skdpmic.privacy.mechanisms import GRID, LaplaceMechanism, NoiseOnGrid, scale_for_budget, to_grid
from skdpmic.privacy.noise import discrete_laplace, exponential_choice, geometric


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

    def half_width(self, confidence):
        """Half-width of an interval of at least this confidence for the noise on the difference of two scores.

        The difference of two independent geometric numbers of one scale is discrete Laplace of that scale.
        """
        return LaplaceMechanism(self.scale).half_width(confidence)

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
        return chosen


# --- A choice by weight and loss -------------------------------------------------------------------------------------
#
# A choice by weight and loss, exact although its probabilities are irrational (``docs/theory/learnt_edges.md``).
#
# Floating point is only used for proposals: each is at least as likely as it should be, and is accepted with the
# probability that corrects the difference, which is decided in integers, with as many bits as needed.


_BITS = 60  # of the integers used to draw proposals
_MORE_BITS = 64
_SLACK = 1 + 2.0**-40  # far more than the seventy roundings of a ceiling


def weighted_choice(weights, losses, rate, random_bytes):
    """An index, drawn with probability proportional to ``weight * exp(-rate * loss)``.

    Parameters
    ----------
    weights : int64 ndarray of shape (n_choices,)
        At least 0, not all 0, with a sum below 2**58.
    losses : int64 ndarray of shape (n_choices,)
        At least 0.
    rate : Fraction, at least 0, or infinity
        With infinity, the choice is among the smallest losses, by weight.
    random_bytes : callable
        From :func:`entropy_source`.

    Returns
    -------
    int
    """
    losses = losses - losses[weights > 0].min()
    if rate == math.inf:
        weights, rate = np.where(losses == 0, weights, 0), Fraction(0)
    ceilings, shift = _ceilings(weights, losses, rate)
    ends = np.cumsum(ceilings)
    while True:
        point = int.from_bytes(random_bytes(8), "little") >> (64 - _BITS)
        i = int(np.searchsorted(ends, point, side="right"))
        if i < len(ends):
            offset = point - int(ends[i] - ceilings[i])
            if _is_below(offset, int(weights[i]) << shift, rate * int(losses[i]), random_bytes):
                return i


def _ceilings(weights, losses, rate):
    """Integers above ``2**shift * weight * exp(-rate * loss)``, whose sum is at most about 2**_BITS; and the shift."""
    ceilings = weights * _exponentials(losses, rate) * _SLACK
    shift = _BITS - 1 - math.frexp(ceilings.sum())[1]
    # One more than the floor, also if a product underflowed.
    return np.where(weights > 0, np.ldexp(ceilings, shift).astype(np.int64) + 1, 0), shift


def _exponentials(losses, rate):
    """``exp(-rate * loss)``, up to rounding: a product over the bits of each loss."""
    product, (_, above) = np.ones(len(losses)), exponential_bounds(rate, 128)
    for bit in range(int(losses.max()).bit_length()):
        product *= np.where(losses >> bit & 1, math.ldexp(above, -128), 1.0)
        above = -(-above * above >> 128)  # of the square, rounded up
    return product


def _is_below(whole, weight, x, random_bytes):
    """Whether ``whole`` plus a random fraction is below ``weight * exp(-x)``: bits are added until this is certain."""
    n_bits, point = 0, whole
    while True:
        precision = n_bits + weight.bit_length() + _MORE_BITS
        below, above = exponential_bounds(x, precision)
        if (point + 1) << precision <= (weight * below) << n_bits:
            return True
        if point << precision >= (weight * above) << n_bits:
            return False
        point = (point << _MORE_BITS) + int.from_bytes(random_bytes(_MORE_BITS // 8), "little")
        n_bits += _MORE_BITS


def exponential_bounds(x, precision):
    """Integers closely below and above ``2**precision * exp(-x)``.

    Parameters
    ----------
    x : Fraction, at least 0
    precision : int
    """
    halvings = math.floor(x).bit_length()
    bits = precision + 2 * halvings + 16
    y = math.floor(x * 2 ** (bits - halvings))  # x, halved until it is below 1
    term, total, sign, k = 1 << bits, 0, 1, 0
    while term:
        total += sign * term
        sign, k = -sign, k + 1
        term = (term * y >> bits) // k
    # Each term is at most 3 too small, the omitted terms sum to at most one more, and y was rounded.
    margin = 3 * k + 8
    below, above = max(total - margin, 0), min(total + margin, 1 << bits)
    for _ in range(halvings):
        below, above = below * below >> bits, -(-above * above >> bits)
    return below >> (bits - precision), -(-above >> (bits - precision))


# --- Choices one at a time -------------------------------------------------------------------------------------------
#
# Choosing k features one at a time, each by its gain over those chosen before (``docs/theory/joint.md``).
#
# The gain of a feature depends on those already chosen, so fresh noise is drawn for each choice. It has the same
# scale as if all k were chosen at once.


_OF_NOISE = 25  # share of scores by themselves in what features are worth, per scale of the noise: docs/theory/joint.md
_WHOLE = 1000  # shares are in thousandths


class ChoicesInTurn(NoiseOnGrid):
    """Publishes only the names of k features, in the order of the choices.

    Parameters
    ----------
    at_once : OneShotTopK or ExponentialTopK
        The mechanism that would choose all k at once.
    own_scale : int
        Scale, in grid steps, of the Laplace noise on the scores by themselves that the gains of others refer to.
    """

    def __init__(self, at_once, own_scale):
        self._own_scale = own_scale
        self.k, self._one_choice = at_once.k, type(at_once)(1, at_once.scale)
        # The noise in each choice, and its effect on the difference of two scores.
        self.scale, self._law, self.half_width = at_once.scale, at_once._law, at_once.half_width
        self._of_alone = min(math.ceil(_OF_NOISE * _WHOLE * self.noise_scale), _WHOLE)

    @property
    def name(self):
        """For a single choice, one-sided exponential noise is equivalent to "permute-and-flip"."""
        return "permute-and-flip" if isinstance(self._one_choice, OneShotTopK) else self._one_choice.name

    def release(self, candidates, alone, worths_beside, by_chance, random_bytes, kept=()):
        """The k features chosen, in order.

        Parameters
        ----------
        candidates : ndarray of shape (n_candidates,)
            Numbers of the features to choose from, ascending.
        alone : ndarray of shape (n_candidates,) of integers
            Scores of the candidates by themselves, in grid steps.
        worths_beside : callable
            ``worths_beside(feature, taken)`` returns the joint scores of all candidates not taken with a feature that
            is kept or chosen, ascending by number, and the score of that feature by itself; in grid steps. It is called
            once for each of these features except the last. A candidate is judged by its smallest gain over any of
            them, and to a small part by its score by itself.
        by_chance : callable
            ``by_chance(feature, taken, own)`` returns the gains of independent candidates, from public numbers and
            `own`, the noisy score of that feature by itself.
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
            worths = alone if gains is None else self._mixed(gains, alone)
            place = self._one_choice.choose(worths, random_bytes)
            chosen.append(int(remaining[place]))
            if len(chosen) == self.k:
                return np.array(chosen, dtype=np.int64)
            gains = None if gains is None else np.delete(gains, place)
            remaining, alone, compared = np.delete(remaining, place), np.delete(alone, place), chosen[-1:]

    def _mixed(self, gains, alone):
        """What features are worth. One floor of the sum moves no further than either part; two floors could."""
        return ((_WHOLE - self._of_alone) * gains + self._of_alone * alone) // _WHOLE
