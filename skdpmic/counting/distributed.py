"""Counting where the records lie: on dask's workers, or by plain functions that any engine can map and reduce.

Only sketches travel. The functions change none of their arguments: a task may run twice, as it does when a worker is
lost, and no record is counted twice.
"""

import numbers
from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

from skdpmic._utils.errors import read_by_engine
from skdpmic._utils.readable import is_dask_collection
from skdpmic.counting.sketch import RangeGridSketch

_MERGED_AT_ONCE = 8


def merge_all(sketches: Iterable[RangeGridSketch]) -> RangeGridSketch:
    """Merge sketches into one of all their records: the reduce step, for any number of sketches at a time.

    Parameters
    ----------
    sketches : iterable of RangeGridSketch
        They are not changed.

    Returns
    -------
    RangeGridSketch
    """
    return reduce(RangeGridSketch.merge, sketches)


def count_collection(empty, X, y, sample_weight=None):
    """The sketch of a dask array or dataframe: one sketch a partition, and a tree of merges, all on the workers.

    Parameters
    ----------
    empty : RangeGridSketch
    X : dask array or dataframe of shape (n_samples, n_features)
    y : dask array, dataframe of one column, or series, of shape (n_samples,)
        In partitions of the same rows as X.
    sample_weight : like y, default=None

    Returns
    -------
    RangeGridSketch
    """
    columns = {"y": y} | ({} if sample_weight is None else {"sample_weight": sample_weight})
    return _merged_where_they_are(empty, _count_rows, zip(*_partitions(X, columns), strict=True))


def _count_rows(empty, X, y, sample_weight=None):
    return _unless_refused(empty.empty().update, X, y, sample_weight=sample_weight)


class _Refusal(NamedTuple):
    """What a worker gives in place of a sketch of rows that are refused, in our own words, which quote no value."""

    kind: type
    message: str


def _unless_refused(count, *arguments, **options):
    try:
        return count(*arguments, **options)
    except (TypeError, ValueError) as error:
        return _Refusal(TypeError if isinstance(error, TypeError) else ValueError, str(error))


def _merge(sketches):
    refusals = [sketch for sketch in sketches if isinstance(sketch, _Refusal)]
    return refusals[0] if refusals else merge_all(sketches)


def _merged_where_they_are(empty, count, tasks):
    """The sketch of all records, by one for each task and a tree of merges on the workers."""
    import dask

    here, count, merge = dask.delayed(empty), dask.delayed(count, pure=False), dask.delayed(_merge, pure=False)
    sketches = [count(here, *arguments) for arguments in tasks]
    while len(sketches) > 1:
        sketches = [merge(sketches[i : i + _MERGED_AT_ONCE]) for i in range(0, len(sketches), _MERGED_AT_ONCE)]
    (sketch,) = read_by_engine("X or y", dask.compute, sketches[0])
    if isinstance(sketch, _Refusal):
        raise sketch.kind(sketch.message)
    return sketch


def _partitions(X, columns):
    """Tasks that give the rows of X, and of each of the columns, by their names, partition by partition."""
    aligned = [_aligned(X, column, name) for name, column in columns.items()]
    partitions = [_tasks(_with_whole_rows(X)), *map(_tasks, aligned)]
    for name, of_column in zip(columns, partitions[1:], strict=True):
        if len(of_column) != len(partitions[0]):
            raise ValueError(
                f"X and {name} must have the same partitions, got {len(partitions[0])} and {len(of_column)}."
            )
    return partitions


def _aligned(X, column, name):
    """A column, in chunks of the same rows as X if both know them; otherwise the workers compare their lengths."""
    if column is None:
        raise ValueError(f"{name} must be passed: the target {name} is None.")
    if not is_dask_collection(column):
        raise TypeError(f"{name} must be a dask collection where X is one, got {type(column).__name__}.")
    lengths = [_known_length(X), _known_length(column)]
    are_known = None not in lengths
    if are_known and lengths[0] != lengths[1]:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {lengths}")
    if are_known and hasattr(X, "chunks") and hasattr(column, "chunks") and X.chunks[0] != column.chunks[0]:
        return column.rechunk({0: X.chunks[0]})
    return column


def _tasks(collection):
    """A task for each partition; dask may read several small files as one, but not the same ones for X as for y."""
    if hasattr(collection, "chunks"):
        return collection.to_delayed().ravel().tolist()
    tasks = collection.to_delayed()
    return tasks if len(tasks) == collection.npartitions else collection.to_delayed(optimize_graph=False)


def n_rows(X):
    """How many rows a dask collection has; counted by the workers where it does not know."""
    known = _known_length(X)
    if known is not None:
        return known
    import dask

    lengths = [dask.delayed(len)(rows) for rows in _tasks(_with_whole_rows(X))]
    return sum(read_by_engine("X", dask.compute, *lengths))


def _with_whole_rows(X):
    """A collection none of whose rows is spread over two partitions."""
    return X.rechunk({1: -1}) if hasattr(X, "chunks") else X


def _known_length(collection):
    """How many rows a dask array has, if it knows; None otherwise."""
    length = getattr(collection, "shape", (None,))[0]
    return int(length) if isinstance(length, numbers.Integral) else None


def feature_names(X):
    """The column names of a dask dataframe, if all are strings; None otherwise."""
    names = list(getattr(X, "columns", []))
    return names if names and all(isinstance(name, str) for name in names) else None
