"""The exchange format of reports: an Arrow table, in memory or in a file; no pickles.

Readers need not trust writers. The description is read first, then the number of records; values are read only if both
are valid.
"""

import os
import struct
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from skdpmic._utils.readable import abbreviated
from skdpmic._utils.texts import quoted
from skdpmic._utils.user_files import check_regular
from skdpmic.statistics.grids import parts_and_missing
from skdpmic.table.domains import Nominal
from skdpmic.table.normal_form.containers import open_column
from skdpmic.table.reading import read_columns
from skdpmic.two_party.reports_description import ReportsDescription, description_from_json

_KEY = b"skdpmic.reports"
_ARROW = b"ARROW1"  # how such files begin
_MOST_VALUES = 2**30  # records times columns; two bytes each


def true_parts(table, description):
    """The part of each value of a table, by column: int64, 0 ... n_parts - 1. Raw data; not private.

    Missing values are in the last part of a column, and an error if it has none for them.
    """
    values, _ = read_columns(table, description.domains)
    parts = [_placed(column, of_column) for column, of_column in zip(description.columns, values, strict=True)]
    described = zip(description.names, parts, strict=True)
    empty = [name for name, of_column in described if (of_column < 0).any()]
    if empty:
        raise ValueError(
            "X must have no NaN or other missing values with allow_missing=False, got some in columns "
            f"{abbreviated(empty)}."
        )
    return parts


def _placed(column, values):
    """The part of each value of a column, by its domain; -1 for a missing value without a part."""
    encoded = column.domain.encoded
    if isinstance(encoded, Nominal):
        parts, last = values.astype(np.int64), encoded.n_labels + 1
    else:
        parts, last = parts_and_missing(values, encoded, column.n_equal)[0].astype(np.int64), column.n_equal
    return parts if column.has_missing else np.where(parts == last, -1, parts)


class Reports(NamedTuple):
    """Reports, and their public description."""

    description: ReportsDescription
    parts: list  # n_columns integer arrays (n_samples,), -1 if a record does not report the column

    @property
    def n_samples(self):
        """Number of records."""
        return len(self.parts[0])


def to_arrow(reports):
    """An Arrow table of bytes, null if a record does not report the column; described in the metadata."""
    pyarrow = _pyarrow()
    arrays = [pyarrow.array(np.maximum(parts, 0), mask=parts < 0, type=pyarrow.uint8()) for parts in reports.parts]
    fields = [pyarrow.field(name, pyarrow.uint8(), nullable=True) for name in reports.description.names]
    metadata = {_KEY: reports.description.to_json().encode()}
    return pyarrow.table(arrays, schema=pyarrow.schema(fields, metadata=metadata))


class OpenReports(NamedTuple):
    """Reports of which only the description and the number of records have been read."""

    description: ReportsDescription
    n_samples: int
    read_table: object  # a function without arguments that returns the table

    def read(self):
        """The checked reports; a ValueError if they do not match their description."""
        with _errors_of_files():
            table = self.read_table()
            table.validate(full=True)
        if table.num_rows != self.n_samples:
            raise ValueError("reports must have the number of records stated at their beginning.")
        k, n_reported = self.description.columns_per_record, np.zeros(self.n_samples, dtype=np.int64)
        parts = []
        for j, column in enumerate(self.description.columns):
            parts.append(_parts(table.column(j), column))
            n_reported += parts[-1] >= 0
        if not np.all(n_reported == k):
            raise ValueError(f"reports must have {k} column(s) for each record, as in their description.")
        return Reports(self.description, parts)


@contextmanager
def open_reports(reports):
    """The reports in an Arrow table, or in an Arrow file; a ValueError or TypeError if there are none."""
    if isinstance(reports, str | os.PathLike):
        check_regular(reports)
        with open(reports, "rb") as file:
            yield _opened(*_in_file(file))
    elif isinstance(reports, _pyarrow().Table):
        yield _opened(reports.schema, lambda: reports.num_rows, lambda: reports)
    else:
        raise TypeError(
            "reports must be a pyarrow.Table from RandomizedResponse.to_arrow, or the path of an Arrow file of it, "
            f"got {type(reports).__name__}."
        )


def _opened(schema, count, read_table):
    text = (schema.metadata or {}).get(_KEY)
    if text is None:
        raise ValueError("reports must have the description in their metadata that RandomizedResponse.to_arrow writes.")
    description = description_from_json(text)
    if schema.names != description.names:
        raise ValueError("reports must have the columns of their description, in the same order.")
    for name, kind in zip(schema.names, schema.types, strict=True):
        if not _pyarrow().types.is_integer(kind):
            raise ValueError(f"reports of column {quoted(name)} must be integers, got {kind}.")
    with _errors_of_files():
        n_samples, n_columns = count(), len(description.columns)
    if n_samples * n_columns > _MOST_VALUES:
        raise ValueError(
            f"reports must have at most {_MOST_VALUES} values, got {n_samples} records of {n_columns} columns."
        )
    return OpenReports(description, n_samples, read_table)


