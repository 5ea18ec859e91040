"""MICr as a statistic: mutual information over grids of equal parts, and tables of counts for estimating it."""

import math
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib.resources import files

import numpy as np

from skdpmic._utils.arguments import is_auto, is_whole
from skdpmic._utils.texts import quoted, require
from skdpmic.privacy.noise import random_keys
from skdpmic.statistics.grids import check_B, check_c, finest_merge, grid_size, largest_c
from skdpmic.statistics.largest_scores import largest_mic_r
from skdpmic.statistics.measure import Measure, Scorer, Statistic
from skdpmic.statistics.mic import mic_r
from skdpmic.statistics.mic.cell_counts import RangePlacer, counts_of, tables_of_counts
from skdpmic.statistics.mic.characteristic import Way, largest_of_ways, mass_plan
from skdpmic.statistics.mic.noisy_tables import TableGrids, TableScorer, check_have_ranges
from skdpmic.statistics.mic.optimize_axis import entropy_table, largest_entry, rounding_error
from skdpmic.statistics.mic.tail_bounds import mic_r_bound
from skdpmic.statistics.mtv.family import TargetShares, public_shares
from skdpmic.statistics.sensitivity import mic_e_sensitivity, mic_r_group_sensitivity
from skdpmic.table.domains import Nominal


@dataclass(frozen=True)
class MicR(Statistic):
    """The Maximal Information Coefficient over grids that depend on public bounds only."""

    correction: str | None  # bias correction

    name = "mic_r"
    is_mergeable = supports_counts = is_explained_by_shares = has_p_values = True

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
    correction: str | float | None  # bias correction; a number as in `mic_r.chance_of`
    target_shares: TargetShares | None = None  # public; scores do not depend on them

    def with_target_shares(self, shares):
        """The measure with public shares of the classes; a ValueError if they are of another number."""
        return replace(self, target_shares=public_shares(shares, self.n_classes, self.n_classes))

    def without_target_shares(self):
        """The measure of the scores alone."""
        return replace(self, target_shares=None)

    def largest_score(self, n):
        """The largest score of n records that any feature can have; None if the shares of classes are not known."""
        if self.target_shares is None:
            return None
        return largest_mic_r(self.target_shares.published().tolist(), n, mic_r.chance_of(self.correction))

    def of_groups(self, rows_per_group):
        """The grids with a bias correction for several rows per person.

        It is between those for independent and for equal rows of a person.
        """
        correction = self.correction and math.sqrt(rows_per_group)
        return replace(self, correction=correction)

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
        return mic_r.largest_rounding_error(shape.n_samples, shape.domains, *grids, shape.is_complete)

    def null_law(self, n, kind):
        """The known distribution of scores of n records if a feature is independent of the target."""
        return mic_r_bound(n, kind, self.n_classes, self.B, self.c, self.correction)

    def scorer(self, target, random_bytes):
        """The function that scores features against a target."""
        if self.n_classes is None:
            return mic_r.NumericTargetScorer(target.values, target.bounds, self.B, self.c, correction=self.correction)
        return mic_r.ClassTargetScorer(target.values, self.n_classes, self.B, self.c, self.correction)

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

    def prepare(self, shape):
        """Raise unless there are tables of all features, and logarithms for so many records."""
        check_have_ranges(shape.domains)
        entropy_table(shape.n_groups)

    def scorer_of_tables(self, n, scale):
        """The estimator of scores from tables of n records with noise of this scale; built from public numbers."""
        return TableScorer(n, scale, self.B, is_discrete=self.n_classes is not None)


def _check_c_of_parts(c, n_parts, B, n_classes):
    """c as a number: the ratio of `n_parts` to the finest merge."""
    if not is_whole(n_parts) or not 2 <= n_parts <= MOST_PARTS:
        raise ValueError(f"n_parts must be None or an int >= 2, and at most {MOST_PARTS}, got {quoted(n_parts)}.")
    k_max = finest_merge(B, n_classes)
    c = n_parts / k_max if c is None else c
    check_c(c)
    is_own = c == n_parts / k_max or max(int(min(c, MOST_PARTS) * k_max), 2) == n_parts  # which is at most that
    require(is_own, f"c must be None, or {n_parts / k_max} with n_parts={n_parts} and this B", c)
    return c


_NO_VALUES = np.empty(0)


