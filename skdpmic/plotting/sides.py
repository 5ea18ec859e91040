"""An axis of a plot of parts: their positions, and the tick labels in the user's units."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from skdpmic.plotting.figures import label_of, write_dates
from skdpmic.table.domains import DATES, DURATIONS, NUMBERS, Knots, LogRange, Range, domain_of

_UNITS = {"days": 86_400.0, "hours": 3_600.0, "minutes": 60.0, "seconds": 1.0}
_YEARS_OF_MATPLOTLIB = -62_135_596_800.0, 253_402_300_799.0  # seconds since 1970: from year 1 to year 9999
_LAST_DATE = 2.0**53  # seconds since 1970 that are exact in a float and valid in numpy
_LEAST_SECONDS = 1e-3  # between two dates, which matplotlib stores as floating-point days
_LEAST_WIDTH, _MOST_WIDTH = 1e-100, 1e100  # of a range that matplotlib draws without an overflow
_LEAST_SHARE = 1e-9  # smallest width of such a range, relative to its ends
_MOST_TICKS = {NUMBERS: 10, DURATIONS: 10, DATES: 4}


class PictureSide(NamedTuple):
    """Parts of equal size along one axis of a plot."""

    ends: tuple[float, float]
    n_parts: int
    ticks: list | None = None  # positions of ticks; None leaves these to matplotlib
    texts: list | None = None
    are_dates: bool = False
    unit: str | None = None  # unit of matplotlib's numbers

    @property
    def edges(self):
        """Edges of the parts: (n_parts + 1,)."""
        return np.linspace(*self.ends, self.n_parts + 1)

    def write(self, axis, name):
        """Write the name and the ticks at a matplotlib axis."""
        axis.set_label_text(name if self.unit is None else f"{name} ({self.unit})")
        if self.ticks is not None:
            axis.set_ticks(self.ticks, labels=self.texts)
        elif self.are_dates:
            write_dates(axis, maxticks=8)


def side_of_classes(labels):
    """A side with one part per label."""
    n = len(labels)
    return PictureSide((-0.5, n - 0.5), n, list(range(n)), [label_of(label) for label in labels])


def side_of_range(bounds, n_parts, name):
    """A side cut into parts by `bounds`.

    Parameters
    ----------
    bounds : entry of `bounds` as a user gives it, or its domain; None
        None numbers the parts.
    n_parts : int
    name : str
        Name of the bounds in errors.
    """
    if bounds is None:
        return PictureSide((0, n_parts), n_parts)
    domain = bounds if isinstance(bounds, Range | LogRange | Knots) else domain_of(bounds, name)
    if domain.of == DATES and max(map(abs, domain.bounds)) > _LAST_DATE:
        return PictureSide((0, n_parts), n_parts)
    if isinstance(domain, LogRange):
        return _logarithmic(domain, n_parts)
    if isinstance(domain, Knots):
        return _between_knots(domain, n_parts)
    return _even(domain, n_parts)


def texts_of_ends(domain):
    """The two ends of a range as short texts, durations with their unit."""
    lower, *_, upper = (bound for bound in domain.bounds if bound != "log")
    if domain.of == DATES:
        first, last = _dates([lower, upper])
        return first.replace("\n", " "), last.partition("\n")[2] or last  # the same day is written once
    unit, seconds = _unit_of(domain)
    first, last = _numbers([lower / seconds, upper / seconds], fewest_digits=4)
    return first, last if unit is None else f"{last} {unit}"


def _even(domain, n_parts):
    """Parts of equal size in the user's units, labelled by matplotlib if possible."""
    lower, upper = domain.bounds
    in_years = _YEARS_OF_MATPLOTLIB[0] <= lower and upper <= _YEARS_OF_MATPLOTLIB[1]
    if domain.of == DATES and in_years and upper - lower >= _LEAST_SECONDS:
        from matplotlib.dates import date2num

        return PictureSide(tuple(map(float, date2num([_date(lower), _date(upper)]))), n_parts, are_dates=True)
    unit, seconds = _unit_of(domain)
    ends = lower / seconds, upper / seconds
    if domain.of == DATES or not _can_be_drawn(*ends):
        return _between_knots(Knots(tuple(lower + np.linspace(0, 1, 5) * (upper - lower)), domain.of), n_parts)
    return PictureSide(ends, n_parts, unit=unit)


