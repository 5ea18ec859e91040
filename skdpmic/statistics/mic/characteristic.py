"""MICe, and the characteristic matrix of a pair: all its entries, and the statistics computed from them."""

from typing import NamedTuple

import numpy as np

from skdpmic._utils.jit import jit, leaf
from skdpmic._utils.texts import require
from skdpmic._utils.typing import ColumnLike, Master, Range
from skdpmic.statistics.grids import check_B, check_c, grid_size
from skdpmic.statistics.mic.cell_counts import RangePlacer, count
from skdpmic.statistics.mic.mic_r import all_grids, check_correction, continuous_plan
from skdpmic.statistics.mic.optimize_axis import (
    N_FIXED,
    N_MASTER,
    TABLE,
    Grids,
    Tables,
    entries,
    entropy_table,
    grids_of,
    largest_entry,
)
from skdpmic.table.domains import check_pair_bounds
from skdpmic.table.values import check_pair


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

    def __init__(self, matrix):
        self.matrix = matrix

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
        require(0 <= eps <= 1, "eps must be in [0, 1]", eps)
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
    """Compute all entries of the characteristic matrix of two variables. Not private.

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
        Has the array `matrix` and the methods `mic`, `tic`, `mas`, `mev`, `mcn` and `gmic`. `mic()` equals the result
        of :func:`mic_e` or :func:`mic_r` for the same arguments.

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
    """
    x, y = check_pair(x, y)
    n = len(x)
    c = check_statistic(statistic, B, c, bounds, master)
    B = grid_size(B, n)
    if statistic == "mic_e":
        plan = mass_plan(B, min(c, n))  # a larger c adds nothing: at most one master part per record
        counted = mass_tables(both_ways(ranked_column(x), ranked_column(y)), plan)
    else:
        check_c(c, n, B, master=master)
        grids = RangePlacer(*all_grids(continuous_plan(B, c, master)))
        plan, of_x, of_y = grids.plan, *map(grids.place, (x, y), check_pair_bounds(bounds))
        counted = _range_tables(of_x, of_y, grids.groups)
    return CharacteristicMatrix(_entries_of(counted, plan, entropy_table(n)))


def check_statistic(statistic, B, c, bounds, master, correction=None):
    """Check the arguments of a statistic; returns c, with None replaced by the default of the statistic."""
    defaults = {"mic_e": 15, "mic_r": 5}
    require(statistic in defaults, "statistic must be 'mic_e' or 'mic_r'", statistic)
    c = defaults[statistic] if c is None else c
    check_B(B)
    check_c(c)
    require(master in ("reduced", "full"), "master must be 'reduced' or 'full'", master)
    check_correction(correction)
    require(statistic == "mic_r" or master == "reduced", "master must be 'reduced' for mic_e", master)
    require(statistic == "mic_r" or correction is None, "correction must be None for mic_e", correction)
    if statistic == "mic_e" and bounds is not None:
        raise ValueError("bounds must be None for mic_e, which does not depend on them.")
    if statistic == "mic_r" and bounds is None:
        raise ValueError("bounds must be given for mic_r, which never reads them from the data, got None.")
    return c


class RankedColumn(NamedTuple):
    """A column of values, sorted once. Raw data; not private."""

    order: np.ndarray  # (n_samples,) uint32, the records in ascending order of value
    group: np.ndarray  # (n_samples,) uint32, the group of each record
    ends: np.ndarray  # (n_groups + 1,) uint64, number of records in the previous groups


class Way(NamedTuple):
    """Two ranked axes, one to be merged and one fixed. Raw data; not private."""

    free_ends: np.ndarray  # uint64 (n_free_groups + 1,)
    fixed_ends: np.ndarray  # uint64 (n_fixed_groups + 1,)
    fixed_groups: np.ndarray  # uint32 (n_samples,), on the fixed axis, with records in ascending order on the free axis
    in_clumps: bool  # whether groups of the free axis with all records in one fixed part are never separated


