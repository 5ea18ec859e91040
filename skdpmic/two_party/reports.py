"""The exchange format of reports: an Arrow table, in memory or in a file; no pickles.

Readers need not trust writers. The description is read first, then the number of records; values are read only if both
are valid.
"""

import json
import math
import os
import struct
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from skdpmic._utils.readable import abbreviated
from skdpmic._utils.texts import imported, quoted, require, require_type
from skdpmic._utils.user_files import check_regular, read_json
from skdpmic.privacy.composition import check_epsilon, exact
from skdpmic.statistics.grids import parts_and_missing
from skdpmic.table.domains import Ignored, Integers, Knots, Labels, LogRange, Nominal, Range, to_json
from skdpmic.table.facts import from_json
from skdpmic.table.normal_form import open_column
from skdpmic.table.records import read_columns

VERSION, MECHANISM = 1, "m-ary randomised response"
MOST_PARTS = 2**8  # of a column; the number of a part fits in a byte
MOST_COLUMNS = 10_000
MOST_PARTS_IN_ALL = 2**19  # of all columns, which is the number of rows in all tables of counts
MOST_BYTES = 2**23  # of the text
_FIELDS = ("name", "described", "equal_parts", "missing")  # of a column, in the text


class ReportedColumn(NamedTuple):
    """One column of reports."""

    name: str
    domain: Range | LogRange | Knots | Integers | Labels
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
        columns = [(name, to_json(domain), *others) for name, domain, *others in self.columns]
        stated = {
            "version": VERSION,
            "mechanism": MECHANISM,
            "epsilon": "infinity" if self.epsilon == math.inf else float(self.epsilon),
            "columns_per_record": self.columns_per_record,
            "columns": [dict(zip(_FIELDS, column, strict=True)) for column in columns],
        }
        return json.dumps(stated, allow_nan=False)

    def check_sizes(self):
        """Raise a ValueError if the description exceeds the limits of readers."""
        sizes = [column.n_parts for column in self.columns]
        for what, number, most in (
            ("columns", len(sizes), MOST_COLUMNS),
            ("parts in a column, including those of other labels and of missing values", max(sizes), MOST_PARTS),
            ("parts in all columns together", sum(sizes), MOST_PARTS_IN_ALL),
            ("bytes in the names and labels", len(self.to_json().encode()), MOST_BYTES),
        ):
            require(number <= most, f"reports must have at most {most} {what}", number)


def description_from_json(text):
    """The description in an untrusted text; a ValueError, which quotes none of it, unless `to_json` writes the same."""
    require(len(text) <= MOST_BYTES, f"reports must have a description of at most {MOST_BYTES} bytes", len(text))
    try:
        values = read_json(text)
        fields = ([column[field] for field in _FIELDS] for column in values["columns"])
        columns = tuple(ReportedColumn(name, from_json(of), *others) for name, of, *others in fields)
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
    if not isinstance(column.has_missing, bool) or isinstance(column.domain, Ignored):
        return False
    is_cut = type(column.n_equal) is int and column.n_equal >= 2
    return (column.n_equal is None if isinstance(column.domain, Labels) else is_cut) and column.n_parts <= MOST_PARTS


_KEY = b"skdpmic.reports"
_MOST_VALUES = 2**30  # records times columns; two bytes each


def true_parts(table, description):
    """The part of each value of a table, by column: int64, 0 ... n_parts - 1. Raw data; not private.

    Missing values are in the last part of a column, and an error if it has none for them.
    """
    values = read_columns(table, description.domains)
    parts = [_placed(column, of_column) for column, of_column in zip(description.columns, values, strict=True)]
    empty = [name for name, each in zip(description.names, parts, strict=True) if (each < 0).any()]
    if empty:
        raise ValueError(
            "X must have no NaN or other missing values with allow_missing=False, got some in columns "
            f"{abbreviated(empty)}."
        )
    return parts


def _placed(column, values):
    """The part of each value of a column, by its domain; -1 for a missing value without a part."""
    encoded = column.domain.encoded
    if not isinstance(encoded, Nominal):
        values, _ = parts_and_missing(values, encoded, column.n_equal)
    parts = values.astype(np.int64)
    return parts if column.has_missing else np.where(parts == column.n_parts, -1, parts)


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
    table: Any  # of Arrow

    def read(self):
        """The checked reports; a ValueError if they do not match their description."""
        _without_content(self.table.validate, full=True)
        parts = [_parts(self.table.column(j), column) for j, column in enumerate(self.description.columns)]
        k = self.description.columns_per_record
        if not np.all(sum(of_column >= 0 for of_column in parts) == k):
            raise ValueError(f"reports must have {k} column(s) for each record, as in their description.")
        return Reports(self.description, parts)


