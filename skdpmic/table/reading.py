"""A table in memory, read as its public description says; nothing that is refused is quoted."""

from functools import partial

import numpy as np

from skdpmic._utils.readable import abbreviated, is_dask_collection
from skdpmic.table.axes import DATES, DURATIONS, NUMBERS, Labels, Order, Range
from skdpmic.table.bounds import with_range_of_data
from skdpmic.table.columns import Columns
from skdpmic.table.features import axes_of_one_kind, feature_axes
from skdpmic.table.frames import open_table
from skdpmic.table.records import Records
from skdpmic.table.targets import check_kind, make_target, target_axis
from skdpmic.table.values import (
    ANY_ORDER,
    BYTES,
    OBJECTS,
    TEXT,
    as_codes,
    as_numbers,
    declared_labels,
    is_empty,
    kind_of,
    kind_of_labels,
)

FEWEST = 4  # records, of which scores make sense


def read_records(estimator, X, y, needs_ranges):
    """The records of a table, which `estimator` describes: its bounds, categories, target_bounds and classes.

    Parameters
    ----------
    estimator : estimator
        Gets the attributes `n_features_in_` and, if X has names, `feature_names_in_`.
    X, y : array-like
    needs_ranges : bool
        Whether the ranges of the features and of a numeric target are needed; if not, they are not looked at.
    """
    check_kind(estimator.target_bounds, estimator.classes, needs_ranges)
    table = open_table(estimator, X, takes_text=estimator.categories is not None, least=FEWEST)
    columns, scales = _read_features(estimator, table, estimator.bounds, needs_ranges)
    axis = target_axis(estimator.target_bounds, needs_ranges) if estimator.classes is None else None
    return Records(columns, scales, make_target(y, table.n_samples, axis, estimator.classes, estimator))


def read_features(estimator, X):
    """The records of a table without a target, of which nothing but the order of the values is needed.

    Parameters
    ----------
    estimator : estimator
        Tells `categories`; gets attributes as by :func:`read_records`.
    X : array-like
    """
    table = open_table(estimator, X, takes_text=estimator.categories is not None, least=FEWEST)
    return Records(*_read_features(estimator, table, None, needs_ranges=False), None)


def read_features_of_one_kind(estimator, X):
    """The records of a table without a target, whose columns all have labels, or all an order.

    Parameters
    ----------
    estimator : estimator
        Tells `categories`; gets attributes as by :func:`read_records`.
    X : array-like

    Returns
    -------
    Records
        The scales are all :class:`skdpmic.table.nominal.Nominal`, or all None.
    """
    table = open_table(estimator, X, takes_text=estimator.categories is not None, least=FEWEST)
    declared = table.declared()
    if isinstance(X, np.ndarray) and X.dtype == np.bool_:
        declared = dict.fromkeys(range(table.n_features), declared_labels(X))
    axes = axes_of_one_kind(estimator.categories, table.n_features, table.names_as_text(), declared)
    columns, axes = read_columns(table, axes)
    return Records(columns, [axis.scale for axis in axes], None)


def _read_features(estimator, table, bounds, needs_ranges):
    """The columns of a table, and their scales."""
    axes = feature_axes(
        bounds, estimator.categories, table.n_features, table.names_as_text(), table.declared(), needs_ranges
    )
    columns, axes = read_columns(table, axes)
    return columns, [axis.scale for axis in axes]


def read_chunk(estimator, X, axes, reset):
    """The columns of a chunk of a table whose axes are known."""
    takes_text = any(isinstance(axis, Labels) or axis.of != NUMBERS for axis in axes)
    table = open_table(estimator, X, reset=reset, takes_text=takes_text)
    return read_columns(table, axes)[0]


def check_enough(n_samples):
    """Raise unless there are enough records."""
    if n_samples < FEWEST:
        raise ValueError(f"Found array with {n_samples} sample(s) while a minimum of {FEWEST} is required.")


def refuse_dask(X):
    """Raise if X is a dask collection, all of whose rows would come into memory."""
    if is_dask_collection(X):
        raise TypeError(
            "X must be in memory to be counted in chunks, got a dask collection: give it to fit, or count each of its "
            "partitions into a sketch of its own."
        )


