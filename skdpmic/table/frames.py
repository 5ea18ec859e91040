"""Dataframes, streams and single columns of every library, opened as they are."""

import sys

import narwhals.stable.v2 as nw
import numpy as np

from skdpmic._utils import readable
from skdpmic._utils.texts import read_by_engine, without_data
from skdpmic.table.normal_form import Column, array_of, open_column


def is_lazy(X):
    """Whether X is a Polars LazyFrame; none exists before Polars is imported."""
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(X, polars.LazyFrame)  # narwhals would warn about its own frames


def is_sparse(X):
    """Whether X is a sparse matrix; none exists before scipy.sparse is imported."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and sparse.issparse(X)


def is_frame(X):
    """Whether X is a dataframe, or a stream of one by the Arrow protocol."""
    if isinstance(X, np.ndarray):  # narwhals would compare it with the types of every library
        return False
    is_stream = hasattr(X, "__arrow_c_stream__") and not nw.dependencies.is_into_series(X)
    return nw.dependencies.is_into_dataframe(X) or is_lazy(X) or is_stream


def as_frame(X, name="X"):
    """A narwhals dataframe in memory."""
    if not is_frame(X):
        refuse_remote(X, name)
        readable.refuse_collection(X, name)
        raise TypeError(f"{name} must be a dataframe, got {type(X).__name__}.")
    X = read_by_engine(name, X.collect) if is_lazy(X) else X
    if not nw.dependencies.is_into_dataframe(X):
        pyarrow = pyarrow_for(name)
        X = read_by_engine(name, pyarrow.table, X)  # with types from the schema, not from the values
    readable.check_names(X, name)
    return nw.from_native(X, eager_only=True)


def in_memory(X):
    """A dataframe, or a stream of one, that can be read repeatedly; other tables are unchanged."""
    return as_frame(X).to_native() if is_frame(X) else X


def pyarrow_for(name):
    """The library that reads Arrow streams."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f"{name} is an Arrow stream, which requires pyarrow: pip install pyarrow") from None
    return pyarrow


def refuse_remote(data, name):
    """Raise if a table or a column is not in memory and has no supported interface."""
    is_table = any(hasattr(type(data), method) for method in ("schema", "to_table", "to_pandas", "__arrow_c_array__"))
    if is_table and not hasattr(data, "__array__"):
        raise TypeError(
            f"{name} must be array-like, a dataframe, a Polars LazyFrame or a dask collection, or have "
            f"__arrow_c_stream__, got {type(data).__name__}. If it fits in memory, load it first, by .collect(), "
            ".to_table() or .to_arrow(); otherwise count it in batches, by skdpmic.counting.count_stream."
        )


def open_series(values, name):
    """The one column of a dataframe, a Series, a stream or an Arrow array; None for arrays, lists and other objects."""
    readable.refuse_masked(values, name)
    if isinstance(values, np.ndarray) or readable.is_dask_collection(values) or is_sparse(values):
        return None
    values = read_by_engine(name, values.collect) if is_lazy(values) else values
    if nw.dependencies.is_into_dataframe(values):
        frame = nw.from_native(values, eager_only=True)
        _check_one_column(frame.shape, name)
        return open_column(frame[:, 0])
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(values, pandas.Index | pandas.api.extensions.ExtensionArray):
        _check_one_column((len(values), getattr(values, "nlevels", 1)), name)
        values = pandas.Series(values)  # which have their own missing values
    if nw.dependencies.is_into_series(values):
        return open_column(values)
    if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
        chunks = values if hasattr(values, "__arrow_c_stream__") else [values]
        column = read_by_engine(name, pyarrow_for(name).chunked_array, chunks)
        series = nw.from_native(column, series_only=True)
        return open_column(_only_field(series, name) if series.dtype == nw.Struct else series)
    refuse_remote(values, name)
    return None


def _only_field(series, name):
    """The only column of a table, which the Arrow protocol presents as a column of records."""
    names = [field.name for field in series.dtype.fields]
    _check_one_column((len(series), len(names)), name)
    return series.struct.field(names[0])


def _check_one_column(shape, name):
    if shape[1] != 1:
        raise ValueError(f"{name} should be a 1d array, got an array of shape {shape} instead.")


# --- Dataframes -------------------------------------------------------------------------------------------------------


def declared_by_name(X):
    """The ColumnSource of each column of a dataframe, by name; none for other tables."""
    frame = as_frame(X) if is_frame(X) else None
    return {} if frame is None else dict(zip(frame.columns, map(open_column, frame.iter_columns()), strict=True))


def row_of_zeros(frame):
    """A native dataframe with one row of zeros and the same names."""
    native = frame.to_native()
    if frame.implementation.is_pandas():  # whose names need not be str
        return type(native)(np.zeros((1, frame.shape[1])), columns=native.columns)
    return frame.head(1).select(nw.lit(0.0).alias(name) for name in frame.columns).to_native()


def columns_at(frame, places):
    """The columns of a dataframe at these positions; with its rows, if the library has rows without columns."""
    if frame.implementation.is_pandas_like():
        return nw.from_native(frame.to_native().iloc[:, places], eager_only=True)
    return frame[:, places]


def columns_by_columns(matrix, frame):
    """A square matrix over the columns of a dataframe, as a dataframe of the same library.

    Rows are labelled if the library labels rows, like pandas; otherwise they are in the order of the columns.
    """
    namespace = nw.get_native_namespace(frame)
    if frame.implementation.is_pandas_like():
        names = frame.to_native().columns  # which need not be str
        return namespace.DataFrame(matrix, index=names, columns=names)
    values = dict(zip(frame.columns, np.ascontiguousarray(matrix.T), strict=True))
    return nw.from_dict(values, backend=namespace).to_native()


# --- Single columns ---------------------------------------------------------------------------------------------------


def column_of(values, name, to_one_dimension=None):
    """A target, strata or weights in the normal form, from any object with one column.

    Parameters
    ----------
    values : array-like, dataframe, Series, stream or Column
    name : str
        Name of the parameter in errors.
    to_one_dimension : callable, default=None
        ``to_one_dimension(array)`` makes an array of another shape one-dimensional, or raises.
    """
    if isinstance(values, Column):
        return values
    readable.refuse_name(values, name)
    source = open_series(values, name)
    if source is None:
        array = values if is_sparse(values) else array_of(values, name)
        if to_one_dimension is not None:
            array = without_data(to_one_dimension, array)
        if np.ndim(array) != 1:
            raise ValueError(f"{name} must be 1-dimensional, got an array of shape {np.shape(array)}.")
        source = open_column(array)
    return source.read(name)
