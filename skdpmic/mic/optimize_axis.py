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


@lru_cache(maxsize=4)
def entropy_table(n):
    """The table for totals up to n; the last few are kept, as they depend on nothing else."""
    counts = np.arange(n + 1, dtype=np.float64)
    counts[0] = 1.0  # g(0) = 0 = g(1)
    g = np.rint(counts * np.log2(counts) * _scale(n)).astype(np.int64)
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


@jit
def optimize_axis(columns, totals, k_max, table):
    """n I of the best merge of the master parts into k parts, for k = 2 ... k_max, against the fixed columns.

    Parameters
    ----------
    columns : uint64 ndarray of shape (n_fixed, m + 1)
        ``columns[j, t]`` counts the records of column j in the first t of m master parts.
    totals : ndarray of unsigned integers of shape (m + 1,)
        The same for all columns together.
    k_max : int
    table : EntropyTable
        For at least ``totals[-1]`` records.

    Returns
    -------
    n_mi : int64 ndarray of shape (k_max - 1,)
        Entry k - 2 is for k parts, in units of ``1 / table.scale``; for k > m, the value for m.
    """
    column_term = np.int64(0)
    largest_column = np.uint64(0)
    for j in range(len(columns)):
        column_term += table.g[columns[j, -1]]
        largest_column = max(largest_column, columns[j, -1])
    g_columns = table.g
    if largest_column < 1 << table.shift:
        columns, g_columns = _in_pairs(columns, table.shift), table.g_pairs

    m = len(totals) - 1
    best = np.empty((k_max + 1, m + 1), dtype=np.int64)
    weight = np.empty(m, dtype=np.int64)
    for t in range(1, m + 1):
        n_starts = 1 if k_max == 2 and t < m else t  # of two parts, one begins at 0 and the other ends at m
        _weigh_segments(weight[:n_starts], columns, g_columns, totals, table.g, t)
        extend_segmentations(best, weight, t)
    n_mi = np.empty(k_max - 1, dtype=np.int64)
    for k in range(2, k_max + 1):
        n_mi[k - 2] = best[min(k, m), m] - column_term + table.g[totals[m]]
    return n_mi


@jit
def extend_segmentations(best, weight, t):
    """Fill in ``best[k, t]``, the largest total weight of a cut of the rows 0 ... t - 1 into k segments.

    Parameters
    ----------
    best : ndarray of shape (k_max + 1, m + 1)
        Filled in up to t - 1. For k = k_max, only t = m is.
    weight : ndarray of shape (m,)
        ``weight[s]`` belongs to the segment of the rows s ... t - 1.
    t : int
    """
    k_max, m = len(best) - 1, best.shape[1] - 1
    best[1, t] = weight[0]
    for k in range(2, min(k_max if t == m else k_max - 1, t) + 1):
        best[k, t] = _largest_sum(best[k - 1, k - 1 : t], weight[k - 1 : t])


@jit
def _largest_sum(a, b):
    largest = a[0] + b[0]
    for i in range(1, len(a)):
        largest = max(largest, a[i] + b[i])
    return largest


@jit
def _weigh_segments(weight, columns, g_columns, totals, g, t):
    """weight[s] = sum_j g(a_j) - g(sum_j a_j) of the part made of the master parts s ... t - 1.

    The innermost loop runs over contiguous memory, for vector instructions; counts are unsigned, because an index that
    may be negative is dearer.
    """
    for s in range(len(weight)):
        weight[s] = -g[totals[t] - totals[s]]
    for j in range(len(columns)):
        here = columns[j, t]
        for s in range(len(weight)):
            weight[s] += g_columns[here - columns[j, s]]


@jit
def _in_pairs(columns, shift):
    """Two columns of small counts a, b in one, as (a << shift) + b: half as many look-ups, of g(a) + g(b).

    Counts do not fall with t, so subtracting such numbers subtracts both counts.
    """
    n_columns, length = columns.shape
    pairs = np.empty(((n_columns + 1) // 2, length), dtype=np.uint64)
    for i in range(n_columns // 2):
        for t in range(length):
            pairs[i, t] = (columns[2 * i, t] << np.uint64(shift)) + columns[2 * i + 1, t]
    if n_columns % 2:
        for t in range(length):
            pairs[-1, t] = columns[-1, t]
    return pairs
