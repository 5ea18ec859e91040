"""Counts on all grids of MICr at once, which add up: those of a table are the sum of those of its pieces.

All grids with one master partition are read from one table: the cells that their fixed partitions have in common, by
the master parts. The tables of all master partitions, one after the other, are all that MICr needs to know.
"""

import numpy as np

from skdpmic.dependence.counting import count, empty_tables
from skdpmic.dependence.jit import jit
from skdpmic.dependence.mic_r import ClassGrids, RangeGrids, chance_of
from skdpmic.dependence.optimize_axis import (
    CUTS,
    N_FIXED,
    N_MASTER,
    TABLE,
    Tables,
    entropy_table,
    largest_entry,
    rounding_error,
)

_NO_VALUES = np.empty(0)


class ContinuousGrids:
    """The grids of a feature with a numeric target, in both orientations.

    Parameters
    ----------
    target_bounds : pair of floats
    B : float, at least 4
    c : float, above 0
    correction : None or "miller-madow", default=None
    """

    def __init__(self, target_bounds, B, c, correction=None):
        self._grids = RangeGrids(B, c, correction=correction)
        self._sizes = {"B": B, "c": c, "correction": correction}
        self._target_bounds = target_bounds
        self._target = self._grids.place(_NO_VALUES, target_bounds)
        self._scores = _Scores(self._grids.groups, correction)
        self.n_tables = 2 * len(self._grids.groups.numbers)

    def place(self, y):
        """The target's values `y`, made ready to be counted with features."""
        grids = RangeGrids(**self._sizes, n=len(y))
        return grids, grids.place(y, self._target_bounds)

    def count(self, x, bounds, target):
        """Counts of the feature `x` with a target that was placed: a flat uint32 array, as long for equal bounds."""
        grids, y = target
        x, groups = grids.place(x, bounds), (grids.groups.numbers, grids.groups.grids.rows)
        return np.concatenate([_counts(x, y, *groups), _counts(y, x, *groups)])

    def score(self, counts, bounds, table):
        """MICr from the counts of a feature: the number that the records give, bit for bit."""
        fixed = self._grids.place(_NO_VALUES, bounds).fixed
        return self._scores.largest_entry(counts, [self._target.fixed, fixed], table)

    def rounding_error(self, n):
        """Bound on the distance of a score of n records from its exact value."""
        return rounding_error(n, self._grids.plan)


class DiscreteGrids:
    """The grids of a feature with a target of class numbers; methods as of :class:`ContinuousGrids`.

    Parameters
    ----------
    n_classes : int
    B : float, at least 4
    c : float, above 0
    correction : None or "miller-madow", default=None
    """

    n_tables = 1  # which holds what the others of three classes add up from

    def __init__(self, n_classes, B, c, correction=None):
        self._n_classes = n_classes
        self._grids = ClassGrids(n_classes, B, c)
        self._target = self.place(np.empty(0, dtype=np.int64))
        self._scores = _Scores(self._grids.groups, correction)

    def place(self, codes):
        """The target's class numbers, made ready to be counted with features."""
        return self._grids.place_codes(codes)

    def count(self, x, bounds, target):
        """Counts of the feature `x` with a target that was placed: a flat uint32 array."""
        return _counts(self._grids.place(x, bounds), target, *self._grids.groups.rounds[0])

    def score(self, counts, bounds, table):
        """MICr from the counts of a feature: the number that the records give, bit for bit."""
        if self._n_classes == 3:
            first, middle, last = counts.reshape(3, -1)
            counts = np.concatenate([counts, middle, first + last])
        return self._scores.largest_entry(counts, [self._target.fixed], table)

    def rounding_error(self, n):
        """Bound on the distance of a score of n records from its exact value."""
        return rounding_error(n, self._grids.plan)


