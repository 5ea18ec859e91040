"""Counts of labels and cells, and the parts that tables distinguish, chosen from noisy counts of each column."""

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skdpmic._utils.progress import SILENT

N_CELLS = 64  # of equal width, in the public range of a number
MOST_PARTS = 6  # of a number, besides missing values
MOST_VALUES = 8  # distinct values of a number, each of which becomes a part
_CLEAR, _FEW = 3.0, 5.0  # smallest part: this many standard deviations of its noise, and this many records


def parts_of_columns(counts, noise_scale, numbers):
    """The part of each label or cell, for each column, some of which are numeric: a list of int64 ndarrays."""
    return [
        parts_of_cells(of_column, noise_scale) if j in numbers else parts_of_labels(of_column, noise_scale)
        for j, of_column in enumerate(counts)
    ]


def parts_of_labels(counts, noise_scale):
    """The part of each label: labels without evidence of records share the part of the most frequent label.

    Parameters
    ----------
    counts : ndarray of shape (n_labels,)
        Noisy counts.
    noise_scale : float

    Returns
    -------
    int64 ndarray of shape (n_labels,)
        Numbers of parts, 0, 1, ..., each with at least one label.
    """
    most = int(np.argmax(counts))
    counts_alone = counts >= max(_FEW, _CLEAR * noise_scale)
    counts_alone[most] = True
    parts = np.cumsum(counts_alone) - 1
    return np.where(counts_alone, parts, parts[most])


def parts_of_cells(counts, noise_scale):
    """The part of each cell of a number, and of missing values, which come last: parts of nearly equal size.

    There are as many parts as the noise allows, at most ``MOST_PARTS``; or, for a number that evidently has few
    values, one part per value. Missing values without records are in the largest part.

    Parameters
    ----------
    counts : ndarray of shape (N_CELLS + 1,)
        Noisy counts.
    noise_scale : float

    Returns
    -------
    int64 ndarray of shape (N_CELLS + 1,)
        As in :func:`parts_of_labels`.
    """
    clear = counts >= max(_FEW, _CLEAR * noise_scale)
    if clear[:-1].sum() <= MOST_VALUES and counts[~clear].sum() <= _FEW + _CLEAR * noise_scale * np.sqrt(N_CELLS):
        return parts_of_labels(counts, noise_scale)
    within = np.maximum(counts[:-1], 0.0)
    least = max(_FEW, _CLEAR * noise_scale * np.sqrt(N_CELLS))
    n_parts = int(np.clip(within.sum() // least, 1, MOST_PARTS))
    parts = _cut(within, within.sum() / n_parts)
    if clear[-1]:
        return np.append(parts, parts.max() + 1)
    return np.append(parts, np.argmax(np.bincount(parts, weights=within)))


def _cut(counts, wanted):
    """The part of each cell, from the first on: a part ends where its size is nearest to the requested one.

    The last part needs only half as many.
    """
    parts, in_part = [0], counts[0]
    for count in counts[1:]:
        ends = in_part + count / 2 > wanted and in_part >= wanted / 2
        parts.append(parts[-1] + ends)
        in_part = count if ends else in_part + count
    parts = np.array(parts)
    return np.minimum(parts, max(parts[-1] - 1, 0)) if in_part < wanted / 2 else parts


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