class ContinuousGrids:
    """The grids of a feature with a numeric target, in both orientations.

    Parameters
    ----------
    target_bounds : pair of floats
    B : float, at least 4
    c : float, above 0
    correction : None or "miller-madow", default=None
    """

    def __init__(self, target_bounds, B, c, correction=None):
        self._grids = RangePlacer(*mic_r.continuous_grids(B, c, correction=correction))
        self._chance = mic_r.chance_of(correction)
        self._target = target_bounds, B, c, self._chance
        self._public = self.place(_NO_VALUES)

    def n_tables(self, domain):
        """Number of times each record is counted in the counts of a feature with this domain."""
        return 2 if isinstance(domain, Nominal) else 2 * len(self._grids.groups.numbers)

    def place(self, y):
        """The target values `y`, prepared for counting with features."""
        return self._grids.place(y, self._target[0]), mic_r.AgainstLabels(y, *self._target)

    def count(self, x, domain, target):
        """Counts of the feature `x` with a prepared target: a flat uint32 array, as long as the domain needs."""
        y, against_labels = target
        if isinstance(domain, Nominal):
            grids, y = against_labels.placed(domain)
            apart = counts_of(y, grids.place_codes(x), _CODES_APART)
            in_two = against_labels.labels_in_two(domain).count(x, against_labels.columns)
            return np.concatenate([apart, in_two.ravel().astype(np.uint32)])
        x, numbers = self._grids.place(x, domain, may_miss=True), self._grids.groups.numbers
        return np.concatenate([counts_of(x, y, numbers), counts_of(y, x, numbers)])

    def score(self, counts, domain, table):
        """MICr from the counts of a feature: equal to that from the records, bit for bit."""
        y, against_labels = self._public
        if isinstance(domain, Nominal):
            grids, y = against_labels.placed(domain)
            in_two = against_labels.labels_in_two(domain)
            apart, columns = np.split(counts, [-math.prod(in_two.shape)])
            of_two = in_two.largest_entry(columns.astype(np.int64).reshape(in_two.shape), table)
            return max(_score_of_codes(apart, y, grids, table, self._chance), of_two)
        x = self._grids.place(_NO_VALUES, domain, may_miss=True)
        return _score_of(counts, [(x, y), (y, x)], self._grids.groups, table, self._chance)


class DiscreteGrids:
    """The grids of a feature with a target of class numbers; methods as in :class:`ContinuousGrids`.

    Parameters
    ----------
    n_classes : int
    B : float, at least 4
    c : float, above 0
    correction : None or "miller-madow", default=None
    """

    def __init__(self, n_classes, B, c, correction=None):
        self._n_classes = n_classes
        self._grids = mic_r.class_grids(n_classes, B, c)
        self._chance = mic_r.chance_of(correction)

    def n_tables(self, domain):
        """Number of times each record is counted in the counts of a feature with this domain."""
        return 1  # in a table from which those for three classes, or for labels, are summed

    def place(self, codes):
        """The class numbers of the target, prepared for counting with features."""
        return self._grids.place_codes(codes)

    def count(self, x, domain, target):
        """Counts of the feature `x` with a prepared target: a flat uint32 array."""
        if isinstance(domain, Nominal):
            return self._label_tables(domain).count(x, target.cells).ravel().astype(np.uint32)
        return counts_of(self._grids.place(x, domain, may_miss=True), target, _CODES_APART)

    def score(self, counts, domain, table):
        """MICr from the counts of a feature: equal to that from the records, bit for bit."""
        if isinstance(domain, Nominal):
            tables = self._label_tables(domain)
            return tables.largest_entry(counts.astype(np.int64).reshape(tables.shape), table)
        x = self._grids.place(_NO_VALUES, domain, may_miss=True)
        return _score_of_codes(counts, x, self._grids, table, self._chance)

    def _label_tables(self, domain):
        return mic_r.LabelTables(domain.n_labels, self._n_classes, self._chance)


_CODES_APART = np.zeros(1, dtype=np.uint64)  # number of the only group that is counted against codes


def _score_of_codes(counts, column, grids, table, chance):
    """MICr of a column and codes; all tables are summed from the first one, in which each code is a row."""
    codes, rows = grids.codes, counts.reshape(grids.codes.common.shape[1], -1)
    joined = [
        (np.equal.outer(np.arange(1, n_corners), cell) @ rows).ravel()
        for cell, n_corners in zip(codes.common, codes.n_corners, strict=True)
    ]
    ways = [(column, grids.place_codes(_NO_VALUES))]
    return _score_of(np.concatenate(joined), ways, grids.groups, table, chance)


