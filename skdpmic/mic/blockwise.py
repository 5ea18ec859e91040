"""OptimizeAxis block by block: upper bounds at a part of its cost, or the best cuts themselves.

The weight of a segment (see :mod:`skdpmic.mic.optimize_axis`) never falls when the segment is cut in two: knowing more
about a record never takes information away. So the best merge into k parts is worth at most as much as it would be if
every segment but the first and the last were cut once more for free, at the border of the block of master parts
in which it ends. Then weights are needed between master edges and borders only, not between all pairs of edges.
With all master parts in a single block nothing is cut for free, and the values are exact.
"""

import numpy as np

from skdpmic.mic.jit import jit
from skdpmic.mic.optimize_axis import (
    entry,
    largest_entry,
    largest_of_merges,
    largest_sum,
    segments_of,
    weigh_segments,
)

FEW_PARTS = 64  # of a master partition: then bounds cost as much as they spare (measured at 1,000 to 10,000 records)


@jit
def largest_entry_above(threshold, below, borders, n_fixed, k_max, table):
    """What `largest_entry` gives, if that is above the threshold; otherwise some number not above it.

    Where bounds show that no merge gets above the threshold, none is optimised.
    """
    m = below.shape[1] - 1
    if m <= FEW_PARTS or k_max == 2:
        return largest_entry(below, borders, n_fixed, k_max, table)
    segments = segments_of(below, borders, table)
    n = segments.totals[-1]
    # The bounds cost about m**2 / (2 block) + m block / 2 weights; larger blocks make them sharper.
    bounds = upper_bounds(segments, k_max, int(1.2 * np.sqrt(m)))
    largest = max(threshold, entry(bounds[0], 2, n, table))  # exact
    k_needed = k_max
    while k_needed > 2 and entry(bounds[k_needed - 2], min(k_needed, n_fixed), n, table) <= largest:
        k_needed -= 1
    return largest if k_needed == 2 else max(largest, largest_of_merges(segments, n_fixed, k_needed, table))


@jit
def upper_bounds(segments, k_max, block):
    """Bounds on ``optimize_axis(segments, k_max)``; exact for k = 2.

    Parameters
    ----------
    segments : Segments
    k_max : int
    block : int
        Master parts in a block.

    Returns
    -------
    bounds : int64 ndarray of shape (k_max - 1,)
        Entry k - 2 is at least n I of every merge into at most k parts.
    """
    m = len(segments.totals) - 1
    best = _best_prefixes(segments, k_max, block)
    weight = np.empty(m + 1, dtype=np.int64)
    weigh_segments(weight, segments, 0, m)
    weight[m] = 0
    bounds = np.empty(k_max - 1, dtype=np.int64)
    for j in range(k_max - 1):
        bounds[j] = segments.constant + largest_sum(best[j, 1:], weight[1:])
    return bounds


@jit
def best_cuts(segments, k):
    """Where the best merge into k parts cuts the master partition.

    Returns
    -------
    cuts : int64 ndarray of shape (min(k, m) - 1,)
        Ascending; cut t lies between the master parts t - 1 and t.
    """
    m = len(segments.totals) - 1
    k = min(k, m)
    best = _best_prefixes(segments, k, m)
    weight = np.empty(m + 1, dtype=np.int64)
    cuts = np.empty(k - 1, dtype=np.int64)
    end = m
    for j in range(k - 2, -1, -1):
        weigh_segments(weight, segments, 0, end)
        # Before the last segment, j + 1 parts remain, which need as many rows.
        end = j + 1 + np.argmax(best[j, j + 1 : end] + weight[j + 1 : end])
        cuts[j] = end
    return cuts


@jit
def _best_prefixes(segments, k_max, block):
    """best[j, t]: bound on the weight of the rows 0 ... t - 1 in at most j + 1 segments, for j + 1 < k_max."""
    m = len(segments.totals) - 1
    n_sizes = k_max - 1
    weight = np.empty(m + 1, dtype=np.int64)
    best = np.empty((n_sizes, m + 1), dtype=np.int64)
    at_border = np.empty(n_sizes, dtype=np.int64)
    for border in range(0, m, block):
        if n_sizes > 1 and border > 0:
            weigh_segments(weight, segments, 0, border)
            weight[border] = 0
            for j in range(n_sizes - 1):
                at_border[j] = largest_sum(best[j, 1 : border + 1], weight[1 : border + 1])
        for t in range(border + 1, min(border + block, m) + 1):
            in_one = _weight_of_prefix(segments, t)
            for j in range(n_sizes):
                best[j, t] = in_one
            if n_sizes == 1:
                continue
            weigh_segments(weight, segments, border, t)
            for j in range(1, n_sizes):
                if border > 0:
                    best[j, t] = max(best[j, t], at_border[j - 1] + weight[border])
                if t > border + 1:
                    best[j, t] = max(best[j, t], largest_sum(best[j - 1, border + 1 : t], weight[border + 1 : t]))
    return best


@jit
def _weight_of_prefix(segments, t):
    """The weight of the segment of all master parts before t."""
    weight = -segments.g[segments.totals[t]]
    for j in range(len(segments.columns)):
        weight += segments.g_columns[segments.columns[j, t]]
    return weight