def _parts(array, column):
    reported = open_column(array).read(f"reports of column {column.name!r}")
    parts = reported.each(lambda values: np.clip(values, -1, column.n_parts).astype(np.int16), -1)
    present = parts[~reported.missing]
    if len(present) and not (0 <= present.min() and present.max() < column.n_parts):
        raise ValueError(f"reports of column {column.name!r} must be in 0 ... {column.n_parts - 1}.")
    return parts


def _in_file(file):
    """The schema of a file, and functions that count its records and read them."""
    pyarrow = _pyarrow()

    if file.read(len(_ARROW)) != _ARROW:
        raise ValueError("reports must be an Arrow (Feather) file, got the path of another file.")
    with _errors_of_files():
        whole = ArrowFile(pyarrow.memory_map(os.fsdecode(file.name)))  # a length beyond its end takes no memory
        return whole.schema, whole.count, whole.read


@contextmanager
def _errors_of_files():
    """Replace Arrow's messages about damaged files, which might quote their content."""
    try:
        yield
    except (_pyarrow().ArrowException, OSError):
        pass
    else:
        return
    raise ValueError("reports must be a readable Arrow file or table, got a damaged one.")


def _pyarrow():
    try:
        import pyarrow
    except ImportError:
        raise ImportError("reports are Arrow tables, which require pyarrow: pip install skdpmic[two-party].") from None
    return pyarrow


# --- The sizes that a file states ------------------------------------------------------------------------------------
#
# The sizes that files of reports state in their headers, read before anything is decompressed.
#
# A few kilobytes may decompress to gigabytes. So the records are counted, and their memory is limited by this number,
# from the header of each batch.


_MAGIC_BYTES = 8  # at the beginning of an Arrow file, with padding; then follows what a stream has, batch by batch
# Numbers of fields in Arrow's Message.fbs, and the size of a Buffer there: its place and its length.
_HEADER, _LENGTH, _BUFFERS, _COMPRESSION, _BYTES_OF_BUFFER = 2, 0, 2, 3, 16
_BYTES_OF_VALUE = 18  # above those of two int64 with their bits
_PADDING = 2**10  # bytes that writers add to the buffers of a column


class ArrowFile:
    """An Arrow file of reports, whose batches are read in the order of the file, never by the places in its footer.

    Parameters
    ----------
    file : pyarrow.NativeFile
    """

    def __init__(self, file):
        self._file = file
        self.schema = self._from_begin(_pyarrow().ipc.open_stream).schema

    def count(self):
        """The number of records; a ValueError if some batch states more memory than its records take."""
        n_samples = 0
        reader = self._from_begin(_pyarrow().ipc.MessageReader.open_stream)
        for message in iter(lambda: next(reader, None), None):
            if message.type == "record batch":
                n_of_batch, n_bytes = _sizes(message.metadata, message.body)
                _check_memory(n_bytes, n_of_batch, len(self.schema))
                n_samples += n_of_batch
            elif message.type != "schema":
                raise ValueError("reports must have no dictionaries.")
        return n_samples

    def read(self):
        """The table of all batches."""
        return self._from_begin(_pyarrow().ipc.open_stream).read_all()

    def _from_begin(self, open_stream):
        self._file.seek(_MAGIC_BYTES)
        return open_stream(self._file)


def _check_memory(n_bytes, n_samples, n_columns):
    """Raise if this many records of integers cannot take this many bytes, with a few more for each column."""
    if not (n_samples >= 0 and 0 <= n_bytes <= n_columns * (n_samples * _BYTES_OF_VALUE + _PADDING)):
        raise ValueError(
            f"reports must be integers, got {n_samples} records of {n_columns} columns that would take {n_bytes} bytes."
        )


# --- Headers of Arrow, which are flatbuffers --------------------------------------------------------------------------


def _sizes(header, body):
    """The number of records of a batch, and the bytes of its buffers when decompressed."""
    batch = _target(header, _field(header, _target(header, 0), _HEADER))
    length, buffers = _field(header, batch, _LENGTH), _field(header, batch, _BUFFERS)
    n_samples = 0 if length is None else _read("<q", header, length)
    if buffers is None:
        return n_samples, 0
    vector = _target(header, buffers)
    first, n_bytes = vector + 4, 0
    for at in range(first, first + _BYTES_OF_BUFFER * _read("<I", header, vector), _BYTES_OF_BUFFER):
        place, size = _read("<q", header, at), _read("<q", header, at + 8)
        if size and _field(header, batch, _COMPRESSION) is not None:
            stated = _read("<q", body, place)
            size = size if stated == -1 else stated  # -1: this buffer is not compressed
        if size < 0:
            raise ValueError("reports must have no buffer of negative size.")
        n_bytes += size
    return n_samples, n_bytes


def _field(header, table, number):
    """The place of a field of a table; None if it has its default."""
    fields = table - _read("<i", header, table)
    at = 4 + 2 * number
    offset = _read("<H", header, fields + at) if at < _read("<H", header, fields) else 0
    return table + offset if offset else None


def _target(header, at):
    """The place to which the number at a place points."""
    if at is None:
        raise ValueError("reports must have headers of Arrow, got a damaged one.")
    return at + _read("<I", header, at)


def _read(kind, buffer, at):
    if not 0 <= at <= len(buffer) - struct.calcsize(kind):
        raise ValueError("reports must have headers of Arrow, got a damaged one.")
    return struct.unpack_from(kind, buffer, at)[0]
