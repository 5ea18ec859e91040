"""Noisy counts of all cells of several columns, by the least noisy mechanism (``docs/theory/summary.md``)."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from skdpmic.privacy.mechanisms import gaussian_quantile
from skdpmic.privacy.moves import discrete_moves
from skdpmic.privacy.moves_law import reach_of_cells
from skdpmic.privacy.noise import discrete_gaussian
from skdpmic.privacy.parameters import exact

_FLOAT_ERROR = 2.0**-30  # upper bound on the relative error of the computed reach
_STEPS_BEYOND = 2  # discrete noise reaches no further than continuous noise and two grid steps


@dataclass(frozen=True)
class MovesMechanism:
    """Noise calibrated to a record that moves from one cell to another in each column, at a cost of epsilon.

    Parameters
    ----------
    n_cells : tuple of int
        Number of cells of each column.
    n_steps : int
        Number of grid steps per record.
    scale : Fraction
        Scale of the noise, in grid steps; 0 for none.
    """

    n_cells: tuple
    n_steps: int
    scale: Fraction

    name = "k-norm"

    @property
    def noise_scale(self):
        """Scale of the noise, in records."""
        return float(self.scale / self.n_steps)

    @classmethod
    def for_budget(cls, epsilon, n_cells, rows_per_group):
        """The mechanism that spends epsilon, a float or a Fraction; a person has `rows_per_group` rows."""
        if epsilon == math.inf:
            return cls(tuple(n_cells), 1, Fraction(0))
        n_moves = sum(n_cells) - len(n_cells)
        n_steps = max(1, math.ceil(n_moves * exact(epsilon) / rows_per_group))  # with fewer, many radii are wasted
        return cls(tuple(n_cells), n_steps, n_steps * rows_per_group / exact(epsilon))

    def release(self, counts, random_bytes):
        """Noisy counts as arrays of floats, not clamped, which sum to the number of records in each column."""
        if self.scale == 0:
            return [of_column.astype(np.float64) for of_column in counts]
        noise = discrete_moves(list(self.n_cells), self.scale, random_bytes)
        steps = [of_column.astype(object) * self.n_steps + z for of_column, z in zip(counts, noise, strict=True)]
        return [np.array([float(Fraction(int(step), self.n_steps)) for step in of_column]) for of_column in steps]

    def reach(self, tail, n_cells, n_together=1):
        """Bound, in records, that the total noise on this many cells exceeds with at most this probability."""
        if self.scale == 0:
            return 0.0
        n_moves = sum(self.n_cells) - len(self.n_cells)
        reach = reach_of_cells(tail, n_cells, n_moves, n_together) * float(self.scale) * (1 + _FLOAT_ERROR)
        return (reach + _STEPS_BEYOND) / self.n_steps


@dataclass(frozen=True)
class GaussianCells:
    """Independent Gaussian noise on all cells except the last, which takes the rest, with a budget in zCDP.

    Parameters
    ----------
    n_cells : tuple of int
        Number of cells of each column.
    variance : Fraction
        Variance of the noise on a cell, in squared records.
    """

    n_cells: tuple
    variance: Fraction

    name = "gaussian"

    @property
    def noise_scale(self):
        """Standard deviation of the noise on a count, in records."""
        return math.sqrt(self.variance)

    @classmethod
    def for_budget(cls, rho, n_cells, rows_per_group):
        """The mechanism that spends rho: the squared sensitivity is 2 for each column."""
        return cls(tuple(n_cells), Fraction(2 * len(n_cells) * rows_per_group**2) / (2 * Fraction(rho)))

    def release(self, counts, random_bytes):
        """Noisy counts as arrays of floats, not clamped, which sum to the number of records in each column."""
        noise = iter(discrete_gaussian(self.variance, sum(self.n_cells) - len(self.n_cells), random_bytes).tolist())
        noisy = [[int(count) + next(noise) for count in of_column[:-1]] for of_column in counts]
        return [
            np.array([*cells, int(of_column.sum()) - sum(cells)], dtype=np.float64)
            for cells, of_column in zip(noisy, counts, strict=True)
        ]

    def reach(self, tail, n_cells, n_together=1):
        """Bound, in records, that the total noise on this many cells exceeds with at most this probability."""
        return float(gaussian_quantile(math.sqrt(self.variance * n_together), 1 - 2 * tail))
