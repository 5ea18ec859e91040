"""Tables of counts for all grids of MICr, from as few passes over the records as possible.

Grids that share a table are a *group*. All partitions of a group's grids together cut either axis into the cells that
they have in common; the records are counted into these, and each grid adds up the cells of its parts.
"""

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from skdpmic.mic.jit import jit
from skdpmic.mic.optimize_axis import N_FIXED, N_MASTER, Grids, Tables, grids_of

# --- Which grids share a table: public ------------------------------------------------------------------------


class Groups(NamedTuple):
    """The grids of a plan in groups, and where their partitions are found on an axis with those of the whole plan."""

    grids: Grids
    free: "Side"
    fixed: "Side"
    rounds: tuple  # of pairs: numbers of groups, and the rows of their grids


class Side(NamedTuple):
    """The partitions of one axis, one for each grid."""

    sizes: np.ndarray  # int64 (n_grids,) parts
    group: np.ndarray  # int64 (n_grids,)
    row: np.ndarray  # int64 (n_grids,), of Axis.first_cell

    @property
    def n_groups(self):
        """Number of groups."""
        return int(self.group[-1]) + 1


def groups_of(plan, sizes, n=0):
    """The groups that count n records fastest; for n = 0 one for each master partition.

    Parameters
    ----------
    plan : int64 ndarray of shape (n_grids, 3)
        Parts of the fixed axis, ascending parts of the master partition, largest number of merged parts.
    sizes : pair of int64 ndarrays
        Sizes of the partitions that the axis to be merged, and the fixed axis, will have: rows of Axis.first_cell.
    n : int, default=0
        Number of records, about.
    """
    ends = np.append(np.flatnonzero(np.diff(plan[:, N_MASTER])) + 1, len(plan))
    if n >= _FEWEST_TO_JOIN and len(ends) > 1:
        ends = _joined(plan, ends.tolist(), n)
    group = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    numbers = np.arange(len(plan))
    grids = grids_of(plan, table=group, cuts=numbers, borders=numbers)
    free, fixed = (
        Side(np.ascontiguousarray(plan[:, column]), group, np.searchsorted(all_sizes, plan[:, column]))
        for column, all_sizes in zip((N_MASTER, N_FIXED), sizes, strict=True)
    )
    # What both orientations reach in the first group, the cheapest, spares much of the others.
    rounds = tuple(
        (np.arange(*some, dtype=np.uint64), grids.rows[slice(*np.searchsorted(group, some))])
        for some in ((0, 1), (1, len(ends)))
        if some[0] < some[1]
    )
    return Groups(grids, free, fixed, rounds)


_FEWEST_TO_JOIN = 5000


def _joined(plan, ends, n):
    """The ends of the groups whose tables take the least time, if a cell takes as much as a record."""
    starts = [0, *ends[:-1]]
    least, best = [0], []  # for the groups up to each end: the cost, and the first group that is joined with the last
    for last in range(len(ends)):
        parts, rows = _Refinement(), _Refinement()
        costs = []
        for first in range(last, -1, -1):
            for n_fixed, n_master, _ in plan[starts[first] : ends[first]].tolist():
                parts.add(n_master)
                rows.add(n_fixed)
            costs.append((least[first] + n + parts.n_cells * rows.n_cells, first))
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


class Cells(NamedTuple):
    """The cells of an axis as the groups see them. Of a numeric axis, they depend on its bounds alone."""

    common: np.ndarray  # uint32 (n_groups, n_cells), in which of the cells in common, from 1 on, each cell lies
    starts: np.ndarray  # uint64 (n_grids, largest size + 1), the common cells where the parts of each partition begin
    n_corners: np.ndarray  # int64 (n_groups,), one more than the cells in common


def cells_of(first_cell, n_cells, side):
    """The cells in common of the partitions of one side.

    Parameters
    ----------
    first_cell : int64 ndarray of shape (n_partitions, largest size + 1)
        Of an :class:`skdpmic.mic.partitions.Axis`.
    n_cells : int
    side : Side
    """
    common = np.zeros((side.n_groups, n_cells), dtype=np.uint32)
    starts = np.empty((len(side.sizes), first_cell.shape[1]), dtype=np.uint64)
    _find_common_cells(first_cell, *side, common, starts)
    return Cells(common, starts, common[:, -1].astype(np.int64) + 1)


@jit
def _find_common_cells(first_cell, sizes, group, row, common, starts):
    """Fill in `common`, which holds zeros, and `starts`: of `Cells`, from the arguments of `cells_of`."""
    for grid in range(len(sizes)):
        for i in range(sizes[grid]):
            common[group[grid], first_cell[row[grid], i]] = 1
    for i in range(len(common)):
        cells = np.uint32(0)
        for cell in range(common.shape[1]):
            cells += common[i, cell]
            common[i, cell] = cells
    for grid in range(len(sizes)):
        for i in range(sizes[grid]):
            starts[grid, i] = common[group[grid], first_cell[row[grid], i]] - np.uint32(1)
        starts[grid, sizes[grid]] = common[group[grid], common.shape[1] - 1]


# --- The records ----------------------------------------------------------------------------------------------


class Column(NamedTuple):
    """A column of values placed into cells. As sensitive as the column itself."""

    cells: np.ndarray  # uint32 (n_samples,), the cell of each value
    free: Cells | None  # the cells as the partitions see them that are merged, where they are
    fixed: Cells | None  # and as those that are not


def count(free, fixed, numbers):
    """The tables of some groups.

    Parameters
    ----------
    free, fixed : Column
        The one to be merged, and the fixed one.
    numbers : uint64 ndarray
        Of the groups.

    Returns
    -------
    Tables
    """
    parts, rows = free.free, fixed.fixed
    below = np.empty(np.dot(parts.n_corners, rows.n_corners), dtype=np.uint32)  # enough for all groups
    places = np.empty((len(parts.n_corners), 2), dtype=np.uint64)
    _count_records(free.cells, fixed.cells, parts.common, rows.common, numbers, below, places)
    return Tables(below, places, parts.starts, rows.starts)


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
