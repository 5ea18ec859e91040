"""The longest paths along a walk, which are the best merges for MTVr (``docs/theory/mtv_r.md``).

Each grid of MTVr fixes one side, its columns, and merges neighbouring master parts of the other side. Walk along the
master parts. If the parts so far hold r records, a_j of them in group j of the columns, the walk is at
D_j = u a_j - r m_j. Here m_j / u is the share of the group: either m_j of the u = n records of the table, or a known
share. A merged part that takes the walk from D to D' adds sum_j |D'_j - D_j| to 2 u n times the total variation. So the
best merge into k parts is the longest path of k straight pieces along the walk, in L1: OptimizeAxis of Reshef et al.
2011, in integers. With the shares of the table, the walk ends where it began, at 0.

The numpy twin of a kernel gives the same result, bit for bit: slower, but ready at once
(:mod:`skdpmic._utils.little_work`).
"""

import numpy as np

from skdpmic._utils.jit import jit, leaf
from skdpmic._utils.little_work import Allowance

# Time allowed in numpy before each kernel is used: enough for a few dozen features.
_RUN, _WALK, _LONGEST, _LINES = Allowance(0.03), Allowance(0.03), Allowance(0.03), Allowance(0.1)

MOST_RECORDS = 2**31 - 1  # a path is at most 2 u n long with u <= n; this must stay below 2**63


def running_counts(tables):
    """Cumulative counts over the non-empty master parts, for each column and then for all columns, starting at 0.

    Parameters
    ----------
    tables : uint32 ndarray of shape (n_features, n_columns, n_master)

    Returns
    -------
    counts : int64 ndarray of shape (n_features, (n_columns + 1) * (n_master + 1))
        The first ``(n_columns + 1) * (n_used + 1)`` entries of each row are counts; the rest are undefined.
    n_used : int64 ndarray of shape (n_features,)
        Number of non-empty master parts of each feature.
    """
    n_features, n_columns, n_master = tables.shape
    counts = np.empty((n_features, (n_columns + 1) * (n_master + 1)), dtype=np.int64)
    n_used = np.zeros(n_features, dtype=np.int64)
    if _RUN.covers(8 * tables.size):
        _run_in_numpy(tables, counts, n_used)
    else:
        _run(tables, np.empty(n_master, dtype=np.int64), np.empty(n_master, dtype=np.uint64), counts, n_used)
    return counts, n_used


def _run_in_numpy(tables, counts, n_used):
    """The running counts of each feature over the parts that hold any record, and how many these are."""
    for f, table in enumerate(tables):
        used = table[:, table.any(axis=0)]
        running = np.zeros((len(table) + 1, used.shape[1] + 1), dtype=np.int64)
        np.cumsum(used, axis=1, out=running[:-1, 1:])
        running[-1] = running[:-1].sum(axis=0)
        counts[f, : running.size], n_used[f] = running.ravel(), used.shape[1]


@jit
def _run(tables, in_part, parts, counts, n_used):
    """Fill in `counts`, row by row, and `n_used`; the other two arrays are buffers."""
    n_features, n_columns, n_master = tables.shape
    for f in range(n_features):
        table, run = tables[f], counts[f]
        for t in range(n_master):
            in_part[t] = 0
        for j in range(n_columns):
            for t in range(n_master):
                in_part[t] += table[j, t]
        end = np.uint64(0)
        for t in range(np.uint64(n_master)):
            parts[end] = t
            end += np.uint64(in_part[t] > 0)  # else the next part overwrites it
        n_used[f] = end
        of_all = run[n_columns * (n_used[f] + 1) :]
        for t in range(end + np.uint64(1)):
            of_all[t] = 0
        for j in range(n_columns):
            of_column, column = run[j * (n_used[f] + 1) :], table[j]
            so_far = np.int64(0)
            of_column[0] = so_far
            for t in range(end):
                so_far += np.int64(column[parts[t]])
                of_column[t + np.uint64(1)] = so_far
                of_all[t + np.uint64(1)] += so_far


def walk_against(counts, groups, margins):
    """The walk against groups of columns: int64 (n_groups, n_used + 1).

    Parameters
    ----------
    counts : ndarray of shape (n_columns + 1, n_used + 1)
        Counts of one feature from :func:`running_counts`.
    groups : ndarray of shape (n_columns,)
        The group of each column.
    margins : ndarray of shape (n_groups,)
        The share of each group, as integers relative to their sum; zeros for the shares of the table.
    """
    walk = np.zeros((len(margins), counts.shape[1]), dtype=np.int64)
    fill = _walk_in_numpy if _WALK.covers(4 * counts.size) else _walk
    fill(counts, groups, margins, walk)
    return walk


def _walk_in_numpy(counts, groups, margins, walk):
    """The walk against groups of columns."""
    in_group = np.array([counts[:-1][groups == j].sum(axis=0) for j in range(len(margins))])
    margins, unit = (margins, margins.sum()) if margins.any() else (in_group[:, -1], counts[-1, -1])
    walk[:] = unit * in_group - np.outer(margins, counts[-1])


