"""MICe or MICr of many pairs of columns."""

import sys
from itertools import chain, combinations, product, starmap
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skdpmic._utils.typing import Correction, Master, Range, TableLike
from skdpmic.statistics.grids import check_c, grid_size
from skdpmic.statistics.mic.cell_counts import RangePlacer
from skdpmic.statistics.mic.characteristic import both_ways, check_statistic, largest_of_ways, mass_plan, ranked_column
from skdpmic.statistics.mic.mic_r import continuous_grids, mic_r_of_block
from skdpmic.statistics.mic.optimize_axis import entropy_table
from skdpmic.table.domains import both_of, intervals_of
from skdpmic.table.frames import as_frame, is_frame
from skdpmic.table.normal_form import array_of
from skdpmic.table.values import check_column

# --- Tables ------------------------------------------------------------------------------------------------------


def _is_pandas(table):
    pandas = sys.modules.get("pandas")  # without pandas imported, there is no pandas table
    return pandas is not None and isinstance(table, pandas.DataFrame)


def _columns(table, name):
    """The columns of a 2-D table as arrays of finite numbers."""
    if is_frame(table):
        columns = {repr(column.name): column.to_native() for column in as_frame(table, name).iter_columns()}
    else:
        array = array_of(table, name)
        if array.ndim != 2:
            raise ValueError(f"{name} must be 2-dimensional, got an array of shape {array.shape}.")
        columns = dict(enumerate(array.T))
    if len(table) < 2:
        raise ValueError(f"{name} must hold at least 2 samples, got n_samples={len(table)}.")
    return [check_column(column, f"column {label} of {name}") for label, column in columns.items()]


def _prepared(tables, bounds, statistic, n, B, c, master, correction):
    """The columns of each table, prepared once, and the function that scores two of them.

    Parameters
    ----------
    tables : list of lists of columns
    bounds : dict of str to range
        The range of each table, by its name in errors; of None for MICe.
    """
    B, table = grid_size(B, n), entropy_table(n)
    if statistic == "mic_e":
        plan = mass_plan(B, min(c, n))  # a larger c adds nothing: at most one master part per record
        ranked = [list(map(ranked_column, columns)) for columns in tables]
        return ranked, lambda x, y: largest_of_ways(both_ways(x, y), plan, table)
    check_c(c, n, B, master=master)
    grids = RangePlacer(*continuous_grids(B, c, master, correction))
    placed = [
        list(map(grids.place, columns, intervals_of(of_table, len(columns), name)))
        for columns, (name, of_table) in zip(tables, bounds.items(), strict=True)
    ]
    return placed, lambda x, y: mic_r_of_block([(x, y), (y, x)], grids.groups, 1, table, correction)[0]


def _parallel_scores(score, pairs, n_jobs):
    """The scores of pairs of prepared columns, in order."""
    # Several tasks per worker, for balance, but not one per pair, because a pair may take only microseconds.
    size = max(len(pairs) // (16 * effective_n_jobs(n_jobs)), 1)
    tasks = (pairs[first : first + size] for first in range(0, len(pairs), size))
    found = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(list)(starmap(score, task)) for task in tasks)
    return np.array(list(chain.from_iterable(found)), dtype=np.float64)


# --- The public functions ----------------------------------------------------------------------------------------