def ranked_column(values):
    """The groups of a 1-D array of finite numbers."""
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    is_first = np.concatenate([[True], ascending[1:] > ascending[:-1]])
    group = np.empty(len(values), dtype=np.uint32)
    group[order] = np.cumsum(is_first) - 1
    ends = np.append(np.flatnonzero(is_first), len(values)).astype(np.uint64)
    return RankedColumn(order.astype(np.uint32), group, ends)


def both_ways(x, y):
    """The two orientations of a pair of ranked columns."""
    return Way(x.ends, y.ends, y.group[x.order], True), Way(y.ends, x.ends, x.group[y.order], True)


# --- Tables of counts -----------------------------------------------------------------------------------------


_CELLS_AT_ONCE = 2**18


def mass_tables(ways, plan):
    """The grids of MICe and their tables, some grids at a time, in each orientation.

    Parameters
    ----------
    ways : sequence of Way
    plan : int64 ndarray of shape (n_grids, 3)
        Requested parts of the fixed axis and of the master partition, largest number of merged parts.

    Yields
    ------
    (int, int, Tables, Grids)
        Number of the orientation, and of the first grid. Parts are those allowed by ties.
    """
    n = len(ways[0].fixed_groups)
    grids = grids_of(plan)
    most = most_parts(plan, n)
    n_cells = (np.minimum(plan[:, :2], n) + 1).prod(axis=1).cumsum()
    every = np.arange(max(most[:2]) + 1, dtype=np.uint32).reshape(1, -1)
    room = np.empty(every.size, dtype=np.uint64), *np.empty((2, n), dtype=np.uint32), np.empty(n + 1, dtype=np.uint64)
    first = 0
    while first < len(plan):
        before = n_cells[first - 1] if first > 0 else 0
        end = max(first + 1, int(np.searchsorted(n_cells, before + _CELLS_AT_ONCE, side="right")))
        for number, way in enumerate(ways):
            rows = grids.rows[first:end].copy()
            rows[:, TABLE] = np.arange(len(rows))
            below = np.empty(n_cells[end - 1] - before, dtype=np.uint32)
            places = np.empty((len(rows), 2), dtype=np.uint64)
            _count_mass_grids(*way, rows, below, places, *room)
            yield number, first, Tables(below, places, every, every), Grids(rows, most)
        first = end


def most_parts(plan, n):
    """`Grids.most` for n records."""
    n_fixed, n_master, k_max = plan.max(axis=0).tolist()
    return min(n_fixed, n), min(n_master, n), k_max, len(plan)


@leaf
def _equipartition(starts, ends, n_groups, size):
    """The equipartition of groups into `size` parts; fills in the start of each, and finally the number of groups.

    Parts are filled one after the other. A group goes into the current part unless that part is nonempty and would come
    no closer to the desired size, the number of records left over the number of parts left (EquipartitionYAxis
    of Reshef et al. 2011, Supporting Online Material, Algorithm 3, with real-valued sizes). Large groups may leave
    fewer than `size` parts.

    Parameters
    ----------
    starts : uint64 ndarray of shape (at least n_parts + 1,)
    ends : uint64 ndarray of shape (at least n_groups + 1,)
        Number of records in the first groups; none is empty.
    n_groups, size : int

    Returns
    -------
    n_parts : int
    """
    one = np.uint64(1)
    starts[0] = 0
    n_parts = np.uint64(0)
    while starts[n_parts] < n_groups:
        start = starts[n_parts]
        desired = (ends[n_groups] - ends[start]) / (size - n_parts)
        # Groups that do not exceed the desired size always come closer to it, so only the first one that does is
        # compared.
        end, beyond = start, n_groups + one
        while end + one < beyond:
            middle = (end + beyond) >> one
            if ends[middle] <= ends[start] + desired:
                end = middle
            else:
                beyond = middle
        if end == start:
            end += one
        elif end < n_groups:
            too_many = ends[end + one] - ends[start] - desired
            too_few = desired - (ends[end] - ends[start])
            if too_many < too_few:
                end += one
        n_parts += one
        starts[n_parts] = end
    return n_parts


