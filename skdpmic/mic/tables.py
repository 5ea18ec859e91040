"""The largest entry of the characteristic matrix of a table of weights, instead of records."""

import numpy as np

from skdpmic.mic.jit import jit
from skdpmic.mic.optimize_axis import entropy_table, largest_entry

_TOTAL = 2**16  # weights become integers of this total, for OptimizeAxis


def mic_of_table(weights, B):
    """Largest I / log2 min(k, l) over the grids coarser than a table, either side merged freely, the other evenly.

    Parameters
    ----------
    weights : ndarray of shape (n_rows, n_columns)
        Not negative, with a sum above 0. Only their proportions count.
    B : float, at least 4
        Maximum grid size: k * l <= B.

    Returns
    -------
    float
        In [0, 1].
    """
    counts = _as_counts(weights)
    table = entropy_table(_TOTAL + counts.size)
    return max(_largest_even(counts, B, table), _largest_even(np.ascontiguousarray(counts.T), B, table))


def mic_of_class_table(weights, B):
    """The same against classes, which are the columns and stay as they are: only rows are merged.

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
    n_classes = counts.shape[1]
    table = entropy_table(_TOTAL + counts.size)
    return _entry(_below(counts), n_classes, max(int(B // n_classes), 2), table)


def _as_counts(weights):
    return np.rint(weights * (_TOTAL / weights.sum())).astype(np.int64)


@jit
def _largest_even(counts, B, table):
    below = _below(counts)
    largest = 0.0
    for n_fixed in range(2, min(counts.shape[1], int(B // 2)) + 1):
        k_max = min(n_fixed, int(B // n_fixed))
        largest = max(largest, _entry(below, n_fixed, k_max, table))
    return largest


@jit
def _below(counts):
    """``below[u, t]`` adds up the first u columns of the first t rows."""
    n_rows, n_columns = counts.shape
    below = np.zeros((n_columns + 1, n_rows + 1), dtype=np.uint32)
    for u in range(n_columns):
        in_column = np.uint32(0)
        for t in range(n_rows):
            in_column += np.uint32(counts[t, u])
            below[u + 1, t + 1] = below[u, t + 1] + in_column
    return below


@jit
def _entry(below, n_fixed, k_max, table):
    """The largest entry with the columns joined into `n_fixed` parts, as even as whole columns allow."""
    n_columns = len(below) - 1
    borders = np.empty(n_fixed + 1, dtype=np.uint64)
    for j in range(n_fixed + 1):
        borders[j] = j * n_columns // n_fixed
    return largest_entry(below, borders, n_fixed, k_max, table)
