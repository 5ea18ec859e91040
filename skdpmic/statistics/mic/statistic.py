"""MICr as a statistic: mutual information over grids of equal parts, and tables of counts for estimating it."""

import math
from dataclasses import dataclass, replace
from functools import partial

from skdpmic._utils.arguments import check_n_shares, is_whole
from skdpmic._utils.texts import quoted
from skdpmic.statistics.grids import check_B, check_c, finest_merge, largest_c
from skdpmic.statistics.largest_scores import largest_mic_r
from skdpmic.statistics.measure import Measure, Scorer, Statistic
from skdpmic.statistics.mic.defaults import MOST_PARTS, resolve_B, resolve_c, resolve_parts
from skdpmic.statistics.mic.grid_counts import ContinuousGrids, DiscreteGrids
from skdpmic.statistics.mic.mic_r import (
    ClassTargetScorer,
    MillerMadow,
    NumericTargetScorer,
    chance_of,
    largest_rounding_error,
)
from skdpmic.statistics.mic.noisy_tables import TableGrids, TableScorer, check_have_ranges
from skdpmic.statistics.mic.null_law import mic_r_bound
from skdpmic.statistics.mic.optimize_axis import entropy_table
from skdpmic.statistics.mtv.target_shares import TargetShares, public_shares
from skdpmic.statistics.null_laws import BoundedLaw
from skdpmic.statistics.sensitivity import mic_r_group_sensitivity


@dataclass(frozen=True)
class MicR(Statistic):
    """The Maximal Information Coefficient over grids that depend on public bounds only."""

    correction: str | None  # bias correction

    name = "mic_r"
    is_mergeable = supports_counts = is_explained_by_shares = True

    @classmethod
    def with_correction(cls, correction):
        """The statistic with this correction."""
        return cls(correction)

    def measure(self, B, c, n, epsilon, n_classes):
        """The grids for n records and a budget of epsilon per score; B and c are the user's."""
        B = resolve_B(B, n, epsilon, n_classes, self.correction)
        return MicRGrids(B, resolve_c(c, n, epsilon, B, n_classes, self.correction), n_classes, self.correction)

    def table(self, B, c, n, epsilon, n_classes):
        """Tables of n records from which MICr is estimated, with their own bias correction."""
        B = resolve_B(B, n, epsilon)  # for a numeric target, for which the parts were tuned
        n_parts, c = resolve_parts(B, c, n, epsilon, n_classes)
        return MicRTables(B, c, n_classes, n_parts)

    def measure_of_any_number(self, B, c, n_parts, n_classes):
        """The grids, or tables of `n_parts`, for an open number of records; B is a number, c may be None."""
        check_B(B, math.inf, n_classes)
        if n_parts is not None:
            c = _check_c_of_parts(c, n_parts, B, n_classes)
            return MicRTables(float(B), float(c), n_classes, int(n_parts))
        c = min(5.0, largest_c(math.inf, B, n_classes)) if c is None else c
        check_c(c, math.inf, B, n_classes)
        return MicRGrids(float(B), float(c), n_classes, self.correction)


@dataclass(frozen=True)
class MicRGrids(Measure):
    """MICr over the grids allowed by B and c."""

    B: float
    c: float
    n_classes: int | None
    correction: str | MillerMadow | None
    target_shares: TargetShares | None = None  # public; scores do not depend on them

    def with_target_shares(self, shares):
        """The measure with public shares of the classes; a ValueError if they are of another number."""
        return replace(self, target_shares=public_shares(check_n_shares(shares, self.n_classes), self.n_classes))

    def without_target_shares(self):
        """The measure of the scores alone."""
        return replace(self, target_shares=None)

    def largest_score(self, n):
        """The largest score of n records that any feature can have; None if the shares of classes are not known."""
        if self.target_shares is None:
            return None
        return largest_mic_r(self.target_shares.published().tolist(), n, chance_of(self.correction))

    def of_groups(self, rows_per_group):
        """The grids with a bias correction for several rows per person.

        It is between those for independent and for equal rows of a person.
        """
        if self.correction is None:
            return self
        return replace(self, correction=MillerMadow(math.sqrt(rows_per_group)))

    chance_rate = 1.0

    def sensitivity(self, shape):
        """The value in bits."""
        return mic_r_group_sensitivity(shape.n_groups, shape.rows_per_group)

    def prepare(self, shape):
        """Create the table of logarithms; an error if there are too many records."""
        entropy_table(shape.n_samples)

    def rounding_error(self, shape):
        """The value in bits."""
        grids = self.n_classes, self.B, self.c, self.correction
        return largest_rounding_error(shape.n_samples, shape.domains, *grids, shape.is_complete)

    def null_law(self, n, n_labels):
        """The known distribution of scores of n records if a feature is independent of the target."""
        return BoundedLaw(mic_r_bound(n, n_labels, self.n_classes, self.B, self.c, self.correction))

    def scorer(self, target, random_bytes):
        """The function that scores features against a target."""
        if self.n_classes is None:
            return NumericTargetScorer(target.values, target.bounds, self.B, self.c, correction=self.correction)
        return ClassTargetScorer(target.values, self.n_classes, self.B, self.c, self.correction)

    def counts(self, target_bounds):
        """The object that counts features, and scores them by their counts."""
        if self.n_classes is None:
            return ContinuousGrids(target_bounds, self.B, self.c, self.correction)
        return DiscreteGrids(self.n_classes, self.B, self.c, self.correction)

    def scorer_of_counts(self, counts, n):
        """The function that scores features by their counts of n records."""
        return Scorer(partial(counts.score, table=entropy_table(n)))


@dataclass(frozen=True)
class MicRTables:
    """MICr estimated from noisy tables, each of one feature and the target."""

    B: float
    c: float
    n_classes: int | None
    n_parts: int  # of a feature, and of a numeric target

    def of_groups(self, rows_per_group):
        """The measure for people with this many rows each, which noise and scores account for."""
        return self

    def counts(self, target_bounds):
        """The object that counts features."""
        return TableGrids(target_bounds, self.n_classes, self.n_parts)

    def check(self, shape):
        """Raise unless there are tables of all features."""
        check_have_ranges(shape.domains)

    def scorer_of_tables(self, n, scale):
        """The estimator of scores from tables of n records with noise of this scale; built from public numbers."""
        return TableScorer(n, scale, self.B, is_discrete=self.n_classes is not None)


def _check_c_of_parts(c, n_parts, B, n_classes):
    """c as a number: the ratio of `n_parts` to the finest merge."""
    if not is_whole(n_parts) or not 2 <= n_parts <= MOST_PARTS:
        raise ValueError(f"n_parts must be None or an int >= 2, and at most {MOST_PARTS}, got {quoted(n_parts)}.")
    if c is not None:
        check_c(c)
    k_max = finest_merge(B, n_classes)
    if c is None or c == n_parts / k_max:
        return n_parts / k_max
    if max(int(min(c, MOST_PARTS) * k_max), 2) != n_parts:  # which is at most that
        raise ValueError(f"c must be None, or {n_parts / k_max} with n_parts={n_parts} and this B, got {quoted(c)}.")
    return c
