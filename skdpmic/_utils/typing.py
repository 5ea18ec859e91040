"""Types of public functions and estimators, for type checkers. Docstrings describe the allowed values."""

from collections.abc import Collection, Mapping
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

# Arrays, dataframes of any library, sparse matrices and dask collections have no common type, nor have estimators.
TableLike = Any
Estimator = Any

ColumnLike = Collection[Any]  # a list, an array, a column of a dataframe


class ArrowStream(Protocol):
    """A table of one column, or a column, of any library with the Arrow protocol."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


BesideTable = ColumnLike | ArrowStream  # a target, groups or weights
Range = Collection[Any]  # (lower, upper), (lower, upper, "log"), knots, range, or two arrays; of numbers or dates
Ranges = Range | Mapping[Any, Range]
Categories = Mapping[Any, Collection[Any]]

Auto = Literal["auto"]
Correction = Literal["miller-madow"] | None
Master = Literal["reduced", "full"]
RandomState = int | np.random.RandomState | None

Floats = NDArray[np.float64]
