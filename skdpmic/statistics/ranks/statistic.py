"""Rank statistics: they need no ranges, because only the order of the values matters, and are not mergeable.

Missing values come before all others, and labels of a nominal feature are in their given order: the key of a record
does not depend on other records.
"""

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import stats

from skdpmic._utils.arguments import check_n_shares
from skdpmic.statistics import sensitivity
from skdpmic.statistics.largest_scores import largest_kendall
from skdpmic.statistics.measure import Measure, Scorer, Statistic
from skdpmic.statistics.mtv.family import TargetShares, public_shares
from skdpmic.statistics.mtv.released_shares import CountBudget, release_class_shares, shares_interval
from skdpmic.statistics.null_laws import AveragedLaw, SimulatedLaw
from skdpmic.statistics.ranks import kernels as ranks
from skdpmic.statistics.ranks.kernels import check_n_records, concordance, mid_ranks, quotient, ranks_of
from skdpmic.statistics.sensitivity import conditional_kendall_sensitivity
from skdpmic.table.domains import Nominal


@dataclass(frozen=True)
class _RankStatistic(Measure, Statistic):
    """A statistic that is its own measure, because there are no grids."""

    needs_ranges = False
    most_classes = math.inf  # classes are ranked in ascending order of their labels

    def measure(self, B, c, n, epsilon, n_classes):
        """The statistic itself, as B and c are ignored."""
        if n_classes is not None and n_classes > self.most_classes:
            raise ValueError(
                f"classes must be {self.most_classes} labels with statistic={self.name!r}, because more labels have no "
                f"order, got {n_classes}."
            )
        return self

    def sensitivity(self, shape):
        """Sensitivity to the records of one person; an error if there are too many records."""
        ranks.check_n_records(shape.n_samples)
        return sensitivity.group_sensitivity(self.sensitivity_of(shape.n_samples), shape.rows_per_group)

    def rounding_error(self, shape):
        """0: a score is exact, rounded down to a finer grid than that of the noise."""
        return 0


# Bounds the ratio of tail probabilities with and without ties, under independence: docs/theory/p_values.md
_MOST_TIMES_BY_TIES = 2


_MANY = 50  # records, with which tails of Chatterjee and distance correlation are smaller with ties than without


@dataclass(frozen=True)
class Kendall(_RankStatistic):
    """Kendall's |tau-a|: equal values share a rank. Known shares of two classes only affect p-values."""

    rows_per_group: int = 1
    target_shares: TargetShares | None = None

    name = "kendall"
    most_classes = 2
    tests_by_ties = is_explained_by_shares = True
    sensitivity_of = staticmethod(sensitivity.kendall_sensitivity)
    score = staticmethod(ranks.kendall)

    def of_groups(self, rows_per_group):
        """The measure for people with this many rows each."""
        return replace(self, rows_per_group=rows_per_group)

    def with_target_shares(self, shares):
        """The measure with public shares of two classes; a ValueError if they are of another number."""
        return replace(self, target_shares=public_shares(check_n_shares(shares, self.most_classes), self.most_classes))

    def spending_on_target(self):
        """The measure for shares that will be released, which do not change its sensitivity."""
        return self

    def without_target_shares(self):
        """The measure before anything was released of a target."""
        return replace(self, target_shares=None)

    def target_counts(self, target):
        """The counts of a target, without noise: records in each of two classes."""
        return np.bincount(target.values, minlength=2)

    def release_target_shares(self, counts, n, bounds, epsilon, random_bytes):
        """The measure after learning the shares of two classes with epsilon, as for MTVr; `bounds` are ignored."""
        budget = CountBudget(n, epsilon, self.rows_per_group, 1, random_bytes)
        return replace(self, target_shares=release_class_shares(counts, budget))

    def largest_score(self, n):
        """The largest score of n records that any feature can have; None if the shares of classes are not known."""
        if self.target_shares is None:
            return None
        least = min(self.target_shares.error, 0.5)  # a smaller share cannot be distinguished from 0
        return largest_kendall(min(max(float(self.target_shares.shares[0]), least), 1 - least), n)

    def are_untied(self, records, n_jobs):
        """Features that p-values may assume to have no ties, if there is no noise: a bool or an array."""
        if records.n_classes is None and not _is_untied(records.target.values, None):
            return False
        return np.array(records.map_features(_is_untied, n_jobs))

    def null_law(self, n, n_labels):
        """The known distribution of scores of n records if a feature is independent of the target."""
        if self.target_shares is None:
            return AveragedLaw(SimulatedLaw(self.name, n), _MOST_TIMES_BY_TIES)
        smaller = smaller_class(self.target_shares, n)
        most_times = _MOST_TIMES_BY_TIES if smaller.is_exact else math.inf
        of_classes = SimulatedLaw(self.name, n, smaller.most)
        return AveragedLaw(of_classes, most_times, smaller.widening(n), smaller.missed)

    def scorer(self, target, random_bytes):
        """The function that scores features against a target."""
        target_ranks = ranks.mid_ranks(target.values)
        return Scorer(lambda x, domain: ranks.kendall(ranks.mid_ranks(in_order(x, domain)), target_ranks))


