"""MICe over grids whose cuts lie at fixed ranks: the variant with a sensitivity that can be bounded.

:func:`skdpmic.mic_e` never cuts between tied values, nor inside of a clump, so the data says at which ranks it cuts,
and one record can move a cut across a third of all others. Here every cut lies at a rank that depends on the number of
records alone. Nothing is left of the data but the rank in y of each record, the records in ascending order of x.
"""

import numpy as np

from skdpmic.statistics.mic.mass_partitions import Way
from skdpmic.statistics.mic.mic_e import largest_of_ways


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


def mic_e_of_ranks(y_ranks, plan, table):
    """MICe of records whose ranks in y are given in ascending order of x, in [0, 1].

    Both the fixed and the master partitions are equipartitions by rank. Where there are fewer records than parts, every
    record is a part.

    Parameters
    ----------
    y_ranks : int64 ndarray of shape (n_samples,)
        From `ranks_in_y`.
    plan : ndarray
        From `skdpmic.statistics.mic.mic_e.mass_plan`.
    table : EntropyTable
    """
    x_ranks = np.empty(len(y_ranks), dtype=np.uint32)
    x_ranks[y_ranks] = np.arange(len(y_ranks))
    ends = np.arange(len(y_ranks) + 1, dtype=np.uint64)
    ways = Way(ends, ends, y_ranks.astype(np.uint32), False), Way(ends, ends, x_ranks, False)
    return largest_of_ways(ways, plan, table)
