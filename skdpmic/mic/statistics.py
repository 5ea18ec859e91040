"""MICr: the Maximal Information Coefficient over grids that depend on public bounds only."""

from functools import lru_cache

import numpy as np

from skdpmic.mic.arguments import check_pair, check_pair_bounds
from skdpmic.mic.counting import column_borders, compress, cumulative_counts
from skdpmic.mic.grid_limits import check_B, check_c, finest_merge, largest_size
from skdpmic.mic.jit import jit
from skdpmic.mic.optimize_axis import entropy_table, largest_entry, rounding_error
from skdpmic.mic.partitions import class_axis, equipartitions, range_axis

# --- Which grids --------------------------------------------------------------------------------------------


def grid_size(B, n):
    """The maximum grid size as a number: `B` itself, or for an exponent in (0, 1) ``n**B``, from 4 up to 10,000."""
    return float(min(max(n**B, 4.0), largest_size(n))) if B < 1 else float(B)


def continuous_plan(B, c, master):
    """The grids of MICr in one orientation, one row for each size of the fixed axis.

    Returns
    -------
    plan : int64 ndarray of shape (n_grids, 3)
        Columns: parts of the fixed axis, parts of the master partition, largest number of merged parts.
    """
    n_fixed = np.arange(2, int(B // 2) + 1)
    k_max = np.minimum(n_fixed, (B // n_fixed).astype(np.int64))
    n_master = np.maximum((c * (k_max if master == "reduced" else n_fixed)).astype(np.int64), 2)
    return np.stack([n_fixed, n_master, k_max], axis=1)


def needed_grids(plan):
    """The grids of `plan` that can hold the largest entry, those with one master partition together.

    A grid is not needed where another one halves its fixed parts, has all its master edges and merges as many parts:
    the other never scores less. (Halving is exact in floating point; edges of other multiples may differ in
    the last bit.)
    """
    n_fixed, n_master, k_max = plan.T
    other = np.minimum(np.searchsorted(n_fixed, 2 * n_fixed), len(plan) - 1)  # the row with twice the parts, if any is
    halves_it = n_fixed[other] == 2 * n_fixed
    has_its_edges = (n_master[other] == n_master) | (n_master[other] == 2 * n_master)
    needed = plan[~(halves_it & has_its_edges & (k_max[other] >= k_max))]
    return needed[np.argsort(needed[:, 1], kind="stable")]


def discrete_plan(B, c, n_classes):
    """The one grid of MICr against a discrete target, whose classes are the fixed axis."""
    k_max = finest_merge(B, n_classes)
    # Below two master parts there is no grid, and the score would be 0 whatever the data.
    return np.array([(n_classes, max(int(c * k_max), 2), k_max)], dtype=np.int64)


@lru_cache(maxsize=64)
def continuous_grids(B, c, master):
    """The plan, and all partitions of an axis in it; kept, as they depend on nothing else."""
    plan = needed_grids(continuous_plan(B, c, master))
    return plan, equipartitions(plan[:, :2])


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
        plan, self._partitions = continuous_grids(B, c, master)
        super().__init__(placed(y, bounds, self._partitions), plan)

    def score(self, x, bounds):
        """MICr of the feature `x` and the target, in [0, 1]."""
        return _mic_r_of_column(*_as_compiled_for(x, bounds), self._partitions, self._axis, self._plan, self._table)


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
        return _largest_entry(placed(x, bounds, self._partitions), self._axis, self._plan, self._table)


@jit
def mic_r_of_axes(x, y, plan, table):
    """MICr of two numeric axes: the largest entry of either orientation."""
    return max(_largest_entry(x, y, plan, table), _largest_entry(y, x, plan, table))


@jit
def _mic_r_of_column(values, lo, hi, partitions, y, plan, table):
    """MICr of a column and an axis; one compiled call, as what it takes to make one is felt at 1,000 records."""
    return mic_r_of_axes(range_axis(values, lo, hi, partitions), y, plan, table)


def placed(values, bounds, partitions):
    """The axis of `values` within `bounds`."""
    return range_axis(*_as_compiled_for(values, bounds), partitions)


def _as_compiled_for(values, bounds):
    """One type and layout for all columns, so that kernels are compiled once."""
    return np.ascontiguousarray(values, dtype=np.float64), float(bounds[0]), float(bounds[1])


@jit
def _largest_entry(free, fixed, plan, table):
    """Largest of I / log2 min(k, l) over the grids of `plan`, one axis merged, the other fixed."""
    free, fixed, joint = compress(free, fixed, plan[:, 1], plan[:, 0])
    largest = 0.0
    start = 0
    while start < len(plan):
        end = end_of_group(plan, start)
        below, common = cumulative_counts(free, fixed, joint, plan[start, 1], plan[start:end, 0])
        largest = max(largest, largest_of_group(below, fixed, common, plan[start:end], table))
        start = end
    return largest


@jit
def end_of_group(plan, start):
    """The end of the rows of `plan`, from `start` on, that have one master partition."""
    end = start
    while end < len(plan) and plan[end, 1] == plan[start, 1]:
        end += 1
    return end


@jit
def largest_of_group(below, fixed, common, plan, table):
    """The largest entry of the grids of `plan`, which have one master partition, from `cumulative_counts`."""
    largest = 0.0
    for n_fixed, _, k_max in plan:
        borders = column_borders(below, fixed, common, n_fixed)
        largest = max(largest, largest_entry(below, borders, n_fixed, k_max, table))
    return largest


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
        stands for ``n_samples ** B``, but at least 4 and at most 10,000. As more cells than records add nothing but
        chance, and time, a number may be up to n_samples, though 1,000 are allowed always, and more than 10,000 never.
    c : float, default=5
        How much finer than the merged partition its master partition is; above 0. A master partition may have as many
        parts as a grid may have cells: c is up to that number over the square root of B, rounded down.
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
    n = len(x)
    check_B(B, n)
    if master not in ("reduced", "full"):
        raise ValueError(f"master must be 'reduced' or 'full', got {master!r}.")
    B = grid_size(B, n)
    check_c(c, n, B, master=master)
    target = ContinuousTarget(y, y_bounds, B, c, master)
    return float(target.score(x, x_bounds))
