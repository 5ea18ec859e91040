"""Reports as they go from one party to the other: a table of Arrow, in memory or in a file; no pickles.

What is public about them travels with them, as JSON: how each column was cut into parts, and with which budget the
parts were reported. Whoever reads it need not trust whoever wrote it.
"""

import json
import math
import os
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from skdpmic.privacy.parameters import check_epsilon, exact
from skdpmic.statistics.grids.partitions import parts_and_missing
from skdpmic.table.axes import Knots, Labels, LogRange, Range, from_json, to_json
from skdpmic.table.description import checked_axis
from skdpmic.table.nominal import Nominal

_KEY = b"skdpmic.reports"
_PARQUET, _ARROW = b"PAR1", b"ARROW1"  # what files of these formats begin with
VERSION = 1
MOST_PARTS = 2**16  # of a column; the number of a part fits 16 bits


class ReportedColumn(NamedTuple):
    """One column of reports."""

    name: str
    axis: Range | LogRange | Knots | Labels
    n_equal: int | None  # equal parts of the range; None of labels
    has_missing: bool  # whether missing values have their own bin

    @property
    def n_parts(self):
        """How many parts there are: labels and one for others, or equal parts; then one for missing values."""
        n_present = self.axis.scale.n_labels + 1 if isinstance(self.axis, Labels) else self.n_equal
        return n_present + self.has_missing


class ReportsDescription(NamedTuple):
    """What is public about reports."""

    epsilon: float  # of all reports of a record together
    columns_per_record: int
    columns: tuple  # of ReportedColumn

    @property
    def epsilon_per_column(self):
        """The budget of one report: a Fraction, or infinity."""
        if self.epsilon == math.inf:
            return math.inf
        return Fraction(exact(self.epsilon), self.columns_per_record)

    @property
    def names(self):
        """Names of all columns."""
        return [column.name for column in self.columns]

    def to_json(self):
        """As text."""
        return json.dumps(
            {
                "version": VERSION,
                "mechanism": "m-ary randomised response",
                "epsilon": "infinity" if self.epsilon == math.inf else float(self.epsilon),
                "columns_per_record": self.columns_per_record,
                "columns": [
                    {
                        "name": column.name,
                        "described": to_json(column.axis),
                        "equal_parts": column.n_equal,
                        "missing": column.has_missing,
                    }
                    for column in self.columns
                ],
            },
            allow_nan=False,
        )


def description_from_json(text):
    """The description in a text that anyone may have written; a ValueError if it is none."""
    try:
        return _checked(json.loads(text, parse_constant=_refuse))
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError):
        pass  # whose message might quote what is in the file
    raise ValueError(
        f"reports must have a description of version {VERSION} as RandomizedResponse.to_arrow writes it, got one that "
        "is damaged, of another version, or made otherwise."
    )


def _refuse(constant):
    raise ValueError(constant)


def _checked(values):
    if values["version"] != VERSION:
        raise ValueError
    epsilon = math.inf if values["epsilon"] == "infinity" else _number(values["epsilon"])
    check_epsilon(epsilon)
    columns = tuple(map(_checked_column, values["columns"]))
    names = [column.name for column in columns]
    k = _whole(values["columns_per_record"], 1, len(columns))
    if len(set(names)) < len(names):
        raise ValueError
    return ReportsDescription(epsilon, k, columns)


def _checked_column(values):
    name, n_equal, has_missing = values["name"], values["equal_parts"], values["missing"]
    axis = checked_axis(from_json(values["described"]))
    if not isinstance(name, str) or not isinstance(has_missing, bool):
        raise TypeError
    if isinstance(axis, Labels) != (n_equal is None):
        raise ValueError
    if n_equal is not None:
        _whole(n_equal, 2, MOST_PARTS)
    column = ReportedColumn(name, axis, n_equal, has_missing)
    _whole(column.n_parts, 2, MOST_PARTS)
    return column


def _number(value):
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError
    return float(value)


def _whole(value, least, most):
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError
    return value


def placed(column, values):
    """The true part of each value of a column, placed by its axis: int64, 0 ... n_parts - 1.

    Missing values are in the last part, if they have one; else -1.
    """
    if isinstance(column.axis.scale, Nominal):
        parts, last = values.astype(np.int64), column.axis.scale.n_labels + 1
    else:
        parts, last = parts_and_missing(values, column.axis.scale, column.n_equal)[0].astype(np.int64), column.n_equal
    if not column.has_missing:
        parts[parts == last] = -1
    return parts


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
