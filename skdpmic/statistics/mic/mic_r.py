"""MICr: the Maximal Information Coefficient over grids that depend on public bounds only."""

import math
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpmic._utils.jit import jit
from skdpmic._utils.texts import quoted, require
from skdpmic._utils.typing import ColumnLike, Correction, Master
from skdpmic.statistics.grids import check_c, divisions_in_two, equal_parts, equipartitions, finest_merge, grid_size
from skdpmic.statistics.mic import cell_counts
from skdpmic.statistics.mic.optimize_axis import (
    MILLER_MADOW,
    N_MASTER,
    entropy_table,
    groupings_of_classes,
    groupings_of_labels,
    largest_entries,
    rounding_error,
)
from skdpmic.table.domains import Nominal, check_pair_bounds
from skdpmic.table.values import check_pair

# --- Bias correction --------------------------------------------------------------------------------------------


def check_correction(correction):
    """Raise unless `correction` is valid."""
    if correction is not None and not (isinstance(correction, str) and correction == "miller-madow"):
        raise ValueError(f"correction must be None or 'miller-madow', got {quoted(correction)}.")


def chance_of(correction):
    """Amount subtracted from n I for each of the (k - 1)(l - 1) degrees of freedom of a grid, in bits.

    A number is the correction "miller-madow" for so many records that count as one, such as the rows of a person.
    """
    if correction is None:
        return 0.0
    return MILLER_MADOW * (1.0 if correction == "miller-madow" else correction)


# --- Which grids ----------------------------------------------------------------------------------------------


