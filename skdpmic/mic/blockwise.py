"""OptimizeAxis block by block: upper bounds at a small part of its cost, or the best cuts themselves.

The weight of a segment (see :mod:`skdpmic.mic.optimize_axis`) never falls when the segment is cut in two: knowing more
about a record never takes information away. So the best merge into k parts is worth at most as much as it would be if
every segment but the first and the last were cut once more for free, at the border of the block of master parts
in which it ends. Then weights are needed between master edges and borders only, not between all pairs of edges.
With all master parts in a single block nothing is cut for free, and the values are exact.
"""

import numpy as np

from skdpmic.mic.jit import jit


@jit
def upper_bounds(columns, totals, k_max, table, block):
    """Bounds on ``optimize_axis(columns, totals, k_max, table)``; exact for k = 2.

    Parameters
    ----------
    columns, totals, k_max, table
        As for `optimize_axis`.
    block : int
        Master parts in a block: the fewer, the sharper and dearer are the bounds.

    Returns
    -------
    bounds : int64 ndarray of shape (k_max - 1,)
        Entry k - 2 is at least n I of every merge into at most k parts.
    """
    m = len(totals) - 1
    best = _best_prefixes(columns, totals, k_max, table.g, block)
    weight = np.empty(m + 1, dtype=np.int64)
    _weights_of_segments(columns, totals, table.g, 0, m, weight)
    constant = table.g[totals[m]]
    for j in range(len(columns)):
        constant -= table.g[columns[j, m]]
    bounds = np.empty(k_max - 1, dtype=np.int64)
    for j in range(k_max - 1):
        bounds[j] = constant + _largest_sum(best[j, 1:], weight[1:])
    return bounds


@jit
def best_cuts(columns, totals, k, table):
    """Where the best merge into k parts cuts the master partition.

    Returns
    -------
    cuts : int64 ndarray of shape (min(k, m) - 1,)
        Ascending; cut t lies between the master parts t - 1 and t.
    """
    m = len(totals) - 1
    k = min(k, m)
    best = _best_prefixes(columns, totals, k, table.g, m)
    weight = np.empty(m + 1, dtype=np.int64)
    cuts = np.empty(k - 1, dtype=np.int64)
    end = m
    for j in range(k - 2, -1, -1):
        _weights_of_segments(columns, totals, table.g, 0, end, weight)
        # Before the last segment, j + 1 parts remain, which need as many rows.
        end = j + 1 + np.argmax(best[j, j + 1 : end] + weight[j + 1 : end])
        cuts[j] = end
    return cuts


@jit
def _best_prefixes(columns, totals, k_max, g, block):
    """best[j, t]: bound on the weight of the rows 0 ... t - 1 in at most j + 1 segments, for j + 1 < k_max."""
    m = len(totals) - 1
    n_sizes = k_max - 1
    weight = np.empty(m + 1, dtype=np.int64)
    best = np.empty((n_sizes, m + 1), dtype=np.int64)
    at_border = np.empty(n_sizes, dtype=np.int64)
    for border in range(0, m, block):
        if n_sizes > 1 and border > 0:
            _weights_of_segments(columns, totals, g, 0, border, weight)
            for j in range(n_sizes - 1):
                at_border[j] = _largest_sum(best[j, 1 : border + 1], weight[1 : border + 1])
        for t in range(border + 1, min(border + block, m) + 1):
            in_one = _weight_of_segment(columns, totals, g, 0, t)
            for j in range(n_sizes):
                best[j, t] = in_one
            if n_sizes == 1:
                continue
            _weights_of_segments(columns, totals, g, border, t, weight)
            for j in range(1, n_sizes):
                if border > 0:
                    best[j, t] = max(best[j, t], at_border[j - 1] + weight[border])
                if t > border + 1:
                    best[j, t] = max(best[j, t], _largest_sum(best[j - 1, border + 1 : t], weight[border + 1 : t]))
    return best


@jit
def _weights_of_segments(columns, totals, g, first, t, weight):
    """weight[s] = sum_j g(a_j) - g(sum_j a_j) of the master parts s ... t - 1, for s = first ... t; 0 for s = t."""
    for s in range(first, t + 1):
        weight[s] = -g[totals[t] - totals[s]]
    for j in range(len(columns)):
        here = columns[j, t]
        for s in range(first, t + 1):
            weight[s] += g[here - columns[j, s]]


@jit
def _weight_of_segment(columns, totals, g, s, t):
    weight = -g[totals[t] - totals[s]]
    for j in range(len(columns)):
        weight += g[columns[j, t] - columns[j, s]]
    return weight


@jit
def _largest_sum(a, b):
    largest = a[0] + b[0]
    for i in range(1, len(a)):
        largest = max(largest, a[i] + b[i])
    return largest
