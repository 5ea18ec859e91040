"""What follows from a correlation matrix: the nearest one of a noisy matrix, and the order of a forward selection."""

import math

import numpy as np

# Tuned on simulated tables, in standard deviations of the noise; the ridge times the root of the number of columns, as
# the largest eigenvalue of the noise grows.
_SHRUNK_BY, _RIDGE = 1.5, 0.3
_TIE_FREE = 3.0  # standard deviations of the noise
FEW_TIES = 0.99  # of pairs are untied: with more ties the sine is not that of a column's correlations
_TINY = 1e-12
_CLOSE, _MOST_STEPS = 1e-9, 400  # of the diagonal to one, or of two gains in R squared


def nearest_correlation(matrix):
    """The correlation matrix that is nearest, by the Frobenius norm, to a symmetric one with entries cut to [-1, 1].

    Of positive semidefinite matrices with a diagonal of ones. Of the matrix that is not cut another may be the nearest.
    Both steps, the cut and what follows, project on a convex set, so neither takes the
    matrix farther from any correlation matrix than it was [1]_. With ``(.)+`` for the positive semidefinite part, the
    nearest is ``(matrix + diag(t))+`` for the t that makes its diagonal one, the minimum of a smooth convex function
    [2]_.

    Parameters
    ----------
    matrix : ndarray of shape (n_columns, n_columns)
        Symmetric.

    Returns
    -------
    ndarray of shape (n_columns, n_columns)

    References
    ----------
    .. [1] N. J. Higham, "Computing the nearest correlation matrix", IMA Journal of Numerical Analysis 2002.
    .. [2] H. Qi and D. Sun, "A Quadratically Convergent Newton Method for Computing the Nearest Correlation Matrix",
       SIAM Journal on Matrix Analysis and Applications 2006.
    """
    target = np.clip(matrix, -1.0, 1.0)
    np.fill_diagonal(target, 1.0)
    if np.linalg.eigvalsh(target)[0] >= 0:
        return target

    shift, step = np.zeros(len(target)), 1.0
    part = _positive_part(target)
    excess = part.diagonal() - 1  # the slope, which changes by no more than the shift does
    for iteration in range(_MOST_STEPS):
        if np.abs(excess).max() < _CLOSE:
            break
        change = -step * excess
        shift = shift + change
        part = _positive_part(target + np.diag(shift))
        bend = part.diagonal() - 1 - excess
        excess = excess + bend
        along = change @ bend
        # Barzilai and Borwein's step, which is quick; a step of 1, which always arrives, should that one not.
        step = max(1.0, change @ change / along) if along > 0 and iteration < _MOST_STEPS // 2 else 1.0
    return _with_unit_diagonal(part)


def _positive_part(matrix):
    """The matrix with its negative eigenvalues made 0."""
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.maximum(values, 0)) @ vectors.T


def _with_unit_diagonal(matrix):
    root = np.sqrt(matrix.diagonal())
    matrix = np.clip(matrix / np.outer(root, root), -1.0, 1.0)
    np.fill_diagonal(matrix, 1.0)
    return (matrix + matrix.T) / 2


def pearson_of_kendall(taus):
    """Pearson's correlations of jointly normal columns with these of Kendall: ``sin(pi/2 tau)`` (Greiner)."""
    return np.sin(math.pi / 2 * np.clip(taus, -1.0, 1.0))


def forward_order(taus, untied, noise_scale):
    """The order in which forward selection takes features by the gain in R squared, and R squared along it.

    Of the noise it is public how large it is: correlations among features that it may have made are shrunk, and no
    feature is taken to be the sum of others more exactly than the noise lets one know.

    Parameters
    ----------
    taus : ndarray of shape (n_features + 1, n_features + 1)
        Kendall's correlations with noise, the target last; ties count 0.
    untied : ndarray of shape (n_features + 1,)
        Shares of pairs of records that are not tied, with noise.
    noise_scale : float
        Standard deviation of the noise on each.

    Returns
    -------
    order : int64 ndarray of shape (n_features,)
    r2_path : ndarray of shape (n_features,)
        R squared of the first feature, the first two, and so on; never falls. NaN from the first feature with many ties
        on, and throughout if the target has many.
    """
    noise_scale = min(noise_scale, 1.0)
    correlation, noise = among_untied(taus, known_shares(untied, noise_scale), noise_scale)
    ridge = np.diag(_RIDGE * math.sqrt(len(taus)) * noise.diagonal())
    ridge[-1, -1] = 0.0  # the target is explained, and explains nothing
    order = _greedy_order(nearest_correlation(_shrunk(correlation, noise)) + ridge)
    return order, _r2_until_ties(order, correlation, ridge, columns_with_ties(untied, noise_scale))