def names_and_declared(estimator, X):
    """How many columns a table has, their names or None, and the labels that their types declare."""
    table = open_table(estimator, X, takes_text=estimator.categories is not None)
    return table.n_features, table.names_as_text(), table.declared()


def read_numbers(estimator, X):
    """All of a table with the features of a fitted estimator, as floats: an ndarray, or a sparse matrix."""
    table = open_table(estimator, X, reset=False)
    if table.values is not None:
        return table.values
    if table.is_sparse:
        return X
    refuse_other_kinds(table, dict.fromkeys(range(table.n_features), Range(0.0, 1.0)))
    return np.column_stack([_read(table, j, Range(0.0, 1.0)) for j in range(table.n_features)])


# --- Columns ----------------------------------------------------------------------------------------------------------

_KINDS = {
    NUMBERS: (NUMBERS, OBJECTS),
    DATES: (DATES, OBJECTS),
    DURATIONS: (DURATIONS, OBJECTS),
    TEXT: (TEXT, OBJECTS),
    Order.of: ANY_ORDER,
}
_NUMERALS = (TEXT, BYTES)  # in an array, all of whose columns are text if some are


def read_columns(table, axes):
    """The columns of a table, as their axes place them, and the axes.

    An axis that is None becomes the range of the data.

    Returns
    -------
    columns : ndarray of shape (n_features, n_samples), or Columns
    axes : list of length n_features
    """
    if table.values is not None and all(map(_leaves_numbers, axes)):
        return table.values.T, axes
    refuse_other_kinds(table, dict(enumerate(axes)))
    if table.is_sparse and None not in axes:  # its values were checked, and it is not to be made dense as a whole
        return Columns([partial(_place, table, j, axis) for j, axis in enumerate(axes)], table.n_samples), axes
    columns = [_read(table, j, axis) for j, axis in enumerate(axes)]
    if None in axes:
        columns, axes = zip(*map(_with_axis, columns, axes), strict=True)
    makers = [partial(axis.place, column) for axis, column in zip(axes, columns, strict=True)]
    return Columns(makers, table.n_samples), list(axes)


def _leaves_numbers(axis):
    """Whether an axis takes numbers as they are."""
    return isinstance(axis, Order) or (isinstance(axis, Range) and axis.of == NUMBERS)


def _place(table, j, axis):
    return axis.place(_read(table, j, axis))


def _read(table, j, axis):
    column = table.column_at(j)
    name = f"column {table.name_of(j)!r} of X"
    return as_codes(column, axis.labels, name) if isinstance(axis, Labels) else as_numbers(column, _of(axis), name)


def _with_axis(column, axis):
    return with_range_of_data(column) if axis is None else (column, axis)


def refuse_other_kinds(table, axes):
    """Raise if a column is of another type than bounds and categories say: the axis of each, by its number."""
    wrong = {}
    for j, axis in axes.items():
        column = table.column_at(j)
        kind, described = kind_of(column), _described(axis)
        if kind not in _KINDS[described] and not _are_numerals(column, kind, axis) and not is_empty(column):
            wrong.setdefault((kind, described), []).append(table.name_of(j))
    if wrong:
        found = "; ".join(
            f"{kind} in {abbreviated(names)}, which must be {said}" for (kind, said), names in wrong.items()
        )
        found = found.replace(f"must be {Order.of}", "must be numbers, dates or durations")
        raise ValueError(
            f"X must hold what bounds and categories say, got {found}. Give the public labels of text in categories, "
            "and the bounds of dates or durations as such."
        )


def _are_numerals(column, kind, axis):
    return isinstance(column, np.ndarray) and kind in _NUMERALS and NUMBERS in _of(axis)


def _of(axis):
    """The kinds of which a column must be that is put in order."""
    return () if isinstance(axis, Labels) else _KINDS[_described(axis)]


def _described(axis):
    if isinstance(axis, Labels):
        return kind_of_labels(axis.labels)
    return Order.of if axis is None else axis.of