@jit
def _count_mass_grids(
    free_ends, fixed_ends, fixed_groups, in_clumps, grids, below, places, starts, part_of_group, part, ends
):
    """Fill in ``Tables.below`` and ``Tables.places``, and in `grids` the actual numbers of parts.

    Parameters
    ----------
    free_ends, fixed_ends, fixed_groups, in_clumps
        Those of a `Way`.
    grids : uint64 ndarray
        ``Grids.rows``, with the requested numbers of parts.
    below : uint32 ndarray
    places : uint64 ndarray of shape (n_grids, 2)
    starts, part_of_group, part, ends
        Workspaces: for a partition, the part (from 1 on) of each fixed group and of each record, and the ends of
        clumps.
    """
    one, start = np.uint64(1), np.uint64(0)
    n_free_groups, n_fixed_groups = np.uint64(len(free_ends) - 1), np.uint64(len(fixed_ends) - 1)
    for grid in range(np.uint64(len(grids))):
        # The fixed axis.
        n_fixed = _equipartition(starts, fixed_ends, n_fixed_groups, grids[grid, N_FIXED])
        for j in range(n_fixed):
            for group in range(starts[j], starts[j + one]):
                part_of_group[group] = j + one
        for i in range(np.uint64(len(part))):
            part[i] = part_of_group[fixed_groups[i]]

        # The clumps: runs of groups whose records all lie in one part of the fixed axis. No best cut lies inside of
        # one. A group with records in several parts is a clump of its own (GetClumpsPartition of Reshef et al. 2011,
        # Supporting Online Material).
        n_parts, part_before = np.uint64(0), np.uint32(0)
        ends[0] = 0
        for group in range(n_free_groups):
            first = free_ends[group]
            its_part = part[first]
            for i in range(first + one, free_ends[group + one]):
                if part[i] != its_part:
                    its_part = np.uint32(0)  # several
                    break
            if its_part != part_before or its_part == 0 or not in_clumps:
                n_parts += one
            ends[n_parts] = free_ends[group + one]
            part_before = its_part

        # The master partition: clumps or, if there are too many, an equipartition of them.
        if n_parts > grids[grid, N_MASTER]:
            n_parts = _equipartition(starts, ends, n_parts, grids[grid, N_MASTER])
            for t in range(n_parts + one):
                ends[t] = ends[starts[t]]

        # The records.
        height = n_fixed + one
        places[grid, 0], places[grid, 1] = start, height
        for u in range(height):
            below[start + u] = 0
        for t in range(n_parts):
            start += height
            for u in range(height):
                below[start + u] = 0
            for i in range(ends[t], ends[t + one]):
                below[start + part[i]] += np.uint32(1)
            in_part = np.uint32(0)
            for u in range(one, height):
                in_part += below[start + u]
                below[start + u] = below[start - height + u] + in_part
        start += height
        grids[grid, N_FIXED], grids[grid, N_MASTER] = n_fixed, n_parts


