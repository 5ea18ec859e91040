"""The plan of a release of tables of counts: which tables, in which stages, with how much noise. All public."""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from skdpmic.causal.label_parts import MOST_VALUES
from skdpmic.privacy.composition import rho_for

_MOST_TRIPLES = 560  # those of 16 columns; with more columns, tables of three are released on request of the algorithm
_MOST_OF_FOUR = 11  # columns of labels for which the noise on tables of four is hardly larger than on those of three
MOST_CELLS = 2_000_000  # of all tables together, to limit memory and time with many labels


def tables_squared_sensitivity(n_tables, rows_per_group=1):
    """Squared L2 sensitivity of this many tables of counts together, for any columns: 2 m^2 per table.

    A record is in one cell of each table, and its replacement in another. The bound is attained.

    Parameters
    ----------
    n_tables : int
    rows_per_group : int, default=1
        Number of records per person, m, all of which may be replaced.

    Returns
    -------
    int
        Exact, in records.
    """
    return 2 * rows_per_group**2 * n_tables


@dataclass(frozen=True)
class TablePlan:
    """Stages of a release, and the noise of each.

    The first stage is the counts of each column by itself, which determine the parts that have records; the second is
    the tables of all sets of `columns_per_table` columns; the third, if `asks`, is the tables of the three columns that
    the algorithm requests.

    Parameters
    ----------
    rho : Fraction or float
        Budget of zero-concentrated privacy for all stages; infinite for no noise.
    n_parts : tuple of int
        Number of parts of each column in the first stage.
    n : int
        Number of records, which is public.
    rows_per_group : int
    max_order : int
        Maximum number of columns that a test conditions on.
    numbers : frozenset of int, default=frozenset()
        Numeric columns, which usually end up with more parts than columns of labels.
    """

    rho: Fraction | float
    n_parts: tuple
    n: int
    rows_per_group: int
    max_order: int
    numbers: frozenset = frozenset()

    name = "gaussian"

    @classmethod
    def for_budget(cls, epsilon, delta, n_parts, n, rows_per_group, max_order, numbers=frozenset()):
        """The plan with budget (epsilon, delta)."""
        rho = rho_for(epsilon, delta)
        rho = rho if rho == math.inf else Fraction(rho)
        return cls(rho, tuple(n_parts), n, rows_per_group, max_order, numbers)

    @property
    def n_columns(self):
        """Number of columns."""
        return len(self.n_parts)

    @property
    def columns_per_table(self):
        """Number of columns per table: one more than tests condition on, if these tables are not too many."""
        if self.max_order >= 3 and not self.numbers and self.n_columns <= _MOST_OF_FOUR and self._is_possible(4):
            return 4
        few = math.comb(self.n_columns, 3) <= _MOST_TRIPLES
        return 3 if self._needs_three and few and self._is_possible(3) else 2

    def _is_possible(self, n_columns):
        """Whether there are sets of this many columns, and their tables have few cells in total."""
        cells = [1] + [0] * n_columns  # of all sets of 0, 1, ... of the columns so far
        for column, n_parts in enumerate(self.n_parts):
            size = min(n_parts, MOST_VALUES + 1) if column in self.numbers else n_parts
            cells = [cells[0], *(more + size * fewer for fewer, more in pairwise(cells))]
        return 0 < cells[-1] <= MOST_CELLS

    @property
    def asks(self):
        """Whether budget is reserved for tables of three columns that the algorithm requests."""
        return self._needs_three and self.columns_per_table == 2

    @property
    def _needs_three(self):
        return self.max_order >= 2 and self.n_columns >= 3

    @property
    def n_tables(self):
        """Number of tables of all sets of columns."""
        return math.comb(self.n_columns, self.columns_per_table)

    @property
    def shares(self):
        """Shares of rho for the counts, the tables of all sets, and the requested tables.

        Counts have about as much noise as tables; the rest is halved if tables may be requested.
        """
        of_counts = min(Fraction(1, 2), Fraction(self.n_columns, self.n_columns + self.n_tables))
        of_asked = (1 - of_counts) / 2 if self.asks else Fraction(0)
        return of_counts, 1 - of_counts - of_asked, of_asked

    def count_variance(self):
        """Variance of the noise on the counts of single columns."""
        return self._variance(self.n_columns, self.shares[0])

    def table_variance(self):
        """Variance of the noise on the counts in the tables of all sets of columns."""
        return self._variance(self.n_tables, self.shares[1])

    def asked_variance(self, n_tables):
        """Variance of the noise on the counts in this many requested tables of three columns."""
        return self._variance(n_tables, self.shares[2])

    def _variance(self, n_tables, share):
        """The smallest integer variance at which this many tables cost at most their share of rho."""
        if self.rho == math.inf:
            return 0
        return math.ceil(tables_squared_sensitivity(n_tables, self.rows_per_group) / (2 * share * self.rho))

    @property
    def noise_scale(self):
        """Standard deviation of the noise on a count in the tables of all sets of columns, in records."""
        return math.sqrt(self.table_variance())
