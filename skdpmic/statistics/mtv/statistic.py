"""MTVr as a statistic: total variation from independence over grids of equal parts."""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from skdpmic.statistics.measure import Measure, Statistic
from skdpmic.statistics.mtv.counts import ClassCounts, NumericCounts, counts_scorer
from skdpmic.statistics.mtv.defaults import resolve_mtv
from skdpmic.statistics.mtv.family import class_family, numeric_family
from skdpmic.statistics.mtv.learnt_margin import Told, class_margin, cut_margin, places_of, sums_of
from skdpmic.statistics.mtv.margin import Margin, chance_of_weights, margin_of, public_margin
from skdpmic.statistics.mtv.mtv_r import ClassTargetScorer, NumericTargetScorer
from skdpmic.statistics.mtv.null_law import mtv_r_bound
from skdpmic.statistics.mtv.pairs import PairCounts, PairScorer, PairTargetScorer, families_of_pairs
from skdpmic.statistics.mtv.sensitivity import mtv_r_sensitivity
from skdpmic.statistics.null_laws.laws import BoundedLaw
from skdpmic.table.axes import Knots
from skdpmic.table.weights import USUAL_MEAN, WEIGHT_UNITS

_MOST_CLASSES = 4  # docs/theory/known_margin.md


class MtvR(Statistic):
    """The largest total variation from independence over grids that depend on public bounds only."""

    name = "mtv_r"
    is_mergeable = True
    takes_weights = True

    @staticmethod
    def learns_target(n_classes):
        """Up to so many classes: with more, what is gained by knowing their shares is less than what these cost."""
        return n_classes is None or n_classes <= _MOST_CLASSES

    def measure(self, B, c, n, epsilon, n_classes):
        """The grids for n records and a budget of epsilon per score; B and c are the user's."""
        return MtvRGrids(*resolve_mtv(B, c, n, epsilon, n_classes), n_classes)

    def measure_of_any_number(self, B, c, n_parts, n_classes):
        """The grids where the number of records is open; B is a number, c may be None."""
        if n_parts is not None:
            raise ValueError(f"n_parts must be None with statistic='mtv_r', got {n_parts!r}.")
        return self.measure(B, "auto" if c is None else c, math.inf, 1.0, n_classes)


