"""Reports as they go from one party to the other: a table of Arrow, in memory or in a file; no pickles."""

import os
from typing import NamedTuple

import numpy as np

from skdpmic.two_party.report_description import ReportsDescription, description_from_json

_KEY = b"skdpmic.reports"
_PARQUET, _ARROW = b"PAR1", b"ARROW1"  # what files of these formats begin with


class Reports(NamedTuple):
    """Reports, and what is public about them."""

    description: ReportsDescription
    parts: list  # of n_columns: int64 (n_samples,), -1 where a record does not report the column

    @property
    def n_samples(self):
        """Number of records."""
        return len(self.parts[0])


def to_arrow(reports):
    """A table of Arrow: whole numbers, null where a record does not report the column; described in the metadata."""
    pyarrow = _pyarrow()
    arrays, fields = [], []
    for parts, column in zip(reports.parts, reports.description.columns, strict=True):
        kind = pyarrow.uint8() if column.n_parts <= 2**8 else pyarrow.uint16()
        arrays.append(pyarrow.array(np.maximum(parts, 0), mask=parts < 0, type=kind))
        fields.append(pyarrow.field(column.name, kind, nullable=True))
    metadata = {_KEY: reports.description.to_json().encode()}
    return pyarrow.table(arrays, schema=pyarrow.schema(fields, metadata=metadata))


def read_reports(reports):
    """The reports in a table of Arrow, or in a Parquet or Arrow file; a ValueError or TypeError if there are none.

    Everything is checked, as it comes from somebody else.
    """
    table = _open(reports) if isinstance(reports, str | os.PathLike) else reports
    if not isinstance(table, _pyarrow().Table):
        raise TypeError(
            "reports must be a pyarrow.Table that RandomizedResponse.to_arrow made, or the path of a Parquet or Arrow "
            f"file of it, got {type(reports).__name__}."
        )
    text = (table.schema.metadata or {}).get(_KEY)
    if text is None:
        raise ValueError("reports must have a description in their metadata, as RandomizedResponse.to_arrow writes it.")
    description = description_from_json(text)
    if table.column_names != description.names:
        raise ValueError("reports must have the columns that their description names, in its order.")
    parts = [_parts(table.column(j), column) for j, column in enumerate(description.columns)]
    n_reported = np.sum([of_column >= 0 for of_column in parts], axis=0)
    if not np.all(n_reported == description.columns_per_record):
        raise ValueError(
            f"reports must be of {description.columns_per_record} column(s) for each record, as their description says."
        )
    return Reports(description, parts)


def _parts(array, column):
    pyarrow = _pyarrow()
    if not pyarrow.types.is_integer(array.type):
        raise ValueError(f"reports of column {column.name!r} must be whole numbers, got {array.type}.")
    missing = array.is_null().to_numpy()
    values = array.fill_null(0).to_numpy()
    if len(values) and not (0 <= values.min() and values.max() < column.n_parts):
        raise ValueError(f"reports of column {column.name!r} must be in 0 ... {column.n_parts - 1}.")
    return np.where(missing, -1, values.astype(np.int64))


def _open(path):
    pyarrow = _pyarrow()
    with open(path, "rb") as file:
        begins = file.read(6)
    try:
        if begins.startswith(_PARQUET):
            from pyarrow import parquet

            with open(path, "rb") as file:
                return parquet.read_table(file)
        if begins == _ARROW:
            with open(path, "rb") as file, pyarrow.ipc.open_file(file) as arrow:
                return arrow.read_all()
    except (pyarrow.ArrowException, OSError):
        pass
    raise ValueError("reports must be a Parquet or Arrow file that can be read, got the path of another one.")


def _pyarrow():
    try:
        import pyarrow
    except ImportError:
        raise ImportError("reports are tables of Arrow, which need pyarrow: pip install skdpmic[two-party].") from None
    return pyarrow
