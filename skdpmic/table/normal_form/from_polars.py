"""Columns of Polars."""

import sys

import numpy as np

from skdpmic.table.domains import DATES, DURATIONS, NUMBERS
from skdpmic.table.normal_form.form import BOOLEANS, BYTES, OBJECTS, OTHER, TEXT, Column, ColumnSource
from skdpmic.table.normal_form.from_numpy import compressed, objects_of, of_objects


def from_polars(series):
    """A Series of any type."""
    dtype = series.dtype
    name = dtype.base_type().__name__
    if name in ("Date", "Datetime", "Duration"):
        kind, unit = (DURATIONS, "m8") if name == "Duration" else (DATES, "M8")
        unit = f"{unit}[{getattr(dtype, 'time_unit', None) or 'D'}]"
        return ColumnSource(kind, lambda: _read_polars(series.to_physical(), kind, unit))
    if name == "Time":  # as counts: Python's times have no nanoseconds
        return ColumnSource(OTHER, lambda: _read_polars(series.to_physical(), OTHER))
    if name == "Boolean":
        return ColumnSource(NUMBERS, lambda: _read_polars(series, NUMBERS), BOOLEANS)
    if dtype.is_numeric():
        is_wide = name == "Decimal" or name.endswith("128")  # which numpy does not have
        return ColumnSource(NUMBERS, lambda: _read_wide(series) if is_wide else _read_polars(series, NUMBERS))
    if name in ("String", "Categorical", "Enum"):
        labels = (tuple(dtype.categories) or None) if name == "Enum" else None
        return ColumnSource(TEXT, lambda: _read_texts(series.cast(_polars().String)), labels, name == "Categorical")
    kind = OBJECTS if name == "Object" else BYTES if name == "Binary" else OTHER
    return ColumnSource(kind, lambda: of_objects(objects_of(series.to_list()), kind))


def _read_polars(series, kind, unit=None):
    missing = series.is_null().to_numpy()
    filler = False if series.dtype == _polars().Boolean else 0
    filled = (series.fill_null(filler) if missing.any() else series).to_numpy()
    if unit is not None:
        filled = filled.astype(np.int64).view(unit)
    return Column(kind, filled, missing | np.isnan(filled) if filled.dtype.kind == "f" else missing)


def _read_wide(series):
    """Numbers without a numpy type, as Python numbers."""
    return compressed(NUMBERS, objects_of(series.to_list()), series.is_null().to_numpy())


def _read_texts(series):
    """Texts, each distinct one converted once."""
    polars = _polars()
    distinct = series.unique().drop_nulls()
    numbers = polars.int_range(len(distinct), dtype=polars.UInt32, eager=True)
    places = series.replace_strict(distinct, numbers, default=0, return_dtype=polars.UInt32)
    return Column(TEXT, objects_of(distinct.to_list()), series.is_null().to_numpy(), places.to_numpy())


def _polars():
    return sys.modules["polars"]
