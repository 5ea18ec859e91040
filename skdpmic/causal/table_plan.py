"""How the tables of a table of labels are released: which, in which stages, with how much noise. All public."""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from skdpmic.causal.label_parts import MOST_VALUES
from skdpmic.privacy.composition import rho_for

_MOST_TRIPLES = 560  # of 16 columns: of more, tables of three are released as the algorithm asks for them
_MOST_OF_FOUR = 11  # columns of labels: of so many, the noise on tables of four is hardly larger than on those of three
MOST_CELLS = 2_000_000  # of all tables together, so that memory and time do not run out where labels are many


def tables_squared_sensitivity(n_tables, rows_per_group=1):
    """Square of the L2 sensitivity of so many tables of counts together, whatever their columns: 2 m^2 a table.

    A record is in one cell of each table, and the one that replaces it in another. Attained.

    Parameters
    ----------
    n_tables : int
    rows_per_group : int, default=1
        Records of each person, m, all of which are replaced.

    Returns
    -------
    int
        Exact, in records.
    """
    return 2 * rows_per_group**2 * n_tables


@dataclass(frozen=True)
class TablePlan:
    """Stages of a release, and the noise of each.

    First the counts of each column by itself, from which it follows which parts have records; then tables of all sets
    of `columns_per_table` columns; then, if `asks`, tables of those three columns that the algorithm asks for.

    Parameters
    ----------
    rho : Fraction or float
        Budget of zero-concentrated privacy for all stages; infinite for no noise.
    n_parts : tuple of int
        How many parts each column has in the first stage.
    n : int
        Number of records, which is public.
    rows_per_group : int
    max_order : int
        Most columns that a test takes as given.
    numbers : frozenset of int, default=frozenset()
        Columns of numbers, which have more parts in the end than labels have as a rule.
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
        """Of how many columns all tables are released: of one more than tests are given, if these are not too many."""
        if self.max_order >= 3 and not self.numbers and self.n_columns <= _MOST_OF_FOUR and self._is_possible(4):
            return 4
        few = math.comb(self.n_columns, 3) <= _MOST_TRIPLES
        return 3 if self._needs_three and few and self._is_possible(3) else 2

    def _is_possible(self, n_columns):
        """Whether there are sets of so many columns, and their tables have few cells in all."""
        cells = [1] + [0] * n_columns  # of all sets of 0, 1, ... of the columns so far
        for column, n_parts in enumerate(self.n_parts):
            size = min(n_parts, MOST_VALUES + 1) if column in self.numbers else n_parts
            cells = [cells[0], *(more + size * fewer for fewer, more in pairwise(cells))]
        return 0 < cells[-1] <= MOST_CELLS

    @property
    def asks(self):
        """Whether budget is set aside for tables of three columns that the algorithm asks for."""
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
        """Shares of rho of the counts, of the tables of all sets, and of those that are asked for.

        Counts have about as much noise as tables; what is left is halved if tables are asked for.
        """
        of_counts = min(Fraction(1, 2), Fraction(self.n_columns, self.n_columns + self.n_tables))
        of_asked = (1 - of_counts) / 2 if self.asks else Fraction(0)
        return of_counts, 1 - of_counts - of_asked, of_asked

    def count_variance(self):
        """Variance of the noise on the counts of single columns."""
        return self._variance(self.n_columns, self.shares[0])

    def table_variance(self):
        """That on the counts of the tables of all sets of columns."""
        return self._variance(self.n_tables, self.shares[1])

    def asked_variance(self, n_tables):
        """That on the counts of so many tables of three columns that are asked for."""
        return self._variance(n_tables, self.shares[2])

    def _variance(self, n_tables, share):
        """The least integer variance with which so many tables cost no more than their share of rho."""
        if self.rho == math.inf:
            return 0
        return math.ceil(tables_squared_sensitivity(n_tables, self.rows_per_group) / (2 * share * self.rho))

    @property
    def noise_scale(self):
        """Standard deviation of the noise on a count of the tables of all sets of columns, in records."""
        return math.sqrt(self.table_variance())
