"""MICr: the Maximal Information Coefficient over grids that depend on public bounds only."""

import numpy as np

from skdpmic.mic.arguments import check_B, check_c, check_pair, check_pair_bounds
from skdpmic.mic.jit import jit
from skdpmic.mic.optimize_axis import entropy_table, optimize_axis, rounding_error
from skdpmic.mic.partitions import class_axis, equipartitions, range_axis

# --- Which grids --------------------------------------------------------------------------------------------


def grid_size(B, n):
    """The maximum grid size as a number: `B` itself, or ``max(n**B, 4)`` for an exponent B in (0, 1)."""
    return float(max(n**B, 4.0)) if B < 1 else float(B)


def continuous_plan(B, c, master):
    """The grids of MICr in one orientation, one row for each size of the fixed axis.

    Returns
    -------
    plan : int64 ndarray of shape (n_grids, 3)
        Columns: parts of the fixed axis, parts of the master partition, largest number of merged parts. Grids with one
        master partition stand together.
    """
    rows = []
    for n_fixed in range(2, int(B // 2) + 1):
        k_max = min(n_fixed, int(B // n_fixed))
        rows.append((n_fixed, _master_size(c, k_max if master == "reduced" else n_fixed), k_max))
    return np.array(sorted(rows, key=lambda row: row[1]), dtype=np.int64)


def discrete_plan(B, c, n_classes):
    """The one grid of MICr against a discrete target, whose classes are the fixed axis."""
    k_max = max(int(B // n_classes), 2)
    return np.array([(n_classes, _master_size(c, k_max), k_max)], dtype=np.int64)


def _master_size(c, k):
    # Below two parts there is no grid, and the score would be 0 whatever the data.
    return max(int(c * k), 2)


# --- The largest entry of the characteristic matrix -----------------------------------------------------------


class _Target:
    """What all features that are scored against one target share. As sensitive as the target itself."""

    def __init__(self, axis, plan):
        self._axis = axis
        self._plan = plan
        self._table = entropy_table(len(axis.cells))

    @property
    def rounding_error(self):
        """Bound on the distance of a score from its exact value."""
        return rounding_error(len(self._axis.cells), self._plan)

    def _best(self, free, fixed):
        return _largest_entry(free, fixed, self._plan, self._table)


class ContinuousTarget(_Target):
    """A numeric target, ready to be scored against many features.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
    bounds : pair of floats
    B : float, at least 4
    c : float, above 0
    master : {"reduced", "full"}
    """

    def __init__(self, y, bounds, B, c, master="reduced"):
        plan = continuous_plan(B, c, master)
        self._partitions = equipartitions(plan[:, :2])
        super().__init__(range_axis(y, bounds, self._partitions), plan)

    def score(self, x, bounds):
        """MICr of the feature `x` and the target, in [0, 1]."""
        feature = range_axis(x, bounds, self._partitions)
        return max(self._best(feature, self._axis), self._best(self._axis, feature))


class DiscreteTarget(_Target):
    """A target of class numbers, ready to be scored against many features.

    The classes are the fixed axis; only the feature's axis is optimised.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Values 0 ... n_classes - 1.
    n_classes : int
    B : float, at least 4
    c : float, above 0
    """

    def __init__(self, codes, n_classes, B, c):
        plan = discrete_plan(B, c, n_classes)
        self._partitions = equipartitions(plan[:, 1])
        super().__init__(class_axis(codes, n_classes), plan)

    def score(self, x, bounds):
        """MICr of the feature `x` and the target, in [0, 1]."""
        return self._best(range_axis(x, bounds, self._partitions), self._axis)


@jit
def _largest_entry(free, fixed, plan, table):
    """Largest of I / log2 min(k, l) over the grids of `plan`, one axis merged, the other fixed.

    All grids with one master partition share one pass over the records: these are counted against the cells that
    the fixed partitions have in common, and each fixed partition adds up its cells.
    """
    n = len(free.cells)
    largest = 0.0
    start = 0
    while start < len(plan):
        end = start
        while end < len(plan) and plan[end, 1] == plan[start, 1]:
            end += 1
        common, n_common = _common_cells(fixed, plan[start:end, 0])
        below = _cumulative_counts(free, plan[start, 1], fixed, common, n_common)
        for n_fixed, _, k_max in plan[start:end]:
            columns = _columns(below, fixed, n_fixed, common)
            n_mi = optimize_axis(columns, below[-1], k_max, table)
            for k in range(2, k_max + 1):
                largest = max(largest, n_mi[k - 2] / (table.scale * n * np.log2(min(k, n_fixed))))
        start = end
    return min(largest, 1.0)


@jit
def _common_cells(axis, sizes):
    """Cells that the partitions of `axis` into `sizes` parts have in common, coarser than those of the axis.

    Returns
    -------
    common : int64 ndarray of shape (n_cells,)
        The coarser cell that each cell of the axis belongs to.
    n_common : int
    """
    common = np.zeros(len(axis.counts), dtype=np.uint32)
    for size in sizes:
        first_cell = axis.first_cell[np.searchsorted(axis.sizes, size)]
        for i in range(1, size):
            common[first_cell[i]] = 1
    for cell in range(1, len(axis.counts)):
        common[cell] += common[cell - 1]
    return common, common[-1] + 1


@jit
def _cumulative_counts(free, n_master, fixed, common, n_common):
    """``below[u, t]``: records in the first u common cells and the first t master parts; empty master parts left out.

    Returns
    -------
    below : uint64 ndarray of shape (n_common + 1, n_used + 1)
    """
    master, n_used = _used_parts(free, n_master)
    below = np.zeros((n_common + 1, n_used + 1), dtype=np.uint32)
    for i in range(len(free.cells)):
        below[common[fixed.cells[i]] + np.uint32(1), master[free.cells[i]] + np.uint32(1)] += np.uint32(1)
    for u in range(1, n_common + 1):
        in_row = np.uint32(0)
        for t in range(1, n_used + 1):
            in_row += below[u, t]
            below[u, t] = below[u - 1, t] + in_row
    return below


@jit
def _used_parts(axis, size):
    """The part of the partition into `size` parts that each cell belongs to, numbered without parts that are empty."""
    first_cell = axis.first_cell[np.searchsorted(axis.sizes, size)]
    part = np.zeros(len(axis.counts), dtype=np.uint32)
    n_used = 0
    for i in range(size):
        in_part = 0
        for cell in range(first_cell[i], first_cell[i + 1]):
            in_part += axis.counts[cell]
            part[cell] = n_used
        n_used += in_part > 0
    return part, n_used


@jit
def _columns(below, fixed, n_fixed, common):
    """Records of each part of the fixed axis below every master edge; parts without records are left out."""
    first_cell = fixed.first_cell[np.searchsorted(fixed.sizes, n_fixed)]
    columns = np.empty((n_fixed, below.shape[1]), dtype=np.uint64)
    n_used = 0
    left = 0
    for j in range(n_fixed):
        right = common[first_cell[j + 1]] if j + 1 < n_fixed else len(below) - 1
        if below[right, -1] > below[left, -1]:
            for t in range(below.shape[1]):
                columns[n_used, t] = below[right, t] - below[left, t]
            n_used += 1
        left = right
    return columns[:n_used]


# --- The public statistic -------------------------------------------------------------------------------------


def mic_r(x, y, *, bounds, B=0.6, c=5, master="reduced"):
    """MICr, the Maximal Information Coefficient over range equipartitions. Not private.

    One axis is cut into l parts of equal width, the other into a master partition of equal width whose
    neighbouring parts are merged into the k parts that tell most about the first; the score is the largest
    ``I / log2 min(k, l)`` over both orientations and all k, l with k * l <= B.

    Parameters
    ----------
    x, y : array-like of shape (n_samples,)
        Real numbers; those outside `bounds` are clipped.
    bounds : ((x_lo, x_hi), (y_lo, y_hi))
        The public range of each variable.
    B : float, default=0.6
        Maximum grid size: a number of cells >= 4, which need not be whole, or an exponent in (0, 1) that
        stands for ``max(n_samples ** B, 4)``.
    c : float, default=5
        How much finer than the merged partition its master partition is; above 0.
    master : {"reduced", "full"}, default="reduced"
        Parts of the master partition: ``c * min(l, B // l)`` as in Appendix E.1 of [1]_, or ``c * l`` as in
        its Definition 4.1; rounded down, and never below 2.

    Returns
    -------
    float
        In [0, 1]: about 0 for independent variables, 1 for a noiseless relationship that the grids resolve.

    Raises
    ------
    ValueError
        If an argument is outside what is allowed above.

    References
    ----------
    .. [1] J. Lazarsfeld, A. Johnson and E. Adeniran, "Differentially Private Maximal Information
       Coefficients", ICML 2022; Definition 4.1 and Appendix E.1.

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
    check_B(B)
    check_c(c)
    if master not in ("reduced", "full"):
        raise ValueError(f"master must be 'reduced' or 'full', got {master!r}.")
    target = ContinuousTarget(y, y_bounds, grid_size(B, len(x)), c, master)
    return float(target.score(x, x_bounds))
