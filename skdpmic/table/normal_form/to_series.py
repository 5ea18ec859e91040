"""Columns of pandas and Polars from the normal form: in the type that holds any such column exactly, else as objects.

The type depends only on the kind of the column and the type of its values, never on the values.
"""

import numpy as np

from skdpmic.table.domains import DATES, DURATIONS, NUMBERS
from skdpmic.table.normal_form.form import BYTES, OTHER, TEXT
from skdpmic.table.normal_form.from_numpy import objects_of

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
