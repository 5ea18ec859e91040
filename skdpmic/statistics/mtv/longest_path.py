"""The longest paths along a walk, which are the best merges for MTVr (``docs/theory/mtv_r.md``).

Each grid of MTVr fixes one side, its columns, and merges neighbouring master parts of the other side. Walk along the
master parts. If the parts so far hold r records, a_j of them in group j of the columns, the walk is at
D_j = u a_j - r m_j. Here m_j / u is the share of the group: either m_j of the u = n records of the table, or a known
share. A merged part that takes the walk from D to D' adds sum_j |D'_j - D_j| to 2 u n times the total variation. So the
best merge by cuts of a given cost is the longest path of straight pieces along the walk, in L1, whose ends cost that:
OptimizeAxis of Reshef et al. 2011, in integers. With the shares of the table, the walk ends where it began, at 0.

The numpy twin of a kernel gives the same result, bit for bit: slower, but ready at once
(:mod:`skdpmic._utils.little_work`).
"""

import numpy as np

from skdpmic._utils.jit import jit, leaf
from skdpmic._utils.little_work import Allowance

# Time allowed in numpy before each kernel is used: enough for a few dozen features. Compiling the last takes longer.
_RUN, _WALK, _LINES = Allowance(0.1), Allowance(0.03), Allowance(1.0)

MOST_RECORDS = 2**31 - 1  # a path is at most 2 u n long with u <= n; this must stay below 2**63


def running_counts(tables, edges=()):
    """Cumulative counts over the non-empty master parts, for each column and then for all columns, starting at 0.

    Parameters
    ----------
    tables : uint32 ndarray of shape (n_features, n_columns, n_master)
    edges : sequence of int, default=()
        Master parts before which a cut is cheaper.

    Returns
    -------
    counts : int64 ndarray of shape (n_features, (n_columns + 1) * (n_master + 1))
        The first ``(n_columns + 1) * (n_used + 1)`` entries of each row are counts; the rest are undefined.
    n_used : int64 ndarray of shape (n_features,)
        Number of non-empty master parts of each feature.
    points : int64 ndarray of shape (n_features, n_edges)
        Number of these before each edge.
    """
    n_features, n_columns, n_master = tables.shape
    counts = np.empty((n_features, (n_columns + 1) * (n_master + 1)), dtype=np.int64)
    n_used, points = np.zeros(n_features, dtype=np.int64), np.zeros((n_features, len(edges)), dtype=np.int64)
    edges = np.array(edges, dtype=np.int64)
    if _RUN.covers(30 * n_features, 8 * tables.size):
        _run_in_numpy(tables, edges, counts, n_used, points)
    else:
        buffers = np.empty(n_master, dtype=np.int64), np.empty(n_master, dtype=np.uint64)
        _run(tables, edges, *buffers, counts, n_used, points)
    return counts, n_used, points


def _run_in_numpy(tables, edges, counts, n_used, points):
    """The running counts of each feature over the parts that hold any record, and how many these are."""
    for f, table in enumerate(tables):
        (parts,) = table.any(axis=0).nonzero()
        running = np.zeros((len(table) + 1, len(parts) + 1), dtype=np.int64)
        np.cumsum(table[:, parts], axis=1, out=running[:-1, 1:])
        running[-1] = running[:-1].sum(axis=0)
        counts[f, : running.size], n_used[f] = running.ravel(), len(parts)
        points[f] = np.searchsorted(parts, edges)


@jit
def _run(tables, edges, in_part, parts, counts, n_used, points):
    """Fill in `counts`, row by row, `n_used` and `points`; `in_part` and `parts` are buffers."""
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
        for t in range(end):
            for i in range(len(edges)):
                points[f, i] += np.int64(parts[t] < np.uint64(edges[i]))
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
    fill = _walk_in_numpy if _WALK.covers(25 + 6 * len(margins), 4 * counts.size) else _walk
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