@dataclass(frozen=True)
class MtvRGrids(Measure):
    """MTVr over the grids that B and c allow."""

    B: float
    c: float
    n_classes: int | None
    rows_per_group: int = 1
    units: int = 1  # that a record may weigh at most
    learns: bool = False  # what is private about the target, before any feature is scored
    margin: Margin | None = None  # what is known of it

    def learning(self):
        """The same grids, where the target's margin will be learnt."""
        return replace(self, learns=True)

    def knowing(self, shares):
        """The same grids, where the target's margin is public."""
        return replace(self, margin=public_margin(shares, self._family.n_columns))

    def knowing_all_of(self, target):
        """The same grids, where the margin of this target is known as well as it can be learnt."""
        if not self.learns and self.margin is None:
            return self
        n_pieces = self.n_classes or (len(self.margin.ends) if self.margin else 2)
        counts = self.target_counts(target).reshape(n_pieces, -1).sum(axis=1)
        return replace(self, margin=margin_of(counts, self._family.n_columns))

    def before_learning(self):
        """The same grids, before anything was learnt of a target, of records that all count alike."""
        return replace(self, units=1, margin=None if self.learns else self.margin)

    @property
    def chance_factor(self):
        """How much chance does next to records that all count alike; by what is known of weights, or what is usual."""
        if self.units == 1:
            return 1.0
        is_known = self.margin is not None and self.margin.mean_weight is not None
        return chance_of_weights(self.margin.mean_weight if is_known else USUAL_MEAN)

    def of_weights(self):
        """The same grids, of records with weights."""
        return replace(self, units=WEIGHT_UNITS)

    def target_counts(self, target):
        """What is to be learnt of a target, without noise: records in each class, or at each place of the range."""
        if self.n_classes is None:
            return places_of(target)
        return sums_of(target.values, target.weights, self.n_classes)

    def learnt(self, counts, n, bounds, epsilon, random_bytes):
        """The same grids, with what epsilon tells of a target's margin.

        Parameters
        ----------
        counts : int64 ndarray
            Of records, or units of their weights, by `target_counts` or by the columns of a sketch.
        n : int
            Number of records.
        bounds : pair of floats or None
            Of a numeric target.
        epsilon : Fraction or infinity, above 0
        random_bytes : callable
        """
        told = Told(n, epsilon, self.rows_per_group, self.units, random_bytes)
        if self.n_classes is None:
            return replace(self, margin=cut_margin(counts, self._family.n_columns, bounds, told))
        return replace(self, margin=class_margin(counts, told))

    def of_groups(self, rows_per_group):
        """The same grids, with a higher penalty for what they show by chance.

        That is between what it would be if a person's rows had nothing to do with each other, and if they were equal.
        """
        return replace(self, rows_per_group=rows_per_group)

    @property
    def has_common_error(self):
        """Scores are measured against the shares that were learnt, if there are any."""
        return self.margin is not None

    chance_rate = 0.5  # by which power of n the score of independent variables falls

    @property
    def _family(self):
        return _family_of(self)

    def sensitivity(self, shape):
        """Of the score in [0, 1]."""
        known = {"knows_margins": self.learns or self.margin is not None}
        return mtv_r_sensitivity(shape.n_samples, shape.rows_per_group, **known, are_weighted=self.units > 1)

    def rounding_error(self, shape):
        """Of the score in [0, 1]."""
        # Kept for the scores; an error, if n is too large for it.
        return counts_scorer(shape.n_samples, self._family, self.units).rounding_error

    def null_law(self, n, n_labels):
        """The known distribution of scores of n records if a feature is independent of the target."""
        if self.units > 1:
            raise AttributeError(
                "p_values requires records of equal weight, got weights: the variance of sums of weights depends on "
                "all of them, and is private."
            )
        if self.margin is None:
            return BoundedLaw(mtv_r_bound(n, n_labels, self._family))
        if self.margin.is_public:
            raise AttributeError(
                "p_values requires the error of the shares of the target, which is unknown for target_shares: use "
                "target_shares=None to learn the shares."
            )
        any_shares = self.margin.with_equal_shares()  # as the law does not depend on what was released
        return BoundedLaw(mtv_r_bound(n, n_labels, _family_of(replace(self, margin=any_shares))))

    def scorer(self, target, random_bytes):
        """The function that scores features against a target."""
        if self.n_classes is not None:
            return ClassTargetScorer(target.values, self._family, target.weights, self.units)
        values, bounds = self._on_its_axis(target)
        return NumericTargetScorer(values, bounds, self._family, target.weights, self.units)

    def scorer_beside(self, target, column, scale):
        """What scores features together with one of them, whose column and scale are given, against a target."""
        values, bounds = (target.values, None) if self.n_classes else self._on_its_axis(target)
        grids = self.pair_counts(bounds, scale)
        return PairTargetScorer(grids, self._scorers_of_pairs(len(values)), values, target.weights, column)

    def _on_its_axis(self, target):
        """Values of a numeric target and their range, which is as long on either side of a cut that was learnt."""
        if self.margin is None or self.margin.knots is None:
            return target.values, target.bounds
        axis = Knots(self.margin.knots)
        return axis.place(target.values), axis.scale

    def counts(self, target_bounds):
        """What counts features, and scores them by their counts."""
        if self.n_classes is None:
            return NumericCounts(target_bounds, self._family, self.units)
        return ClassCounts(self._family, self.units)

    def scorer_of_counts(self, counts, n):
        """What scores features by their counts of n records."""
        return counts_scorer(n, self._family, self.units)

    def pair_counts(self, target_bounds, scale):
        """What counts features together with one of this scale."""
        return PairCounts(self.counts(target_bounds), self._family.n_columns, scale)

    def scorer_of_pair_counts(self, counts, n):
        """What scores features by their counts, together with another one, of n records."""
        return PairScorer(self._scorers_of_pairs(n), counts)

    def _scorers_of_pairs(self, n):
        return [counts_scorer(n, each, self.units) for each in families_of_pairs(self._family, self.n_classes)]


@lru_cache(maxsize=16)
def _family_of(grids):
    """Kept here, and not with the measure, which stays small: with many classes a family is large."""
    has_numbers = grids.n_classes is None
    family = numeric_family(grids.B, grids.c) if has_numbers else class_family(grids.B, grids.c, grids.n_classes)
    family = family.for_groups(math.sqrt(grids.rows_per_group) * grids.chance_factor**2)
    return family if grids.margin is None else grids.margin.of(family)
