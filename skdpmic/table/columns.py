"""A function applied to many features, in blocks and on several cores."""

from functools import partial
from itertools import pairwise

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skdpmic._utils.progress import SILENT

_COPIED_AT_ONCE = 16  # two cache lines of a record
_COPIED_VALUES = 2**20  # of a long table, one column is enough to copy
_SHORT = 1500  # records: below, passing the interpreter's lock to a thread takes longer than scoring a feature


class Columns:
    """The columns of a table in memory, each made on access.

    Parameters
    ----------
    makers : list of callables
        Each returns an ndarray of shape (n_samples,).
    n_samples : int
    """

    def __init__(self, makers, n_samples):
        self._makers, self.shape = makers, (len(makers), n_samples)

    def __len__(self):
        return len(self._makers)

    def __getitem__(self, some):
        return Columns(self._makers[some], self.shape[1])

    def __iter__(self):
        return (make() for make in self._makers)


class Integers(Columns):
    """The columns of an array of integers or booleans, as floats made on access, which take up to 8 times the memory.

    Parameters
    ----------
    values : ndarray of shape (n_features, n_samples)
    """

    def __init__(self, values):
        self._values, self.shape = values, values.shape

    def __len__(self):
        return len(self._values)

    def __getitem__(self, some):
        return Integers(self._values[some])

    def __iter__(self):
        return iter(self.as_floats())

    def as_floats(self):
        """All columns: float64 ndarray of shape (n_features, n_samples)."""
        return self._values.astype(np.float64, order="C")


def map_features(function, columns, domains, n_jobs, left_out=(), progress=SILENT, of_block=None):
    """``function(column, domain)`` for each feature that is not left out.

    Parameters
    ----------
    function : callable
    columns : sequence of length n_features
        Argument of the function for each feature: its values or counts. Slices are sent to workers.
    domains : list of length n_features
        As in :class:`skdpmic.table.records.Shape`.
    n_jobs : int or None
    left_out : sequence of int, default=()
    progress : Progress, default=SILENT
    of_block : callable, default=None
        ``of_block(columns, domains)`` returns a list, the function of several columns at once, if that is faster.

    Returns
    -------
    list of length n_features, minus those left out
        In order, for any `n_jobs`.
    """
    n_features, n_workers = len(columns), effective_n_jobs(n_jobs)
    function = of_block or partial(_one_by_one, function)
    if n_workers == 1 or _are_short(columns):  # the overhead of joblib equals several features of a small table
        results = (
            result for run in _runs(n_features, left_out) for result in _each(function, columns[run], domains[run])
        )
        return list(progress.track(results, n_features - len(left_out), "columns"))
    size = -(-n_features // (n_workers * 4))
    blocks = Parallel(n_jobs=n_jobs, prefer="threads", return_as=progress.return_as)(
        delayed(_each_of_block)(function, columns[block], domains[block])
        for run in _runs(n_features, left_out)
        for block in _blocks(run, size)
    )
    blocks = progress.track(blocks, n_features - len(left_out), "columns", size=len)
    return [result for block in blocks for result in block]


def _runs(n_features, left_out):
    """The features between those left out, as slices, which need no copy."""
    ends = [-1, *sorted(left_out), n_features]
    return [slice(first + 1, last) for first, last in pairwise(ends) if first + 1 < last]


def _blocks(run, size):
    return [slice(first, min(first + size, run.stop)) for first in range(run.start, run.stop, size)]


def _are_short(columns):
    return isinstance(columns, np.ndarray | Columns) and columns.shape[1] < _SHORT


def _each_of_block(function, columns, domains):
    return list(_each(function, columns, domains))


def _each(function, columns, domains):
    first = 0
    for some in _near_memory(columns):
        yield from function(some, domains[first : first + len(some)])
        first += len(some)


def _one_by_one(function, columns, domains):
    return (function(*feature) for feature in zip(columns, domains, strict=True))


def _near_memory(columns):
    """The columns, a few at a time.

    Columns of an array are copied: in a wide table, their values are so far apart that every access is a cache miss.
    """
    n_samples = columns.shape[1] if hasattr(columns, "shape") else _COPIED_VALUES  # counts need no copy
    few = max(1, min(_COPIED_AT_ONCE, _COPIED_VALUES // max(1, n_samples)))
    for first in range(0, len(columns), few):
        some = columns[first : first + few]
        if isinstance(some, Integers):
            yield some.as_floats()
        else:
            yield np.ascontiguousarray(some) if isinstance(some, np.ndarray) else list(some)
