"""Counting a table that is never in memory as a whole, from any source of batches of rows."""

from typing import Any

import narwhals.stable.v2 as nw

from skdpmic._utils.errors import read_by_engine
from skdpmic._utils.readable import abbreviated
from skdpmic._utils.texts import quoted
from skdpmic.counting.chunks import count_into
from skdpmic.counting.sketch import RangeGridSketch
from skdpmic.counting.sketched import hold
from skdpmic.table.normal_form.containers import as_frame, is_frame, is_lazy
from skdpmic.table.reading import refuse_dask
from skdpmic.table.targets import check_weights_given

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
    _check(empty, target, sample_weight)
    refuse_dask(stream)
    sketch = empty.empty()
    names = sketch.feature_names_in_.tolist()
    others = {"target": target} | ({} if sample_weight is None else {"sample_weight": sample_weight})
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


def _check(empty, target, sample_weight):
    if not isinstance(empty, RangeGridSketch):
        raise TypeError(f"empty must be a RangeGridSketch, got {type(empty).__name__}.")
    if not hasattr(empty, "feature_names_in_"):
        raise ValueError("empty must have feature names, which identify the columns, got none: pass feature_names.")
    if not isinstance(target, str) or target in empty.feature_names_in_:
        raise ValueError(
            f"target must be the name of a column that is not a feature of the sketch, got {quoted(target)}."
        )
    check_weights_given(sample_weight, empty.max_weight)
    if sample_weight is not None and (
        not isinstance(sample_weight, str) or sample_weight in {*empty.feature_names_in_, target}
    ):
        raise ValueError(
            "sample_weight must be the name of a column that is neither a feature of the sketch nor the target, got "
            f"{quoted(sample_weight)}."
        )


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
            yield _as_one(waiting)
            waiting = []
        waiting.append(frame)
    if waiting:
        yield _as_one(waiting)


def _types(frame):
    """The library, and the names and native types of columns, which distinguish dictionaries with different entries."""
    attribute = "type" if frame.implementation.is_pyarrow() else "dtype"
    types = [(column.name, getattr(column.to_native(), attribute)) for column in frame.iter_columns()]
    return frame.implementation, types


def _as_one(frames):
    return frames[0] if len(frames) == 1 else nw.concat(frames)


def _batches(stream):
    """The batches of a stream: dataframes of any library, or Arrow tables."""
    if nw.dependencies.is_into_dataframe(stream):
        return iter([stream])
    if is_lazy(stream):
        return _quietly(_batches_of_lazy(stream))
    if is_frame(stream):
        return _quietly(_tables_of_arrow(_pyarrow().RecordBatchReader.from_stream, stream))
    if hasattr(stream, "to_batches"):
        return _quietly(_tables_of_arrow(lambda dataset: dataset.to_batches(), stream))
    return _batches_of_each(stream)


def _batches_of_lazy(X):
    if hasattr(X, "collect_batches"):
        yield from X.collect_batches(chunk_size=_ROWS)
    else:  # older versions
        yield X.collect()


def _tables_of_arrow(read, stream):
    table_of = _pyarrow().Table.from_batches
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


def _pyarrow():
    try:
        import pyarrow
    except ImportError:
        raise ImportError("reading Arrow streams requires pyarrow: pip install pyarrow") from None
    return pyarrow


def _quietly(batches):
    """The batches, with errors replaced by their type only, because an engine's message may quote values."""
    end = object()
    while (batch := read_by_engine("the stream", next, batches, end)) is not end:
        yield batch
