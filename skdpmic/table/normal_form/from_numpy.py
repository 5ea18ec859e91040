"""Columns of numpy, and objects, each read separately."""

import math
import sys
from collections.abc import Mapping, Set, Sized
from decimal import Decimal
from itertools import chain

import numpy as np

from skdpmic._utils.errors import without_data
from skdpmic._utils.readable import refuse_collection, refuse_masked
from skdpmic.table.domains import DATES, DURATIONS, NUMBERS
from skdpmic.table.normal_form.form import BOOLEANS, BYTES, OBJECTS, OTHER, TEXT, Column, ColumnSource

_KINDS = dict.fromkeys("biuf", NUMBERS) | {"O": OBJECTS, "M": DATES, "m": DURATIONS, "U": TEXT, "T": TEXT, "S": BYTES}


_DECLARED = ("__array__", "__array_interface__", "__array_namespace__", "__dataframe__", "dtype")
_NO_ROWS = (str, bytes, bytearray, Mapping, Set, np.generic)


def array_of(values, name):
    """The array of a table or a column without types of its own, such as a list: of objects, each as it is.

    numpy would infer a common type: one date in femtoseconds would change the unit of all others, and one numeral would
    turn all numbers into text, and missing values into the text "nan".
    """
    refuse_masked(values, name)
    refuse_collection(values, name)
    array = without_data(np.asanyarray, _as_objects(values))
    refuse_masked(array, name)  # of an object that converts itself
    return np.asarray(array)


def _as_objects(values):
    """Values without a dtype as an array of objects, two-dimensional if they are rows of one length."""
    if isinstance(values, memoryview) or any(hasattr(values, name) for name in _DECLARED):
        return values
    if not _is_sequence(type(values)):
        return without_data(np.array, values, dtype=object)
    may_be_rows = all(map(_is_sequence, set(map(type, values)))) and all(getattr(row, "ndim", 1) for row in values)
    widths = set(map(len, values)) if may_be_rows else ()
    if len(widths) != 1:
        return objects_of(values)
    shape = len(values), max(widths)
    return objects_of(chain.from_iterable(values), math.prod(shape)).reshape(shape)


def _is_sequence(kind):
    return issubclass(kind, Sized) and hasattr(kind, "__getitem__") and not issubclass(kind, _NO_ROWS)


def floats_if_all_are(objects):
    """Objects that are all floats of Python or of NumPy as the same floats; other objects unchanged."""
    kinds = set(map(type, objects.ravel()))
    return objects.astype(np.float64) if kinds and kinds <= {float, np.float64} else objects


def kind_of_dtype(dtype):
    """The kind that a type of numpy declares."""
    return _KINDS.get(dtype.kind, OTHER)


def from_numpy(array):
    """An array of any type."""
    kind = kind_of_dtype(array.dtype)
    return ColumnSource(kind, lambda: read_numpy(array, kind), BOOLEANS if array.dtype.kind == "b" else None)


def read_numpy(array, kind):
    """The column of an array, whose type does not matter if it holds numbers, dates or durations."""
    if kind == NUMBERS:
        return Column(kind, array, np.isnan(array) if array.dtype.kind == "f" else np.zeros(len(array), dtype=np.bool_))
    if kind in (DATES, DURATIONS):  # whose integers are viewed, so they must be in the order of this processor
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        return Column(kind, native, np.isnat(native))
    values = array.astype(object)
    absent = getattr(array.dtype, "na_object", None)  # of variable-width text
    if absent is None or isinstance(absent, str):
        return of_objects(values, kind)
    return compressed(kind, values, np.fromiter((value is absent for value in values), np.bool_, len(values)))


def of_objects(values, kind=OBJECTS):
    """Objects, each separately; those that only contain a scalar are replaced by it."""
    kinds = set(map(type, values))
    if any(map(is_box, kinds)):
        values = objects_of([_unboxed(value) if is_box(type(value)) else value for value in values])
        kinds = set(map(type, values))
    return compressed(kind, values, without_data(_are_missing, values, kinds))


def objects_of(values, count=None):
    """Values as an array of objects, whatever these contain; `count` is their number if they have no length."""
    return np.fromiter(values, dtype=object, count=len(values) if count is None else count)


def is_box(kind):
    """Whether objects of this class contain a scalar: arrays of no dimension, and scalars of Arrow."""
    return (hasattr(kind, "__array__") and not issubclass(kind, np.generic)) or hasattr(kind, "as_py")


def _unboxed(value):
    if isinstance(value, np.ma.MaskedArray):  # a masked value among others
        return None if value.ndim == 0 and value.mask else value
    if hasattr(value, "as_py"):
        try:
            return value.as_py()
        except Exception:
            return value  # Python has no such value, which is then of no kind that can be read
    array = np.asarray(value)
    return array[()] if array.ndim == 0 else value


def compressed(kind, values, missing):
    """A column of values without those that are missing."""
    if not missing.any():
        return Column(kind, values, missing)
    return Column(kind, values[~missing], missing, np.maximum(np.cumsum(~missing) - 1, 0))


_COMPLETE = frozenset({str, bytes, int, bool, np.str_, np.bool_, np.int64})
_UNEQUAL_IF_MISSING = (float, complex, np.inexact, np.datetime64, np.timedelta64)


def is_missing(values):
    """Mask of the objects that are None, NaN, NaT or NA, each judged separately."""
    return without_data(_are_missing, values, set(map(type, values)))


def _are_missing(values, kinds):
    others = kinds - _COMPLETE
    if others <= {type(None), float}:  # whose comparisons are known
        missing = np.equal(values, None) if type(None) in others else np.zeros(len(values), dtype=np.bool_)
        return missing | np.not_equal(values, values) if float in others else missing
    return np.fromiter((type(value) in others and is_absent(value) for value in values), np.bool_, len(values))


def is_absent(value):
    """Whether an object is None, NaN, NaT or NA."""
    if isinstance(value, Decimal):
        return value.is_nan()  # a signalling NaN cannot be compared
    pandas = sys.modules.get("pandas")  # without pandas there is no NA
    if value is None or (pandas is not None and (value is pandas.NA or value is pandas.NaT)):
        return True
    return isinstance(value, _UNEQUAL_IF_MISSING) and bool(value != value)


def exact_number(value):
    """The nearest float64, but an int if that is an integer and the value another one; None if it is neither."""
    if isinstance(value, int | np.integer | np.bool_):
        value = int(value)
    try:
        nearest = float(value)
    except OverflowError:
        return value if isinstance(value, int) else None
    if nearest == value or not nearest.is_integer():
        return nearest
    return int(value) if value == int(value) else None
