"""What is public about one column, and what becomes of its values: numbers in a range, or one of some parts.

Each axis says how kernels see the column, its *scale*, and turns values into it. It looks at each value by itself.
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
        """As a user gives it, but dates in seconds."""
        return self.lower, self.upper

    scale = bounds  # the range of what `place` gives

    def place(self, values):
        """Values as they are."""
        return values

    def value_at(self, position):
        """The value that `place` puts there: a number, a date or a duration."""
        return as_date(position, self.of)


@dataclass(frozen=True)
class LogRange:
    """Parts of equal width in sign(x) ln(1 + abs(x)), between two public ends."""

    lower: float
    upper: float
    of: ClassVar[str] = NUMBERS

    @property
    def bounds(self):
        """As a user gives it."""
        return self.lower, self.upper, "log"

    @property
    def scale(self):
        """The range of what `place` gives."""
        lower, upper = self.place(np.array([self.lower, self.upper])).tolist()
        return lower, upper

    def place(self, values):
        """Logarithms, with their sign."""
        values = np.asarray(values, dtype=np.float64)
        return np.copysign(np.log1p(np.abs(values)), values)

    def value_at(self, position):
        """The value that `place` puts there."""
        return math.copysign(math.expm1(abs(position)), position)


@dataclass(frozen=True)
class Knots:
    """As many parts of equal width between each two neighbours of public knots."""

    knots: tuple
    of: str = NUMBERS

    @property
    def bounds(self):
        """As a user gives it, but dates in seconds."""
        return self.knots

    @property
    def scale(self):
        """The range of what `place` gives."""
        return 0.0, len(self.knots) - 1.0

    def place(self, values):
        """How many knots are below each value, and how far it is on the way to the next."""
        values = np.asarray(values, dtype=np.float64)
        return np.interp(values, self.knots, np.arange(len(self.knots), dtype=np.float64))

    def value_at(self, position):
        """The value that `place` puts there: a number, a date or a duration."""
        return as_date(float(np.interp(position, np.arange(len(self.knots)), self.knots)), self.of)


@dataclass(frozen=True)
class Labels:
    """The public labels of a nominal feature; other labels have their own bin, as do missing values."""

    labels: tuple
    of: ClassVar[str] = "labels"

    @property
    def scale(self):
        """How many labels there are."""
        return Nominal(len(self.labels))

    def place(self, codes):
        """Codes as they are."""
        return codes


@dataclass(frozen=True)
class Order:
    """Nothing is public but that values have an order, which is all that ranks need."""

    of: ClassVar[str] = "order"
    scale: ClassVar[None] = None

    def place(self, values):
        """Values as they are."""
        return values


@dataclass(frozen=True)
class Unread:
    """Nothing is said of the column, and none of its values is looked at."""

    of: ClassVar[str] = "unread"
    scale: ClassVar[tuple] = (0.0, 1.0)  # whatever: nothing is scored

    def place(self, values):
        """Values as they are."""
        return values


def is_range(lower, upper):
    """Whether two numbers are ends of a range: finite, as is its width, and in order."""
    return lower < upper and math.isfinite(upper - lower)


# --- As text, for sketches ------------------------------------------------------------------------------------------

_KINDS = {kind.__name__: kind for kind in (Range, LogRange, Knots, Labels, Unread)}


def to_json(axis):
    """An axis as plain lists and numbers, the same for equal axes; None as it is."""
    return None if axis is None else [type(axis).__name__, *map(_plain, astuple(axis))]


def _plain(field):
    if isinstance(field, tuple):
        return [_plain(item) for item in field]
    return field + 0.0 if isinstance(field, float) else field  # 0 instead of -0


def from_json(values):
    """The axis that was written like this."""
    if values is None:
        return None
    kind, *fields = values
    return _KINDS[kind](*(tuple(field) if isinstance(field, list) else field for field in fields))
