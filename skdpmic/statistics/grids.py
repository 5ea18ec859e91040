"""Grids that depend on public numbers only: limits of B and c, equal parts of a range, and divisions into two groups.

MICr uses many equipartitions of an axis: 2 parts, 3 parts, ..., and the master partitions. All their edges together cut
the axis into small *cells*. A value is located once, in its cell; the cell determines its part in any of the
partitions.
"""

import math
import sys
from typing import NamedTuple

import numpy as np

from skdpmic._utils.arguments import is_number
from skdpmic._utils.jit import in_numpy, jit, uses_numpy
from skdpmic._utils.texts import quoted, require
from skdpmic.table.domains import inner_ends

# --- Limits of B and c (``benchmarks/results/defaults.md``) -----------------------------------------------------------

_ALWAYS = 1_000  # allowed for any number of records: takes a fraction of a second
_AT_MOST = 10_000  # maximum for any number of records: memory and time of a score grow with the square
_FOR_A_CLASS = 100  # twice the defaults


def largest_size(n, n_classes=None):
    """The largest useful number of cells of a grid for `n` records, and so the largest B.

    Beyond n cells, a grid adds only bias. Below 1,000 records, 1,000 cells are allowed; above 10,000, at most 10,000.

    Parameters
    ----------
    n : int or inf
        Number of records; infinity if it is open.
    n_classes : int, default=None
        Number of classes of a discrete target: each class may have 100 cells, for any n.

    Returns
    -------
    int

    Examples
    --------
    >>> from skdpmic.statistics.grids import largest_size
    >>> [largest_size(n) for n in (50, 5_000, 10**6)]
    [1000, 5000, 10000]
    >>> largest_size(50, n_classes=20)
    2000
    """
    return max(int(min(max(n, _ALWAYS), _AT_MOST)), _FOR_A_CLASS * (n_classes or 0))


