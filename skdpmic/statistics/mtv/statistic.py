"""MTVr as a statistic: total variation from independence over grids of equal parts."""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from skdpmic._utils.texts import quoted
from skdpmic.statistics.largest_scores import largest_mtv_r
from skdpmic.statistics.measure import Measure, Statistic
from skdpmic.statistics.mtv.counts import TargetCounts, TargetScorer, counts_scorer
from skdpmic.statistics.mtv.family import UNITS, class_family, numeric_family, resolve_mtv
from skdpmic.statistics.mtv.null_law import mtv_r_bound
from skdpmic.statistics.mtv.pairs import PairCounts, PairScorer, families_of_pairs
from skdpmic.statistics.mtv.released_shares import (
    CountBudget,
    places_of,
    release_class_shares,
    release_cut_shares,
    sums_of,
)
from skdpmic.statistics.mtv.target_shares import TargetShares, chance_of_weights, given_shares, shares_of_counts
from skdpmic.statistics.null_laws import BoundedLaw
from skdpmic.table.targets import USUAL_MEAN, WEIGHT_UNITS

_MOST_CLASSES = 4  # docs/theory/learnt_margin.md


class MtvR(Statistic):
    """The largest total variation from independence over grids that depend on public numbers only."""

    name = "mtv_r"
    is_mergeable = True
    takes_weights = True

    @staticmethod
    def spends_on_target(n_classes):
        """Whether to learn the target's shares; with more than four classes, they cost more than they gain."""
        return n_classes is None or n_classes <= _MOST_CLASSES

    def measure(self, B, c, n, epsilon, n_classes):
        """The grids for n records, a budget of epsilon per score, and the user's B and c."""
        return MtvRGrids(*resolve_mtv(B, c, n, n_classes), n_classes)

    def measure_of_any_number(self, B, c, n_parts, n_classes):
        """The grids for an unknown number of records; B is a number, c may be None."""
        if n_parts is not None:
            raise ValueError(f"n_parts must be None with statistic='mtv_r', got {quoted(n_parts)}.")
        return self.measure(B, "auto" if c is None else c, math.inf, 1.0, n_classes)


