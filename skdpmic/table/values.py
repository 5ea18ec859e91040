"""The values of one column as numbers or as codes of labels. Errors quote no value.

Each value is converted by itself, as a function of this value and public facts. Declared types are public; without a
declared type, each value is checked by its own type, and a wrong type is an error.
"""

import sys
from decimal import Decimal
from itertools import repeat
from numbers import Integral, Real

import narwhals.stable.v2 as nw
import numpy as np

from skdpmic._utils.errors import read_by_engine, without_data, without_data_of
from skdpmic._utils.readable import is_date
from skdpmic.table.dates import DATES, DURATIONS, NUMBERS, kind_of_date, seconds, seconds_of

TEXT, BYTES, OBJECTS, OTHER = "text", "bytes", "objects", "other values"
ANY_ORDER = (NUMBERS, DATES, DURATIONS, OBJECTS)  # kinds that can be ordered
_OF_KIND = dict.fromkeys("biuf", NUMBERS) | {"O": OBJECTS, "M": DATES, "m": DURATIONS, "U": TEXT, "T": TEXT, "S": BYTES}


def kind_of(column):
    """The kind of a column, by its type: numbers, dates, durations, text, bytes, objects or other values.

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
    if _holds_objects(column):
        return OBJECTS
    if dtype == nw.String or _is_enum_of_polars(column):
        return TEXT
    if dtype in (nw.Categorical, nw.Enum):  # in pandas, labels may be numbers
        return OBJECTS
    return kind_of(column.to_numpy()) if dtype == nw.Unknown else OTHER


def _holds_objects(series):
    """Whether a type declares nothing; narwhals calls pandas objects text if the first ones are."""
    return series.dtype == nw.Object or (series.implementation.is_pandas() and series.to_native().dtype == object)


def declared_labels(column):
    """The labels declared by the type of a column, independent of its values; None if there are none."""
    if isinstance(column, np.ndarray):
        return (0.0, 1.0) if column.dtype.kind == "b" else None
    if column.dtype == nw.Boolean:
        return (0.0, 1.0)
    return tuple(column.dtype.categories) or None if _is_enum_of_polars(column) else None


def _is_enum_of_polars(column):
    """Whether the labels were declared; an ordered pandas Categorical (an Enum in narwhals) may get them from data."""
    return column.dtype == nw.Enum and column.implementation.is_polars()


def is_empty(column):
    """Whether all values are missing; the type of such a column is arbitrary."""
    if isinstance(column, np.ndarray):
        return column.dtype.kind == "f" and bool(np.isnan(column).all())
    return bool(column.is_null().all()) or (column.dtype.is_float() and bool(column.is_nan().all()))


# --- Numbers ---------------------------------------------------------------------------------------------------------


def as_numbers(column, of, name):
    """A column of numbers, dates or durations as floats: seconds for dates, NaN for missing values.

    Parameters
    ----------
    column : ndarray of shape (n_samples,), or Series of narwhals
        An array may hold numerals as text, as in an array of several columns some of which are labels.
    of : tuple of str
        Kinds allowed for objects.
    name : str
        Name of the column in errors.

    Returns
    -------
    float32 or float64 ndarray of shape (n_samples,)
    """
    values = column if isinstance(column, np.ndarray) else _to_numpy(column, name)
    kind = kind_of(values)
    if kind in (TEXT, BYTES) and NUMBERS in of:
        values = values.astype(object)
    elif kind not in of:
        if not is_empty(column):
            raise ValueError(_refusal(of, name))
        return np.full(len(values), np.nan)  # the type is arbitrary
    if values.dtype.kind in "mM":
        return seconds(values)
    if values.dtype.kind == "O":
        values = _of_objects(values, of, name)
    if values.dtype not in (np.float64, np.float32):
        values = values.astype(np.float64)
    if np.isinf(values).any():
        raise ValueError(f"Input {name} contains infinity.")
    return values


def _to_numpy(series, name):
    return read_by_engine(name, _in_a_type_of_numpy, series)


def _in_a_type_of_numpy(series):
    if series.dtype == nw.Boolean or isinstance(series.dtype, nw.Decimal):
        series = series.cast(nw.Float64)
    elif isinstance(series.dtype, nw.Date):
        series = series.cast(nw.Datetime("us"))
    return series.to_numpy()


def _of_objects(values, of, name):
    """Objects as floats, each by itself."""
    missing = is_missing(values)
    present = values[~missing]
    kinds = {kind_of_date(value) if is_date(value) else NUMBERS for value in _one_of_each_type(present)}
    if not kinds <= set(of) or len(kinds) > 1:
        raise ValueError(_refusal(of, name))
    result = np.full(len(values), np.nan)
    result[~missing] = _floats(present, name) if kinds <= {NUMBERS} else list(map(seconds_of, present))
    return result


def _refusal(of, name):
    allowed = " or ".join(kind for kind in of if kind != OBJECTS)
    return f"{name} must hold {allowed}, all of one kind, got at least one other value."


def _one_of_each_type(values):
    """Values that represent all kinds: one of each type, or all values, because 0-d arrays can hold any type."""
    if any(hasattr(kind, "__array__") and not issubclass(kind, np.generic) for kind in set(map(type, values))):
        return values
    return {type(value): value for value in values}.values()


def _floats(present, name):
    if any(issubclass(kind, complex | np.complexfloating) for kind in set(map(type, present))):
        raise ValueError("Complex data not supported.")  # numpy would drop imaginary parts
    return without_data_of(name, present.astype, np.float64)  # for objects, each by itself


def is_missing(values):
    """Mask of the objects that are None, NaN, NaT or NA."""
    pandas = sys.modules.get("pandas")  # without pandas there is no NA
    if pandas is not None:
        return pandas.isna(values)
    return without_data(lambda: np.array([value is None or bool(value != value) for value in values], dtype=np.bool_))


# --- Labels ----------------------------------------------------------------------------------------------------------


def kind_of_labels(labels):
    """Whether public labels are text or numbers."""
    return TEXT if isinstance(labels[0], str) else NUMBERS


def as_codes(column, labels, name):
    """A column of labels as codes: the index in `labels`; their number for other labels; one more for missing values.

    Parameters
    ----------
    column : ndarray of shape (n_samples,), or Series of narwhals
    labels : tuple of str, or of float
        Public labels; all values present must have the same type.
    name : str
        Name of the column in errors.

    Returns
    -------
    uint32 ndarray of shape (n_samples,)
    """
    kind = kind_of_labels(labels)
    if not isinstance(column, np.ndarray):
        if kind == TEXT and _declares_text(column):
            return read_by_engine(name, _codes_of_text, column, labels)
        column = _to_numpy(column, name)
    if kind == NUMBERS and column.dtype.kind in "biuf":
        return _codes_of_numbers(column.astype(np.float64), labels)
    column = column.astype(object)
    missing = is_missing(column)
    present = column[~missing]
    if not are_labels(present, kind):
        raise ValueError(f"{name} must hold {kind}, like categories, got at least one value of another type.")
    found = _codes_of_strings(present, labels) if kind == TEXT else _codes_of_numbers(_floats(present, name), labels)
    codes = np.full(len(column), len(labels) + 1, dtype=np.uint32)
    codes[~missing] = found
    return codes


def are_labels(values, kind):
    """Whether objects are text, bytes, or real numbers of Python, numpy or the standard library, with booleans."""
    return all(issubclass(of_value, _TYPES_OF_LABELS[kind]) for of_value in set(map(type, values)))


_TYPES_OF_LABELS = {TEXT: str, BYTES: bytes, NUMBERS: Real | np.bool_ | Decimal}


def plain_number(value):
    """A number as a Python number, which compare by value for all types."""
    return int(value) if isinstance(value, Integral | np.bool_) else float(value)


def _declares_text(series):
    """Whether a type declares all values as text, in a layout that a library reads faster than one by one."""
    if series.implementation.is_polars():
        return series.dtype in (nw.String, nw.Categorical, nw.Enum)
    if _is_of_arrow(series):
        kind = series.to_arrow().type
        return str(getattr(kind, "value_type", kind)) in ("string", "large_string", "string_view")
    is_categorical = series.dtype in (nw.Categorical, nw.Enum)
    return is_categorical and all(isinstance(label, str) for label in series.cat.get_categories())


def _codes_of_text(series, labels):
    """Codes of a Series of text, by the fastest method for its memory layout."""
    if _is_of_arrow(series):
        return _codes_of_arrow(series.to_arrow(), labels)
    if series.implementation.is_polars():  # whose Enum rejects undeclared labels
        series = series.cast(nw.String)
    n_labels = len(labels)
    codes = series.replace_strict(list(labels), list(range(n_labels)), default=n_labels, return_dtype=nw.UInt32)
    return np.where(series.is_null().to_numpy(), np.uint32(n_labels + 1), codes.to_numpy()).astype(np.uint32)


def _is_of_arrow(series):
    """Whether a Series has the Arrow layout, in pyarrow or pandas."""
    pandas, array = sys.modules.get("pandas"), getattr(series.to_native(), "array", None)
    is_of_pandas = pandas is not None and isinstance(array, pandas.arrays.ArrowExtensionArray)
    return is_of_pandas or series.implementation.is_pyarrow()


def _codes_of_arrow(array, labels):
    import pyarrow
    from pyarrow import compute

    array = decoded(array)
    n_labels = len(labels)
    codes = compute.fill_null(compute.index_in(array, value_set=pyarrow.array(labels, type=array.type)), n_labels)
    codes = compute.if_else(compute.is_null(array), pyarrow.scalar(n_labels + 1, codes.type), codes)
    return codes.to_numpy().astype(np.uint32)


def as_numpy_reads(series):
    """A native column of a numpy type: not decimals, which are the sums of integers in some engines."""
    if isinstance(series.dtype, nw.Decimal):
        series = series.cast(nw.Float64)
    return decoded(series.to_native()) if series.implementation.is_pyarrow() else series.to_native()


def decoded(array):
    """An Arrow column without a dictionary, with text in the layout that all Arrow functions support, not as views."""
    import pyarrow

    text, kind = pyarrow.large_string(), array.type
    if pyarrow.types.is_dictionary(kind):
        if str(kind.value_type) == "string_view":
            array = array.cast(pyarrow.dictionary(kind.index_type, text))
        array = array.cast(array.type.value_type)
    return array.cast(text) if str(array.type) == "string_view" else array


def _codes_of_strings(texts, labels):
    code_of = dict(zip(labels, range(len(labels)), strict=True))
    found = map(code_of.get, texts.tolist(), repeat(len(labels)))
    return without_data(lambda: np.fromiter(found, np.uint32, len(texts)))


def _codes_of_numbers(values, labels):
    order = np.argsort(labels)
    known = np.array(labels)[order]
    places = np.minimum(np.searchsorted(known, values), len(known) - 1)
    codes = np.where(known[places] == values, order[places], len(labels)).astype(np.uint32)
    codes[np.isnan(values)] = len(labels) + 1
    return codes
