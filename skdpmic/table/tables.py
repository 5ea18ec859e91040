"""Tables of every kind as columns: arrays, lists, dataframes of any library, sparse matrices.

A table returns its columns one at a time, and is never converted to an array of objects.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from skdpmic._utils.errors import without_data
from skdpmic._utils.texts import quoted
from skdpmic.table.frames import as_frame, is_frame, open_column, refuse_remote
from skdpmic.table.normal_form import array_of, floats_if_all_are


class Table(NamedTuple):
    """A table in memory. Raw data; not private."""

    n_samples: int
    n_features: int
    names: list | None
    column_at: Callable
    """Gives the ColumnSource of a number."""
    values: np.ndarray | None = None
    """All of it, (n_samples, n_features), if it holds numbers of one type."""
    is_sparse: bool = False
    native: Any = None
    """The table in a container whose rows and columns can be picked: a dataframe, a CSC matrix or an array."""

    def name_of(self, j):
        """The name of a column, or its number."""
        return j if self.names is None else self.names[j]

    def names_as_text(self):
        """The names of all columns if they are str, else None."""
        are_text = self.names is not None and all(isinstance(name, str) for name in self.names)
        return self.names if are_text else None

    def declared(self):
        """The ColumnSource of each column of a dataframe, by number, for the kind and the labels of its type."""
        return {} if self.names is None else dict(enumerate(map(self.column_at, range(self.n_features))))

    def read(self, j, label=None):
        """The column of a number, in its normal form."""
        return self.column_at(j).read(label or f"column {quoted(self.name_of(j))} of X")


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
    if is_frame(X):
        return _open_frame(as_frame(X), least)
    if nw.dependencies.is_into_series(X):
        raise ValueError(f"X must be a table, got a {type(X).__name__}: pass X.to_frame(), a table of one column.")
    if sparse.issparse(X):
        as_they_are = {"dtype": None} if X.dtype.kind in "biu" else {}
        X = without_data(_without_repeats, X)
        X = _validated(X, reader, ensure_min_samples=least, accept_sparse="csc", **as_they_are)
        return Table(*X.shape, None, lambda j: open_column(_column_of_sparse(X, j)), is_sparse=True, native=X)
    refuse_remote(X, "X")
    is_list, X = not hasattr(X, "dtype"), array_of(X, "X")
    kind = X.dtype.kind
    if kind == "O" and X.ndim == 1 and any(isinstance(row, list | tuple | np.ndarray) for row in X):
        raise ValueError("X must have rows of equal length, got rows of different lengths.")
    if kind == "V":
        raise ValueError("X must be an array of numbers or a dataframe, got a structured array.")
    if kind in ("O", "m", "M") or (takes_text and kind in ("U", "S", "T")):
        X = _validated(X, reader, ensure_min_samples=least, dtype=None, ensure_all_finite=False)
        column_at = partial(_column_of_objects, X)
        return Table(*X.shape, None, column_at, native=floats_if_all_are(X) if is_list and kind == "O" else X)
    as_they_are = {"dtype": None} if kind in "biu" else {}  # floats would take up to 8 times the memory
    X = _validated(X, reader, ensure_min_samples=least, **as_they_are)
    return Table(*X.shape, None, lambda j: open_column(X[:, j]), X, native=X)


def columns_seen(table):
    """The fitted attributes `n_features_in_` and, if columns have names, `feature_names_in_`, by name."""
    seen = BaseEstimator()
    without_data(validate_data, seen, table.native, skip_check_array=True)
    return vars(seen)


def check_columns_seen(estimator, table):
    """Raise unless a table has the columns of a fitted estimator."""
    without_data(validate_data, estimator, table.native, reset=False, skip_check_array=True)


def _validated(X, reader, **options):
    options = {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan"} | options
    with config_context(array_api_dispatch=False), np.errstate(all="ignore"):  # kernels need numpy arrays
        return without_data(check_array, X, estimator=reader, input_name="X", **options)


def _open_frame(frame, least):
    if len(frame) < least:
        raise ValueError(
            f"Found array with {len(frame)} sample(s) (shape={frame.shape}) while a minimum of {least} is required."
        )
    if (values := _numbers_of_one_type(frame)) is not None:
        return Table(*frame.shape, frame.columns, lambda j: open_column(values[:, j]), values, native=frame.to_native())
    columns = list(frame.iter_columns())  # access by number would build a list of all names each time
    return Table(*frame.shape, frame.columns, lambda j: open_column(columns[j]), native=frame.to_native())


def _numbers_of_one_type(frame):
    """The array of a pandas dataframe that stores all columns in one; None for others, or if a value is infinite."""
    native = frame.to_native()
    types = set(native.dtypes) if frame.implementation.is_pandas() else set()
    if len(types) != 1 or not isinstance(one := types.pop(), np.dtype):
        return None
    if one.kind not in "iu" and one not in (np.float64, np.float32):
        return None
    values = native.to_numpy()
    with np.errstate(all="ignore"):
        ends = (np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)) if len(values) else ()
    return None if np.isinf(ends).any() else values  # errors name the column


def _column_of_objects(X, j):
    """One column, each value separately: all columns of an array are text if some are."""
    column = X[:, j]
    return open_column(column.astype(object) if column.dtype.kind in "UST" else column)


def _column_of_sparse(X, j):
    """One column with its zeros."""
    column = np.zeros(X.shape[0], dtype=X.dtype)
    stored = slice(X.indptr[j], X.indptr[j + 1])
    column[X.indices[stored]] = X.data[stored]
    return column


def _without_repeats(X):
    """A sparse matrix with one entry for each place, as its values are checked; repeated entries are summed."""
    if X.ndim != 2 or (X.format == "csc" and X.has_canonical_format):
        return X
    X = X.tocsc(copy=True)
    X.sum_duplicates()
    return X
