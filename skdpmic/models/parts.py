"""What additive models know of columns and targets: public parts, and the window and mean of a numeric target.

A column has eight parts of equal width in its range, or its integers if these are fewer, or its labels and "other"; and
a part of missing values.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from skdpmic.privacy.composition import Pure, budget_of, root_below
from skdpmic.release.bounds import medians, rates, squared_rates
from skdpmic.statistics.grids import parts_and_missing
from skdpmic.table import domains
from skdpmic.table.values import ClassTarget

N_CUT = 8  # parts of a range, besides the part of missing values


def n_parts_of(domain):
    """Number of parts of a column with this encoded domain."""
    return domain.n_parts if isinstance(domain, domains.Nominal) else domains.parts_at_most(N_CUT, domain) + 1


def codes_of(column, domain):
    """The part of each value of a column with this encoded domain, each separately: an int64 ndarray."""
    if not isinstance(domain, domains.Nominal):
        column, _ = parts_and_missing(column, domain, domains.parts_at_most(N_CUT, domain))
    return np.asarray(column, dtype=np.int64)


def offsets_of(sizes):
    """The number of the first part of each column among the parts of all columns, and their total."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def sums_of_effects(columns, effects, intercept, offsets):
    """The sum of the effects of each row, with the intercept: (n_samples, n_targets); each row separately."""
    scores = np.tile(np.atleast_1d(intercept), (len(columns[0]), 1))
    for codes, first in zip(columns, offsets[:-1], strict=True):
        scores += effects[first + codes]
    return scores


def names_of_parts(domain):
    """A text for each part of a column with this public domain."""
    if isinstance(domain, domains.Labels):
        labels = domains.names_of_labels(domain.labels)
        return labels + domains.beside(labels)
    if isinstance(domain, domains.Integers):
        return [*map(" to ".join, domain.runs(n_parts_of(domain.encoded) - 1)), domains.MISSING]
    return [*domains.names_of_ranges(ends_of_parts(domain)), domains.MISSING]


def ends_of_parts(domain):
    """The ends of the parts of a range, as numbers, dates or durations; None for labels and integers."""
    if isinstance(domain, domains.Labels | domains.Integers):
        return None
    lower, upper = domain.encoded
    return np.array([domain.decode(lower + j * (upper - lower) / N_CUT) for j in range(N_CUT + 1)])


class Effects(NamedTuple):
    """An additive model: an intercept, and the effect of each part, for one or several targets in [-1/2, 1/2]."""

    intercept: np.ndarray  # (n_targets,)
    of_parts: np.ndarray  # (n_parts, n_targets)
    deviations: np.ndarray  # (n_parts, n_targets): standard deviation that the noise gives to each effect


# --- The target -----------------------------------------------------------------------------------------------------

GRID = 2**12  # equal steps of the range of a numeric target, so that sums are integers


def in_steps(target):
    """The target as integers, each record separately, and the number of steps from the smallest to the largest.

    Parameters
    ----------
    target : ClassTarget or NumericTarget

    Returns
    -------
    values : int64 ndarray of shape (n_samples, n_targets)
        Steps from the middle of the range; -1 and 1 for two classes; for more, 1 in the column of the class.
    n_steps : int
    """
    if isinstance(target, ClassTarget):
        codes = np.asarray(target.values, dtype=np.int64)
        if target.n_classes == 2:
            return 2 * codes[:, None] - 1, 2
        return (codes[:, None] == np.arange(target.n_classes)).astype(np.int64), 1
    return np.rint(shares_of_bounds(target) * GRID).astype(np.int64)[:, None] - GRID // 2, GRID


def shares_of_bounds(target):
    """The position of each number within its bounds, from 0 to 1."""
    lower, upper = domains.ends_of(target.bounds)
    return (np.clip(target.values.astype(np.float64), lower, upper) - lower) / (upper - lower)


