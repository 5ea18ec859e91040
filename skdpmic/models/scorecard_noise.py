"""The noise of a scorecard: on the table of each column with the target, and on the choice of one factor.

See ``docs/theory/additive_model.md``.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from skdpmic.privacy.composition import Pure, budget_of
from skdpmic.privacy.noise import clamped, discrete_gaussian, discrete_laplace, exponential_choice

OF_FACTOR = Fraction(3, 20)  # share of the budget for the factor
STEPS = 2**12  # of the loss of one record, so that losses are integers
_SUMS_TO_COUNTS = 4  # variance of the noise on counts, over that on sums of a numeric target in units of its range


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
    """

    name: str
    count_scale: Fraction
    choice_scale: int

    @classmethod
    def for_budget(cls, epsilon, delta, n_columns, n_classes, rows_per_group=1):
        """The noise at which all tables and the factor cost (epsilon, delta)."""
        whole = budget_of(epsilon, delta)
        tables, factor = whole.part(1 - OF_FACTOR), whole.part(OF_FACTOR)
        name = "geometric" if isinstance(whole, Pure) else "gaussian"
        if epsilon == math.inf:
            return cls(name, Fraction(0), 0)
        choice_scale = math.ceil(2 * STEPS * rows_per_group / factor.epsilon)
        change = 2 if n_classes is not None else 4  # of one column: counts, and sums with their weight
        if name == "geometric":
            return cls(name, Fraction(change * n_columns * rows_per_group) / tables.epsilon, choice_scale)
        return cls(name, Fraction(change * n_columns * rows_per_group**2) / (2 * tables.rho), choice_scale)

    @property
    def noise_scale(self):
        """Standard deviation of the noise on a count."""
        return math.sqrt(2) * float(self.count_scale) if self.name == "geometric" else math.sqrt(self.count_scale)

    @property
    def sum_scale(self):
        """Standard deviation of the noise on a sum of a numeric target, in units of its range."""
        return self.noise_scale / 2

    def on_counts(self, counts, random_bytes):
        """Counts with noise."""
        return self._added(counts, self.count_scale, random_bytes)

    def on_sums(self, sums, n_steps, random_bytes):
        """Sums of a numeric target, in steps of its range, with noise; of half the standard deviation of counts."""
        factor = Fraction(n_steps, 2) if self.name == "geometric" else Fraction(n_steps**2, _SUMS_TO_COUNTS)
        return self._added(sums, self.count_scale * factor, random_bytes)

    def _added(self, exact, scale, random_bytes):
        if scale == 0:
            return exact
        draw = discrete_laplace if self.name == "geometric" else discrete_gaussian
        return clamped(exact + draw(scale, exact.size, random_bytes).reshape(exact.shape))

    def choose(self, losses, unlikely, random_bytes):
        """The number of the candidate with nearly the smallest sum of losses.

        Parameters
        ----------
        losses : int64 ndarray of shape (n_candidates,)
            In steps.
        unlikely : float ndarray of shape (n_candidates,)
            Public: minus the logarithm of the probability of each candidate before the data, up to a constant.
        random_bytes : callable
        """
        if self.choice_scale == 0:
            return int(np.argmin(losses))
        before = np.rint(np.minimum(unlikely * self.choice_scale, 2.0**60)).astype(np.int64)
        return exponential_choice(-losses - before, self.choice_scale, random_bytes)
