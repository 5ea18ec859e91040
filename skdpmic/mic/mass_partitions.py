"""Mass equipartitions of one axis with tied values kept together, and the grids of MICe that are made of them.

A part never separates records of equal value, so everything here works on *groups*: the records of one value. A
partition is given by the group in which each part begins.
"""

from typing import NamedTuple

import numpy as np

from skdpmic.mic.jit import jit


class RankedColumn(NamedTuple):
    """A column of values, sorted once. As sensitive as the column itself."""

    order: np.ndarray  # (n_samples,) uint32, the records in ascending order of value
    group: np.ndarray  # (n_samples,) uint32, which group each record belongs to
    ends: np.ndarray  # (n_groups + 1,) int64, how many records lie in the groups before
    values: np.ndarray  # (n_groups,) the value of each group


class Grid(NamedTuple):
    """A fixed partition of one axis, and of the other the master partition, whose parts are yet to be merged."""

    below: np.ndarray  # uint32 (n_fixed + 1, n_master + 1), records in the first fixed and the first master parts


def ranked_column(values):
    """The groups of a 1-D array of finite numbers."""
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    is_first = np.concatenate([[True], ascending[1:] > ascending[:-1]])
    group = np.empty(len(values), dtype=np.uint32)
    group[order] = np.cumsum(is_first) - 1
    ends = np.append(np.flatnonzero(is_first), len(values))
    return RankedColumn(order.astype(np.uint32), group, ends, ascending[is_first])


@jit
def equipartition(ends, size):
    """The groups where the parts of the equipartition into `size` parts begin, and at last the number of groups.

    Parts are filled one after the other. A group goes into the current part unless that part is non-empty and would
    come no closer to the size desired, which is the share of the records left among the parts left (EquipartitionYAxis
    of Reshef et al. 2011, Supporting Online Material, Algorithm 3, with real-valued sizes). Large groups may leave
    fewer than `size` parts.

    Parameters
    ----------
    ends : int64 ndarray of shape (n_groups + 1,)
        Records in the first groups; none is empty.
    size : int

    Returns
    -------
    starts : int64 ndarray of shape (n_parts + 1,)
    """
    n_groups = len(ends) - 1
    starts = np.zeros(min(size, n_groups) + 1, dtype=np.int64)
    n_parts = 0
    while starts[n_parts] < n_groups:
        start = starts[n_parts]
        desired = (ends[-1] - ends[start]) / (size - n_parts)
        # All groups that do not exceed the desired size come closer to it, so only the first one that does is judged.
        end = np.searchsorted(ends, ends[start] + desired, side="right") - 1
        if end == start:
            end += 1
        elif end < n_groups:
            too_many = ends[end + 1] - ends[start] - desired
            too_few = desired - (ends[end] - ends[start])
            if too_many < too_few:
                end += 1
        n_parts += 1
        starts[n_parts] = end
    return starts[: n_parts + 1]


@jit
def in_order_of(free, fixed):
    """The group on the fixed axis of each record, the records in ascending order on the free axis."""
    groups = np.empty(len(free.order), dtype=np.uint32)
    for i in range(len(groups)):
        groups[i] = fixed.group[free.order[i]]
    return groups


@jit
def mass_grid(free_ends, fixed_ends, fixed_groups, n_fixed, n_master):
    """The grid of MICe whose fixed axis has `n_fixed` parts.

    Parameters
    ----------
    free_ends, fixed_ends : int64 ndarrays
        The ends of the groups of either axis.
    fixed_groups : ndarray of shape (n_samples,)
        From `in_order_of`.
    n_fixed, n_master : int
        Parts asked for; fewer where ties do not allow as many.

    Returns
    -------
    Grid
    """
    starts = equipartition(fixed_ends, n_fixed)
    part = parts_of_records(starts, fixed_groups)
    clump_ends = _clumps(free_ends, part)
    if len(clump_ends) - 1 > n_master:
        clump_ends = clump_ends[equipartition(clump_ends, n_master)]
    return Grid(cumulative_counts(part, clump_ends, len(starts) - 1))


@jit
def parts_of_records(starts, groups):
    """The part of each record, from its group and the groups where the parts begin."""
    part_of_group = np.empty(starts[-1], dtype=np.uint32)
    for j in range(len(starts) - 1):
        part_of_group[starts[j] : starts[j + 1]] = j
    part = np.empty(len(groups), dtype=np.uint32)
    for i in range(len(groups)):
        part[i] = part_of_group[groups[i]]
    return part


@jit
def _clumps(ends, part):
    """Ends of the clumps: runs of groups whose records all lie in one part of the fixed axis.

    No best cut lies inside of a clump. A group with records in several parts is a clump of its own
    (GetClumpsPartition of Reshef et al. 2011, Supporting Online Material).
    """
    clump_ends = np.zeros(len(ends), dtype=np.int64)
    n_clumps = 0
    if len(ends) == len(part) + 1:  # no ties, and no branches for the processor to guess
        for i in range(len(part) - 1):
            clump_ends[n_clumps + 1] = i + 1
            n_clumps += part[i] != part[i + 1]
    else:
        previous_is_pure = _is_pure(part, 0, ends[1])
        for g in range(1, len(ends) - 1):
            is_pure = _is_pure(part, ends[g], ends[g + 1])
            clump_ends[n_clumps + 1] = ends[g]
            n_clumps += not (is_pure and previous_is_pure and part[ends[g]] == part[ends[g] - 1])
            previous_is_pure = is_pure
    clump_ends[n_clumps + 1] = len(part)
    return clump_ends[: n_clumps + 2]


@jit
def _is_pure(part, start, end):
    for i in range(start + 1, end):  # noqa: SIM110 (numba knows no all() of a generator)
        if part[i] != part[start]:
            return False
    return True


@jit
def cumulative_counts(part, ends, n_parts):
    """``below[j, t]``: records in the first j parts among the first ``ends[t]``, for ascending ends from 0 on."""
    below = np.zeros((n_parts + 1, len(ends)), dtype=np.uint32)
    for t in range(len(ends) - 1):
        for i in range(ends[t], ends[t + 1]):
            below[part[i] + 1, t + 1] += np.uint32(1)
    for j in range(1, n_parts + 1):
        in_part = np.uint32(0)
        for t in range(1, len(ends)):
            in_part += below[j, t]
            below[j, t] = below[j - 1, t] + in_part
    return below