def sums_in_parts(columns, sizes, values):
    """Sums of each column of `values` in each part of each column: int64 ndarray of shape (n_parts, n_targets)."""
    offsets = offsets_of(sizes)
    sums = np.empty((offsets[-1], values.shape[1]), dtype=np.int64)
    for codes, first, last in zip(columns, offsets[:-1], offsets[1:], strict=True):
        for target, of_target in enumerate(values.T):
            sums[first:last, target] = np.bincount(codes, weights=of_target, minlength=last - first)  # below 2**53
    return sums


# --- The window of a numeric target ---------------------------------------------------------------------------------

WINDOW_SHARE = Fraction(1, 10)  # share of the budget for the window
MEAN_SHARE = Fraction(3, 20)  # share for the mean in the target's units, on a bent axis
_N_LEVELS = 2  # of medians: of all targets, and of those on either side
_REACH = 3.0  # from the median, in distances to the quartile
_FAR = 200.0  # n times the rate of the first median beyond which the window extends further
_LEAST = GRID / 8  # from the median on either side, in steps


def share_besides(of_numbers, is_bent):
    """The share of the budget for what only numbers have: a window, and the mean if their axis is bent."""
    return (WINDOW_SHARE if of_numbers else 0) + (MEAN_SHARE if is_bent else 0)


def squares_of_window():
    """The cost of the window in zCDP, over that of a pure mechanism with the whole budget."""
    return WINDOW_SHARE**2 * squared_rates(_N_LEVELS, 1)


def rates_of_window(epsilon, delta, rows_per_group=1):
    """The rates of the medians that find the window."""
    part = budget_of(epsilon, delta).part(WINDOW_SHARE)
    if epsilon == math.inf:
        return rates(math.inf, _N_LEVELS)
    of_medians = part.epsilon if isinstance(part, Pure) else root_below(2 * part.rho / squared_rates(_N_LEVELS, 1))
    return rates(of_medians / rows_per_group, _N_LEVELS)


