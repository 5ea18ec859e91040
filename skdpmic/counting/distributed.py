"""Counting where the records are: on dask's workers, or by plain functions that any engine can map and reduce.

Only sketches are moved. The functions never change their arguments: if a task runs twice, for example after the loss of
a worker, no record is counted twice.
"""

import numbers
from collections.abc import Iterable
from functools import partial, reduce
from typing import NamedTuple

from skdpmic._utils.errors import read_by_engine
from skdpmic._utils.readable import are_text, check_names, is_dask_collection
from skdpmic.counting.chunks import count_into
from skdpmic.counting.sketch import RangeGridSketch
from skdpmic.counting.sketched import added, hold, pair_counts

_MERGED_AT_ONCE = 8


def merge_all(sketches: Iterable[RangeGridSketch]) -> RangeGridSketch:
    """Merge any number of sketches into one: the reduce step.

    Parameters
    ----------
    sketches : iterable of RangeGridSketch
        Sketches to merge; they are not changed.

    Returns
    -------
    RangeGridSketch

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic.counting import RangeGridSketch, merge_all
    >>> X = np.random.default_rng(0).uniform(size=(1000, 2))
    >>> empty = RangeGridSketch(bounds=(0, 1), target_bounds=(0, 1), B=8, n_features=2)
    >>> merge_all(empty.empty().update(rows, rows[:, 0]) for rows in np.array_split(X, 4))
    <RangeGridSketch of 1,000 records and 2 features, as sensitive as the data>
    """
    return reduce(RangeGridSketch.merge, sketches)


def count_collection(empty, X, y, sample_weight=None, *, holds):
    """The sketch of a dask array or dataframe: one sketch per partition and a tree of merges, all on the workers.

    With `holds`, these also hold the rows for joint scores, so that the collection is read once.

    Parameters
    ----------
    empty : RangeGridSketch
    X : dask array or dataframe of shape (n_samples, n_features)
    y : dask array, dataframe of one column, or series, of shape (n_samples,)
        With the same partitions as X.
    sample_weight : like y, default=None
    holds : bool

    Returns
    -------
    sketch : RangeGridSketch
    count_pairs : callable or None
        As in `SketchedRecords`.
    """
    import dask

    columns = {"y": y} | ({} if sample_weight is None else {"sample_weight": sample_weight})
    here, count = dask.delayed(empty), dask.delayed(_count_rows, pure=False, nout=2)
    counted = [count(here, holds, *rows) for rows in zip(*_partitions(X, columns), strict=True)]
    whole = _in_tree(_merge, [sketch for sketch, _ in counted])
    whole, *held = read_by_engine("X or y", dask.persist, whole, *(rows for _, rows in counted if holds))
    (sketch,) = read_by_engine("X or y", dask.compute, whole)
    if isinstance(sketch, _Refusal):
        raise sketch.kind(sketch.message)
    return sketch, partial(_count_pairs, here, held) if holds else None


def _count_pairs(empty, held, j):
    """The counts of each feature together with feature j, in rows that the workers hold."""
    import dask

    count = dask.delayed(pair_counts, pure=False)
    (counts,) = read_by_engine("X", dask.compute, _in_tree(added, [count(empty, rows, j) for rows in held]))
    return counts


def _in_tree(merge, tasks):
    """One task that merges all others, a few at a time."""
    import dask

    merge = dask.delayed(merge, pure=False)
    while len(tasks) > 1:
        tasks = [merge(tasks[i : i + _MERGED_AT_ONCE]) for i in range(0, len(tasks), _MERGED_AT_ONCE)]
    return tasks[0]


class _Refusal(NamedTuple):
    """Returned by a worker in place of a sketch of refused rows, with our own message, which quotes no values."""

    kind: type
    message: str


def _count_rows(empty, holds, X, y, sample_weight=None):
    """The sketch of some rows, and the rows themselves if they are to be held."""
    sketch = empty.empty()
    try:
        chunk = count_into(sketch, sketch, X, y, None, sample_weight=sample_weight)
    except (TypeError, ValueError) as error:
        return _Refusal(TypeError if isinstance(error, TypeError) else ValueError, str(error)), None
    return sketch, hold(sketch, *chunk) if holds else None


def _merge(sketches):
    refusals = [sketch for sketch in sketches if isinstance(sketch, _Refusal)]
    return refusals[0] if refusals else merge_all(sketches)


def _partitions(X, columns):
    """Tasks that return the rows of X and of each column, by name, partition by partition."""
    aligned = [_aligned(X, column, name) for name, column in columns.items()]
    partitions = [_tasks(_with_whole_rows(X), "X"), *map(_tasks, aligned, columns)]
    for name, of_column in zip(columns, partitions[1:], strict=True):
        if len(of_column) != len(partitions[0]):
            raise ValueError(
                f"X and {name} must have the same partitions, got {len(partitions[0])} and {len(of_column)}."
            )
    return partitions


def _aligned(X, column, name):
    """A column, rechunked like X if both chunk sizes are known; otherwise the workers compare lengths."""
    if column is None:
        raise ValueError(f"{name} must be passed: the target {name} is None.")
    if not is_dask_collection(column):
        raise TypeError(f"{name} must be a dask collection if X is one, got {type(column).__name__}.")
    lengths = [_known_length(X), _known_length(column)]
    are_known = None not in lengths
    if are_known and lengths[0] != lengths[1]:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {lengths}")
    if are_known and hasattr(X, "chunks") and hasattr(column, "chunks") and X.chunks[0] != column.chunks[0]:
        return column.rechunk({0: X.chunks[0]})
    return column


def _tasks(collection, name):
    """One task per partition; an error of dask, which may convert values here, names only the collection."""
    return read_by_engine(name, _delayed, collection)


def _delayed(collection):
    """One task per partition; dask may combine small files, but not the same ones for X and for y."""
    if hasattr(collection, "chunks"):
        return collection.to_delayed().ravel().tolist()
    tasks = collection.to_delayed()
    return tasks if len(tasks) == collection.npartitions else collection.to_delayed(optimize_graph=False)


def n_rows(X):
    """The number of rows of a dask collection, counted by the workers if unknown."""
    known = _known_length(X)
    if known is not None:
        return known
    import dask

    lengths = [dask.delayed(len)(rows) for rows in _tasks(_with_whole_rows(X), "X")]
    return sum(read_by_engine("X", dask.compute, *lengths))


def _with_whole_rows(X):
    """A collection whose rows are not split between partitions."""
    return X.rechunk({1: -1}) if hasattr(X, "chunks") else X


def _known_length(collection):
    """The number of rows of a dask array; None if unknown."""
    length = getattr(collection, "shape", (None,))[0]
    return int(length) if isinstance(length, numbers.Integral) else None


def feature_names(X):
    """The column names of a dask dataframe if they are text, or None if they number the columns."""
    check_names(X)
    names = list(getattr(X, "columns", []))
    return names if names and are_text(names) else None
