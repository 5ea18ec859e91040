"""Functions of a correlation matrix: the nearest correlation matrix, and the order of forward selection."""

import math

import numpy as np

# Tuned on simulated tables, in standard deviations of the noise; the ridge is multiplied by the root of the number of
# columns, which is how the largest eigenvalue of the noise grows.
_SHRUNK_BY, _RIDGE = 1.5, 0.3
_TIE_FREE = 3.0  # standard deviations of the noise
FEW_TIES = 0.99  # share of untied pairs; with more ties, Greiner's sine formula does not hold
_TINY = 1e-12
_CLOSE, _MOST_STEPS = 1e-9, 400  # tolerance of the diagonal, and of two gains in R squared


def nearest_correlation(matrix):
    """The correlation matrix nearest, in the Frobenius norm, to a symmetric matrix clamped to [-1, 1].

    A correlation matrix is positive semidefinite with a diagonal of ones. The one nearest to the unclamped matrix may
    differ. Both steps, clamping and what follows, project onto a convex set, so neither increases the distance to any
    correlation matrix [1]_. With ``(.)+`` for the positive semidefinite part, the nearest is ``(matrix + diag(t))+``
    for the t that makes its diagonal one, the minimum of a smooth convex function [2]_.

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
    excess = part.diagonal() - 1  # the gradient, which changes by at most the change of the shift
    for iteration in range(_MOST_STEPS):
        if np.abs(excess).max() < _CLOSE:
            break
        change = -step * excess
        shift = shift + change
        part = _positive_part(target + np.diag(shift))
        bend = part.diagonal() - 1 - excess
        excess = excess + bend
        along = change @ bend
        # The step of Barzilai and Borwein is fast; if it fails, a step of 1 always converges.
        step = max(1.0, change @ change / along) if along > 0 and iteration < _MOST_STEPS // 2 else 1.0
    return _with_unit_diagonal(part)


def _positive_part(matrix):
    """The matrix with its negative eigenvalues set to 0."""
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.maximum(values, 0)) @ vectors.T


def _with_unit_diagonal(matrix):
    root = np.sqrt(matrix.diagonal())
    matrix = np.clip(matrix / np.outer(root, root), -1.0, 1.0)
    np.fill_diagonal(matrix, 1.0)
    return (matrix + matrix.T) / 2


def pearson_of_kendall(taus):
    """Pearson's correlations of jointly normal columns with these Kendall correlations: ``sin(pi/2 tau)`` (Greiner)."""
    return np.sin(math.pi / 2 * np.clip(taus, -1.0, 1.0))


def forward_order(taus, untied, noise_scale):
    """The order of forward selection by the gain in R squared, and R squared along it.

    The noise scale is public: correlations among features that may be due to noise are shrunk, and no feature counts as
    a linear combination of others more exactly than the noise allows.

    Parameters
    ----------
    taus : ndarray of shape (n_features + 1, n_features + 1)
        Noisy Kendall correlations, the target last; ties count 0.
    untied : ndarray of shape (n_features + 1,)
        Noisy shares of untied pairs of records.
    noise_scale : float
        Standard deviation of the noise on each.

    Returns
    -------
    order : int64 ndarray of shape (n_features,)
    r2_path : ndarray of shape (n_features,)
        R squared of the first feature, the first two, and so on; nondecreasing. NaN from the first feature with many
        ties, and everywhere if the target has many ties.
    """
    noise_scale = min(noise_scale, 1.0)
    correlation, noise = among_untied(taus, known_shares(untied, noise_scale), noise_scale)
    ridge = np.diag(_RIDGE * math.sqrt(len(taus)) * noise.diagonal())
    ridge[-1, -1] = 0.0  # the target is only explained, and explains nothing
    order = _greedy_order(nearest_correlation(_shrunk(correlation, noise)) + ridge)
    return order, _r2_until_ties(order, correlation, ridge, columns_with_ties(untied, noise_scale))


def _greedy_order(covariance):
    """Features by the gain in explained variance of the target (the last column), given those selected before."""
    n_features = len(covariance) - 1
    order, is_free = [], np.ones(n_features, dtype=bool)
    for _ in range(n_features):
        variance = np.maximum(covariance.diagonal()[:-1], _TINY)
        gain = np.where(is_free, covariance[:-1, -1] ** 2 / variance, -1.0)
        order.append(int(np.argmax(gain >= gain.max() - _CLOSE)))  # the first of equal ones, despite rounding errors
        is_free[order[-1]] = False
        covariance = _given(covariance, order[-1])
    return np.array(order)


def _r2_until_ties(order, correlation, ridge, tied):
    """R squared along the order up to the first column with many ties, where Greiner's formula fails."""
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
    """The variance of the target (1 in total) explained by the first, the first two, ... of these features."""
    left = []
    for j in order:
        covariance = _given(covariance, j)
        left.append(covariance[-1, -1])
    return np.clip(1 - np.array(left), 0.0, 1.0)


def _given(covariance, j):
    """Covariances of the residuals of linear models with column j."""
    column = covariance[:, j]
    return covariance - np.outer(column, column) / max(column[j], _TINY)


def known_shares(untied, noise_scale):
    """Shares of untied pairs: 1 if noise may hide that there are no ties, and never smaller than the noise allows.

    Parameters
    ----------
    untied : ndarray of shape (n_columns,)
        Noisy shares.
    noise_scale : float
        Standard deviation of the noise on each, at most 1.

    Returns
    -------
    ndarray of shape (n_columns,)
    """
    shares = np.where(untied > 1 - _TIE_FREE * noise_scale, 1.0, untied)
    return np.maximum(shares, max(min(_TIE_FREE * noise_scale, 1.0), _TINY))  # the share may be 0 for a constant


def columns_with_ties(untied, noise_scale):
    """Indices of the columns with evidence of many ties; parameters as in :func:`known_shares`."""
    return np.flatnonzero(known_shares(untied, min(noise_scale, 1.0)) < FEW_TIES).tolist()


def among_untied(taus, shares, noise_scale):
    """Pearson's correlations from Kendall's among untied pairs, and the noise on each.

    Parameters
    ----------
    taus : ndarray of shape (n_columns, n_columns)
        Noisy Kendall correlations; ties count 0.
    shares : ndarray of shape (n_columns,)
        From :func:`known_shares`.
    noise_scale : float
        Standard deviation of the noise on each.

    Returns
    -------
    correlation, noise : ndarrays of shape (n_columns, n_columns)
        The noise is given as standard deviations at a correlation of 0, where these are largest.
    """
    of_pairs = np.sqrt(np.outer(shares, shares))
    correlation = pearson_of_kendall(taus / of_pairs)
    np.fill_diagonal(correlation, 1.0)
    return correlation, noise_scale * math.pi / 2 / of_pairs


def _shrunk(correlation, noise):
    """Correlations among features shrunk towards 0, and those with the target unchanged."""
    nearer = np.sign(correlation) * np.maximum(np.abs(correlation) - _SHRUNK_BY * noise, 0.0)
    nearer[-1], nearer[:, -1] = correlation[-1], correlation[:, -1]
    np.fill_diagonal(nearer, 1.0)
    return nearer
