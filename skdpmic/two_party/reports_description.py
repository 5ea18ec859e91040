"""The public description that accompanies reports: how each column is cut, and its budget.

Readers need not trust writers: every field is checked, and every size is limited.
"""

import json
import math
from fractions import Fraction
from typing import NamedTuple

from skdpmic._utils.untrusted_json import read_json
from skdpmic.privacy.parameters import SMALLEST_EPSILON, check_epsilon, exact
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
    """The description in an untrusted text; a ValueError that names the invalid field otherwise."""
    if len(text) > MOST_BYTES:
        raise _refused("the text", f"of at most {MOST_BYTES} bytes", len(text))
    try:
        values = read_json(text)
    except ValueError:
        values = None  # the message might quote the file
    return _checked(values)


def _checked(values):
    _check_fields(values, "the text", ("version", "mechanism", "epsilon", "columns_per_record", "columns"))
    _must(_is_whole(values["version"], VERSION, VERSION), "version", VERSION, values["version"])
    _must(values["mechanism"] == MECHANISM, "mechanism", repr(MECHANISM), values["mechanism"])
    columns = values["columns"]
    _must(
        isinstance(columns, list) and 1 <= len(columns) <= MOST_COLUMNS,
        "columns",
        f"a list of 1 to {MOST_COLUMNS} columns",
        columns,
    )
    epsilon, k = _checked_epsilon(values["epsilon"]), values["columns_per_record"]
    _must(_is_whole(k, 1, len(columns)), "columns_per_record", f"an int from 1 to {len(columns)}", k)
    description = ReportsDescription(epsilon, k, tuple(_checked_column(*column) for column in enumerate(columns)))
    _must(len(set(description.names)) == len(columns), "names of columns", "distinct", columns)
    description.check_sizes()
    return description


def _checked_epsilon(value):
    allowed = f"'infinity' or a number of at least {SMALLEST_EPSILON}"
    if value == "infinity":
        return math.inf
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    _must(is_number and value != math.inf, "epsilon", allowed, value)
    try:
        check_epsilon(value)
        return float(value)
    except (ValueError, OverflowError):
        raise _refused("epsilon", allowed, value) from None


def _checked_column(j, values):
    field = f"columns[{j}]"
    _check_fields(values, field, ("name", "described", "equal_parts", "missing"))
    name, described, n_equal, has_missing = (values[key] for key in ("name", "described", "equal_parts", "missing"))
    _must(isinstance(name, str), f"{field}.name", "a str", name)
    _must(isinstance(has_missing, bool), f"{field}.missing", "true or false", has_missing)
    domain = _checked_described(described, f"{field}.described")
    if isinstance(domain, Labels):
        most = MOST_PARTS - 1 - has_missing
        _must(len(domain.labels) <= most, f"{field}.described", f"at most {most} labels", described)
        _must(n_equal is None, f"{field}.equal_parts", "null for a column of labels", n_equal)
    else:
        most = MOST_PARTS - has_missing
        _must(_is_whole(n_equal, 2, most), f"{field}.equal_parts", f"an int from 2 to {most}", n_equal)
    return ReportedColumn(name, domain, n_equal, has_missing)


def _checked_described(described, field):
    """The domain, if writing it gives back the same description."""
    try:
        domain = checked_domain(from_json(described))
        if isinstance(domain, Range | LogRange | Knots | Labels) and json.dumps(to_json(domain)) == json.dumps(
            described
        ):
            return domain
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        pass  # the message might quote the file
    raise _refused(field, "a range, knots or labels as RandomizedResponse.to_arrow writes them", described)


def _check_fields(values, field, names):
    allowed = f"a JSON object with exactly the fields {', '.join(names)}, each once"
    _must(isinstance(values, dict) and set(values) == set(names), field, allowed, values)


def _must(is_right, field, allowed, value):
    if not is_right:
        raise _refused(field, allowed, value)


def _refused(field, allowed, value):
    """The error, without text from the file; numbers are settings, and are shown."""
    is_number = isinstance(value, int | float) and abs(value) < 1e15
    return ValueError(
        f"reports must have a description of version {VERSION}, as written by RandomizedResponse.to_arrow: {field} "
        f"must be {allowed}, got {value if is_number else type(value).__name__}."
    )


def _is_whole(value, least, most):
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
