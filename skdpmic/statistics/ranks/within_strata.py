"""Kendall's tau of a pair within public strata, with its sign, averaged over strata: in [-1, 1].

Sums are exact integers, and the sum over strata an exact fraction. Only the last division is rounded: down, to a
multiple of 2**-52. So rounding (score + 1) / 2 down to a grid of 2**-53 or coarser gives the *exact* one
rounded down to that grid (``docs/theory/conditional_ranks.md``). Noise is added to (score + 1) / 2, which
is in [0, 1] like other scores.
"""

import math
from collections import defaultdict

import numpy as np

from skdpmic.privacy.mechanisms import grid_sensitivity
from skdpmic.statistics.measure import Scorer, Statistic
from skdpmic.statistics.ranks.kernels import check_n_records, concordance, mid_ranks, quotient
from skdpmic.statistics.sensitivity import conditional_kendall_sensitivity


def conditional_kendall(x, y, strata):
    """Kendall's tau-a within strata, the mean of all ``(n_z - 1) tau_z / n_z`` over records: (2 / n) sum S_z / n_z.

    S_z are the concordant minus the discordant pairs among the n_z records of a stratum; a pair tied in x or y counts
    0.

    Parameters
    ----------
    x, y : ndarrays of shape (n_samples,)
        Finite; at least one record, at most ``MAX_RECORDS``.
    strata : int ndarray of shape (n_samples,)
        The stratum of each record.

    Returns
    -------
    float
        In [-1, 1], rounded down to a multiple of 2**-52.
    """
    sums, n = defaultdict(int), len(x)
    for ranks in _ranks_within(x, y, strata):
        sums[len(ranks[0])] += 2 * concordance(*ranks)
    common = math.lcm(*sums)
    numerator = sum(total * (common // n_z) for n_z, total in sums.items())
    return 2 * quotient(numerator + n * common, 2 * n * common) - 1


def _ranks_within(x, y, strata):
    """The mid-ranks of x and of y within each stratum of at least two records."""
    order = np.argsort(strata, kind="stable")
    starts = np.flatnonzero(np.diff(strata[order])) + 1
    for records in np.split(order, starts):
        if len(records) > 1:
            yield mid_ranks(x[records]), mid_ranks(y[records])


class KendallWithinStrata(Statistic):
    """Kendall's tau-a, averaged over strata; it is its own measure, as there are no grids to be fixed."""

    needs_ranges = False

    def measure(self, B, c, n, epsilon, n_classes):
        """The statistic itself, as all parameters are ignored."""
        return self

    def steps(self, shape):
        """Sensitivity of half of the score to one record, in grid steps; an error if there are too many records."""
        check_n_records(shape.n_samples)
        return grid_sensitivity(conditional_kendall_sensitivity(shape.n_samples) / 2, rounding_error=0)

    def scorer(self, target, random_bytes):
        """Scores a variable against a `StratifiedTarget`: (score + 1) / 2, without rounding, in [0, 1]."""
        return Scorer(lambda x, domain: (conditional_kendall(x, target.values, target.strata) + 1) / 2)
