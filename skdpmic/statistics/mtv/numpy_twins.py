"""Numpy twins of MTVr's kernels: slower, but ready at once, with the same results, bit for bit.

They are for small jobs only (:mod:`skdpmic._utils.little_work`). Their arguments are those of the kernels.
"""

import numpy as np


def add_records(counts, columns, weights, parts, n_parts):
    """Count the records of each feature, by their weights if these are not None."""
    for f, part in enumerate(parts):
        counts[f] += np.bincount(columns * np.uint32(n_parts) + part, weights, counts.shape[1]).astype(np.uint32)


def count_on_paths(tables, counts, n_used):
    """The running counts of each feature over the parts that hold any record, and how many these are."""
    for f, table in enumerate(tables):
        used = table[:, table.any(axis=0)]
        running = np.zeros((len(table) + 1, used.shape[1] + 1), dtype=np.int64)
        np.cumsum(used, axis=1, out=running[:-1, 1:])
        running[-1] = running[:-1].sum(axis=0)
        counts[f, : running.size], n_used[f] = running.ravel(), used.shape[1]


def walk_against(counts, groups, margins, walk):
    """The walk against groups of columns."""
    in_group = np.array([counts[:-1][groups == j].sum(axis=0) for j in range(len(margins))])
    margins, unit = (margins, margins.sum()) if margins.any() else (in_group[:, -1], counts[-1, -1])
    walk[:] = unit * in_group - np.outer(margins, counts[-1])


def longest_on_lines(counts, n_used, bisections, margins, k_max, lengths):
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
