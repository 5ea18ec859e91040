"""Noisy two-way tables made to agree: one margin for each column, counts that are not negative; and laws from them."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from skdpmic._utils.shares import nearest_shares

_ROUNDS, _CLOSE = 50, 1e-10
_TINY = 1e-12
_PAIR_ROUNDS, _PAIRS_CLOSE = 30, 1e-6  # of the sum of all absolute changes
_PAIR_TINY = 1e-300


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


def law_of_pairs(shape, table_of):
    """The law of largest entropy among those with these two-way tables, by iterative proportional fitting.

    It is the log-linear model without interactions of three columns or more. Where no law has all of the tables, as
    they were estimated with noise, fitting ends near to all of them.

    Parameters
    ----------
    shape : tuple of int
        How many parts each of at least two columns has.
    table_of : callable
        ``table_of(a, b)`` for a < b: shares, an ndarray of shape (shape[a], shape[b]), not negative.

    Returns
    -------
    ndarray of that shape
        Probabilities.
    """
    law = np.full(shape, 1 / np.prod(shape))
    axes = range(len(shape))
    targets = [
        (tuple(c for c in axes if c not in pair), table_of(*pair).reshape([shape[c] if c in pair else 1 for c in axes]))
        for pair in combinations(axes, 2)
    ]
    for _ in range(_PAIR_ROUNDS):
        before = law
        for others, target in targets:
            law = law * (target / np.maximum(law.sum(axis=others, keepdims=True), _PAIR_TINY))
        if np.abs(law - before).sum() < _PAIRS_CLOSE:
            break
    return law
