"""The stratum of each record, by public labels; errors quote no values."""

from typing import NamedTuple

import numpy as np

from skdpmic.table.features import labels_of
from skdpmic.table.frames import column_of
from skdpmic.table.normal_form.form import OBJECTS
from skdpmic.table.values import as_codes, kind_of_labels


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
    column = column_of(strata, "strata")
    if column.n_samples != n_samples:
        raise ValueError(f"strata must have the same length as x and y, got {column.n_samples} and {n_samples}.")
    said = kind_of_labels(labels)
    if column.kind not in (said, OBJECTS) and not column.missing.all():
        raise ValueError(f"strata must hold {said}, like categories, got {column.kind}.")
    return as_codes(column, labels, "strata")
