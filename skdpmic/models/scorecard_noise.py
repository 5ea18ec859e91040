"""The noise of a scorecard: on the table of each column with the target, and on the choice of one factor.

See ``docs/theory/additive_model.md``.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from skdpmic.models.target_steps import GRID
from skdpmic.models.target_window import MEAN_SHARE, share_besides
from skdpmic.privacy.composition import Pure, budget_of
from skdpmic.privacy.noise import clamped, discrete_gaussian, discrete_laplace, exponential_choice, laplace_deviation

FACTOR_SHARE = Fraction(3, 20)  # share of the budget for the factor
TOTAL_SHARE = Fraction(1, 10)  # share for the total of a numeric target
STEPS = 2**12  # of the loss of one record, so that losses are integers
_OF_MEAN = 4  # L1 and squared L2 sensitivity: 2 of the sums of the target in octaves, and of those of predictions
_SUMS_TO_COUNTS = 4  # variance of the noise on counts, relative to sums of a numeric target in units of its range


def share_of_tables(of_numbers, is_bent=False):
    """The share of the budget for the tables."""
    return 1 - FACTOR_SHARE - share_besides(of_numbers, is_bent) - (TOTAL_SHARE if of_numbers else 0)


@dataclass(frozen=True)
class ScorecardNoise:
    """Discrete Laplace noise ("geometric"), or discrete Gaussian noise, on all counts and sums.

    Parameters
    ----------
    name : {"geometric", "gaussian"}
    count_scale : Fraction
        Scale of the Laplace noise on a count, or variance of the Gaussian noise; 0 for none.
    choice_scale : int
        Scale of the exponential mechanism on sums of losses in steps; 0 for the best factor.
    total_scale : Fraction, default=0
        Like `count_scale`, for the noise on the total of a numeric target, in units of its range.
    """

    name: str
    count_scale: Fraction
    choice_scale: int
    total_scale: Fraction = Fraction(0)

    @classmethod
    def for_budget(cls, epsilon, delta, n_columns, n_classes, rows_per_group=1, is_bent=False):
        """The noise at which everything but the window and the mean costs the rest of (epsilon, delta)."""
        whole, of_numbers = budget_of(epsilon, delta), n_classes is None
        tables, factor, total = map(whole.part, (share_of_tables(of_numbers, is_bent), FACTOR_SHARE, TOTAL_SHARE))
        name = "geometric" if isinstance(whole, Pure) else "gaussian"
        if epsilon == math.inf:
            return cls(name, Fraction(0), 0)
        choice_scale = math.ceil(2 * STEPS * rows_per_group / factor.epsilon)
        change = n_columns * (4 if of_numbers else 2)  # of counts, and of sums with their weight
        if name == "geometric":
            scales = change * rows_per_group / tables.epsilon, rows_per_group / total.epsilon
        else:
            scales = change * rows_per_group**2 / (2 * tables.rho), rows_per_group**2 / (2 * total.rho)
        return cls(name, scales[0], choice_scale, scales[1] if of_numbers else Fraction(0))

    @classmethod
    def of_mean(cls, epsilon, delta, rows_per_group=1):
        """The noise on the sums of a target in octaves and of its predictions, at which these cost their share."""
        part = budget_of(epsilon, delta).part(MEAN_SHARE)
        if epsilon == math.inf:
            return cls("gaussian", Fraction(0), 0)
        if isinstance(part, Pure):
            return cls("geometric", _OF_MEAN * rows_per_group / part.epsilon, 0)
        return cls("gaussian", _OF_MEAN * rows_per_group**2 / (2 * part.rho), 0)

    @property
    def noise_scale(self):
        """Standard deviation of the noise on a count."""
        return self._deviation(self.count_scale)

    @property
    def step_scale(self):
        """Standard deviation of the noise on a sum of numbers in [0, 1], which are in steps of a grid."""
        return self._deviation(self.count_scale, GRID)

    @property
    def sure(self):
        """A sum of such numbers that noise alone exceeds with a probability below 1e-5."""
        return self.step_scale * (8 if self.name == "geometric" else 5)

    @property
    def sum_scale(self):
        """Standard deviation of the noise on a sum of a numeric target, in units of its range."""
        return self._deviation(self.count_scale / 2, GRID) if self.name == "geometric" else self.noise_scale / 2

    @property
    def total_deviation(self):
        """Standard deviation of the noise on the total, likewise."""
        return self._deviation(self.total_scale, GRID)

    def _deviation(self, scale, n_steps=1):
        """Standard deviation of noise of this scale that is drawn in this many steps."""
        return laplace_deviation(scale * n_steps) / n_steps if self.name == "geometric" else math.sqrt(scale)

    def on_counts(self, counts, random_bytes):
        """Counts with noise."""
        return self._added(counts, self.count_scale, random_bytes)

    def on_sums(self, sums, n_steps, random_bytes):
        """Sums of a numeric target, in steps of its range, with noise; of half the standard deviation of counts."""
        factor = Fraction(n_steps, 2) if self.name == "geometric" else Fraction(n_steps**2, _SUMS_TO_COUNTS)
        return self._added(sums, self.count_scale * factor, random_bytes)

    def on_steps(self, sums, random_bytes):
        """Sums of numbers in [0, 1], in steps of a grid, with noise as on counts."""
        return self._added(sums, self.count_scale * GRID ** (1 if self.name == "geometric" else 2), random_bytes)

    def on_total(self, total, n_steps, random_bytes):
        """The total of a numeric target, in steps of its range, with noise: an array of one number."""
        factor = n_steps if self.name == "geometric" else n_steps**2
        return self._added(np.array([total]), self.total_scale * factor, random_bytes)

    def _added(self, exact, scale, random_bytes):
        if scale == 0:
            return exact
        draw = discrete_laplace if self.name == "geometric" else discrete_gaussian
        return clamped(exact + draw(scale, exact.size, random_bytes).reshape(exact.shape))

    def choose(self, losses, unlikely, random_bytes):
        """The index of a candidate with nearly the smallest sum of losses.

        Parameters
        ----------
        losses : int64 ndarray of shape (n_candidates,)
            In steps.
        unlikely : float ndarray of shape (n_candidates,)
            Public: minus the logarithm of the prior probability of each candidate, up to a constant.
        random_bytes : callable
        """
        if self.choice_scale == 0:
            return int(np.argmin(losses))
        before = np.rint(np.minimum(unlikely * self.choice_scale, 2.0**60)).astype(np.int64)
        return exponential_choice(-losses - before, self.choice_scale, random_bytes)
