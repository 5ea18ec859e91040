"""Ridge regression on the indicators of all parts, from noisy tables only (``docs/theory/additive_model.md``)."""

from typing import NamedTuple

import numpy as np
from scipy import linalg

_LEAST_PENALTY = 1.0  # in records; so that a fit without noise exists


class Effects(NamedTuple):
    """An additive model: an intercept, and the effect of each part, for one or several targets in [-1/2, 1/2]."""

    intercept: np.ndarray  # (n_targets,)
    of_parts: np.ndarray  # (n_parts, n_targets)
    deviations: np.ndarray  # (n_parts, n_targets): standard deviation that the noise gives to each effect


def moment_matrix(n, counts, pairs, offsets):
    """The second moments of the constant and of the indicators of all parts, from tables of counts.

    Parameters
    ----------
    n : int
        Number of records, which is public.
    counts : list of ndarrays of shape (n_parts_j,)
    pairs : dict of (int, int) to ndarray of shape (n_parts_i, n_parts_j)
    offsets : ndarray of shape (n_columns + 1,)

    Returns
    -------
    float64 ndarray of shape (n_parts + 1, n_parts + 1)
        The first row is for the constant.
    """
    moments = np.zeros((offsets[-1] + 1, offsets[-1] + 1))
    moments[0, 0] = n
    moments[0, 1:] = moments[1:, 0] = np.concatenate(counts)
    np.fill_diagonal(moments[1:, 1:], moments[0, 1:])
    for (i, j), table in pairs.items():
        rows, columns = slice(1 + offsets[i], 1 + offsets[i + 1]), slice(1 + offsets[j], 1 + offsets[j + 1])
        moments[rows, columns] = table
        moments[columns, rows] = table.T
    return moments


def ridge(moments, sums, offsets, count_scale, sum_scale):
    """The effects of all parts; effects of a column have a mean of 0 over its records, by noisy counts.

    Parameters
    ----------
    moments : float64 ndarray of shape (n_parts + 1, n_parts + 1)
    sums : float64 ndarray of shape (n_parts, n_targets)
        Sums of the target in each part, in units of its range, with noise.
    offsets : ndarray of shape (n_columns + 1,)
    count_scale, sum_scale : float
        Standard deviations of the noise on an entry of `moments`, and of `sums`.

    Returns
    -------
    Effects
    """
    totals = np.add.reduceat(sums, offsets[:-1], axis=0).mean(axis=0)  # equal for all columns
    values, vectors = linalg.eigh(moments)
    penalty = max(count_scale * np.sqrt(len(moments)), _LEAST_PENALTY)
    inverse = (vectors / (np.maximum(values, 0.0) + penalty)) @ vectors.T
    raw = inverse @ np.vstack([totals, sums])
    to_effects = _centred(inverse, moments[0, 1:], offsets)
    effects = _centred(raw, moments[0, 1:], offsets)
    deviations = np.sqrt(_noise_of_effects(to_effects[1:], raw, offsets, count_scale, sum_scale))
    return Effects(effects[0], effects[1:], deviations)


def _centred(raw, counts, offsets):
    """Effects with a mean of 0 in each column, weighted by its counts; the means are added to the first row."""
    weights = np.maximum(counts, 0.0)[:, None]
    widths = np.diff(offsets)
    totals = np.add.reduceat(weights, offsets[:-1], axis=0)
    weights = np.where(np.repeat(totals > 0, widths, axis=0), weights, 1.0)
    totals = np.add.reduceat(weights, offsets[:-1], axis=0)
    means = np.add.reduceat(weights * raw[1:], offsets[:-1], axis=0) / totals
    return np.vstack([raw[0] + means.sum(axis=0), raw[1:] - np.repeat(means, widths, axis=0)])


def _noise_of_effects(to_effects, raw, offsets, count_scale, sum_scale):
    """Variance of each effect, to first order in the noise of moments and sums.

    With the noise E on moments and e on sums, effects change by ``to_effects (e - E raw)``.
    """
    own = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) + 1
    column = np.concatenate([[0], own])
    of_each_sum = to_effects[:, 1:] + to_effects[:, :1] / (len(offsets) - 1)  # which is also in the total
    of_sums = sum_scale**2 * (of_each_sum**2).sum(axis=1)
    variances = []
    for of_target in raw.T:
        squares = of_target**2
        in_column = np.bincount(column, weights=squares, minlength=len(offsets))
        is_constant = column == 0
        # Independent entries: pairs of columns, and the counts, which are also the row of the constant.
        diagonal = np.where(is_constant, 0.0, squares[1:].sum() - in_column[column])
        spread = (to_effects**2) @ diagonal
        along = to_effects * of_target
        mixed = along[:, 1:].sum(axis=1) ** 2
        for first, last in zip(offsets[:-1] + 1, offsets[1:] + 1, strict=True):
            mixed -= along[:, first:last].sum(axis=1) ** 2
        counts = (to_effects[:, 1:] * (of_target[1:] + of_target[0]) + to_effects[:, :1] * of_target[1:]) ** 2
        variances.append(of_sums + count_scale**2 * (spread + mixed + counts.sum(axis=1)))
    return np.maximum(np.column_stack(variances), 0.0)
