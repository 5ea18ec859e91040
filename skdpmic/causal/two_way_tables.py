"""All two-way tables of a table of codes: how many records have each two codes, for each two columns."""

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skdpmic._utils.jit import jit
from skdpmic._utils.progress import SILENT

_SHORT = 50_000  # records: threads take longer to hand the interpreter's lock over than to count them


def two_way_counts(columns, sizes, n_jobs=None, progress=SILENT):
    """Records in each cell of the tables of all pairs of columns, one table after another.

    Parameters
    ----------
    columns : list of n_columns uint32 ndarrays of shape (n_samples,)
        Codes 0 ... size - 1 of each.
    sizes : list of n_columns int
        How many codes each column may have.
    n_jobs : int, default=None
    progress : Progress, default=SILENT

    Returns
    -------
    int64 ndarray of shape (n_cells,)
        Tables in the order of ``np.triu_indices(n_columns, 1)``, each row by row, as :func:`as_tables` cuts them.
    """
    rows = range(len(columns) - 1)
    if effective_n_jobs(n_jobs) == 1 or len(columns[0]) < _SHORT:
        counts = (_of_row(columns, sizes, i) for i in rows)
    else:
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as=progress.return_as)
        counts = parallel(delayed(_of_row)(columns, sizes, i) for i in rows)
    n_pairs = len(columns) * (len(columns) - 1) // 2
    counts = progress.track(counts, n_pairs, "pairs of columns", size=len)
    return np.concatenate([table for row in counts for table in row])


def as_tables(cells, sizes):
    """The tables that lie one after another in an array: of each pair (i, j), i < j, one of shape sizes[i], sizes[j].

    Parameters
    ----------
    cells : ndarray of shape (n_cells,)
    sizes : list of n_columns int

    Returns
    -------
    dict of (int, int) to ndarray
    """
    pairs = [(i, j) for i in range(len(sizes)) for j in range(i + 1, len(sizes))]
    ends = np.cumsum([sizes[i] * sizes[j] for i, j in pairs])
    parts = np.split(cells, ends[:-1])
    return {(i, j): part.reshape(sizes[i], sizes[j]) for (i, j), part in zip(pairs, parts, strict=True)}


def _of_row(columns, sizes, i):
    return [_counted(columns[i], columns[j], sizes[i], sizes[j]) for j in range(i + 1, len(columns))]


def _counted(x, y, n_rows, n_columns):
    counts = np.zeros(n_rows * n_columns, dtype=np.int64)
    _count(x, y, n_columns, counts)
    return counts


@jit
def _count(x, y, n_columns, counts):
    """Add each record to its cell; codes were checked when the table was read."""
    for k in range(len(x)):
        counts[x[k] * n_columns + y[k]] += 1
