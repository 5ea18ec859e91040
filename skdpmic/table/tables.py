"""Tables of every library or of none: opened as they are, and handed on.

A table returns its columns one at a time, and is never converted to an array of objects. Each column gets to its normal
form in one way only. Dataframes need nothing of scikit-learn, which is imported where arrays are checked by it.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from skdpmic._utils import readable
from skdpmic._utils.texts import quoted, without_data
from skdpmic.table.domains import DATES, DURATIONS, NUMBERS
from skdpmic.table.frames import as_frame, columns_at, is_frame, refuse_remote
from skdpmic.table.normal_form import BYTES, TEXT, array_of, floats_if_all_are, objects_of, open_column


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
        return self.names if self.names is not None and readable.are_text(self.names) else None

    def declared(self):
        """The ColumnSource of each column of a dataframe, by number, for the kind and the labels of its type."""
        return {} if self.names is None else dict(enumerate(map(self.column_at, range(self.n_features))))

    def read(self, j):
        """The column of a number, in its normal form."""
        return self.column_at(j).read(f"column {quoted(self.name_of(j))} of X")


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
        X = without_data(_without_repeats, X)
        X = _validated(X, reader, ensure_min_samples=least, accept_sparse="csc")
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
    X = _validated(X, reader, ensure_min_samples=least)
    return Table(*X.shape, None, lambda j: open_column(X[:, j]), X, native=X)


def columns_seen(table):
    """The fitted attributes `n_features_in_` and, if columns have names, `feature_names_in_`, by name."""
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import validate_data

    seen = BaseEstimator()
    without_data(validate_data, seen, table.native, skip_check_array=True)
    return vars(seen)


def check_columns_seen(estimator, table):
    """Raise unless a table has the columns of a fitted estimator."""
    from sklearn.utils.validation import validate_data

    without_data(validate_data, estimator, table.native, reset=False, skip_check_array=True)


def _validated(X, reader, **options):
    from sklearn import config_context
    from sklearn.utils.validation import check_array

    dtype = None if X.dtype.kind in "biu" else [np.float64, np.float32]  # integers as floats could take 8 times as much
    options = {"dtype": dtype, "ensure_all_finite": "allow-nan"} | options
    with config_context(array_api_dispatch=False), np.errstate(all="ignore"):  # kernels need numpy arrays
        return without_data(check_array, X, estimator=reader, input_name="X", **options)


def _open_frame(frame, least):
    if len(frame) < least:
        raise ValueError(
            f"Found array with {len(frame)} sample(s) (shape={frame.shape}) while a minimum of {least} is required."
        )
    values = _numbers_of_one_type(frame)  # access by number would build a list of all names of a dataframe each time
    columns = list(frame.iter_columns()) if values is None else values.T
    return Table(*frame.shape, frame.columns, lambda j: open_column(columns[j]), values, native=frame.to_native())


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


# --- Tables that one step hands on to the next: some columns of a table, each value as it is --------------------------
#
# Columns are picked in the user's own container, which changes no value. If `set_output` asks for another library, each
# column gets there through the normal form. No library converts a table, or a column: that lets one record change how
# others are read.


def with_columns(table, places, names, container):
    """Some columns of a table, in its own container or in the library of `container`.

    Parameters
    ----------
    table : Table
    places : list of int
    names : array-like of str
        Names of these columns, for a container of another library.
    container : ndarray or dataframe
        An ndarray stands for the table's own container.
    """
    is_own = isinstance(container, np.ndarray)
    if table.names is None and (is_own or table.is_sparse or table.values is not None):
        return table.native[:, places]  # scikit-learn puts numbers of one type into a dataframe unchanged
    if is_own or (table.names is not None and _library_of(container) is _library_of(table.native)):
        chosen = columns_at(nw.from_native(table.native, eager_only=True), places)
        if not readable.are_text(table.names):  # the numbers of the columns, and of those chosen no more
            chosen = chosen.rename(dict(zip(chosen.columns, names, strict=True)))
        return chosen.to_native()
    to_series = to_pandas if _library_of(container).is_pandas_like() else to_polars
    columns = {name: to_series(table.read(j)) for name, j in zip(names, places, strict=True)}
    return dataframe_of(columns, container, table)


def among_zeros(table, kept, names):
    """A table in its own container, with a column of zeros, after its columns, wherever `kept` is False.

    Parameters
    ----------
    table : Table
    kept : bool ndarray of shape (n_features,)
    names : array-like of str
        Names of all features, for a dataframe.
    """
    if table.names is not None:
        frame = nw.from_native(table.native, eager_only=True)
        columns = frame.iter_columns()
        every = [next(columns) if is_kept else nw.lit(0.0) for is_kept in kept]
        return frame.select(column.alias(name) for column, name in zip(every, names, strict=True)).to_native()
    if table.is_sparse:
        n_stored = np.zeros(len(kept), dtype=np.int64)
        n_stored[kept] = np.diff(table.native.indptr)
        parts = table.native.data, table.native.indices, np.append(0, np.cumsum(n_stored))
        return type(table.native)(parts, shape=(table.n_samples, len(kept)))
    whole = np.zeros((table.n_samples, len(kept)), dtype=table.native.dtype)
    whole[:, kept] = table.native
    return whole


def dataframe_of(columns, container, table):
    """A dataframe of columns by name, with the rows of a table, of the library of `container`.

    scikit-learn's adapters cannot convert Arrow tables, or Polars tables without rows, to pandas.
    """
    namespace = nw.get_native_namespace(container)
    if not _library_of(container).is_pandas_like():
        return nw.from_dict(columns, backend=namespace).to_native()
    frame = namespace.DataFrame(columns, index=range(table.n_samples))
    is_labelled = table.names is not None and _library_of(table.native).is_pandas_like()
    return frame.set_axis(table.native.index, axis=0) if is_labelled else frame


def _library_of(frame):
    return nw.from_native(frame, eager_only=True).implementation


_UNITS_OF_PANDAS, _UNITS_OF_POLARS = ("s", "ms", "us", "ns"), ("ms", "us", "ns")


def to_pandas(column):
    """A Series of pandas."""
    import pandas

    form = _form(column, _UNITS_OF_PANDAS)
    if form in ("f", DATES, DURATIONS):
        return pandas.Series(column.each(_native, np.nan if form == "f" else "NaT"))
    if form in ("i", "u", "b"):
        array = pandas.arrays.BooleanArray if form == "b" else pandas.arrays.IntegerArray
        return pandas.Series(array(column.each(_native, 0), column.missing.copy()))
    return pandas.Series(_objects(column), dtype=object)


def to_polars(column):
    """A Series of Polars."""
    import polars

    form = _form(column, _UNITS_OF_POLARS)
    if form in (DATES, DURATIONS):
        unit = np.datetime_data(column.values.dtype)[0]
        counts = column.each(lambda values: _native(values).view(np.int64), 0)
        dtype = polars.Datetime(unit) if form == DATES else polars.Duration(unit)
        return _with_nulls(polars.Series(counts), column).cast(dtype)
    if form in ("f", "i", "u", "b"):
        is_half = column.values.dtype == np.float16  # which Polars lacks
        values = column.each(lambda values: values.astype(np.float32) if is_half else _native(values), 0)
        return _with_nulls(polars.Series(values), column)
    if column.kind == TEXT:
        return polars.Series(column.each(_in_unicode, None).tolist(), dtype=polars.String)
    return polars.Series(_objects(column).tolist(), dtype=polars.Binary if column.kind == BYTES else polars.Object)


def _native(values):
    """A copy in the byte order of this processor."""
    return values.astype(values.dtype.newbyteorder("="))


def _form(column, units):
    """The kind of numpy's numbers, dates or durations, if a library has a type for them; None for objects."""
    dtype = column.values.dtype
    if column.kind in (DATES, DURATIONS):
        unit, multiple = np.datetime_data(dtype)
        return column.kind if unit in units and multiple == 1 else None
    is_word = column.kind == NUMBERS and dtype.kind in "fiub" and dtype.itemsize <= np.dtype(np.float64).itemsize
    return dtype.kind if is_word else None


def _objects(column):
    """One object for each row, None where it has no value; values of no kind that can be read stay so."""
    return column.each(lambda values: values, None)


def _with_nulls(series, column):
    return series.scatter(np.flatnonzero(column.missing), None) if column.missing.any() else series


def _in_unicode(texts):
    """Texts that UTF-8 can hold, each by itself."""
    return objects_of([text.encode("utf-8", "backslashreplace").decode() for text in texts])
