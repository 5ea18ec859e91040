"""The normal form itself, and how columns of codes get it."""

import math
import sys
from collections.abc import Callable, Mapping, Set, Sized
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from skdpmic._utils.readable import refuse_collection, refuse_masked
from skdpmic._utils.texts import read_by_engine, without_data
from skdpmic.table.domains import DATES, DURATIONS, NUMBERS

TEXT, BYTES, OBJECTS, OTHER, CODED = "text", "bytes", "objects", "other values", "categorical values"
BOOLEANS = (0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Column:
    """A column in its normal form. Raw data; not private.

    Parameters
    ----------
    kind : str
        Numbers, dates, durations or text; else bytes, other values, or objects, each of which may be of any kind.
    values : ndarray of shape (n_values,)
        Numbers of numpy, or of Python if numpy has no exact type for them; dates as datetime64 and durations as
        timedelta64, of which only the integers count, because "not a time" may be a valid integer; else objects.
        Arbitrary where a row has no value.
    missing : bool ndarray of shape (n_samples,)
        Which rows have no value.
    places : int ndarray of shape (n_samples,), default=None
        Where in `values` the value of each row is; None if `values` has one for each row. With places, no object is
        missing, and each belongs to a row.
    """

    kind: str
    values: np.ndarray
    missing: np.ndarray
    places: np.ndarray | None = None

    @property
    def n_samples(self):
        """Number of rows."""
        return len(self.missing)

    def each(self, function, filler):
        """An array of the results of `function` for each value, with `filler` for missing ones.

        Parameters
        ----------
        function : callable
            Maps an array of values to an array of the same length, each value separately.
        filler : scalar
        """
        found = function(self.values)
        if self.places is not None:
            found = found[self.places] if len(found) else np.full(self.n_samples, filler, dtype=found.dtype)
        if self.missing.any():
            found = found.copy() if np.may_share_memory(found, self.values) else found
            np.putmask(found, self.missing, filler)
        return found

    def __getitem__(self, rows):
        """The column of some of the rows."""
        if self.places is None:
            return Column(self.kind, self.values[rows], self.missing[rows])
        of_values = Column(self.kind, self.values, np.zeros(len(self.values), dtype=np.bool_))
        return column_of_codes(self.places[rows], self.missing[rows], of_values.__getitem__)


class ColumnSource(NamedTuple):
    """A column of which only the declared type has been read."""

    kind: str
    make: Callable[[], Column]
    labels: tuple | None = None
    """Labels that the type declares, independent of the values."""
    is_coded: bool = False
    """Whether the values are codes of labels that may have been read from the data."""

    def read(self, name):
        """The column in its normal form; an error of the library names only the column."""
        with np.errstate(all="ignore"):
            return read_by_engine(name, self.make)


def column_of_codes(codes, missing, entries_at):
    """A column of codes; unused entries are never read.

    Parameters
    ----------
    codes : int64 ndarray of shape (n_samples,)
        Arbitrary where missing.
    missing : bool ndarray of shape (n_samples,)
    entries_at : callable
        Gives the Column of the entries of ascending codes.
    """
    is_used = np.bincount(codes[~missing]) > 0
    used = np.flatnonzero(is_used)
    entries = entries_at(used)
    place_of = np.append(np.cumsum(is_used) - 1, 0)
    places = place_of[np.where(missing, len(is_used), codes)]
    if len(used) == 0:
        return Column(entries.kind, entries.values, missing, places)
    missing = missing | entries.missing[places]  # an entry may also be missing
    if entries.places is not None:
        places = entries.places[places]
    return Column(entries.kind, entries.values, missing, places)


def joined(columns):
    """Columns below one another."""
    if len(columns) == 1:
        return columns[0]
    kind, missing = columns[0].kind, np.concatenate([column.missing for column in columns])
    values = np.concatenate([column.values for column in columns])
    if all(column.places is None for column in columns):
        return Column(kind, values, missing)
    starts = np.cumsum([0, *(len(column.values) for column in columns)])
    places = [
        start + (np.arange(column.n_samples) if column.places is None else column.places)
        for start, column in zip(starts, columns, strict=False)
    ]
    # Rows without a value may have a place beyond the last one.
    return Column(kind, values, missing, np.minimum(np.concatenate(places), max(len(values) - 1, 0)))


def open_column(column):
    """The only way from a container to the normal form.

    Parameters
    ----------
    column : ndarray of shape (n_samples,), or Series of pandas, Polars, pyarrow or narwhals
    """
    if isinstance(column, np.ndarray):
        return _from_numpy(column)
    series = column if isinstance(column, nw.Series) else nw.from_native(column, series_only=True)
    native = series.to_native()
    if series.implementation.is_polars():
        return _from_polars(native)
    if series.implementation.is_pyarrow():
        return _from_arrow(native)
    return _from_pandas(native if series.implementation.is_pandas() else series.to_pandas())


def _from_arrow(array):
    """An array or a chunked array, whose chunks may have different dictionaries."""
    import pyarrow

    kind, read = _reader_of(array.type)

    def make():
        chunks = getattr(array, "chunks", [array]) or [pyarrow.array([], type=array.type)]
        return joined(list(map(read, chunks)))

    labels = BOOLEANS if pyarrow.types.is_boolean(array.type) else None
    return ColumnSource(kind, make, labels, pyarrow.types.is_dictionary(array.type))


def _reader_of(dtype):
    """The kind of an Arrow type, and the function that reads an array of it."""
    from pyarrow import types

    name = str(dtype)
    if types.is_dictionary(dtype):
        kind, read = _reader_of(dtype.value_type)
        return kind, lambda array: _read_dictionary(array, read)
    if types.is_date(dtype) or types.is_timestamp(dtype) or types.is_duration(dtype):
        kind, unit = (DURATIONS, "m8") if types.is_duration(dtype) else (DATES, "M8")
        unit = f"{unit}[{_UNITS_OF_DATES.get(name) or dtype.unit}]"  # with a time zone, in UTC
        return kind, lambda array: _read_words(array, kind, unit)
    if types.is_boolean(dtype) or types.is_integer(dtype) or types.is_floating(dtype):
        return NUMBERS, lambda array: _read_words(array, NUMBERS)
    if types.is_time(dtype):  # as counts of its unit: Python's times have no nanoseconds
        return OTHER, lambda array: _read_words(array, OTHER, np.int64)
    if types.is_decimal(dtype):
        return NUMBERS, _read_decimals
    if name in _TEXTS or name in _BINARIES:
        kind = TEXT if name in _TEXTS else BYTES
        return kind, lambda array: _read_encoded(array, kind)
    return OTHER, lambda array: of_objects(objects_of(array), OTHER)  # each separately, as Python lacks some values


_UNITS_OF_DATES = {"date32[day]": "D", "date64[ms]": "ms"}
_TEXTS, _BINARIES = ("string", "large_string", "string_view"), ("binary", "large_binary", "binary_view")


def _read_words(array, kind, unit=None):
    """Values of equal width, as they are stored, whether null or not; times as the integers that count units."""
    import pyarrow

    missing, dtype = array.is_null().to_numpy(zero_copy_only=False), array.type
    if unit is not None:
        dtype = pyarrow.int64() if dtype.bit_width == 64 else pyarrow.int32()
    if missing.all():  # there may be no buffer
        stored = np.zeros(len(array), dtype=dtype.to_pandas_dtype())
    else:
        buffers = [None, array.buffers()[1]]
        stored = pyarrow.Array.from_buffers(dtype, len(array), buffers, offset=array.offset).to_numpy(False)
    if unit is not None:
        stored = stored.astype(np.int64, copy=False).view(unit)
    return Column(kind, stored, missing | np.isnan(stored) if stored.dtype.kind == "f" else missing)


def _read_dictionary(array, read):
    """Codes, and the used entries of a dictionary."""
    import pyarrow

    codes, entries = _read_words(array.indices, NUMBERS), _not_as_views(array.dictionary)
    return column_of_codes(
        codes.values.astype(np.int64), codes.missing, lambda used: read(entries.take(pyarrow.array(used)))
    )


def _read_encoded(array, kind):
    """Values without a numpy type, each converted once."""
    encoded = _not_as_views(array).dictionary_encode()
    codes, entries = _read_words(encoded.indices, NUMBERS), encoded.dictionary.to_numpy(False).astype(object)
    return Column(kind, entries, codes.missing, np.where(codes.missing, 0, codes.values))


def _not_as_views(array):
    """Text in the layout that all functions of Arrow support."""
    import pyarrow

    plain = {"string_view": pyarrow.large_string(), "binary_view": pyarrow.large_binary()}.get(str(array.type))
    return array if plain is None else array.cast(plain)


def _read_decimals(array):
    import pyarrow

    if array.type.bit_width < 128:  # which have fewer functions
        array = array.cast(pyarrow.decimal128(array.type.precision, array.type.scale))
    return _read_encoded(array, NUMBERS)


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


def _from_numpy(array):
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
    return of_objects(array.astype(object), kind)


def of_objects(values, kind=OBJECTS):
    """Objects, each separately; those that only contain a scalar are replaced by it."""
    kinds = set(map(type, values))
    if any(map(is_box, kinds)):
        values = objects_of([_unboxed(value) if is_box(type(value)) else value for value in values])
        kinds = set(map(type, values))
    return compressed(kind, values, are_missing(values, kinds))


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
        if str(getattr(value, "type", "")) == "time64[ns]" and value.is_valid and value.value % 1000:
            return value  # Python's times have no nanoseconds
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


def are_missing(values, kinds):
    """Mask of the objects, of these types, that are None, NaN, NaT or NA, each judged separately."""
    others = kinds - _COMPLETE
    if others <= {type(None), float}:  # whose comparisons are known
        missing = np.equal(values, None) if type(None) in others else np.zeros(len(values), dtype=np.bool_)
        return missing | np.not_equal(values, values) if float in others else missing
    found = (type(value) in others and is_absent(value) for value in values)
    return without_data(np.fromiter, found, np.bool_, len(values))


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


def _from_pandas(series):
    """A Series of any type."""
    import pandas

    dtype, array = series.dtype, series.array
    if isinstance(array, pandas.arrays.ArrowExtensionArray):
        import pyarrow

        return _from_arrow(pyarrow.array(array))
    if isinstance(dtype, np.dtype):
        return _from_numpy(series.to_numpy())
    if isinstance(dtype, pandas.DatetimeTZDtype):
        return ColumnSource(DATES, lambda: read_numpy(series.to_numpy(dtype=f"M8[{dtype.unit}]"), DATES))  # UTC
    if isinstance(dtype, pandas.CategoricalDtype):
        return ColumnSource(_declared_entries(dtype).kind, lambda: _read_categorical(series), is_coded=True)
    if isinstance(dtype, pandas.SparseDtype):
        source = _from_numpy(np.empty(0, dtype=dtype.subtype))
        return source._replace(make=lambda: _read_sparse(array, source.kind))
    if hasattr(dtype, "numpy_dtype"):  # nullable numbers
        return _from_numpy(np.empty(0, dtype=dtype.numpy_dtype))._replace(make=lambda: _read_nullable(series))
    is_other = isinstance(dtype, pandas.IntervalDtype)  # a missing one makes floats of the ends of all others
    kind = TEXT if isinstance(dtype, pandas.StringDtype) else OTHER if is_other else OBJECTS
    return ColumnSource(kind, lambda: compressed(kind, series.to_numpy(dtype=object), series.isna().to_numpy()))


def _read_nullable(series):
    missing = series.isna().to_numpy()
    values = series.to_numpy(dtype=series.dtype.numpy_dtype, na_value=0)
    return Column(NUMBERS, values, missing | np.isnan(values))


def _read_categorical(series):
    codes = series.cat.codes.to_numpy().astype(np.int64)
    return column_of_codes(codes, codes < 0, lambda used: _declared_entries(series.dtype, used).make())


def _declared_entries(dtype, codes=()):
    """Some of the entries that a Categorical declares."""
    import pandas

    entries = dtype.categories.take(np.asarray(codes, dtype=np.int64))
    if isinstance(entries.dtype, pandas.IntervalDtype):  # of pandas.cut: labels by their text, such as "(0, 30]"
        texts = objects_of(list(map(str, entries)))
        return ColumnSource(TEXT, lambda: read_numpy(texts, TEXT))
    return _from_pandas(pandas.Series(entries, dtype=entries.dtype))  # an inferred type could differ


def _read_sparse(array, kind):
    """Values with those that are not stored; as floats if these are NaN, whether there are any or not."""
    import pandas

    if kind == NUMBERS and pandas.isna(array.fill_value):
        return read_numpy(np.asarray(array, dtype=np.float64), kind)  # integers would make numbers of missing values
    return read_numpy(array.to_dense(), kind)


def _from_polars(series):
    """A Series of any type."""
    dtype = series.dtype
    name = dtype.base_type().__name__
    if name in ("Date", "Datetime", "Duration"):
        kind, unit = (DURATIONS, "m8") if name == "Duration" else (DATES, "M8")
        unit = f"{unit}[{getattr(dtype, 'time_unit', None) or 'D'}]"
        return ColumnSource(kind, lambda: _read_polars(series.to_physical(), kind, unit))
    if name == "Time":  # as counts: Python's times have no nanoseconds
        return ColumnSource(OTHER, lambda: _read_polars(series.to_physical(), OTHER))
    if name == "Decimal" or name.endswith("128"):  # which numpy does not have
        return ColumnSource(NUMBERS, lambda: of_objects(objects_of(series.to_list()), NUMBERS))
    if name == "Boolean" or dtype.is_numeric():
        labels = BOOLEANS if name == "Boolean" else None
        return ColumnSource(NUMBERS, lambda: _read_polars(series, NUMBERS), labels)
    if name in ("String", "Categorical", "Enum"):
        labels = (tuple(dtype.categories) or None) if name == "Enum" else None
        return ColumnSource(TEXT, lambda: _read_texts(series.cast(str)), labels, name == "Categorical")
    kind = OBJECTS if name == "Object" else BYTES if name == "Binary" else OTHER
    return ColumnSource(kind, lambda: of_objects(objects_of(series.to_list()), kind))


def _read_polars(series, kind, unit=None):
    missing = series.is_null().to_numpy()
    filler = 0 if series.dtype.is_numeric() else False
    filled = (series.fill_null(filler) if missing.any() else series).to_numpy()
    if unit is not None:
        filled = filled.astype(np.int64).view(unit)
    return Column(kind, filled, missing | np.isnan(filled) if filled.dtype.kind == "f" else missing)


def _read_texts(series):
    """Texts, each distinct one converted once."""
    import polars

    distinct = series.unique().drop_nulls()
    numbers = polars.int_range(len(distinct), dtype=polars.UInt32, eager=True)
    places = series.replace_strict(distinct, numbers, default=0, return_dtype=polars.UInt32)
    return Column(TEXT, objects_of(distinct.to_list()), series.is_null().to_numpy(), places.to_numpy())
