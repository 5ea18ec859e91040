"""OptimizeAxis: the best merges of a master partition against a fixed partition, for all sizes at once.

For a table of counts a_ij with row sums r_i, column sums c_j and total n, and g(a) = a log2 a,

    n I = sum g(a_ij) - sum g(r_i) - sum g(c_j) + g(n).

When neighbouring rows are merged, only the first two sums change, and they are additive over the merged
rows. The best merge into k parts is therefore an optimal segmentation, found by dynamic programming over
the last cut: ``best_k(t) = max over s < t of best_{k-1}(s) + weight(s, t)``
(OptimizeAxis of Reshef et al. 2011, Supporting Online Material, Section 3).
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from skdpmic.mic.jit import jit


class EntropyTable(NamedTuple):
    """g(a) = a log2 a, as integers in units of ``1 / scale``.

    Integers make every sum exact, so a score does not depend on the order of summation. All sums of n I together
    stay below 2**62.
    """

    g: np.ndarray  # (n + 1,) int64
    g_pairs: np.ndarray  # (2**(2 shift),) int64, g(a) + g(b) at (a << shift) + b
    shift: int
    scale: float  # a power of two


_AT_ONCE = 2**16


@lru_cache(maxsize=4)
def entropy_table(n):
    """The table for totals up to n; the last few are kept, as they depend on nothing else."""
    if n >= 2**32:  # counts are uint32, and would start again at 0
        raise ValueError(f"scores can be computed of at most {2**32 - 1:,} records, got n_samples={n:,}.")
    g = np.empty(n + 1, dtype=np.int64)
    for first in range(0, n + 1, _AT_ONCE):  # floats for all would take several times the memory of the table
        counts = np.arange(first, min(first + _AT_ONCE, n + 1), dtype=np.float64)
        counts = np.maximum(counts, 1.0)  # g(0) = 0 = g(1)
        g[first : first + _AT_ONCE] = np.rint(counts * np.log2(counts) * _scale(n))
    shift = min(8, n.bit_length())  # 2**16 pairs still fit into a processor's nearest caches
    small = np.zeros(1 << shift, dtype=np.int64)
    small[: n + 1] = g[: 1 << shift]
    return EntropyTable(g, np.add.outer(small, small).ravel(), shift, _scale(n))


def rounding_error(n, plan):
    """Bound on how far a computed MICr lies from its exact value, for n records and the grids of `plan`.

    A table entry is off by at most 2**-49 g(a) + 1 / (2 scale). A score adds up at most 2 n_cells + 3 of them,
    whose exact values sum to at most 4 g(n), and divides by n and a logarithm >= 1; the conversion to float and the
    divisions lose at most 2**-49 more of a value <= 1. The proof is in ``docs/theory/rounding.md``.
    """
    n_cells = (plan[:, 0] * plan[:, 2]).max()
    return 2.0**-49 * (4 * math.log2(n) + 1) + (2 * n_cells + 3) / (2 * _scale(n) * n)


def _scale(n):
    return 2.0 ** (61 - math.ceil(math.log2(4 * n * math.log2(n) + 4)))


class Segments(NamedTuple):
    """All that the weights of segments of a master partition, against fixed columns, are computed from."""

    totals: np.ndarray  # (m + 1,) unsigned, records in the first master parts
    g: np.ndarray
    columns: np.ndarray  # uint64 (n_columns, m + 1), records of each column, or pair of columns, in the same
    g_columns: np.ndarray  # g, or g_pairs
    constant: int  # g(n) - sum of g over the columns, which all merges have in common


@jit
def segments_of(below, borders, table):
    """Make ready for OptimizeAxis.

    Parameters
    ----------
    below : uint32 ndarray of shape (n_rows + 1, m + 1)
        ``below[u, t]`` counts the records in the first u rows of a table and the first t of its m master parts.
    borders : ndarray of unsigned integers of shape (n_fixed + 1,)
        Column j of the fixed partition is the rows ``borders[j]`` ... ``borders[j + 1] - 1``; if these hold no
        records, it adds nothing.
    table : EntropyTable
        For at least as many records.

    Returns
    -------
    Segments
    """
    m, one = np.uint64(below.shape[1] - 1), np.uint64(1)
    column_term = np.int64(0)
    largest_column = np.uint32(0)
    for j in range(np.uint64(len(borders) - 1)):
        in_column = below[borders[j + one], m] - below[borders[j], m]
        column_term += table.g[in_column]
        largest_column = max(largest_column, in_column)
    totals = below[borders[-1]].copy()  # oldest numba loses the memory of a view that goes to Python and back
    constant = table.g[totals[m]] - column_term
    if largest_column < 1 << table.shift:
        return Segments(totals, table.g, _in_pairs(below, borders, table.shift), table.g_pairs, constant)
    return Segments(totals, table.g, _one_by_one(below, borders), table.g, constant)


@jit
def optimize_axis(segments, k_max):
    """n I of the best merge of the master parts into k parts, for k = 2 ... k_max, against the fixed columns.

    Parameters
    ----------
    segments : Segments
        With m master parts.
    k_max : int

    Returns
    -------
    n_mi : int64 ndarray of shape (k_max - 1,)
        Entry k - 2 is for k parts, in units of the table; for k > m, the value for m.
    """
    m = len(segments.totals) - 1
    best = np.empty((k_max + 1, m + 1), dtype=np.int64)
    weight = np.empty(m, dtype=np.int64)
    for t in range(1, m + 1):
        weigh_segments(weight, segments, 0, t)
        extend_segmentations(best, weight, t)
    n_mi = np.empty(k_max - 1, dtype=np.int64)
    for k in range(2, k_max + 1):
        n_mi[k - 2] = best[k, m] + segments.constant
    return n_mi


@jit
def best_bisection(below, borders, table):
    """n I of the best merge into two parts, from the arguments of `segments_of`.

    One part starts where all begin, the other ends where all do, so no segments are needed.
    """
    g, one = table.g, np.uint64(1)
    m = np.uint64(below.shape[1] - 1)
    if m == one:
        return np.int64(0)
    last = np.uint64(borders[-1])
    n = below[last, m]
    value = np.empty(m, dtype=np.int64)
    for t in range(one, m):
        value[t] = -g[below[last, t]] - g[n - below[last, t]]
    constant = g[n]
    for j in range(np.uint64(len(borders) - 1)):
        start, end = np.uint64(borders[j]), np.uint64(borders[j + one])
        in_column = below[end, m] - below[start, m]
        constant -= g[in_column]
        for t in range(one, m):
            in_first = below[end, t] - below[start, t]
            value[t] += g[in_first] + g[in_column - in_first]
    largest = value[one]
    for t in range(one, m):
        largest = max(largest, value[t])
    return constant + largest


@jit
def entry(n_mi, n_parts, n, table):
    """I / log2 of the smaller number of parts, from n I: the entry of a characteristic matrix, in [0, 1]."""
    return min(n_mi / (table.scale * n * np.log2(n_parts)), 1.0)


@jit
def largest_entry(below, borders, n_fixed, k_max, table):
    """The largest I / log2 min(k, n_fixed) of the merges into k <= k_max parts, from the arguments of `segments_of`."""
    if k_max == 2:
        return entry(best_bisection(below, borders, table), 2, below[borders[-1], below.shape[1] - 1], table)
    return largest_of_merges(segments_of(below, borders, table), n_fixed, k_max, table)


@jit
def largest_of_merges(segments, n_fixed, k_max, table):
    """The largest I / log2 min(k, n_fixed) of the merges into k <= k_max parts."""
    n = segments.totals[-1]
    n_mi = optimize_axis(segments, k_max)
    largest = 0.0
    for k in range(2, k_max + 1):
        largest = max(largest, entry(n_mi[k - 2], min(k, n_fixed), n, table))
    return largest


@jit
def extend_segmentations(best, weight, t):
    """Fill in ``best[k, t]``, the largest total weight of a cut of the rows 0 ... t - 1 into at most k segments.

    ``best[k, t] = max over s of best[k - 1, s] + weight[s]``, for three k at once, which reads each weight once.

    Parameters
    ----------
    best : ndarray of shape (k_max + 1, m + 1)
        Filled in up to t - 1. For k = k_max, only t = m is.
    weight : ndarray of shape (m,)
        ``weight[s]`` belongs to the segment of the rows s ... t - 1.
    t : int
    """
    k_max, m = len(best) - 1, best.shape[1] - 1
    last = np.uint64(min(k_max if t == m else k_max - 1, t))
    end, one, two, three = np.uint64(t), np.uint64(1), np.uint64(2), np.uint64(3)
    best[one, end] = weight[0]
    k = two
    while k + two <= last:
        start = k - one
        first = best[k - one, start] + weight[start]
        second = best[k, start] + weight[start]
        third = best[k + one, start] + weight[start]
        for s in range(k, end):
            first = max(first, best[k - one, s] + weight[s])
            second = max(second, best[k, s] + weight[s])
            third = max(third, best[k + one, s] + weight[s])
        best[k, end], best[k + one, end], best[k + two, end] = first, second, third
        k += three
    while k <= last:
        first = best[k - one, k - one] + weight[k - one]
        for s in range(k, end):
            first = max(first, best[k - one, s] + weight[s])
        best[k, end] = first
        k += one
    for k in range(last + one, np.uint64(k_max + 1)):  # no row is left for one more segment
        best[k, end] = best[last, end]


@jit
def largest_sum(a, b):
    """The largest of the sums a[i] + b[i]."""
    largest = a[0] + b[0]
    for i in range(1, len(a)):
        largest = max(largest, a[i] + b[i])
    return largest


@jit
def weigh_segments(weight, segments, first, t):
    """weight[s] = sum_j g(a_j) - g(sum_j a_j) of the part made of the master parts s ... t - 1, for s >= first.

    The innermost loops run over contiguous memory, for two columns at once, which reads and writes each weight half as
    often; all their indices are unsigned, because numba has to look twice at one that may be negative.
    """
    totals, g, columns, g_columns, _ = segments
    start, end = np.uint64(first), np.uint64(t)
    for s in range(start, end):
        weight[s] = -g[totals[end] - totals[s]]
    j, one, n_columns = np.uint64(0), np.uint64(1), np.uint64(len(columns))
    while j + one < n_columns:
        here, here_too = columns[j, end], columns[j + one, end]
        for s in range(start, end):
            weight[s] += g_columns[here - columns[j, s]] + g_columns[here_too - columns[j + one, s]]
        j += np.uint64(2)
    if j < n_columns:
        here = columns[j, end]
        for s in range(start, end):
            weight[s] += g_columns[here - columns[j, s]]


@jit
def _one_by_one(below, borders):
    """``columns[j, t]``: records in column j and the first t master parts."""
    columns = np.empty((len(borders) - 1, below.shape[1]), dtype=np.uint64)
    one = np.uint64(1)
    for j in range(np.uint64(len(columns))):
        start, end = borders[j], borders[j + one]
        for t in range(np.uint64(below.shape[1])):
            columns[j, t] = below[end, t] - below[start, t]
    return columns


@jit
def _in_pairs(below, borders, shift):
    """Two columns of small counts a, b in one, as (a << shift) + b: half as many look-ups, of g(a) + g(b).

    Counts do not fall with t, so subtracting such numbers subtracts both counts. A last column without a partner gets
    an empty one.
    """
    n_columns = np.uint64(len(borders) - 1)
    pairs = np.empty((len(borders) // 2, below.shape[1]), dtype=np.uint64)
    one, shift = np.uint64(1), np.uint64(shift)
    for i in range(np.uint64(len(pairs))):
        start = borders[i + i]
        middle = borders[i + i + one]
        end = borders[min(i + i + one + one, n_columns)]
        for t in range(np.uint64(below.shape[1])):
            a, b = below[middle, t] - below[start, t], below[end, t] - below[middle, t]
            pairs[i, t] = (np.uint64(a) << shift) + np.uint64(b)
    return pairs