class GridScorer:
    """Scores features from their counts, as :class:`skdpmic.dependence.mic_r.AgainstNumbers` does from their records.

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


# --- From tables of several master partitions to those of each, and back -------------------------------------------


def _counts(free, fixed, groups, rows):
    """Records in the cells of each master partition's table, a row for each common cell of the fixed column: flat.

    Of the groups with these numbers, and of their grids.
    """
    tables = count(free, fixed, groups, empty_tables(free, fixed))
    counts = np.empty(len(tables.below), dtype=np.uint32)
    is_border = np.empty(int(tables.places[groups, 1].max()), dtype=np.bool_)
    return counts[: _fill_counts(counts, is_border, *tables, rows)].copy()


@jit
def _fill_counts(counts, is_border, below, places, cuts, borders, grids):
    """Fill in the first of `counts`, and return how many; `is_border` is room for the rows of a table."""
    one, at, first = np.uint64(1), np.uint64(0), np.uint64(0)
    while first < len(grids):
        start, height = places[grids[first, TABLE], 0], places[grids[first, TABLE], 1]
        for u in range(height):
            is_border[u] = False
        grid = first
        while grid < len(grids) and grids[grid, N_MASTER] == grids[first, N_MASTER]:
            for i in range(grids[grid, N_FIXED] + one):
                is_border[borders[grid, i]] = True
            grid += one
        lower = np.uint64(0)
        for upper in range(one, height):
            if is_border[upper]:
                for t in range(grids[first, N_MASTER]):
                    left, right = start + cuts[first, t] * height, start + cuts[first, t + one] * height
                    here = below[right + upper] - below[right + lower]
                    counts[at] = here - (below[left + upper] - below[left + lower])
                    at += one
                lower = upper
        first = grid
    return at


class _Scores:
    """Scores features from counts; what depends on public numbers only is made ready.

    Parameters
    ----------
    groups : Groups
        One for each master partition.
    correction : None or "miller-madow"
    """

    def __init__(self, groups, correction):
        self._chance = chance_of(correction)
        rows = groups.grids.rows.copy()
        rows[:, CUTS] = 0
        self._grids = groups.grids._replace(rows=rows)
        self._n_parts = rows[np.flatnonzero(np.diff(groups.of_grid, prepend=-1)), N_MASTER].astype(np.int64)
        self._cuts = np.arange(self._n_parts.max() + 1, dtype=np.uint32).reshape(1, -1)

    def largest_entry(self, counts, fixed, table):
        """The largest entry from the counts against some fixed columns, one after the other."""
        counted = ((tables, self._grids.rows) for tables in self._tables(counts, fixed))
        return min(largest_entry(counted, self._grids.most, table, len(table.g) - 1, self._chance), 1.0)

    def _tables(self, counts, fixed):
        """The tables that `count` makes of records."""
        start = 0
        for cells in fixed:
            end = start + np.dot(self._n_parts, cells.n_corners - 1)
            below = np.empty(np.dot(self._n_parts + 1, cells.n_corners), dtype=np.uint32)
            places = np.empty((len(self._n_parts), 2), dtype=np.uint64)
            _fill_tables(counts[start:end], self._n_parts, cells.n_corners, below, places)
            yield Tables(below, places, self._cuts, cells.starts)
            start = end


@jit
def _fill_tables(counts, n_parts, heights, below, places):
    """Fill in ``Tables.below`` and ``Tables.places``."""
    one, start, at = np.uint64(1), np.uint64(0), np.uint64(0)
    for table in range(len(n_parts)):
        width, height = np.uint64(n_parts[table]), np.uint64(heights[table])
        places[table, 0], places[table, 1] = start, height
        for u in range(height):
            below[start + u] = 0
        for t in range(width):
            start += height
            in_part = np.uint32(0)
            below[start] = 0
            for u in range(one, height):
                in_part += counts[at + (u - one) * width + t]
                below[start + u] = below[start - height + u] + in_part
        start += height
        at += width * (height - one)