@dataclass(frozen=True)
class MtvRGrids(Measure):
    """MTVr over the grids for B and c."""

    B: float
    c: float
    n_classes: int | None
    rows_per_group: int = 1
    units: int = 1  # largest weight of a record, in units
    spends_on_target: bool = False  # whether shares of the target are released before any feature is scored
    target_shares: TargetShares | None = None  # public or released

    def spending_on_target(self):
        """The measure, set to release shares of the target."""
        return replace(self, spends_on_target=True)

    def with_target_shares(self, shares, cut=None, domain=None, keeps_columns=False):
        """The measure with public shares of the target, from arguments of :func:`given_shares`."""
        known = given_shares(shares, self.n_classes, self._family.n_columns, cut, domain, keeps_columns)
        return replace(self, target_shares=known)

    def with_shares_of(self, target):
        """The measure with this target's shares known almost without noise, if it uses shares."""
        if not self.spends_on_target and self.target_shares is None:
            return self
        n_pieces = self.n_classes or (len(self.target_shares.ends) if self.target_shares else 2)
        counts = self.target_counts(target).reshape(n_pieces, -1).sum(axis=1)
        return replace(self, target_shares=shares_of_counts(counts, self._family.n_columns))

    def without_target_shares(self):
        """The measure without weights and without released shares."""
        return replace(self, units=1, target_shares=None if self.spends_on_target else self.target_shares)

    @property
    def chance_factor(self):
        """Size of chance scores relative to equal weights, from the released mean weight or else a usual one."""
        if self.units == 1:
            return 1.0
        is_known = self.target_shares is not None and self.target_shares.mean_weight is not None
        return chance_of_weights(self.target_shares.mean_weight if is_known else USUAL_MEAN)

    @property
    def class_shares(self):
        """Known shares of the classes, as the grids use them; None for numbers, or if none are known."""
        if self.n_classes is None or self.target_shares is None:
            return None
        if self.n_classes > 2:
            return tuple(self.target_shares.published().tolist())
        (side,) = self._family.sides
        return tuple(margin / UNITS for margin in side.margins)

    @property
    def withheld_for_error(self):
        """Largest amount subtracted for noise in released shares, compared with scores that a user can compute."""
        is_computable = self.n_classes is None or self.n_classes == 2
        return self._family.most_withheld if is_computable else 0.0

    def largest_score(self, n):
        """The largest score of n records that any feature can have; None if that depends on something unknown."""
        shares, mean_weight = self.class_shares, 1.0
        if shares is not None and self.units > 1:
            mean_weight = self.target_shares.mean_weight
        if shares is None or mean_weight is None:
            return None
        return largest_mtv_r(counts_scorer(n, self._family, self.units), self._family, shares, mean_weight)

    def of_weights(self):
        """The measure for records with weights."""
        return replace(self, units=WEIGHT_UNITS)

    def target_counts(self, target):
        """Exact counts for the shares of the target: records in each class, or between candidate cuts."""
        if self.n_classes is None:
            return places_of(target)
        return sums_of(target.values, target.weights, self.n_classes)

    def release_target_shares(self, counts, n, bounds, epsilon, random_bytes):
        """The measure with shares of the target, released with epsilon.

        Parameters
        ----------
        counts : int64 ndarray
            Counts of records, or of units of weight, from `target_counts` or from the columns of a sketch.
        n : int
            Number of records.
        bounds : pair of floats or None
            Range of a numeric target.
        epsilon : Fraction or infinity, above 0
        random_bytes : callable
        """
        budget = CountBudget(n, epsilon, self.rows_per_group, self.units, random_bytes)
        if self.n_classes is None:
            return replace(self, target_shares=release_cut_shares(counts, self._family.n_columns, bounds, budget))
        return replace(self, target_shares=release_class_shares(counts, budget))

    def of_groups(self, rows_per_group):
        """The measure with a penalty for the larger chance scores of several rows per person.

        The penalty lies between those for independent rows and for identical rows of a person.
        """
        return replace(self, rows_per_group=rows_per_group)

    @property
    def has_common_error(self):
        """Whether scores share the error of known `target_shares`."""
        return self.target_shares is not None

    chance_rate = 0.5

    @property
    def _family(self):
        """The family that scores single features."""
        return _families_of(self)[0]

    def sensitivity(self, shape):
        """Sensitivity of the score in [0, 1], single or joint: the largest of all families that score."""
        n, each = shape.n_samples, shape.rows_per_group
        return max(family.sensitivity(n, each, self.units) for family in _families_of(self))

    def rounding_error(self, shape):
        """Bound on the rounding error of the score in [0, 1]."""
        # The scorer is cached for the scores; it raises an error if n is too large.
        return counts_scorer(shape.n_samples, self._family, self.units).rounding_error

    def null_law(self, n, n_labels):
        """Bound on the null distribution of scores of n records, for features independent of the target."""
        if self.units > 1:
            raise AttributeError(
                "p_values requires records of equal weight, got weights: the variance of a weighted sum depends on all "
                "weights, which are private."
            )
        if self.target_shares is None:
            return BoundedLaw(mtv_r_bound(n, n_labels, self._family))
        if self.target_shares.is_public:
            raise AttributeError(
                "p_values requires the error of the shares of the target, which is unknown for target_shares: use "
                "target_shares=None to learn the shares."
            )
        if self.n_classes and self.target_shares.scale == 0:  # they are those of the records
            return BoundedLaw(mtv_r_bound(n, n_labels, self._family))
        any_shares = self.target_shares.with_equal_shares()  # the bound does not depend on the released shares
        family = replace(self, target_shares=any_shares)._family
        return BoundedLaw(mtv_r_bound(n, n_labels, family.of_even_sizes() if self.n_classes else family))

    def scorer(self, target, random_bytes):
        """The object that scores features against a target."""
        values, bounds = self._encoded(target)
        counts = self.counts(bounds)
        return TargetScorer(counts, self.scorer_of_counts(counts, len(values)), values, target.weights)

    def scorer_beside(self, target, column, domain):
        """Joint scorer of features and a given feature, with its column and domain, against a target."""
        values, bounds = self._encoded(target)
        counts = self.pair_counts(bounds, domain)
        return TargetScorer(counts, self.scorer_of_pair_counts(counts, len(values)), values, target.weights, column)

    def _encoded(self, target):
        """Values and range of a numeric target, rescaled so that a known cut is in the middle; or class numbers."""
        if self.n_classes is not None:
            return target.values, None
        if self.target_shares is None:
            return target.values, target.bounds
        return self.target_shares.on_axis(target.values, target.bounds)

    def counts(self, target_bounds):
        """Counts of features with the target, and scores from them."""
        return TargetCounts(self._family, target_bounds, self.units)

    def scorer_of_counts(self, counts, n):
        """Scorer of counts of n records."""
        return counts_scorer(n, self._family, self.units)

    def pair_counts(self, target_bounds, domain):
        """Joint counts of features and a given feature of this domain."""
        return PairCounts(domain, self._family, target_bounds, self.units)

    def scorer_of_pair_counts(self, counts, n):
        """Joint scorer of counts of n records."""
        return PairScorer([counts_scorer(n, family, self.units) for family in _families_of(self)[1:]], counts.domain)


@lru_cache(maxsize=16)
def _families_of(grids):
    """The family that scores single features, then those that score pairs. All scores come from these.

    Until shares are released, equal shares stand in for them: the same number of them will be known.

    Cached here, so that a measure stays small: with many classes, a family is large.
    """
    has_numbers = grids.n_classes is None
    family = numeric_family(grids.B, grids.c) if has_numbers else class_family(grids.B, grids.c, grids.n_classes)
    family = family.for_groups(math.sqrt(grids.rows_per_group) * grids.chance_factor**2)
    target_shares = grids.target_shares
    if target_shares is None and grids.spends_on_target:
        target_shares = shares_of_counts(np.ones(grids.n_classes or 2), family.n_columns)
    family = family if target_shares is None else target_shares.of(family)
    family = family if has_numbers else family.sized_by_shares()
    return (family, *families_of_pairs(family, grids.n_classes))
