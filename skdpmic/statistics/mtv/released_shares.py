"""Releasing the shares of a target: noisy counts, and the cut of a numeric target (``docs/theory/learnt_margin.md``).

The input counts are raw data; the results are epsilon-differentially private.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from skdpmic.privacy.mechanisms import laplace_quantile
from skdpmic.privacy.noise import discrete_laplace, weighted_choice
from skdpmic.statistics.grids import equal_parts
from skdpmic.statistics.mtv.family import N_PLACES, TargetShares, candidate_cut, knots_at
from skdpmic.table.values import USUAL_MEAN

_LEAST_FOR_A_CUT = 50  # smallest n * epsilon for which a cut is released; below it, the target is cut in the middle
_SHARE_FOR_CUT = Fraction(1, 2)  # fraction of the target's epsilon; the count gets the rest


def places_of(target):
    """Records, or units of weight, between the candidate cuts of a numeric target: int64 (N_PLACES,)."""
    return sums_of(equal_parts(target.values, target.bounds, N_PLACES), target.weights, N_PLACES)


def sums_of(codes, weights, n_codes):
    """Records, or units of weight, with each code: int64 (n_codes,)."""
    return np.bincount(codes, weights, n_codes).astype(np.int64)  # always whole numbers below 2**53


class CountBudget(NamedTuple):
    """Public parameters of the counts, and the source of randomness for their noise."""

    n: int
    """Number of records."""
    epsilon: Fraction | float
    """Privacy budget, above 0; may be infinite."""
    rows_per_group: int
    """Records per person: one count can rise by this much while another falls by as much."""
    units: int
    """Largest weight of a record, in units; 1 without weights."""
    random_bytes: Callable

    @property
    def are_weighted(self):
        """Whether records have weights; their total is then private."""
        return self.units > 1

    @property
    def per_person(self):
        """How much one person can change a count."""
        return self.rows_per_group * self.units

    def with_part(self, part):
        """The parameters with a fraction of epsilon."""
        return self._replace(epsilon=self.epsilon * part)


def releases_a_cut(budget):
    """Whether releasing the cut of a numeric target is worth its budget; depends on public numbers only."""
    n = budget.n * (USUAL_MEAN if budget.are_weighted else 1)
    return n // budget.rows_per_group * budget.epsilon >= _LEAST_FOR_A_CUT


def release_cut_shares(counts, n_columns, bounds, budget):
    """Release the cut of a numeric target, if that is worth its budget, and the share below the cut.

    The exponential mechanism chooses the cut and favours those near the median. If no cut is released, it is the middle
    of the range.

    Parameters
    ----------
    counts : int64 ndarray of shape (n_places,)
        Counts of equal parts of the range: either `N_PLACES` parts, and each side of the cut is then divided into as
        many columns; or `n_columns` parts, which remain the columns.
    n_columns : int
    bounds : pair of floats or None
        Range of the target; None if the columns are kept.
    budget : CountBudget
    """
    n_places, total = len(counts), int(counts.sum())
    place, below, knots = n_places // 2, np.cumsum(counts), None
    ends = (n_columns // 2, n_columns)
    if releases_a_cut(budget):
        from_half = np.abs(2 * below[:-1] - total)  # doubled, so that it is an integer
        place = _near_the_median(from_half, budget.with_part(_SHARE_FOR_CUT))
        budget = budget.with_part(1 - _SHARE_FOR_CUT)
        if n_places == n_columns:
            ends = (place, n_columns)
        else:
            knots = knots_at(candidate_cut(place, bounds), bounds)
    return replace(release_shares(np.array([below[place - 1], total - below[place - 1]]), budget, ends), knots=knots)


def release_shares(counts, budget, ends=None):
    """Release the share of each count: one noisy count for two of them; one for each of more, or with weights."""
    ends = tuple(range(1, len(counts) + 1)) if ends is None else ends  # of classes
    if budget.are_weighted:
        return _release_shares_of_weights(ends, counts, budget)
    is_pair = len(counts) == 2  # one count determines the other
    scale = _scale(budget.per_person if is_pair else 2 * budget.per_person, budget.epsilon)
    noisy = _with_noise(counts[:1] if is_pair else counts, scale, budget.random_bytes)
    shares = [Fraction(count, budget.n) for count in noisy]
    shares += [1 - shares[0]] if is_pair else []
    return TargetShares(ends, tuple(shares), scale, budget.n)


def _release_shares_of_weights(ends, sums, budget):
    """The shares from noisy sums of weights, whose total is private: sums below the noise scale are raised to it."""
    scale = _scale(2 * budget.per_person, budget.epsilon)
    noisy = _with_noise(sums, scale, budget.random_bytes)
    kept = [max(each, math.ceil(scale), 1) for each in noisy]
    shares = tuple(Fraction(each, sum(kept)) for each in kept)
    return TargetShares(ends, shares, scale, budget.n * budget.units, tuple(noisy))


def _near_the_median(from_half, budget):
    """Choose a place; the prior weight of the middle equals the number of places.

    One person changes `from_half` by at most twice `budget.per_person`. So each weight of the choice, and their sum,
    changes by a factor of at most exp(epsilon / 2).
    """
    middle = len(from_half) // 2
    if budget.epsilon == math.inf:
        return 1 + (middle if from_half[middle] == from_half.min() else int(np.argmin(from_half)))
    weights = np.ones(len(from_half), dtype=np.int64)
    weights[middle] = len(from_half)
    return 1 + weighted_choice(weights, from_half, budget.epsilon / (4 * budget.per_person), budget.random_bytes)


def _scale(sensitivity, epsilon):
    return Fraction(0) if epsilon == math.inf else sensitivity / epsilon


def _with_noise(counts, scale, random_bytes):
    """Counts with discrete Laplace noise, as Python integers."""
    if scale == 0:
        return counts.tolist()
    return (counts + discrete_laplace(scale, len(counts), random_bytes)).tolist()


def shares_interval(target_shares, confidence):
    """Confidence bounds for each released share, with at least this confidence."""
    if target_shares.sums is not None:
        return _shares_interval_of_weights(target_shares, confidence)
    reach = (
        0.0 if target_shares.scale == 0 else laplace_quantile(float(target_shares.scale), confidence) / target_shares.n
    )
    shares = np.array(target_shares.shares, dtype=np.float64)
    return np.clip(shares - reach, 0.0, 1.0), np.clip(shares + reach, 0.0, 1.0)


def _shares_interval_of_weights(target_shares, confidence):
    """Intervals of shares of weights: by a union bound, all sums are within `reach` with this confidence."""
    n_sums, sums = len(target_shares.sums), np.array(target_shares.sums, dtype=np.float64)
    of_each = 1 - (1 - confidence) / n_sums
    reach = 0.0 if target_shares.scale == 0 else laplace_quantile(float(target_shares.scale), of_each)
    low, high = np.maximum(sums - reach, 0.0), np.maximum(sums + reach, 0.0)
    lower, upper = low / np.maximum(low + high.sum() - high, 1.0), high / np.maximum(high + low.sum() - low, 1.0)
    return np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)
