"""Checks of the arguments that every MIC function takes. No message quotes a data value."""

import math
import numbers

import numpy as np


def check_column(values, name):
    """`values` as a 1-D array of finite real numbers."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must be 1-dimensional, got an array of shape {array.shape}.")
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold real numbers, got dtype {array.dtype}.")
    array = array.astype(np.float64, copy=False)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity.")
    return array


def check_pair(x, y, min_samples=2):
    """`x` and `y` as two arrays of finite numbers, of one length."""
    x, y = check_column(x, "x"), check_column(y, "y")
    if len(x) != len(y):
        raise ValueError(f"x and y must have the same length, got {len(x)} and {len(y)}.")
    if len(x) < min_samples:
        raise ValueError(f"x and y must hold at least {min_samples} samples, got n_samples={len(x)}.")
    return x, y


def check_interval(interval, name):
    """`interval` as a pair of finite floats, the first below the second."""
    try:
        lo, hi = (float(bound) for bound in interval)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a pair of numbers (lower, upper), got {interval!r}.") from None
    if not (math.isfinite(lo) and math.isfinite(hi) and math.isfinite(hi - lo) and lo < hi):
        raise ValueError(f"{name} must be finite with lower < upper, got {interval!r}.")
    return lo, hi


def check_pair_bounds(bounds):
    """`bounds` as two intervals, of x and of y."""
    try:
        x_bounds, y_bounds = bounds
    except (TypeError, ValueError):
        raise ValueError(f"bounds must be ((x_lo, x_hi), (y_lo, y_hi)), got {bounds!r}.") from None
    return check_interval(x_bounds, "bounds of x"), check_interval(y_bounds, "bounds of y")


def check_B(B):
    """Raise unless `B` is a number >= 4 or an exponent in (0, 1)."""
    if not isinstance(B, numbers.Real) or not (4 <= B < math.inf or 0 < B < 1):
        raise ValueError(f"B must be a number >= 4 or an exponent in (0, 1), got {B!r}.")


def check_c(c):
    """Raise unless `c` is a positive number."""
    if not isinstance(c, numbers.Real) or not 0 < c < math.inf:
        raise ValueError(f"c must be a number > 0, got {c!r}.")