def largest_c(n, B, n_classes=None, master="reduced"):
    """The largest c, at which master partitions have at most ``largest_size(n)`` parts.

    Finer ones would only separate records that differ by less than 1 / n of the range.

    Parameters
    ----------
    n : int or inf
        Number of records; infinity if it is open.
    B : float, at least 4
        As a number.
    n_classes : int, default=None
        Of a discrete target.
    master : {"reduced", "full"}, default="reduced"

    Returns
    -------
    float
    """
    return largest_size(n) / (finest_merge(B, n_classes) if master == "reduced" else int(B // 2))


def finest_merge(B, n_classes=None):
    """Parts of an axis in the finest square grid of at most B cells; with classes, in the finest grid."""
    return math.isqrt(int(B)) if n_classes is None else max(int(B // n_classes), 2)


def check_B(B, n=None, n_classes=None):
    """Raise unless `B` is a number >= 4 or an exponent in (0, 1) and, if `n` is given, at most `largest_size`."""
    if not is_number(B) or not (4 <= B <= sys.float_info.max or 0 < B < 1):
        raise ValueError(f"B must be a number >= 4 or an exponent in (0, 1), got {quoted(B)}.")
    if n is not None:
        most = largest_size(n, n_classes)
        require(B <= most, f"B must be at most {most:,} cells{_with(n, n_classes)}", B)


def grid_size(B, n, n_classes=None):
    """`B` as a number, checked: itself, or for an exponent in (0, 1) ``n**B``, from 4 up to 10,000."""
    check_B(B, n, n_classes)
    return float(min(max(n**B, 4.0), largest_size(n))) if B < 1 else float(B)


def check_c(c, n=None, B=None, n_classes=None, master="reduced"):
    """Raise unless `c` is a positive number and, if `n` and `B` are given, at most `largest_c`."""
    require(is_number(c) and 0 < c <= sys.float_info.max, "c must be a number > 0", c)
    if n is not None:
        most = largest_c(n, B, n_classes, master)
        why = f"because master partitions have at most {largest_size(n):,} parts"
        require(c <= most, f"c must be at most {most:.6g} with B={B:.6g}{_with(n, n_classes)}, {why}", c)


def _with(n, n_classes):
    known = [] if n == math.inf else [f"n_samples={n}"]
    known += [] if n_classes is None else [f"{n_classes} classes"]
    return " with " + " and ".join(known) if known else ""


# --- Equipartitions of a range, and their common refinement -----------------------------------------------------------

_FEW = 25_000  # values of one column, for which numpy takes a millisecond, and compiling a second


class Partitions(NamedTuple):
    """Sizes of the equipartitions of an axis, and all their inner edges in ascending order.

    Edge j is the lower end of part ``parts[j]`` of the partition into ``sizes[of_size[j]]`` parts.
    """

    sizes: np.ndarray
    of_size: np.ndarray
    parts: np.ndarray


def equipartitions(sizes):
    """The partitions of an axis into each of `sizes` parts: their structure, which does not depend on the bounds."""
    sizes = np.unique(sizes)
    of_size = np.repeat(np.arange(len(sizes)), sizes - 1)
    parts = np.concatenate([np.arange(1, size) for size in sizes])
    order = np.argsort(parts / sizes[of_size], kind="stable")
    return Partitions(sizes, of_size[order], parts[order])


def refine(lo, hi, partitions):
    """The common cells of the equipartitions of [lo, hi].

    Returns
    -------
    edges : float64 ndarray of shape (n_cells - 1,)
        Distinct, ascending; the number of a value's cell is the number of edges <= it.
    first_cell : int64 ndarray of shape (n_sizes, largest size + 1)
    """
    sizes, of_size, parts = partitions
    edges = lo + parts * ((hi - lo) / sizes[of_size])
    order = np.argsort(edges, kind="stable")  # the exact edges ascend, and rounding may only swap equal ones
    edges = edges[order]
    is_new = edges > np.append(-np.inf, edges[:-1])
    first_cell = np.zeros((len(sizes), sizes[-1] + 1), dtype=np.int64)
    first_cell[of_size[order], parts[order]] = np.cumsum(is_new)
    edges = edges[is_new]
    first_cell[np.arange(len(sizes)), sizes] = len(edges) + 1
    return edges, first_cell


def locate_each(columns, ranges, guarded, bounds):
    """The cells of several columns of equal length, each in one of several ranges with equal numbers of edges.

    The cell of a value is the number of edges that are <= it: ``np.searchsorted(guarded, values, side="right")``, but
    faster. The edges of a range end with a NaN, which is above all values, even infinite ones. Missing values have
    their own cell after all others; their number is also returned.

    Buckets of equal width narrow the search. The bucket number never decreases as the value grows, even with rounding,
    so an edge in an earlier bucket lies below the value. More values justify more buckets.

    Parameters
    ----------
    columns : sequence of ndarrays of shape (n_samples,)
    ranges : sequence of int, of length n_columns
    guarded : float64 ndarray of shape (n_ranges, n_edges + 1)
    bounds : float64 ndarray of shape (n_ranges, 2)

    Returns
    -------
    cells : uint32 ndarray of shape (n_columns, n_samples)
    n_missing : int64 ndarray of shape (n_columns,)
    """
    columns = np.ascontiguousarray(columns, dtype=np.float64).view()
    cells, n_missing = np.empty(columns.shape, dtype=np.uint32), np.zeros(len(columns), dtype=np.int64)
    if uses_numpy():
        for found, values, r in zip(cells, columns, ranges, strict=True):
            found[:] = np.searchsorted(guarded[r], values, side="right")  # NaN is above all other numbers
        return cells, np.isnan(columns).sum(axis=1)
    columns.flags.writeable = False  # like pandas columns, for which numba would otherwise compile again
    n_edges = guarded.shape[1] - 1
    n_buckets = n_edges * min(max(2, columns.size // (16 * n_edges * len(bounds))), 8) + 1
    edges_before = np.zeros((len(bounds), n_buckets + 1), dtype=np.uint32)
    _locate(columns, np.array(ranges), bounds, guarded, edges_before, cells, n_missing)
    return cells, n_missing


@jit
def _locate(columns, ranges, bounds, guarded, edges_before, cells, n_missing):
    """Fill in `cells` and, from zeros, `n_missing`, for each column.

    ``edges_before[r, b]``, from zeros, becomes the number of edges of range r in the buckets before b.
    """
    for j in range(len(columns)):
        values, found = columns[j], cells[j]
        r = ranges[j]
        edges, before = guarded[r], edges_before[r]
        lo, hi = bounds[r, 0], bounds[r, 1]
        n_buckets = np.uint64(len(before) - 1)
        per_unit, last = n_buckets / (hi - lo), n_buckets - 1.0
        # Where a position is NaN -- of a NaN, and at lo where per_unit is infinite -- the first bucket is right, too.
        n_new = np.uint64(len(edges) - 1 if before[n_buckets] == 0 else 0)  # edges are counted once
        for i in range(n_new):
            position = (edges[i] - lo) * per_unit
            bucket = np.uint64(min(position, last)) if position > 0.0 else np.uint64(0)
            before[bucket + np.uint64(1)] += np.uint32(1)
        for bucket in range(n_buckets if n_new > 0 else np.uint64(0)):
            before[bucket + np.uint64(1)] += before[bucket]
        for i in range(np.uint64(len(values))):
            position = (values[i] - lo) * per_unit
            bucket = np.uint64(min(position, last)) if position > 0.0 else np.uint64(0)
            cell = before[bucket]
            cell += np.uint32(edges[cell] <= values[i])  # usually enough, and cheaper than an unpredictable branch
            while edges[cell] <= values[i]:
                cell += np.uint32(1)
            found[i] = cell
        # In a separate loop, which is vectorised; corrections are rare.
        for i in range(len(values)):
            n_missing[j] += np.isnan(values[i])
        for i in range(len(values) if n_missing[j] > 0 else 0):
            if np.isnan(values[i]):
                found[i] = len(edges)


def equal_parts(values, bounds, n_parts):
    """The part of each value when the range is cut into `n_parts` parts of equal width: uint32 (n_samples,).

    Part i holds v with ``lo + i*w <= v < lo + (i+1)*w``, ``w = (hi - lo) / n_parts``; the first and the last part also
    take values outside. A missing value, NaN, is in the first part.
    """
    parts, n_missing = parts_and_missing(values, bounds, n_parts)
    if n_missing > 0:
        parts[parts == n_parts] = 0
    return parts


def parts_and_missing(values, bounds, n_parts):
    """The part of each value, and the number of missing values (NaN), which are in the part after the last one."""
    with in_numpy(len(values) <= _FEW):
        parts, n_missing = parts_of_each([values], [tuple(bounds)], n_parts)
    return parts[0], n_missing[0]


def parts_of_each(columns, bounds, n_parts):
    """The parts of several columns with tuples as bounds, and missing values: (n_columns, n_samples), (n_columns,)."""
    number = {pair: r for r, pair in enumerate(dict.fromkeys(bounds))}  # of distinct ranges, usually one
    ranges = np.array(list(number), dtype=np.float64)
    lo, hi = ranges[:, :1], ranges[:, 1:]
    guarded = np.full((len(ranges), n_parts), np.nan)
    guarded[:, :-1] = inner_ends(lo, hi, n_parts)
    return locate_each(columns, [number[pair] for pair in bounds], guarded, ranges)


# --- Divisions into two groups ---------------------------------------------------------------------------------------


MOST_DIVISIONS = 32  # in order, and by parity


def divisions_in_two(n_columns, with_each_alone=True):
    """The distinct divisions of columns into two groups, with the first column in group 0: tuples of 0 and 1.

    Each column against the rest, unless these are left out; columns up to a cut, and those after it; and by the parity
    of the sum of some binary digits of the column number.
    """
    columns = range(n_columns)
    n_places, n_masks = min(n_columns, MOST_DIVISIONS), min(2 ** (n_columns - 1).bit_length(), MOST_DIVISIONS)
    divisions = [[int(j == one) for j in columns] for one in columns if with_each_alone]
    divisions += [[int(j * n_places // n_columns >= cut) for j in columns] for cut in range(1, n_places)]
    divisions += [[(j & mask).bit_count() % 2 for j in columns] for mask in range(1, n_masks)]
    return list(dict.fromkeys(tuple(group ^ groups[0] for group in groups) for groups in divisions))