def mic_pairs(
    X: TableLike,
    *,
    statistic: str = "mic_e",
    B: float = 0.6,
    c: float | None = None,
    bounds: Range | None = None,
    master: Master = "reduced",
    correction: Correction = None,
    n_jobs: int | None = None,
) -> Any:
    """Compute MICe or MICr of all pairs of columns of a table. Not private.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Real numbers.
    statistic : {"mic_e", "mic_r"}, default="mic_e"
        See :func:`mic_e` and :func:`mic_r`.
    B : float, default=0.6
        Maximum grid size, as in these functions.
    c : float, default=None
        Fineness of the master partition, as in these functions; None uses the default of the statistic, 15 for MICe and
        5 for MICr.
    bounds : (lower, upper), default=None
        Range of the columns, for MICr only: numbers, or arrays of shape (n_features,). For two columns, arrays must be
        a tuple of numpy arrays, because two pairs of another type could also mean one range per column.
    master : {"reduced", "full"}, default="reduced"
        As in :func:`mic_r`.
    correction : None or "miller-madow", default=None
        As in :func:`mic_r`.
    n_jobs : int, default=None
        Number of parallel threads (see joblib). The result does not depend on it.

    Returns
    -------
    ndarray of shape (n_features * (n_features - 1) / 2,) or pandas Series
        In the order of :func:`scipy.spatial.distance.pdist`: columns 0 and 1, 0 and 2, ..., 1 and 2, ....
        ``scipy.spatial.distance.squareform`` turns it into a symmetric matrix with a diagonal of 0. For a pandas
        DataFrame, a Series indexed by the two column names.

    Raises
    ------
    ValueError
        If an argument is invalid.

    See Also
    --------
    mic_cross : Scores the columns of one table against those of another.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import mic_pairs
    >>> x = np.linspace(-1, 1, 300)
    >>> noise = np.random.default_rng(0).random(300)
    >>> mic_pairs(np.column_stack([x, x**2, noise])).round(2)
    array([1.  , 0.07, 0.08])
    """
    c = check_statistic(statistic, B, c, bounds, master, correction)
    columns = _columns(X, "X")
    if len(columns) == 0:
        raise ValueError("X must have at least one column, got none.")
    (ready,), score = _prepared([columns], {"bounds": bounds}, statistic, len(X), B, c, master, correction)
    pairs = list(combinations(ready, 2))
    scores = _parallel_scores(score, pairs, n_jobs)
    if not _is_pandas(X):
        return scores
    pandas = sys.modules["pandas"]
    first, second = zip(*combinations(X.columns, 2), strict=True) if pairs else ((), ())
    return pandas.Series(scores, index=pandas.MultiIndex.from_arrays([first, second]), name=statistic)


def mic_cross(
    X: TableLike,
    Y: TableLike,
    *,
    statistic: str = "mic_e",
    B: float = 0.6,
    c: float | None = None,
    bounds: Range | None = None,
    master: Master = "reduced",
    correction: Correction = None,
    n_jobs: int | None = None,
) -> Any:
    """Compute MICe or MICr of each column of one table with each column of another. Not private.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Real numbers.
    Y : array-like of shape (n_samples, n_targets)
        Real numbers.
    statistic : {"mic_e", "mic_r"}, default="mic_e"
        See :func:`mic_e` and :func:`mic_r`.
    B : float, default=0.6
        Maximum grid size, as in these functions.
    c : float, default=None
        Fineness of the master partition, as in these functions; None uses the default of the statistic, 15 for MICe and
        5 for MICr.
    bounds : ((X_lo, X_hi), (Y_lo, Y_hi)), default=None
        Range of the columns, for MICr only: numbers, or arrays with one number per column. For two columns, arrays must
        be a tuple of numpy arrays, because two pairs of another type could also mean one range per column.
    master : {"reduced", "full"}, default="reduced"
        As in :func:`mic_r`.
    correction : None or "miller-madow", default=None
        As in :func:`mic_r`.
    n_jobs : int, default=None
        Number of parallel threads (see joblib). The result does not depend on it.

    Returns
    -------
    ndarray of shape (n_features, n_targets) or pandas DataFrame
        Scores. If X or Y is a pandas DataFrame, so is the result, with the columns of X as its index and those of Y as
        its columns.

    Raises
    ------
    ValueError
        If an argument is invalid.

    See Also
    --------
    mic_pairs : Scores all pairs of columns of one table.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import mic_cross
    >>> x = np.linspace(-1, 1, 300)
    >>> noise = np.random.default_rng(0).random(300)
    >>> mic_cross(np.column_stack([x, noise]), np.column_stack([x**2, x**3])).round(2)
    array([[1.  , 1.  ],
           [0.08, 0.07]])
    """
    c = check_statistic(statistic, B, c, bounds, master, correction)
    x_columns, y_columns = _columns(X, "X"), _columns(Y, "Y")
    if len(X) != len(Y):
        raise ValueError(f"X and Y must have the same number of samples, got {len(X)} and {len(Y)}.")
    ranges = dict(zip(("bounds of X", "bounds of Y"), (None, None) if bounds is None else both_of(bounds), strict=True))
    (xs, ys), score = _prepared([x_columns, y_columns], ranges, statistic, len(X), B, c, master, correction)
    scores = _parallel_scores(score, list(product(xs, ys)), n_jobs).reshape(len(xs), len(ys))
    if not (_is_pandas(X) or _is_pandas(Y)):
        return scores
    names = [table.columns if _is_pandas(table) else None for table in (X, Y)]
    return sys.modules["pandas"].DataFrame(scores, *names)
