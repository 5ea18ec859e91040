"""The release behind a summary: two sets of cells of each column, with a part of the budget for either."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from skdpmic.budget.filters import Cost
from skdpmic.privacy.composition import rho_for
from skdpmic.privacy.parameters import exact
from skdpmic.release.summary.noisy_cells import GaussianCells, MovesMechanism

CONFIDENCE = 0.95  # that all intervals hold what they are for
# Of the budget, for flags: a tenth that is clipped matters; of the parts, only whether one or two have nearly all.
_OF_FLAGS = Fraction(2, 3)
_SHARES = (_OF_FLAGS, 1 - _OF_FLAGS)


@dataclass(frozen=True)
class CellsRelease:
    """What is published of columns of these sizes: their flags, which are set 0, and their parts, set 1.

    Parameters
    ----------
    epsilon, delta : float
    sizes : tuple of (int, int)
        Cells of the two sets of each column.
    rows_per_group : int, default=1
        Rows of each person, all of which are replaced.
    """

    epsilon: float
    delta: float
    sizes: tuple
    rows_per_group: int = 1

    @cached_property
    def mechanisms(self):
        """Of the two sets, the kind with less noise on flags."""
        if self.delta == 0 or self.epsilon == math.inf:
            return self._pure()
        largest = max(self.n_cells(0))
        return min(self._pure(), self._gaussian(), key=lambda mechanisms: self._margin(mechanisms[0], 0, largest))

    def _pure(self):
        epsilons = [self.epsilon if self.epsilon == math.inf else share * exact(self.epsilon) for share in _SHARES]
        return [
            MovesMechanism.for_budget(epsilon, self.n_cells(which), self.rows_per_group)
            for which, epsilon in enumerate(epsilons)
        ]

    def _gaussian(self):
        rho = Fraction(rho_for(self.epsilon, self.delta))
        return [
            GaussianCells.for_budget(share * rho, self.n_cells(which), self.rows_per_group)
            for which, share in enumerate(_SHARES)
        ]

    def n_cells(self, which):
        """How many cells of a set each column has."""
        return [size[which] for size in self.sizes]

    @property
    def cost(self):
        """What a ledger is charged."""
        if self.mechanisms[0].name == GaussianCells.name:
            return Cost.concentrated(self.epsilon, self.delta)
        return Cost.of_parts(self.epsilon, sum(share**2 for share in _SHARES))

    def margin(self, which, n_cells):
        """How far a count in a column with so many cells is off at most, in records: all of both sets at once."""
        return self._margin(self.mechanisms[which], which, n_cells)

    def _margin(self, mechanism, which, n_cells):
        return mechanism.reach((1 - CONFIDENCE) / (4 * self._n_counts(which)), n_cells)

    def reach(self, which, n_cells, n_together=1):
        """By how much a count, or the sum of some, is too high at most, in records: all of one set at once."""
        return self.mechanisms[which].reach((1 - CONFIDENCE) / self._n_counts(which), n_cells, n_together)

    def _n_counts(self, which):
        """Counts that are looked at; those in the last cells are what is left."""
        return sum(self.n_cells(which)) - len(self.sizes)
