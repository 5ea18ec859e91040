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

    cells: np.ndarray  # uint32 (n_samples,) the cell of each value
    n_cells: int
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
    return Axis(codes.astype(np.uint32), n_classes, np.arange(n_classes + 1).reshape(1, -1))


def range_axis(values, bounds, partitions):
    """The axis of numeric `values` with the equipartitions of the range `bounds`.

    Part i of s holds v with ``lo + i*w <= v < lo + (i+1)*w``, ``w = (hi - lo) / s``, in float64; the first and
    the last part also take what lies outside, so that values are clipped to the bounds.
    """
    edges, first_cell = refine(*bounds, partitions)
    return Axis(locate(values, edges, *bounds), len(edges) + 1, first_cell)


def refine(lo, hi, partitions):
    """Cells that the equipartitions of [lo, hi] have in common.

    Returns
    -------
    edges : float64 ndarray of shape (n_cells - 1,)
        Distinct, ascending; a value lies in the cell numbered by how many edges are <= it.
    first_cell : int64 ndarray of shape (n_sizes, largest size + 1)
    """
    sizes, of_size, parts = partitions
    edges = lo + parts * ((hi - lo) / sizes)[of_size]
    order = np.argsort(edges, kind="stable")  # the exact edges ascend; rounding may swap equal ones
    edges = edges[order]
    is_new = np.ones(len(edges), dtype=bool)
    np.greater(edges[1:], edges[:-1], out=is_new[1:])
    edges_up_to = np.cumsum(is_new)
    first_cell = np.zeros((len(sizes), sizes[-1] + 1), dtype=np.int64)
    first_cell[of_size[order], parts[order]] = edges_up_to
    first_cell[np.arange(len(sizes)), sizes] = edges_up_to[-1] + 1
    return edges[is_new], first_cell


def locate(values, edges, lo, hi):
    """Number of `edges` that are <= each value: ``np.searchsorted(edges, values, side="right")``, but faster."""
    return locate_in(values, buckets_of(edges, lo, hi, len(values)))


class Buckets(NamedTuple):
    """Buckets of equal width, which narrow the search for a value among edges.

    The bucket number never falls as the value grows, rounding included, so an edge in an earlier bucket lies below the
    value. The more values, the more buckets are worth while.
    """

    lo: float
    per_unit: float  # buckets; infinite in the narrowest ranges
    edges_before: np.ndarray  # uint32 (n_buckets,)
    edges: np.ndarray  # and at last NaN: at most no value, not even an infinite one


def buckets_of(edges, lo, hi, n_values):
    """The buckets of ascending, different `edges` in the range [lo, hi], for about so many values."""
    n_buckets = len(edges) * min(max(2, n_values // (16 * len(edges))), 8) + 1
    per_unit = n_buckets / (float(hi) - float(lo))
    with np.errstate(invalid="ignore"):  # at lo, 0 * infinity
        position = np.fmax((edges - lo) * per_unit, 0.0)  # 0 for NaN
    bucket = np.minimum(position, n_buckets - 1).astype(np.int64)
    edges_before = np.zeros(n_buckets + 1, dtype=np.uint32)
    np.cumsum(np.bincount(bucket, minlength=n_buckets), out=edges_before[1:], dtype=np.uint32)
    return Buckets(float(lo), per_unit, edges_before[:-1], np.append(edges, np.nan))


def locate_in(values, buckets):
    """The same as `locate`, with what :func:`buckets_of` has made ready."""
    cells = np.empty(len(values), dtype=np.uint32)
    _locate(np.ascontiguousarray(values, dtype=np.float64), *buckets, cells)
    return cells


@jit
def _locate(values, lo, per_unit, edges_before, edges, cells):
    """Fill in `cells`."""
    last = np.float64(len(edges_before) - 1)
    for i in range(len(values)):
        # Where the position is NaN -- of a NaN, and at lo where per_unit is infinite -- the first bucket is right, too.
        position = (values[i] - lo) * per_unit
        bucket = np.uint64(min(position, last)) if position > 0.0 else np.uint64(0)
        cell = edges_before[bucket]
        cell += np.uint32(edges[cell] <= values[i])  # mostly enough, and cheaper than a branch nobody can predict
        while edges[cell] <= values[i]:
            cell += np.uint32(1)
        cells[i] = cell
