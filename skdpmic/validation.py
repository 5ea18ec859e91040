"""What the estimators accept, and how they refuse it without quoting data or changing."""

import contextlib
import math
import numbers
import warnings

import numpy as np
from sklearn import config_context
from sklearn.utils.validation import validate_data

from skdpmic.checks.arguments import check_column_bounds, check_interval
from skdpmic.checks.errors import without_data
from skdpmic.checks.readable import is_dask_collection, refuse_unreadable
from skdpmic.exceptions import PrivacyLeakWarning


@contextlib.contextmanager
def unchanged_on_error(estimator):
    """Give `estimator` back the attributes that it had before, if the block raises."""
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def check_table(estimator, X, y, y_numeric, **options):
    """`X` as floats of shape (n_samples, n_features) and `y` of shape (n_samples,), as scikit-learn checks them."""
    refuse_unreadable(X, y)
    return _validate(estimator, X, y, y_numeric=y_numeric, **{"ensure_min_samples": 4} | options)


def check_rows(estimator, X):
    """`X` as floats with the features of a fitted estimator."""
    refuse_unreadable(X, None)
    return _validate(estimator, X, reset=False)


def _validate(estimator, *data, **options):
    with config_context(array_api_dispatch=False):  # kernels take arrays of numpy
        return without_data(validate_data, estimator, *data, dtype=[np.float64, np.float32], **options)


def refuse_dask(X):
    """Raise if X is a dask collection, all of whose rows would come into memory."""
    if is_dask_collection(X):
        raise TypeError(
            "X must be in memory to be counted in chunks, got a dask collection: give it to fit, or its partitions "
            "to skdpmic.counting.distributed.count_rows."
        )


def check_n_jobs(n_jobs):
    """Raise unless `n_jobs` is None or an int that joblib knows."""
    if n_jobs is not None and (not isinstance(n_jobs, numbers.Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs must be None or an int other than 0, got {n_jobs!r}.")


def asks_for_data(value):
    """Whether a public argument is to be read from the data, which breaks the guarantee."""
    return isinstance(value, str) and value == "data"


def warn_of_data(name, value, stacklevel):
    """Warn if the public argument `name` is read from the data."""
    if asks_for_data(value):
        warnings.warn(
            f"{name}='data' reads {name} from the data, so the privacy guarantee does not hold. Pass values that are "
            "known without looking at the data.",
            PrivacyLeakWarning,
            stacklevel=stacklevel + 1,
        )


def with_bounds(X, bounds, names):
    """`X` and the range of each feature: what `check_feature_bounds` makes of `bounds`, or what X itself has."""
    return with_range_of_data(X) if asks_for_data(bounds) else (X, *check_feature_bounds(bounds, X.shape[1], names))


def check_feature_bounds(bounds, n_features, names):
    """The public range of each feature.

    Returns
    -------
    lower, upper : float64 ndarrays of shape (n_features,)
    """
    if bounds is None:
        raise ValueError(
            "bounds is None, but the public range of the features is needed: pass (lower, upper), each a number or an "
            "array of shape (n_features,), or a dict {feature name: (lower, upper)}. bounds='data' reads it from X "
            "and gives up the privacy guarantee."
        )
    if isinstance(bounds, dict):
        lower, upper = _bounds_by_name(bounds, names)
    else:
        lower, upper = check_column_bounds(bounds, n_features)
    _check_each_range(lower, upper, [f"feature {name!r}" for name in (range(n_features) if names is None else names)])
    return lower, upper


def _check_each_range(lower, upper, labels):
    for lo, hi, label in zip(lower.tolist(), upper.tolist(), labels, strict=True):
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
    intervals = np.array([check_interval(bounds[name], f"bounds of feature {name!r}") for name in names])
    return intervals[:, 0], intervals[:, 1]


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
