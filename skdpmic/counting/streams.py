"""Counting a table that is never in memory as a whole, from any source of batches of rows."""

import numbers
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial, reduce
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from skdpmic._utils.readable import abbreviated, are_text, check_names, is_dask_collection
from skdpmic._utils.texts import SILENT, Progress, read_by_engine, require, require_type
from skdpmic.counting.sketch import RangeGridSketch, count_into
from skdpmic.statistics.mtv.counts import Placed
from skdpmic.statistics.mtv.statistic import pair_codes, pair_labels
from skdpmic.table.domains import Ignored, Labels, Order
from skdpmic.table.facts import FEWEST, listed
from skdpmic.table.frames import as_frame, is_frame, is_lazy, pyarrow_for
from skdpmic.table.normal_form import TEXT, ColumnSource
from skdpmic.table.records import PublicTable, Shape, map_features, refuse_dask
from skdpmic.table.values import check_weights_given

_ROWS = 2**17  # approximate batch size: adding the counts of one row takes as long as counting 30,000


def count_stream(
    empty: RangeGridSketch, stream: Any, *, target: str, sample_weight: str | None = None, n_jobs: int | None = None
) -> RangeGridSketch:
    """Count all rows of a table in batches, as streamed by an engine, without loading the whole table.

    Costs no budget, because nothing is released. **The sketch is as sensitive as the data**; `fit_sketch` of an
    estimator charges the ledger and draws the noise.

    Parameters
    ----------
    empty : RangeGridSketch
        A sketch from `empty_sketch` of an estimator, with feature names. It is not changed.
    stream : dataframe, LazyFrame, Arrow stream, dataset, or iterable of dataframes or Arrow batches
        A dataframe of any library supported by narwhals; a Polars LazyFrame; an object with ``__arrow_c_stream__``,
        such as a DuckDB relation or a RecordBatchReader; a pyarrow dataset or scanner; or an iterable of these, such as
        the batches of Spark's ``mapInArrow``. It is read once. Its columns are the features of `empty` and the target,
        in any order. Arrow streams require pyarrow.
    target : str
        Name of the target column.
    sample_weight : str, default=None
        Name of the column of survey weights; given if and only if `empty` has a `max_weight`.
    n_jobs : int, default=None
        Number of parallel jobs (see joblib).

    Returns
    -------
    RangeGridSketch
        Counts of all rows; raw data, not private.

    Raises
    ------
    ValueError, TypeError
        If the columns are not those of `empty` and `target` or do not match their description, or if the target has
        missing values. The error quotes no values; if the engine fails, it names only the type of the engine's error.
        Errors raised by an iterable itself are passed on unchanged, and may quote values.
    ImportError
        If pyarrow is required and not installed.

    See Also
    --------
    RangeGridSketch.update : Counts arrays, and dataframes without the target.
    DPMICScorer.fit_sketch, DPMICSelector.fit_sketch : Publish noisy scores, or a choice of features.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> from skdpmic import DPMICScorer
    >>> from skdpmic.counting import count_stream
    >>> rng = np.random.default_rng(0)
    >>> table = pl.DataFrame({"age": rng.uniform(0, 100, 5000), "shoe": rng.normal(42, 3, 5000)})
    >>> table = table.with_columns(income=(pl.col("age") - 50) ** 2)
    >>> scorer = DPMICScorer(epsilon=5, bounds={"age": (0, 100), "shoe": (30, 50)}, target_bounds=(0, 2500))
    >>> sketch = count_stream(scorer.empty_sketch(5000), table.lazy(), target="income")
    >>> sketch
    <RangeGridSketch of 5,000 records and 2 features, as sensitive as the data>
    >>> scorer.fit_sketch(sketch).ranking_
    array([1, 2])
    """
    others = {"target": target} | ({} if sample_weight is None else {"sample_weight": sample_weight})
    _check(empty, others)
    refuse_dask(stream)
    sketch = empty.empty()
    names = sketch.feature_names_in_.tolist()
    for frame in frames_of(stream):
        _check_columns(frame, names, others)
        y, *weights = (frame[name].to_native() for name in others.values())
        X = frame.select(names).to_native()
        count_into(sketch, sketch, X, y, n_jobs, sample_weight=weights[0] if weights else None)
    return sketch


