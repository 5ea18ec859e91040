"""Tables of counts for all grids of MICr, from as few passes over the records as possible.

Grids that share a table form a *group*. All partitions in a group together cut each axis into their common cells; the
records are counted in these cells, and each grid sums the cells of its parts.
"""

from typing import NamedTuple

import numpy as np

from skdpmic._utils.jit import jit
from skdpmic.statistics.grids import locate_each, refine
from skdpmic.statistics.mic.optimize_axis import N_FIXED, N_MASTER, Grids, Tables, grids_of, with_one_more

# --- Which grids share a table: public ------------------------------------------------------------------------


class Groups(NamedTuple):
    """The grids of a plan, in groups, with and without missing values."""

    of_grid: np.ndarray  # int64 (n_grids,) the group
    complete: Grids
    merged: Grids  # with a part for missing values on the axis to be merged
    fixed: Grids  # on the fixed axis
    most: tuple  # of `Grids`, for all of them

    @property
    def numbers(self):
        """Numbers of all groups."""
        return np.arange(self.of_grid[-1] + 1, dtype=np.uint64)

    def rows_for(self, free, fixed):
        """The rows of the grids for a column to be merged and a fixed one."""
        if free.is_incomplete:
            return self.merged.rows
        return self.fixed.rows if fixed.is_incomplete else self.complete.rows


def groups_ending(plan, ends, degrees=None):
    """The groups of a plan, with one row per grid, that end before the rows `ends`."""
    group = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    numbers = np.arange(len(plan))
    complete = grids_of(plan, table=group, cuts=numbers, borders=numbers, degrees=degrees)
    merged, fixed = (with_one_more(complete, side) for side in (N_MASTER, N_FIXED))
    return Groups(group, complete, merged, fixed, tuple(map(max, merged.most, fixed.most)))


# --- The cells of one axis ------------------------------------------------------------------------------------


class Edges(NamedTuple):
    """The partitions of one axis, one per grid, and all their inner edges."""

    shape: tuple  # number of grids, maximum number of edges, including both ends
    n_groups: int
    group: np.ndarray  # (n_edges,)
    in_axis: np.ndarray  # (n_edges,) flat index in Axis.first_cell
    in_starts: np.ndarray  # (n_edges,) flat index in Cells.starts
    last_in_starts: np.ndarray  # (n_grids,) the same for the upper end of each grid
    last_group: np.ndarray  # (n_grids,)


def edges_of(sizes, group, all_sizes):
    """The edges of the partition of each grid into `sizes` parts, on an axis with partitions into `all_sizes` parts."""
    grid = np.repeat(np.arange(len(sizes)), sizes - 1)
    part = np.concatenate([np.arange(1, size) for size in sizes])
    width = int(sizes.max()) + 1
    in_axis = np.searchsorted(all_sizes, sizes)[grid] * (all_sizes[-1] + 1) + part
    last = np.arange(len(sizes)) * width + sizes
    return Edges((len(sizes), width), int(group[-1]) + 1, group[grid], in_axis, grid * width + part, last, group)


class Cells(NamedTuple):
    """The cells of an axis in each group. For a numeric axis, they depend on its bounds only."""

    common: np.ndarray  # uint32 (n_groups, n_cells), number of the common cell, from 1 on, of each cell
    starts: np.ndarray  # uint32 (n_grids, largest size + 1), first common cell of each part of each partition
    n_corners: np.ndarray  # int64 (n_groups,), number of common cells plus one


def cells_of(first_cell, n_cells, edges):
    """The common cells of the partitions of each group.

    Parameters
    ----------
    first_cell : int64 ndarray of shape (n_partitions, largest size + 1)
        From `skdpmic.statistics.grids.refine`.
    n_cells : int
    edges : Edges
    """
    common = np.zeros((edges.n_groups, n_cells), dtype=np.uint32)
    common[:, 0] = 1
    place = edges.group * n_cells + first_cell.take(edges.in_axis)
    common.ravel()[place] = 1
    np.add.accumulate(common, axis=1, out=common)
    starts = np.zeros(edges.shape, dtype=np.uint32)
    starts.ravel()[edges.in_starts] = common.take(place) - np.uint32(1)
    n_common = common[:, -1]
    starts.ravel()[edges.last_in_starts] = n_common[edges.last_group]
    return Cells(common, starts, n_common.astype(np.int64) + 1)


