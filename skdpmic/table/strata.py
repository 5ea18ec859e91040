"""The stratum of each record, by public labels; errors quote no values."""

from typing import NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from skdpmic._utils.errors import without_data
from skdpmic._utils.readable import as_objects, refuse_masked
from skdpmic.table.features import labels_of
from skdpmic.table.values import OBJECTS, as_codes, is_empty, kind_of, kind_of_labels


class StratifiedTarget(NamedTuple):
    """A numeric target, and the stratum of each record. Raw data; not private."""

    values: np.ndarray  # (n_samples,)
    strata: np.ndarray  # (n_samples,), codes

    n_classes = None  # type: ignore[misc]  # a plain attribute of the class


def read_strata(strata, categories, n_samples):
    """The stratum of each record as a code: other labels form one more stratum, and missing labels another.

    Parameters
    ----------
    strata : array-like of shape (n_samples,)
    categories : array-like
        Public labels.
    n_samples : int
        Required number of records.

    Returns
    -------
    uint32 ndarray of shape (n_samples,)
    """
    labels = labels_of(categories, "categories").labels
    column = _as_column(strata)
    if len(column) != n_samples:
        raise ValueError(f"strata must have the same length as x and y, got {len(column)} and {n_samples}.")
    said, kind = kind_of_labels(labels), kind_of(column)
    if kind not in (said, OBJECTS) and not is_empty(column):
        raise ValueError(f"strata must hold {said}, like categories, got {kind}.")
    return as_codes(column, labels, "strata")


def _as_column(strata):
    """An ndarray or a narwhals Series."""
    refuse_masked(strata, "strata")
    series = nw.from_native(strata, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series
    array = without_data(np.asarray, as_objects(strata))
    if array.ndim != 1:
        raise ValueError(f"strata must be 1-dimensional, got an array of shape {array.shape}.")
    return array
