"""A table in memory, read as its public description says; nothing that is refused is quoted."""

import numpy as np
from sklearn import config_context
from sklearn.utils.validation import validate_data

from skdpmic.checks.errors import without_data
from skdpmic.checks.readable import is_dask_collection, refuse_unreadable
from skdpmic.table.bounds import with_bounds
from skdpmic.table.records import Records
from skdpmic.table.targets import check_kind, make_target


def read_records(estimator, X, y, needs_ranges):
    """The records of a table, which `estimator` describes: its bounds, target_bounds and classes.

    Parameters
    ----------
    estimator : estimator
        Gets the attributes `n_features_in_` and, if X has names, `feature_names_in_`.
    X, y : array-like
    needs_ranges : bool
        Whether the ranges of the features and of a numeric target are needed; if not, they are not looked at.
    """
    X, y = check_table(estimator, X, y, check_kind(estimator.target_bounds, estimator.classes, needs_ranges))
    if needs_ranges:
        X, scales = with_bounds(X, estimator.bounds, getattr(estimator, "feature_names_in_", None))
    else:
        scales = [None] * X.shape[1]
    return Records(X, scales, make_target(y, estimator.target_bounds, estimator.classes, needs_ranges))


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
            "to skdpmic.counting.count_rows."
        )
