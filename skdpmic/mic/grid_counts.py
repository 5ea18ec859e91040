"""Counts on all grids of MICr at once, which add up: those of a table are the sum of those of its pieces.

All grids with one master partition are read from one table: the cells that their fixed partitions have in common, by
the master parts. The tables of all master partitions, one after the other, are all that MICr needs to know.
"""

import numpy as np

from skdpmic.mic.counting import common_cells, compress
from skdpmic.mic.jit import jit
from skdpmic.mic.optimize_axis import entropy_table, rounding_error
from skdpmic.mic.partitions import class_axis, equipartitions, parts_of
from skdpmic.mic.statistics import continuous_grids, discrete_plan, end_of_group, largest_of_group, placed

_NO_VALUES = np.empty(0)


class ContinuousGrids:
    """The grids of a feature with a numeric target, in both orientations.

    Parameters
    ----------
    target_bounds : pair of floats
    B : float, at least 4
    c : float, above 0
    """

    def __init__(self, target_bounds, B, c):
        self._plan, self._partitions = continuous_grids(B, c, "reduced")
        self._target_bounds = target_bounds
        self._target = self.place(_NO_VALUES)
        self._n_fixed_target = count_grids(self._target, self._target, self._plan).size
        self.n_tables = 2 * len(np.unique(self._plan[:, 1]))

    def place(self, y):
        """The target's values `y`, made ready to be counted with features."""
        return placed(y, self._target_bounds, self._partitions)

    def count(self, x, bounds, target):
        """Counts of the feature `x` with a target that was placed: a flat uint32 array, as long for equal bounds."""
        feature = placed(x, bounds, self._partitions)
        return np.append(count_grids(feature, target, self._plan), count_grids(target, feature, self._plan))

    def score(self, counts, bounds, table):
        """MICr from the counts of a feature: the number that the records give, bit for bit."""
        feature = placed(_NO_VALUES, bounds, self._partitions)
        fixed_target, fixed_feature = np.split(counts, [self._n_fixed_target])
        return max(
            _largest_entry(fixed_target, self._target, self._plan, table),
            _largest_entry(fixed_feature, feature, self._plan, table),
        )

    def rounding_error(self, n):
        """Bound on the distance of a score of n records from its exact value."""
        return rounding_error(n, self._plan)


class DiscreteGrids:
    """The one grid of a feature with a target of class numbers; methods as of :class:`ContinuousGrids`.

    Parameters
    ----------
    n_classes : int
    B : float, at least 4
    c : float, above 0
    """

    n_tables = 1

    def __init__(self, n_classes, B, c):
        self._plan = discrete_plan(B, c, n_classes)
        self._partitions = equipartitions(self._plan[:, 1])
        self._n_classes = n_classes
        self._target = self.place(np.empty(0, dtype=np.int64))

    def place(self, codes):
        """The target's class numbers, made ready to be counted with features."""
        return class_axis(codes, self._n_classes)

    def count(self, x, bounds, target):
        """Counts of the feature `x` with a target that was placed: a flat uint32 array."""
        return count_grids(placed(x, bounds, self._partitions), target, self._plan)

    def score(self, counts, bounds, table):
        """MICr from the counts of a feature: the number that the records give, bit for bit."""
        return _largest_entry(counts, self._target, self._plan, table)

    def rounding_error(self, n):
        """Bound on the distance of a score of n records from its exact value."""
        return rounding_error(n, self._plan)


class GridScorer:
    """Scores features from their counts, as :class:`skdpmic.mic.statistics.ContinuousTarget` does from their records.

    Parameters
    ----------
    grids : ContinuousGrids or DiscreteGrids
    n : int
        Number of records that were counted.
    """

    def __init__(self, grids, n):
        self._grids = grids
        self._table = entropy_table(n)
        self.rounding_error = grids.rounding_error(n)

    def score(self, counts, bounds):
        """MICr of the feature with these counts and bounds, in [0, 1]."""
        return self._grids.score(counts, bounds, self._table)


@jit
def count_grids(free, fixed, plan):
    """Records in the cells of all grids of `plan`: uint32, the table of each master partition after the other."""
    free, fixed, joint = compress(free, fixed, plan[:, 1], plan[:, 0])
    n_counts = 0
    start = 0
    while start < len(plan):
        end = end_of_group(plan, start)
        n_counts += common_cells(fixed, plan[start:end, 0])[1] * plan[start, 1]
        start = end

    counts = np.zeros(n_counts, dtype=np.uint32)
    start = at = 0
    while start < len(plan):
        end = end_of_group(plan, start)
        common, n_common = common_cells(fixed, plan[start:end, 0])
        part, n_master = _master_parts(free, plan[start, 1]), plan[start, 1]
        table = counts[at : at + n_common * n_master]
        if len(joint) > 0:
            _add_cells(table, joint, part, common, n_master)
        else:
            _add_records(table, free.cells, fixed.cells, part, common * np.uint32(n_master))
        at += n_common * n_master
        start = end
    return counts


@jit
def _add_records(table, free_cells, fixed_cells, part, row):
    for i in range(len(free_cells)):
        table[row[fixed_cells[i]] + part[free_cells[i]]] += np.uint32(1)


@jit
def _add_cells(table, joint, part, common, n_master):
    for free_cell in range(len(joint)):
        for cell in range(joint.shape[1]):
            table[common[cell] * n_master + part[free_cell]] += joint[free_cell, cell]


@jit
def _master_parts(axis, size):
    """The part of the partition into `size` parts that each cell belongs to."""
    first_cell = parts_of(axis, size)
    part = np.empty(len(axis.n_before) - 1, dtype=np.uint32)
    for i in range(size):
        part[first_cell[i] : first_cell[i + 1]] = i
    return part


@jit
def _largest_entry(counts, fixed, plan, table):
    """Largest of I / log2 min(k, l) over the grids of `plan`, from the counts of `count_grids`."""
    largest = 0.0
    start = at = 0
    while start < len(plan):
        end = end_of_group(plan, start)
        common, n_common = common_cells(fixed, plan[start:end, 0])
        n_counts = n_common * plan[start, 1]
        below = _below(counts[at : at + n_counts].reshape(n_common, plan[start, 1]))
        largest = max(largest, largest_of_group(below, fixed, common, plan[start:end], table))
        at += n_counts
        start = end
    return largest


@jit
def _below(counts):
    """Sums over the first rows and columns, without empty columns: what `cumulative_counts` makes of the records."""
    n_rows, n_columns = counts.shape
    column = np.zeros(n_columns, dtype=np.uint32)
    for u in range(n_rows):
        for t in range(n_columns):
            column[t] += counts[u, t]
    below = np.zeros((n_rows + 1, np.count_nonzero(column) + 1), dtype=np.uint32)
    for u in range(n_rows):
        in_row = np.uint32(0)
        used = 0
        for t in range(n_columns):
            if column[t] > 0:
                used += 1
                in_row += counts[u, t]
                below[u + 1, used] = below[u, used] + in_row
    return below
