"""The public description of one column, and the conversion of its values: to numbers in a range, or to parts.

Each axis defines the *scale* that kernels use for the column, and converts values to it, each value by itself.
"""

import math
from dataclasses import astuple, dataclass
from typing import ClassVar

import numpy as np

from skdpmic.table.dates import NUMBERS, as_date
from skdpmic.table.nominal import Nominal


@dataclass(frozen=True)
class Range:
    """Parts of equal width between two public ends."""

    lower: float
    upper: float
    of: str = NUMBERS

    @property
    def bounds(self):
        """The form in `bounds`, but with dates in seconds."""
        return self.lower, self.upper

    scale = bounds  # the range of the result of `place`

    def place(self, values):
        """Values, unchanged."""
        return values

    def value_at(self, position):
        """The inverse of `place`: a number, a date or a duration."""
        return as_date(position, self.of)


@dataclass(frozen=True)
class LogRange:
    """Parts of equal width in sign(x) ln(1 + abs(x)), between two public ends."""

    lower: float
    upper: float
    of: ClassVar[str] = NUMBERS

    @property
    def bounds(self):
        """The form in `bounds`."""
        return self.lower, self.upper, "log"

    @property
    def scale(self):
        """The range of the result of `place`."""
        lower, upper = self.place(np.array([self.lower, self.upper])).tolist()
        return lower, upper

    def place(self, values):
        """Signed logarithms."""
        values = np.asarray(values, dtype=np.float64)
        return np.copysign(np.log1p(np.abs(values)), values)

    def value_at(self, position):
        """The inverse of `place`."""
        return math.copysign(math.expm1(abs(position)), position)


@dataclass(frozen=True)
class Knots:
    """The same number of parts of equal width between each two neighbouring public knots."""

    knots: tuple
    of: str = NUMBERS

    @property
    def bounds(self):
        """The form in `bounds`, but with dates in seconds."""
        return self.knots

    @property
    def scale(self):
        """The range of the result of `place`."""
        return 0.0, len(self.knots) - 1.0

    def place(self, values):
        """The number of knots below each value, plus its relative position between these two knots."""
        values = np.asarray(values, dtype=np.float64)
        return np.interp(values, self.knots, np.arange(len(self.knots), dtype=np.float64))

    def value_at(self, position):
        """The inverse of `place`: a number, a date or a duration."""
        return as_date(float(np.interp(position, np.arange(len(self.knots)), self.knots)), self.of)


@dataclass(frozen=True)
class Labels:
    """The public labels of a nominal feature; other labels have their own bin, as do missing values."""

    labels: tuple
    of: ClassVar[str] = "labels"

    @property
    def scale(self):
        """Number of labels."""
        return Nominal(len(self.labels))

    def place(self, codes):
        """Codes, unchanged."""
        return codes


@dataclass(frozen=True)
class Order:
    """Only the order of the values is public, which is all that ranks need."""

    of: ClassVar[str] = "order"
    scale: ClassVar[None] = None

    def place(self, values):
        """Values, unchanged."""
        return values


@dataclass(frozen=True)
class Unread:
    """A column without a description, whose values are not read."""

    of: ClassVar[str] = "unread"
    scale: ClassVar[tuple] = (0.0, 1.0)  # arbitrary: nothing is scored

    def place(self, values):
        """Values, unchanged."""
        return values


def is_range(lower, upper):
    """Whether two numbers are the ends of a range: finite, in order, and with a finite width."""
    return lower < upper and math.isfinite(upper - lower)


# --- As text, for sketches ------------------------------------------------------------------------------------------

_KINDS = {kind.__name__: kind for kind in (Range, LogRange, Knots, Labels, Unread)}


def to_json(axis):
    """An axis as plain lists and numbers, the same for equal axes; None is unchanged."""
    return None if axis is None else [type(axis).__name__, *map(_plain, astuple(axis))]


def _plain(field):
    if isinstance(field, tuple):
        return [_plain(item) for item in field]
    return field + 0.0 if isinstance(field, float) else field  # 0 instead of -0


def from_json(values):
    """The axis from its plain form."""
    if values is None:
        return None
    kind, *fields = values
    return _KINDS[kind](*(tuple(field) if isinstance(field, list) else field for field in fields))
