"""MICe over grids with cuts at fixed ranks: the variant with a bounded sensitivity.

:func:`skdpmic.mic_e` never cuts between tied values, or inside a clump, so its cuts depend on the data, and one record
can move a cut across a third of all others. Here every cut is at a rank that depends only on the number of records. The
data enters only through the rank in y of each record, with records in ascending order of x.
"""

from dataclasses import dataclass

import numpy as np

from skdpmic._utils.arguments import is_auto
from skdpmic.privacy.mechanisms import grid_sensitivity
from skdpmic.privacy.noise import random_keys
from skdpmic.statistics.grids import check_c, grid_size
from skdpmic.statistics.measure import Scorer, Statistic
from skdpmic.statistics.mic.mass_partitions import Way
from skdpmic.statistics.mic.mic_e import largest_of_ways, mass_plan
from skdpmic.statistics.mic.optimize_axis import entropy_table, rounding_error
from skdpmic.statistics.sensitivity import mic_e_sensitivity


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
class RankGrids:
    """MICe over the grids allowed by B and c, with equal values in random order."""

    B: float
    c: float

    def steps(self, shape):
        """Sensitivity of the score to one record, in steps of the noise grid."""
        n = shape.n_samples
        entropy_table(n)  # cached for the score; an error if n is too large
        return grid_sensitivity(mic_e_sensitivity(n, self.B), rounding_error(n, mass_plan(self.B, self.c)))

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
        From `skdpmic.statistics.mic.mic_e.mass_plan`.
    table : EntropyTable
    """
    x_ranks = np.empty(len(y_ranks), dtype=np.uint32)
    x_ranks[y_ranks] = np.arange(len(y_ranks))
    ends = np.arange(len(y_ranks) + 1, dtype=np.uint64)
    ways = Way(ends, ends, y_ranks.astype(np.uint32), False), Way(ends, ends, x_ranks, False)
    return largest_of_ways(ways, plan, table)
