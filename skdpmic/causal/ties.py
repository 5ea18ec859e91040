"""Warnings about columns with many ties, for which tests of Kendall's correlations are not valid.

Types of columns are declared, and shares of untied pairs are released with noise: values are never read.
"""

import narwhals.stable.v2 as nw
import numpy as np

from skdpmic._utils.exceptions import warn
from skdpmic.correlation.matrices import FEW_TIES, columns_with_ties
from skdpmic.table.features import listed
from skdpmic.table.normal_form.containers import as_frame, is_frame

_ASSUMED = (
    "Without bounds, a table of numbers is tested by Kendall's correlations, which assumes that values hardly ever "
    "repeat. If they do, no test given another column is made for such a column: its edges stay, and their p_values_ "
    "are NaN."
)
_WAY_ROUND = (
    "Pass bounds (the public ranges of all columns) or categories (the public labels of some): the columns are then "
    "tested by tables of their parts."
)


def declared_to_repeat(X):
    """Indices of the columns whose types suggest that values repeat: integers and categories."""
    if is_frame(X):
        schema = as_frame(X).head(0)
        return [j for j in range(schema.shape[1]) if _repeats(schema[:, j].dtype)]
    if isinstance(X, np.ndarray) and X.dtype.kind in "iu":
        return list(range(X.shape[1]))
    return []


def _repeats(dtype):
    return dtype.is_integer() or dtype in (nw.Categorical, nw.Enum)


def warn_about_declared_ties(columns, names):
    """Warn, before the charge, about columns from :func:`declared_to_repeat`."""
    if columns:
        warn(
            f"the types of {listed(columns, names)} are integer or categorical, so values may repeat. "
            f"{_ASSUMED} {_WAY_ROUND} To avoid this warning for integers that hardly repeat, pass them as floats.",
        )


def warn_about_released_ties(untied_fraction, noise_scale, names, *, but):
    """Warn, after the release, about columns with many ties according to the noisy shares; some are excepted."""
    columns = [j for j in columns_with_ties(untied_fraction, noise_scale) if j not in but]
    if columns:
        warn(
            f"untied_fraction_ of {listed(columns, names)} is below {FEW_TIES:g}: values repeat. {_ASSUMED} "
            f"{_WAY_ROUND} That is a separate release; the present one has been charged and is kept.",
        )
