"""The exchange format of reports: an Arrow table, in memory or in a file; no pickles.

Readers need not trust writers. The description is read first, then the number of records; values are read only if both
are valid.
"""

import json
import math
import os
import struct
from contextlib import contextmanager
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from skdpmic._utils.readable import abbreviated
from skdpmic._utils.texts import quoted
from skdpmic._utils.user_files import check_regular, read_json
from skdpmic.privacy.composition import check_epsilon, exact
from skdpmic.statistics.grids import parts_and_missing
from skdpmic.table.domains import Knots, Labels, LogRange, Nominal, Range, from_json, to_json
from skdpmic.table.facts import checked_domain
from skdpmic.table.frames import open_column
from skdpmic.table.records import read_columns

VERSION, MECHANISM = 1, "m-ary randomised response"
MOST_PARTS = 2**8  # of a column; the number of a part fits in a byte
MOST_COLUMNS = 10_000
MOST_PARTS_IN_ALL = 2**19  # of all columns, which is the number of rows in all tables of counts
MOST_BYTES = 2**23  # of the text


class ReportedColumn(NamedTuple):
    """One column of reports."""

    name: str
    domain: Range | LogRange | Knots | Labels
    n_equal: int | None  # number of equal parts of the range; None for labels
    has_missing: bool  # whether missing values have their own bin

    @property
    def n_parts(self):
        """Number of parts: the labels and one for others, or the equal parts; then one for missing values."""
        n_present = self.domain.encoded.n_labels + 1 if isinstance(self.domain, Labels) else self.n_equal
        return n_present + self.has_missing


class ReportsDescription(NamedTuple):
    """The public description of reports."""

    epsilon: float  # of all reports of a record together
    columns_per_record: int
    columns: tuple  # of ReportedColumn

    @property
    def epsilon_per_column(self):
        """Budget of one report: a Fraction, or infinity."""
        if self.epsilon == math.inf:
            return math.inf
        return Fraction(exact(self.epsilon), self.columns_per_record)

    @property
    def domains(self):
        """Domains of all columns."""
        return [column.domain for column in self.columns]

    @property
    def names(self):
        """Names of all columns."""
        return [column.name for column in self.columns]

    def to_json(self):
        """The description as JSON."""
        return json.dumps(
            {
                "version": VERSION,
                "mechanism": MECHANISM,
                "epsilon": "infinity" if self.epsilon == math.inf else float(self.epsilon),
                "columns_per_record": self.columns_per_record,
                "columns": [
                    {
                        "name": column.name,
                        "described": to_json(column.domain),
                        "equal_parts": column.n_equal,
                        "missing": column.has_missing,
                    }
                    for column in self.columns
                ],
            },
            allow_nan=False,
        )

    def check_sizes(self):
        """Raise a ValueError if the description exceeds the limits of readers."""
        if len(self.columns) > MOST_COLUMNS:
            raise ValueError(f"reports must have at most {MOST_COLUMNS} columns, got {len(self.columns)}.")
        for column in self.columns:
            if column.n_parts > MOST_PARTS:
                raise ValueError(
                    f"reports must have at most {MOST_PARTS} parts per column, including those of other labels and of "
                    f"missing values, got {column.n_parts} in column {column.name!r}."
                )
        in_all = sum(column.n_parts for column in self.columns)
        if in_all > MOST_PARTS_IN_ALL:
            raise ValueError(
                f"reports must have at most {MOST_PARTS_IN_ALL} parts in all columns together, got {in_all}."
            )
        n_bytes = len(self.to_json().encode())
        if n_bytes > MOST_BYTES:
            raise ValueError(f"reports must have names and labels of at most {MOST_BYTES} bytes, got {n_bytes}.")


def description_from_json(text):
    """The description in an untrusted text; a ValueError, which quotes none of it, unless `to_json` writes the same."""
    if len(text) > MOST_BYTES:
        raise ValueError(f"reports must have a description of at most {MOST_BYTES} bytes, got {len(text)}.")
    try:
        values = read_json(text)
        columns = tuple(_column_of_json(**column) for column in values["columns"])
        description = ReportsDescription(float(values["epsilon"]), values["columns_per_record"], columns)
        is_valid = _is_valid(description) and description.to_json() == json.dumps(values)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        is_valid = False  # the message might quote the text
    if not is_valid:
        raise ValueError(
            f"reports must have a description of version {VERSION}, as written by RandomizedResponse.to_arrow, got "
            "another or a damaged one."
        )
    description.check_sizes()
    return description


def _column_of_json(name, described, equal_parts, missing):
    return ReportedColumn(name, checked_domain(from_json(described)), equal_parts, missing)


def _is_valid(description):
    """Whether a description is one of reports: of what :meth:`ReportsDescription.to_json` writes as it is."""
    check_epsilon(description.epsilon)
    names, k = description.names, description.columns_per_record
    return (
        type(k) is int
        and 1 <= k <= len(names) == len(set(names))
        and all(isinstance(name, str) for name in names)
        and all(_is_valid_column(column) for column in description.columns)
    )


def _is_valid_column(column):
    if not isinstance(column.has_missing, bool):
        return False
    if isinstance(column.domain, Labels):
        return column.n_equal is None and column.n_parts <= MOST_PARTS
    if not isinstance(column.domain, Range | LogRange | Knots) or type(column.n_equal) is not int:
        return False
    return 2 <= column.n_equal <= MOST_PARTS - column.has_missing


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
