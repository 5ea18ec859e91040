"""One function over many features, in blocks and on several cores."""

from functools import partial
from itertools import pairwise

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skdpmic._utils.progress import SILENT

_COPIED_AT_ONCE = 16  # two cache lines of a record
_COPIED_VALUES = 2**20  # of a long table, one column is enough to copy
_SHORT = 1500  # records: a feature's score takes less time than threads to hand the interpreter's lock over for it


class Columns:
    """The columns of a table in memory, each of which is made when it is needed.

    Parameters
    ----------
    makers : list of callables
        Each gives an ndarray of shape (n_samples,).
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


def map_features(function, columns, scales, n_jobs, left_out=(), progress=SILENT, of_block=None, takes_numbers=False):
    """``function(column, scale)`` of each feature that is not left out.

    Parameters
    ----------
    function : callable
    columns : sequence of length n_features
        What the function is given of each feature: its values, or its counts. Slices of it are sent to workers.
    scales : list of length n_features
        As of :class:`skdpmic.table.shape.Shape`.
    n_jobs : int or None
    left_out : sequence of int, default=()
    progress : Progress, default=SILENT
    of_block : callable, default=None
        ``of_block(columns, scales)``, a list: the function of several columns at once, where that takes less time.
    takes_numbers : bool, default=False
        Whether the function is ``function(column, scale, number)``, of features numbered from 0.

    Returns
    -------
    list of length n_features, less those left out
        In order, whatever `n_jobs` is.
    """
    n_features, n_workers = len(columns), effective_n_jobs(n_jobs)
    if takes_numbers:
        function, scales = partial(_of_numbered, function), list(enumerate(scales))
    function = of_block or partial(_one_by_one, function)
    if n_workers == 1 or _are_short(columns):  # joblib takes as long as some features of a small table
        results = (
            result for run in _runs(n_features, left_out) for result in _each(function, columns[run], scales[run])
        )
        return list(progress.track(results, n_features - len(left_out), "columns"))
    size = -(-n_features // (n_workers * 4))
    blocks = Parallel(n_jobs=n_jobs, prefer="threads", return_as=progress.return_as)(
        delayed(_each_of_block)(function, columns[block], scales[block])
        for run in _runs(n_features, left_out)
        for block in _blocks(run, size)
    )
    blocks = progress.track(blocks, n_features - len(left_out), "columns", size=len)
    return [result for block in blocks for result in block]


def _runs(n_features, left_out):
    """The features between those that are left out: slices, as these need no copy."""
    ends = [-1, *sorted(left_out), n_features]
    return [slice(first + 1, last) for first, last in pairwise(ends) if first + 1 < last]


def _blocks(run, size):
    return [slice(first, min(first + size, run.stop)) for first in range(run.start, run.stop, size)]


def _are_short(columns):
    return isinstance(columns, np.ndarray | Columns) and columns.shape[1] < _SHORT


def _each_of_block(function, columns, scales):
    return list(_each(function, columns, scales))


def _each(function, columns, scales):
    first = 0
    for some in _near_memory(columns):
        yield from function(some, scales[first : first + len(some)])
        first += len(some)


def _of_numbered(function, column, numbered_scale):
    number, scale = numbered_scale
    return function(column, scale, number)


def _one_by_one(function, columns, scales):
    return (function(*feature) for feature in zip(columns, scales, strict=True))


def _near_memory(columns):
    """The columns, a few at a time.

    Those of an array are copied: in a wide table they lie so far apart that every value is a cache miss.
    """
    n_samples = columns.shape[1] if hasattr(columns, "shape") else _COPIED_VALUES  # or they are counts, with no need
    few = max(1, min(_COPIED_AT_ONCE, _COPIED_VALUES // max(1, n_samples)))
    for first in range(0, len(columns), few):
        some = columns[first : first + few]
        yield np.ascontiguousarray(some) if isinstance(some, np.ndarray) else list(some)
