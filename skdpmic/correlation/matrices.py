"""Functions of a correlation matrix: the nearest correlation matrix, and Pearson's correlations."""

import math

import numpy as np

_TIE_FREE = 3.0  # standard deviations of the noise
FEW_TIES = 0.99  # share of untied pairs; with more ties, Greiner's sine formula does not hold
_TINY = 1e-12
_CLOSE, _MOST_STEPS = 1e-9, 400  # tolerance of the diagonal


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
    if (np.linalg.eigvalsh(target) >= 0).all():  # also if there are no columns
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
