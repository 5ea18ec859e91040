"""The characteristic matrix of a pair: all its entries, the statistics computed from them, and the best grid."""

from typing import Any, NamedTuple

import numpy as np

from skdpmic._utils.arguments import check_pair_bounds
from skdpmic._utils.texts import quoted
from skdpmic._utils.typing import ColumnLike, Master, Range
from skdpmic.statistics.grids import check_B, check_c, equipartitions, grid_size, locate_between, refine
from skdpmic.statistics.mic.mass_partitions import both_ways, mass_tables, ranked_column
from skdpmic.statistics.mic.mic_e import all_entries, entries_of, mass_plan
from skdpmic.statistics.mic.mic_r import check_correction, continuous_plan
from skdpmic.statistics.mic.optimize_axis import N_FIXED, N_MASTER, entropy_table, grids_of, one_table
from skdpmic.table.values import check_pair


class BestGrid(NamedTuple):
    """The grid of the largest entry. A cell includes its lower edges; the last of an axis also its upper edge."""

    x_edges: np.ndarray  # (n_x_parts + 1,) ascending
    y_edges: np.ndarray  # (n_y_parts + 1,) ascending
    counts: np.ndarray  # (n_x_parts, n_y_parts) number of records in each cell


class CharacteristicMatrix:
    """All entries of a characteristic matrix, and the statistics computed from them. Contains no records.

    Returned by :func:`characteristic_matrix`. MIC, MAS, MEV and MCN are defined in [1]_, TIC in [2]_, and GMIC in [3]_.

    Attributes
    ----------
    matrix : ndarray of shape (size, size)
        ``matrix[k, l]`` is the entry for k parts of x and l parts of y, in [0, 1]. NaN if ``k * l > B``, and in rows
        and columns 0 and 1, which have no grid. ``size = B // 2 + 1``.

    References
    ----------
    .. [1] D. N. Reshef et al., "Detecting Novel Associations in Large Data Sets", Science 334, 2011; Supporting
       Online Material, Section 2.
    .. [2] Y. A. Reshef, D. N. Reshef, H. K. Finucane, P. C. Sabeti and M. Mitzenmacher, "Measuring Dependence
       Powerfully and Equitably", Journal of Machine Learning Research 17, 2016.
    .. [3] A. Luedtke and L. Tran, "The Generalized Mean Information Coefficient", arXiv:1308.5712, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import characteristic_matrix
    >>> x = np.linspace(-1, 1, 200)
    >>> entries = characteristic_matrix(x, x**2)
    >>> entries.mic(), round(entries.mas(), 2), entries.mcn()
    (1.0, 0.69, 3.0)
    """

    def __init__(self, matrix, best_grid):
        self.matrix = matrix
        self._best_grid = best_grid

    def __repr__(self):
        return f"<CharacteristicMatrix of {len(self._entries())} entries, mic={self.mic():.4g}>"

    def mic(self) -> float:
        """Return the Maximal Information Coefficient: the largest entry."""
        return float(self._entries().max())

    def tic(self, norm: bool = False) -> float:
        """Return the Total Information Coefficient: the sum of the entries; with `norm`, their mean."""
        return float(self._entries().mean() if norm else self._entries().sum())

    def mas(self) -> float:
        """Return the Maximum Asymmetry Score, for non-monotonicity: the largest ``|M[k, l] - M[l, k]|``."""
        return float(np.nanmax(np.abs(self.matrix - self.matrix.T)))

    def mev(self) -> float:
        """Return the Maximum Edge Value, for closeness to a function: the largest entry with k = 2 or l = 2."""
        return float(np.nanmax([self.matrix[2], self.matrix[:, 2]]))

    def mcn(self, eps: float = 0) -> float:
        """Return the Minimum Cell Number, for complexity: the least ``log2(k l)`` with ``M[k, l] >= (1 - eps) MIC``.

        Parameters
        ----------
        eps : float, default=0
            Tolerance, in [0, 1]. ``eps = 1 - MIC`` makes it robust to noise.
        """
        if not 0 <= eps <= 1:
            raise ValueError(f"eps must be in [0, 1], got {quoted(eps)}.")
        return float(np.log2(self._cells()[self._entries() >= (1 - eps) * self.mic()].min()))

    def gmic(self, p: float = -1) -> float:
        """Return the Generalized Mean Information Coefficient: the power mean of the maximal characteristic matrix.

        The entry of that matrix for k, l is the largest ``M[i, j]`` with ``i j <= k l``. GMIC falls from MIC at ``p =
        inf`` to ``M[2, 2]`` at ``p = -inf``: a smaller p favours simpler relationships.

        Parameters
        ----------
        p : float, default=-1
            Exponent: 1 gives the arithmetic mean, 0 the geometric, -1 the harmonic, infinity the maximum.
        """
        if np.isnan(p):
            raise ValueError("p must be a number, got NaN.")
        entries, cells = self._entries(), self._cells()
        order = np.argsort(cells, kind="stable")
        up_to = np.maximum.accumulate(entries[order])
        maximal = up_to[np.searchsorted(cells[order], cells, side="right") - 1]
        return float(_power_mean(maximal, p))

    def best_grid(self) -> BestGrid:
        """Return the grid of the largest entry; of equal entries, the grid with the fewest cells.

        Returns
        -------
        BestGrid
            Fields `x_edges`, `y_edges` and `counts`. The outer edges are the extremes of the data (MICe) or the bounds
            (MICr); inner edges lie halfway between neighbouring values or on the range equipartition. There may be
            fewer parts than in the entry, if ties or the master partition allow no more.
        """
        return self._best_grid

    def _entries(self):
        return self.matrix[~np.isnan(self.matrix)]

    def _cells(self):
        k, l = np.nonzero(~np.isnan(self.matrix))  # noqa: E741 (the papers' name)
        return k * l


