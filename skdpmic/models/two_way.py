"""The release of an additive model: noisy tables of pairs of columns, and of each column with the target."""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import numpy as np

from skdpmic.budget.filters import Cost
from skdpmic.models.parts import (
    codes_of,
    in_steps,
    moment_matrix,
    n_parts_of,
    offsets_of,
    ridge,
    share_besides,
    sums_in_parts,
)
from skdpmic.privacy.composition import budget_of
from skdpmic.release.path import counts_of_sets, with_gaussian_noise

MOST_PARTS = 4_000  # of all columns together, to limit memory and time


@dataclass(frozen=True)
class TwoWayRelease:
    """Tables of pairs of columns, counts of columns and sums of the target, in one release with Gaussian noise."""

    epsilon: float
    delta: float
    n_features: int
    is_bent: bool = False  # the axis of the target

    publishes = "tables"
    k = None
    epsilon_of_target = 0
    kind = "two-way"

    @property
    def cost(self):
        """The charge of the ledger."""
        return Cost.concentrated(self.epsilon, self.delta)

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

    stays: Fraction
    moves: Fraction


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
        d * (d - 1) - m * (m - 1) + 2 * (d - m) + weight * (m * change.stays + (d - m) * change.moves)
        for m in range(d + 1)
    )
    return rows_per_group**2 * Fraction(most)


def squared_weight(n_columns, change):
    """Squared weight of the tables of the target, at which they cost as much as the pairs if all parts change."""
    return Fraction(n_columns + 1) / change.moves


@dataclass(frozen=True)
class TwoWayNoise:
    """Discrete Gaussian noise on all tables.

    Parameters
    ----------
    count_variance : int
        Variance of the noise on each count of records; 0 for none.
    sum_variance : Fraction
        Variance of the noise on each sum of the target, in units of its range.
    n_columns : int
    """

    count_variance: int
    sum_variance: Fraction
    n_columns: int

    name = "gaussian"

    @classmethod
    def for_budget(cls, rho, n_columns, change, rows_per_group=1):
        """The noise at which all tables cost rho in zCDP."""
        weight = squared_weight(n_columns, change)
        if rho == math.inf:
            return cls(0, Fraction(0), n_columns)
        squared = squared_sensitivity(n_columns, weight, change, rows_per_group)
        count_variance = math.ceil(squared / (2 * Fraction(rho)))
        return cls(count_variance, count_variance / weight, n_columns)

    @property
    def noise_scale(self):
        """Standard deviation of the noise on a count of records."""
        return math.sqrt(self.count_variance)

    @property
    def sum_scale(self):
        """Standard deviation of the noise on a sum of the target, in units of its range."""
        return math.sqrt(self.sum_variance)