def _can_be_drawn(lower, upper):
    """Whether matplotlib's arithmetic is precise enough for a range."""
    return max(_LEAST_WIDTH, _LEAST_SHARE * max(abs(lower), abs(upper))) < upper - lower < _MOST_WIDTH


def _between_knots(domain, n_parts):
    """Parts between knots, which are drawn at equal distances."""
    last, most = len(domain.knots) - 1, _MOST_TICKS[domain.of]
    step = -(-last // most)
    ticks = [*range(0, max(last - step + 1, 1), step), last]  # none so near the last that they overlap
    unit, seconds = _unit_of(domain)
    values = [domain.knots[k] for k in ticks]
    texts = _dates(values) if domain.of == DATES else _numbers([value / seconds for value in values])
    return PictureSide((0.0, float(last)), n_parts, ticks, texts, unit=unit)


def _logarithmic(domain, n_parts):
    """Parts of equal width on a log scale: labels at the ends, and at round numbers if there is room."""
    ends = lo, hi = domain.encoded
    if not _can_be_drawn(lo, hi):
        return _between_knots(Knots(domain.bounds[:2]), n_parts)
    values, places = [domain.lower, domain.upper], [lo, hi]
    for value in _round_numbers(domain.lower, domain.upper):
        place = float(domain.encode(np.array([value]))[0])
        if min(abs(place - other) for other in places) >= (hi - lo) / _MOST_TICKS[NUMBERS]:
            values.append(value)
            places.append(place)
    order = np.argsort(places)
    return PictureSide(ends, n_parts, [places[i] for i in order], _numbers([values[i] for i in order]))


def _round_numbers(lower, upper):
    """Round numbers between two others, the roundest first; if there are few, also quarters of the distance."""
    first, last = -3, math.ceil(math.log10(max(abs(lower), abs(upper), 1.0)))
    # Powers of ten from 1 on: every one, or every few of them.
    few = range(0, last + 1, max(1, -(-last // _MOST_TICKS[NUMBERS])))
    tens, tenths = [10.0**power for power in few], [10.0**power for power in range(-1, first - 1, -1)]
    between = [digit * 10.0**power for power in range(first, last) for digit in (2, 5)]
    sizes = (0.0, *tens, *tenths, *between)
    found = [value for size in sizes for value in (size, -size) if lower < value < upper]
    return found if len(found) >= 3 else found + (lower + np.array([0.5, 0.25, 0.75]) * (upper - lower)).tolist()


# --- As text ----------------------------------------------------------------------------------------------------------


def _numbers(values, fewest_digits=3):
    """Numbers as text, with enough digits to distinguish them."""
    for digits in range(fewest_digits, 18):
        texts = [_number(value, digits) for value in values]
        if len(set(texts)) == len(texts):
            break
    return texts


def _number(value, digits):
    if value != 0 and not 1e-4 <= abs(value) < 1e7:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        text = f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    else:
        text = np.format_float_positional(value + 0.0, precision=digits, fractional=False, trim="-")
    return text.replace("-", "\N{MINUS SIGN}")  # as matplotlib writes it


def _date(seconds):
    return np.datetime64(round(seconds * 1e6), "us") if abs(seconds) < 1e12 else np.datetime64(round(seconds), "s")


def _dates(values):
    """Dates as text, just fine enough to distinguish them."""
    dates = np.array([np.datetime64(int(value), "s") for value in values])
    texts = [np.datetime_as_string(dates, unit=unit).tolist() for unit in ("D", "m", "s")]
    texts.append([str(_date(value)) for value in values])
    distinct = next((text for text in texts if len(set(text)) == len(text)), texts[-1])
    return [text.replace("T", "\n") for text in distinct]


def _unit_of(domain):
    """The unit of durations: the longest one of which the range has at least two; None for other columns."""
    if domain.of != DURATIONS:
        return None, 1.0
    width = domain.bounds[-1] - domain.bounds[0]
    return next((unit for unit in _UNITS.items() if width >= 2 * unit[1]), ("seconds", 1.0))
