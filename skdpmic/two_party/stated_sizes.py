"""The sizes that files of reports state in their headers, read before anything is decompressed.

A few kilobytes may decompress to gigabytes. So the records are counted, and their memory is limited by this number,
from the header of each batch.
"""

import struct

import pyarrow

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
        self.schema = self._from_begin(pyarrow.ipc.open_stream).schema

    def count(self):
        """The number of records; a ValueError if some batch states more memory than its records take."""
        n_samples = 0
        reader = self._from_begin(pyarrow.ipc.MessageReader.open_stream)
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
        return self._from_begin(pyarrow.ipc.open_stream).read_all()

    def _from_begin(self, open_stream):
        self._file.seek(_MAGIC_BYTES)
        return open_stream(self._file)


def _check_memory(n_bytes, n_samples, n_columns):
    """Raise unless so many records of integers may take so many bytes, and a few more for each column."""
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
