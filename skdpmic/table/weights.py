"""Survey weights: the number of people in the population that each record represents, up to a public limit."""

import numbers

import numpy as np

from skdpmic._utils.readable import is_dask_collection
from skdpmic.table.dates import NUMBERS
from skdpmic.table.frames import column_of
from skdpmic.table.normal_form.form import OBJECTS
from skdpmic.table.values import as_numbers

WEIGHT_UNITS = 256  # weights are rounded to this many equal parts of `max_weight`, so that sums are exact
USUAL_MEAN = 0.25  # assumed mean of survey weights, as a share of the largest, if unknown


def check_max_weight(max_weight):
    """Raise unless `max_weight` is valid."""
    is_number = isinstance(max_weight, numbers.Real) and not isinstance(max_weight, bool)
    if max_weight is not None and not (is_number and 0 < max_weight < float("inf")):
        raise ValueError(f"max_weight must be None or a finite number > 0, got {max_weight!r}.")


def check_weights_given(sample_weight, max_weight):
    """Raise unless `sample_weight` and `max_weight` are given together."""
    if sample_weight is None and max_weight is not None:
        raise ValueError(
            f"sample_weight must hold the weight of each row with max_weight={max_weight!r}, got None: call fit(X, y, "
            "sample_weight=...). Pipelines and searches pass it to estimators with "
            "set_fit_request(sample_weight=True), if metadata routing is enabled."
        )
    if sample_weight is not None and max_weight is None:
        raise ValueError(
            "max_weight must be a number > 0 if sample_weight is given, got None: the guarantee requires a public "
            "limit of weights."
        )


def read_weights(sample_weight, max_weight, n_samples):
    """The weight of each record in units: uint32 (n_samples,). Raw data; not private.

    Each weight is clipped to `max_weight`, and rounded to an integer number of units, by itself.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,)
    max_weight : float
    n_samples : int
    """
    weights = np.minimum(check_weights(sample_weight, n_samples), max_weight)  # first, as quotients could overflow
    return np.rint(weights / max_weight * WEIGHT_UNITS).astype(np.uint32)


def check_weights(sample_weight, n_samples):
    """Weights as floats; raises unless there is one per record, none missing or below 0."""
    if is_dask_collection(sample_weight):
        raise TypeError("sample_weight must be in memory if X is, got a dask collection.")
    column = column_of(sample_weight, "sample_weight")
    if column.n_samples != n_samples:
        raise ValueError(f"sample_weight must have one weight per row of X, {n_samples}, got {column.n_samples}.")
    try:
        weights = as_numbers(column, (NUMBERS, OBJECTS), "sample_weight").astype(np.float64, copy=False)
    except (TypeError, ValueError):
        weights = np.array([np.nan])
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError("sample_weight must hold finite numbers >= 0, got at least one other value.")
    return weights
