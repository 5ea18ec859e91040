"""The values of one column as numbers or as codes of labels. Errors quote no value."""

import sys
from decimal import Decimal
from itertools import repeat

import narwhals.stable.v2 as nw
import numpy as np

from skdpmic.checks.errors import without_data
from skdpmic.checks.readable import is_date
from skdpmic.table.axes import DATES, DURATIONS, NUMBERS
from skdpmic.table.dates import kind_of_date, seconds, seconds_of

TEXT, OBJECTS, OTHER = "text", "objects", "other values"
ANY_ORDER = (NUMBERS, DATES, DURATIONS, OBJECTS)  # what may be put in order
_OF_KIND = dict.fromkeys("biuf", NUMBERS) | dict.fromkeys("OUST", OBJECTS) | {"M": DATES, "m": DURATIONS}


def kind_of(column):
    """What a column holds, by its type: numbers, dates, durations, text, objects or other values.

    Text in an array may be that of numbers, so it counts as objects.

    Parameters
    ----------
    column : ndarray of shape (n_samples,), or Series of narwhals
    """
    if isinstance(column, np.ndarray):
        return _OF_KIND.get(column.dtype.kind, OTHER)
    dtype = column.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return NUMBERS
    if isinstance(dtype, nw.Date | nw.Datetime):
        return DATES
    if dtype == nw.Duration:
        return DURATIONS
    if dtype == nw.String or _is_enum_of_polars(column):
        return TEXT
    if dtype in (nw.Categorical, nw.Enum):  # of pandas, which may be of numbers
        return OBJECTS
    return OBJECTS if dtype == nw.Object else kind_of(column.to_numpy()) if dtype == nw.Unknown else OTHER


def declared_labels(column):
    """The labels that the type of a column declares, whatever its values are; None if it declares none."""
    if isinstance(column, np.ndarray):
        return (0.0, 1.0) if column.dtype.kind == "b" else None
    if column.dtype == nw.Boolean:
        return (0.0, 1.0)
    return tuple(column.dtype.categories) if _is_enum_of_polars(column) else None


def _is_enum_of_polars(column):
    """Whether somebody wrote the labels down; an ordered Categorical of pandas, an Enum to narwhals, may find them."""
    return column.dtype == nw.Enum and column.implementation.is_polars()


def is_empty(column):
    """Whether all values are missing: then the type of a column need not be that of others of its kind."""
    if isinstance(column, np.ndarray):
        return column.dtype.kind == "f" and bool(np.isnan(column).all())
    return bool(column.is_null().all()) or (column.dtype.is_float() and bool(column.is_nan().all()))


# --- Numbers ---------------------------------------------------------------------------------------------------------


def as_numbers(column, of, name):
    """A column of numbers, dates or durations as floats: NaN where a value is missing, seconds of dates.

    Parameters
    ----------
    column : ndarray of shape (n_samples,), or Series of narwhals
    of : tuple of str
        Which of these objects may be.
    name : str
        What an error is to call the column.

    Returns
    -------
    float32 or float64 ndarray of shape (n_samples,)
    """
    values = column if isinstance(column, np.ndarray) else _to_numpy(column)
    if kind_of(values) not in of:
        raise ValueError(_refusal(of, name))
    if values.dtype.kind in "mM":
        return seconds(values)
    if values.dtype.kind == "O":
        values = _of_objects(values, of, name)
    if values.dtype not in (np.float64, np.float32):
        values = without_data(values.astype, np.float64)
    if np.isinf(values).any():
        raise ValueError(f"Input {name} contains infinity.")
    return values


def _to_numpy(series):
    if series.dtype == nw.Boolean or isinstance(series.dtype, nw.Decimal):
        series = series.cast(nw.Float64)
    elif isinstance(series.dtype, nw.Date):
        series = series.cast(nw.Datetime("us"))
    return series.to_numpy()


def _of_objects(values, of, name):
    """Objects as floats, each by itself."""
    missing = _missing(values)
    present = values[~missing]
    kinds = {kind_of_date(value) if is_date(value) else NUMBERS for value in present}
    if not kinds <= set(of) or len(kinds) > 1:
        raise ValueError(_refusal(of, name))
    result = np.full(len(values), np.nan)
    if len(present):
        result[~missing] = _numbers(present) if kinds == {NUMBERS} else list(map(seconds_of, present))
    return result


