"""Rank statistics: no ranges are needed, as only the order of the values matters; counts of pieces do not add up.

Missing values come before all others, and the labels of a nominal feature in their order: what place a record has, it
has by itself, whoever else is in the table.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from skdpmic.privacy.noise import random_keys
from skdpmic.statistics.measure import Measure, Statistic
from skdpmic.statistics.null_laws.laws import AveragedLaw, SimulatedLaw
from skdpmic.statistics.ranks import kernels as ranks
from skdpmic.statistics.ranks import sensitivity as rank_sensitivity
from skdpmic.statistics.ranks.within_strata import KendallWithinStrata, SpearmanWithinStrata
from skdpmic.table.nominal import Nominal


@dataclass(frozen=True)
class _RankStatistic(Measure, Statistic):
    """A statistic that is its own measure, as there are no grids to be fixed."""

    needs_ranges = False
    most_classes = math.inf  # classes count in ascending order of their labels

    def measure(self, B, c, n, epsilon, n_classes):
        """The same for all parameters; B and c say nothing here, and are not looked at."""
        if n_classes is not None and n_classes > self.most_classes:
            raise ValueError(
                f"classes must be {self.most_classes} labels with statistic={self.name!r}, as more than that have no "
                f"order, got {n_classes}."
            )
        return self

    def sensitivity(self, shape):
        """How far one person's records can move the score; an error, if there are too many records for it."""
        ranks.check_n_records(shape.n_samples)
        return rank_sensitivity.group_sensitivity(self.sensitivity_of(shape.n_samples), shape.rows_per_group)

    def rounding_error(self, shape):
        """None: a score is the exact one, rounded down as the grid of the noise would round it again."""
        return 0


class _OfMidRanks(_RankStatistic):
    """Equal values share a rank."""

    most_classes = 2
    most_times_by_ties: ClassVar  # as likely as without ties is any score, or a larger one, of independent variables

    def null_law(self, n, n_labels):
        """What is known of scores of n records where a feature is independent of the target."""
        return AveragedLaw(self.name, n, self.most_times_by_ties)

    def scorer(self, target, random_bytes):
        """What scores features against a target."""
        return _Scorer(self.score, ranks.mid_ranks, ranks.mid_ranks(target.values))


class _OfStrictRanks(_RankStatistic):
    """Equal values are put in random order."""

    def null_law(self, n, n_labels):
        """What is known of scores of n records where a feature is independent of the target."""
        return SimulatedLaw(self.name, n)

    def scorer(self, target, random_bytes):
        """What scores features against a target."""
        keys, keys_of_target = random_keys(len(target.values), random_bytes)
        return _Scorer(
            self.score, partial(ranks.strict_ranks, keys=keys), ranks.strict_ranks(target.values, keys_of_target)
        )


class _Scorer:
    """Scores features by their ranks. As sensitive as the target."""

    def __init__(self, score, ranks_of, target_ranks):
        self._score, self._ranks_of, self._target_ranks = score, ranks_of, target_ranks

    def score(self, x, scale):
        """The score of the feature `x`, in [0, 1]."""
        return self._score(self._ranks_of(in_order(x, scale)), self._target_ranks)


def in_order(x, scale):
    """The column `x` as numbers that have an order: labels in theirs, others after them; missing values first."""
    values = np.asarray(x, dtype=np.float64)
    if isinstance(scale, Nominal):
        values = np.where(x == scale.n_labels + 1, np.nan, values)
    return np.where(np.isnan(values), -np.inf, values)  # missing values share a rank


class Kendall(_OfMidRanks):
    """Kendall's |tau-a|."""

    name = "kendall"
    within_strata = KendallWithinStrata
    most_times_by_ties = 2
    sensitivity_of = staticmethod(rank_sensitivity.kendall_sensitivity)
    score = staticmethod(ranks.kendall)


class Spearman(_OfMidRanks):
    """Spearman's |rho-a|."""

    name = "spearman"
    within_strata = SpearmanWithinStrata
    most_times_by_ties = 4
    sensitivity_of = staticmethod(rank_sensitivity.spearman_sensitivity)
    score = staticmethod(ranks.spearman)


class Chatterjee(_OfStrictRanks):
    """Chatterjee's xi, the larger of both directions."""

    name = "chatterjee"
    takes_copies_for_dependence = True
    sensitivity_of = staticmethod(rank_sensitivity.chatterjee_sensitivity)
    score = staticmethod(ranks.chatterjee)


class DistanceCorrelation(_OfStrictRanks):
    """Distance correlation of ranks."""

    name = "distance_correlation"
    sensitivity_of = staticmethod(rank_sensitivity.distance_correlation_sensitivity)
    score = staticmethod(ranks.distance_correlation)
