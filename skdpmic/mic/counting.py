"""Tables of counts for all grids of MICr, from as few passes over the records as possible.

All grids with one master partition share one pass: the records are counted against the cells that the fixed partitions
of these grids have in common, and each fixed partition adds up its cells. Where records outnumber the cells of all
grids together, they are counted into these once, and the passes are over cells.
"""

import numpy as np

from skdpmic.mic.jit import jit
from skdpmic.mic.partitions import Axis, parts_of


@jit
def compress(free, fixed, master_sizes, fixed_sizes):
    """Count the records into the cells that all these partitions have in common, if there are fewer cells than records.

    Returns
    -------
    free, fixed : Axis
        With the coarser cells and without records, or as they were.
    joint : uint32 ndarray of shape (n_free_cells, n_fixed_cells)
        Empty if the axes are as they were.
    """
    as_they_were = free, fixed, np.empty((0, 0), dtype=np.uint32)
    largest = 0
    for i in range(len(master_sizes)):
        largest = max(largest, master_sizes[i] * fixed_sizes[i])
    if len(free.cells) <= largest:  # spares small data sets the next lines
        return as_they_were
    free_cell, n_free = common_cells(free, master_sizes)
    fixed_cell, n_fixed = common_cells(fixed, fixed_sizes)
    if len(free.cells) <= n_free * n_fixed:
        return as_they_were
    joint = np.zeros((n_free, n_fixed), dtype=np.uint32)
    for i in range(len(free.cells)):
        joint[free_cell[free.cells[i]], fixed_cell[fixed.cells[i]]] += np.uint32(1)
    return _coarser(free, free_cell, n_free), _coarser(fixed, fixed_cell, n_fixed), joint


@jit
def cumulative_counts(free, fixed, joint, n_master, fixed_sizes):
    """Records below every corner of the grid of a master partition and the cells common to some fixed partitions.

    Returns
    -------
    below : uint32 ndarray of shape (n_common + 1, n_used + 1)
        ``below[u, t]`` counts the records in the first u common cells and the first t master parts, where master parts
        without records are left out.
    common : uint32 ndarray of shape (n_cells,)
        The common cell that each cell of the fixed axis belongs to.
    """
    common, n_common = common_cells(fixed, fixed_sizes)
    part, n_used = _used_parts(free, n_master)
    below = np.zeros((n_common + 1, n_used + 1), dtype=np.uint32)
    if len(joint) > 0:
        _add_cells(below, joint, part, common)
    else:
        _add_records(below, free.cells, fixed.cells, part, common)
    for u in range(1, n_common + 1):
        in_row = np.uint32(0)
        for t in range(1, n_used + 1):
            in_row += below[u, t]
            below[u, t] = below[u - 1, t] + in_row
    return below, common


@jit
def column_borders(below, fixed, common, n_fixed):
    """The rows of `below` at which the parts of a fixed partition begin, and its last row; empty parts left out."""
    first_cell = parts_of(fixed, n_fixed)
    last = np.uint64(below.shape[1] - 1)
    borders = np.empty(n_fixed + 1, dtype=np.uint64)
    borders[0] = 0
    n_used = 0
    for j in range(1, n_fixed + 1):
        border = np.uint64(common[first_cell[j]] if j < n_fixed else len(below) - 1)
        if below[border, last] > below[borders[n_used], last]:
            n_used += 1
            borders[n_used] = border
    return borders[: n_used + 1]


@jit
def _add_records(below, free_cells, fixed_cells, part, common):
    after = common + np.uint32(1)
    for i in range(len(free_cells)):
        below[after[fixed_cells[i]], part[free_cells[i]]] += np.uint32(1)


@jit
def _add_cells(below, joint, part, common):
    in_part = np.zeros((below.shape[1], joint.shape[1]), dtype=np.uint32)
    for free_cell in range(len(joint)):
        t = part[free_cell]
        for cell in range(joint.shape[1]):
            in_part[t, cell] += joint[free_cell, cell]
    for t in range(1, len(in_part)):
        for cell in range(joint.shape[1]):
            below[common[cell] + 1, t] += in_part[t, cell]


@jit
def _used_parts(axis, size):
    """The part of the partition into `size` parts that each cell belongs to, numbered from 1 without empty parts."""
    first_cell = parts_of(axis, size)
    part = np.empty(len(axis.n_before) - 1, dtype=np.uint32)
    n_used = 0
    for i in range(size):
        start, end = np.uint64(first_cell[i]), np.uint64(first_cell[i + 1])
        n_used += axis.n_before[end] > axis.n_before[start]
        for cell in range(start, end):
            part[cell] = n_used
    return part, n_used


@jit
def common_cells(axis, sizes):
    """The cell, of those that the partitions into `sizes` parts have in common, that each cell of `axis` belongs to.

    Returns
    -------
    common : uint32 ndarray of shape (n_cells,)
    n_common : int
    """
    common = np.zeros(len(axis.n_before) - 1, dtype=np.uint32)
    for size in sizes:
        first_cell = parts_of(axis, size)
        for i in range(1, size):
            common[first_cell[i]] = 1
    for cell in range(1, len(common)):
        common[cell] += common[cell - 1]
    return common, np.int64(common[-1]) + 1


@jit
def _coarser(axis, common, n_common):
    """The axis with common cells in the place of its cells; only partitions that they refine keep their meaning."""
    n_before = np.zeros(n_common + 1, dtype=np.int64)
    for cell in range(len(common)):
        n_before[common[cell] + 1] = axis.n_before[cell + 1]
    first_cell = np.empty_like(axis.first_cell)
    for row in range(len(axis.sizes)):
        for i in range(axis.sizes[row]):
            first_cell[row, i] = common[axis.first_cell[row, i]]
        first_cell[row, axis.sizes[row]] = n_common
    return Axis(axis.cells[:0], n_before, axis.sizes, first_cell)
