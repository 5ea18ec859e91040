"""MICr: the Maximal Information Coefficient over grids that depend on public bounds only."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdpmic._utils.arguments import check_pair_bounds
from skdpmic._utils.texts import quoted
from skdpmic._utils.typing import ColumnLike, Correction, Master
from skdpmic.statistics.grids import check_c, equipartitions, finest_merge, grid_size
from skdpmic.statistics.mic import cell_counts
from skdpmic.statistics.mic.code_grids import AgainstLabels, class_grids, discrete_plan, nominal_plan
from skdpmic.statistics.mic.label_tables import LabelTables, labels_in_two, n_columns_of
from skdpmic.statistics.mic.optimize_axis import MILLER_MADOW, entropy_table, largest_entries, rounding_error
from skdpmic.table.domains import Nominal
from skdpmic.table.values import check_pair

# --- Bias correction --------------------------------------------------------------------------------------------


def check_correction(correction):
    """Raise unless `correction` is valid."""
    if correction is not None and not (isinstance(correction, str) and correction == "miller-madow"):
        raise ValueError(f"correction must be None or 'miller-madow', got {quoted(correction)}.")


def chance_of(correction):
    """Amount subtracted from n I for each of the (k - 1)(l - 1) degrees of freedom of a grid, in bits."""
    if correction is None:
        return 0.0
    return MILLER_MADOW * (correction.times if isinstance(correction, MillerMadow) else 1.0)


class MillerMadow(NamedTuple):
    """The correction "miller-madow" for records of which `times` count as one, such as the rows of a person."""

    times: float


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
    plan = np.stack([n_fixed, np.broadcast_to(n_master, n_fixed.shape), k_max], axis=1)
    return plan[np.argsort(plan[:, 1], kind="stable")]


def needed_grids(plan):
    """The grids of `plan` that can have the largest entry, grouped by master partition.

    A grid is not needed if another one halves its fixed parts, has all its master edges and merges the same number of
    parts: the other never scores less. (Halving is exact in floating point; edges of other multiples may differ in the
    last bit.)
    """
    n_fixed, n_master, k_max = plan.T
    other = np.minimum(np.searchsorted(n_fixed, 2 * n_fixed), len(plan) - 1)  # the row with twice the parts, if any
    halves_it = n_fixed[other] == 2 * n_fixed
    has_its_edges = (n_master[other] == n_master) | (n_master[other] == 2 * n_master)
    needed = plan[~(halves_it & has_its_edges & (k_max[other] >= k_max))]
    return needed[np.argsort(needed[:, 1], kind="stable")]


# --- Columns located in cells ---------------------------------------------------------------------------------


class RangeGrids(cell_counts.RangePlacer):
    """The grids of numeric columns, which may have different ranges.

    Parameters
    ----------
    B : float, at least 4
    c : float, above 0
    master : {"reduced", "full"}
    n : int, default=0
        Approximate number of records. It only affects how they are counted.
    correction : None or "miller-madow", default=None
    """

    def __init__(self, B, c, master="reduced", n=0, correction=None):
        super().__init__(*continuous_grids(B, c, master, n, correction))


@lru_cache(maxsize=64)
def continuous_grids(B, c, master="reduced", n=0, correction=None):
    """The plan, all its partitions of an axis, the groups, and all edges; cached, because they are public.

    The edges are those of an axis to be merged, followed by those of a fixed axis in separate groups.
    """
    plan = needed_grids(continuous_plan(B, c, master)) if correction is None else closed_plan(B, c, master)
    partitions, groups = equipartitions(plan[:, :2]), cell_counts.groups_of(plan, n)
    both = np.append(groups.of_grid, groups.of_grid + len(groups.numbers))
    edges = cell_counts.edges_of(plan[:, [1, 0]].T.ravel(), both, partitions.sizes)
    return plan, partitions, cell_counts.groups_by_missing(groups), edges


# --- The largest entry of the characteristic matrix -----------------------------------------------------------


def mic_r_of_columns(ways, groups, table, correction=None):
    """The largest (I - o) / log2 min(k, l) over the grids, for pairs of a column to be merged and a fixed one."""
    return float(mic_r_of_block(ways, groups, 1, table, correction)[0])


def mic_r_of_block(ways, groups, n_pairs, table, correction=None):
    """MICr of several columns without missing values with one target: ndarray of shape (n_pairs,)."""
    n = ways[0][0].cells.shape[-1]
    entries = largest_entries(_counted(ways, groups), n_pairs, groups.most, table, n, chance_of(correction))
    return np.minimum(entries, 1.0)


def _counted(ways, groups):
    """Tables and grids, round by round. A part for missing values is tried after all others, and before them."""
    ways = [(*way, groups.of(*way).rounds, cell_counts.empty_tables(*way)) for way in ways]
    for i in range(len(groups.complete.rounds)):
        for free, fixed, rounds, tables in ways:
            numbers, rows = rounds[i]
            yield cell_counts.count(free, fixed, numbers, tables), rows
            if free.is_incomplete:
                yield cell_counts.missing_first(tables, numbers, free.free.n_corners), rows


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
        return mic_r_of_columns(ways, groups, self._table, self._correction)


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
        self._grids = RangeGrids(B, c, master, len(y), correction)
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
    return max(rounding_error(n, _plan_of(kind, n, n_classes, B, c, correction, is_complete)) for kind in kinds)


def _plan_of(kind, n, n_classes, B, c, correction, is_complete):
    """The grids for a nominal feature, or for numbers, with the part for missing values if these are possible."""
    if kind is not None and n_classes is None:
        return np.concatenate([nominal_plan(B, c, kind.n_labels), labels_in_two(kind.n_labels, n_columns_of(B)).plan])
    if kind is not None:
        return LabelTables(kind.n_labels, n_classes).plan
    if n_classes is not None:
        return discrete_plan(B, c, n_classes)
    plan = continuous_grids(B, c, "reduced", n, correction)[0]  # cached for this call
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
    if master not in ("reduced", "full"):
        raise ValueError(f"master must be 'reduced' or 'full', got {quoted(master)}.")
    check_correction(correction)
    check_c(c, n, B, master=master)
    target = NumericTargetScorer(y, y_bounds, B, c, master, correction)
    return float(target.score(x, x_bounds))