def _score_of(counts, ways, groups, table, chance):
    """MICr of pairs of columns from counts of all of their tables."""
    counted = tables_of_counts(counts, ways, groups)
    return min(largest_entry(counted, groups.most, table, len(table.g) - 1, chance), 1.0)


TABLES = {None: "defaults.csv", "miller-madow": "defaults_miller_madow.csv"}  # by correction
MOST_PARTS = 100  # per side of a noisy table; the best number is never above 40
_DIGITS = 6  # removes rounding errors of table entries, which are rounded down


def default_B(n, epsilon, n_classes=None, correction=None):
    """Maximum grid size, with nearly the smallest error on 189 known distributions.

    Parameters
    ----------
    n : int
        Number of records.
    epsilon : float, above 0
        Budget per score; for Gaussian noise, that of Laplace noise with the same standard deviation.
    n_classes : int, default=None
        Number of classes of a discrete target; None for a continuous one.
    correction : None or "miller-madow", default=None
        Bias correction; see :func:`skdpmic.mic_r`.

    Returns
    -------
    float
        The value in ``defaults.csv``, or with a correction in ``defaults_miller_madow.csv``, interpolated by
        :func:`_interpolate`. ``benchmarks/results/defaults.md`` says how they were computed, and
        compares them with the best B and c.

    Examples
    --------
    >>> from skdpmic.statistics.mic.statistic import default_B
    >>> default_B(10_000, 1.0) > default_B(100, 1.0)
    True
    """
    k = _interpolate("k", n, epsilon, n_classes, correction)
    return round(k * k if n_classes is None else k * n_classes, _DIGITS)


def default_c(n, epsilon, n_classes=None, correction=None):
    """How many times finer than the merged partition a master partition is; otherwise as :func:`default_B`."""
    k, m = (_interpolate(name, n, epsilon, n_classes, correction) for name in "km")
    return round(m / k, _DIGITS)


def default_parts(n, epsilon, n_classes=None):
    """Parts per side of a noisy table of n records with budget `epsilon`; with classes, parts of the feature.

    A finer table shows more detail and has more total noise. The rule for continuous targets is near the best on the
    189 distributions of :mod:`skdpmic.datasets` (``benchmarks/results/defaults.md``).
    """
    epsilon = min(epsilon, 10.0)
    if n_classes is not None:
        return 2 * round(min(max(0.35 * math.sqrt(n * epsilon / n_classes), 2.0), 20.0))
    return 2 * int(min(max(0.14 * math.sqrt(n * epsilon) * max(epsilon, 1.0) ** 0.25, 2.0), 20.0))


# --- The user's values, or else the defaults ----------------------------------------------------------------------


def resolve_B(B, n, epsilon, n_classes=None, correction=None):
    """The maximum grid size as a number, from the user's value; `n_classes` is None for a continuous target."""
    return default_B(n, epsilon, n_classes, correction) if is_auto(B) else grid_size(B, n, n_classes)


def resolve_c(c, n, epsilon, B, n_classes=None, correction=None):
    """c as a number, from the user's value and the resolved B; otherwise as :func:`resolve_B`."""
    if is_auto(c):
        c = default_c(n, epsilon, n_classes, correction)
        return min(c, largest_c(n, B, n_classes))  # B may be large, if given by the user
    check_c(c, n, B, n_classes)
    return float(c)


def resolve_parts(B, c, n, epsilon, n_classes=None):
    """Parts of a feature in its noisy table, and their ratio to the finest merge.

    Parameters
    ----------
    B : float, at least 4
    c : float or "auto"
    n : int
        Number of records.
    epsilon : float
        Budget of each table.
    n_classes : int, default=None
        Number of classes of a discrete target.

    Returns
    -------
    n_parts : int
    c : float
    """
    k_max = finest_merge(B, n_classes)
    if is_auto(c):
        n_parts = default_parts(n, epsilon, n_classes)
        return n_parts, n_parts / k_max
    check_c(c)
    most = f"{MOST_PARTS / k_max:.6g} with B={B:.6g} and mechanism='geometric'"
    why = f"because a noisy table has at most {MOST_PARTS} parts per side"
    require(int(min(c, MOST_PARTS) * k_max) <= MOST_PARTS, f"c must be at most {most}, {why}", c)
    return max(int(c * k_max), 2), float(c)


