"""The public parts of each column of a table: eight of equal width in a range, or the labels; other, and missing."""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy import linalg

from skdpmic.privacy.composition import Pure, budget_of, root_below
from skdpmic.release.bounds import medians, rates, squared_rates
from skdpmic.statistics.grids import parts_and_missing
from skdpmic.table.domains import MISSING, Labels, Nominal, beside, names_of_labels, names_of_ranges
from skdpmic.table.targets import ClassTarget

N_CUT = 8  # parts of a range, besides the part of missing values


def n_parts_of(domain):
    """Number of parts of a column with this encoded domain."""
    return domain.n_parts if isinstance(domain, Nominal) else N_CUT + 1


def codes_of(column, domain):
    """The part of each value of a column with this encoded domain, each separately: an int64 ndarray."""
    codes = column if isinstance(domain, Nominal) else parts_and_missing(column, domain, N_CUT)[0]
    return np.asarray(codes, dtype=np.int64)


def offsets_of(sizes):
    """The number of the first part of each column among the parts of all columns, and their total."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def sums_of_effects(columns, effects, intercept, offsets):
    """The sum of the effects of each row, with the intercept: (n_samples, n_targets); each row separately."""
    scores = np.tile(np.atleast_1d(intercept), (len(columns[0]), 1))
    for codes, first in zip(columns, offsets[:-1], strict=True):
        scores += effects[first + codes]
    return scores


def names_of_parts(domain):
    """A text for each part of a column with this public domain."""
    if isinstance(domain, Labels):
        labels = names_of_labels(domain.labels)
        return labels + beside(labels)
    return [*names_of_ranges(ends_of_parts(domain)), MISSING]


def ends_of_parts(domain):
    """The ends of the parts of a range, as numbers, dates or durations; None for labels."""
    if isinstance(domain, Labels):
        return None
    lower, upper = domain.encoded
    return np.array([domain.decode(lower + j * (upper - lower) / N_CUT) for j in range(N_CUT + 1)])


GRID = 2**12  # equal steps of the range of a numeric target, so that sums are integers


def in_steps(target):
    """The target as integers, each record separately, and the number of steps from the smallest to the largest.

    Parameters
    ----------
    target : ClassTarget or NumericTarget

    Returns
    -------
    values : int64 ndarray of shape (n_samples, n_targets)
        Steps from the middle of the range; -1 and 1 for two classes; for more, 1 in the column of the class.
    n_steps : int
    """
    if isinstance(target, ClassTarget):
        codes = np.asarray(target.values, dtype=np.int64)
        if target.n_classes == 2:
            return 2 * codes[:, None] - 1, 2
        return (codes[:, None] == np.arange(target.n_classes)).astype(np.int64), 1
    return np.rint(shares_of_bounds(target) * GRID).astype(np.int64)[:, None] - GRID // 2, GRID


def shares_of_bounds(target):
    """The position of each number within its bounds, from 0 to 1."""
    lower, upper = target.bounds
    return (np.clip(target.values.astype(np.float64), lower, upper) - lower) / (upper - lower)


def sums_in_parts(columns, sizes, values):
    """Sums of each column of `values` in each part of each column: int64 ndarray of shape (n_parts, n_targets)."""
    offsets = offsets_of(sizes)
    sums = np.empty((offsets[-1], values.shape[1]), dtype=np.int64)
    for codes, first, last in zip(columns, offsets[:-1], offsets[1:], strict=True):
        for target, of_target in enumerate(values.T):
            sums[first:last, target] = np.bincount(codes, weights=of_target, minlength=last - first)  # below 2**53
    return sums


WINDOW_SHARE = Fraction(1, 10)  # share of the budget for the window
MEAN_SHARE = Fraction(3, 20)  # share for the mean in the target's units, on a bent axis
_N_LEVELS = 2  # of medians: of all targets, and of those on either side
_REACH = 3.0  # from the median, in distances to the quartile
_FAR = 200.0  # n times the rate of the first median beyond which the window extends further
_LEAST = GRID / 8  # from the median on either side, in steps


def share_besides(of_numbers, is_bent):
    """The share of the budget for what only numbers have: a window, and the mean if their axis is bent."""
    return (WINDOW_SHARE if of_numbers else 0) + (MEAN_SHARE if is_bent else 0)


def squares_of_window():
    """The cost of the window in zCDP, over that of a pure mechanism with the whole budget."""
    return WINDOW_SHARE**2 * squared_rates(_N_LEVELS, 1)


def rates_of_window(epsilon, delta, rows_per_group=1):
    """The rates of the medians that find the window."""
    part = budget_of(epsilon, delta).part(WINDOW_SHARE)
    if epsilon == math.inf:
        return rates(math.inf, _N_LEVELS)
    of_medians = part.epsilon if isinstance(part, Pure) else root_below(2 * part.rho / squared_rates(_N_LEVELS, 1))
    return rates(of_medians / rows_per_group, _N_LEVELS)


def within_window(target, rates, random_bytes):
    """The target as shares of its bounds; its bounds become the window, which is released.

    Parameters
    ----------
    target : NumericTarget
    rates : list of 2 Fraction or infinity
        From :func:`rates_of_window`.
    random_bytes : callable

    Returns
    -------
    NumericTarget
        With bounds in [0, 1] that are at least an eighth apart.
    """
    steps, _ = in_steps(target)
    positions = np.sort(steps[:, 0] + GRID // 2)
    low, middle, high = medians(positions, GRID + 1, rates, random_bytes)
    reach = _REACH * min(max(1.0, len(positions) * float(rates[0]) / _FAR), GRID)  # all of the bounds without noise
    first = max(middle - max(reach * max(middle - low, 1), _LEAST), 0.0)
    last = min(middle + max(reach * max(high - middle, 1), _LEAST), GRID)
    return target._replace(values=shares_of_bounds(target), bounds=(float(first / GRID), float(last / GRID)))


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
