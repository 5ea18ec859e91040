"""What public functions and estimators take and return, for type checkers. Docstrings say which values are allowed."""

from collections.abc import Collection, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

# Arrays, dataframes of any library, sparse matrices, dask collections have no type in common, nor have estimators.
TableLike = Any
Estimator = Any

ColumnLike = Collection[Any]  # a list, an array, a column of a dataframe
Range = Collection[Any]  # (lower, upper), (lower, upper, "log"), knots, or two arrays; of numbers or dates
Ranges = Range | Mapping[Any, Range]
Categories = Mapping[Any, Collection[Any]]
FromData = Literal["data"]

Auto = Literal["auto"]
Correction = Literal["miller-madow"] | None
Master = Literal["reduced", "full"]
RandomState = int | np.random.RandomState | None

Floats = NDArray[np.float64]
