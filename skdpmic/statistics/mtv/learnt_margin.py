"""Learning a target's margin: noisy counts, and where to cut a numeric target (``docs/theory/known_margin.md``).

The counts that come in are as sensitive as the target; what comes out is epsilon-differentially private.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from skdpmic.privacy.mechanisms import laplace_quantile
from skdpmic.privacy.noise import discrete_laplace
from skdpmic.privacy.weighted_choice import weighted_choice
from skdpmic.statistics.grids.partitions import equal_parts
from skdpmic.statistics.mtv.margin import Margin
from skdpmic.table.weights import USUAL_MEAN

N_PLACES = 1024  # of the target's range at which it may be cut
_LEAST_FOR_A_CUT = 50  # n * epsilon of the target from which on a cut is learnt; else it is the middle of the range
_FOR_THE_CUT = Fraction(1, 2)  # of the target's epsilon; the rest is for the count


def places_of(target):
    """What is at each of the places where a numeric target may be cut, in records or units: int64 (N_PLACES,)."""
    return sums_of(equal_parts(target.values, target.bounds, N_PLACES), target.weights, N_PLACES)


def sums_of(codes, weights, n_codes):
    """How many records, or units of weight, there are of each code: int64 (n_codes,)."""
    return np.bincount(codes, weights, n_codes).astype(np.int64)  # whole numbers below 2**53 in any case


class Told(NamedTuple):
    """Public numbers of what is counted, and the noise that is to be drawn."""

    n: int
    """Records."""
    epsilon: Fraction | float
    """Above 0; may be infinite."""
    rows_per_group: int
    """Records of a person: so far can one of the counts move, and another one the other way."""
    units: int
    """That a record may weigh at most; 1 where all count alike."""
    random_bytes: Callable

    @property
    def are_weighted(self):
        """Whether what all records weigh together is as private as anything else."""
        return self.units > 1

    @property
    def of_a_person(self):
        """By how much a person can move a count."""
        return self.rows_per_group * self.units

    def with_part(self, part):
        """The same, with a part of epsilon."""
        return self._replace(epsilon=self.epsilon * part)


def learns_a_cut(told):
    """Whether it is worth while to learn where to cut a numeric target: by public numbers."""
    n = told.n * (USUAL_MEAN if told.are_weighted else 1)
    return n // told.rows_per_group * told.epsilon >= _LEAST_FOR_A_CUT


def class_margin(counts, told):
    """What epsilon tells of a target of classes: one noisy count of two classes; of more, or of weights, one each.

    Parameters
    ----------
    counts : int64 ndarray of shape (n_classes,)
    told : Told
    """
    return _margin(tuple(range(1, len(counts) + 1)), counts, told)


def cut_margin(counts, n_columns, bounds, told):
    """What epsilon tells of a numeric target: where to cut it, if that is worth while, and the share below the cut.

    The cut is drawn by the exponential mechanism, the likelier the nearer what is below it is to half of everything.
    Without, it is the middle of the range.

    Parameters
    ----------
    counts : int64 ndarray of shape (n_places,)
        Of equal parts of the range: `N_PLACES` of them, of which those on either side of the cut become equally
        many columns; or `n_columns`, which then stay as they are.
    n_columns : int
    bounds : pair of floats or None
        The range; None where the columns stay as they are.
    told : Told
    """
    n_places, total = len(counts), int(counts.sum())
    place, below, knots = n_places // 2, np.cumsum(counts), None
    ends = (n_columns // 2, n_columns)
    if learns_a_cut(told):
        from_half = np.abs(2 * below[:-1] - total)  # twice, to be whole
        place = _near_the_median(from_half, told.with_part(_FOR_THE_CUT))
        told = told.with_part(1 - _FOR_THE_CUT)
        if n_places == n_columns:
            ends = (place, n_columns)
        else:
            lower, upper = bounds
            knots = (lower, lower + place * ((upper - lower) / n_places), upper)
    return replace(_margin(ends, np.array([below[place - 1], total - below[place - 1]]), told), knots=knots)


def _margin(ends, counts, told):
    """The share of each count, with noise."""
    if told.are_weighted:
        return _margin_of_weights(ends, counts, told)
    is_pair = len(counts) == 2  # of which one count tells the other
    scale = _scale(told.of_a_person if is_pair else 2 * told.of_a_person, told.epsilon)
    noisy = _with_noise(counts[:1] if is_pair else counts, scale, told.random_bytes)
    shares = [Fraction(count, told.n) for count in noisy]
    shares += [1 - shares[0]] if is_pair else []
    return Margin(ends, tuple(shares), scale, told.n)


def _margin_of_weights(ends, sums, told):
    """The same of weights, whose sums are none of them public: a sum is taken to be its noise, if it is below that."""
    scale = _scale(2 * told.of_a_person, told.epsilon)
    noisy = _with_noise(sums, scale, told.random_bytes)
    kept = [max(each, math.ceil(scale), 1) for each in noisy]
    shares = tuple(Fraction(each, sum(kept)) for each in kept)
    return Margin(ends, shares, scale, told.n * told.units, tuple(noisy))


def _near_the_median(from_half, told):
    """One of the places, of which the middle is as likely beforehand as all others together.

    A person moves twice what is below a place, less everything, by at most twice what their rows weigh, and each
    probability by as much in the exponent; so does the sum of all.
    """
    middle = len(from_half) // 2
    if told.epsilon == math.inf:
        return 1 + (middle if from_half[middle] == from_half.min() else int(np.argmin(from_half)))
    weights = np.ones(len(from_half), dtype=np.int64)
    weights[middle] = len(from_half)
    return 1 + weighted_choice(weights, from_half, told.epsilon / (4 * told.of_a_person), told.random_bytes)


def _scale(sensitivity, epsilon):
    return Fraction(0) if epsilon == math.inf else sensitivity / epsilon


def _with_noise(counts, scale, random_bytes):
    """Counts with discrete Laplace noise, as Python integers."""
    if scale == 0:
        return counts.tolist()
    return (counts + discrete_laplace(scale, len(counts), random_bytes)).tolist()


def shares_interval(margin, confidence):
    """Bounds that hold each share with at least this confidence, of a margin that was learnt."""
    if margin.sums is not None:
        return _shares_interval_of_weights(margin, confidence)
    reach = 0.0 if margin.scale == 0 else laplace_quantile(float(margin.scale), confidence) / margin.n
    shares = np.array(margin.shares, dtype=np.float64)
    return np.clip(shares - reach, 0.0, 1.0), np.clip(shares + reach, 0.0, 1.0)


def _shares_interval_of_weights(margin, confidence):
    """Where all sums are within the same reach, which fails for each of them with an equal part of what may fail."""
    n_sums, sums = len(margin.sums), np.array(margin.sums, dtype=np.float64)
    of_each = 1 - (1 - confidence) / n_sums
    reach = 0.0 if margin.scale == 0 else laplace_quantile(float(margin.scale), of_each)
    low, high = np.maximum(sums - reach, 0.0), np.maximum(sums + reach, 0.0)
    lower, upper = low / np.maximum(low + high.sum() - high, 1.0), high / np.maximum(high + low.sum() - low, 1.0)
    return np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)
