"""The public description of one column, and the conversion of its values: to numbers in a range, or to parts.

A domain encodes each value separately; its *encoded* domain is all that kernels know about the column.
"""

import datetime
import math
import numbers
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np

from skdpmic._utils.readable import is_date
from skdpmic._utils.texts import quoted, require, told_apart

NUMBERS, DATES, DURATIONS = "numbers", "dates", "durations"  # kinds of bounds
# --- Dates and durations ---------------------------------------------------------------------------------------------
#
# Dates and durations as seconds, each separately: the number for one row does not depend on other rows.
#
# The unit of dates in numpy and pandas may depend on all rows. So seconds and fractions are separated in integers: an
# instant has the same two, and the same float, in every unit that can represent it.


_WHOLE = {"W": 604_800, "D": 86_400, "h": 3_600, "m": 60, "s": 1}  # seconds in a unit
_PARTS = {"ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15, "as": 10**18}  # units in a second
_FARTHEST = 10**15  # years or months
_EPOCH = datetime.datetime(1970, 1, 1)


def seconds(values):
    """Seconds since 1970 in UTC, or the seconds of a duration.

    Parameters
    ----------
    values : ndarray of dtype datetime64 or timedelta64
        Counts of a unit; "not a time" is the least of them.

    Returns
    -------
    float64 ndarray
    """
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    unit, multiple = np.datetime_data(values.dtype)
    if values.dtype.kind == "M" and unit in ("Y", "M"):
        farthest = _FARTHEST // multiple  # so that days do not overflow
        counts = np.clip(values.view(np.int64), -farthest, farthest)
        unit, multiple, values = "D", 1, counts.view(values.dtype).astype("M8[D]")
    if unit not in _WHOLE and unit not in _PARTS:
        raise ValueError("durations must be in weeks or a shorter unit, got months, years or none.")
    counts = values.view(np.int64)
    if unit in _WHOLE:
        return counts * float(multiple * _WHOLE[unit])
    per_second = _PARTS[unit]
    if multiple > 1:  # as integers of Python: the product may overflow an int64
        counts = counts.astype(object) * multiple
    return (counts // per_second + counts % per_second / float(per_second)).astype(np.float64)


def kind_of_date(value):
    """The kind of a scalar, "dates" or "durations"; None if it is neither."""
    if isinstance(value, datetime.timedelta | np.timedelta64):
        return DURATIONS
    return DATES if isinstance(value, datetime.date | np.datetime64) else None


def as_date(seconds, kind):
    """The date or duration of this many seconds, to a microsecond, or the number itself for numbers."""
    if kind == NUMBERS:
        return float(seconds)
    count = round(seconds * 10**6)
    return np.datetime64(count, "us") if kind == DATES else np.timedelta64(count, "us")


def seconds_of(value):
    """The seconds of a scalar of any library: Timestamp, datetime, date, Timedelta, timedelta or a numpy scalar."""
    if hasattr(value, "to_numpy"):  # of pandas, in UTC, exactly
        value = value.to_numpy()
    elif isinstance(value, datetime.datetime):
        # A duration, as the first and the last hours of the calendar have no date in other time zones.
        value = value.replace(tzinfo=None) - _EPOCH - (value.utcoffset() or datetime.timedelta(0))
    if isinstance(value, datetime.timedelta):
        return value.days * _WHOLE["D"] + value.seconds + value.microseconds / 10**6
    value = np.datetime64(value) if isinstance(value, datetime.date) else value
    return math.nan if np.isnat(value) else float(seconds(np.array([value]))[0])


def part_of_second(value):
    """What such a scalar has beyond whole seconds, exactly: as floats, nanoseconds of today are the same."""
    value = value.to_numpy() if hasattr(value, "to_numpy") else value
    if isinstance(value, np.datetime64 | np.timedelta64):
        unit, multiple = np.datetime_data(value.dtype)
        return Fraction(int(value.view(np.int64)) * multiple, _PARTS.get(unit, 1)) % 1
    return Fraction(getattr(value, "microsecond", 0) or getattr(value, "microseconds", 0), 10**6)


# --- Domains ---------------------------------------------------------------------------------------------------------


_ALLOWED = "(lower, upper), (lower, upper, 'log'), three or more increasing numbers or range(lowest, highest + 1)"
_PAIR = "a pair of numbers (lower, upper)"
UNIT = (0.0, 1.0)  # an encoded domain of numbers; they are all of one kind
_FARTHEST_INTEGER = 2**50  # so that floats hold all halves


class _AsRead:
    """A domain whose values are encoded as they are read."""

    def encode(self, values):
        """Values, unchanged."""
        return values


@dataclass(frozen=True)
class Range(_AsRead):
    """Parts of equal width between two public ends."""

    lower: float
    upper: float
    of: str = NUMBERS

    @property
    def bounds(self):
        """The form in `bounds`, but with dates in seconds."""
        return self.lower, self.upper

    encoded = bounds

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
    """Equally many parts of equal width between each two neighbouring public knots."""

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


class Whole(NamedTuple):
    """The encoded domain of integers: from half below the lowest to half above the highest, for cuts between them."""

    lower: float
    upper: float

    @property
    def n_integers(self):
        """Number of integers."""
        return round(self.upper - self.lower)


def parts_at_most(most, encoded):
    """Number of equal parts of an encoded domain of numbers: `most`, or one for each integer if there are fewer."""
    return min(most, encoded.n_integers) if isinstance(encoded, Whole) else most


def inner_ends(lower, upper, n_parts):
    """Where equal parts of a range meet."""
    return lower + np.arange(1, n_parts) * ((upper - lower) / n_parts)


def ends_of(encoded):
    """The lowest and highest position in an encoded domain of numbers, for distances, sums and means."""
    return (encoded.lower + 0.5, encoded.upper - 0.5) if isinstance(encoded, Whole) else encoded


def nearest_integers(values):
    """The nearest integer of each value, as float64, halves up; NaN is unchanged. Adding 1/2 itself would round."""
    below = np.floor(np.asarray(values, dtype=np.float64))
    return below + (values - below >= 0.5)


@dataclass(frozen=True)
class Integers:
    """All integers between two public ends. Parts are integers or runs of neighbouring ones."""

    lower: int
    upper: int
    of: ClassVar[str] = NUMBERS

    @property
    def bounds(self):
        """The form in `bounds`."""
        return range(self.lower, self.upper + 1)

    @property
    def encoded(self):
        """Limits of the parts."""
        return Whole(self.lower - 0.5, self.upper + 0.5)

    def encode(self, values):
        """The nearest of these integers, for each value."""
        return np.clip(nearest_integers(values), self.lower, self.upper)

    def decode(self, position):
        """The number halfway between the integers that a cut at this position separates."""
        return math.ceil(position) - 0.5

    def runs(self, n_parts):
        """The first and last integer of each of `n_parts` equal parts as text, once if they are the same: lists."""
        firsts = [self.lower, *map(math.ceil, inner_ends(*self.encoded, n_parts)), self.upper + 1]
        return [list(dict.fromkeys([str(first), str(after - 1)])) for first, after in pairwise(firsts)]


def kind_of(encoded):
    """The kind of an encoded domain, for what is the same in all ranges of numbers: these, integers or labels."""
    if isinstance(encoded, Whole):
        return Whole(-0.5, encoded.n_integers - 0.5)
    return encoded if isinstance(encoded, Nominal) else UNIT


def limits_of(domain):
    """The lowest and highest number of a domain of numbers, or second of dates."""
    return domain.bounds[0], domain.bounds[1 if isinstance(domain, LogRange) else -1]


class Nominal(NamedTuple):
    """The domain of a nominal feature. Its column holds a code for each record, as uint32.

    Codes 0 ... n_labels - 1 are the public labels, n_labels is any other label, and n_labels + 1 is a missing value.
    The last two are separate parts, even if they are empty.
    """

    n_labels: int  # at least 1

    @property
    def n_parts(self):
        """Number of codes."""
        return self.n_labels + 2


@dataclass(frozen=True)
class Labels(_AsRead):
    """The public labels of a nominal feature; other labels have their own bin, as do missing values."""

    labels: tuple
    of: ClassVar[str] = "labels"

    @property
    def encoded(self):
        """Number of labels."""
        return Nominal(len(self.labels))


@dataclass(frozen=True)
class Order(_AsRead):
    """Only the order of the values is public, which is all that ranks need."""

    of: ClassVar[str] = "order"
    encoded: ClassVar[None] = None


@dataclass(frozen=True)
class Ignored(_AsRead):
    """A column without a description, whose values are not read."""

    of: ClassVar[str] = "ignored"
    encoded: ClassVar[tuple] = UNIT  # arbitrary: nothing is scored


def in_unit_interval(values, lower, upper):
    """Floats clipped to a range, then scaled; clipped first, because differences could overflow."""
    width = upper - lower or 1.0  # 0 for a range so narrow that its ends have the same logarithm
    return (np.clip(values.astype(np.float64), lower, upper) - lower) / width


# --- From public bounds in the user's form ----------------------------------------------------------------------------


def domain_of(entry, name, allowed=_ALLOWED):
    """The domain of one column, from an entry of `bounds` or from `target_bounds`.

    Parameters
    ----------
    entry : (lower, upper), (lower, upper, "log"), three or more increasing numbers, or range
        Numbers; or dates or durations of any library. A range holds all integers that are possible.
    name : str
        Name of the entry in errors.
    allowed : str
        What errors say that it must be.

    Returns
    -------
    Range, LogRange, Knots or Integers
    """
    if isinstance(entry, range):
        return _integers(entry, name)
    try:
        first, second, *others = ordered_pair(entry)
        is_log = others == ["log"]
        of, ends = numbers_in([first, second] if is_log else [first, second, *others])
    except (TypeError, ValueError, OverflowError):
        advice = _advice(entry) if allowed == _ALLOWED else ""
        raise ValueError(f"{name} must be {allowed}, got {quoted(entry)}{advice}.") from None
    widths = [upper - lower for lower, upper in [*pairwise(ends), (ends[0], ends[-1])]]
    if not all(0 < width < math.inf for width in widths):
        what = "lower < upper" if len(ends) == 2 else "increasing numbers"
        raise ValueError(f"{name} must be finite with {what}, as must upper - lower, got {quoted(entry)}.")
    if is_log and of != NUMBERS:
        raise ValueError(f"{name} must be numbers with 'log', got {of}.")
    if len(ends) > 2:
        return Knots(tuple(ends), of)
    return LogRange(*ends) if is_log else Range(*ends, of)


def _integers(entry, name):
    lower, upper = entry.start, entry.stop - 1
    if entry.step != 1 or not -_FARTHEST_INTEGER <= lower < upper <= _FARTHEST_INTEGER:
        allowed = "a range of two or more integers with step 1, such as range(1, 6) for 1 to 5"
        raise ValueError(f"{name} must be {allowed}, none beyond 2**50, got {entry}.")
    return Integers(lower, upper)


def numbers_in(ends):
    """The kind of given numbers, dates or durations, and all of them as floats; a TypeError or ValueError if mixed."""
    kinds = {kind_of_date(end) if is_date(end) else NUMBERS for end in ends}
    if len(kinds) != 1 or None in kinds:
        raise TypeError
    if kinds == {NUMBERS}:
        if any(isinstance(end, str | bytes | complex | np.complexfloating) for end in ends):
            raise TypeError
        return NUMBERS, [float(end) for end in ends]
    return kinds.pop(), [seconds_of(end) for end in ends]


def _advice(entry):
    if entry is None or (isinstance(entry, tuple | list) and any(end is None for end in entry)):
        return ": where nothing is known, private_bounds learns bounds, at a cost of epsilon"
    is_text = isinstance(entry, tuple | list) and any(isinstance(end, str) and end != "log" for end in entry)
    return ": pass dates as objects, for instance pd.Timestamp('2020-01-01')" if is_text else ""


def check_interval(interval, name):
    """`interval` as a pair of finite floats, the first below the second."""
    return _as_pair(domain_of(interval, name, _PAIR), interval, name)


def _as_pair(domain, given, name):
    require(isinstance(domain, Range) and domain.of == NUMBERS, f"{name} must be {_PAIR}", given)
    return domain.bounds


def check_pair_bounds(bounds):
    """`bounds` as two intervals, of x and of y."""
    return tuple(map(check_interval, both_of(bounds), ("bounds of x", "bounds of y")))


def both_of(bounds):
    """`bounds` as the entries of x and of y."""
    try:
        x_bounds, y_bounds = ordered_pair(bounds)
    except (TypeError, ValueError):
        raise ValueError(f"bounds must be ((x_lo, x_hi), (y_lo, y_hi)), got {quoted(bounds)}.") from None
    return x_bounds, y_bounds


def intervals_of(bounds, n_columns, name):
    """The interval of each column, as a pair of finite floats, from bounds that are not a dict."""
    return [_as_pair(domain, bounds, name) for domain in domains_of(bounds, n_columns, name)]


def domains_of(bounds, n_features, name="bounds"):
    """The domain of each feature, from bounds that are not a dict: one entry for all, or an array for each end.

    Returns
    -------
    list of length n_features
    """
    if _is_entry(bounds):
        return [domain_of(bounds, name)] * n_features
    try:
        sides = [np.asarray(side) for side in ordered_pair(bounds)]
    except (TypeError, ValueError):
        sides = []
    are_lists = not isinstance(bounds, tuple) or any(isinstance(side, tuple | list) for side in bounds)
    is_ambiguous = n_features == 2 and are_lists and all(map(np.ndim, sides))  # perhaps one pair per feature
    if len(sides) != 2 or is_ambiguous or any(side.shape not in ((), (n_features,)) for side in sides):
        raise ValueError(
            f"{name} must be (lower, upper), each a number or an array of shape (n_features,) = ({n_features},), got "
            f"{quoted(bounds)}: for one pair per feature, pass a dict by name or number."
        )
    pairs = zip(*(np.broadcast_to(side, n_features) for side in sides), strict=True)
    return [domain_of(pair, f"{name} of feature {j}") for j, pair in enumerate(pairs)]


def ordered_pair(pair):
    """`pair`; a TypeError unless it is ordered, unlike a set or a dict."""
    is_ordered = isinstance(pair, tuple | list | Sequence) or len(getattr(pair, "shape", ())) > 0
    if not is_ordered or isinstance(pair, str | bytes):
        raise TypeError
    return pair


def _is_entry(bounds):
    """Whether bounds are one entry for all features: scalars, one of which may be "log"."""
    try:
        return isinstance(bounds, range) or not any(
            np.ndim(end) or not (isinstance(end, numbers.Real | str | np.generic) or is_date(end))
            for end in ordered_pair(bounds)
        )
    except TypeError:
        return False


# --- As text, for sketches ------------------------------------------------------------------------------------------


DOMAINS = {kind.__name__: kind for kind in (Range, LogRange, Knots, Integers, Labels, Ignored)}


def to_json(domain):
    """A domain as plain lists and numbers, the same for equal domains; None is unchanged."""
    return None if domain is None else [type(domain).__name__, *map(_plain, astuple(domain))]


def _plain(field):
    if isinstance(field, tuple):
        return [_plain(item) for item in field]
    return field + 0.0 if isinstance(field, float) else field  # 0 instead of -0


# --- Names of parts: labels as they are, the ends of a range, and other and missing; all different --------------------


OTHER, MISSING = "other", "missing"
_EXACT, _NEAR = 1e-9, 0.01  # errors of rounded ends, in widths of the narrower part beside each


def names_of_labels(labels):
    """Public labels as they are, as text."""
    return [label if isinstance(label, str) else repr(label).removesuffix(".0") for label in labels]


def beside(names, ours=(OTHER, MISSING)):
    """Names of our own parts, which differ from all others: these may be labels such as "other"."""
    taken, apart = set(names), []
    for name in ours:
        while name in taken:
            name += " (not a label)"
        taken.add(name)
        apart.append(name)
    return apart


def names_of_ranges(ends):
    """A name for each part between two neighbouring ends."""
    return told_apart([f"{low} to {high}" for low, high in pairwise(ends_in_words(ends))])


def ends_in_words(ends):
    """The ends of neighbouring parts as text: exact if that is short, otherwise as exact as the parts are narrow.

    Parameters
    ----------
    ends : array-like of shape (n_parts + 1,)
        Ascending numbers, dates or durations; at least two.
    """
    ends = np.asarray(ends)
    if ends.dtype.kind == "m":  # always exact
        return [str(end.item()).removesuffix(", 0:00:00") for end in ends.astype("m8[us]")]
    widths = np.abs(np.diff(ends).astype(np.float64))
    room = np.minimum(np.append(widths, np.inf), np.insert(widths, 0, np.inf))
    written = _dates if ends.dtype.kind == "M" else _numbers
    for error, precision in _TRIED[written]:
        texts, values = written(ends, precision)
        if (np.abs((values - ends).astype(np.float64)) <= error * room).all():
            break
    return texts


def _dates(ends, unit):
    rounded = ends.astype(f"M8[{unit}]")
    days = rounded.astype("M8[D]")
    return np.where(rounded == days, np.datetime_as_string(days), np.datetime_as_string(rounded)).tolist(), rounded


def _numbers(ends, digits):
    texts = [_number(float(end) + 0.0, digits) for end in ends]  # 0 instead of -0
    return texts, np.array([float(text) for text in texts])


def _number(value, digits):
    if value == 0 or 1e-4 <= abs(value) < 1e16:
        return np.format_float_positional(value, precision=digits, fractional=False, trim="-")
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"


_TRIED = {  # errors, and units or numbers of digits
    _dates: [(_NEAR, unit) for unit in ("D", "m", "s", "ms", "us")],
    _numbers: [(_EXACT, digits) for digits in range(3, 7)] + [(_NEAR, digits) for digits in range(3, 18)],
}
