"""The release of an additive model: noisy tables of pairs of columns, and of each column with the target."""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy import linalg

from skdpmic.models.parts import Effects, codes_of, in_steps, n_parts_of, offsets_of, share_besides, sums_in_parts
from skdpmic.privacy.composition import budget_of
from skdpmic.release.path import UnscoredRelease, counts_of_sets, with_gaussian_noise

MOST_PARTS = 4_000  # of all columns together, to limit memory and time


@dataclass(frozen=True)
class TwoWayRelease(UnscoredRelease):
    """Tables of pairs of columns, counts of columns and sums of the target, in one release with Gaussian noise."""

    n_features: int
    is_bent: bool = False  # the axis of the target

    publishes = "tables"
    kind = "two-way"

    def noise(self, n_classes, rows_per_group=1):
        """The noise."""
        rho = budget_of(self.epsilon, self.delta).part(1 - share_besides(n_classes is None, self.is_bent)).rho
        return TwoWayNoise.for_budget(rho, self.n_features, target_change(n_classes), rows_per_group)

    def draw(self, records, noise, n_jobs, random_bytes):
        """The published attributes, and the effects of all parts."""
        columns, domains = records.map_features(codes_of, n_jobs), records.domains
        sizes, progress = [n_parts_of(domain) for domain in domains], records.progress
        singles = [(j,) for j in range(len(sizes))]
        sets = list(combinations(range(len(sizes)), 2))
        exact = counts_of_sets(columns, sizes, singles) + counts_of_sets(columns, sizes, sets, n_jobs, progress)
        tables = with_gaussian_noise(exact, noise.count_variance, random_bytes)
        counts, pairs = tables[: len(sizes)], dict(zip(sets, tables[len(sizes) :], strict=True))
        values, n_steps = in_steps(records.target)
        sums = sums_in_parts(columns, sizes, values)
        (sums,) = with_gaussian_noise([sums], noise.sum_variance * n_steps**2, random_bytes)
        sums = sums / n_steps
        offsets = offsets_of(sizes)
        moments = moment_matrix(records.n_samples, counts, pairs, offsets)
        of_centred = noise.sum_scale * np.sqrt(1 - 1 / sums.shape[1]) if sums.shape[1] > 1 else noise.sum_scale
        effects = ridge(moments, _centred(sums), offsets, noise.noise_scale, of_centred)
        published = {"noisy_counts_": counts, "noisy_pairs_": pairs, "noisy_sums_": sums}
        return {"kind_": self.kind} | published, effects


def _centred(sums):
    """Sums of several classes minus their mean, so that effects are on differences from equal shares."""
    return sums - sums.mean(axis=1, keepdims=True) if sums.shape[1] > 1 else sums


class TargetChange(NamedTuple):
    """How much the sums of a target in the parts of one column may change if one record is replaced.

    Squared L2 distances, in units of the target's range: of two values in the same part, and in different parts. Both
    are attained by the same two values.
    """

    in_same_part: Fraction
    between_parts: Fraction


CHANGE_OF_NUMBERS = TargetChange(Fraction(1), Fraction(1, 2))  # from -1/2 to 1/2; two classes are these ends
CHANGE_OF_CLASSES = TargetChange(Fraction(2), Fraction(2))  # one count in each of several classes


def target_change(n_classes):
    """The change of the sums of a target with this many classes, or of numbers."""
    return CHANGE_OF_CLASSES if n_classes is not None and n_classes > 2 else CHANGE_OF_NUMBERS


def squared_sensitivity(n_columns, weight, change, rows_per_group=1):
    """Squared L2 sensitivity of all tables together, with the tables of the target multiplied by ``sqrt(weight)``.

    If the parts of a record change in all but m of d columns, d (d - 1) - m (m - 1) cells of the tables of pairs change
    by one, and 2 (d - m) counts of columns; the maximum over m is attained.

    Parameters
    ----------
    n_columns : int
    weight : int or Fraction
        Squared weight of the tables of the target.
    change : TargetChange
    rows_per_group : int, default=1
        Number of records per person, all of which may be replaced.

    Returns
    -------
    Fraction
        Exact.
    """
    d = n_columns
    most = max(
        d * (d - 1) - m * (m - 1) + 2 * (d - m) + weight * (m * change.in_same_part + (d - m) * change.between_parts)
        for m in range(d + 1)
    )
    return rows_per_group**2 * Fraction(most)


def squared_weight(n_columns, change):
    """Squared weight of the tables of the target, at which they cost as much as the pairs if all parts change."""
    return Fraction(n_columns + 1) / change.between_parts


@dataclass(frozen=True)
class TwoWayNoise:
    """Discrete Gaussian noise on all tables.

    Parameters
    ----------
    count_variance : int
        Variance of the noise on each count of records; 0 for none.
    sum_variance : Fraction
        Variance of the noise on each sum of the target, in units of its range.
    """

    count_variance: int
    sum_variance: Fraction

    name = "gaussian"

    @classmethod
    def for_budget(cls, rho, n_columns, change, rows_per_group=1):
        """The noise at which all tables cost rho in zCDP."""
        weight = squared_weight(n_columns, change)
        if rho == math.inf:
            return cls(0, Fraction(0))
        squared = squared_sensitivity(n_columns, weight, change, rows_per_group)
        count_variance = math.ceil(squared / (2 * Fraction(rho)))
        return cls(count_variance, count_variance / weight)

    @property
    def noise_scale(self):
        """Standard deviation of the noise on a count of records."""
        return math.sqrt(self.count_variance)

    @property
    def sum_scale(self):
        """Standard deviation of the noise on a sum of the target, in units of its range."""
        return math.sqrt(self.sum_variance)


# --- Ridge regression on the noisy tables ----------------------------------------------------------------------------

_LEAST_PENALTY = 1.0  # in records; so that a fit without noise exists


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
    to_effects = _with_mean_0(inverse, moments[0, 1:], offsets)
    effects = _with_mean_0(raw, moments[0, 1:], offsets)
    deviations = np.sqrt(_noise_of_effects(to_effects[1:], raw, offsets, count_scale, sum_scale))
    return Effects(effects[0], effects[1:], deviations)


def _with_mean_0(raw, counts, offsets):
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
