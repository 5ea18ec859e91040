"""The mean of a target whose axis is bent: of logarithms, or of knots.

A model of positions on such an axis predicts near the geometric mean, for instance. So its predictions are multiplied
by the noisy sum of the target over that of the predictions (``docs/theory/additive_model.md``, Theorem 6).
"""

import math
from typing import NamedTuple

import numpy as np

from skdpmic.models.parts import GRID
from skdpmic.table.domains import Knots, LogRange

_LIKELY = 2.0  # standard deviations of the noise
_FEWEST, _MOST = 8, 2_200  # bins, on either side


def is_bent(domain):
    """Whether the mean of positions on the axis of a target is not the position of its mean."""
    return isinstance(domain, LogRange | Knots)


def numbers_at(domain, positions):
    """The numbers at positions on a bent axis, clipped to it; dates in seconds."""
    positions = np.clip(np.asarray(positions, dtype=np.float64), *domain.encoded)
    if isinstance(domain, LogRange):
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
        lower, *_, upper = (bound for bound in domain.bounds if bound != "log")
        anchor = 0.0 if isinstance(domain, LogRange) else lower
        sides = (1,) if lower >= anchor else (-1,) if upper <= anchor else (-1, 1)
        reach = max(abs(upper - anchor), abs(lower - anchor))
        finest = 0.5 if isinstance(domain, LogRange) else min(np.diff(domain.knots)) / 8
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
    sums = noise.on_steps(np.array(exact), random_bytes) / GRID
    mean, predicted = (octaves.mean(each, len(scores), noise) for each in sums)
    return _correction(octaves, mean, predicted), {"noisy_octaves_": sums}


def _correction(octaves, mean, predicted):
    """No correction if all sums are within their noise."""
    if mean is None or predicted is None:
        return Correction(octaves.anchor)
    if len(octaves.sides) > 1:
        return Correction(octaves.anchor, shift=mean - predicted)
    return Correction(octaves.anchor, mean / predicted if predicted else 1.0)