def _power_mean(values, p):
    if p == np.inf:
        return values.max()
    if p == -np.inf or (p <= 0 and values.min() == 0):
        return values.min()
    if p == 0:
        return np.exp(np.log(values).mean())
    # Relative to the dominant value, so that no power overflows.
    scale = values.max() if p > 0 else values.min()
    return scale * ((values / scale) ** p).mean() ** (1 / p) if scale > 0 else 0.0


# --- The grids of the two statistics ---------------------------------------------------------------------------


class _MassGrids:
    """The grids of MICe of one pair."""

    def __init__(self, x, y, B, c):
        self._axes = ranked_column(x), ranked_column(y)
        self._plan = mass_plan(B, c)
        self.table = entropy_table(len(x))

    def entries(self):
        return all_entries(*self._axes, self._plan, self.table)

    def grid(self, free, n_fixed):
        """Numbers of records below every corner of the grid with axis `free` to be merged; fixed and master edges.

        The first has a row for every master edge and a column for every fixed edge.
        """
        plan = self._plan[self._plan[:, 0] == n_fixed]
        ((_, _, tables, grids),) = mass_tables(both_ways(*self._axes)[free : free + 1], plan)
        n_fixed, n_master = grids.rows[0, [N_FIXED, N_MASTER]].tolist()
        below = tables.below[: (n_master + 1) * (n_fixed + 1)].reshape(n_master + 1, n_fixed + 1).astype(np.int64)
        return below, _edges_between(self._axes[1 - free], below[-1]), _edges_between(self._axes[free], below[:, -1])


class _RangeGrids:
    """The grids of MICr of one pair."""

    def __init__(self, x, y, B, c, bounds, master):
        self._plan = continuous_plan(B, c, master)
        self._bounds = bounds
        self._partitions = equipartitions(self._plan[:, :2])
        self._axes = [self._located(values, pair) for values, pair in zip((x, y), bounds, strict=True)]
        self.table = entropy_table(len(x))

    def entries(self):
        return entries_of(self._counted(), self._plan, self.table)

    def _counted(self):
        for i, n_fixed in enumerate(self._plan[:, 0].tolist()):
            for free in (0, 1):
                tables = one_table(self.grid(free, n_fixed)[0], np.arange(n_fixed + 1).reshape(1, -1))
                yield free, i, tables, grids_of(self._plan[i : i + 1])

    def grid(self, free, n_fixed):
        """Numbers of records below every corner of the grid with axis `free` to be merged; fixed and master edges."""
        n_master = int(self._plan[self._plan[:, 0] == n_fixed, 1][0])
        free_part, fixed_part = self._parts(free, n_master), self._parts(1 - free, n_fixed)
        counts = np.bincount(free_part * n_fixed + fixed_part, minlength=n_master * n_fixed).reshape(n_master, n_fixed)
        below = np.pad(counts, ((1, 0), (1, 0))).cumsum(axis=0).cumsum(axis=1)
        return below, _range_edges(self._bounds[1 - free], n_fixed), _range_edges(self._bounds[free], n_master)

    def _located(self, values, bounds):
        """The cell of each record, the first cell of each part of each partition, and the number of cells."""
        edges, first_cell = refine(*bounds, self._partitions)
        cells, _ = locate_between(values, np.append(edges, np.nan), *bounds)
        return cells, first_cell, len(edges) + 1

    def _parts(self, axis, size):
        """The part of each record in the equipartition of an axis into `size` parts."""
        cells, first_cell, n_cells = self._axes[axis]
        starts = first_cell[np.searchsorted(self._partitions.sizes, size), 1:size]
        return np.searchsorted(starts, np.arange(n_cells), side="right")[cells]


