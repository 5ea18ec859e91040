"""Kendall's tau and Spearman's rho within strata, averaged over them; each with its sign, in [-1, 1].

Sums are exact integers, and the sum over strata an exact fraction. Only the last division is rounded: down, to a
multiple of 2**-52. So half of the score, above -1, that is then rounded down to a grid of 2**-53 or coarser is the
*exact* one rounded down to it (``docs/theory/conditional_ranks.md``).
"""

import math
from collections import defaultdict

import numpy as np

from skdpmic.statistics.ranks.kernels import concordance, mid_ranks, quotient, rank_covariance


def conditional_kendall(x, y, strata):
    """Kendall's tau-a within strata, the mean of all ``(n_z - 1) tau_z / n_z`` over records: (2 / n) sum S_z / n_z.

    S_z are the concordant less the discordant pairs among the n_z records of a stratum; a pair tied in x or y counts 0.

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
    sums = defaultdict(int)
    for x_ranks, y_ranks in _ranks_within(x, y, strata):
        sums[len(x_ranks)] += 2 * concordance(x_ranks, y_ranks)
    return _mean(sums, len(x))


def conditional_spearman(x, y, strata):
    """Spearman's rho-a within strata, of mid-ranks within the stratum, averaged over records: (1 / n) sum n_z rho_z.

    The rho of a single record is 0.

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
    sums = defaultdict(int)
    for x_ranks, y_ranks in _ranks_within(x, y, strata):
        sums[len(x_ranks) ** 2 - 1] += 3 * rank_covariance(x_ranks, y_ranks)
    return _mean(sums, len(x))


def _ranks_within(x, y, strata):
    """The mid-ranks of x and of y within each stratum of at least two records."""
    order = np.argsort(strata, kind="stable")
    starts = np.flatnonzero(np.diff(strata[order])) + 1
    for records in np.split(order, starts):
        if len(records) > 1:
            yield mid_ranks(x[records]), mid_ranks(y[records])


def _mean(sums, n):
    """The sum of all quotients ``sums[divisor] / divisor``, over n."""
    common = math.lcm(*sums)
    numerator = sum(total * (common // divisor) for divisor, total in sums.items())
    return 2 * quotient(numerator + n * common, 2 * n * common) - 1
