"""Tables of counts of several columns of codes."""

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skdpmic._utils.progress import SILENT

_SHORT = 50_000  # records: below, passing the interpreter's lock to a thread takes longer than counting


def counts_of_sets(columns, sizes, sets, n_jobs=None, progress=SILENT):
    """The number of records with each combination of codes, for each set of columns.

    Parameters
    ----------
    columns : list of n_columns int64 ndarrays of shape (n_samples,)
        Codes 0 ... size - 1 of each column.
    sizes : list of n_columns int
        Number of possible codes of each column.
    sets : list of tuple of int
    n_jobs : int, default=None
    progress : Progress, default=SILENT

    Returns
    -------
    list of int64 ndarrays
        One table per set, with one axis per column.
    """
    if effective_n_jobs(n_jobs) == 1 or len(columns[0]) < _SHORT:
        tables = (_counts(columns, sizes, each) for each in sets)
    else:
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as=progress.return_as)
        tables = parallel(delayed(_counts)(columns, sizes, each) for each in sets)
    return list(progress.track(tables, len(sets), f"tables of {len(sets[0])} columns" if sets else "tables"))


def _counts(columns, sizes, columns_of_table):
    shape = tuple(sizes[column] for column in columns_of_table)
    cells = np.ravel_multi_index([columns[column] for column in columns_of_table], shape)
    return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)