def _range_edges(bounds, size):
    lo, hi = bounds
    return np.concatenate([lo + np.arange(size) * ((hi - lo) / size), [hi]])


def _edges_between(column, ends):
    """Edges with given numbers of records below: halfway between neighbouring values, and the extremes of the data."""
    first_group = np.searchsorted(column.ends, ends[1:-1].astype(np.uint64))
    below, above = column.values[first_group - 1], column.values[first_group]
    middle = below / 2 + above / 2
    middle = np.where((below < middle) & (middle < above), middle, above)  # rounding may hit or miss both
    return np.concatenate([column.values[:1], middle, column.values[-1:]])


# --- The best grid -------------------------------------------------------------------------------------------


def _best_grid(grids, entries):
    k, l = np.nonzero(entries == np.nanmax(entries))  # noqa: E741 (the papers' name)
    simplest = np.argmin(k * l)
    k, l = k[simplest], l[simplest]  # noqa: E741
    free_axes = (0, 1) if k == l else (int(k > l),)
    candidates = [_merged_grid(grids, free, min(k, l), max(k, l)) for free in free_axes]
    return max(candidates, key=lambda grid: _information(grid.counts, grids.table.g))


def _merged_grid(grids, free, k, n_fixed):
    """The best grid of `n_fixed` parts of the fixed axis and k merged parts of axis `free`."""
    below, fixed_edges, master_edges = grids.grid(free, n_fixed)
    ends = np.concatenate([[0], best_cuts(below, k, grids.table), [len(below) - 1]])
    counts = np.diff(np.diff(below[ends], axis=0), axis=1)
    if free == 0:
        return BestGrid(master_edges[ends], fixed_edges, counts)
    return BestGrid(fixed_edges, master_edges[ends], counts.T)


def best_cuts(below, k, table):
    """The cuts of the master partition by the best merge into k parts: OptimizeAxis again, for one grid.

    Parameters
    ----------
    below : int64 ndarray of shape (m + 1, n_fixed + 1)
        Number of records in the first master parts and the first fixed parts.
    k : int
    table : EntropyTable

    Returns
    -------
    cuts : int64 ndarray of shape (min(k, m) - 1,)
        Ascending; cut t lies between the master parts t - 1 and t.
    """
    m = len(below) - 1
    k = min(k, m)
    columns, totals = np.diff(below, axis=1), below[:, -1]
    best = np.full((k + 1, m + 1), -(2**61))  # [j, t]: the largest weight of the first t parts in j segments
    last_cut = np.zeros((k + 1, m + 1), dtype=np.int64)  # ... and where the last of j segments begins
    for t in range(1, m + 1):
        weight = table.g[columns[t] - columns[:t]].sum(axis=1) - table.g[totals[t] - totals[:t]]
        candidates = best[1:k, :t] + weight
        last_cut[2:, t] = candidates.argmax(axis=1)
        best[1, t] = weight[0]
        best[2:, t] = candidates.max(axis=1)
    cuts = np.empty(k - 1, dtype=np.int64)
    end = m
    for j in range(k, 1, -1):
        end = last_cut[j, end]
        cuts[j - 2] = end
    return cuts


def _information(counts, g):
    """n times the mutual information of a table, without a term that is the same for all tables of n records."""
    return g[counts].sum() - g[counts.sum(axis=0)].sum() - g[counts.sum(axis=1)].sum()


