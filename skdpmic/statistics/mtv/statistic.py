"""MTVr as a statistic: total variation from independence over grids of equal parts."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from itertools import product
from math import fsum

import numpy as np
from scipy.special import logsumexp

from skdpmic._utils.jit import in_numpy
from skdpmic._utils.texts import require
from skdpmic.statistics import null_laws
from skdpmic.statistics.grids import equal_parts, parts_of_each
from skdpmic.statistics.largest_scores import largest_mtv_r
from skdpmic.statistics.measure import Measure, Statistic
from skdpmic.statistics.mtv.counts import Placed, TargetCounts, TargetScorer, counts_scorer, tables_of
from skdpmic.statistics.mtv.family import (
    N_PLACES,
    UNITS,
    TargetShares,
    class_family,
    numeric_family,
    public_shares,
    resolve_mtv,
    shares_of_counts,
)
from skdpmic.statistics.mtv.released_shares import CountBudget, release_cut_shares, release_shares
from skdpmic.table.domains import UNIT, Knots, Nominal, parts_at_most
from skdpmic.table.values import USUAL_MEAN, WEIGHT_UNITS

_MOST_CLASSES = 4  # docs/theory/learnt_margin.md

# What numpy does in a fifth of a second, for 24 features with the defaults; compiling takes three seconds.
_LITTLE_WORK, _STEPS_PER_CALL = 2**24, 3000  # along lines; what all calls for one cost take besides
_FEW_VALUES = 600_000


class MtvR(Statistic):
    """The largest total variation from independence over grids that depend on public numbers only."""

    name = "mtv_r"
    is_mergeable = takes_weights = has_p_values = True

    @staticmethod
    def spends_on_target(n_classes):
        """Whether to learn the target's shares; with more than four classes, they cost more than they gain."""
        return n_classes is None or n_classes <= _MOST_CLASSES

    def measure(self, B, c, n, epsilon, n_classes):
        """The grids for n records, a budget of epsilon per score, and the user's B and c."""
        return MtvRGrids(*resolve_mtv(B, c, n, n_classes), n_classes)

    def measure_of_any_number(self, B, c, n_parts, n_classes):
        """The grids for an unknown number of records; B is a number, c may be None."""
        require(n_parts is None, "n_parts must be None with statistic='mtv_r'", n_parts)
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

    def with_target_shares(self, shares):
        """The measure with public shares of the target; a ValueError if they are of another number."""
        return replace(self, target_shares=public_shares(shares, self.n_classes, self._family.n_columns))

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
        """Size of chance scores relative to equal weights, from the released mean weight or else a usual one.

        It is the root mean square weight as a fraction of the largest one, which lies between the mean weight and its
        square root. The middle suits survey weights.
        """
        if self.units == 1:
            return 1.0
        is_known = self.target_shares is not None and self.target_shares.mean_weight is not None
        return (self.target_shares.mean_weight if is_known else USUAL_MEAN) ** 0.75

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
        if self.n_classes is not None and self.n_classes > 2:
            return 0.0
        family = self._family
        return max(family.offset_of_error(side) / family.normaliser(side, 2) for side in family.sides)  # of two parts

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
        codes, n_codes = target.values, self.n_classes
        if n_codes is None:
            codes, n_codes = equal_parts(codes, target.bounds, N_PLACES), N_PLACES
        return np.bincount(codes, target.weights, n_codes).astype(np.int64)  # always whole numbers below 2**53

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
        return replace(self, target_shares=release_shares(counts, budget))

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
        n, n_replaced = shape.n_samples, shape.rows_per_group
        return max(family.sensitivity(n, n_replaced, self.units) for family in _families_of(self))

    def rounding_error(self, shape):
        """Bound on the rounding error of the score in [0, 1]."""
        # The scorer is cached for the scores; it raises an error if n is too large.
        return counts_scorer(shape.n_samples, self._family, self.units).rounding_error

    def null_law(self, n, kind):
        """Bound on the null distribution of scores of n records, for features independent of the target."""
        if self.units > 1:
            raise AttributeError(
                "p_values requires records of equal weight, got weights: the variance of a weighted sum depends on all "
                "weights, which are private."
            )
        family, known = self._family, self.target_shares
        if known is not None and known.is_public:
            raise AttributeError(
                "p_values requires the error of the shares of the target, which is unknown for target_shares: use "
                "target_shares=None to learn the shares."
            )
        # The bound does not depend on released shares, so it is that of equal ones; without noise, they are those of y.
        if known is not None and (self.n_classes is None or known.scale > 0):
            equal = (Fraction(1, len(known.shares)),) * len(known.shares)
            family = replace(self, target_shares=replace(known, shares=equal, knots=None))._family
            family = family.sized_by_shares(0.5) if self.n_classes else family
        return mtv_r_bound(n, kind, family)

    def in_numpy_if_little(self, n_samples, n_features):
        """The context for scoring a table of this shape: without kernels, if compiling them takes longer than numpy."""
        family = self._family
        n_steps = family.cuts.other * (self.B // 2) * (len(family.sides) * family.n_master + _STEPS_PER_CALL)
        return in_numpy(n_features * n_steps <= _LITTLE_WORK and n_features * n_samples <= _FEW_VALUES)

    def scorer(self, target, random_bytes):
        """The object that scores features against a target."""
        values, bounds = self._encoded(target)
        scorer = counts_scorer(len(values), self._family, self.units)
        return TargetScorer(self.counts(bounds), scorer, values, target.weights)

    def scorer_beside(self, target, column, domain):
        """Joint scorer of features and a given feature, with its column and domain, against a target."""
        values, bounds = self._encoded(target)
        counts = self.pair_counts(bounds, domain)
        return TargetScorer(counts, self.scorer_of_pair_counts(counts, len(values)), values, target.weights, column)

    def _encoded(self, target):
        """Values and range of a numeric target, rescaled so that a known cut is in the middle; or class numbers."""
        if self.n_classes is not None:
            return target.values, None
        if self.target_shares is None or self.target_shares.knots is None:
            return target.values, target.bounds
        domain = Knots(self.target_shares.knots)
        return domain.encode(target.values), domain.encoded

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
    # Rows of a person carry less information than as many records, so chance scores are larger, and so is the penalty.
    n_per_record = math.sqrt(grids.rows_per_group) * grids.chance_factor**2
    family = replace(family, penalty=family.penalty * math.sqrt(n_per_record))
    target_shares = grids.target_shares
    if target_shares is None and grids.spends_on_target:
        target_shares = shares_of_counts(np.ones(grids.n_classes or 2), family.n_columns)
    if target_shares is not None:
        margins = [round(share * UNITS) for share in target_shares.shares]
        family = family.with_target_shares(target_shares.ends, margins, target_shares.error)
    family = family if has_numbers else family.sized_by_shares()
    return (family, *families_of_pairs(family, grids.n_classes))


@lru_cache(maxsize=64)
def mtv_r_bound(n, kind, family):
    """Bound on the null distribution of MTVr.

    Parameters
    ----------
    n : int
        Number of records.
    kind : pair of floats, Whole or Nominal
        Of the feature. Numbers may be missing.
    family : Family
    """
    is_nominal = isinstance(kind, Nominal)
    return null_laws.bound_over(_label_grids(n, kind.n_labels, family) if is_nominal else _merges(n, family, kind))


def _grids(n, family, side, k, offset, log_tail):
    """A score of s requires a total variation of nu s + offset; `offset` is the amount subtracted from it."""
    if side.n_noisy == 0:
        return null_laws.NullGrids(family.normaliser(side, k), offset, log_tail)
    # For a released share u >= 1/2, nu is u, and for classes, the offset is proportional to sqrt(u (1 - u)), apart from
    # the part for the error. So the variation that a score requires is concave in u, and least at an end.
    least = family.offset_of_error(side) if family.is_sized else np.inf
    log_tail = partial(_with_noisy_share, log_tail, n=n, n_noisy=side.n_noisy, family=family)
    return null_laws.NullGrids(0.5, offset, log_tail, least)


def _with_noisy_share(log_tail, tv, *, n, n_noisy, family):
    """Tail of the total variation from a noisy share; it differs from that of the table's share by at most the error.

    The range of the error is divided into 32 intervals. The probability of exceeding each lower end is bounded, and an
    error in an interval counts as its upper end.
    """
    ends = np.multiply.outer(np.arange(_INTERVALS + 1) / _INTERVALS, np.maximum(tv, 0.0))
    exceeds = np.exp(_log_tail_of_error(ends, n, n_noisy, family))
    of_rest = np.exp(log_tail(ends[-1] - ends[1:]))
    rises = np.diff(np.concatenate([of_rest, np.ones_like(of_rest[:1])]), axis=0)
    total = of_rest[0] + (exceeds[1:] * rises).sum(axis=0)
    return np.log(np.clip(total, np.finfo(float).tiny, 1.0))


def _log_tail_of_error(share, n, n_noisy, family):
    """Chernoff bound on the probability that the error of a released share, a sum of Laplace noise, reaches `share`.

    The bound also holds for discrete Laplace noise (docs/theory/learnt_margin.md).
    """
    errors = share / family.share_error
    if n_noisy == 1:
        q = math.exp(-1 / (family.share_error * n))
        bound = math.log(2 / (1 + q)) - errors
    else:
        rate = errors / (n_noisy + np.sqrt(n_noisy**2 + errors**2))
        bound = math.log(2.0) - rate * errors - n_noisy * np.log1p(-(rate**2))
    return np.where(share <= family.share_error * math.sqrt(n_noisy), 0.0, np.minimum(bound, 0.0))


_INTERVALS = 32


def _merges(n, family, kind=UNIT):
    """Merges of master parts, with missing values after all others or before them, against groups of columns.

    Against two groups, the total variation of a merge is that of its best set of parts. This set is every other part;
    otherwise a merge into fewer parts, with a smaller offset, has the same total variation.
    """
    scorer = counts_scorer(n, family)
    for side in family.sides:
        if side.n_groups == 2:
            cost, numbers = _numbers_of_merges(family, family.most_cost(side), kind=kind)
            log_number, cost = math.log(2.0) + numbers[:, np.newaxis], cost[:, np.newaxis]
            log_tail = null_laws.log_tail_of_any(math.log(2.0) + log_number, partial(null_laws.log_division_tail, n=n))
            yield _grids(n, family, side, 2, scorer.offsets(side, cost), log_tail)
            continue
        for cost, number in zip(*_numbers_of_merges(family, family.most_cost(side), n_cuts=1, kind=kind), strict=True):
            of_one = partial(null_laws.log_variation_tail, n=n, n_rows=2, n_columns=side.n_groups)
            log_tail = null_laws.log_tail_of_any(math.log(2.0) + number, of_one)
            yield _grids(n, family, side, 2, scorer.offsets(side, cost), log_tail)


def _numbers_of_merges(family, most, n_cuts=math.inf, kind=UNIT):
    """The costs that cuts can have in all, and logarithms of the numbers of merges by them: two ndarrays.

    A merge has at least one cut and at most `n_cuts`.
    """
    # Between integers, some of the cheaper cuts are the same, or cut nothing off: they are then counted too often.
    cheaper = family.cuts.costs
    n_others = parts_at_most(family.n_master - len(cheaper), kind)
    numbers = {}
    for chosen in product([0, 1], repeat=len(cheaper)):
        spent = sum(np.multiply(chosen, cheaper))
        for n_more in range(min(n_others, (most - spent) // family.cuts.other) + 1):
            if 1 <= sum(chosen) + n_more <= n_cuts:
                cost = int(spent) + n_more * family.cuts.other
                numbers.setdefault(cost, []).append(null_laws.log_choices(n_others, n_more))
    return np.array(sorted(numbers)), np.array([logsumexp(numbers[cost]) for cost in sorted(numbers)])


def _label_grids(n, n_labels, family):
    """NullGrids with one part per code; for two labels and more than two groups, also one code against the rest."""
    scorer, n_codes = counts_scorer(n, family), Nominal(n_labels).n_parts
    for side in family.sides:
        for n_rows in {n_codes, 2} if n_labels == 2 and side.n_groups > 2 else {n_codes}:
            offset = scorer.offset_of_labels(n_labels, side)
            log_tail = partial(null_laws.log_variation_tail, n=n, n_rows=n_rows, n_columns=side.n_groups)
            yield _grids(n, family, side, n_rows, offset, log_tail)


_PARTS = 48  # equal parts of a feature's range
_STRATA = (2, 3, 4, 6, 8, 12)  # numbers of strata of one feature; each divides _PARTS
_COARSE = (2, 4)  # numbers of strata for grids of unmerged cells
_MOST_LABELS = 200  # codes kept apart, to limit the counts of a pair; neighbours are joined beyond
_MOST_STRATA = 30  # codes of a feature used as strata
_MOST_PIECES = 32
_PENALTY_FACTOR = 1 / 2  # fraction of the penalty of one feature


def families_of_pairs(family, n_classes):
    """The families of grids for two features; the joint score is the mean of their scores.

    For three or more classes, there is one family for each class against the rest. A maximum over classes would ignore
    the second feature if the first one determines a class.

    Parameters
    ----------
    family : Family
        Grids for one feature.
    n_classes : int or None

    Returns
    -------
    list of Family
    """
    penalty = family.penalty * _PENALTY_FACTOR
    sides = [side._replace(k_max=_MOST_PIECES) for side in family.sides if side.n_groups == 2]
    if n_classes is None or n_classes == 2:
        return [replace(family, sides=tuple(sides), penalty=penalty, by_place=False)]
    alone = [side for side in sides if sum(side.groups) in (1, n_classes - 1)]
    return [replace(family, sides=(side,), penalty=penalty, by_place=False) for side in alone]


def pair_codes(x, domain):
    """The part of each value in joint scores, as a code of `pair_labels`: uint8."""
    return _part_of_each([x], [domain])[0].astype(np.uint8)


def pair_labels(domain):
    """The domain of the codes of a feature, whose parts are those of the feature itself."""
    return Nominal(_n_parts(domain) - 2)


class PairCounts(TargetCounts):
    """Joint counts of features with a given feature and a target. Holds public numbers only.

    Parameters
    ----------
    domain : pair of floats or Nominal
        Scale of the given feature.
    family, target_bounds, units
        As in `TargetCounts`.
    """

    def __init__(self, domain, family, target_bounds=None, units=1):
        super().__init__(family, target_bounds, units)
        self.domain = domain

    def place(self, y, weights=None, given=None):
        """Assign records to cells: the column of the target and the part of the given feature."""
        placed = super().place(y, weights)
        if given is None:  # there are no records
            return placed
        parts = placed.columns * np.uint32(_n_parts(self.domain)) + _part_of_each([given], [self.domain])[0]
        return Placed(parts, placed.weights)

    def tables(self, X, domains, placed):
        """Counts of several features of the same kind: uint32 (n_features, n_columns, n_given, n_parts)."""
        n_columns, n_given, n_parts = self._family.n_columns, _n_parts(self.domain), _n_parts(domains[0])
        tables = tables_of(placed, n_columns * n_given, _part_of_each(X, domains), n_parts)
        return tables.reshape(len(X), n_columns, n_given, n_parts)


class PairScorer:
    """Joint scores of features and a given feature, from their counts. Holds public numbers only.

    Parameters
    ----------
    scorers : list of CountsScorer
        Scorers of the families of :func:`families_of_pairs`.
    given : pair of floats or Nominal
        Scale of the given feature.
    """

    def __init__(self, scorers, given):
        self._scorers, self._given = scorers, given

    def score(self, counts, domain):
        """The joint score from the flat uint32 counts of a feature."""
        return self.of_tables(counts.reshape(1, -1, _n_parts(self._given), _n_parts(domain)), domain)[0]

    def of_tables(self, tables, domain):
        """Joint scores of features of one kind from their tables: each family's maximum over its grids, averaged.

        Parameters
        ----------
        tables : uint32 ndarray of shape (n_features, n_columns, n_given, n_parts)
        domain : pair of floats or Nominal
            Scale of these features.

        Returns
        -------
        list of float
            Scores in [0, 1].
        """
        largest = np.zeros((len(self._scorers), len(tables)))
        turned = tables.transpose(0, 1, 3, 2)  # the two features exchanged
        for here, there, of_both in ((domain, self._given, tables), (self._given, domain, turned)):
            for rows in _in_rows(of_both, here, there):
                largest = np.maximum(largest, [scorer.of_rows(rows) for scorer in self._scorers])
        for f, table in enumerate(tables.astype(np.int64)):
            for cells, n_labels in _in_cells(table, (self._given, domain)):
                of_cells = [scorer.of_cells(cells.reshape(len(table), -1), n_labels) for scorer in self._scorers]
                largest[:, f] = np.maximum(largest[:, f], of_cells)
        return [fsum(of_each) / len(of_each) for of_each in largest.T]  # fsum rounds once: docs/theory/joint.md


# --- Parts and strata -----------------------------------------------------------------------------------------------


def _n_parts(domain):
    """Number of parts of a feature, including those for missing values and other labels."""
    return min(domain.n_parts, _MOST_LABELS) if isinstance(domain, Nominal) else _PARTS + 1


def _part_of_each(X, domains):
    """The part of each value, with missing values in the last part: uint32 (n_features, n_samples)."""
    if not isinstance(domains[0], Nominal):
        return parts_of_each(X, domains, _PARTS)[0].astype(np.uint32)
    n_parts = [domain.n_parts for domain in domains]
    return np.array([x if n <= _MOST_LABELS else x * _MOST_LABELS // n for x, n in zip(X, n_parts, strict=True)])


def _in_rows(tables, merged, strata):
    """The tables as rows of parts of the last axis, for each division of the axis before it into strata.

    Labels are not merged within strata. But if labels form the strata, neighbouring labels can be joined. So they can
    also be joined without the other feature, or else an uninformative numeric feature would seem to add information.
    """
    if isinstance(merged, Nominal) or isinstance(strata, Nominal):
        yield _row(tables.sum(axis=2, keepdims=True, dtype=np.uint32))
    if isinstance(merged, Nominal):
        return
    if not isinstance(strata, Nominal):
        yield from (_row(_cut(tables, n_strata)) for n_strata in _STRATA)
    elif tables.shape[2] <= _MOST_STRATA:
        yield _row(tables)


def _cut(tables, n_strata, axis=2):
    """Join equal parts along an axis into strata; the last part, for missing values, stays apart."""
    starts = np.append(np.arange(n_strata) * (_PARTS // n_strata), _PARTS)
    return np.add.reduceat(tables, starts, axis=axis, dtype=np.uint32)


def _row(tables):
    """Strata in a row, every other one reversed: uint32 (n_features, n_columns, n_strata * n_parts)."""
    rows = tables.copy()
    rows[:, :, 1::2] = tables[:, :, 1::2, ::-1]
    return rows.reshape(*tables.shape[:2], -1)


def _in_cells(table, domains):
    """Unmerged cells of a table (n_columns, n_given, n_parts) with labels on an axis, and their possible number."""
    axes = [axis for axis, domain in enumerate(domains, 1) if isinstance(domain, Nominal)]
    for axis in axes:
        yield table.sum(axis=3 - axis), _n_labels(domains[axis - 1])
    if len(axes) == 2:
        yield table, _n_labels(domains[0]) * _n_labels(domains[1])
        return
    for axis, n_strata in product(axes, _COARSE):
        yield _cut(table, n_strata, axis=3 - axis), _n_labels(domains[axis - 1]) * n_strata


def _n_labels(domain):
    return min(domain.n_labels, _MOST_LABELS)
