"""Ratios of noisy numbers, and 95% intervals for the mean of several without noise (``docs/theory/evaluation.md``).

A ratio is not divided first: v is kept if ``top - v bottom`` is within its noise (Fieller 1954), so intervals stay
valid where noise exceeds the signal. A noisy number divided by a public one is the case without noise below.
"""

import math
from typing import NamedTuple

import numpy as np

from skdpmic.privacy.weighted_noise import reach

_CONFIDENCE = 0.95
_CLEAR = 2.0  # standard deviations of its noise, above which the number below is known to be above 0


class Ratio(NamedTuple):
    """``top / bottom``; with noise z, that on ``top - v bottom`` is ``(of_top - v of_bottom) @ z`` for every v."""

    top: float
    bottom: float
    of_top: np.ndarray
    of_bottom: np.ndarray
    deviations: np.ndarray  # standard deviations of z

    @property
    def is_clear(self):
        """Whether there is more than noise below."""
        return self.bottom > _CLEAR * _norm(self.of_bottom * self.deviations)

    @property
    def value(self):
        """The ratio, which noise may move beyond its limits."""
        return self.top / self.bottom

    @property
    def weights(self):
        """Those of the noise in `value`, to first order."""
        return (self.of_top - self.value * self.of_bottom) / self.bottom

    def ends(self, width, limits):
        """Smallest and largest v with ``top - v bottom`` within `width` standard deviations of its noise.

        If the noise exceeds `bottom`, they may be all but those between two numbers; then, those within the limits.
        """
        of_top, of_bottom = (of * self.deviations / self.bottom for of in (self.of_top, self.of_bottom))
        least = 1 - width**2 * (of_bottom @ of_bottom)
        middle = self.value - width**2 * (of_top @ of_bottom)
        apart = (of_top @ of_top) * (of_bottom @ of_bottom) - (of_top @ of_bottom) ** 2
        spread = width * math.sqrt(max(_norm(of_top - self.value * of_bottom) ** 2 - width**2 * apart, 0.0))
        if least > 0:
            return (middle - spread) / least, (middle + spread) / least
        low, high = ((middle + spread) / least, (middle - spread) / least) if least < 0 < spread else limits
        if low < limits[0] and limits[0] < high < limits[1]:
            return high, limits[1]
        if high > limits[1] and limits[0] < low < limits[1]:
            return limits[0], low
        return limits


def mean_of(ratios, limits=(0.0, 1.0)):
    """The mean of independent ratios within these limits: its value, and the ends of its 95% interval.

    The squares of the distances to the ends of clear ratios are added (Zou and Donner 2008), which for a single one is
    Fieller's interval. Others may be at any end of their intervals at the same time.
    """
    clear = [ratio for ratio in ratios if ratio.is_clear]
    below, above = (_norm(each) for each in np.transpose(_distances(clear, limits))) if clear else (0.0, 0.0)
    value = sum(ratio.value for ratio in clear)
    lower, upper = value - below, value + above
    for ratio in ratios:
        if not ratio.is_clear:
            middle, low, high = _unclear(ratio, limits)
            value, lower, upper = value + middle, lower + low, upper + high
    return tuple(float(np.clip(total / len(ratios), *limits)) for total in (value, lower, upper))


def _distances(ratios, limits):
    """From each of the ratios to the two ends of its interval, at a width for the sum of all of them."""
    weights, deviations = (np.concatenate([getattr(each, of) for each in ratios]) for of in ("weights", "deviations"))
    total = _norm(weights * deviations)
    width = reach(weights, deviations, _CONFIDENCE) / total if total > 0 else 0.0
    return [np.maximum(np.multiply(np.subtract(each.ends(width, limits), each.value), [-1, 1]), 0.0) for each in ratios]


def _unclear(ratio, limits):
    """Value and ends of the interval of a ratio with nothing below, or little more than noise."""
    if ratio.bottom <= 0:
        return np.mean(limits), *limits
    ((below, above),) = _distances([ratio], limits)
    return np.clip([ratio.value, ratio.value - below, ratio.value + above], *limits)


def _norm(vector):
    return math.sqrt(vector @ vector)