# --- The public function ---------------------------------------------------------------------------------------


def characteristic_matrix(
    x: ColumnLike,
    y: ColumnLike,
    *,
    statistic: str = "mic_e",
    B: float = 0.6,
    c: float | None = None,
    bounds: Range | None = None,
    master: Master = "reduced",
) -> CharacteristicMatrix:
    """Compute all entries of the characteristic matrix of two variables, and the best grid. Not private.

    Parameters
    ----------
    x, y : array-like of shape (n_samples,)
        Real numbers.
    statistic : {"mic_e", "mic_r"}, default="mic_e"
        Type of grids: the mass equipartitions of :func:`mic_e` or the range equipartitions of :func:`mic_r`.
    B : float, default=0.6
        Maximum grid size: a number of cells >= 4 (need not be an integer), or an exponent in (0, 1) for ``n_samples **
        B`` cells, but at least 4 and at most 10,000. A number is limited as in :func:`mic_r`.
    c : float, default=None
        How many times finer than the merged partition its master partition is; above 0, and for MICr limited as in
        :func:`mic_r`. None uses the default of the statistic, 15 for MICe and 5 for MICr.
    bounds : ((x_lo, x_hi), (y_lo, y_hi)), default=None
        Range of each variable, for MICr only.
    master : {"reduced", "full"}, default="reduced"
        Number of parts of the master partition of MICr; see :func:`mic_r`. MICe supports "reduced" only.

    Returns
    -------
    CharacteristicMatrix
        Has the array `matrix` and the methods `mic`, `tic`, `mas`, `mev`, `mcn`, `gmic` and `best_grid`. `mic()` equals
        the result of :func:`mic_e` or :func:`mic_r` for the same arguments.

    Raises
    ------
    ValueError
        If an argument is invalid.

    References
    ----------
    .. [1] Y. A. Reshef, D. N. Reshef, H. K. Finucane, P. C. Sabeti and M. Mitzenmacher, "Measuring Dependence
       Powerfully and Equitably", Journal of Machine Learning Research 17, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import characteristic_matrix
    >>> x = np.r_[-40:0, 1:41]
    >>> entries = characteristic_matrix(x, np.abs(x))
    >>> entries
    <CharacteristicMatrix of 12 entries, mic=1>
    >>> entries.best_grid().x_edges
    array([-40. , -20.5,   0. ,  20.5,  40. ])
    >>> entries.best_grid().counts  # one column per part of y
    array([[ 0, 20],
           [20,  0],
           [20,  0],
           [ 0, 20]])
    """
    x, y = check_pair(x, y)
    n = len(x)
    c = check_statistic(statistic, B, c, bounds, master)
    B = grid_size(B, n)
    if statistic == "mic_e":
        grids: Any = _MassGrids(x, y, B, min(c, n))  # a larger c adds nothing: at most one master part per record
    else:
        check_c(c, n, B, master=master)
        grids = _RangeGrids(x, y, B, c, check_pair_bounds(bounds), master)
    entries = grids.entries()
    return CharacteristicMatrix(entries, _best_grid(grids, entries))


def check_statistic(statistic, B, c, bounds, master, correction=None):
    """Check the arguments of a statistic; returns c, with None replaced by the default of the statistic."""
    defaults = {"mic_e": 15, "mic_r": 5}
    if statistic not in defaults:
        raise ValueError(f"statistic must be 'mic_e' or 'mic_r', got {quoted(statistic)}.")
    c = defaults[statistic] if c is None else c
    check_B(B)
    check_c(c)
    if master not in ("reduced", "full"):
        raise ValueError(f"master must be 'reduced' or 'full', got {quoted(master)}.")
    check_correction(correction)
    if statistic == "mic_e" and master != "reduced":
        raise ValueError(f"master must be 'reduced' for mic_e, got {quoted(master)}.")
    if statistic == "mic_e" and correction is not None:
        raise ValueError(f"correction must be None for mic_e, got {quoted(correction)}.")
    if statistic == "mic_e" and bounds is not None:
        raise ValueError("bounds must be None for mic_e, which does not depend on them.")
    if statistic == "mic_r" and bounds is None:
        raise ValueError("bounds must be given for mic_r, which never reads them from the data, got None.")
    return c
