"""The public description of one column, and the conversion of its values: to numbers in a range, or to parts.

A domain encodes values, each by itself; its *encoded* domain is all that kernels know of the column.
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

    encoded = bounds

    def encode(self, values):
        """Values, unchanged."""
        return values

    def decode(self, position):
        """The inverse of `encode`: a number, a date or a duration."""
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
    def encoded(self):
        """The range of the result of `encode`."""
        lower, upper = self.encode(np.array([self.lower, self.upper])).tolist()
        return lower, upper

    def encode(self, values):
        """Signed logarithms."""
        values = np.asarray(values, dtype=np.float64)
        return np.copysign(np.log1p(np.abs(values)), values)

    def decode(self, position):
        """The inverse of `encode`."""
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
    def encoded(self):
        """The range of the result of `encode`."""
        return 0.0, len(self.knots) - 1.0

    def encode(self, values):
        """The number of knots below each value, plus its relative position between these two knots."""
        values = np.asarray(values, dtype=np.float64)
        return np.interp(values, self.knots, np.arange(len(self.knots), dtype=np.float64))

    def decode(self, position):
        """The inverse of `encode`: a number, a date or a duration."""
        return as_date(float(np.interp(position, np.arange(len(self.knots)), self.knots)), self.of)


@dataclass(frozen=True)
class Labels:
    """The public labels of a nominal feature; other labels have their own bin, as do missing values."""

    labels: tuple
    of: ClassVar[str] = "labels"

    @property
    def encoded(self):
        """Number of labels."""
        return Nominal(len(self.labels))

    def encode(self, codes):
        """Codes, unchanged."""
        return codes


@dataclass(frozen=True)
class Order:
    """Only the order of the values is public, which is all that ranks need."""

    of: ClassVar[str] = "order"
    encoded: ClassVar[None] = None

    def encode(self, values):
        """Values, unchanged."""
        return values


@dataclass(frozen=True)
class Ignored:
    """A column without a description, whose values are not read."""

    of: ClassVar[str] = "ignored"
    encoded: ClassVar[tuple] = (0.0, 1.0)  # arbitrary: nothing is scored

    def encode(self, values):
        """Values, unchanged."""
        return values


def is_range(lower, upper):
    """Whether two numbers are the ends of a range: finite, in order, and with a finite width."""
    return lower < upper and math.isfinite(upper - lower)


# --- As text, for sketches ------------------------------------------------------------------------------------------

_KINDS = {kind.__name__: kind for kind in (Range, LogRange, Knots, Labels, Ignored)}


def to_json(domain):
    """A domain as plain lists and numbers, the same for equal domains; None is unchanged."""
    return None if domain is None else [type(domain).__name__, *map(_plain, astuple(domain))]


def _plain(field):
    if isinstance(field, tuple):
        return [_plain(item) for item in field]
    return field + 0.0 if isinstance(field, float) else field  # 0 instead of -0


def from_json(values):
    """The domain from its plain form."""
    if values is None:
        return None
    kind, *fields = values
    return _KINDS[kind](*(tuple(field) if isinstance(field, list) else field for field in fields))
