"""Mass equipartitions of one axis with tied values kept together, and the grids of MICe built from them.

Parts never separate records with equal values, so everything here works on *groups*: the records with one value. A
partition is given by the first group of each part.
"""

from typing import NamedTuple

import numpy as np

from skdpmic._utils.jit import jit, leaf
from skdpmic.statistics.mic.optimize_axis import N_FIXED, N_MASTER, TABLE, Grids, Tables, grids_of


class RankedColumn(NamedTuple):
    """A column of values, sorted once. Raw data; not private."""

    order: np.ndarray  # (n_samples,) uint32, the records in ascending order of value
    group: np.ndarray  # (n_samples,) uint32, the group of each record
    ends: np.ndarray  # (n_groups + 1,) uint64, number of records in the previous groups
    values: np.ndarray  # (n_groups,) the value of each group


class Way(NamedTuple):
    """Two ranked axes, one to be merged and one fixed. Raw data; not private."""

    free_ends: np.ndarray  # uint64 (n_free_groups + 1,)
    fixed_ends: np.ndarray  # uint64 (n_fixed_groups + 1,)
    fixed_groups: np.ndarray  # uint32 (n_samples,), on the fixed axis, with records in ascending order on the free axis
    in_clumps: bool  # whether groups of the free axis with all records in one fixed part are never separated


def ranked_column(values):
    """The groups of a 1-D array of finite numbers."""
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    is_first = np.concatenate([[True], ascending[1:] > ascending[:-1]])
    group = np.empty(len(values), dtype=np.uint32)
    group[order] = np.cumsum(is_first) - 1
    ends = np.append(np.flatnonzero(is_first), len(values)).astype(np.uint64)
    return RankedColumn(order.astype(np.uint32), group, ends, ascending[is_first])


def both_ways(x, y):
    """The two orientations of a pair of ranked columns."""
    return Way(x.ends, y.ends, y.group[x.order], True), Way(y.ends, x.ends, x.group[y.order], True)


# --- Tables of counts -----------------------------------------------------------------------------------------


_CELLS_AT_ONCE = 2**18


def mass_tables(ways, plan):
    """The grids of MICe and their tables, some grids at a time, in each orientation.

    Parameters
    ----------
    ways : sequence of Way
    plan : int64 ndarray of shape (n_grids, 3)
        Requested parts of the fixed axis and of the master partition, largest number of merged parts.

    Yields
    ------
    (int, int, Tables, Grids)
        Number of the orientation, and of the first grid. Parts are those allowed by ties.
    """
    n = len(ways[0].fixed_groups)
    grids = grids_of(plan)
    most = most_parts(plan, n)
    n_cells = (np.minimum(plan[:, :2], n) + 1).prod(axis=1).cumsum()
    every = np.arange(max(most[:2]) + 1, dtype=np.uint32).reshape(1, -1)
    room = np.empty(every.size, dtype=np.uint64), *np.empty((2, n), dtype=np.uint32), np.empty(n + 1, dtype=np.uint64)
    first = 0
    while first < len(plan):
        before = n_cells[first - 1] if first > 0 else 0
        end = max(first + 1, int(np.searchsorted(n_cells, before + _CELLS_AT_ONCE, side="right")))
        for number, way in enumerate(ways):
            rows = grids.rows[first:end].copy()
            rows[:, TABLE] = np.arange(len(rows))
            below = np.empty(n_cells[end - 1] - before, dtype=np.uint32)
            places = np.empty((len(rows), 2), dtype=np.uint64)
            _count_mass_grids(*way, rows, below, places, *room)
            yield number, first, Tables(below, places, every, every), Grids(rows, most)
        first = end


def most_parts(plan, n):
    """`Grids.most` for n records."""
    n_fixed, n_master, k_max = plan.max(axis=0).tolist()
    return min(n_fixed, n), min(n_master, n), k_max, len(plan)


