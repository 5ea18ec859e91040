"""A codebook template, from column names and types only."""

import narwhals.stable.v2 as nw

from skdpmic._utils.readable import abbreviated, check_names, is_dask_collection
from skdpmic.codebook.column import BOOLEAN, DATE, DURATION, LABELS, NUMBER, TEXT
from skdpmic.codebook.toml_file import as_text

_TYPE = "or identifier, or text, which are never used"
_RANGE = "lowest and highest possible value, such as [0, 120]"
_COMMENTS = {
    NUMBER: {"type": "or labels, if numbers stand for categories; or identifier", "range": _RANGE},
    DATE: {"range": "first and last possible day, such as [2020-01-01, 2025-12-31]"},
    DURATION: {"range": "shortest and longest possible, in this unit"},
    LABELS: {"type": _TYPE, "labels": 'all possible labels, such as ["f", "m"]'},
    TEXT: {"type": "never used"},
    "": {"type": "number, date, duration, labels, boolean, identifier or text"},
}
_BLANKS = {NUMBER: {"range": []}, DATE: {"range": []}, DURATION: {"range": [], "unit": "days"}, LABELS: {"labels": []}}


def template_of(frame):
    """The text of a codebook with blanks, for a dataframe of any library or a list of names without types."""
    columns, comments = {}, {}
    for name, (kind, labels) in _columns_of(frame).items():
        fields = {"type": kind} | ({"labels": list(labels)} if labels else _BLANKS.get(kind, {}))
        columns[name] = fields | {"description": ""}
        comments[name] = _COMMENTS.get(kind, {})
    return as_text({"title": ""}, columns, comments)


def names_of_columns(frame):
    """The column names of an object with a schema; no values are read."""
    return list(_without_values(frame).collect_schema())


def _columns_of(frame):
    """The kind of each column, and the labels declared in its type."""
    if isinstance(frame, list | tuple):
        return {name: ("", ()) for name in _as_text(frame)}
    frame = _without_values(frame)
    are_declared = frame.implementation.is_polars()  # labels in other libraries may come from the data
    schema = frame.collect_schema()
    _as_text(list(schema))
    return {name: (_kind(dtype), _labels(dtype) if are_declared else ()) for name, dtype in schema.items()}


def _as_text(names):
    others = [name for name in names if not isinstance(name, str)]
    if others:
        raise ValueError(f"frame must have column names of type str, got {abbreviated(others)}.")
    return names


def _without_values(frame):
    """The columns in narwhals without values: a dataframe without rows, or one not collected."""
    if is_dask_collection(frame) and hasattr(frame, "dtypes"):
        return nw.from_native(_empty_of_pandas(frame.dtypes))
    if nw.dependencies.is_into_dataframe(frame):
        check_names(frame, "frame")
        return nw.from_native(frame, eager_only=True).head(0)
    known = None if nw.dependencies.is_into_series(frame) else nw.from_native(frame, pass_through=True)
    return known if isinstance(known, nw.LazyFrame) else nw.from_native(_schema_of_arrow(frame).empty_table())


def _empty_of_pandas(dtypes):
    import pandas

    return pandas.DataFrame({name: pandas.Series([], dtype=dtype) for name, dtype in dtypes.items()})


def _schema_of_arrow(frame):
    """Names and types of an object with the Arrow protocol; no records are read."""
    schema = next((it for it in (frame, getattr(frame, "schema", None)) if hasattr(it, "__arrow_c_schema__")), None)
    is_table = schema is not None or hasattr(frame, "__arrow_c_stream__")
    if not is_table or nw.dependencies.is_into_series(frame):
        raise TypeError(f"frame must be a dataframe or a list of column names, got {type(frame).__name__}.")
    import pyarrow

    if schema is not None:
        return pyarrow.schema(schema)
    return pyarrow.RecordBatchReader.from_stream(frame).schema


def _kind(dtype):
    if dtype == nw.Boolean:
        return BOOLEAN
    if dtype.is_numeric():
        return NUMBER
    if isinstance(dtype, nw.Date | nw.Datetime):
        return DATE
    if dtype == nw.Duration:
        return DURATION
    return LABELS if dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object) else TEXT


def _labels(dtype):
    """Labels declared in a type."""
    return tuple(dtype.categories) if dtype == nw.Enum else ()