def open_reports(reports):
    """The reports in an Arrow table, or in an Arrow file; a ValueError or TypeError if there are none."""
    if isinstance(reports, str | os.PathLike):
        check_regular(reports)
        reports = _without_content(_table_in, reports)
    allowed = "a pyarrow.Table from RandomizedResponse.to_arrow, or the path of an Arrow file of it"
    require_type(isinstance(reports, _pyarrow().Table), f"reports must be {allowed}", reports)
    text = (reports.schema.metadata or {}).get(_KEY)
    if text is None:
        raise ValueError("reports must have the description in their metadata that RandomizedResponse.to_arrow writes.")
    description = description_from_json(text)
    if reports.schema.names != description.names:
        raise ValueError("reports must have the columns of their description, in the same order.")
    for name, kind in zip(reports.schema.names, reports.schema.types, strict=True):
        if not _pyarrow().types.is_integer(kind):
            raise ValueError(f"reports of column {quoted(name)} must be integers, got {kind}.")
    n_samples, n_columns = reports.num_rows, len(description.columns)
    if n_samples * n_columns > _MOST_VALUES:
        raise ValueError(
            f"reports must have at most {_MOST_VALUES} values, got {n_samples} records of {n_columns} columns."
        )
    return OpenReports(description, n_samples, reports)


def _parts(array, column):
    reported = open_column(array).read(f"reports of column {column.name!r}")
    parts = reported.each(lambda values: np.clip(values, -1, column.n_parts).astype(np.int16), -1)
    present = parts[~reported.missing]
    if len(present) and not (0 <= present.min() and present.max() < column.n_parts):
        raise ValueError(f"reports of column {column.name!r} must be in 0 ... {column.n_parts - 1}.")
    return parts


_MAGIC_BYTES = 8  # at the beginning of an Arrow file, with padding; then follows what a stream has, batch by batch
_HEADER, _COMPRESSION = 2, 3  # numbers of fields in Arrow's Message.fbs: of a Message, and of a RecordBatch


def _table_in(path):
    """The table in an Arrow file, whose values stay there: a length beyond its end takes no memory.

    The batches are read in the order of the file, never by the places in its footer. A few kilobytes may decompress to
    gigabytes, so compressed files are refused.
    """
    ipc = _pyarrow().ipc
    file = _pyarrow().memory_map(os.fsdecode(path))
    file.seek(_MAGIC_BYTES)
    for message in ipc.MessageReader.open_stream(file):
        is_plain = message.type == "record batch" and not _is_compressed(message.metadata)
        if not is_plain and message.type != "schema":
            raise ValueError(
                "reports in a file must be integers without compression: write it by "
                "pyarrow.feather.write_feather(table, path, compression='uncompressed')."
            )
    file.seek(_MAGIC_BYTES)
    return ipc.open_stream(file).read_all()


def _is_compressed(header):
    """Whether a batch is compressed, by its header: a flatbuffer that Arrow has verified."""
    batch = _field(header, _target(header, 0), _HEADER)
    return batch is None or _field(header, _target(header, batch), _COMPRESSION) is not None


def _field(header, table, number):
    """The place of a field of a table; None if it is absent."""
    (back,) = struct.unpack_from("<i", header, table)
    (size,) = struct.unpack_from("<H", header, table - back)
    place = 4 + 2 * number
    (offset,) = struct.unpack_from("<H", header, table - back + place) if place < size else (0,)
    return table + offset if offset else None


def _target(header, place):
    """The place to which the number at a place points."""
    return place + struct.unpack_from("<I", header, place)[0]


def _without_content(read, *arguments, **options):
    """The result, without Arrow's errors about damaged files, whose messages might quote their content."""
    try:
        return read(*arguments, **options)
    except (_pyarrow().ArrowException, OSError):
        pass
    raise ValueError("reports must be a readable Arrow (Feather) file or table, got a damaged one or another file.")


def _pyarrow():
    return imported("pyarrow", "reports are Arrow tables, which require pyarrow: pip install skdpmic[two-party].")