# --- The table ----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _interpolate(name, n, epsilon, n_classes, correction):
    """Merged parts k of an axis, or parts m = c k of its master partition.

    These vary more smoothly than B and c. The interpolation is linear in log n, log epsilon and log n_classes between
    the entries of the table, and constant outside.
    """
    kinds, epsilons, samples, values = _table(correction)
    is_kind = kinds == 0 if n_classes is None else kinds > 0
    at_n = [[np.interp(math.log(n), np.log(samples), row) for row in rows] for rows in values[name][is_kind]]
    at_epsilon = [np.interp(math.log(epsilon), np.log(epsilons), row) for row in at_n]
    return float(np.interp(math.log(n_classes or 1), np.log(np.maximum(kinds[is_kind], 1)), at_epsilon))


@lru_cache(maxsize=2)
def _table(correction):
    """The numbers of classes (0 for a continuous target), epsilons and n of a file; k and m by these three."""
    with (files("skdpmic.statistics.mic") / TABLES[correction]).open(encoding="utf-8") as file:
        n_classes, epsilon, n, B, c = np.loadtxt(file, delimiter=",", skiprows=1, unpack=True)
    axes = [np.unique(column) for column in (n_classes, epsilon, n)]
    k = np.where(n_classes == 0, np.sqrt(B), B / np.maximum(n_classes, 1))
    shape = [len(axis) for axis in axes]
    return *axes, {"k": k.reshape(shape), "m": (c * k).reshape(shape)}


class MicE(Statistic):
    """MICe of one pair of variables, with the defaults of the paper."""

    name = "mic_e"
    needs_ranges = False

    def measure(self, B, c, n, epsilon, n_classes):
        """The grids for n records; B and c are the user's."""
        B = grid_size(0.6 if is_auto(B) else B, n)
        c = 15 if is_auto(c) else c
        check_c(c)
        return RankGrids(B, min(c, n))  # a larger c has no effect: at most one master part per record


@dataclass(frozen=True)
class RankGrids(Measure):
    """MICe over the grids allowed by B and c, with equal values in random order."""

    B: float
    c: float

    def prepare(self, shape):
        """Create the table of logarithms; an error if there are too many records."""
        entropy_table(shape.n_samples)

    def sensitivity(self, shape):
        """The value in bits."""
        return mic_e_sensitivity(shape.n_samples, self.B)

    def rounding_error(self, shape):
        """The value in bits."""
        return rounding_error(shape.n_samples, mass_plan(self.B, self.c))

    def scorer(self, target, random_bytes):
        """The function that scores a variable against a target."""
        y, plan = target.values, mass_plan(self.B, self.c)
        keys, table = random_keys(len(y), random_bytes), entropy_table(len(y))
        return Scorer(lambda x, domain: mic_e_of_ranks(ranks_in_y(x, y, *keys), plan, table))


def ranks_in_y(x, y, x_ties, y_ties):
    """The rank in y, from 0, of each record, with records in ascending order of x.

    Parameters
    ----------
    x, y : ndarrays of shape (n_samples,)
    x_ties, y_ties : ndarrays of shape (n_samples,)
        Keys that order equal values; equal keys are ordered by position.

    Returns
    -------
    y_ranks : int64 ndarray of shape (n_samples,)
        A permutation of 0 ... n_samples - 1.
    """
    rank = np.empty(len(y), dtype=np.int64)
    rank[np.lexsort((y_ties, y))] = np.arange(len(y))
    return rank[np.lexsort((x_ties, x))]


def mic_e_of_ranks(y_ranks, plan, table):
    """MICe of records whose ranks in y are given in ascending order of x, in [0, 1].

    Both the fixed and the master partitions are equipartitions by rank. If there are fewer records than parts, every
    record is a part.

    Parameters
    ----------
    y_ranks : int64 ndarray of shape (n_samples,)
        From `ranks_in_y`.
    plan : ndarray
        From `skdpmic.statistics.mic.characteristic.mass_plan`.
    table : EntropyTable
    """
    x_ranks = np.empty(len(y_ranks), dtype=np.uint32)
    x_ranks[y_ranks] = np.arange(len(y_ranks))
    ends = np.arange(len(y_ranks) + 1, dtype=np.uint64)
    ways = Way(ends, ends, y_ranks.astype(np.uint32), False), Way(ends, ends, x_ranks, False)
    return largest_of_ways(ways, plan, table)
