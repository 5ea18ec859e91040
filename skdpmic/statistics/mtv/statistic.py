"""MTVr as a statistic: total variation from independence over grids of equal parts."""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from skdpmic.statistics.measure import Measure, Statistic
from skdpmic.statistics.mtv.counts import ClassCounts, NumericCounts, counts_scorer
from skdpmic.statistics.mtv.defaults import resolve_mtv
from skdpmic.statistics.mtv.family import class_family, numeric_family
from skdpmic.statistics.mtv.mtv_r import ClassTargetScorer, NumericTargetScorer
from skdpmic.statistics.mtv.null_law import mtv_r_bound
from skdpmic.statistics.mtv.sensitivity import mtv_r_sensitivity
from skdpmic.statistics.null_laws.laws import BoundedLaw
from skdpmic.table.targets import n_target_bins


class MtvR(Statistic):
    """The largest total variation from independence over grids that depend on public bounds only."""

    name = "mtv_r"
    is_mergeable = True

    def measure(self, B, c, n, epsilon, n_classes):
        """The grids for n records, on each of whose scores epsilon is spent; B and c are the user's."""
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

    def of_groups(self, rows_per_group):
        """The same grids, with a higher penalty for what they show by chance.

        That is between what it would be if a person's rows had nothing to do with each other, and if they were equal.
        """
        return replace(self, rows_per_group=rows_per_group)

    def with_feature_as_target(self, scale, n, epsilon):
        """Grids with as many classes as a nominal feature has parts; or with numbers."""
        n_classes = n_target_bins(scale)
        if n_classes is None and self.n_classes is None:
            return self
        B, c = resolve_mtv("auto", "auto", n, epsilon, n_classes)
        return replace(self, B=B, c=c, n_classes=n_classes)

    chance_rate = 0.5  # by which power of n the score of independent variables falls

    @property
    def _family(self):
        return _family_of(self)

    def sensitivity(self, shape):
        """Of the score in [0, 1]."""
        return mtv_r_sensitivity(shape.n_samples, shape.rows_per_group)

    def rounding_error(self, shape):
        """Of the score in [0, 1]."""
        # Kept for the scores; an error, if n is too large for it.
        return counts_scorer(shape.n_samples, self._family).rounding_error

    def null_law(self, n, n_labels):
        """What is known of scores of n records where a feature is independent of the target."""
        return BoundedLaw(mtv_r_bound(n, n_labels, self._family))

    def scorer(self, target, random_bytes):
        """What scores features against a target."""
        if self.n_classes is None:
            return NumericTargetScorer(target.values, target.bounds, self._family)
        return ClassTargetScorer(target.values, self._family)

    def counts(self, target_bounds):
        """What counts features, and scores them by their counts."""
        return NumericCounts(target_bounds, self._family) if self.n_classes is None else ClassCounts(self._family)

    def scorer_of_counts(self, counts, n):
        """What scores features by their counts of n records."""
        return counts.scorer(n)


@lru_cache(maxsize=16)
def _family_of(grids):
    """Kept here, and not with the measure, which stays small: with many classes a family is large."""
    has_numbers = grids.n_classes is None
    family = numeric_family(grids.B, grids.c) if has_numbers else class_family(grids.B, grids.c, grids.n_classes)
    return family.for_groups(math.sqrt(grids.rows_per_group))
