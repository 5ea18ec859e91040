"""The longest paths along a walk, which are the best merges for MTVr (``docs/theory/mtv_r.md``).

Each grid of MTVr fixes one side, its columns, and merges neighbouring master parts of the other one. Walk along the
master parts: after some of them, with r records in all and a_j in column j, the walk is at D_j = n a_j - r c_j, where
c_j are all records of the column. A merged part that takes the walk from D to D' adds sum_j |D'_j - D_j| to
2 n**2 TV. So the best merge into k parts is the longest path of k straight pieces along the walk, in L1: OptimizeAxis
of Reshef et al. 2011, in integers. The walk ends where it began, at 0.
"""

import numpy as np

from skdpmic._utils.jit import jit, leaf

MOST_RECORDS = 2**31 - 1  # a path is at most 2 n**2 long, which has to stay below 2**63


def walk_of(table, n):
    """D after each master part that holds records: int64 (n_columns, n_used + 1); it begins and ends at 0.

    Parameters
    ----------
    table : uint32 ndarray of shape (n_columns, n_master)
    n : int
        Sum of the table.
    """
    n_columns, n_master = table.shape
    walk = np.zeros(n_columns * (n_master + 1), dtype=np.int64)
    n_used = _walk(table, n, np.zeros(n_master, dtype=np.int64), walk)
    return walk[: n_columns * (n_used + 1)].reshape(n_columns, -1)


@jit
def _walk(table, n, in_part, walk):
    """Fill in the rows of `walk`, one after the other, and return how many master parts hold records.

    `in_part` is room, of zeros.
    """
    n_columns, n_master = table.shape
    for j in range(n_columns):
        for t in range(n_master):
            in_part[t] += table[j, t]
    n_used = 0
    for t in range(n_master):
        n_used += in_part[t] > 0

    for j in range(n_columns):
        row = np.uint64(j * (n_used + 1))
        in_column = np.int64(0)
        for t in range(n_master):
            in_column += table[j, t]
        at, used, end = np.int64(0), np.uint64(1), np.uint64(n_used)
        for t in range(n_master):
            at += n * np.int64(table[j, t]) - in_part[t] * in_column
            walk[row + min(used, end)] = at  # to be overwritten if the part holds no records; quicker than a branch
            used += np.uint64(in_part[t] > 0)
    return n_used


def joined(walk, groups, n_groups):
    """The walk against groups of columns."""
    sums = np.zeros((n_groups, walk.shape[1]), dtype=np.int64)
    _join(walk, groups, sums)
    return sums


@jit
def _join(walk, groups, sums):
    for j in range(len(walk)):
        for t in range(walk.shape[1]):
            sums[groups[j], t] += walk[j, t]


def longest(walk, k_max):
    """Lengths of the longest paths of 2 ... k_max pieces: int64 (k_max - 1,)."""
    best = np.zeros((k_max, walk.shape[1]), dtype=np.int64)
    lengths = np.empty(k_max - 1, dtype=np.int64)
    _fill_longest(walk, best, np.empty(walk.shape[1], dtype=np.int64), lengths)
    return lengths


@jit
def _fill_longest(walk, best, piece, lengths):
    """Fill in `lengths`, by dynamic programming over the last piece; `best`, of zeros, and `piece` are room.

    ``best[k, t]`` is for k pieces, the last of which ends at t:
    ``best_k(t) = max over s < t of best_{k-1}(s) + |D(t) - D(s)|``. A path may have fewer pieces, as cutting one in two
    never makes it shorter. Innermost loops run over contiguous memory, for three k at once, which reads each piece
    once; their indices are unsigned, because numba has to look twice at one that may be negative.
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

    for k in range(one, ks):
        longest = np.int64(0)
        for t in range(end):
            longest = max(longest, best[k, t] + best[one, t])  # the last piece leads back to 0
        lengths[k - one] = longest


def longest_on_lines(walk, bisections, k_max):
    """The same against several sides of two groups each: int64 (n_sides, k_max + 1), of which two may mean nothing."""
    line, best = np.empty(walk.shape[1], dtype=np.int64), np.empty(walk.shape[1], dtype=np.int64)
    lengths = np.zeros((len(bisections), k_max + 1), dtype=np.int64)
    _fill_longest_on_lines(walk, bisections, k_max, line, best, lengths)
    return lengths


@jit
def _fill_longest_on_lines(walk, bisections, k_max, line, best, lengths):
    """Fill in `lengths`, of zeros; `line` and `best` are room.

    There D_1 = -D_0, so the walk is on a line, and only its turning points are needed, peaks and valleys in turn: a
    path through another point is not shorter when it goes to the highest or the lowest one instead. For the same reason
    a path goes from valleys to peaks and from peaks to valleys, but for its ends. So one pass is enough for each k,
    which keeps the best start of a rise and of a fall: ``low``, the largest best_{k-1}(s) - D(s) of the valleys so far,
    and ``high``, the largest best_{k-1}(s) + D(s) of the peaks. Three k share a pass, in which nothing but `best` is
    read from memory and nothing branches.
    """
    n_columns, n_steps = walk.shape
    one, two = np.uint64(1), np.uint64(2)
    for i in range(len(bisections)):
        for t in range(n_steps):
            line[t] = 0
        for j in range(n_columns):
            if bisections[i, j] == 1:
                for t in range(n_steps):
                    line[t] += 2 * walk[j, t]
        end = _keep_turning_points(line)
        upside = np.int64(1) if line[1] >= line[0] else np.int64(-1)
        for t in range(end + one):
            line[t] *= upside  # so that the first turning point is a peak
            best[t] = abs(line[t])
        longest = np.int64(0)
        for k in range(0, k_max - 1, 3):
            low = low_2 = low_3 = high = high_2 = high_3 = np.int64(0)
            for t in range(one, end, two):
                peak, before = line[t], best[t]
                first, second, third = low + peak, low_2 + peak, low_3 + peak
                high, high_2, high_3 = max(high, before + peak), max(high_2, first + peak), max(high_3, second + peak)
                best[t] = third
                valley, before = line[t + one], best[t + one]  # or the end
                first, second, third = high - valley, high_2 - valley, high_3 - valley
                low, low_2, low_3 = max(low, before - valley), max(low_2, first - valley), max(low_3, second - valley)
                best[t + one] = third
            first = max(longest, low, high)  # the last piece leads back to 0; fewer pieces will do as well
            second = max(first, low_2, high_2)
            longest = max(second, low_3, high_3)
            lengths[i, k], lengths[i, k + 1], lengths[i, k + 2] = first, second, longest


@leaf
def _keep_turning_points(line):
    """Move the ends and the points where the line turns to its front; where its end is then, as an unsigned number."""
    last, one = np.uint64(1), np.uint64(1)
    rises = line[1] >= line[0]
    for t in range(np.uint64(2), np.uint64(len(line))):
        goes_on = (line[t] >= line[t - one]) == rises
        last += np.uint64(not goes_on)  # else the point before was on the way
        rises = rises == goes_on
        line[last] = line[t]
    return last