@jit
def _walk(counts, groups, margins, walk):
    n_columns, n_steps = len(groups), counts.shape[1]
    for j in range(n_columns):
        for t in range(n_steps):
            walk[groups[j], t] += counts[j, t]
    unit, of_table = margins.sum(), margins.sum() == 0
    for j in range(len(margins)):
        margin = walk[j, -1] if of_table else margins[j]
        scale = counts[n_columns, -1] if of_table else unit
        for t in range(n_steps):
            walk[j, t] = scale * walk[j, t] - counts[n_columns, t] * margin


def longest(walk, k_max):
    """Lengths of the longest paths of 2 to k_max pieces: int64 (k_max - 1,)."""
    if k_max == 2 and _LONGEST.covers(8 * walk.size):
        return (np.abs(walk) + np.abs(walk[:, -1:] - walk)).sum(axis=0).max(keepdims=True)
    best = np.zeros((k_max, walk.shape[1]), dtype=np.int64)
    lengths = np.empty(k_max - 1, dtype=np.int64)
    _fill_longest(walk, best, np.empty(walk.shape[1], dtype=np.int64), lengths)
    return lengths


@jit
def _fill_longest(walk, best, piece, lengths):
    """Fill in `lengths` by dynamic programming over the last piece; `best`, of zeros, and `piece` are buffers.

    ``best[k, t]`` is the longest path of k pieces that ends at t:
    ``best_k(t) = max over s < t of best_{k-1}(s) + |D(t) - D(s)|``. A path may have fewer pieces, as cutting one in two
    never makes it shorter. The innermost loops run over contiguous memory, for three k at once, so that each piece is
    read once. Their indices are unsigned, because numba adds a check to indices that may be negative.
    """
    zero, one, two, three = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)
    n_columns, end, ks = np.uint64(len(walk)), np.uint64(walk.shape[1] - 1), np.uint64(len(best))
    for j in range(n_columns):
        for t in range(end):
            best[one, t] += abs(walk[j, t])

    for t in range(one, end if ks > two else one):
        here = walk[zero, t]
        for s in range(t):
            piece[s] = abs(here - walk[zero, s])
        for j in range(one, n_columns):
            here = walk[j, t]
            for s in range(t):
                piece[s] += abs(here - walk[j, s])
        k = two
        while k + two < ks:
            first = second = third = best[one, t]
            for s in range(t):
                first = max(first, best[k - one, s] + piece[s])
                second = max(second, best[k, s] + piece[s])
                third = max(third, best[k + one, s] + piece[s])
            best[k, t], best[k + one, t], best[k + two, t] = first, second, third
            k += three
        while k < ks:
            first = best[one, t]
            for s in range(t):
                first = max(first, best[k - one, s] + piece[s])
            best[k, t] = first
            k += one

    for t in range(end):  # the last piece leads to the end of the walk
        piece[t] = 0
        for j in range(n_columns):
            piece[t] += abs(walk[j, end] - walk[j, t])
    for k in range(one, ks):
        longest = np.int64(0)
        for t in range(end):
            longest = max(longest, best[k, t] + piece[t])
        lengths[k - one] = longest


