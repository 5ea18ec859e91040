"""The sizes in the headers of the pages of a Parquet file, which its footer need not state truly.

Each header is a struct in the compact protocol of Thrift, with the fields of ``PageHeader`` in ``parquet.thrift``.
"""

_UNCOMPRESSED, _COMPRESSED = 2, 3  # numbers of fields: bytes of the page
_TRUE, _FALSE, _BYTE, _INTEGERS, _DOUBLE, _BINARY, _STRUCT = 1, 2, 3, (4, 5, 6), 7, 8, 12
_MOST_LEVELS = 8  # of structs in one another
_DAMAGED = "reports must have pages of Parquet, got a damaged header."


def stated_bytes(data, column):
    """Bytes that the pages of a column take in memory, by their headers.

    Parameters
    ----------
    data : bytes-like
        The whole file.
    column : pyarrow.parquet.ColumnChunkMetaData
    """
    starts = [column.data_page_offset, *([column.dictionary_page_offset] if column.has_dictionary_page else [])]
    at, n_bytes = min(start for start in starts if start), 0
    end = at + column.total_compressed_size
    try:
        while at < end:
            header, at = _struct(data, at)
            size, stored = header[_UNCOMPRESSED], header[_COMPRESSED]
            if size < 0 or stored < 0:
                raise ValueError(_DAMAGED)
            n_bytes, at = n_bytes + size, at + stored
    except (IndexError, KeyError):
        raise ValueError(_DAMAGED) from None
    return n_bytes


def _struct(data, at, level=0):
    """The integers of a struct by the number of their field, and where it ends."""
    if level > _MOST_LEVELS or at < 0:
        raise ValueError(_DAMAGED)
    numbers, field = {}, 0
    while head := data[at]:
        at, step, kind = at + 1, head >> 4, head & 15
        if step:
            field += step
        else:
            field, at = _integer(data, at)
        if kind in _INTEGERS:
            numbers[field], at = _integer(data, at)
        elif kind == _STRUCT:
            _, at = _struct(data, at, level + 1)
        elif kind == _BINARY:
            length, at = _varint(data, at)
            at += length
        elif kind in (_TRUE, _FALSE, _BYTE, _DOUBLE):
            at += {_BYTE: 1, _DOUBLE: 8}.get(kind, 0)
        else:  # lists and maps, which these headers do not have
            raise ValueError(_DAMAGED)
    return numbers, at + 1


def _integer(data, at):
    number, at = _varint(data, at)
    return (number >> 1) ^ -(number & 1), at


def _varint(data, at):
    number, shift = 0, 0
    while shift < 70:
        number |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return number, at
    raise ValueError(_DAMAGED)