def _greedy_order(covariance):
    """Features by the gain in explained variance of the target, which is last, given those taken before."""
    n_features = len(covariance) - 1
    order, is_free = [], np.ones(n_features, dtype=bool)
    for _ in range(n_features):
        variance = np.maximum(covariance.diagonal()[:-1], _TINY)
        gain = np.where(is_free, covariance[:-1, -1] ** 2 / variance, -1.0)
        order.append(int(np.argmax(gain >= gain.max() - _CLOSE)))  # of equal ones the first, despite rounding errors
        is_free[order[-1]] = False
        covariance = _given(covariance, order[-1])
    return np.array(order)


def _r2_until_ties(order, correlation, ridge, tied):
    """R squared along the order as long as no column has many ties: of those the sine is no correlation."""
    target = len(order)
    n_known = 0 if target in tied else next((place for place, j in enumerate(order) if j in tied), target)
    known = np.sort([*order[:n_known], target])
    square = np.ix_(known, known)
    path = np.full(target, np.nan)
    path[:n_known] = _r2_along(
        np.searchsorted(known, order[:n_known]), nearest_correlation(correlation[square]) + ridge[square]
    )
    return path


def _r2_along(order, covariance):
    """The share of the target's variance, 1, that the first, the first two, ... of these features explain."""
    left = []
    for j in order:
        covariance = _given(covariance, j)
        left.append(covariance[-1, -1])
    return np.clip(1 - np.array(left), 0.0, 1.0)


def _given(covariance, j):
    """Covariances of what a linear model of column j does not explain."""
    column = covariance[:, j]
    return covariance - np.outer(column, column) / max(column[j], _TINY)


def known_shares(untied, noise_scale):
    """Shares of pairs that are not tied: 1 where noise hides that there are ties, and never so small that it drowns.

    Parameters
    ----------
    untied : ndarray of shape (n_columns,)
        Shares with noise.
    noise_scale : float
        Standard deviation of the noise on each, at most 1.

    Returns
    -------
    ndarray of shape (n_columns,)
    """
    shares = np.where(untied > 1 - _TIE_FREE * noise_scale, 1.0, untied)
    return np.maximum(shares, max(min(_TIE_FREE * noise_scale, 1.0), _TINY))  # of a constant, it may be 0


def columns_with_ties(untied, noise_scale):
    """The numbers of the columns that are seen to have many ties; parameters as those of :func:`known_shares`."""
    return np.flatnonzero(known_shares(untied, min(noise_scale, 1.0)) < FEW_TIES).tolist()


def among_untied(taus, shares, noise_scale):
    """Pearson's correlations, from Kendall's among pairs that are not tied, and the noise on each of them.

    Parameters
    ----------
    taus : ndarray of shape (n_columns, n_columns)
        Kendall's correlations with noise; ties count 0.
    shares : ndarray of shape (n_columns,)
        From :func:`known_shares`.
    noise_scale : float
        Standard deviation of the noise on each.

    Returns
    -------
    correlation, noise : ndarrays of shape (n_columns, n_columns)
        Standard deviations at a correlation of 0, where they are largest.
    """
    of_pairs = np.sqrt(np.outer(shares, shares))
    correlation = pearson_of_kendall(taus / of_pairs)
    np.fill_diagonal(correlation, 1.0)
    return correlation, noise_scale * math.pi / 2 / of_pairs


def _shrunk(correlation, noise):
    """Correlations among features nearer to 0, and those with the target as they are."""
    nearer = np.sign(correlation) * np.maximum(np.abs(correlation) - _SHRUNK_BY * noise, 0.0)
    nearer[-1], nearer[:, -1] = correlation[-1], correlation[:, -1]
    np.fill_diagonal(nearer, 1.0)
    return nearer