def longest_on_lines(counts, n_used, bisections, margins, k_max, least=None):
    """The longest paths of several features, against several sides of two groups each.

    Parameters
    ----------
    counts, n_used : ndarrays
        From :func:`running_counts`.
    bisections : ndarray of shape (n_sides, n_columns)
        The group of each column, 0 or 1.
    margins : ndarray of shape (n_sides, 2)
        The share of group 1 as numerator and denominator; two zeros for the share of the table.
    k_max : int
    least : int64 ndarray of shape (n_sides,), default=None
        Half of the gain in length that two more pieces must bring to be useful; longer paths that gain less may be
        missed. By default, no path is missed.

    Returns
    -------
    int64 ndarray of shape (n_features, n_sides, k_max + 1)
        The lengths for 2 to k_max pieces; the last two entries of each row are undefined.
    """
    lengths = np.zeros((len(counts), len(bisections), k_max + 1), dtype=np.int64)
    if _LINES.covers(8 * len(bisections) * k_max * counts.size // (bisections.shape[1] + 1)):
        _lines_in_numpy(counts, n_used, bisections, margins, k_max, lengths)
        return lengths
    longest_line = int(n_used.max(initial=0)) + 2  # and room after its end
    line, best = np.empty(longest_line, dtype=np.int64), np.empty(longest_line, dtype=np.int64)
    least = np.zeros(len(bisections), dtype=np.int64) if least is None else least
    _fill_longest_on_lines(counts, n_used, bisections, margins, k_max, least, line, best, lengths)
    return lengths


def _lines_in_numpy(counts, n_used, bisections, margins, k_max, lengths):
    """The longest paths of 2 ... k_max pieces along each line, through all of its points.

    The distance of two points of a line is the larger one of two differences. So
    ``best_k(t) = max(max over s (best_{k-1}(s) - D(s)) + D(t), max over s (best_{k-1}(s) + D(s)) - D(t))``.
    """
    for f, n_steps in enumerate(n_used + 1):
        of_columns = counts[f, : (bisections.shape[1] + 1) * n_steps].reshape(-1, n_steps)
        in_group, of_all = bisections @ of_columns[:-1], of_columns[-1]
        known = margins[:, 1:] > 0
        margin, unit = np.where(known, margins, np.c_[in_group[:, -1], np.full(len(margins), of_all[-1])]).T
        line = 2 * (unit[:, np.newaxis] * in_group - np.outer(margin, of_all))
        best = np.abs(line)
        for k in range(k_max - 1):
            rise = np.maximum.accumulate(best - line, axis=1) + line
            fall = np.maximum.accumulate(best + line, axis=1) - line
            best = np.maximum(rise, fall)
            lengths[f, :, k] = best[:, -1]


@jit
def _fill_longest_on_lines(counts, n_used, bisections, margins, k_max, least, line, best, lengths):
    """Fill in `lengths`, of zeros; `line` and `best` are buffers.

    With two groups, D_1 = -D_0, so the walk is on a line. Only its turning points matter, peaks and valleys in turn: a
    path through another point is not shorter if it goes through a neighbouring peak or valley instead. For the same
    reason, a path alternates between peaks and valleys, except at its ends. So each k needs one pass, which keeps the
    best start of a rise and of a fall: ``low``, the largest best_{k-1}(s) - D(s) of the valleys so far, and ``high``,
    the largest best_{k-1}(s) + D(s) of the peaks. Three k share a pass without branches, which keeps only `best` in
    memory.
    """
    n_columns = bisections.shape[1]
    one, two = np.uint64(1), np.uint64(2)
    for f in range(len(counts)):
        n_steps = n_used[f] + 1
        of_all = counts[f, n_columns * n_steps :]
        for i in range(len(bisections)):
            for t in range(n_steps):
                line[t] = 0
            for j in range(n_columns):
                if bisections[i, j] == 1:
                    of_column = counts[f, j * n_steps :]
                    for t in range(n_steps):
                        line[t] += of_column[t]
            margin, scale = margins[i, 0], margins[i, 1]
            if scale == 0:
                margin, scale = line[n_steps - 1], of_all[n_steps - 1]
            for t in range(n_steps):
                line[t] = 2 * (scale * line[t] - margin * of_all[t])
            end = _keep_turning_points(line, n_steps)
            for _ in range(2 if least[i] > 0 else 0):  # each pass leaves a third of the close pairs
                end = _drop_close_pairs(line, end, least[i])
            upside = np.int64(1) if line[1] >= line[0] else np.int64(-1)
            for t in range(end + one):
                line[t] *= upside  # makes the first turning point a peak
                best[t] = abs(line[t])
            last, longest = line[end], np.int64(0)
            for k in range(0, k_max - 1, 3):
                low = low_2 = low_3 = high = high_2 = high_3 = np.int64(0)
                for t in range(one, end, two):
                    peak, before = line[t], best[t]
                    first, second, third = low + peak, low_2 + peak, low_3 + peak
                    high, high_2 = max(high, before + peak), max(high_2, first + peak)
                    high_3, best[t] = max(high_3, second + peak), third
                    valley, before = line[t + one], best[t + one]  # or the end
                    first, second, third = high - valley, high_2 - valley, high_3 - valley
                    low, low_2 = max(low, before - valley), max(low_2, first - valley)
                    low_3, best[t + one] = max(low_3, second - valley), third
                # The last piece leads to the end of the walk; a path may have fewer pieces.
                first = max(longest, low + last, high - last)
                second = max(first, low_2 + last, high_2 - last)
                longest = max(second, low_3 + last, high_3 - last)
                lengths[f, i, k], lengths[f, i, k + 1], lengths[f, i, k + 2] = first, second, longest


@leaf
def _keep_turning_points(line, n_steps):
    """Move the ends and the turning points to the front of the line; return the new end, as an unsigned integer."""
    last, before = np.uint64(1), line[1]
    rose = before >= line[0]
    for t in range(np.uint64(2), np.uint64(n_steps)):
        here = line[t]
        rises = here >= before
        last += np.uint64(rises != rose)  # else the previous point is not a turning point
        line[last] = here
        before, rose = here, rises
    return last


@leaf
def _drop_close_pairs(line, end, least):
    """Drop pairs of turning points whose distance exceeds neither `least` nor that of either to its other neighbour.

    A path through both has two more pieces and is longer by at most twice their distance. A path through one of them is
    no longer than one through the higher peak or the lower valley next to them.
    """
    last, one, two = np.uint64(1), np.uint64(1), np.uint64(2)
    line[end + one] = line[end]  # a step of 0 after the end, the smallest
    is_kept, before, step = True, abs(line[one] - line[0]), abs(line[two] - line[one])
    for t in range(one, end):
        here, after = line[t], abs(line[t + two] - line[t + one])
        is_apart = (step > least) | (step > before) | (step >= after)  # from the next point
        line[last] = here
        last += np.uint64(is_kept & is_apart)
        is_kept, before, step = is_apart, step, after
    line[last] = line[end]
    return last
