"""MICe: the Maximal Information Coefficient over grids with a mass equipartition on one axis."""

import numpy as np

from skdpmic._utils.typing import ColumnLike
from skdpmic.statistics.grids import check_c, grid_size
from skdpmic.statistics.mic.mass_partitions import both_ways, mass_tables, most_parts, ranked_column
from skdpmic.statistics.mic.optimize_axis import entries, entropy_table, largest_entry
from skdpmic.table.values import check_pair


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
    characteristic_matrix : Returns all entries, the statistics computed from them, and the best grid.
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
    return float(mic_e_of_columns(ranked_column(x), ranked_column(y), plan, entropy_table(n)))


def mass_plan(B, c):
    """The grids of MICe in one orientation, one row per size of the fixed axis, cheapest first.

    Returns
    -------
    plan : int64 ndarray of shape (n_grids, 3)
        Columns: parts of the fixed axis, most parts of the master partition, largest number of merged parts.
    """
    sizes = [(n_fixed, int(B // n_fixed)) for n_fixed in range(int(B // 2), 1, -1)]
    return np.array([(size, max(int(c * k), 2), min(size, k)) for size, k in sizes], dtype=np.int64)


def mic_e_of_columns(x, y, plan, table):
    """MICe of two ranked columns: the largest entry of either orientation."""
    return largest_of_ways(both_ways(x, y), plan, table)


def largest_of_ways(ways, plan, table):
    """Largest I / log2 min(k, l) over the grids of `plan`, each way."""
    n = len(ways[0].fixed_groups)
    counted = ((tables, grids.rows) for _, _, tables, grids in mass_tables(ways, plan))
    return min(largest_entry(counted, most_parts(plan, n), table, n), 1.0)


def all_entries(x, y, plan, table):
    """The equicharacteristic matrix of two ranked columns."""
    return entries_of(mass_tables(both_ways(x, y), plan), plan, table)


def entries_of(counted, plan, table):
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
