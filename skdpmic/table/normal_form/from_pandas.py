"""Columns of pandas, by their types: those of numpy, of Arrow, and its own."""

import numpy as np

from skdpmic.table.domains import DATES, NUMBERS
from skdpmic.table.normal_form.form import OBJECTS, OTHER, TEXT, Column, ColumnSource, column_of_codes
from skdpmic.table.normal_form.from_arrow import from_arrow
from skdpmic.table.normal_form.from_numpy import compressed, from_numpy, objects_of, read_numpy


def from_pandas(series):
    """A Series of any type."""
    import pandas

    dtype, array = series.dtype, series.array
    if isinstance(array, pandas.arrays.ArrowExtensionArray):
        import pyarrow

        return from_arrow(pyarrow.array(array))
    if isinstance(dtype, np.dtype):
        return from_numpy(series.to_numpy())
    if isinstance(dtype, pandas.DatetimeTZDtype):
        return ColumnSource(DATES, lambda: read_numpy(series.to_numpy(dtype=f"M8[{dtype.unit}]"), DATES))  # UTC
    if isinstance(dtype, pandas.CategoricalDtype):
        return ColumnSource(_declared_entries(dtype).kind, lambda: _read_categorical(series), is_coded=True)
    if isinstance(dtype, pandas.SparseDtype):
        return from_numpy(np.empty(0, dtype=dtype.subtype))._replace(make=lambda: _read_sparse(array))
    if hasattr(dtype, "numpy_dtype"):  # nullable numbers
        return from_numpy(np.empty(0, dtype=dtype.numpy_dtype))._replace(make=lambda: _read_nullable(series))
    if isinstance(dtype, pandas.PeriodDtype):
        return ColumnSource(DATES, lambda: read_numpy(_first_seconds(series), DATES))
    is_other = isinstance(dtype, pandas.IntervalDtype)  # a missing one makes floats of the ends of all others
    kind = TEXT if isinstance(dtype, pandas.StringDtype) else OTHER if is_other else OBJECTS
    return ColumnSource(kind, lambda: compressed(kind, series.to_numpy(dtype=object), series.isna().to_numpy()))


def _read_nullable(series):
    missing = series.isna().to_numpy()
    values = series.to_numpy(dtype=series.dtype.numpy_dtype, na_value=0)
    return Column(NUMBERS, values, missing | np.isnan(values))


def _read_categorical(series):
    codes = series.cat.codes.to_numpy().astype(np.int64)
    return column_of_codes(codes, codes < 0, lambda used: _declared_entries(series.dtype, used).make())


def _first_seconds(series):
    """The first second of each period. As timestamps, one distant period would be an error for all."""
    return series.array.asfreq("s", how="start").view("int64").astype("datetime64[s]")


def _declared_entries(dtype, codes=()):
    """Some of the entries that a Categorical declares."""
    import pandas

    entries = dtype.categories.take(np.asarray(codes, dtype=np.int64))
    if isinstance(entries.dtype, pandas.IntervalDtype):  # of pandas.cut: labels by their text, such as "(0, 30]"
        texts = objects_of(list(map(str, entries)))
        return ColumnSource(TEXT, lambda: read_numpy(texts, TEXT))
    return from_pandas(pandas.Series(entries, dtype=entries.dtype))  # an inferred type could differ


def _read_sparse(array):
    """Stored values as a dictionary, with one more entry for all others."""
    import pandas

    stored, missing = array.sp_index.to_int_index().indices, np.zeros(len(array), dtype=np.bool_)
    entries, codes = array.sp_values, np.full(len(array), len(array.sp_values), dtype=np.int64)
    codes[stored] = np.arange(len(stored))
    if pandas.isna(array.fill_value):
        missing[codes == len(stored)] = True
    else:
        entries = np.append(entries, np.array([array.fill_value], dtype=entries.dtype))
    return column_of_codes(codes, missing, lambda used: from_numpy(entries[used]).make())
