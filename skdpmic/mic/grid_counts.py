"""Counts on all grids of MICr at once, which add up: those of a table are the sum of those of its pieces.

All grids with one master partition are read from one table: the cells that their fixed partitions have in common, by
the master parts. The tables of all master partitions, one after the other, are all that MICr needs to know.
"""

from itertools import groupby

import numpy as np

from skdpmic.mic.counting import count, empty_tables
from skdpmic.mic.optimize_axis import CUTS, N_FIXED, N_MASTER, Tables, entropy_table, largest_entry, rounding_error
from skdpmic.mic.statistics import ClassGrids, RangeGrids

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
        self._grids = RangeGrids(B, c)
        self._sizes = B, c
        self._target_bounds = target_bounds
        self._target = self._grids.place(_NO_VALUES, target_bounds)
        self.n_tables = 2 * len(self._grids.groups.numbers)

    def place(self, y):
        """The target's values `y`, made ready to be counted with features."""
        grids = RangeGrids(*self._sizes, n=len(y))
        return grids, grids.place(y, self._target_bounds)

    def count(self, x, bounds, target):
        """Counts of the feature `x` with a target that was placed: a flat uint32 array, as long for equal bounds."""
        grids, y = target
        x = grids.place(x, bounds)
        return np.concatenate([_counts(x, y, grids.groups), _counts(y, x, grids.groups)])

    def score(self, counts, bounds, table):
        """MICr from the counts of a feature: the number that the records give, bit for bit."""
        fixed = self._grids.place(_NO_VALUES, bounds).fixed
        return _largest_entry(counts, [self._target.fixed, fixed], self._grids.groups, table)

    def rounding_error(self, n):
        """Bound on the distance of a score of n records from its exact value."""
        return rounding_error(n, self._grids.plan)


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
        self._grids = ClassGrids(n_classes, B, c)
        self._target = self.place(np.empty(0, dtype=np.int64))

    def place(self, codes):
        """The target's class numbers, made ready to be counted with features."""
        return self._grids.place_codes(codes)

    def count(self, x, bounds, target):
        """Counts of the feature `x` with a target that was placed: a flat uint32 array."""
        return _counts(self._grids.place(x, bounds), target, self._grids.groups)

    def score(self, counts, bounds, table):
        """MICr from the counts of a feature: the number that the records give, bit for bit."""
        return _largest_entry(counts, [self._target.fixed], self._grids.groups, table)

    def rounding_error(self, n):
        """Bound on the distance of a score of n records from its exact value."""
        return rounding_error(n, self._grids.plan)


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


def _counts(free, fixed, groups):
    """Records in the cells of each master partition's table, a row for each common cell of the fixed column: flat."""
    tables = count(free, fixed, groups.numbers, empty_tables(free, fixed))
    n_fixed, n_master = groups.grids.rows[:, [N_FIXED, N_MASTER]].T.tolist()
    counts = []
    for group, grids in groupby(range(len(n_master)), key=groups.of_grid.tolist().__getitem__):
        grids = list(grids)
        start, height = tables.places[group].tolist()
        width = int(free.free.n_corners[group])
        corners = tables.below[start : start + width * height].reshape(width, height)
        for n_parts, same in groupby(grids, key=n_master.__getitem__):
            same = list(same)
            here = corners[tables.cuts[same[0], : n_parts + 1]]
            if len(same) < len(grids):  # the table has rows for grids of other master partitions, too
                here = here[:, np.unique(np.concatenate([tables.borders[i, : n_fixed[i] + 1] for i in same]))]
            counts.append(np.diff(np.diff(here, axis=0), axis=1).T.ravel())
    return np.concatenate(counts)


def _largest_entry(counts, fixed, groups, table):
    """The largest entry from the counts against some fixed columns, one after the other."""
    rows = groups.grids.rows.copy()
    n_parts = rows[np.flatnonzero(np.diff(groups.of_grid, prepend=-1)), N_MASTER].astype(np.int64)
    rows[:, CUTS] = 0
    ends = np.cumsum([np.dot(n_parts, cells.n_corners - 1) for cells in fixed])
    parts = np.split(counts, ends[:-1])
    counted = ((_tables(part, cells, n_parts), rows) for part, cells in zip(parts, fixed, strict=True))
    return min(largest_entry(counted, groups.grids.most, table, len(table.g) - 1), 1.0)


def _tables(counts, fixed, n_parts):
    """The tables that `count` makes of records, for master partitions of `n_parts` each."""
    n_rows = fixed.n_corners - 1
    ends = np.cumsum((n_parts + 1) * (n_rows + 1))
    below = np.zeros(ends[-1], dtype=np.uint32)
    of_tables = np.split(counts, np.cumsum(n_parts * n_rows)[:-1])
    for corners, here, parts, rows in zip(np.split(below, ends[:-1]), of_tables, n_parts, n_rows, strict=True):
        in_rows = np.cumsum(here.reshape(rows, parts), axis=0, dtype=np.uint32)
        np.cumsum(in_rows, axis=1, dtype=np.uint32, out=corners.reshape(parts + 1, rows + 1)[1:, 1:].T)
    places = np.column_stack([np.append(0, ends[:-1]), n_rows + 1]).astype(np.uint64)
    return Tables(below, places, np.arange(n_parts.max() + 1, dtype=np.uint32).reshape(1, -1), fixed.starts)
