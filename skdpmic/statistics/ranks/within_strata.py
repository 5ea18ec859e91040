"""Kendall's tau and Spearman's rho of a pair within public strata (``docs/theory/conditional_ranks.md``).

Scores in [-1, 1], with their sign. Noise is added to half of a score above -1, which is in [0, 1] as others are, and
exact on the grid of the noise once it is rounded down.
"""

from skdpmic.privacy.mechanisms import grid_sensitivity
from skdpmic.statistics.measure import Statistic
from skdpmic.statistics.ranks.conditional import conditional_kendall, conditional_spearman
from skdpmic.statistics.ranks.kernels import check_n_records
from skdpmic.statistics.ranks.sensitivity import conditional_kendall_sensitivity, conditional_spearman_sensitivity


class _WithinStrata(Statistic):
    """A statistic that is its own measure, as there are no grids to be fixed."""

    needs_ranges = False

    def measure(self, B, c, n, epsilon, n_classes):
        """The same for all parameters, none of which is looked at."""
        return self

    def steps(self, shape):
        """How far one record can move half of the score, in grid steps; an error, if there are too many of them."""
        check_n_records(shape.n_samples)
        return grid_sensitivity(self.sensitivity_of(shape.n_samples) / 2, rounding_error=0)

    def scorer(self, target, random_bytes):
        """What scores a variable against a `StratifiedTarget`."""
        return _Scorer(self.score, target)


class _Scorer:
    """Scores a variable within strata. As sensitive as the target."""

    def __init__(self, score, target):
        self._score, self._target = score, target

    def score(self, x, scale):
        """Half of the score above -1, which is not rounded: in [0, 1]."""
        return (self._score(x, self._target.values, self._target.strata) + 1) / 2


class KendallWithinStrata(_WithinStrata):
    """Kendall's tau-a, averaged over strata."""

    sensitivity_of = staticmethod(conditional_kendall_sensitivity)
    score = staticmethod(conditional_kendall)


class SpearmanWithinStrata(_WithinStrata):
    """Spearman's rho-a, averaged over strata."""

    sensitivity_of = staticmethod(conditional_spearman_sensitivity)
    score = staticmethod(conditional_spearman)
