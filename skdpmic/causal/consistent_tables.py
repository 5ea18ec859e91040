"""Noisy two-way tables made to agree: one margin for each column, counts that are not negative."""

from dataclasses import dataclass

import numpy as np

from skdpmic._utils.shares import nearest_shares

_ROUNDS, _CLOSE = 50, 1e-10
_TINY = 1e-12


@dataclass(frozen=True)
class Margins:
    """Shares of the parts of each column, from all tables that it is in."""

    shares: list  # of n_columns ndarrays of shape (size,): not negative, of sum 1
    variances: np.ndarray  # of the noise on each share of a column, (n_columns,)


def margins_of(tables, sizes, noise_scale, n):
    """The shares that fit all tables best.

    Each table gives each share of a column with the more noise the more parts the other column has. With weights for
    that, their mean is the estimate of least squares; then the nearest shares that are not negative and sum to 1.

    Parameters
    ----------
    tables : dict of (int, int) to ndarray of shape (sizes[i], sizes[j])
        Counts with noise of each two columns i < j.
    sizes : list of n_columns int
    noise_scale : float
        Standard deviation of the noise on a count.
    n : int
        Number of records.

    Returns
    -------
    Margins
    """
    sums, weights = [np.zeros(size) for size in sizes], np.zeros(len(sizes))
    for (i, j), table in tables.items():
        for column, other, axis in ((i, j, 1), (j, i, 0)):
            sums[column] += table.sum(axis=axis) / sizes[other]
            weights[column] += 1 / sizes[other]
    shares = [nearest_shares(total / weight / n) for total, weight in zip(sums, weights, strict=True)]
    return Margins(shares, (noise_scale / n) ** 2 / weights)


def with_margins(table, rows, columns):
    """The nearest table that has these margins; its entries may be negative.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_columns)
    rows : ndarray of shape (n_rows,)
    columns : ndarray of shape (n_columns,)
        Of the same sum as `rows`.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
    """
    table = table + ((rows - table.sum(axis=1)) / len(columns))[:, None]
    return table + (columns - table.sum(axis=0)) / len(rows)


def scaled_to_margins(table, rows, columns):
    """A table of positive entries, rows and columns scaled in turn until it has these margins.

    Parameters and value as those of :func:`with_margins`.
    """
    for _ in range(_ROUNDS):
        table = table * (rows / np.maximum(table.sum(axis=1), _TINY))[:, None]
        sums = table.sum(axis=0)
        table = table * (columns / np.maximum(sums, _TINY))
        if np.abs(sums - columns).max() < _CLOSE:
            break
    return table