def _with_missing(cells, sizes):
    """The cells, followed by one for missing values, which have their own bin in each partition."""
    common = np.concatenate([cells.common, cells.n_corners[:, np.newaxis].astype(np.uint32)], axis=1)
    starts = np.concatenate([cells.starts, np.zeros((len(sizes), 1), dtype=np.uint32)], axis=1)
    grid = np.arange(len(sizes))
    starts[grid, sizes + 1] = starts[grid, sizes] + 1
    return Cells(common, starts, cells.n_corners + 1)


# --- The records ----------------------------------------------------------------------------------------------


class PlacedColumn(NamedTuple):
    """A column of values placed into cells, or several of one range. Raw data; not private."""

    cells: np.ndarray  # uint32 (n_samples,), the cell of each value; (n_columns, n_samples) of several
    free: Cells | None  # the common cells for partitions to be merged, if any
    fixed: Cells | None  # the common cells for fixed partitions
    is_incomplete: bool = False  # whether values are missing, which are then in the last cell


class RangePlacer:
    """Locates numeric columns, which may have different ranges, in the cells of a plan.

    Parameters
    ----------
    plan : int64 ndarray of shape (n_grids, 3)
    partitions : Partitions
        All partitions of an axis that the plan needs.
    groups : Groups
    edges : Edges
        Edges of an axis to be merged; followed by those of a fixed axis, in separate groups, if it may also be fixed.
    """

    _latest = None, None, None
    _latest_with_missing = None, None, None

    def __init__(self, plan, partitions, groups, edges):
        self.plan, self._partitions, self.groups, self._edges = plan, partitions, groups, edges

    def place(self, values, bounds, may_miss=False):
        """The values as a column; with a cell for missing values (NaN), if there are any or if there may be."""
        (located,), (n_missing,), cells = self._located([values], bounds)
        if n_missing > 0 or may_miss:
            return PlacedColumn(located, *self._with_missing(bounds, *cells), True)
        return PlacedColumn(located, *cells)

    def place_complete(self, X, bounds):
        """The complete columns among several with one range, as one `PlacedColumn`; and which columns these are."""
        located, n_missing, cells = self._located(X, bounds)
        is_complete = n_missing == 0
        return PlacedColumn(located if is_complete.all() else located[is_complete], *cells), is_complete

    def _located(self, X, bounds):
        """The cell of each value, the number of missing values of each column, and the cells of their range."""
        latest, guarded, cells = self._latest
        if latest != bounds:
            edges, first_cell = refine(*bounds, self._partitions)
            guarded = np.append(edges, np.nan)[np.newaxis]
            cells = self._sides(cells_of(first_cell, len(edges) + 1, self._edges))
            self._latest = bounds, guarded, cells  # columns often have the same range
        return *locate_each(X, [0] * len(X), guarded, np.array([bounds], dtype=np.float64)), cells

    def _with_missing(self, bounds, free, fixed):
        latest, *cells = self._latest_with_missing
        if latest != bounds:
            fixed = None if fixed is None else _with_missing(fixed, self.plan[:, N_FIXED])
            cells = _with_missing(free, self.plan[:, N_MASTER]), fixed
            self._latest_with_missing = bounds, *cells
        return cells

    def _sides(self, cells):
        """The cells of a range to be merged, and those of a fixed range, or None."""
        n_grids, n_groups = len(self.plan), len(self.groups.numbers)
        common, starts, n_corners = cells
        free = Cells(common[:n_groups], starts[:n_grids], n_corners[:n_groups])
        fixed = Cells(common[n_groups:], starts[n_grids:], n_corners[n_groups:])
        return free, fixed if len(fixed.starts) > 0 else None


def count(free, fixed, numbers):
    """The tables of the groups with these numbers, of a column to be merged and a fixed one, or several of either."""
    parts, rows = free.free, fixed.fixed
    free_cells, fixed_cells = np.atleast_2d(free.cells, fixed.cells)
    n_corners = np.dot(parts.n_corners, rows.n_corners)  # of all groups; room after the chosen ones stays empty
    below = np.empty((max(len(free_cells), len(fixed_cells)), n_corners), dtype=np.uint32)
    places = np.empty((len(parts.n_corners), 2), dtype=np.uint64)
    _count_records(free_cells, fixed_cells, parts.common, rows.common, numbers, below, places)
    return Tables(below.ravel(), places, parts.starts, rows.starts)


