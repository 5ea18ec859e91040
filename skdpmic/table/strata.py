"""The stratum of each record, by public labels; nothing that is refused is quoted."""

from typing import NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from skdpmic._utils.errors import without_data
from skdpmic._utils.readable import as_objects, refuse_masked
from skdpmic.table.features import labels_of
from skdpmic.table.values import OBJECTS, as_codes, is_empty, kind_of, kind_of_labels


class StratifiedTarget(NamedTuple):
    """A numeric target, and the stratum of each record. As sensitive as the data."""

    values: np.ndarray  # (n_samples,)
    strata: np.ndarray  # (n_samples,), codes

    n_classes = None  # type: ignore[misc]  # a plain attribute of the class


def read_strata(strata, categories, n_samples):
    """The stratum of each record, as a code: other labels are a stratum of their own, and missing ones another.

    Parameters
    ----------
    strata : array-like of shape (n_samples,)
    categories : array-like
        The public labels.
    n_samples : int
        How many records there must be.

    Returns
    -------
    uint32 ndarray of shape (n_samples,)
    """
    labels = labels_of(categories, "categories").labels
    column = _as_column(strata)
    if len(column) != n_samples:
        raise ValueError(f"strata must have as many entries as x and y, got {len(column)} and {n_samples}.")
    said, kind = kind_of_labels(labels), kind_of(column)
    if kind not in (said, OBJECTS) and not is_empty(column):
        raise ValueError(f"strata must hold {said}, as categories do, got {kind}.")
    return as_codes(column, labels, "strata")


def _as_column(strata):
    """An ndarray, or a Series of narwhals."""
    refuse_masked(strata, "strata")
    series = nw.from_native(strata, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series
    array = without_data(np.asarray, as_objects(strata))
    if array.ndim != 1:
        raise ValueError(f"strata must be 1-dimensional, got an array of shape {array.shape}.")
    return array
