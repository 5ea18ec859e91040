"""Columns of numbers without a description, for functions of one pair."""

import numpy as np

from skdpmic._utils.errors import without_data
from skdpmic._utils.readable import dates_refused, is_date
from skdpmic.table.dates import DATES, DURATIONS, NUMBERS
from skdpmic.table.normal_form.form import BYTES, TEXT
from skdpmic.table.normal_form.opening import open_column, open_series


def check_column(values, name):
    """`values` as a 1-D array of finite real numbers."""
    source = open_series(values, name)
    if source is None:
        array = without_data(np.asarray, values)  # of one type: nothing but numbers is read
        if array.ndim != 1:
            raise ValueError(f"{name} must be 1-dimensional, got an array of shape {array.shape}.")
        source = open_column(array)
    column = source.read(name)
    is_typed = column.kind in (NUMBERS, TEXT, BYTES)
    if column.kind in (DATES, DURATIONS) or (not is_typed and any(map(is_date, column.values))):
        raise ValueError(dates_refused(name))
    if column.kind != NUMBERS:
        raise ValueError(f"{name} must hold real numbers, got {column.kind}.")
    with np.errstate(all="ignore"):
        floats = column.each(lambda values: values.astype(np.float64, copy=False), np.nan)
    if not np.isfinite(floats).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity.")
    return floats


def check_pair(x, y, min_samples=2):
    """`x` and `y` as two arrays of finite numbers with the same length."""
    x, y = check_column(x, "x"), check_column(y, "y")
    if len(x) != len(y):
        raise ValueError(f"x and y must have the same length, got {len(x)} and {len(y)}.")
    if len(x) < min_samples:
        raise ValueError(f"x and y must hold at least {min_samples} samples, got n_samples={len(x)}.")
    return x, y