def _refusal(of, name):
    allowed = " or ".join(kind for kind in of if kind != OBJECTS)
    return f"{name} must hold {allowed}, all of one kind, got at least one other value."


def _numbers(values):
    plain = without_data(lambda: np.array([float(v) if isinstance(v, Decimal) else v for v in values.tolist()]))
    if plain.dtype.kind == "c":
        raise ValueError("Complex data not supported.")
    return without_data(plain.astype, np.float64)


def _missing(values):
    """Where objects are None, NaN, NaT or NA."""
    pandas = sys.modules.get("pandas")  # without which there is no NA
    if pandas is not None:
        return pandas.isna(values)
    return np.array([value is None or bool(value != value) for value in values], dtype=np.bool_)


# --- Labels ----------------------------------------------------------------------------------------------------------


def as_codes(column, labels):
    """A column of labels as codes: the place in `labels`, their number for other labels, and one more if missing.

    Returns
    -------
    uint32 ndarray of shape (n_samples,)
    """
    if not isinstance(column, np.ndarray):
        if isinstance(labels[0], str) and column.dtype in (nw.String, nw.Enum, nw.Categorical):
            return _codes_of_text(column, labels)
        column = _to_numpy(column)
    if column.dtype.kind in "OUST":
        return _codes_of_objects(column.astype(object), labels)
    return _codes_of_numbers(column.astype(np.float64), labels)


def _codes_of_text(series, labels):
    """Codes of a Series of text, in the way that is quickest for how it lies in memory."""
    if series.implementation.is_pyarrow() or _is_of_arrow(series.to_native()):
        return _codes_of_arrow(series.to_arrow(), labels)
    if series.dtype == nw.String and series.implementation.is_pandas():  # objects
        return _codes_of_objects(series.to_numpy(), labels)
    n_labels = len(labels)
    codes = series.replace_strict(list(labels), list(range(n_labels)), default=n_labels, return_dtype=nw.UInt32)
    return np.where(series.is_null().to_numpy(), np.uint32(n_labels + 1), codes.to_numpy()).astype(np.uint32)


def _is_of_arrow(native):
    """Whether a Series of pandas lies in memory as Arrow has it."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(getattr(native, "array", None), pandas.arrays.ArrowExtensionArray)


def _codes_of_arrow(array, labels):
    import pyarrow
    from pyarrow import compute

    array = decoded(array)
    n_labels = len(labels)
    codes = compute.fill_null(compute.index_in(array, value_set=pyarrow.array(labels, type=array.type)), n_labels)
    codes = compute.if_else(compute.is_null(array), pyarrow.scalar(n_labels + 1, codes.type), codes)
    return codes.to_numpy().astype(np.uint32)


def decoded(array):
    """A column of Arrow without a dictionary, and text as all functions of Arrow take it; as views few do."""
    import pyarrow

    text, kind = pyarrow.large_string(), array.type
    if pyarrow.types.is_dictionary(kind):
        if str(kind.value_type) == "string_view":
            array = array.cast(pyarrow.dictionary(kind.index_type, text))
        array = array.cast(array.type.value_type)
    return array.cast(text) if str(array.type) == "string_view" else array


def _codes_of_objects(values, labels):
    n_labels = len(labels)
    code_of = dict(zip(labels, range(n_labels), strict=True))
    found = map(code_of.get, values.tolist(), repeat(n_labels))
    codes = without_data(lambda: np.fromiter(found, dtype=np.uint32, count=len(values)))
    others = np.flatnonzero(codes == n_labels)
    codes[others[_missing(values[others])]] = n_labels + 1
    return codes


def _codes_of_numbers(values, labels):
    if isinstance(labels[0], str):  # and all values are missing
        return np.full(len(values), len(labels) + 1, dtype=np.uint32)
    order = np.argsort(labels)
    known = np.array(labels)[order]
    places = np.minimum(np.searchsorted(known, values), len(known) - 1)
    codes = np.where(known[places] == values, order[places], len(labels)).astype(np.uint32)
    codes[np.isnan(values)] = len(labels) + 1
    return codes
