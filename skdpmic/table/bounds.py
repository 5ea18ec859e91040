"""The public range of each feature."""

import math

import numpy as np

from skdpmic.checks.arguments import check_column_bounds, check_interval
from skdpmic.table.public import asks_for_data


def check_feature_bounds(bounds, n_features, names):
    """The public range of each feature.

    Returns
    -------
    list of pairs of floats, of length n_features
    """
    if bounds is None:
        raise ValueError(
            "bounds is None, but the public range of the features is needed: pass (lower, upper), each a number or an "
            "array of shape (n_features,), or a dict {feature name: (lower, upper)}. bounds='data' reads it from X "
            "and gives up the privacy guarantee."
        )
    if isinstance(bounds, dict):
        ranges = _bounds_by_name(bounds, names)
    else:
        ranges = as_ranges(*check_column_bounds(bounds, n_features))
    _check_each_range(ranges, [f"feature {name!r}" for name in (range(n_features) if names is None else names)])
    return ranges


def as_ranges(lower, upper):
    """Two arrays as a list of pairs."""
    return list(zip(lower.tolist(), upper.tolist(), strict=True))


def with_bounds(X, bounds, names):
    """`X` and the range of each feature: what `check_feature_bounds` makes of `bounds`, or what X itself has."""
    if not asks_for_data(bounds):
        return X, check_feature_bounds(bounds, X.shape[1], names)
    X, lower, upper = with_range_of_data(X)
    return X, as_ranges(lower, upper)


def with_range_of_data(values):
    """`values` and their range: of each column, or of one.

    A column so large that the width of its range is no float is scaled by a power of two, which no score sees.
    """
    too_large = np.maximum(-values.min(axis=0), values.max(axis=0)).astype(np.float64) > 2.0**1020
    if too_large.any():
        values = values * np.where(too_large, 2.0**-4, 1.0)
    lower, upper = values.min(axis=0).astype(np.float64), values.max(axis=0).astype(np.float64)
    # Of a constant, any width serves.
    return values, lower, np.where(upper > lower, upper, lower + np.maximum(1.0, np.abs(lower)))


def _check_each_range(ranges, labels):
    for (lo, hi), label in zip(ranges, labels, strict=True):
        if not (math.isfinite(lo) and math.isfinite(hi) and lo < hi):
            raise ValueError(f"bounds must be finite with lower < upper, got ({lo}, {hi}) for {label}.")
        if not math.isfinite(hi - lo):
            raise ValueError(
                f"bounds must be finite with lower < upper, as must upper - lower, got ({lo}, {hi}) for {label}."
            )


def _bounds_by_name(bounds, names):
    if names is None:
        raise ValueError(
            "bounds is a dict by feature name, but X has no feature names: pass X as a dataframe whose column names "
            "are all strings, or bounds as arrays in the order of the columns. (SelectKBest passes its score_func an "
            "array, whatever it was given.)"
        )
    missing = [name for name in names if name not in bounds]
    if missing:
        raise ValueError(f"bounds must have an entry for every feature, got none for {missing[:5]}.")
    return [check_interval(bounds[name], f"bounds of feature {name!r}") for name in names]
