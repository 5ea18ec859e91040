"""Tables of every kind as columns: arrays, lists, dataframes of any library, sparse matrices.

A table returns its columns one at a time, and is never converted to an array of objects.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse
from sklearn import config_context
from sklearn.utils.validation import check_array, validate_data

from skdpmic._utils.errors import read_by_engine, without_data
from skdpmic._utils.readable import as_objects, check_names, is_dask_collection, refuse_masked
from skdpmic.table.dates import NUMBERS
from skdpmic.table.values import as_numpy_reads, declared_labels, kind_of


class Table(NamedTuple):
    """A table in memory. Raw data; not private."""

    n_samples: int
    n_features: int
    names: list | None
    column_at: Callable
    """Gives the column of a number: an ndarray, or a Series of narwhals."""
    values: np.ndarray | None = None
    """All of it, (n_samples, n_features), if it holds numbers of one type."""
    is_sparse: bool = False
    native: Any = None
    """What scikit-learn sees names and number of columns of."""

    def name_of(self, j):
        """The name of a column, or its number."""
        return j if self.names is None else self.names[j]

    def names_as_text(self):
        """The names of all columns if they are str, else None."""
        are_text = self.names is not None and all(isinstance(name, str) for name in self.names)
        return self.names if are_text else None

    def declared(self):
        """Labels declared by column types, by the number of the column."""
        return {} if self.names is None else _declared(map(self.column_at, range(self.n_features)))


def open_table(X, reader, *, takes_text=False, least=0):
    """The table `X`, with unchanged values.

    Parameters
    ----------
    X : array-like
    reader : str
        Name of the estimator or function in errors.
    takes_text : bool, default=False
        Whether an array of text is read column by column, because some columns may hold labels.
    least : int, default=0
        Minimum number of rows.
    """
    refuse_masked(X, "X")
    if is_frame(X):
        return _open_frame(as_frame(X), least)
    if sparse.issparse(X):
        X = _validated(X, reader, ensure_min_samples=least, accept_sparse="csc")
        return Table(*X.shape, None, partial(_column_of_sparse, X), is_sparse=True, native=X)
    refuse_remote(X, "X")
    X = without_data(np.asarray, as_objects(X))
    kind = X.dtype.kind
    if kind == "O" and X.ndim == 1 and any(isinstance(row, list | tuple | np.ndarray) for row in X):
        raise ValueError("X must have rows of equal length, got rows of different lengths.")
    if kind == "V":
        raise ValueError("X must be an array of numbers or a dataframe, got a structured array.")
    if kind in ("O", "m", "M") or (takes_text and kind in ("U", "S", "T")):
        X = _validated(X, reader, ensure_min_samples=least, dtype=None, ensure_all_finite=False)
        return Table(*X.shape, None, lambda j: X[:, j], native=X)
    as_they_are = {"dtype": None} if kind in "biu" else {}  # floats would take up to 8 times the memory
    X = _validated(X, reader, ensure_min_samples=least, **as_they_are)
    return Table(*X.shape, None, lambda j: X[:, j], X, native=X)


def note_columns(estimator, table, *, reset=True):
    """Store the names and number of columns on an estimator if `reset`, else compare them."""
    without_data(validate_data, estimator, table.native, reset=reset, skip_check_array=True)


def _validated(X, reader, **options):
    options = {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan"} | options
    with config_context(array_api_dispatch=False):  # kernels need numpy arrays
        return without_data(check_array, X, estimator=reader, input_name="X", **options)


def _open_frame(frame, least):
    if len(frame) < least:
        raise ValueError(
            f"Found array with {len(frame)} sample(s) (shape={frame.shape}) while a minimum of {least} is required."
        )
    if (values := _numbers_of_one_type(frame)) is not None:
        return Table(*frame.shape, frame.columns, lambda j: values[:, j], values, native=frame.to_native())
    columns = list(frame.iter_columns())  # access by number would build a list of all names each time
    return Table(*frame.shape, frame.columns, columns.__getitem__, native=frame.to_native())


def _numbers_of_one_type(frame):
    """The array of a pandas dataframe that stores all columns in one; None for others, or if a value is infinite."""
    native = frame.to_native()
    types = set(native.dtypes) if frame.implementation.is_pandas() else set()
    if len(types) != 1 or not isinstance(one := types.pop(), np.dtype):
        return None
    if one.kind not in "iu" and one not in (np.float64, np.float32):
        return None
    values = native.to_numpy()
    ends = (np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)) if len(values) else ()
    return None if np.isinf(ends).any() else values  # errors name the column


def _column_of_sparse(X, j):
    """One column with its zeros."""
    column = np.zeros(X.shape[0], dtype=X.dtype)
    stored = slice(X.indptr[j], X.indptr[j + 1])
    np.add.at(column, X.indices[stored], X.data[stored])  # duplicate entries are summed
    return column


# --- Dataframes -------------------------------------------------------------------------------------------------------


def is_lazy(X):
    """Whether X is a Polars LazyFrame; none exists before Polars is imported."""
    return nw.dependencies.is_polars_lazyframe(X)


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
        if is_dask_collection(X):
            raise TypeError(f"{name} must be in memory, got a dask collection: call .compute() first.")
        raise TypeError(f"{name} must be a dataframe, got {type(X).__name__}.")
    X = read_by_engine(name, X.collect) if is_lazy(X) else X
    if not nw.dependencies.is_into_dataframe(X):
        X = _by_library(name, pyarrow=lambda pyarrow: pyarrow.table(X), polars=lambda polars: polars.DataFrame(X))
    check_names(X)
    return nw.from_native(X, eager_only=True)


def in_memory(X):
    """A dataframe, or a stream of one, that can be read repeatedly; other tables are unchanged."""
    return as_frame(X).to_native() if is_frame(X) else X


def _by_library(name, **readers):
    """An Arrow stream, read by a library that takes all types from the schema, not from the values."""
    for library, read in readers.items():
        try:
            return read_by_engine(name, read, import_module(library))
        except ImportError:
            continue
    raise ImportError(f"{name} is an Arrow stream, which requires pyarrow or Polars: pip install pyarrow")


def refuse_remote(data, name):
    """Raise if a table or a column is not in memory and has no supported interface."""
    is_table = any(hasattr(type(data), method) for method in ("schema", "to_table", "to_pandas", "__arrow_c_array__"))
    if is_table and not hasattr(data, "__array__"):
        raise TypeError(
            f"{name} must be array-like, a dataframe, a Polars LazyFrame or a dask collection, or have "
            f"__arrow_c_stream__, got {type(data).__name__}. If it fits in memory, load it first, by .collect(), "
            ".to_table() or .to_arrow(); otherwise count it in batches, by skdpmic.counting.count_stream."
        )


def declared_by_name(X):
    """Labels declared by the column types of a dataframe, by name; none for other tables."""
    if not is_frame(X):
        return {}
    frame = as_frame(X)
    return {frame.columns[j]: labels for j, labels in _declared(frame.iter_columns()).items()}


def _declared(columns):
    labels = {j: declared_labels(column) for j, column in enumerate(columns)}
    return {j: labels_of_j for j, labels_of_j in labels.items() if labels_of_j is not None}


def row_of_zeros(frame):
    """A native dataframe with one row of zeros and the same names."""
    native = frame.to_native()
    if frame.implementation.is_pandas():  # whose names need not be str
        return type(native)(np.zeros((1, frame.shape[1])), columns=native.columns)
    return frame.head(1).select(nw.lit(0.0).alias(name) for name in frame.columns).to_native()


def holds_numbers(frame):
    """Whether all columns are numeric, so that one array can hold them."""
    return all(kind_of(frame[:, j]) == NUMBERS for j in range(frame.shape[1]))


def columns_at(frame, places):
    """The columns of a dataframe at these positions; with its rows, if the library has rows without columns."""
    if frame.implementation.is_pandas_like():
        return nw.from_native(frame.to_native().iloc[:, places], eager_only=True)
    return frame[:, places]


def in_library_of(frame, container):
    """A dataframe converted to the library of `container`."""
    wanted = nw.from_native(container, eager_only=True).implementation
    if frame.implementation is wanted:
        return frame.to_native()
    return frame.to_polars() if wanted.is_polars() else frame.to_pandas()


def with_zeros(frame, kept, names):
    """A native dataframe with these names: the columns of another one if they were kept, otherwise zeros."""
    columns = frame.iter_columns()
    every = [next(columns) if is_kept else nw.lit(0.0) for is_kept in kept]
    return frame.select(column.alias(name) for column, name in zip(every, names, strict=True)).to_native()


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


def as_column(values, name):
    """A target, groups or weights for numpy, from an object with one column: a dataframe, a stream or an Arrow array.

    Other array-likes are unchanged.
    """
    if isinstance(values, np.ndarray) or is_dask_collection(values) or sparse.issparse(values):
        return values
    values = read_by_engine(name, values.collect) if is_lazy(values) else values
    if nw.dependencies.is_into_dataframe(values):
        frame = nw.from_native(values, eager_only=True)
        _check_one_column(frame.shape, name)
        return as_numpy_reads(frame[:, 0])
    if nw.dependencies.is_into_series(values):
        return as_numpy_reads(nw.from_native(values, series_only=True))
    if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
        chunks = values if hasattr(values, "__arrow_c_stream__") else [values]
        column = _by_library(
            name,
            pyarrow=lambda pyarrow: pyarrow.chunked_array(chunks),
            polars=lambda polars: polars.Series(values),
        )
        series = nw.from_native(column, series_only=True)
        return as_numpy_reads(_only_field(series, name) if series.dtype == nw.Struct else series)
    refuse_remote(values, name)
    return values


def _only_field(series, name):
    """The only column of a table, which the Arrow protocol presents as a column of records."""
    names = [field.name for field in series.dtype.fields]
    _check_one_column((len(series), len(names)), name)
    return series.struct.field(names[0])


def _check_one_column(shape, name):
    if shape[1] != 1:
        raise ValueError(f"{name} should be a 1d array, got an array of shape {shape} instead.")
