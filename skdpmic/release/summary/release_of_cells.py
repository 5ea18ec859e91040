"""The release behind a summary: two sets of cells of each column, each with a part of the budget."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from skdpmic.budget.filters import Cost
from skdpmic.privacy.composition import rho_for
from skdpmic.privacy.parameters import exact
from skdpmic.release.summary.noisy_cells import GaussianCells, MovesMechanism

CONFIDENCE = 0.95  # that all intervals contain their shares
# Share of the budget for flags: a tenth of clipped values matters; of parts, only if one or two have nearly all.
_OF_FLAGS = Fraction(2, 3)
_SHARES = (_OF_FLAGS, 1 - _OF_FLAGS)


@dataclass(frozen=True)
class CellsRelease:
    """The release for columns of these sizes: their flags (set 0) and their parts (set 1).

    Parameters
    ----------
    epsilon, delta : float
    sizes : tuple of (int, int)
        Numbers of cells of the two sets, for each column.
    rows_per_group : int, default=1
        Number of rows per person, all of which may be replaced.
    """

    epsilon: float
    delta: float
    sizes: tuple
    rows_per_group: int = 1

    @cached_property
    def mechanisms(self):
        """Mechanisms of the two sets: the kind with less noise on flags."""
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
        """The number of cells of a set in each column."""
        return [size[which] for size in self.sizes]

    @property
    def cost(self):
        """The charge of a ledger."""
        if self.mechanisms[0].name == GaussianCells.name:
            return Cost.concentrated(self.epsilon, self.delta)
        return Cost.of_parts(self.epsilon, sum(share**2 for share in _SHARES))

    def margin(self, which, n_cells):
        """Simultaneous error bound, in records, for all counts of both sets, in a column with this many cells."""
        return self._margin(self.mechanisms[which], which, n_cells)

    def _margin(self, mechanism, which, n_cells):
        return mechanism.reach((1 - CONFIDENCE) / (4 * self._n_counts(which)), n_cells)

    def reach(self, which, n_cells, n_together=1):
        """Simultaneous bound, in records, on the excess of a count or of a sum of two, for all of one set."""
        n_bounded = 2 * self._n_counts(which)  # neighbours are added, so there are fewer sums than counts
        return self.mechanisms[which].reach((1 - CONFIDENCE) / n_bounded, n_cells, n_together)

    def _n_counts(self, which):
        """Number of counts used; those of the last cells are remainders."""
        return sum(self.n_cells(which)) - len(self.sizes)
