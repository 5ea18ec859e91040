"""Releasing the shares of a target: noisy counts, and the cut of a numeric target (``docs/theory/learnt_margin.md``).

The input counts are raw data; the results are epsilon-differentially private.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from skdpmic.privacy.noise import discrete_laplace, weighted_choice, with_noise
from skdpmic.privacy.quantiles import laplace_quantile
from skdpmic.statistics.mtv.family import TargetShares, knots_at
from skdpmic.table.values import USUAL_MEAN

_LEAST_FOR_A_CUT = 50  # smallest n * epsilon for which a cut is released; below it, the target is cut in the middle
_SHARE_FOR_CUT = Fraction(1, 2)  # fraction of the target's epsilon; the count gets the rest


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

    def noisy(self, counts, n_changed):
        """Counts with discrete Laplace noise, as Python integers, and its scale, if one person changes `n_changed`."""
        change = n_changed * self.rows_per_group * self.units
        scale = Fraction(0) if self.epsilon == math.inf else change / self.epsilon
        return with_noise(discrete_laplace, scale, counts, self.random_bytes).tolist(), scale


def releases_a_cut(budget):
    """Whether releasing the cut of a numeric target is worth its budget; depends on public numbers only."""
    n = budget.n * (USUAL_MEAN if budget.units > 1 else 1)
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
        place = _near_the_median(from_half, budget._replace(epsilon=budget.epsilon * _SHARE_FOR_CUT))
        budget = budget._replace(epsilon=budget.epsilon * (1 - _SHARE_FOR_CUT))
        if n_places == n_columns:
            ends = (place, n_columns)
        else:
            knots = knots_at(place, bounds)
    return replace(release_shares(np.array([below[place - 1], total - below[place - 1]]), budget, ends), knots=knots)


def release_shares(counts, budget, ends=None):
    """Release the share of each count: one noisy count for two of them; one for each of more, or with weights.

    The total of weights is private: sums of weights below the noise scale are raised to it.
    """
    ends = tuple(range(1, len(counts) + 1)) if ends is None else ends  # of classes
    if budget.units > 1:
        sums, scale = budget.noisy(counts, 2)
        kept = [max(each, math.ceil(scale), 1) for each in sums]
        shares = tuple(Fraction(each, sum(kept)) for each in kept)
        return TargetShares(ends, shares, scale, budget.n * budget.units, tuple(sums))
    if len(counts) == 2:  # one count determines the other
        (count,), scale = budget.noisy(counts[:1], 1)
        share = Fraction(count, budget.n)
        return TargetShares(ends, (share, 1 - share), scale, budget.n)
    noisy, scale = budget.noisy(counts, 2)
    return TargetShares(ends, tuple(Fraction(count, budget.n) for count in noisy), scale, budget.n)


def _near_the_median(from_half, budget):
    """Choose a place; the prior weight of the middle equals the number of places.

    One person changes `from_half` by at most twice the weight of its rows. So each weight of the choice, and their sum,
    changes by a factor of at most exp(epsilon / 2).
    """
    middle = len(from_half) // 2
    if budget.epsilon == math.inf:
        return 1 + (middle if from_half[middle] == from_half.min() else int(np.argmin(from_half)))
    weights = np.ones(len(from_half), dtype=np.int64)
    weights[middle] = len(from_half)
    rate = budget.epsilon / (4 * budget.rows_per_group * budget.units)
    return 1 + weighted_choice(weights, from_half, rate, budget.random_bytes)


def shares_interval(target_shares, confidence):
    """Confidence bounds for each released share, with at least this confidence.

    Shares of weights: by a union bound, all sums are within `reach` with this confidence.
    """
    sums, scale = target_shares.sums, float(target_shares.scale)
    of_each = confidence if sums is None else 1 - (1 - confidence) / len(sums)
    reach = 0.0 if scale == 0 else laplace_quantile(scale, of_each)
    if sums is None:
        shares = np.array(target_shares.shares, dtype=np.float64)
        lower, upper = shares - reach / target_shares.n, shares + reach / target_shares.n
    else:
        sums = np.array(sums, dtype=np.float64)
        low, high = np.maximum(sums - reach, 0.0), np.maximum(sums + reach, 0.0)
        lower, upper = low / np.maximum(low + high.sum() - high, 1.0), high / np.maximum(high + low.sum() - low, 1.0)
    return np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)