def in_both_orders(tables, free, fixed, groups):
    """Tables with the rows of their grids. A part for missing values is tried after all others, and before them."""
    rows = groups.rows_for(free, fixed)
    yield tables, rows
    if free.is_incomplete:
        _move_last_first(groups.numbers, free.free.n_corners, tables.below, tables.places)
        cuts = np.zeros_like(tables.cuts)
        cuts[:, 1:] = tables.cuts[:, :-1] + np.uint32(1)
        yield tables._replace(cuts=cuts), rows


# --- Counts that can be added -------------------------------------------------------------------------------------


def counts_of(free, fixed, numbers):
    """Records in each cell of the tables of the groups with these numbers, by row of the fixed column: flat uint32."""
    below, counts, start = count(free, fixed, numbers).below, [], 0
    n_corners = np.stack([free.free.n_corners, fixed.fixed.n_corners], axis=1)[numbers]
    for width, height in n_corners.tolist():
        table = below[start : start + width * height].reshape(width, height)
        counts.append(np.diff(np.diff(table, axis=0), axis=1).T.ravel())
        start += width * height
    return np.concatenate(counts)


def tables_of_counts(counts, ways, groups):
    """The tables that `count` makes from records, with the rows of their grids, from the counts of all groups.

    Parameters
    ----------
    counts : uint32 ndarray
        Counts of each way, one after the other.
    ways : iterable of pairs of PlacedColumn
        A column to be merged and a fixed one, without records.
    groups : Groups
    """
    start = 0
    for free, fixed in ways:
        n_corners = np.stack([free.free.n_corners, fixed.fixed.n_corners], axis=1)
        below = []
        for n_parts, n_rows in (n_corners - 1).tolist():
            table = counts[start : start + n_parts * n_rows].reshape(n_rows, n_parts).T
            below.append(np.pad(table, ((1, 0), (1, 0))).cumsum(axis=0).cumsum(axis=1).ravel())
            start += n_parts * n_rows
        ends = n_corners.prod(axis=1).cumsum()
        places = np.stack([np.append(0, ends[:-1]), n_corners[:, 1]], axis=1)
        starts = free.free.starts, fixed.fixed.starts
        tables = Tables(np.concatenate(below).astype(np.uint32), places.astype(np.uint64), *starts)
        yield from in_both_orders(tables, free, fixed, groups)


@jit
def _move_last_first(groups, n_corners, below, places):
    """Change ``Tables.below`` as if the last cell of each group on the axis to be merged were the first."""
    one = np.uint64(1)
    for i in range(np.uint64(len(groups))):
        start, height, width = places[groups[i], 0], places[groups[i], 1], np.uint64(n_corners[groups[i]])
        last = start + (width - one) * height
        for u in range(height):
            in_last = below[last + u] - below[last - height + u]
            for t in range(one, width):
                at = last + height - t * height + u
                below[at] = below[at - height] + in_last
            below[start + u] = 0


@jit
def _count_records(free_cells, fixed_cells, part, row, groups, below, places):
    """Fill in ``Tables.below`` and ``Tables.places``.

    Parameters
    ----------
    free_cells, fixed_cells : uint32 ndarrays of shape (n_pairs, n_samples), or (1, n_samples) of a column of all pairs
    part, row : uint32 ndarrays of shape (n_all_groups, n_cells)
        ``Cells.common`` of each axis.
    groups : uint64 ndarray
    below : uint32 ndarray of shape (n_pairs, n_corners)
    places : uint64 ndarray of shape (n_all_groups, 2)
    """
    one = np.uint64(1)
    for pair in range(len(below)):
        free, fixed = free_cells[pair % len(free_cells)], fixed_cells[pair % len(fixed_cells)]
        start, counts = np.uint64(0), below[pair]
        for i in range(np.uint64(len(groups))):
            group = groups[i]
            width, height = part[group, part.shape[1] - 1] + one, row[group, row.shape[1] - 1] + one
            places[group, 0], places[group, 1] = start, height
            for cell in range(start, start + width * height):
                counts[cell] = 0
            for record in range(np.uint64(len(free))):
                cell = part[group, free[record]] * height + row[group, fixed[record]]
                counts[start + cell] += np.uint32(1)
            for t in range(one, width):
                at = start + t * height
                in_part = np.uint32(0)
                for u in range(one, height):
                    in_part += counts[at + u]
                    counts[at + u] = counts[at + u - height] + in_part
            start += width * height