def mic_e(x: ColumnLike, y: ColumnLike, *, B: float = 0.6, c: float = 15) -> float:
    """Compute MICe, the estimator of the Maximal Information Coefficient by Reshef et al. Not private.

    One axis is cut into l parts of equal mass, the other into a master partition whose neighbouring parts are merged
    into the k <= l parts with the largest mutual information I with the first. The score is the largest
    ``I / log2 min(k, l)``, I in bits, over both orientations and all k, l with k * l <= B.

    Parameters
    ----------
    x, y : array-like of shape (n_samples,)
        Real numbers, of which only the order matters. Equal values are never separated.
    B : float, default=0.6
        Maximum grid size: a number of cells >= 4 (need not be an integer), or an exponent in (0, 1) for ``n_samples **
        B`` cells, but at least 4 and at most 10,000. A number is limited as in :func:`mic_r`.
    c : float, default=15
        How many times finer than the merged partition its master partition is; above 0. The master partition has ``c *
        floor(B / l)`` parts, rounded down, and never below 2.

    Returns
    -------
    float
        Score in [0, 1]: near 0 for independent variables, 1 for a noiseless relationship that the grids resolve.
        ``mic_e(x, y) == mic_e(y, x)``.

    Raises
    ------
    ValueError
        If an argument is invalid.

    See Also
    --------
    mic_r : The same over grids that depend on public bounds only.
    characteristic_matrix : Returns all entries, and the statistics computed from them.
    mic_pairs, mic_cross : Score many pairs of columns.

    Notes
    -----
    This is the variant with reduced master partitions ([1]_, Appendix H; [3]_, Appendix E.1), with the same values as
    the library minepy 1.2.6 with ``est="mic_e"``. Details that the papers leave open follow minepy:

    - Equipartitions are filled greedily by groups of tied values ([2]_, EquipartitionYAxis), and may have fewer than l
      parts; min(k, l) then uses the actual number of parts.
    - The master partition is an equipartition, by number of records, of the *clumps*: runs of neighbouring records in
      one part of the fixed axis, and groups of tied values in several. If there are few enough clumps, it consists of
      the clumps themselves.

    A grid is skipped only if an upper bound shows that it cannot hold the largest entry, so the value is exact.

    References
    ----------
    .. [1] Y. A. Reshef, D. N. Reshef, H. K. Finucane, P. C. Sabeti and M. Mitzenmacher, "Measuring Dependence
       Powerfully and Equitably", Journal of Machine Learning Research 17, 2016.
    .. [2] D. N. Reshef et al., "Detecting Novel Associations in Large Data Sets", Science 334, 2011; Supporting
       Online Material, Section 3.
    .. [3] J. Lazarsfeld, A. Johnson and E. Adeniran, "Differentially Private Maximal Information
       Coefficients", ICML 2022; Definition 2.3 and Appendix E.1.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import mic_e
    >>> x = np.linspace(0, 1, 500)
    >>> mic_e(x, x**2)
    1.0
    """
    x, y = check_pair(x, y)
    n = len(x)
    B = grid_size(B, n)
    check_c(c)
    plan = mass_plan(B, min(c, n))  # a larger c adds nothing: at most one master part per record
    return float(largest_of_ways(both_ways(ranked_column(x), ranked_column(y)), plan, entropy_table(n)))


def mass_plan(B, c):
    """The grids of MICe in one orientation, one row per size of the fixed axis, cheapest first.

    Returns
    -------
    plan : int64 ndarray of shape (n_grids, 3)
        Columns: parts of the fixed axis, most parts of the master partition, largest number of merged parts.
    """
    sizes = [(n_fixed, int(B // n_fixed)) for n_fixed in range(int(B // 2), 1, -1)]
    return np.array([(size, max(int(c * k), 2), min(size, k)) for size, k in sizes], dtype=np.int64)


def largest_of_ways(ways, plan, table):
    """Largest I / log2 min(k, l) over the grids of `plan`, each way."""
    n = len(ways[0].fixed_groups)
    counted = ((tables, grids.rows) for _, _, tables, grids in mass_tables(ways, plan))
    return min(largest_entry(counted, most_parts(plan, n), table, n), 1.0)


def _range_tables(x, y, groups):
    """The grids of MICr and their tables, as of `mass_tables`: one group at a time."""
    for way, columns in enumerate([(x, y), (y, x)]):
        for number in range(len(groups.numbers)):
            of_group = groups.of_grid == number
            tables = count(*columns, groups.numbers[number : number + 1])
            yield way, int(of_group.argmax()), tables, Grids(groups.complete.rows[of_group], groups.complete.most)


def _entries_of(counted, plan, table):
    """The characteristic matrix from the counts of `mass_tables`, on the grids of a plan.

    Entry [k, l] is for k parts of x and l parts of y, NaN if there is no grid; for k = l, it is the better of the two
    grids.
    """
    size = plan[:, 0].max() + 1
    matrices = np.full((2, size, size), np.nan)  # for either axis merged
    for way, first, tables, grids in counted:
        of_grids = entries(tables, grids, table, len(table.g) - 1)
        for of_k, (n_fixed, _, k_max) in zip(of_grids, plan[first:], strict=False):
            matrices[way, 2 : k_max + 1, n_fixed] = of_k[2 : k_max + 1]
    return np.fmax(matrices[0], matrices[1].T)
