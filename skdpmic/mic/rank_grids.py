"""MICe over grids whose cuts lie at fixed ranks: the variant with a sensitivity that can be bounded.

:func:`skdpmic.mic_e` never cuts between tied values, nor inside of a clump, so the data says at which ranks it cuts,
and one record can move a cut across a third of all others. Here every cut lies at a rank that depends on the number of
records alone. Nothing is left of the data but the rank in y of each record, the records in ascending order of x.
"""

import numpy as np

from skdpmic.mic.blockwise import largest_entry_above
from skdpmic.mic.jit import jit
from skdpmic.mic.mass_partitions import Grid, cumulative_counts, equipartition, parts_of_records


def ranks_in_y(x, y, x_ties, y_ties):
    """The rank in y, from 0, of each record, the records in ascending order of x.

    Parameters
    ----------
    x, y : ndarrays of shape (n_samples,)
    x_ties, y_ties : ndarrays of shape (n_samples,)
        What decides between equal values; then the place of the record does.

    Returns
    -------
    y_ranks : int64 ndarray of shape (n_samples,)
        A permutation of 0 ... n_samples - 1.
    """
    rank = np.empty(len(y), dtype=np.int64)
    rank[np.lexsort((y_ties, y))] = np.arange(len(y))
    return rank[np.lexsort((x_ties, x))]


@jit
def mic_e_of_ranks(y_ranks, plan, table):
    """MICe of records whose ranks in y are given in ascending order of x, in [0, 1].

    Both the fixed and the master partitions are equipartitions by rank.

    Parameters
    ----------
    y_ranks : int64 ndarray of shape (n_samples,)
        From `ranks_in_y`.
    plan : ndarray
        From `skdpmic.mic.mic_e.mass_plan`.
    table : EntropyTable
    """
    x_ranks = np.argsort(y_ranks)
    largest = 0.0
    for n_fixed, n_master, k_max in plan:
        for ranks in (y_ranks, x_ranks):
            grid = rank_grid(ranks, n_fixed, n_master)
            n_parts = len(grid.below) - 1
            borders = np.arange(n_parts + 1)
            largest = max(largest, largest_entry_above(largest, grid.below, borders, n_parts, k_max, table))
    return largest


@jit
def rank_grid(fixed_ranks, n_fixed, n_master):
    """The grid with `n_fixed` parts on one axis and a master partition of `n_master` parts on the other.

    Where there are fewer records than parts, every record is a part.

    Parameters
    ----------
    fixed_ranks : int64 ndarray of shape (n_samples,)
        Rank on the fixed axis of each record, the records in ascending order on the free axis.
    n_fixed, n_master : int

    Returns
    -------
    Grid
    """
    ranks = np.arange(len(fixed_ranks) + 1)
    fixed_ends, master_ends = equipartition(ranks, n_fixed), equipartition(ranks, n_master)
    part = parts_of_records(fixed_ends, fixed_ranks)
    return Grid(cumulative_counts(part, master_ends, len(fixed_ends) - 1))
