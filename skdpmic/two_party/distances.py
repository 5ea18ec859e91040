"""Distances between the parts of a column, and its distance variance (``docs/theory/two_parties.md``, section 2)."""

import numpy as np

from skdpmic.table.axes import Labels

_TO_MISSING = 0.5  # of a range of width 1: the least distance to all of it that distance covariance allows
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(3)  # exact for squares of quadratic functions
_NODES, _WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2


def part_distances(column):
    """Distances between the parts of a reported column: (n_parts, n_parts).

    Of equal parts, that of their centres, with a range of width 1; a missing value is half of that away from all.
    Labels are all 1 apart.
    """
    if isinstance(column.axis, Labels):
        return 1.0 - np.eye(column.n_parts)
    centres = part_centres(column.n_equal)
    distances = np.full((column.n_parts, column.n_parts), _TO_MISSING)
    distances[: column.n_equal, : column.n_equal] = np.abs(centres[:, np.newaxis] - centres)
    np.fill_diagonal(distances, 0.0)
    return distances


def part_centres(n_equal):
    """Centres of equal parts of a range of width 1."""
    return (np.arange(n_equal) + 0.5) / n_equal


def part_variance(column, shares):
    """Distance variance, squared, of a column whose parts have these shares.

    Of a range, values are taken to be spread evenly within each part: then distance covariance, for which centres
    will do, and this have nearly the ratio that they have without parts.
    """
    if isinstance(column.axis, Labels):
        return discrete_variance(shares)
    n = column.n_equal
    return histogram_variance(shares[:n], shares[n:].sum())


def discrete_variance(shares):
    """Distance variance, squared, where any two different parts are 1 apart."""
    squares = shares**2
    return squares.sum() ** 2 + squares.sum() - 2 * (squares * shares).sum()


def histogram_variance(shares, missing=0.0):
    """Distance variance, squared, of a density that is constant on equal parts of a range of width 1.

    Parameters
    ----------
    shares : ndarray of shape (n_equal,)
        Of the parts; with `missing`, of sum 1.
    missing : float, default=0.0
        Share of missing values, which are `_TO_MISSING` from all others.
    """
    n = len(shares)
    centres, present = part_centres(n), shares.sum()
    between = np.abs(centres[:, np.newaxis] - centres)
    below = np.cumsum(shares) - shares
    at_left_end = np.abs(np.arange(n)[:, np.newaxis] / n - centres) @ shares
    rise = (2 * below - present)[:, np.newaxis] * _NODES + shares[:, np.newaxis] * _NODES**2
    to_all = at_left_end[:, np.newaxis] + rise / n + _TO_MISSING * missing  # mean distance, within each part
    mean_of_squares = shares @ (to_all**2 @ _WEIGHTS) + missing * (_TO_MISSING * present) ** 2
    mean = shares @ (between + np.eye(n) / (3 * n)) @ shares + 2 * _TO_MISSING * missing * present
    squared = shares @ (between**2 + 1 / (6 * n * n)) @ shares + 2 * _TO_MISSING**2 * missing * present
    return squared - 2 * mean_of_squares + mean**2
