"""OptimizeAxis: the best merges of a master partition against a fixed partition, for all sizes at once.

For a table of counts a_ij with row sums r_i, column sums c_j and total n, and g(a) = a log2 a,

    n I = sum g(a_ij) - sum g(r_i) - sum g(c_j) + g(n).

When neighbouring rows are merged, only the first two sums change, and they are additive over the merged
rows. The best merge into k parts is therefore an optimal segmentation, found by dynamic programming over
the last cut: ``best_k(t) = max over s < t of best_{k-1}(s) + weight(s, t)``
(OptimizeAxis of Reshef et al. 2011, Supporting Online Material, Section 3).
"""

import math

import numpy as np

from skdpmic.mic.jit import jit


def g_table(n):
    """g(a) = a log2 a for a = 0 ... n, as integers in units of ``1 / scale``.

    Integers make every sum of them exact, so a score does not depend on the order of summation.
    All four sums of n I together stay below 2**62.

    Returns
    -------
    table : int64 ndarray of shape (n + 1,)
    scale : float
        A power of two; ``table[a] / scale`` is g(a).
    """
    counts = np.arange(n + 1, dtype=np.float64)
    counts[0] = 1.0  # g(0) = 0 = g(1)
    scale = _scale(n)
    return np.rint(counts * np.log2(counts) * scale).astype(np.int64), scale


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
def optimize_axis(counts, k_max, g):
    """n I of the best merge of the rows of `counts` into k parts, for k = 2 ... k_max, columns fixed.

    Parameters
    ----------
    counts : int64 ndarray of shape (n_master, n_fixed)
    k_max : int
    g : int64 ndarray of shape (n + 1,)
        The table of :func:`g_table`, for at least the total of `counts`.

    Returns
    -------
    n_mi : int64 ndarray of shape (k_max - 1,)
        Entry k - 2 is for k parts, in the units of `g`; where fewer than k master parts hold points,
        the value for the largest possible k.
    """
    cumulative = _cumulative_rows(counts)
    weight = _segment_weights(cumulative, g)
    column_term = np.int64(0)
    n = np.int64(0)
    for count in cumulative[-1]:
        column_term += g[count]
        n += count
    return best_segmentations(weight, k_max) + (g[n] - column_term)


@jit
def best_segmentations(weight, k_max):
    """Largest total weight of a cut of rows 0 ... m - 1 into k segments, for k = 2 ... k_max.

    Parameters
    ----------
    weight : ndarray of shape (m + 1, m + 1)
        ``weight[t, s]`` belongs to the segment of the rows s ... t - 1.
    k_max : int

    Returns
    -------
    best : ndarray of shape (k_max - 1,)
        For k > m, the value for m.
    """
    m = len(weight) - 1
    best = weight[:, 0].copy()  # best[t]: rows 0 ... t - 1 in one segment
    totals = np.empty(k_max - 1, dtype=weight.dtype)
    for k in range(2, k_max + 1):
        for t in range(m, k - 1, -1):  # downwards, so that best[s] for s < t still is for k - 1 segments
            largest = best[k - 1] + weight[t, k - 1]
            for s in range(k, t):
                largest = max(largest, best[s] + weight[t, s])
            best[t] = largest
        totals[k - 2] = best[m]
    return totals


@jit
def _cumulative_rows(counts):
    """Running sums down the rows, starting with zeros; empty rows and columns, which change nothing, are left out."""
    n_master, n_fixed = counts.shape
    column_used = np.zeros(n_fixed, dtype=np.bool_)
    row_used = np.zeros(n_master, dtype=np.bool_)
    for i in range(n_master):
        for j in range(n_fixed):
            if counts[i, j] > 0:
                row_used[i] = True
                column_used[j] = True
    n_rows, n_columns = np.sum(row_used), np.sum(column_used)
    cumulative = np.zeros((n_rows + 1, n_columns), dtype=np.int64)
    row = 0
    for i in range(n_master):
        if row_used[i]:
            column = 0
            for j in range(n_fixed):
                if column_used[j]:
                    cumulative[row + 1, column] = cumulative[row, column] + counts[i, j]
                    column += 1
            row += 1
    return cumulative


@jit
def _segment_weights(cumulative, g):
    """weight[t, s] = sum_j g(a_j) - g(sum_j a_j) of the part made of rows s ... t - 1."""
    n_rows = len(cumulative) - 1
    totals = cumulative.sum(axis=1)
    weight = np.zeros((n_rows + 1, n_rows + 1), dtype=np.int64)
    for t in range(1, n_rows + 1):
        for s in range(t):
            part = np.int64(0)
            for j in range(cumulative.shape[1]):
                part += g[cumulative[t, j] - cumulative[s, j]]
            weight[t, s] = part - g[totals[t] - totals[s]]
    return weight
