"""The largest entry of the characteristic matrix of a table of weights instead of records."""

import numpy as np

from skdpmic.statistics.mic.optimize_axis import entropy_table, grids_of, largest_entry, one_table

_TOTAL = 2**16  # weights are converted to integers with this total, for OptimizeAxis


def mic_of_table(weights, B):
    """Largest I / log2 min(k, l) over the grids coarser than a table, with one side merged freely, the other evenly.

    Parameters
    ----------
    weights : ndarray of shape (n_rows, n_columns)
        Nonnegative, with a sum above 0. Only their proportions matter.
    B : float, at least 4
        Maximum grid size: k * l <= B.

    Returns
    -------
    float
        In [0, 1].
    """
    counts = _as_counts(weights)
    return max(_largest_entry(counts, _even_grids(counts, B)), _largest_entry(counts.T, _even_grids(counts.T, B)))


def mic_of_class_table(weights, B):
    """MIC of a table against classes, which are its columns and are not merged: only rows are merged.

    For three classes, also each against the other two, as in :func:`skdpmic.statistics.mic.mic_r.discrete_plan`.

    Parameters
    ----------
    weights : ndarray of shape (n_rows, n_classes)
    B : float, at least 4

    Returns
    -------
    float
        In [0, 1].
    """
    counts = _as_counts(weights)
    tables = [counts]
    if counts.shape[1] == 3:
        tables.extend(np.c_[counts[:, j], np.delete(counts, j, axis=1).sum(axis=1)] for j in range(3))
    k_max = max(int(B // counts.shape[1]), 2)
    return max(_largest_entry(table, [(table.shape[1], k_max)]) for table in tables)


def _as_counts(weights):
    return np.rint(weights * (_TOTAL / weights.sum())).astype(np.int64)


def _even_grids(counts, B):
    """For each grid, the number of parts into which columns are joined, and the maximum into which rows are merged."""
    return [(n_fixed, min(n_fixed, int(B // n_fixed))) for n_fixed in range(2, min(counts.shape[1], int(B // 2)) + 1)]


def _largest_entry(counts, sizes):
    """The largest entry with the columns joined into `n_fixed` parts, as even as possible."""
    if not sizes:
        return 0.0
    n_rows, n_columns = counts.shape
    n_fixed = np.array([n_fixed for n_fixed, _ in sizes])
    grids = grids_of(np.array([(n_fixed, n_rows, k_max) for n_fixed, k_max in sizes]), borders=np.arange(len(sizes)))
    below = np.zeros((n_rows + 1, n_columns + 1), dtype=np.uint32)
    below[1:, 1:] = counts.cumsum(axis=0).cumsum(axis=1)
    tables = one_table(below, np.arange(n_columns + 1) * n_columns // n_fixed[:, np.newaxis])
    table = entropy_table(_TOTAL + counts.size)
    return min(largest_entry([(tables, grids.rows)], grids.most, table, int(below[-1, -1])), 1.0)
