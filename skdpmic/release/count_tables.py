"""Tables of counts of columns, released with Gaussian noise: the material of causal graphs and additive models."""

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skdpmic._utils.progress import SILENT
from skdpmic.privacy.noise import clamped, discrete_gaussian

_SHORT = 50_000  # records: below, passing the interpreter's lock to a thread takes longer than counting


def tables_squared_sensitivity(n_tables, rows_per_group=1):
    """Squared L2 sensitivity of this many tables of counts together, for any columns: 2 m^2 per table.

    A record is in one cell of each table, and its replacement in another. The bound is attained.

    Parameters
    ----------
    n_tables : int
    rows_per_group : int, default=1
        Number of records per person, m, all of which may be replaced.

    Returns
    -------
    int
        Exact, in records.
    """
    return 2 * rows_per_group**2 * n_tables


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


def with_gaussian_noise(tables, variance, random_bytes):
    """Tables with independent discrete Gaussian noise on every count, including zeros; not clamped at 0."""
    if variance == 0 or not tables:
        return tables
    ends = np.cumsum([table.size for table in tables])
    flat = np.concatenate([table.ravel() for table in tables])
    noisy = clamped(flat + discrete_gaussian(variance, len(flat), random_bytes))
    return [part.reshape(table.shape) for part, table in zip(np.split(noisy, ends[:-1]), tables, strict=True)]