@leaf
def _equipartition(starts, ends, n_groups, size):
    """The equipartition of groups into `size` parts; fills in the start of each, and finally the number of groups.

    Parts are filled one after the other. A group goes into the current part unless that part is nonempty and would come
    no closer to the desired size, the number of records left over the number of parts left (EquipartitionYAxis
    of Reshef et al. 2011, Supporting Online Material, Algorithm 3, with real-valued sizes). Large groups may leave
    fewer than `size` parts.

    Parameters
    ----------
    starts : uint64 ndarray of shape (at least n_parts + 1,)
    ends : uint64 ndarray of shape (at least n_groups + 1,)
        Number of records in the first groups; none is empty.
    n_groups, size : int

    Returns
    -------
    n_parts : int
    """
    one = np.uint64(1)
    starts[0] = 0
    n_parts = np.uint64(0)
    while starts[n_parts] < n_groups:
        start = starts[n_parts]
        desired = (ends[n_groups] - ends[start]) / (size - n_parts)
        # Groups that do not exceed the desired size always come closer to it, so only the first one that does is
        # compared.
        end, beyond = start, n_groups + one
        while end + one < beyond:
            middle = (end + beyond) >> one
            if ends[middle] <= ends[start] + desired:
                end = middle
            else:
                beyond = middle
        if end == start:
            end += one
        elif end < n_groups:
            too_many = ends[end + one] - ends[start] - desired
            too_few = desired - (ends[end] - ends[start])
            if too_many < too_few:
                end += one
        n_parts += one
        starts[n_parts] = end
    return n_parts


@jit
def _count_mass_grids(
    free_ends, fixed_ends, fixed_groups, in_clumps, grids, below, places, starts, part_of_group, part, ends
):
    """Fill in ``Tables.below`` and ``Tables.places``, and in `grids` the actual numbers of parts.

    Parameters
    ----------
    free_ends, fixed_ends, fixed_groups, in_clumps
        Those of a `Way`.
    grids : uint64 ndarray
        ``Grids.rows``, with the requested numbers of parts.
    below : uint32 ndarray
    places : uint64 ndarray of shape (n_grids, 2)
    starts, part_of_group, part, ends
        Workspaces: for a partition, the part (from 1 on) of each fixed group and of each record, and the ends of
        clumps.
    """
    one, start = np.uint64(1), np.uint64(0)
    n_free_groups, n_fixed_groups = np.uint64(len(free_ends) - 1), np.uint64(len(fixed_ends) - 1)
    for grid in range(np.uint64(len(grids))):
        # The fixed axis.
        n_fixed = _equipartition(starts, fixed_ends, n_fixed_groups, grids[grid, N_FIXED])
        for j in range(n_fixed):
            for group in range(starts[j], starts[j + one]):
                part_of_group[group] = j + one
        for i in range(np.uint64(len(part))):
            part[i] = part_of_group[fixed_groups[i]]

        # The clumps: runs of groups whose records all lie in one part of the fixed axis. No best cut lies inside of
        # one. A group with records in several parts is a clump of its own (GetClumpsPartition of Reshef et al. 2011,
        # Supporting Online Material).
        n_parts, part_before = np.uint64(0), np.uint32(0)
        ends[0] = 0
        if in_clumps and n_free_groups == len(part):  # no ties: without unpredictable branches
            for i in range(n_free_groups):
                n_parts += np.uint64(part[i] != part_before)
                ends[n_parts] = i + one
                part_before = part[i]
        else:
            for group in range(n_free_groups):
                first = free_ends[group]
                its_part = part[first]
                for i in range(first + one, free_ends[group + one]):
                    if part[i] != its_part:
                        its_part = np.uint32(0)  # several
                        break
                if its_part != part_before or its_part == 0 or not in_clumps:
                    n_parts += one
                ends[n_parts] = free_ends[group + one]
                part_before = its_part

        # The master partition: clumps or, if there are too many, an equipartition of them.
        if n_parts > grids[grid, N_MASTER]:
            n_parts = _equipartition(starts, ends, n_parts, grids[grid, N_MASTER])
            for t in range(n_parts + one):
                ends[t] = ends[starts[t]]

        # The records.
        height = n_fixed + one
        places[grid, 0], places[grid, 1] = start, height
        for u in range(height):
            below[start + u] = 0
        for t in range(n_parts):
            start += height
            for u in range(height):
                below[start + u] = 0
            for i in range(ends[t], ends[t + one]):
                below[start + part[i]] += np.uint32(1)
            in_part = np.uint32(0)
            for u in range(one, height):
                in_part += below[start + u]
                below[start + u] = below[start - height + u] + in_part
        start += height
        grids[grid, N_FIXED], grids[grid, N_MASTER] = n_fixed, n_parts