class _AveragedRankStatistic(_RankStatistic):
    """A mean over all orders of equal values, so that it depends on nothing but the values."""

    def null_law(self, n, n_labels):
        """The known distribution of scores of n records if a feature is independent of the target."""
        strict = SimulatedLaw(self.name, n)
        return strict if n >= _MANY else AveragedLaw(strict, math.inf)

    def scorer(self, target, random_bytes):
        """The function that scores features against a target."""
        target_ranks = ranks_of(target.values)
        return Scorer(lambda x, domain: self.score(ranks_of(in_order(x, domain)), target_ranks))


def in_order(x, domain):
    """The column `x` as ordered numbers: missing values first, then labels in their order, then other labels."""
    values = np.asarray(x, dtype=np.float64)
    if isinstance(domain, Nominal):
        values = np.where(x == domain.n_labels + 1, np.nan, values)
    return np.where(np.isnan(values), -np.inf, values)  # missing values share a rank


def _is_untied(x, domain):
    return len(np.unique(in_order(x, domain))) == len(x)


class Chatterjee(_AveragedRankStatistic):
    """Chatterjee's xi, the larger of both directions."""

    name = "chatterjee"
    takes_copies_for_dependence = True
    sensitivity_of = staticmethod(sensitivity.chatterjee_sensitivity)
    score = staticmethod(ranks.chatterjee)


class DistanceCorrelation(_AveragedRankStatistic):
    """Distance correlation of ranks."""

    name = "distance_correlation"
    sensitivity_of = staticmethod(sensitivity.distance_correlation_sensitivity)
    score = staticmethod(ranks.distance_correlation)


# --- The smaller of two classes of a target, whose size bounds a score of Kendall -------------------------------------
#
# It also bounds the variation by chance: ``docs/theory/p_values.md``, Theorems 5 and 6.


MISSED = 1e-5  # probability that a bound is too low, which is added to p-values


class SmallerClass(NamedTuple):
    """The known bounds on the size of the smaller of two classes.

    Parameters
    ----------
    most : int
        Upper bound on its number of records.
    is_exact : bool
        Whether this is the exact number.
    """

    most: int
    is_exact: bool

    @property
    def missed(self):
        """Upper bound on the probability that it has more."""
        return 0.0 if self.is_exact else MISSED

    def widening(self, n):
        """Factor by which scores of a class of `most` of n records also cover those of smaller classes."""
        return 1.0 if self.is_exact else 1 + 1 / (n - self.most - 1)


def smaller_class(target_shares, n):
    """The bounds on the smaller of two classes of n records, from the shares of the target.

    Parameters
    ----------
    target_shares : TargetShares
        Released with noise, or without; or public, for the records or for the population they were sampled from.
    n : int, at least 4

    Returns
    -------
    SmallerClass
    """
    if target_shares.is_public:
        most = int(stats.binom.isf(MISSED, n, float(min(target_shares.shares))))
    elif target_shares.scale == 0:
        return SmallerClass(int(min(target_shares.shares) * n), is_exact=True)
    else:
        _, upper = shares_interval(target_shares, 1 - MISSED)
        most = int(upper.min() * n + 0.5)  # an integer, up to rounding
    return SmallerClass(min(most, n // 2), is_exact=False)


def conditional_kendall(x, y, strata):
    """Kendall's tau-a within strata, the mean of all ``(n_z - 1) tau_z / n_z`` over records: (2 / n) sum S_z / n_z.

    S_z are the concordant minus the discordant pairs among the n_z records of a stratum; a pair tied in x or y counts
    0.

    Parameters
    ----------
    x, y : ndarrays of shape (n_samples,)
        Finite; at least one record, at most ``MAX_RECORDS``.
    strata : int ndarray of shape (n_samples,)
        The stratum of each record.

    Returns
    -------
    float
        In [-1, 1], rounded down to a multiple of 2**-52.
    """
    sums, n = defaultdict(int), len(x)
    for of_stratum in _ranks_within(x, y, strata):
        sums[len(of_stratum[0])] += 2 * concordance(*of_stratum)
    common = math.lcm(*sums)
    numerator = sum(total * (common // n_z) for n_z, total in sums.items())
    return 2 * quotient(numerator + n * common, 2 * n * common) - 1


def _ranks_within(x, y, strata):
    """The mid-ranks of x and of y within each stratum of at least two records."""
    order = np.argsort(strata, kind="stable")
    starts = np.flatnonzero(np.diff(strata[order])) + 1
    for records in np.split(order, starts):
        if len(records) > 1:
            yield mid_ranks(x[records]), mid_ranks(y[records])


class KendallWithinStrata(Measure, Statistic):
    """Kendall's tau-a, averaged over strata; it is its own measure, as there are no grids to be fixed."""

    needs_ranges = False

    def measure(self, B, c, n, epsilon, n_classes):
        """The statistic itself, as all parameters are ignored."""
        return self

    def sensitivity(self, shape):
        """Sensitivity of half of the score to one record; an error if there are too many records."""
        check_n_records(shape.n_samples)
        return conditional_kendall_sensitivity(shape.n_samples) / 2

    def rounding_error(self, shape):
        """0, as of other rank statistics."""
        return 0

    def scorer(self, target, random_bytes):
        """Scores a variable against a `StratifiedTarget`: (score + 1) / 2, without rounding, in [0, 1]."""
        return Scorer(lambda x, domain: (conditional_kendall(x, target.values, target.strata) + 1) / 2)