def count_batches(sketch, reader, X, y, sample_weight, n_jobs, *, holds):
    """Count all rows of a Polars LazyFrame in one pass, with a separate target; `holds` keeps them for joint scores.

    Parameters
    ----------
    sketch : RangeGridSketch
        An empty sketch, which is filled and returned.
    reader : str
        Name of the estimator in errors.
    X : LazyFrame
    y : Column
    sample_weight : Column or None
    n_jobs : int or None
    holds : bool

    Returns
    -------
    list of HeldRows
    """
    held = []
    for batch in frames_of(X):
        rows = slice(sketch.n_samples, sketch.n_samples + len(batch))
        weights = None if sample_weight is None else sample_weight[rows]
        chunk = count_into(sketch, sketch, batch.to_native(), y[rows], n_jobs, sample_weight=weights, reader=reader)
        held += [hold(sketch, *chunk)] if holds else []
    if sketch.n_samples != y.n_samples:
        lengths = [sketch.n_samples, y.n_samples]
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {lengths}")
    return held


def _check(empty, others):
    require_type(isinstance(empty, RangeGridSketch), "empty must be a RangeGridSketch", empty)
    if not hasattr(empty, "feature_names_in_"):
        raise ValueError("empty must have feature names, which identify the columns, got none: pass feature_names.")
    check_weights_given(others.get("sample_weight"), empty.max_weight)
    names = set(empty.feature_names_in_)
    for parameter, name in others.items():
        must = f"{parameter} must be the name of a column that is no feature of the sketch, nor another parameter"
        require(isinstance(name, str) and name not in names, must, name)
        names.add(name)


def _check_columns(frame, names, others):
    wanted, given = dict.fromkeys([*names, *others.values()]), dict.fromkeys(frame.columns)
    missing = [name for name in wanted if name not in given]
    unknown = [name for name in given if name not in wanted]
    if missing or unknown:
        found = [f"none named {abbreviated(missing)}"] if missing else []
        found += [f"additional ones named {abbreviated(unknown)}"] if unknown else []
        raise ValueError(
            f"stream must have one column for each feature of the sketch and one for the {' and the '.join(others)}, "
            f"and no others, got {' and '.join(found)}."
        )


# --- Batches of rows --------------------------------------------------------------------------------------------------