def longest_of_one_cut(walk, points, cuts):
    """Lengths of the longest paths with at most one cut of cost 0, 1, ..., `cuts.other`: int64.

    Parameters
    ----------
    walk : ndarray of shape (n_groups, n_steps)
    points : sequence of int
        Where the cheaper cuts are.
    cuts : Cuts
    """
    length = (np.abs(walk) + np.abs(walk[:, -1:] - walk)).sum(axis=0)
    lengths = np.full(cuts.other + 1, length[-1])
    for point, cost in zip(points, cuts.costs, strict=True):
        lengths[cost:] = np.maximum(lengths[cost:], length[point])
    lengths[-1] = length.max()
    return lengths


def longest_on_lines(counts, n_used, points, cuts, bisections, margins, most, least=None):
    """The longest paths of several features, against several sides of two groups each.

    Parameters
    ----------
    counts, n_used, points : ndarrays
        From :func:`running_counts`.
    cuts : Cuts
        What cuts cost.
    bisections : ndarray of shape (n_sides, n_columns)
        The group of each column, 0 or 1.
    margins : ndarray of shape (n_sides, 2)
        The share of group 1 as numerator and denominator; two zeros for the share of the table.
    most : int
        The largest cost of all cuts of a path.
    least : int64 ndarray of shape (n_sides,), default=None
        Half of the gain in length that two more cuts must bring to be useful; longer paths that gain less may be
        missed. By default, no path is missed.

    Returns
    -------
    int64 ndarray of shape (n_features, n_sides, most + 1)
        The lengths for cuts that cost at most 0, 1, ..., `most`.
    """
    lengths = np.zeros((len(counts), len(bisections), most + 1), dtype=np.int64)
    of_cuts = points, np.array(cuts.costs, dtype=np.int64), cuts.other
    n_calls = (16 + 8 * len(cuts.costs)) * (most + 1) * len(counts)
    if _LINES.covers(n_calls, 16 * len(bisections) * most * counts.size // (bisections.shape[1] + 1)):
        _lines_in_numpy(counts, n_used, *of_cuts, bisections, margins, lengths)
        return lengths
    of_line = np.empty((3, int(n_used.max(initial=0)) + 2), dtype=np.int64)  # and room after the end of a line
    of_costs = np.empty((2, most + 1), dtype=np.int64)
    least = np.zeros(len(bisections), dtype=np.int64) if least is None else least
    _fill_longest_on_lines(counts, n_used, *of_cuts, bisections, margins, least, *of_line, *of_costs, lengths)
    return lengths


def _lines_in_numpy(counts, n_used, points, costs, other, bisections, margins, lengths):
    """The longest paths along each line, through all of its points.

    The distance of two points of a line is the larger one of two differences. ``low`` is the longest path before a
    point less its height there, and ``high`` the same plus its height, for each cost.
    """
    most = lengths.shape[2] - 1
    for f, n_steps in enumerate(n_used + 1):
        of_columns = counts[f, : (bisections.shape[1] + 1) * n_steps].reshape(-1, n_steps)
        in_group, of_all = bisections @ of_columns[:-1], of_columns[-1]
        known = margins[:, 1:] > 0
        margin, unit = np.where(known, margins, np.c_[in_group[:, -1], np.full(len(margins), of_all[-1])]).T
        line = 2 * (unit[:, np.newaxis] * in_group - np.outer(margin, of_all))
        low, high = np.zeros((2, most + 1, *line.shape), dtype=np.int64)
        for cost in range(most + 1):
            if cost >= other:
                high[cost] = np.maximum(low[cost - other] + 2 * line, 0)
                low[cost] = np.maximum(high[cost - other] - 2 * line, 0)
            for point, less in zip(points[f], costs, strict=True):
                if cost >= less:
                    here = (
                        low[cost - less, :, point] + 2 * line[:, point],
                        high[cost - less, :, point] - 2 * line[:, point],
                    )
                    high[cost, :, point] = np.maximum(high[cost, :, point], here[0])
                    low[cost, :, point] = np.maximum(low[cost, :, point], here[1])
            np.maximum.accumulate(low[cost], axis=1, out=low[cost])
            np.maximum.accumulate(high[cost], axis=1, out=high[cost])
            lengths[f, :, cost] = np.maximum(low[cost, :, -1] + line[:, -1], high[cost, :, -1] - line[:, -1])


@jit
def _fill_longest_on_lines(
    counts, n_used, points, costs, other, bisections, margins, least, line, turns, places, low, high, lengths
):
    """Fill in `lengths`; the arrays from `line` to `high` are buffers.

    With two groups, D_1 = -D_0, so the walk is on a line. Of the points where a cut has the full cost, only turning
    points matter, peaks and valleys in turn: a path through another one is not shorter if it goes through a
    neighbouring peak or valley instead, or through neither. Each is passed once: ``low`` is the longest path so far
    less the height of the line at its last cut, ``high`` the same plus that height, for each cost of its cuts; so a
    rise to a peak adds its height to ``low``, and a fall from there begins at that plus the height once more.
    """
    n_columns, most, one = bisections.shape[1], lengths.shape[2] - 1, np.uint64(1)
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
            end = _keep_turning_points(line, n_steps, turns, places)
            for _ in range(2 if least[i] > 0 else 0):  # each pass leaves a third of the close pairs
                end = _drop_close_pairs(turns, places, end, least[i])
            low[:], high[:] = 0, 0
            is_peak, passed = turns[1] >= turns[0], 0
            for t in range(one, end + one):
                while passed < len(costs) and points[f, passed] <= places[t]:
                    height = line[points[f, passed]]
                    _pass(high, low, 2 * height, costs[passed])
                    _pass(low, high, -2 * height, costs[passed])
                    passed += 1
                if t < end and is_peak:
                    _pass(high, low, 2 * turns[t], other)
                elif t < end:
                    _pass(low, high, -2 * turns[t], other)
                is_peak = not is_peak
            last, of_side = turns[end], lengths[f, i]
            for cost in range(most + 1):
                of_side[cost] = max(low[cost] + last, high[cost] - last)


@leaf
def _pass(after, before, twice, cost):
    """A piece that leads here in one direction, and a cut of this cost, after which the next leads in the other."""
    from_here = after[cost:]
    for i in range(len(from_here)):
        from_here[i] = max(from_here[i], before[i] + twice)


@leaf
def _keep_turning_points(line, n_steps, turns, places):
    """Write the ends and turning points of the line, and where they are; return the last, as an unsigned integer."""
    last, before = np.uint64(1), line[1]
    turns[0], turns[1], places[0], places[1] = line[0], before, 0, 1
    rose = before >= line[0]
    for t in range(np.uint64(2), np.uint64(n_steps)):
        here = line[t]
        rises = here >= before
        last += np.uint64(rises != rose)  # else the previous point is not a turning point
        turns[last], places[last] = here, t
        before, rose = here, rises
    return last


@leaf
def _drop_close_pairs(turns, places, end, least):
    """Drop pairs of turning points whose distance exceeds neither `least` nor that of either to its other neighbour.

    A path through both has two more pieces and is longer by at most twice their distance. A path through one of them is
    no longer than one through the higher peak or the lower valley next to them, unless it has a cheaper cut in between:
    then that is as close, and takes the place of the other one of the two.
    """
    last, one, two = np.uint64(1), np.uint64(1), np.uint64(2)
    turns[end + one] = turns[end]  # a step of 0 after the end, the smallest
    is_kept, before, step = True, abs(turns[one] - turns[0]), abs(turns[two] - turns[one])
    for t in range(one, end):
        here, place, after = turns[t], places[t], abs(turns[t + two] - turns[t + one])
        is_apart = (step > least) | (step > before) | (step >= after)  # from the next point
        turns[last], places[last] = here, place
        last += np.uint64(is_kept & is_apart)
        is_kept, before, step = is_apart, step, after
    turns[last], places[last] = turns[end], places[end]
    return last
