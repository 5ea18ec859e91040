"""Tables and streams of any library, as dataframes in memory."""

from importlib import import_module

import narwhals.stable.v2 as nw
import numpy as np

from skdpmic._utils.errors import read_by_engine
from skdpmic._utils.readable import check_names, is_dask_collection


def is_lazy(X):
    """Whether X is a Polars LazyFrame; none exists before Polars is imported."""
    return nw.dependencies.is_polars_lazyframe(X)


def is_frame(X):
    """Whether X is a dataframe, or a stream of one by the Arrow protocol."""
    if isinstance(X, np.ndarray):  # narwhals would compare it with the types of every library
        return False
    is_stream = hasattr(X, "__arrow_c_stream__") and not nw.dependencies.is_into_series(X)
    return nw.dependencies.is_into_dataframe(X) or is_lazy(X) or is_stream


def as_frame(X, name="X"):
    """A narwhals dataframe in memory."""
    if not is_frame(X):
        refuse_remote(X, name)
        if is_dask_collection(X):
            raise TypeError(f"{name} must be in memory, got a dask collection: call .compute() first.")
        raise TypeError(f"{name} must be a dataframe, got {type(X).__name__}.")
    X = read_by_engine(name, X.collect) if is_lazy(X) else X
    if not nw.dependencies.is_into_dataframe(X):
        X = by_library(name, pyarrow=lambda pyarrow: pyarrow.table(X), polars=lambda polars: polars.DataFrame(X))
    check_names(X, name)
    return nw.from_native(X, eager_only=True)


def in_memory(X):
    """A dataframe, or a stream of one, that can be read repeatedly; other tables are unchanged."""
    return as_frame(X).to_native() if is_frame(X) else X


def by_library(name, **readers):
    """An Arrow stream, read by a library that takes all types from the schema, not from the values."""
    for library, read in readers.items():
        try:
            return read_by_engine(name, read, import_module(library))
        except ImportError:
            continue
    raise ImportError(f"{name} is an Arrow stream, which requires pyarrow or Polars: pip install pyarrow")


def refuse_remote(data, name):
    """Raise if a table or a column is not in memory and has no supported interface."""
    is_table = any(hasattr(type(data), method) for method in ("schema", "to_table", "to_pandas", "__arrow_c_array__"))
    if is_table and not hasattr(data, "__array__"):
        raise TypeError(
            f"{name} must be array-like, a dataframe, a Polars LazyFrame or a dask collection, or have "
            f"__arrow_c_stream__, got {type(data).__name__}. If it fits in memory, load it first, by .collect(), "
            ".to_table() or .to_arrow(); otherwise count it in batches, by skdpmic.counting.count_stream."
        )