def within_window(target, rates, random_bytes):
    """The target as shares of its bounds; its bounds become the window, which is released.

    Parameters
    ----------
    target : NumericTarget
    rates : list of 2 Fraction or infinity
        From :func:`rates_of_window`.
    random_bytes : callable

    Returns
    -------
    NumericTarget
        With bounds in [0, 1] that are at least an eighth apart.
    """
    steps, _ = in_steps(target)
    positions = np.sort(steps[:, 0] + GRID // 2)
    low, middle, high = medians(positions, GRID + 1, rates, random_bytes)
    reach = _REACH * min(max(1.0, len(positions) * float(rates[0]) / _FAR), GRID)  # all of the bounds without noise
    first = max(middle - max(reach * max(middle - low, 1), _LEAST), 0.0)
    last = min(middle + max(reach * max(high - middle, 1), _LEAST), GRID)
    return target._replace(values=shares_of_bounds(target), bounds=(float(first / GRID), float(last / GRID)))


# --- The mean of a target whose axis is bent: of logarithms, or of knots ---------------------------------------------
#
# A model of positions on such an axis predicts near the geometric mean, for instance. So its predictions are multiplied
# by the noisy sum of the target over that of the predictions (``docs/theory/additive_model.md``, Theorem 6).

_LIKELY = 2.0  # standard deviations of the noise
_FEWEST, _MOST = 8, 2_200  # bins, on either side


def is_bent(domain):
    """Whether the mean of positions on the axis of a target is not the position of its mean."""
    return isinstance(domain, domains.LogRange | domains.Knots)


def numbers_at(domain, positions):
    """The numbers at positions on a bent axis, clipped to it; dates in seconds."""
    positions = np.clip(np.asarray(positions, dtype=np.float64), *domain.encoded)
    if isinstance(domain, domains.LogRange):
        return np.copysign(np.expm1(np.abs(positions)), positions)
    return np.interp(positions, np.arange(len(domain.knots)), domain.knots)


class Correction(NamedTuple):
    """What a prediction becomes: ``anchor + factor (prediction - anchor) + shift``."""

    anchor: float
    factor: float = 1.0
    shift: float = 0.0

    def applied(self, numbers):
        """Corrected predictions."""
        return self.anchor + self.factor * (numbers - self.anchor) + self.shift


class Octaves(NamedTuple):
    """Public bins of the distance of a target from an anchor, each twice as wide as the one before.

    Every record is in one bin, to whose sum it adds its distance over the upper end of the bin: large targets, of which
    there are few, need not make the noise on all others large.
    """

    anchor: float
    sides: tuple  # 1 for targets above the anchor, -1 for those below it
    uppers: np.ndarray  # ascending

    @classmethod
    def of(cls, domain):
        """Those of a bent axis."""
        lower, upper = domains.limits_of(domain)
        anchor = 0.0 if isinstance(domain, domains.LogRange) else lower
        sides = (1,) if lower >= anchor else (-1,) if upper <= anchor else (-1, 1)
        reach = max(abs(upper - anchor), abs(lower - anchor))
        finest = 0.5 if isinstance(domain, domains.LogRange) else min(np.diff(domain.knots)) / 8
        n_bins = int(np.clip(math.ceil(math.log2(max(reach, finest)) - math.log2(finest)) + 1, _FEWEST, _MOST))
        return cls(anchor, sides, np.ldexp(reach, np.arange(1 - n_bins, 1)))

    def sums(self, numbers):
        """Sums of the bins of each side, in steps of upper ends, each record by itself: int64 (n_sides, n_bins)."""
        distances = np.asarray(numbers) - self.anchor
        bins = np.minimum(np.searchsorted(self.uppers, np.abs(distances)), len(self.uppers) - 1)
        steps = np.rint(np.minimum(np.abs(distances) / self.uppers[bins], 1.0) * GRID)
        of_sides = [np.where((distances >= 0) == (side > 0), steps, 0) for side in self.sides]
        return np.array([np.bincount(bins, s, len(self.uppers)) for s in of_sides]).astype(np.int64)

    def mean(self, sums, n_samples, noise):
        """The mean distance by noisy sums, in records; None if all are within their noise.

        Bins beyond the last one with a sum that is surely more than noise, and its likely neighbours, are taken as
        empty: their noise would exceed the mean.
        """
        means = [self._mean_of_side(of_side / n_samples, noise, n_samples) for of_side in sums]
        if all(mean is None for mean in means):
            return None
        return sum(side * (mean or 0.0) for side, mean in zip(self.sides, means, strict=True))

    def _mean_of_side(self, means, noise, n_samples):
        are_sure = means > noise.sure / n_samples
        if not are_sure.any():
            return None
        last = np.flatnonzero(are_sure)[-1] + 1
        while last < len(means) and means[last] > _LIKELY * noise.step_scale / n_samples:
            last += 1
        return float(means[: last + 1] @ self.uppers[: last + 1])


def correction_of(domain, window, target, scores, noise, random_bytes):
    """The correction of predictions, from noisy sums of the target and of the predictions; and these sums, in records.

    Parameters
    ----------
    domain : LogRange or Knots
    window : (float, float)
        Positions to which predictions are clipped; public, or released.
    target, scores : ndarrays of shape (n_samples,)
        Positions.
    noise : ScorecardNoise
        From `of_mean`.
    random_bytes : callable
    """
    octaves = Octaves.of(domain)
    exact = [octaves.sums(numbers_at(domain, positions)) for positions in (target, np.clip(scores, *window))]
    sums = noise.on_counts(np.array(exact), random_bytes, GRID) / GRID
    mean, predicted = (octaves.mean(each, len(scores), noise) for each in sums)
    return _correction(octaves, mean, predicted), {"noisy_octaves_": sums}


def _correction(octaves, mean, predicted):
    """No correction if all sums are within their noise."""
    if mean is None or predicted is None:
        return Correction(octaves.anchor)
    if len(octaves.sides) > 1:
        return Correction(octaves.anchor, shift=mean - predicted)
    return Correction(octaves.anchor, mean / predicted if predicted else 1.0)
