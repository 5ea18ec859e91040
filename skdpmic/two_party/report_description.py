"""What is public about reports: how each column was cut into parts, and with which budget the parts were reported.

It travels with the reports, as JSON. Whoever reads it need not trust whoever wrote it.
"""

import json
import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from skdpmic.privacy.parameters import check_epsilon, exact
from skdpmic.statistics.grids.partitions import parts_and_missing
from skdpmic.table.axes import Knots, Labels, LogRange, Range, from_json, to_json
from skdpmic.table.description import checked_axis
from skdpmic.table.nominal import Nominal

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
