"""Range equipartitions of one axis, and the refinement that they have in common.

MICr looks at an axis through many equipartitions: 2 parts, 3 parts, ..., and the master partitions. All
their edges together cut the axis into small *cells*. A value is located once, in its cell; the part that
it falls into, in any of the partitions, is then read from a small table.
"""

from typing import NamedTuple

import numpy as np

from skdpmic.mic.jit import jit


class Axis(NamedTuple):
    """A column of values placed into cells. As sensitive as the column itself."""

    sizes: np.ndarray  # (n_sizes,) how many parts each partition has, ascending
    part_of_cell: np.ndarray  # (n_sizes, n_cells) the part of each partition that a cell belongs to
    cells: np.ndarray  # (n_samples,) the cell of each value


def range_axis(values, bounds, sizes):
    """The axis of numeric `values` with its equipartitions of `bounds` into each of `sizes` parts.

    Part i of s holds v with ``lo + i*w <= v < lo + (i+1)*w``, ``w = (hi - lo) / s``, in float64; the first and
    the last part also take what lies outside, so that values are clipped to the bounds.
    """
    lo, hi = float(bounds[0]), float(bounds[1])
    edges, part_of_cell = range_refinement(lo, hi, sizes)
    return Axis(sizes, part_of_cell, locate(values, edges, lo, hi))


def class_axis(codes, n_classes):
    """The axis of a discrete column with values 0 ... n_classes - 1: its only partition is the classes."""
    sizes = np.array([n_classes], dtype=np.int64)
    return Axis(sizes, np.arange(n_classes, dtype=np.int32).reshape(1, -1), codes.astype(np.int32))


@jit
def range_refinement(lo, hi, sizes):
    """Cells that the equipartitions of [lo, hi] into ``sizes[0], sizes[1], ...`` parts have in common.

    Returns
    -------
    edges : float64 ndarray of shape (n_cells - 1,)
        Inner edges, ascending; a value lies in the cell numbered by how many edges are <= it.
    part_of_cell : int32 ndarray of shape (n_sizes, n_cells)
    """
    edges = np.empty(np.sum(sizes) - len(sizes))
    n_edges = 0
    for size in sizes:
        width = (hi - lo) / size
        for i in range(1, size):
            edges[n_edges] = lo + i * width
            n_edges += 1
    edges.sort()
    n_distinct = 0
    for edge in edges:
        if n_distinct == 0 or edge > edges[n_distinct - 1]:
            edges[n_distinct] = edge
            n_distinct += 1
    edges = edges[:n_distinct].copy()

    part_of_cell = np.zeros((len(sizes), n_distinct + 1), dtype=np.int32)
    for row in range(len(sizes)):
        width = (hi - lo) / sizes[row]
        part = 0
        for cell in range(1, n_distinct + 1):
            while part + 1 < sizes[row] and lo + (part + 1) * width <= edges[cell - 1]:
                part += 1
            part_of_cell[row, cell] = part
    return edges, part_of_cell


@jit
def locate(values, edges, lo, hi):
    """Number of `edges` that are <= each value: ``np.searchsorted(edges, values, side="right")``, but faster.

    Buckets of equal width narrow the search. The bucket number never falls as the value grows, rounding
    included, so an edge in an earlier bucket lies below the value.
    """
    n_buckets = 2 * len(edges) + 1
    per_unit = n_buckets / (hi - lo)
    edges_before = np.zeros(n_buckets + 1, dtype=np.int32)
    for edge in edges:
        edges_before[_bucket(edge, lo, per_unit, n_buckets) + 1] += 1
    for bucket in range(n_buckets):
        edges_before[bucket + 1] += edges_before[bucket]

    cells = np.empty(len(values), dtype=np.int32)
    for i in range(len(values)):
        cell = edges_before[_bucket(values[i], lo, per_unit, n_buckets)]
        while cell < len(edges) and edges[cell] <= values[i]:
            cell += 1
        cells[i] = cell
    return cells


@jit
def _bucket(value, lo, per_unit, n_buckets):
    return int(min(max((value - lo) * per_unit, 0.0), n_buckets - 1.0))
