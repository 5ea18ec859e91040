"""The sums over records that R2 and the mean absolute error need, and exact noise (``docs/theory/evaluation.md``)."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from skdpmic.privacy.noise import discrete_laplace
from skdpmic.privacy.parameters import exact

STEPS = 2**14  # of the range of the target, to which targets and predictions are rounded
# Weights of the sums in the budget, where each sum is scaled so that a record moves it by at most 1 (the last: 1/4).
# The target and its square cost less together than the sum of their weights (Theorem 2).
ERROR_SHARE, SQUARE_SHARE, TARGET_SHARE, TARGET_SQUARE_SHARE = (Fraction(n, 80) for n in (9, 44, 24, 48))
# Most of the sum of squares of (change / scale / epsilon): an error of 1 that goes, and a target that moves from end to
# end, which does not move its square.
SQUARES = ERROR_SHARE**2 + SQUARE_SHARE**2 + TARGET_SHARE**2


@dataclass(frozen=True)
class ErrorSums:
    """Four sums over records of a target g and a prediction h, integers in 0 ... steps.

    The sums of ``|g - h|``, ``(g - h)**2``, ``2 g - steps`` and ``(2 g - steps)**2``, integers.

    Parameters
    ----------
    steps : int
    """

    steps: int = STEPS

    def rounded(self, values, bounds):
        """Values clipped to bounds and rounded to a grid, each separately: int64 ndarray."""
        lower, upper = bounds
        return np.rint((np.clip(values, lower, upper) - lower) / (upper - lower) * self.steps).astype(np.int64)

    def sums(self, target, predicted):
        """The four sums, as Python integers."""
        error, doubled = target - predicted, 2 * target - self.steps
        of_records = np.abs(error), error**2, doubled, doubled**2
        return [int(each.sum(dtype=np.int64)) for each in of_records]

    def scales(self, epsilon, rows_per_group):
        """Scales of the noise on the four sums, in integers' units; zeros for infinite epsilon."""
        if epsilon == math.inf:
            return [Fraction(0)] * 4
        weights = ERROR_SHARE, SQUARE_SHARE, TARGET_SHARE / 2, TARGET_SQUARE_SHARE / 4  # of doubled numbers
        units = self.steps, self.steps**2, self.steps, self.steps**2
        return [rows_per_group * unit / (w * exact(epsilon)) for w, unit in zip(weights, units, strict=True)]


def noisy_sums(sums, scales, random_bytes):
    """The sums with independent discrete Laplace noise, as Python integers."""
    noise = [0 if scale == 0 else int(discrete_laplace(scale, 1, random_bytes)[0]) for scale in scales]
    return [total + z for total, z in zip(sums, noise, strict=True)]
