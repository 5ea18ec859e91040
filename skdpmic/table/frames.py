"""Tables of every kind as columns: arrays, lists, dataframes of any library, sparse matrices.

A table gives its columns one at a time, and is never made an array of objects.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse
from sklearn import config_context
from sklearn.utils.validation import check_array, validate_data

from skdpmic._utils.errors import read_by_engine, without_data
from skdpmic._utils.readable import as_objects, check_names, refuse_masked
from skdpmic.table.dates import NUMBERS
from skdpmic.table.values import declared_labels, kind_of


class Table(NamedTuple):
    """A table in memory. As sensitive as the data."""

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
        """The names of all columns, if they are text; None otherwise."""
        are_text = self.names is not None and all(isinstance(name, str) for name in self.names)
        return self.names if are_text else None

    def declared(self):
        """Labels that the types of columns declare, by the number of the column."""
        return {} if self.names is None else _declared(map(self.column_at, range(self.n_features)))


def open_table(X, reader, *, takes_text=False, least=0):
    """The table `X`, each value of which is as it was.

    Parameters
    ----------
    X : array-like
    reader : str
        The estimator or function that errors name.
    takes_text : bool, default=False
        Whether an array of text is read column by column, as some may hold labels.
    least : int, default=0
        Fewest rows.
    """
    refuse_masked(X, "X")
    if is_frame(X):
        return _open_frame(as_frame(X), least)
    if sparse.issparse(X):
        X = _validated(X, reader, ensure_min_samples=least, accept_sparse="csc")
        return Table(*X.shape, None, partial(_column_of_sparse, X), is_sparse=True, native=X)
    X = without_data(np.asarray, as_objects(X))
    kind = X.dtype.kind
    if kind == "O" and X.ndim == 1 and any(isinstance(row, list | tuple | np.ndarray) for row in X):
        raise ValueError("X must have rows of one length, got rows of several lengths.")
    if kind == "V":
        raise ValueError("X must be an array of numbers or a dataframe, got an array of fields.")
    if kind in ("O", "m", "M") or (takes_text and kind in ("U", "S", "T")):
        X = _validated(X, reader, ensure_min_samples=least, dtype=None, ensure_all_finite=False)
        return Table(*X.shape, None, lambda j: X[:, j], native=X)
    X = _validated(X, reader, ensure_min_samples=least)
    return Table(*X.shape, None, lambda j: X[:, j], X, native=X)


def note_columns(estimator, table, *, reset=True):
    """Have an estimator take note of the names and the number of columns, or compare them unless `reset`."""
    without_data(validate_data, estimator, table.native, reset=reset, skip_check_array=True)


def _validated(X, reader, **options):
    options = {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan"} | options
    with config_context(array_api_dispatch=False):  # kernels take arrays of numpy
        return without_data(check_array, X, estimator=reader, input_name="X", **options)


def _open_frame(frame, least):
    if len(frame) < least:
        raise ValueError(
            f"Found array with {len(frame)} sample(s) (shape={frame.shape}) while a minimum of {least} is required."
        )
    columns = list(frame.iter_columns())  # by number, each would take a list of all names
    return Table(*frame.shape, frame.columns, columns.__getitem__, native=frame.to_native())


def _column_of_sparse(X, j):
    """One column with its zeros."""
    column = np.zeros(X.shape[0], dtype=X.dtype)
    stored = slice(X.indptr[j], X.indptr[j + 1])
    np.add.at(column, X.indices[stored], X.data[stored])  # entries of one place add up
    return column


# --- Dataframes -------------------------------------------------------------------------------------------------------


def is_lazy(X):
    """Whether X is a LazyFrame of Polars; none exists before it is imported."""
    return nw.dependencies.is_polars_lazyframe(X)


def is_frame(X):
    """Whether X is a dataframe, or a stream of one by the Arrow protocol."""
    if isinstance(X, np.ndarray):  # which narwhals would compare with the types of every library
        return False
    is_stream = hasattr(X, "__arrow_c_stream__") and not nw.dependencies.is_into_series(X)
    return nw.dependencies.is_into_dataframe(X) or is_lazy(X) or is_stream


def as_frame(X, name="X"):
    """A dataframe of narwhals, in memory."""
    X = read_by_engine(name, X.collect) if is_lazy(X) else X
    if nw.dependencies.is_into_dataframe(X):
        check_names(X)
        return nw.from_native(X, eager_only=True)
    for backend in ("pyarrow", "polars", "pandas"):
        try:
            return read_by_engine(name, nw.DataFrame.from_arrow, X, backend=backend)
        except ImportError:
            continue
    raise TypeError("X must be read through pyarrow, polars or pandas, and none of them is installed.")


def declared_by_name(X):
    """Labels that the types of a dataframe's columns declare, by name; none for other tables."""
    if not is_frame(X):
        return {}
    frame = as_frame(X)
    return {frame.columns[j]: labels for j, labels in _declared(frame.iter_columns()).items()}


def _declared(columns):
    labels = {j: declared_labels(column) for j, column in enumerate(columns)}
    return {j: labels_of_j for j, labels_of_j in labels.items() if labels_of_j is not None}


def row_of_zeros(frame):
    """A native dataframe of one row with the same names; and zeros, which every library can make an array of."""
    native = frame.to_native()
    if frame.implementation.is_pandas():  # whose names need not be text
        return type(native)(np.zeros((1, frame.shape[1])), columns=native.columns)
    return frame.head(1).select(nw.lit(0.0).alias(name) for name in frame.columns).to_native()


def holds_numbers(frame):
    """Whether all columns are of numbers, so that an array of one type holds them all."""
    return all(kind_of(frame[:, j]) == NUMBERS for j in range(frame.shape[1]))


def columns_at(frame, places):
    """The columns of a dataframe at these places; with its rows, where a library has them without columns, too."""
    if frame.implementation.is_pandas_like():
        return nw.from_native(frame.to_native().iloc[:, places], eager_only=True)
    return frame[:, places]


def in_library_of(frame, container):
    """A dataframe as one of the library that `container` is of."""
    wanted = nw.from_native(container, eager_only=True).implementation
    if frame.implementation is wanted:
        return frame.to_native()
    return frame.to_polars() if wanted.is_polars() else frame.to_pandas()


def columns_by_columns(matrix, frame):
    """A matrix of all columns of a dataframe by all of them, as a dataframe of the same library.

    Rows are labelled where the library labels rows, as pandas does; otherwise they are in the order of the columns.
    """
    namespace = nw.get_native_namespace(frame)
    if frame.implementation.is_pandas_like():
        names = frame.to_native().columns  # which need not be text
        return namespace.DataFrame(matrix, index=names, columns=names)
    values = dict(zip(frame.columns, np.ascontiguousarray(matrix.T), strict=True))
    return nw.from_dict(values, backend=namespace).to_native()
