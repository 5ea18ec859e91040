"""Public knots for columns of unknown range and shape, learnt privately (``docs/theory/learnt_edges.md``)."""

import math
import warnings
from decimal import ROUND_CEILING, Context, Decimal

import narwhals.stable.v2 as nw
import numpy as np

from skdpmic.checks.errors import without_data
from skdpmic.checks.readable import refuse_dates, refuse_masked, refuse_repeated
from skdpmic.privacy.arguments import check_epsilon, exact, warn_of_seed
from skdpmic.privacy.edges import LEAST_BUDGET, n_levels, private_quantiles, zcdp_cost
from skdpmic.privacy.ledger import check_ledger
from skdpmic.privacy.noise import entropy_source
from skdpmic.uncached import never_cached

_LARGEST = 2.0**1020  # of a quantile, so that differences of knots are floats
_PUBLIC_POWERS = 2.0 ** np.arange(-10, 21)
_MIN_SAMPLES = 4
_THREE_DIGITS_UP = Context(prec=3, rounding=ROUND_CEILING)


@never_cached
def private_bounds(X, *, epsilon, categories=None, ledger=None, random_state=None):
    """Learn knots for `bounds` and `target_bounds` from the data, under epsilon-differential privacy.

    For columns of which nobody can say in public where their values lie, or that are skewed. Between two neighbouring
    knots lie about as many values as between two others. Nothing need be known of the values: neither their sign nor
    their size.

    Parameters
    ----------
    X : array-like of shape (n_samples,) or (n_samples, n_features), or dataframe
        Real numbers, one record a row; at least 4. NaN, None and null are missing values. No dates.
    epsilon : float
        Privacy budget of all columns together, above 0; each column has an equal share of it. Infinity gives quantiles
        without noise.
    categories : dict, default=None
        The nominal features, as given to the estimators: its keys are names or numbers of columns, which are left out.
    ledger : BudgetLedger, default=None
        Where the cost is written before anything is drawn.
    random_state : None, int or RandomState, default=None
        None draws from the operating system's entropy. A seed is for tests, and warns.

    Returns
    -------
    ndarray of shape (n_knots,), or dict
        Of one column, such as a target, its knots: increasing numbers, 3 or more, which may differ in number from
        column to column. Of a table, a dict of such arrays by name, or by number if the columns have no names.

    Raises
    ------
    ValueError
        If an argument is outside what is allowed above.
    BudgetError
        If epsilon does not fit in `ledger`.

    Warns
    -----
    PrivacyLeakWarning
        If `random_state` is not None.
    UserWarning
        If n_samples times epsilon is below 48 for each column, too little to learn anything. Knots that depend on no
        data are returned then, and nothing is charged.

    Notes
    -----
    The median is drawn by the exponential mechanism, then the medians of what lies on either side of it, and so on: 1,
    3, 7, 15 or 31 quantiles, the more the larger n_samples times epsilon is for each column (48, 144, 336, 720 and
    1488). Every draw is exact. One more knot on either side takes the tails, whose values are clipped to it. How many
    values are missing stays private.

    Every knot but the outer two is a number of 16 bits after the leading one; round numbers are likelier than others.

    Protected is one row: a person with m rows is protected at m times epsilon.

    What is made with the knots has a cost of its own, and the same records pay for both. For one pair of columns, a
    third to a half of the sum is best spent on the knots (``docs/defaults.md``).

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
    source = entropy_source(random_state)
    columns, is_table = _read_columns(X, categories)
    n, d = len(next(iter(columns.values()))), len(columns)
    share = math.inf if epsilon == math.inf else exact(epsilon) / d
    levels = n_levels(n, share)
    if levels == 0:
        _warn_that_nothing_is_learnt(n, d, epsilon)
        knots = {name: _public_knots() for name in columns}
        return knots if is_table else knots[0]
    if random_state is not None:
        warn_of_seed(stacklevel=3)
    if ledger is not None:
        ledger.charge("private_bounds", epsilon, rho=zcdp_cost(share, levels, d), n=n, d=d)

    knots = {
        name: with_tails(private_quantiles(values[~np.isnan(values)], share, levels, source))
        for name, values in columns.items()
    }
    return knots if is_table else knots[0]


def with_tails(quantiles):
    """Knots at the quantiles, and one beyond either outer one, as far off as its neighbour on the inner side."""
    quantiles = np.unique(np.clip(quantiles, -_LARGEST, _LARGEST))
    low, high = quantiles[0], quantiles[-1]
    if len(quantiles) == 1:
        below = above = abs(low) or 1.0
    else:
        below, above = quantiles[1] - low, high - quantiles[-2]
    return np.concatenate([[low - below], quantiles, [high + above]])


def _public_knots():
    """Zero and powers of two of either sign: equal parts of a logarithm, for magnitudes of everyday size."""
    return np.concatenate([-_PUBLIC_POWERS[::-1], [0.0], _PUBLIC_POWERS])


def _warn_that_nothing_is_learnt(n, d, epsilon):
    needed = _THREE_DIGITS_UP.divide(Decimal(LEAST_BUDGET * d), Decimal(n))
    warnings.warn(
        f"private_bounds learns nothing from n_samples={n} with epsilon={epsilon}: for {d} columns it needs epsilon >= "
        f"{needed}, which is n_samples * epsilon >= {LEAST_BUDGET} for each. It returns knots that do not depend on "
        "the data, and charges nothing.",
        UserWarning,
        stacklevel=4,
    )


# --- Reading ------------------------------------------------------------------------------------------------------


def _read_columns(X, categories):
    """The columns as floats by name or number, NaN where missing; and whether X is a table."""
    refuse_masked(X, "X")
    _check_names(X)
    frame = nw.from_native(X, pass_through=True, eager_only=True, allow_series=True)
    if isinstance(frame, nw.DataFrame):
        columns, is_table = {name: frame[name] for name in frame.columns}, True
    elif isinstance(frame, nw.Series):
        columns, is_table = {0: frame}, False
    else:
        array = without_data(np.asarray, X)
        if array.ndim not in (1, 2):
            raise ValueError(f"X must be 1- or 2-dimensional, got an array of shape {array.shape}.")
        columns, is_table = dict(enumerate(array.T)) if array.ndim == 2 else {0: array}, array.ndim == 2
    read = {name: _read(values, name, is_table) for name, values in _numeric(columns, categories, is_table).items()}
    n = len(next(iter(read.values())))
    if n < _MIN_SAMPLES:
        raise ValueError(f"X must hold at least {_MIN_SAMPLES} samples, got n_samples={n}.")
    return read, is_table


def _check_names(X):
    if hasattr(X, "columns"):
        refuse_repeated(list(X.columns), "X must have a different name for each column")


def _numeric(columns, categories, is_table):
    """The columns that are no categories."""
    if categories is None:
        categories = {}
    if not isinstance(categories, dict):
        raise ValueError(f"categories must be None or a dict by name or number, got {categories!r}.")
    unknown = [name for name in categories if not is_table or name not in columns]
    if unknown:
        raise ValueError(f"categories must be of columns of X, got {unknown[:5]}, which X has not.")
    if len(columns) == len(categories):
        raise ValueError("X must have a column that is not in categories, as there is nothing to learn otherwise.")
    return {name: values for name, values in columns.items() if name not in categories}


def _read(values, name, is_table):
    label = f"column {name!r} of X" if is_table else "X"
    refuse_dates(values if isinstance(values, np.ndarray) else values.to_native(), label)
    if isinstance(values, nw.Series) and (values.dtype.is_numeric() or values.dtype == nw.Boolean):
        values = values.cast(nw.Float64).to_numpy()
    array = without_data(np.asarray, values)
    if array.dtype.kind == "O" and not any(isinstance(value, str | bytes) for value in array):
        array = without_data(np.asarray, array, np.float64)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{label} must hold real numbers, got dtype {array.dtype}.")
    array = array.astype(np.float64)
    if np.isinf(array).any():
        raise ValueError(f"{label} must hold finite numbers or missing values, got infinity.")
    return array
