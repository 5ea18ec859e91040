"""Knots for columns of unknown range and shape, learnt privately (``docs/theory/learnt_edges.md``)."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from skdpmic._utils.never_cached import never_cached
from skdpmic._utils.readable import is_date
from skdpmic._utils.texts import quoted, warn
from skdpmic._utils.typing import Categories, RandomState, TableLike
from skdpmic.budget.ledger import BudgetLedger, check_ledger
from skdpmic.budget.ledger_entry import entry_for
from skdpmic.privacy.composition import Cost, check_epsilon, exact
from skdpmic.privacy.noise import entropy_source, uniform_below, weighted_choice
from skdpmic.release.path import run
from skdpmic.release.public_lines import DATE_LINE, NUMBER_LINE, Line
from skdpmic.table.domains import DATES, DURATIONS, NUMBERS, Order
from skdpmic.table.facts import by_number, listed, refuse_faults
from skdpmic.table.frames import column_of, is_frame, open_series
from skdpmic.table.normal_form import OBJECTS, ColumnSource, array_of
from skdpmic.table.tables import Table, open_table
from skdpmic.table.values import as_numbers

_LARGEST = 2.0**1020  # quantile, so that differences of knots are finite
_POWERS = 2.0 ** np.arange(-10, 21)
_PUBLIC_KNOTS = np.concatenate([-_POWERS[::-1], [0.0], _POWERS])  # equal parts on a logarithmic scale
_MIN_SAMPLES = 4
_FARTHEST = 2.0**42  # seconds: 139,000 years


@never_cached
def private_bounds(
    X: TableLike,
    *,
    epsilon: float,
    categories: Categories | Sequence[Any] | None = None,
    ledger: BudgetLedger | None = None,
    random_state: RandomState = None,
) -> Any:
    """Learn knots for `bounds` and `target_bounds` from the data, under epsilon-differential privacy.

    Use it for columns that are skewed or whose range is not public knowledge. About the same number of values lies
    between each two neighbouring knots. You need no prior knowledge of the values, not even of their sign or size.

    Parameters
    ----------
    X : array-like of shape (n_samples,) or (n_samples, n_features), or dataframe
        Numbers, dates or durations, one record per row; at least 4 rows. Missing values are ignored. Boolean columns,
        and columns whose type declares their labels, are left out.
    epsilon : float
        Privacy budget for all columns together, above 0; each column gets an equal share. Infinity adds no noise.
    categories : dict, default=None
        Nominal features, as passed to the estimators: the columns named or numbered by its keys are left out.
    ledger : BudgetLedger, default=None
        Ledger that is charged before anything is drawn.
    random_state : None, int or RandomState, default=None
        None draws from the operating system's entropy. A seed is for tests only: it breaks the guarantee and warns.

    Returns
    -------
    ndarray of shape (n_knots,), or dict
        For one column, such as a target: its knots, 3 or more increasing numbers, or dates or durations as in the
        column. For a table: a dict of such arrays by column name, or by number if the columns have no names. The number
        of knots may differ between columns.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid.
    BudgetError
        If epsilon does not fit in `ledger`.

    Warns
    -----
    PrivacyLeakWarning
        If `random_state` is not None.
    UserWarning
        If n_samples times the epsilon of each column is below 48, which is too little to learn anything: the knots then
        do not depend on the data, and nothing is charged. Or, after the release, if the quantiles of a column lie in
        fewer parts of the line than there are quantiles, for example because nearly all values are the same. If
        warnings are errors, the error's attribute `knots` holds the released knots.

    Notes
    -----
    The exponential mechanism draws the median, then the medians on either side of it, and so on, for 1, 3, 7, 15 or 31
    quantiles. These need n_samples times the epsilon of each column to be at least 48, 144, 336, 720 and 1488. Every
    draw is exact. One more knot on either side bounds the tails; values beyond it are clipped. The number of missing
    values stays private.

    Every knot except the outer two has 16 bits after its leading one; round numbers are more likely than others. Knots
    of dates are whole seconds from 1900 to 2100, UTC, and whole days before and after. A column whose dates all lie in
    a single day takes twice the budget of a column that spans years.

    The guarantee covers one row: for a person with m rows, it holds at m times epsilon.

    A release that uses the knots has its own cost, in addition to theirs. For one pair of columns, it is best to spend
    a third to a half of the total on the knots (``benchmarks/results/defaults.md``).

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import private_bounds
    >>> rng = np.random.default_rng(0)
    >>> income = rng.lognormal(mean=10, sigma=2, size=20_000)
    >>> knots = private_bounds(income, epsilon=0.5)
    >>> len(knots), bool(np.diff(knots).min() > 0)
    (33, True)
    """
    check_epsilon(epsilon)
    check_ledger(ledger)
    entropy_source(random_state)  # raises if it is invalid
    columns, is_table = _read_columns(X, categories)
    n, d = len(next(iter(columns.values())).values), len(columns)
    share = math.inf if epsilon == math.inf else exact(epsilon) / d
    levels = n_levels(n, share)
    if levels == 0:
        _warn_that_nothing_is_learnt(n, d, epsilon)
        knots = {name: _in_unit(_PUBLIC_KNOTS, column.unit) for name, column in columns.items()}
        return knots if is_table else knots[0]

    def draw(random_bytes):
        quantiles = {}
        for name, column in columns.items():
            present = column.values[~np.isnan(column.values)]
            quantiles[name] = private_quantiles(present, share, levels, column.line, random_bytes)
        return quantiles

    cost = Cost.of_parts(epsilon, squared_rates(levels, d))
    public = {"n": n, "d": d, "release": "bounds", "mechanism": "exponential"}
    entry = entry_for("private_bounds", cost, random_state=random_state, **public)
    quantiles = run(entry, draw, ledger=ledger, random_state=random_state)
    knots = {name: _knots(quantiles[name], column) for name, column in columns.items()}
    knots = knots if is_table else knots[0]
    coarse = [name for name, column in columns.items() if column.line.is_too_coarse_for(quantiles[name])]
    if coarse:
        _warn_about_coarse_parts(listed(coarse, None) if is_table else "X", knots)
    return knots


def _knots(quantiles, column):
    """Knots from quantiles; if many dates lie in one second, the knots lie around that second."""
    if column.unit == "M8[us]" and len(quantiles) > 1 and quantiles[0] == quantiles[-1]:
        return _in_unit(quantiles[0] + np.arange(-1, 3), column.unit)
    return _in_unit(with_tails(quantiles), column.unit)


def _in_unit(knots, unit):
    """Knots as dates or durations, if the column holds these: at least three, at least a microsecond apart."""
    if unit is None:
        return knots
    microseconds = np.unique(np.rint(np.clip(knots, -_FARTHEST, _FARTHEST) * 1e6).astype(np.int64))
    if len(microseconds) < 3:
        microseconds = microseconds[0] + np.arange(-1, 2)
    return microseconds.astype(unit)


def with_tails(quantiles):
    """Knots at the quantiles, and one beyond each outer quantile, as far away as its inner neighbour."""
    quantiles = np.unique(np.clip(quantiles, -_LARGEST, _LARGEST))
    low, high = quantiles[0], quantiles[-1]
    gaps = np.diff(quantiles) if len(quantiles) > 1 else [abs(low) or 1.0]
    return np.concatenate([[low - gaps[0]], quantiles, [high + gaps[-1]]])


def _warn_that_nothing_is_learnt(n, d, epsilon):
    needed = math.ceil(1e6 * LEAST_BUDGET * d / n) / 1e6
    warn(
        f"private_bounds learns nothing from n_samples={n} with epsilon={epsilon}: for {d} columns it needs epsilon >= "
        f"{needed}, so that n_samples * epsilon >= {LEAST_BUDGET} for each. It returns knots that do not depend on "
        "the data, and charges nothing."
    )


def _warn_about_coarse_parts(columns, knots):
    """Warn about coarse quantiles after the release; if warnings are errors, the error holds the released knots."""
    warning = UserWarning(
        f"the quantiles of {columns} lie in fewer neighbouring parts of private_bounds' line than there are quantiles: "
        "nearly all values are the same, or too close together for these knots to separate. A part is 1/65,536 of a "
        "number; for dates it is a second, or a day before 1900 and from 2100 on. To separate the values, subtract a "
        "public number or date; learning knots of the differences is a new release."
    )
    warning.knots = knots
    warn(warning)


# --- Reading ------------------------------------------------------------------------------------------------------


def _read_columns(X, categories):
    """The columns of numbers or dates, by name, or by number without names, and whether X is a table."""
    if categories is not None and not isinstance(categories, dict):
        raise ValueError(f"categories must be None or a dict by name or number, got {quoted(categories)}.")
    is_table = is_frame(X) or (open_series(X, "X") is None and array_of(X, "X").ndim != 1)
    if is_table:
        table = open_table(X, "private_bounds", takes_text=categories is not None, least=_MIN_SAMPLES)
    else:
        table = _table_of(X)
    names = table.names_as_text()
    nominal = by_number(categories or {}, "categories", table.n_features, names).keys()
    nominal |= {j for j, source in table.declared().items() if source.labels}
    numeric = [j for j in range(table.n_features) if j not in nominal]
    if not numeric:
        raise ValueError("X must have at least one column that is not in categories, got none.")
    refuse_faults(dict.fromkeys(numeric, Order()), table.column_at, table.name_of)
    return {j if names is None else names[j]: _read(table, j, is_table) for j in numeric}, is_table


def _table_of(X):
    """A table with one column."""
    column = column_of(X, "X")
    if column.n_samples < _MIN_SAMPLES:
        raise ValueError(f"X must hold at least {_MIN_SAMPLES} samples, got n_samples={column.n_samples}.")
    return Table(column.n_samples, 1, None, lambda j: ColumnSource(column.kind, lambda: column))


class _Column(NamedTuple):
    """A column as floats. Raw data; not private."""

    values: np.ndarray  # float64 (n_samples,), NaN where missing
    unit: str | None  # of its knots: "M8[us]", "m8[us]" or, for numbers, None
    line: Line


def _read(table, j, is_table):
    label = f"column {quoted(table.name_of(j))} of X" if is_table else "X"
    column = table.column_at(j).read(label)
    of, unit, line = _KINDS_OF_DATES.get(column.kind, ((NUMBERS, OBJECTS), None, NUMBER_LINE))
    if column.kind == OBJECTS and any(map(is_date, column.values)):
        # The declared type must decide whether knots are dates; otherwise a single value might.
        raise ValueError(
            f"{label} must hold numbers, or dates or durations in a column of that type, got dates or durations as "
            "objects: convert them by numpy.asarray(values, dtype='datetime64[us]') or 'timedelta64[us]'."
        )
    return _Column(as_numbers(column, of, label).astype(np.float64, copy=False), unit, line)


_KINDS_OF_DATES = {DATES: ((DATES,), "M8[us]", DATE_LINE), DURATIONS: ((DURATIONS,), "m8[us]", NUMBER_LINE)}


LEAST_BUDGET = 48  # n * epsilon needed by one median; 2**t - 1 of them need that many times as much
_MOST_LEVELS = 5


def n_levels(n, epsilon):
    """The number of useful levels of medians; both arguments are public, and n includes missing values."""
    levels = range(_MOST_LEVELS, 0, -1)
    return next((t for t in levels if n * epsilon >= LEAST_BUDGET * (2**t - 1)), 0)


def private_quantiles(values, epsilon, n_levels, line, random_bytes):
    """Noisy quantiles 1/2**n_levels, 2/2**n_levels, ... of a column, with epsilon-differential privacy.

    Parameters
    ----------
    values : float64 ndarray of shape (n_present,)
        Finite. Their number is private, because values may be missing.
    epsilon : Fraction or infinity, above 0
    n_levels : int
        Public.
    line : Line
        Public.
    random_bytes : callable
        From :func:`entropy_source`.

    Returns
    -------
    float64 ndarray of shape (2**n_levels - 1,)
        Nondecreasing; rounded to cells of the line.
    """
    positions = np.sort(line.to_positions(values, random_bytes))
    return line.to_numbers(np.array(medians(positions, line.n_positions, rates(epsilon, n_levels), random_bytes)))


def rates(epsilon, n_levels):
    """The rate of each level: the rates sum to epsilon / 2, and double from level to level, while subsets halve."""
    if epsilon == math.inf:
        return [math.inf] * n_levels
    return [epsilon / 2 * Fraction(2**level, 2**n_levels - 1) for level in range(n_levels)]


def squared_rates(n_levels, n_columns):
    """The sum of the squared rates of this many columns that share an epsilon of 1: twice their cost in zCDP."""
    return n_columns * sum(rate**2 for rate in rates(Fraction(1, n_columns), n_levels))


def medians(positions, n_positions, rates, random_bytes):
    """Noisy medians: of all positions, of the positions on either side of that median, and so on.

    Parameters
    ----------
    positions : int64 ndarray of shape (n,)
        Sorted, within 0 ... n_positions - 1.
    n_positions : int
    rates : list of length n_levels
        On level j, a position is drawn with probability proportional to ``exp(-rates[j] * |below - size / 2|)``.
    random_bytes : callable

    Returns
    -------
    list of int, of length 2**n_levels - 1
        In order.
    """
    places = [0, n_positions]
    for rate in rates:
        drawn = [_median(positions, *between, rate, random_bytes) for between in pairwise(places)]
        places = sorted(places + drawn)
    return places[1:-1]


def _median(positions, first, last, rate, random_bytes):
    """A position in first ... last, drawn by the exponential mechanism from positions in first ... last - 1."""
    within = slice(*np.searchsorted(positions, (first, last)))
    ends = np.concatenate([[first - 1], positions[within], [last]])
    n_places = np.diff(ends)  # places with the same number of positions below them, 0 ... size
    size = len(ends) - 2
    from_half = np.abs(2 * np.arange(size + 1, dtype=np.int64) - size)  # doubled, to be an integer
    below = weighted_choice(n_places, from_half, rate / 2, random_bytes)
    return int(ends[below]) + 1 + int(uniform_below(int(n_places[below]), 1, random_bytes)[0])
