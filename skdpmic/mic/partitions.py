"""Range equipartitions of one axis, and the refinement that they have in common.

MICr looks at an axis through many equipartitions: 2 parts, 3 parts, ..., and the master partitions. All
their edges together cut the axis into small *cells*. A value is located once, in its cell; the part that
it falls into, in any of the partitions, follows from the cell.
"""

from typing import NamedTuple

import numpy as np

from skdpmic.mic.jit import jit


class Partitions(NamedTuple):
    """Sizes of the equipartitions of an axis, and all their inner edges in ascending order.

    Edge j is the lower end of part ``parts[j]`` of the partition into ``sizes[of_size[j]]`` parts.
    """

    sizes: np.ndarray
    of_size: np.ndarray
    parts: np.ndarray


class Axis(NamedTuple):
    """A column of values placed into cells. As sensitive as the column itself."""

    cells: np.ndarray  # (n_samples,) the cell of each value
    n_before: np.ndarray  # (n_cells + 1,) how many values lie in the cells before each cell, and in all
    sizes: np.ndarray  # (n_sizes,) how many parts each partition has, ascending
    first_cell: np.ndarray  # (n_sizes, largest size + 1) where part i of a partition begins; after the last, n_cells


def equipartitions(sizes):
    """The partitions of an axis into each of `sizes` parts; what they share whatever the bounds are."""
    sizes = np.unique(sizes)
    of_size = np.repeat(np.arange(len(sizes)), sizes - 1)
    parts = np.concatenate([np.arange(1, size) for size in sizes])
    order = np.argsort(parts / sizes[of_size], kind="stable")
    return Partitions(sizes, of_size[order], parts[order])


def class_axis(codes, n_classes):
    """The axis of a discrete column with values 0 ... n_classes - 1: its only partition is the classes."""
    n_before = np.append(0, np.cumsum(np.bincount(codes, minlength=n_classes)))
    return Axis(codes.astype(np.uint32), n_before, np.array([n_classes]), np.arange(n_classes + 1).reshape(1, -1))


@jit
def refine(lo, hi, partitions):
    """Cells that the equipartitions of [lo, hi] have in common.

    Returns
    -------
    edges : float64 ndarray of shape (n_cells - 1,)
        Distinct, ascending; a value lies in the cell numbered by how many edges are <= it.
    first_cell : int64 ndarray of shape (n_sizes, largest size + 1)
    """
    sizes, of_size, parts = partitions
    n_edges = len(parts)
    edges = np.empty(n_edges)
    order = np.arange(n_edges)
    for j in range(n_edges):
        size = sizes[of_size[j]]
        edge = lo + parts[j] * ((hi - lo) / size)
        # The exact edges ascend; rounding may swap equal ones, which this insertion sort puts right.
        at = j
        while at > 0 and edges[at - 1] > edge:
            edges[at] = edges[at - 1]
            order[at] = order[at - 1]
            at -= 1
        edges[at] = edge
        order[at] = j

    first_cell = np.zeros((len(sizes), sizes[-1] + 1), dtype=np.int64)
    n_distinct = 0
    for at in range(n_edges):
        if at == 0 or edges[at] > edges[n_distinct - 1]:
            edges[n_distinct] = edges[at]
            n_distinct += 1
        first_cell[of_size[order[at]], parts[order[at]]] = n_distinct
    for row in range(len(sizes)):
        first_cell[row, sizes[row]] = n_distinct + 1
    return edges[:n_distinct].copy(), first_cell


@jit
def parts_of(axis, size):
    """Where each part of the partition into `size` parts begins: its row of ``axis.first_cell``."""
    row = 0
    while axis.sizes[row] != size:
        row += 1
    return axis.first_cell[row]


@jit
def locate(values, edges, lo, hi):
    """Number of `edges` that are <= each value: ``np.searchsorted(edges, values, side="right")``, but faster.

    Buckets of equal width narrow the search. The bucket number never falls as the value grows, rounding
    included, so an edge in an earlier bucket lies below the value. The more values, the more buckets are worth while.
    """
    n_buckets = len(edges) * min(max(2, len(values) // (16 * len(edges))), 8) + 1
    per_unit = n_buckets / (hi - lo)
    edges_before = np.zeros(n_buckets + 1, dtype=np.uint32)
    for edge in edges:
        edges_before[_bucket(edge, lo, per_unit, n_buckets) + 1] += 1
    for bucket in range(n_buckets):
        edges_before[bucket + 1] += edges_before[bucket]

    guarded = np.empty(len(edges) + 1)
    for i in range(len(edges)):
        guarded[i] = edges[i]
    guarded[-1] = np.nan  # at most no value, not even an infinite one
    cells = np.empty(len(values), dtype=np.uint32)
    for i in range(len(values)):
        cell = edges_before[_bucket(values[i], lo, per_unit, n_buckets)]
        cell += np.uint32(guarded[cell] <= values[i])  # mostly enough, and cheaper than a branch nobody can predict
        while guarded[cell] <= values[i]:
            cell += np.uint32(1)
        cells[i] = cell
    return cells


@jit
def _bucket(value, lo, per_unit, n_buckets):
    # Where it is NaN -- at lo in a range so narrow that per_unit is infinite -- the first bucket is right, too.
    position = (value - lo) * per_unit
    return int(min(position, n_buckets - 1.0)) if position > 0.0 else 0


@jit
def range_axis(values, lo, hi, partitions):
    """The axis of numeric `values` with the equipartitions of the range [lo, hi].

    Part i of s holds v with ``lo + i*w <= v < lo + (i+1)*w``, ``w = (hi - lo) / s``, in float64; the first and
    the last part also take what lies outside, so that values are clipped to the bounds.
    """
    edges, first_cell = refine(lo, hi, partitions)
    cells = locate(values, edges, lo, hi)
    n_before = np.zeros(len(edges) + 2, dtype=np.int64)
    for cell in cells:
        n_before[cell + 1] += 1
    for cell in range(len(edges) + 1):
        n_before[cell + 1] += n_before[cell]
    return Axis(cells, n_before, partitions.sizes, first_cell)
