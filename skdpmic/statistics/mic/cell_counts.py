"""Tables of counts for all grids of MICr, from as few passes over the records as possible.

Grids that share a table are a *group*. All partitions of a group's grids together cut either axis into the cells that
they have in common; the records are counted into these, and each grid adds up the cells of its parts.
"""

import math
from abc import ABC, abstractmethod
from functools import cache
from typing import NamedTuple

import numpy as np

from skdpmic._utils.jit import jit
from skdpmic.statistics.grids.partitions import locate_between, refine
from skdpmic.statistics.mic.optimize_axis import N_FIXED, N_MASTER, Grids, Tables, grids_of, with_one_more

# --- Which grids share a table: public ------------------------------------------------------------------------


class Groups(NamedTuple):
    """The grids of a plan in groups."""

    grids: Grids
    of_grid: np.ndarray  # int64 (n_grids,) the group
    rounds: tuple  # of pairs: numbers of groups, and the rows of their grids

    @property
    def numbers(self):
        """Of all groups."""
        return np.arange(self.of_grid[-1] + 1, dtype=np.uint64)


def groups_of(plan, n=0):
    """The groups that count n records fastest; for n = 0 one for each master partition.

    Parameters
    ----------
    plan : int64 ndarray of shape (n_grids, 3)
        Parts of the fixed axis, ascending parts of the master partition, largest number of merged parts.
    n : int, default=0
        Number of records, about.
    """
    ends = np.append(np.flatnonzero(np.diff(plan[:, N_MASTER])) + 1, len(plan))
    if n >= _FEWEST_TO_JOIN and len(ends) > 1:
        ends = _joined(plan, ends.tolist(), n)
    return groups_ending(plan, ends)


def groups_ending(plan, ends, degrees=None):
    """The groups of a plan, each from where another one ends to the next of `ends`."""
    group = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    numbers = np.arange(len(plan))
    return _in_rounds(grids_of(plan, table=group, cuts=numbers, borders=numbers, degrees=degrees), group)


def _in_rounds(grids, group):
    # What both orientations reach in the first group, the cheapest, spares much of the others.
    n_groups = int(group[-1]) + 1
    rounds = tuple(
        (np.arange(*some, dtype=np.uint64), grids.rows[slice(*np.searchsorted(group, some))])
        for some in ((0, 1), (1, n_groups))
        if some[0] < some[1]
    )
    return Groups(grids, group, rounds)


class GroupsByMissing(NamedTuple):
    """The groups of the same grids, where values are missing and where none are."""

    complete: Groups
    merged: Groups  # with a part for the values that are missing on the axis to be merged
    fixed: Groups  # on the fixed axis
    most: tuple  # of `Grids`, for all of them

    def of(self, free, fixed):
        """Those of a column to be merged and a fixed one."""
        if free.is_incomplete:
            return self.merged
        return self.fixed if fixed.is_incomplete else self.complete


def groups_by_missing(groups):
    """With the groups of complete columns, those of all."""
    merged, fixed = (_in_rounds(with_one_more(groups.grids, side), groups.of_grid) for side in (N_MASTER, N_FIXED))
    most = tuple(map(max, merged.grids.most, fixed.grids.most))
    return GroupsByMissing(groups, merged, fixed, most)


_FEWEST_TO_JOIN = 5000


def _joined(plan, ends, n):
    """The ends of the groups whose tables take the least time, if a cell takes half as long as a record."""
    starts = [0, *ends[:-1]]
    least, best = [0], []  # for the groups up to each end: the cost, and the first group that is joined with the last
    for last in range(len(ends)):
        parts, rows = _Refinement(), _Refinement()
        costs = []
        for first in range(last, -1, -1):
            for n_fixed, n_master, _ in plan[starts[first] : ends[first]].tolist():
                parts.add(n_master)
                rows.add(n_fixed)
            costs.append((least[first] + n + parts.n_cells * rows.n_cells / 2, first))
        cost, first = min(costs)
        least.append(cost)
        best.append(first)
    joined = []
    last = len(ends) - 1
    while last >= 0:
        joined.append(ends[last])
        last = best[last] - 1
    return np.array(joined[::-1])


class _Refinement:
    """How many cells equipartitions of some sizes have in common: as many as there are fractions i / size below 1."""

    def __init__(self):
        self._denominators = set()
        self.n_cells = 0

    def add(self, size):
        new = _divisors(size) - self._denominators
        self._denominators |= new
        self.n_cells += sum(map(_totient, new))


@cache
def _divisors(size):
    return {d for d in range(1, size + 1) if size % d == 0}


@cache
def _totient(d):
    return sum(math.gcd(i, d) == 1 for i in range(1, d + 1))


# --- The cells of one axis ------------------------------------------------------------------------------------


class Edges(NamedTuple):
    """The partitions of one axis, one for each grid, and all their inner edges."""

    shape: tuple  # number of grids, most edges of one, both ends included
    n_groups: int
    group: np.ndarray  # (n_edges,)
    in_axis: np.ndarray  # (n_edges,) its place in Axis.first_cell, flat
    in_starts: np.ndarray  # (n_edges,) its place in Cells.starts, flat
    last_in_starts: np.ndarray  # (n_grids,) the same of each grid's upper end
    last_group: np.ndarray  # (n_grids,)


def edges_of(sizes, group, all_sizes):
    """The edges of each grid's partition into `sizes` parts, of an axis that has partitions into `all_sizes` parts."""
    grid = np.repeat(np.arange(len(sizes)), sizes - 1)
    part = np.concatenate([np.arange(1, size) for size in sizes])
    width = int(sizes.max()) + 1
    in_axis = np.searchsorted(all_sizes, sizes)[grid] * (all_sizes[-1] + 1) + part
    last = np.arange(len(sizes)) * width + sizes
    return Edges((len(sizes), width), int(group[-1]) + 1, group[grid], in_axis, grid * width + part, last, group)