def frames_of(stream):
    """narwhals dataframes of moderate size with all rows of a stream, in order."""
    for frame in _joined(map(as_frame, _batches(stream))):
        rows = -(-len(frame) // max(1, round(len(frame) / _ROWS))) or 1
        for first in range(0, len(frame), rows):
            yield frame[first : first + rows]


def _joined(frames):
    """Consecutive small dataframes, concatenated if their columns have the same types."""
    waiting = []
    for frame in frames:
        if waiting and (sum(map(len, waiting)) >= _ROWS or _types(waiting[0]) != _types(frame)):
            yield nw.concat(waiting)
            waiting = []
        waiting.append(frame)
    if waiting:
        yield nw.concat(waiting)


def _types(frame):
    """The library, and the names and native types of columns, which distinguish dictionaries with different entries."""
    attribute = "type" if frame.implementation.is_pyarrow() else "dtype"
    types = [(column.name, getattr(column.to_native(), attribute)) for column in frame.iter_columns()]
    return frame.implementation, types


def _batches(stream):
    """The batches of a stream: dataframes of any library, or Arrow tables."""
    if nw.dependencies.is_into_dataframe(stream):
        return iter([stream])
    if is_lazy(stream):
        return _quietly(_batches_of_lazy(stream))
    if is_frame(stream):
        return _quietly(_tables_of_arrow(pyarrow_for("stream").RecordBatchReader.from_stream, stream))
    if hasattr(stream, "to_batches"):
        return _quietly(_tables_of_arrow(type(stream).to_batches, stream))
    return _batches_of_each(stream)


def _batches_of_lazy(X):
    if hasattr(X, "collect_batches"):
        yield from X.collect_batches(chunk_size=_ROWS)
    else:  # older versions
        yield X.collect()


def _tables_of_arrow(read, stream):
    table_of = pyarrow_for("stream").Table.from_batches
    for batch in read(stream):
        yield table_of([batch])


def _batches_of_each(stream):
    if not hasattr(stream, "__iter__"):
        raise TypeError(f"{_refusal(stream)}.")
    for part in stream:
        if not is_frame(part):
            raise TypeError(f"{_refusal(stream)} of {type(part).__name__}.")
        yield from _batches(part)


def _refusal(stream):
    return (
        "stream must be a dataframe, a Polars LazyFrame, an object with __arrow_c_stream__, a pyarrow dataset or an "
        f"iterable of these, got {type(stream).__name__}"
    )


def _quietly(batches):
    """The batches, with errors replaced by their type only, because an engine's message may quote values."""
    end = object()
    while (batch := read_by_engine("the stream", next, batches, end)) is not end:
        yield batch


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
        As in `records_of_sketch`.
    """
    import dask

    columns = {"y": y} | ({} if sample_weight is None else {"sample_weight": sample_weight})
    here, count = dask.delayed(empty), dask.delayed(_count_rows, pure=False, nout=2)
    counted = [count(here, holds, *rows) for rows in zip(*_partitions(X, columns), strict=True)]
    whole = _in_tree(_merge, [sketch for sketch, _ in counted])
    whole, *held = read_by_engine("X or y", dask.persist, whole, *(rows for _, rows in counted if holds))
    (sketch,) = read_by_engine("X or y", dask.compute, whole)
    if isinstance(sketch, Exception):
        raise sketch
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


def _count_rows(empty, holds, X, y, sample_weight=None):
    """The sketch of some rows, and the rows themselves if they are to be held; an error of our own for refused rows."""
    sketch = empty.empty()
    try:
        chunk = count_into(sketch, sketch, X, y, None, sample_weight=sample_weight)
    except (TypeError, ValueError) as error:
        return (TypeError if isinstance(error, TypeError) else ValueError)(str(error)), None  # without its traceback
    return sketch, hold(sketch, *chunk) if holds else None


def _merge(sketches):
    return next((sketch for sketch in sketches if isinstance(sketch, Exception)), None) or merge_all(sketches)


def _partitions(X, columns):
    """Tasks that return the rows of X and of each column, by name, partition by partition."""
    partitions = [_tasks(_with_whole_rows(X), "X")]
    for name, column in columns.items():
        if column is None:
            raise ValueError(f"{name} must be passed: the target {name} is None.")
        require_type(is_dask_collection(column), f"{name} must be a dask collection if X is one", column)
        lengths = [_known_length(X), _known_length(column)]
        if None not in lengths and lengths[0] != lengths[1]:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: {lengths}")
        if None not in lengths and hasattr(X, "chunks") and hasattr(column, "chunks"):
            column = column.rechunk({0: X.chunks[0]})
        partitions.append(_tasks(column, name))
        if len(partitions[-1]) != len(partitions[0]):
            found = f"{len(partitions[0])} and {len(partitions[-1])}"
            raise ValueError(f"X and {name} must have the same partitions, got {found}.")
    return partitions


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
    if (known := _known_length(X)) is not None:
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


def records_of_sketch(sketch, count_pairs=None, kept=()):
    """The records that a sketch has counted; a ValueError if they are too few, or damaged.

    Parameters
    ----------
    sketch : RangeGridSketch
    count_pairs : callable, default=None
        ``count_pairs(j)`` returns the counts of each feature together with feature j, from rows that were held while
        they were counted. None if none were held.
    kept : tuple of int, default=()
        Indices of the features kept in any case.
    """
    if sketch.n_samples < FEWEST:
        raise ValueError(f"the sketch must have counted at least 4 records, got {sketch.n_samples}.")
    sketch._check_undamaged()
    shape, names = Shape(sketch.n_samples, sketch.domains), sketch.description.names
    seen = {"n_features_in_": shape.n_features} | ({} if names is None else {"feature_names_in_": names})
    has_rows = count_pairs is not None
    public = PublicTable(shape, sketch.n_classes, sketch.description, seen, kept, sketch.measure, has_rows)
    return SketchedRecords(public, sketch, count_pairs)


class SketchedRecords(NamedTuple):
    """The interface of `TableRecords`, computed from the counts of a sketch."""

    public: PublicTable
    sketch: RangeGridSketch
    count_pairs: Callable | None
    progress: Progress = SILENT  # of loops over all columns

    def sampled(self, progress):
        """The records to use: all of them, because each is a person."""
        return self._replace(progress=progress)

    def target_counts(self, measure):
        """Counts of the target, from those of the first feature, and the number of records; as of `TableRecords`."""
        return self.sketch._grids.of_target(self.sketch._counts_of(0)), self.sketch.n_samples, None

    def _counts(self):
        """The counts of each feature."""
        return [self.sketch._counts_of(j) for j in range(self.sketch.n_features_in_)]

    def map_features(self, function, n_jobs, left_out=(), of_block=None):
        """``function(counts, domain)`` for each feature that is not left out."""
        return map_features(function, self._counts(), self.sketch.domains, n_jobs, left_out, self.progress)

    def scores(self, measure, n_jobs, random_bytes, left_out=()):
        """Noise-free scores of shape (n_features,), without those left out."""
        scorer = measure.scorer_of_counts(self.sketch._grids, self.sketch.n_samples)
        return np.array(self.map_features(scorer.score, n_jobs, left_out))

    def scores_beside(self, j, measure, left_out, n_jobs):
        """Scores of features together with feature j, in order, without those left out."""
        domains = self.sketch.domains
        scorer = measure.scorer_of_pair_counts(measure.pair_counts(None, domains[j]), self.sketch.n_samples)
        return np.array(map_features(scorer.score, self.count_pairs(j), domains, n_jobs, left_out, self.progress))

    def tables(self, measure, n_jobs):
        """The table of each feature, from its counts, still without noise."""
        return np.array(self._counts(), dtype=np.int64).reshape(-1, *self.sketch._grids.shape)


# --- Rows held for joint scores --------------------------------------------------------------------------------------


class HeldRows(NamedTuple):
    """Rows as joint scores see them, held while a table is read once, before the charge. Raw data; not private."""

    codes: np.ndarray  # uint8 (n_features, n_samples)
    target: Placed


def hold(sketch, columns, target):
    """The rows of a chunk that a sketch has counted, with one byte for each value."""
    return HeldRows(np.array(map_features(pair_codes, columns, sketch.domains, None)), sketch._place(target))


def pair_counts(sketch, rows, j, n_jobs=None):
    """The counts of each feature together with feature j, in rows that are held."""
    labels = [pair_labels(domain) for domain in sketch.domains]
    grids = sketch.measure.pair_counts(None, labels[j])
    placed = grids.place(*rows.target, rows.codes[j])

    def count(codes, labels):
        return grids.count(codes.astype(np.uint32), labels, placed)

    return map_features(count, rows.codes, labels, n_jobs)


def added(counts):
    """The sums, feature by feature, of the counts of several chunks."""
    return [sum(of_each[1:], of_each[0]) for of_each in zip(*counts, strict=True)]


# --- Agreement with an estimator -------------------------------------------------------------------------------------


def check_features(description, facts):
    """Raise if bounds or categories are given and differ; columns declared by the sketch's table need no entry."""
    domains, bounds, categories = description.domains, facts.bounds, facts.categories
    ignored = facts.ignored(len(domains), description.names)
    uncounted = [j for j, domain in enumerate(domains) if isinstance(domain, Ignored) and j not in ignored]
    if uncounted:
        raise ValueError(f"keep must include {listed(uncounted, description.names)}, which the sketch did not count.")
    if bounds is None and categories is None:
        return
    of_labels = {j: domain.labels for j, domain in enumerate(domains) if isinstance(domain, Labels)}
    declared = {j: ColumnSource(TEXT, None, labels) for j, labels in of_labels.items()}
    given = replace(facts, needs_ranges=bounds is not None).domains(len(domains), description.names, declared)
    if bounds is None:
        domains = [domain if isinstance(domain, Labels) else Order() for domain in domains]
    if any(given[j] != domain for j, domain in enumerate(domains) if j not in ignored):
        raise ValueError("bounds and categories must be None or those of the sketch, got different ones.")
