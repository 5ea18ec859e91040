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

    Clear ratios share the width of Fieller's interval for one: their means are kept if the squares of their distances,
    in standard deviations, add up to at most its square. Others may be at any end of their own intervals.
    """
    clear = [ratio for ratio in ratios if ratio.is_clear]
    value = sum(ratio.value for ratio in clear)
    lower, upper = _ends_of_sum(clear, limits) if clear else (0.0, 0.0)
    for ratio in ratios:
        if not ratio.is_clear:
            middle, low, high = _unclear(ratio, limits)
            value, lower, upper = value + middle, lower + low, upper + high
    return tuple(float(np.clip(total / len(ratios), *limits)) for total in (value, lower, upper))


def _ends_of_sum(ratios, limits):
    """The ends of the interval of a sum: most of the width for the ratios with most of the noise, which is best."""
    shares = np.array([_norm(each.weights * each.deviations) for each in ratios])
    total = _norm(shares)
    if total == 0:
        return (sum(each.value for each in ratios),) * 2
    weights, deviations = (np.concatenate([getattr(each, of) for each in ratios]) for of in ("weights", "deviations"))
    width = reach(weights, deviations, _CONFIDENCE) / total
    ends = [each.ends(width * share / total, limits) for each, share in zip(ratios, shares, strict=True)]
    return np.sum(ends, axis=0)


def _unclear(ratio, limits):
    """Value and ends of the interval of a ratio with nothing below, or little more than noise."""
    if ratio.bottom <= 0:
        return np.mean(limits), *limits
    return np.clip([ratio.value, *_ends_of_sum([ratio], limits)], *limits)


def _norm(vector):
    return math.sqrt(vector @ vector)