class Cells(NamedTuple):
    """The cells of an axis as the groups see them. Of a numeric axis, they depend on its bounds alone."""

    common: np.ndarray  # uint32 (n_groups, n_cells), in which of the cells in common, from 1 on, each cell lies
    starts: np.ndarray  # uint32 (n_grids, largest size + 1), the common cells where the parts of each partition begin
    n_corners: np.ndarray  # int64 (n_groups,), one more than the cells in common


def cells_of(first_cell, n_cells, edges):
    """The cells that the partitions of each group have in common.

    Parameters
    ----------
    first_cell : int64 ndarray of shape (n_partitions, largest size + 1)
        Of an :class:`skdpmic.statistics.grids.partitions.Axis`.
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
    """The cells and, after them, one for missing values, which is its own bin of each partition."""
    common = np.concatenate([cells.common, cells.n_corners[:, np.newaxis].astype(np.uint32)], axis=1)
    starts = np.concatenate([cells.starts, np.zeros((len(sizes), 1), dtype=np.uint32)], axis=1)
    grid = np.arange(len(sizes))
    starts[grid, sizes + 1] = starts[grid, sizes] + 1
    return Cells(common, starts, cells.n_corners + 1)


# --- The records ----------------------------------------------------------------------------------------------


class Column(NamedTuple):
    """A column of values placed into cells. As sensitive as the column itself."""

    cells: np.ndarray  # uint32 (n_samples,), the cell of each value
    free: Cells | None  # the cells as the partitions see them that are merged, where they are
    fixed: Cells | None  # and as those that are not
    is_incomplete: bool = False  # whether values are missing, for which the last cell is then


class RangePlacer(ABC):
    """What places numeric columns, which may have ranges of their own, into the cells of a `plan`."""

    _latest = None, None, None
    _latest_with_missing = None, None, None

    def place(self, values, bounds, may_miss=False):
        """The values as a column; with cells for missing ones, which are NaN, if there are any or if there may be."""
        latest, edges, cells = self._latest
        if latest != bounds:
            edges, first_cell = refine(*bounds, self._partitions)
            cells = self._sides(cells_of(first_cell, len(edges) + 1, self._edges))
            edges = np.append(edges, np.nan)
            self._latest = bounds, edges, cells  # columns often have one range
        located, n_missing = locate_between(values, edges, *bounds)
        if n_missing > 0 or may_miss:
            return Column(located, *self._with_missing(bounds, *cells), True)
        return Column(located, *cells)

    def _with_missing(self, bounds, free, fixed):
        latest, *cells = self._latest_with_missing
        if latest != bounds:
            fixed = None if fixed is None else _with_missing(fixed, self.plan[:, N_FIXED])
            cells = _with_missing(free, self.plan[:, N_MASTER]), fixed
            self._latest_with_missing = bounds, *cells
        return cells

    @abstractmethod
    def _sides(self, cells):
        """The cells of a range where it is merged, and where it is fixed or None."""


def empty_tables(free, fixed):
    """Room for the tables of all groups, with a column to be merged and a fixed one."""
    parts, rows = free.free, fixed.fixed
    below = np.empty(np.dot(parts.n_corners, rows.n_corners), dtype=np.uint32)
    return Tables(below, np.empty((len(parts.n_corners), 2), dtype=np.uint64), parts.starts, rows.starts)


def count(free, fixed, numbers, tables):
    """Fill in the tables of the groups with these numbers; those of other groups are lost."""
    parts, rows = free.free.common, fixed.fixed.common
    _count_records(free.cells, fixed.cells, parts, rows, numbers, tables.below, tables.places)
    return tables


def missing_first(tables, numbers, n_corners):
    """The tables of some groups, whose last cells of the axis to be merged move before all others: in place.

    Parameters
    ----------
    tables : Tables
    numbers : ndarray
        Of the groups.
    n_corners : ndarray of shape (n_all_groups,)
        ``Cells.n_corners`` of the axis to be merged.
    """
    _move_last_first(numbers, n_corners, tables.below, tables.places)
    cuts = np.zeros_like(tables.cuts)
    cuts[:, 1:] = tables.cuts[:, :-1] + np.uint32(1)
    return tables._replace(cuts=cuts)


@jit
def _move_last_first(groups, n_corners, below, places):
    """Change ``Tables.below`` to what it would be if the last cell of each group were the first."""
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
    free_cells, fixed_cells : uint32 ndarrays of shape (n_samples,)
    part, row : uint32 ndarrays of shape (n_all_groups, n_cells)
        ``Cells.common`` of either axis.
    groups : uint64 ndarray
    below : uint32 ndarray
    places : uint64 ndarray of shape (n_all_groups, 2)
    """
    one, start = np.uint64(1), np.uint64(0)
    for i in range(np.uint64(len(groups))):
        group = groups[i]
        width, height = part[group, part.shape[1] - 1] + one, row[group, row.shape[1] - 1] + one
        places[group, 0], places[group, 1] = start, height
        for cell in range(start, start + width * height):
            below[cell] = 0
        for record in range(np.uint64(len(free_cells))):
            cell = part[group, free_cells[record]] * height + row[group, fixed_cells[record]]
            below[start + cell] += np.uint32(1)
        for t in range(one, width):
            at = start + t * height
            in_part = np.uint32(0)
            for u in range(one, height):
                in_part += below[at + u]
                below[at + u] = below[at + u - height] + in_part
        start += width * height
