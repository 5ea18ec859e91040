"""Tables that one step hands on to the next: some columns of a table, each value as it is.

Columns are picked in the user's own container, which changes no value. If `set_output` asks for another library, each
column gets there through the normal form. No library converts a table, or a column: that lets one record change how
others are read.
"""

import narwhals.stable.v2 as nw
import numpy as np

from skdpmic._utils.bases import TransformerMixin
from skdpmic._utils.readable import are_text
from skdpmic.table.domains import DATES, DURATIONS, NUMBERS
from skdpmic.table.frames import columns_at
from skdpmic.table.normal_form import BYTES, OTHER, TEXT, objects_of


class AsksForContainer(TransformerMixin):
    """Base of transformers that make the container `set_output` asks for; scikit-learn has no public way to see it."""

    def transform(self, X):
        """A row of zeros: an ndarray by default, otherwise a dataframe of the requested library."""
        return np.zeros((1, len(self.get_feature_names_out())))


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
    if table.is_sparse or (table.values is not None and table.names is None):
        return table.native[:, places]  # numbers of one type, which scikit-learn puts into a dataframe unchanged
    is_own = isinstance(container, np.ndarray)
    if table.names is None and is_own:
        return table.native[:, places]
    if is_own or (table.names is not None and _library_of(container) is _library_of(table.native)):
        chosen = columns_at(nw.from_native(table.native, eager_only=True), places)
        if not are_text(table.names):  # the numbers of the columns, and of those chosen no more
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
        columns = nw.from_native(table.native, eager_only=True).iter_columns()
        every = [next(columns) if is_kept else nw.lit(0.0) for is_kept in kept]
        frame = nw.from_native(table.native, eager_only=True)
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
    if form == "f" or form in (DATES, DURATIONS):
        values = column.each(lambda values: values, np.nan if form == "f" else "NaT")
        return pandas.Series(values.astype(values.dtype.newbyteorder("="), copy=False))
    if form in ("i", "u", "b"):
        array = pandas.arrays.BooleanArray if form == "b" else pandas.arrays.IntegerArray
        values = column.each(lambda values: values.astype(values.dtype.newbyteorder("=")), 0)
        return pandas.Series(array(values, column.missing.copy()))
    return pandas.Series(_objects(column), dtype=object)


def to_polars(column):
    """A Series of Polars."""
    import polars

    form = _form(column, _UNITS_OF_POLARS)
    if form in (DATES, DURATIONS):
        unit = np.datetime_data(column.values.dtype)[0]
        counts = column.each(lambda values: values.astype(values.dtype.newbyteorder("=")).view(np.int64), 0)
        dtype = polars.Datetime(unit) if form == DATES else polars.Duration(unit)
        return _with_nulls(polars.Series(counts), column).cast(dtype)
    if form in ("f", "i", "u", "b"):
        wider = np.float32 if column.values.dtype == np.float16 else column.values.dtype.newbyteorder("=")
        return _with_nulls(polars.Series(column.each(lambda values: values.astype(wider), 0)), column)
    if column.kind == TEXT:
        return polars.Series(column.each(_in_unicode, None).tolist(), dtype=polars.String)
    if column.kind == BYTES:
        return polars.Series(_objects(column).tolist(), dtype=polars.Binary)
    return polars.Series(_objects(column).tolist(), dtype=polars.Object)


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
    are_counts = column.kind == OTHER and column.values.dtype != object  # which would be read as numbers
    return column.each(lambda values: objects_of(list(zip(values)) if are_counts else values), None)


def _with_nulls(series, column):
    return series.scatter(np.flatnonzero(column.missing), None) if column.missing.any() else series


def _in_unicode(texts):
    """Texts that UTF-8 can hold, each by itself."""
    return objects_of([text.encode("utf-8", "backslashreplace").decode() for text in texts])
