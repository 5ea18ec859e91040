"""Columns of Arrow."""

import numpy as np

from skdpmic.table.domains import DATES, DURATIONS, NUMBERS
from skdpmic.table.normal_form.form import BOOLEANS, BYTES, OTHER, TEXT, Column, ColumnSource, column_of_codes, joined
from skdpmic.table.normal_form.from_numpy import objects_of, of_objects


def from_arrow(array):
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
    from pyarrow import compute, types

    name = str(dtype)
    if types.is_dictionary(dtype):
        kind, read = _reader_of(dtype.value_type)
        return kind, lambda array: _read_dictionary(array, read)
    if types.is_run_end_encoded(dtype):
        kind, read = _reader_of(dtype.value_type)
        return kind, lambda array: read(compute.run_end_decode(array))
    if types.is_date(dtype) or types.is_timestamp(dtype) or types.is_duration(dtype):
        kind, unit = (DURATIONS, "m8") if types.is_duration(dtype) else (DATES, "M8")
        unit = f"{unit}[{_UNITS_OF_DATES.get(name) or dtype.unit}]"  # with a time zone, in UTC
        return kind, lambda array: _read_words(array, kind, unit)
    if types.is_boolean(dtype) or types.is_integer(dtype) or types.is_floating(dtype):
        return NUMBERS, lambda array: _read_words(array, NUMBERS)
    if types.is_time(dtype):  # as counts of its unit: Python's times have no nanoseconds
        counts = _counts_of(dtype)
        return OTHER, lambda array: _read_words(array.view(counts), OTHER)
    if types.is_decimal(dtype):
        return NUMBERS, lambda array: _read_decimals(array)
    if name in _TEXTS or name in _BINARIES:
        kind = TEXT if name in _TEXTS else BYTES
        return kind, lambda array: _read_encoded(array, kind)
    return OTHER, lambda array: of_objects(objects_of(array), OTHER)  # each separately, as Python lacks some values


_UNITS_OF_DATES = {"date32[day]": "D", "date64[ms]": "ms"}
_TEXTS, _BINARIES = ("string", "large_string", "string_view"), ("binary", "large_binary", "binary_view")


def _nulls(array):
    return array.is_null().to_numpy(zero_copy_only=False)


def _read_words(array, kind, unit=None):
    """Values of equal width, as they are stored, whether null or not."""
    import pyarrow

    missing = _nulls(array)
    dtype = array.type if unit is None else _counts_of(array.type)
    if missing.all():  # there may be no buffer
        stored = np.zeros(len(array), dtype=dtype.to_pandas_dtype())
    else:
        buffers = [None, array.buffers()[1]]
        stored = pyarrow.Array.from_buffers(dtype, len(array), buffers, offset=array.offset).to_numpy(False)
    if unit is not None:
        stored = stored.astype(np.int64, copy=False).view(unit)
    return Column(kind, stored, missing | np.isnan(stored) if stored.dtype.kind == "f" else missing)


def _counts_of(dtype):
    """The integers in which times of this type are stored."""
    import pyarrow

    return pyarrow.int64() if dtype.bit_width == 64 else pyarrow.int32()


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
