"""Tables of reported parts and parts of the target: counted, published with noise, debiased, scored.

MTVr and MICr are largest values of a table, which noise raises; what independent columns with the same margins would
show is found by simulation, and taken off.
"""

import math

import numpy as np

from skdpmic._utils.shares import nearest_shares
from skdpmic.privacy.noise import discrete_laplace
from skdpmic.privacy.parameters import exact
from skdpmic.statistics.grids.divisions import cuts, distinct, each_alone, parities
from skdpmic.statistics.grids.partitions import equal_parts
from skdpmic.statistics.mic.weighted_tables import mic_of_class_table, mic_of_table

_EIGHTHS = 8  # of the range of a numeric target, where more parts would let chance and noise find more
_FINER = {1500: 16, 10_000: 24}  # parts for distance correlation, from this many records on, times epsilon
_B = 16.0  # largest grid of MICr
_DRAWS = 30  # of independent columns

# --- Counts, and their noise ------------------------------------------------------------------------------------------


def n_target_parts(statistic, budget):
    """How many equal parts of the range of a target are counted.

    Parameters
    ----------
    statistic : str
    budget : float
        Records that report a column, times the epsilon that is spent on its table; infinite without noise.
    """
    if statistic != "distance_correlation":
        return _EIGHTHS
    return max([_EIGHTHS, *(n_parts for least, n_parts in _FINER.items() if budget >= least)])


def target_parts(target, n_parts):
    """The part, or class, of each value of a target, and how many of these there are."""
    if target.n_classes is not None:
        return target.values, target.n_classes
    return equal_parts(target.values, target.bounds, n_parts).astype(np.int64), n_parts


def count(parts, of_target, shape):
    """How many records are in each part of the reports and of the target; those that report nothing are in none."""
    reported = parts >= 0
    cells = parts[reported].astype(np.int64) * shape[1] + of_target[reported]
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)


def noise_scale(epsilon, columns_per_record):
    """Scale of the noise on each count: one record's target moves two counts by one, in each column that it reports.

    Returns
    -------
    Fraction, or 0 for infinite epsilon
    """
    return 0 if epsilon == math.inf else 2 * columns_per_record / exact(epsilon)


def with_noise(counts, scale, random_bytes):
    """Counts with independent discrete Laplace noise: an int64 array."""
    if scale == 0:
        return counts
    return counts + discrete_laplace(scale, counts.size, random_bytes).reshape(counts.shape).astype(np.int64)


def noise_variance(scale):
    """Variance of discrete Laplace noise of this scale."""
    return 0.0 if scale == 0 else 0.5 / math.sinh(0.5 / float(scale)) ** 2


# --- Scores -----------------------------------------------------------------------------------------------------------


def table_score(statistic, counts, inverse, is_discrete, scale):
    """MTVr or MICr from counts of reports, less what chance and noise make of independent columns.

    Parameters
    ----------
    statistic : {"mtv_r", "mic_r"}
    counts : ndarray of shape (n_parts, n_target_parts)
        With noise, if it is to be published.
    inverse : ndarray of shape (n_parts, n_parts)
        Of the response matrix.
    is_discrete : bool
        Whether the target is of classes.
    scale : number
        Of the noise on the counts.

    Returns
    -------
    float
        At most 1, and negative where chance alone shows more. A function of the counts: the simulation always draws the
        same random numbers.
    """
    n = counts.sum()
    if n < 1:
        return 0.0
    largest = _largest_variation if statistic == "mtv_r" else _largest_information
    by_chance = np.mean([largest(table, inverse, is_discrete) for table in _of_independent_columns(counts, scale)])
    return float((largest(counts, inverse, is_discrete) - by_chance) / max(1 - by_chance, 1e-9))


def _of_independent_columns(counts, scale):
    """Tables of as many records, with the same margins and the same noise."""
    random = np.random.RandomState(0)
    n = int(counts.sum())
    margins = [nearest_shares(counts.sum(axis=axis) / n) for axis in (1, 0)]
    for _ in range(_DRAWS):
        table = random.multinomial(n, np.outer(*margins).ravel()).reshape(counts.shape)
        yield table + random.laplace(0, float(scale), counts.shape) if scale else table


def _largest_variation(counts, inverse, is_discrete):
    """Twice the largest total variation from independence, of all parts against the target divided in two."""
    table = inverse @ (counts / counts.sum())
    steps = table - np.outer(table.sum(axis=1), table.sum(axis=0))
    n = counts.shape[1]
    alone = each_alone(n) if is_discrete else []
    divisions = np.array(distinct([*alone, *cuts(n), *parities(n)]))
    return min(2 * np.abs(steps @ divisions.T).sum(axis=0).max(), 1.0)


def _largest_information(counts, inverse, is_discrete):
    """The largest entry of the characteristic matrix of the debiased table, without its negative counts."""
    table = nearest_shares(inverse @ (counts / counts.sum()))
    return mic_of_class_table(table, _B) if is_discrete else mic_of_table(table, _B)
