"""The public description that accompanies reports: how each column is cut, and its budget.

Readers need not trust writers: every field is checked, and every size is limited.
"""

import json
import math
from fractions import Fraction
from typing import NamedTuple

from skdpmic._utils.untrusted_json import read_json
from skdpmic.privacy.parameters import check_epsilon, exact
from skdpmic.table.domains import Knots, Labels, LogRange, Range, from_json, to_json
from skdpmic.table.facts import checked_domain

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