def continuous_plan(B, c, master):
    """The grids of MICr in one orientation, one row per size of the fixed axis.

    Returns
    -------
    plan : int64 ndarray of shape (n_grids, 3)
        Columns: parts of the fixed axis, parts of the master partition, largest number of merged parts.
    """
    n_fixed = np.arange(2, int(B // 2) + 1)
    k_max = np.minimum(n_fixed, (B // n_fixed).astype(np.int64))
    n_master = np.maximum((c * (k_max if master == "reduced" else n_fixed)).astype(np.int64), 2)
    return np.stack([n_fixed, n_master, k_max], axis=1)


def closed_plan(B, c, master):
    """The few grids of MICr with a bias correction; rows as in :func:`continuous_plan`.

    The merged parts are at most the square root of B, half of that and so on, not below 4, and 2; each with as many
    fixed parts as B allows. No grid has fewer fixed than merged parts, and merges into fewer parts are also used: for
    these two reasons, the sensitivity is that of all grids together (``docs/theory/closed_family.md``).
    """
    sizes = [finest_merge(B)]
    while (half := (sizes[-1] + 1) // 2) >= 4:
        sizes.append(half)
    k_max = np.unique([2, *sizes])
    n_fixed = (B // k_max).astype(np.int64)
    # The positions of cuts matter most with few merged parts, whose grids are cheapest: one master partition serves
    # all.
    n_master = np.maximum((c * (k_max[-1] if master == "reduced" else n_fixed)).astype(np.int64), 2)
    return np.stack([n_fixed, np.broadcast_to(n_master, n_fixed.shape), k_max], axis=1)


def needed_grids(plan):
    """The grids of `plan` that can have the largest entry.

    A grid is not needed if another one halves its fixed parts, has all its master edges and merges the same number of
    parts: the other never scores less. (Halving is exact in floating point; edges of other multiples may differ in the
    last bit.)
    """
    n_fixed, n_master, k_max = plan.T
    other = np.minimum(np.searchsorted(n_fixed, 2 * n_fixed), len(plan) - 1)  # the row with twice the parts, if any
    halves_it = n_fixed[other] == 2 * n_fixed
    has_its_edges = (n_master[other] == n_master) | (n_master[other] == 2 * n_master)
    return plan[~(halves_it & has_its_edges & (k_max[other] >= k_max))]


# --- Columns located in cells ---------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def continuous_grids(B, c, master="reduced", correction=None):
    """The grids of a score, as of :func:`all_grids`; cached, because they are public."""
    plan = needed_grids(continuous_plan(B, c, master)) if correction is None else closed_plan(B, c, master)
    return all_grids(plan)


def all_grids(plan):
    """The plan by master partition, all its partitions of an axis, the groups (one per master partition), all edges.

    The edges are those of an axis to be merged, followed by those of a fixed axis in separate groups.
    """
    plan = plan[np.argsort(plan[:, N_MASTER], kind="stable")]
    ends = np.append(np.flatnonzero(np.diff(plan[:, N_MASTER])) + 1, len(plan))
    partitions, groups = equipartitions(plan[:, :2]), cell_counts.groups_ending(plan, ends)
    both = np.append(groups.of_grid, groups.of_grid + len(groups.numbers))
    edges = cell_counts.edges_of(plan[:, [1, 0]].T.ravel(), both, partitions.sizes)
    return plan, partitions, groups, edges


# --- The largest entry of the characteristic matrix -----------------------------------------------------------


def mic_r_of_block(ways, groups, n_pairs, table, correction=None):
    """The largest (I - o) / log2 min(k, l) over the grids, for each way of a column to be merged and a fixed one.

    Of several columns, none of which misses values, with one target: ndarray of shape (n_pairs,).
    """
    n = ways[0][0].cells.shape[-1]
    entries = largest_entries(_counted(ways, groups), n_pairs, groups.most, table, n, chance_of(correction))
    return np.minimum(entries, 1.0)


def _counted(ways, groups):
    """Tables and grids of each way."""
    for free, fixed in ways:
        tables = cell_counts.count(free, fixed, groups.numbers)
        yield from cell_counts.in_both_orders(tables, free, fixed, groups)


_VALUES_AT_ONCE = 2**13  # of several columns, whose tables are still in near caches when they are read


class _Target:
    """The part shared by all features scored against one target. Raw data; not private."""

    def __init__(self, n, correction):
        self._correction = correction
        self._table = entropy_table(n)

    def score_block(self, X, domains):
        """The scores of several features, at once for numbers of one range: a list."""
        few = max(_VALUES_AT_ONCE // len(X[0]), 1)
        if few == 1 or len(set(domains)) > 1 or isinstance(domains[0], Nominal):
            return [self.score(x, domain) for x, domain in zip(X, domains, strict=True)]
        blocks = [X[first : first + few] for first in range(0, len(X), few)]
        return [score for block in blocks for score in self._score_one_range(block, domains[0])]

    def _score_one_range(self, X, domain):
        x, is_complete = self._grids.place_complete(X, domain)
        n_complete = int(is_complete.sum())
        if n_complete == 0:
            return [self.score(column, domain) for column in X]
        together = mic_r_of_block(self._ways(x), self._grids.groups, n_complete, self._table, self._correction)
        scores = iter(together.tolist())
        return [next(scores) if ready else self.score(X[j], domain) for j, ready in enumerate(is_complete.tolist())]

    def _score_of(self, ways, groups):
        return float(mic_r_of_block(ways, groups, 1, self._table, self._correction)[0])


class NumericTargetScorer(_Target):
    """A numeric target, prepared for scoring many features.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Values, none missing.
    bounds : pair of floats
    B : float, at least 4
    c : float, above 0
    master : {"reduced", "full"}
    correction : None or "miller-madow", default=None
    """

    def __init__(self, y, bounds, B, c, master="reduced", correction=None):
        super().__init__(len(y), correction)
        self._grids = cell_counts.RangePlacer(*continuous_grids(B, c, master, correction))
        self._y = self._grids.place(y, bounds)
        self._against_labels = AgainstLabels(y, bounds, B, c, chance_of(correction))

    def score(self, x, domain):
        """MICr of the feature `x` and the target, in [0, 1]."""
        if isinstance(domain, Nominal):
            grids, y = self._against_labels.placed(domain)
            apart = self._score_of([(y, grids.place_codes(x))], grids.groups)
            in_two = self._against_labels.labels_in_two(domain)
            return max(apart, in_two.largest_entry(in_two.count(x, self._against_labels.columns), self._table))
        return self._score_of(self._ways(self._grids.place(x, domain)), self._grids.groups)

    def _ways(self, x):
        return [(x, self._y), (self._y, x)]


class ClassTargetScorer(_Target):
    """A target of class numbers, prepared for scoring many features.

    The classes are the fixed axis; only the axis of a numeric feature is optimised.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Values 0 ... n_classes - 1.
    n_classes : int
    B : float, at least 4
    c : float, above 0
    correction : None or "miller-madow", default=None
    """

    def __init__(self, codes, n_classes, B, c, correction=None):
        super().__init__(len(codes), correction)
        self._codes, self._n_classes = codes, n_classes
        self._grids = class_grids(n_classes, B, c)
        self._y = self._grids.place_codes(codes)

    def score(self, x, domain):
        """MICr of the feature `x` and the target, in [0, 1]."""
        if isinstance(domain, Nominal):
            tables = LabelTables(domain.n_labels, self._n_classes, chance_of(self._correction))
            return tables.largest_entry(tables.count(x, self._codes), self._table)
        return self._score_of(self._ways(self._grids.place(x, domain)), self._grids.groups)

    def _ways(self, x):
        return [(x, self._y)]


# --- Rounding -------------------------------------------------------------------------------------------------


def largest_rounding_error(n, domains, n_classes, B, c, correction=None, is_complete=False):
    """Bound on the distance of any score from its exact value, for n records and features of these domains.

    Parameters
    ----------
    n : int
    domains : iterable
    n_classes : int or None
        None for a numeric target.
    B, c, correction
        As in `NumericTargetScorer`.
    is_complete : bool, default=False
        Whether numbers cannot be missing.
    """
    kinds = {domain if isinstance(domain, Nominal) else None for domain in domains}
    return max(rounding_error(n, _plan_of(kind, n_classes, B, c, correction, is_complete)) for kind in kinds)


def _plan_of(kind, n_classes, B, c, correction, is_complete):
    """The grids for a nominal feature, or for numbers, with the part for missing values if these are possible."""
    if kind is not None and n_classes is None:
        n_columns = n_columns_of(B)  # against labels in two groups
        return np.concatenate([nominal_grids(kind.n_labels, B, c).plan, [[n_columns, n_columns, 2]]])
    if kind is not None:  # the largest table
        return np.array([[kind.n_parts, n_classes, n_classes]])
    if n_classes is not None:
        return class_grids(n_classes, B, c).plan
    plan = continuous_grids(B, c, "reduced", correction)[0]  # cached for this call
    return plan + np.array([0 if is_complete else 1, 0, 0])


# --- The public statistic -------------------------------------------------------------------------------------


def mic_r(
    x: ColumnLike,
    y: ColumnLike,
    *,
    bounds: Sequence[Any] | NDArray[Any],
    B: float = 0.6,
    c: float = 5,
    master: Master = "reduced",
    correction: Correction = None,
) -> float:
    """Compute MICr, the Maximal Information Coefficient over range equipartitions. Not private.

    One axis is cut into l parts of equal width, the other into a master partition of equal width whose neighbouring
    parts are merged into the k parts with the largest mutual information I with the first. The score is the largest
    ``I / log2 min(k, l)`` over both orientations and all k, l with k * l <= B.

    Parameters
    ----------
    x, y : array-like of shape (n_samples,)
        Real numbers; those outside `bounds` are clipped.
    bounds : ((x_lo, x_hi), (y_lo, y_hi))
        Public range of each variable.
    B : float, default=0.6
        Maximum grid size: a number of cells >= 4 (need not be an integer), or an exponent in (0, 1) for ``n_samples **
        B`` cells, but at least 4 and at most 10,000. A number may be at most n_samples, because more cells than records
        only add bias and time; but 1,000 is always allowed, and more than 10,000 never is.
    c : float, default=5
        How many times finer than the merged partition its master partition is; above 0. A master partition may have as
        many parts as a grid may have cells: c may be at most that number divided by the square root of B, rounded down;
        for ``master="full"``, divided by half of B, rounded down.
    master : {"reduced", "full"}, default="reduced"
        Number of parts of the master partition: ``c * min(l, B // l)`` as in Appendix E.1 of [1]_, or ``c * l`` as in
        its Definition 4.1; rounded down, and never below 2.
    correction : None or "miller-madow", default=None
        Bias correction. "miller-madow" subtracts from I the mean bias of a grid, ``(k - 1) (l - 1) / (2 n_samples ln
        2)`` bits [2]_, and uses only a few sizes of the fixed axis: ``l = B // K``, where K is the square root of B,
        half of it, and so on as long as that is 4 or more, and finally 2; each with all k up to K, and one master
        partition of c times the square root of B parts. The result is closer to the MIC of a large sample, and takes a
        fraction of the time. None gives the statistic of [1]_.

    Returns
    -------
    float
        Score in [0, 1]: about 0 for independent variables, 1 for a noiseless relationship that the grids resolve.

    Raises
    ------
    ValueError
        If an argument is invalid.

    References
    ----------
    .. [1] J. Lazarsfeld, A. Johnson and E. Adeniran, "Differentially Private Maximal Information
       Coefficients", ICML 2022; Definition 4.1 and Appendix E.1.
    .. [2] G. A. Miller, "Note on the bias of information estimates", in "Information Theory in Psychology", 1955.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import mic_r
    >>> x = np.linspace(0, 1, 500)
    >>> mic_r(x, x**2, bounds=((0, 1), (0, 1)))
    1.0
    """
    x, y = check_pair(x, y)
    x_bounds, y_bounds = check_pair_bounds(bounds)
    n = len(x)
    B = grid_size(B, n)
    require(master in ("reduced", "full"), "master must be 'reduced' or 'full'", master)
    check_correction(correction)
    check_c(c, n, B, master=master)
    target = NumericTargetScorer(y, y_bounds, B, c, master, correction)
    return float(target.score(x, x_bounds))


MOST_ROWS = 16  # for which all groupings in two are used, 2**15,
MOST_COLUMNS = 64  # against this many columns, in a few milliseconds
_MOST_PARTS = 48  # equal parts of a numeric target


def n_columns_of(B):
    """Equal parts of a numeric target, for a maximum grid size B: fewer than allowed, because the best is biased."""
    return int(min(max(B // 5, 2), _MOST_PARTS))


def labels_in_two(n_labels, n_columns, chance=0.0):
    """The codes of a nominal feature in two groups, against classes or equal parts of a target.

    Parameters
    ----------
    n_labels, n_columns : int
    chance : float, default=0.0
        As in :func:`skdpmic.statistics.mic.optimize_axis.largest_entry`.
    """
    return InTwoGroups(Nominal(n_labels).n_parts, n_columns, chance * degrees_in_two(n_labels, n_columns))


def degrees_in_two(n_rows, n_columns):
    """Degrees of freedom for the bias correction of the best grouping in two; two rows have only one grouping.

    Measured: the mean of the best of all groupings, if rows and columns are independent and uniform.
    """
    return (math.sqrt(n_columns - 1) + 2 / 3 * math.sqrt(max(min(n_rows, MOST_ROWS - 2) - 2, 0))) ** 2


class InTwoGroups:
    """The grids of rows in two groups against all columns.

    The largest entry of a fixed family of grids, with two parts on a side each and one public offset
    (``docs/theory/nominal_missing.md``); a search that may miss it would not be as private.

    Parameters
    ----------
    n_rows, n_columns : int
    offset : float
        Amount subtracted from n I, in bits.
    """

    def __init__(self, n_rows, n_columns, offset):
        self.shape = n_rows, n_columns
        self.has_all = n_rows <= MOST_ROWS and n_columns <= MOST_COLUMNS
        self.offset = offset

    @property
    def n_groupings(self):
        """Number of groupings of the rows."""
        n_rows = self.shape[0]
        return 2 ** (n_rows - 1) - 1 if self.has_all else len(divisions_in_two(n_rows))

    def count(self, rows, columns):
        """Number of records in each row and column: int64, of `shape`."""
        cells = rows.astype(np.int64) * self.shape[1] + columns
        return np.bincount(cells, minlength=math.prod(self.shape)).reshape(self.shape)

    def largest_entry(self, counts, table):
        """The largest I - o, in [0, 1]."""
        g, n = table.g, len(table.g) - 1
        of_columns = counts.sum(axis=0)
        counts, of_columns = counts[:, of_columns > 0], of_columns[of_columns > 0]
        if self.has_all:
            counts = np.ascontiguousarray(counts[counts.any(axis=1)])
            of_cells = _largest_of_all(counts, of_columns, g, np.zeros(len(of_columns), dtype=np.int64))
        else:
            first = np.concatenate([counts, _public_groupings(len(counts)) @ counts])
            in_first = first.sum(axis=1)
            of_groups = g[in_first] + g[n - in_first]
            of_cells = (g[first].sum(axis=1) + g[of_columns - first].sum(axis=1) - of_groups).max()
        n_mi = of_cells - g[of_columns].sum() + g[n]
        entry = (n_mi - self.offset * table.scale) / (table.scale * n)
        return float(min(max(entry, 0.0), 1.0))


@lru_cache(maxsize=64)
def _public_groupings(n_rows):
    """The groupings besides each row against the rest: (n_groupings, n_rows), 1 in one of the groups."""
    return np.array(divisions_in_two(n_rows, with_each_alone=False), dtype=np.int64)


@jit
def _largest_of_all(counts, of_columns, g, first):
    """The largest sum of g over the cells minus that over the two groups, over all groupings of the rows.

    Parameters
    ----------
    counts : int64 ndarray of shape (n_rows, n_columns)
    of_columns : int64 ndarray of shape (n_columns,)
    g : int64 ndarray
        That of `EntropyTable`.
    first : int64 ndarray of shape (n_columns,)
        Workspace of zeros: the records of the first group.
    """
    n_rows, n_columns = counts.shape
    in_all = of_columns.sum()
    largest = np.int64(0)  # all rows in one group
    for j in range(n_columns):
        largest += g[of_columns[j]]
    largest -= g[in_all]
    in_first = np.int64(0)
    # In Gray code order, one row moves each time. The last row stays, because the order of the groups is irrelevant.
    for step in range(1, 1 << max(n_rows - 1, 0)):
        row = 0
        while (step >> row) & 1 == 0:
            row += 1
        joins = (step >> (row + 1)) & 1 == 0
        sum_ = np.int64(0)
        for j in range(n_columns):
            here = first[j] + counts[row, j] if joins else first[j] - counts[row, j]
            in_first += here - first[j]
            first[j] = here
            sum_ += g[here] + g[of_columns[j] - here]
        sum_ -= g[in_first] + g[in_all - in_first]
        largest = max(largest, sum_)
    return largest


class LabelTables:
    """The grids of a nominal feature against classes: each grouping of its codes with each of the classes.

    Also its codes in two groups against all classes; unless these are all groupings, also the classes against all
    codes.

    Parameters
    ----------
    n_labels, n_classes : int
    chance : float, default=0.0
        As in :func:`skdpmic.statistics.mic.optimize_axis.largest_entry`.
    """

    def __init__(self, n_labels, n_classes, chance=0.0):
        of_labels = labels_in_two(n_labels, n_classes, chance)
        of_classes = InTwoGroups(n_classes, of_labels.shape[0], chance * degrees_in_two(n_classes, n_labels))
        self.in_two = [of_labels] if of_labels.has_all else [of_labels, of_classes]
        self.shape, self.count = of_labels.shape, of_labels.count
        self._chance = chance
        self._label_groupings, self._class_groupings = groupings_of_labels(n_labels), groupings_of_classes(n_classes)

    def largest_entry(self, counts, table):
        """The largest (I - o) / log2 of the smaller number of parts, in [0, 1]."""
        joined = [(_joined(counts, grouping.groups), grouping.degrees) for grouping in self._label_groupings]
        entries = [
            self._entry(_joined(rows.T, grouping.groups), degrees * grouping.degrees, table)
            for (rows, degrees), grouping in product(joined, self._class_groupings)
        ]
        entries += [rows.largest_entry(of, table) for rows, of in zip(self.in_two, (counts, counts.T), strict=False)]
        return min(max(entries), 1.0)

    def _entry(self, cells, degrees, table):
        g, n = table.g, len(table.g) - 1
        n_mi = g[cells].sum() - g[cells.sum(axis=0)].sum() - g[cells.sum(axis=1)].sum() + g[n]
        offset = self._chance * table.scale * degrees
        return max((n_mi - offset) / (math.log2(min(cells.shape)) * (table.scale * n)), 0.0)


def _joined(counts, groups):
    """The rows of a table summed in groups."""
    joined = np.zeros((max(groups) + 1, counts.shape[1]), dtype=np.int64)
    np.add.at(joined, np.array(groups), counts)
    return joined


# --- Which grids ----------------------------------------------------------------------------------------------


# --- Columns located in cells ---------------------------------------------------------------------------------


class CodeGrids(cell_counts.RangePlacer):
    """The grids of numeric columns against codes; from `class_grids` or `nominal_grids`."""

    def __init__(self, codes, *public):
        super().__init__(*public)
        self.codes = codes

    def place_codes(self, codes):
        """Codes as a column."""
        return cell_counts.PlacedColumn(codes.astype(np.uint32), None, self.codes)


def class_grids(n_classes, B, c):
    """The grids of a numeric feature against classes, which are the fixed axis.

    One grid; for three classes, also each against the other two, without which one record could change the score by a
    quarter more (``docs/theory/closed_family.md``).
    """
    return CodeGrids(*_public(tuple(groupings_of_classes(n_classes)), c, finest_merge(B, n_classes)))


def nominal_grids(n_labels, B, c):
    """The grids of a numeric target against a nominal feature, with the groupings that can have the largest entry.

    If there are at least as many labels as merged parts, kappa is the number of merged parts, whether other and missing
    are separate or joined to a label; separate, they never have less information, at the same correction. With up to
    three labels, there may be divisions in two.
    """
    k_max = max(min(int(B // n_labels), math.isqrt(int(B))), 2)
    groupings = groupings_of_labels(n_labels)
    needed = groupings if n_labels <= 3 or n_labels < k_max else groupings[:1]
    return CodeGrids(*_public(tuple(needed), c, k_max))


@lru_cache(maxsize=64)
def _public(groupings, c, k_max):
    """The cells of codes, the plan, the master partition, the groups and the edges; cached, because they are public."""
    # Ordered by table: groups of neighbouring codes share one, and each of the others has its own.
    groupings = sorted(groupings, key=lambda grouping: not _are_neighbours(grouping.groups))
    n_master = max(int(c * k_max), 2)  # with fewer, there would be no grid
    plan = np.array([(grouping.n_groups, n_master, k_max) for grouping in groupings], dtype=np.int64)
    codes, ends = _cells_of_codes(groupings)
    degrees = [grouping.degrees for grouping in groupings]
    groups = cell_counts.groups_ending(plan, ends, degrees)
    partitions = equipartitions(plan[:, N_MASTER])
    edges = cell_counts.edges_of(plan[:, N_MASTER], groups.of_grid, partitions.sizes)
    return codes, plan, partitions, groups, edges


class AgainstLabels:
    """A numeric target, located in the grids of each kind of nominal feature. Raw data; not private.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
    bounds : pair of floats
    B : float, at least 4
    c : float, above 0
    chance : float
        As in :func:`skdpmic.statistics.mic.optimize_axis.largest_entry`.
    """

    def __init__(self, values, bounds, B, c, chance):
        self._values, self._bounds, self._sizes, self._chance = values, bounds, (B, c), chance
        self._n_columns = n_columns_of(B)
        self._placed = {}

    @cached_property
    def columns(self):
        """The equal part of each value, for grids with labels in two groups."""
        return equal_parts(self._values, self._bounds, self._n_columns)

    def labels_in_two(self, domain):
        """The grids with labels in two groups."""
        return labels_in_two(domain.n_labels, self._n_columns, self._chance)

    def placed(self, domain):
        """The grids against features with this domain, and the target as a column."""
        if domain not in self._placed:
            grids = nominal_grids(domain.n_labels, *self._sizes)
            self._placed[domain] = grids, grids.place(self._values, self._bounds)
        return self._placed[domain]


def _are_neighbours(groups):
    return list(groups) == sorted(groups)


def _cells_of_codes(groupings):
    """The cells of codes in all tables, and the number of grids before the end of each table; ordered by table."""
    n_codes, n_first = len(groupings[0].groups), sum(_are_neighbours(grouping.groups) for grouping in groupings)
    common = np.array([np.arange(n_codes), *(grouping.groups for grouping in groupings[n_first:])]) + 1
    starts = np.zeros((len(groupings), max(grouping.n_groups for grouping in groupings) + 1))
    for row, grouping in zip(starts, groupings, strict=True):
        neighbours = grouping.groups if _are_neighbours(grouping.groups) else range(grouping.n_groups)
        row[: grouping.n_groups] = np.searchsorted(neighbours, np.arange(grouping.n_groups))
        row[grouping.n_groups] = len(neighbours)
    cells = cell_counts.Cells(common.astype(np.uint32), starts.astype(np.uint32), common[:, -1] + 1)
    return cells, np.arange(n_first, len(groupings) + 1)
