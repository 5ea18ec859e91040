"""Choosing k features one after the other, each by what it adds to those before it (``docs/theory/redundancy.md``).

What a feature is worth depends on the features that were chosen, so noise is drawn anew for each choice.
"""

import math
from fractions import Fraction

import numpy as np

from skdpmic.privacy.composition import rho_for, scale_for_rho
from skdpmic.privacy.mechanisms import NoiseOnGrid, scale_for_budget
from skdpmic.privacy.parameters import exact
from skdpmic.privacy.top_k import ExponentialTopK, OneShotTopK


def greedy_for_budget(epsilon, delta, k, redundancy, steps):
    """The mechanism whose noise has the smaller standard deviation, for scores of sensitivity `steps`."""
    alpha = exact(redundancy)
    first, later = steps, steps + math.ceil(alpha * steps)
    if greedy_needs_no_delta(epsilon, delta, k, redundancy):
        one_choice = OneShotTopK(1, scale_for_budget(epsilon, 2 * (first + (k - 1) * later)))
    else:
        one_choice = ExponentialTopK(1, scale_for_rho(rho_for(epsilon, delta), first**2 + (k - 1) * later**2, 1))
    return GreedyChoice(k, alpha, one_choice)


def greedy_needs_no_delta(epsilon, delta, k, redundancy):
    """Whether :func:`greedy_for_budget` takes exponential noise, and spends epsilon only."""
    one_sided, gumbel = _epsilons_per_score(epsilon, delta, k, redundancy)
    return one_sided >= gumbel


def squares_of_choices(k, redundancy):
    """The most that the squares of the epsilons of k choices without delta add up to, as a share of epsilon**2.

    The first choice has 1 / (1 + (k - 1) r) of epsilon and each later one r / (1 + (k - 1) r), r being how much further
    a later score moves, in whole steps: at most 1 + ceil(redundancy). The sum of the squares increases with r >= 1.
    """
    later = 1 + math.ceil(exact(redundancy))
    return Fraction(1 + (k - 1) * later**2, (1 + (k - 1) * later) ** 2)


def greedy_epsilon_per_score(epsilon, delta, k, redundancy):
    """Sensitivity of a score over the standard deviation of the noise."""
    return max(_epsilons_per_score(epsilon, delta, k, redundancy))


def _epsilons_per_score(epsilon, delta, k, redundancy):
    """With exponential noise, and with Gumbel noise; 0 where there is no delta for it."""
    later = 1 + float(redundancy)  # sensitivities, of all choices but the first
    one_sided = OneShotTopK.epsilon_per_score(epsilon, 1 + (k - 1) * later)
    return one_sided, ExponentialTopK.epsilon_per_score(epsilon, delta, 1 + (k - 1) * later**2) if delta > 0 else 0.0


class GreedyChoice(NoiseOnGrid):
    """Publishes k features in the order in which they were chosen, and nothing else.

    The first has the largest score. From then on a feature's score counts less `redundancy` times its mean score with
    those that were chosen.

    Parameters
    ----------
    k : int
    redundancy : Fraction, at least 0
    one_choice : OneShotTopK or ExponentialTopK
        The mechanism of each choice, with k = 1.
    """

    def __init__(self, k, redundancy, one_choice):
        self.k, self._redundancy, self._one_choice = k, redundancy, one_choice
        # The noise in each choice, and how far it moves two scores against one another there.
        self.scale, self._law, self.margin = one_choice.scale, one_choice._law, one_choice.margin

    @property
    def name(self):
        """One-sided exponential noise, drawn for one choice, chooses like "permute-and-flip"."""
        return "permute-and-flip" if isinstance(self._one_choice, OneShotTopK) else self._one_choice.name

    def release(self, scores, scores_with, random_bytes):
        """Indices of the k features chosen, in order.

        Parameters
        ----------
        scores : ndarray of shape (n_features,) of Python integers
            With the target, in grid steps.
        scores_with : callable
            ``scores_with(feature, chosen)`` are the scores with a feature, of all features that were not chosen, in
            ascending order; in grid steps, too. Asked for once for each feature that was chosen but the last.
        random_bytes : callable
            Random bytes.
        """
        remaining, chosen = np.arange(len(scores)), []
        total = np.zeros(len(scores), dtype=object)  # of the scores with those that were chosen
        while len(chosen) < self.k:
            if chosen:
                total[remaining] += scores_with(chosen[-1], chosen)
            adjusted = scores[remaining] - self._overlap(total[remaining], len(chosen))
            place = self._one_choice.choose(adjusted, random_bytes)
            chosen.append(int(remaining[place]))
            remaining = np.delete(remaining, place)
        return np.array(chosen, dtype=np.int64)

    def _overlap(self, total, n_chosen):
        """Redundancy times the mean, rounded down: integers, so that it moves no further than it is proved to."""
        numerator, denominator = self._redundancy.as_integer_ratio()
        return total * numerator // (denominator * max(n_chosen, 1))
