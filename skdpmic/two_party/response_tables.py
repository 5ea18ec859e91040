"""Tables of reported parts and parts of the target: counted, published with noise, debiased, scored; and that noise.

MTVr and MICr are maxima over a table, which noise raises; the scores of independent columns with the same margins are
simulated and subtracted.

If the shares of the target are public, MTVr against these is published itself (``docs/theory/two_parties.md``,
section 4). From debiased counts of reported parts and groups of the target, it is the sum of ``|n_ij - t_j n_i|``,
divided by ``2 n max_j (1 - t_j)``.
"""

import math
from fractions import Fraction

import numpy as np

from skdpmic._utils.arguments import nearest_shares
from skdpmic.privacy.noise import bernoulli_exp, discrete_laplace, laplace_deviation, uniform_below
from skdpmic.privacy.parameters import exact
from skdpmic.statistics.grids import cuts, distinct, each_alone, equal_parts, parities
from skdpmic.statistics.mic.noisy_tables import mic_of_class_table, mic_of_table

_EIGHTHS = 8  # parts of the range of a numeric target; more parts would let chance and noise score higher
_FINER = {1500: 16, 10_000: 24}  # parts for distance correlation, by the smallest number of records times epsilon
_B = 16.0  # largest grid of MICr
_DRAWS = 30  # of independent columns
_FARTHEST = 2**40  # noisy count: far more than the records that reports can have

# --- Counts, and their noise ------------------------------------------------------------------------------------------


def n_target_parts(statistic, budget):
    """The number of equal parts of the range of a target.

    Parameters
    ----------
    statistic : str
    budget : float
        Number of records that report a column, times the epsilon of its table; infinite without noise.
    """
    if statistic != "distance_correlation":
        return _EIGHTHS
    return max([_EIGHTHS, *(n_parts for least, n_parts in _FINER.items() if budget >= least)])


def target_parts(target, n_parts):
    """The part or class of each value of a target, and the number of parts or classes."""
    if target.n_classes is not None:
        return target.values, target.n_classes
    return equal_parts(target.values, target.bounds, n_parts).astype(np.int64), n_parts


def count_reports(parts, of_target, shape):
    """The number of records in each part of the reports and of the target, without those that report nothing."""
    reported = parts >= 0
    cells = parts[reported].astype(np.int64) * shape[1] + of_target[reported]
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)


def noise_scale(epsilon, columns_per_record):
    """Scale of the noise on each count: replacing a target changes two counts by one, in each column reported.

    Returns
    -------
    Fraction, or 0 for infinite epsilon
    """
    return 0 if epsilon == math.inf else 2 * columns_per_record / exact(epsilon)


def with_laplace_noise(counts, scale, random_bytes):
    """Counts with independent discrete Laplace noise, as int64; clamped at `_FARTHEST`, where they say nothing."""
    if scale == 0:
        return counts
    noisy = counts + discrete_laplace(scale, counts.size, random_bytes).reshape(counts.shape)
    return np.clip(noisy, -_FARTHEST, _FARTHEST).astype(np.int64)


def noise_variance(scale):
    """Variance of discrete Laplace noise of this scale on clamped counts."""
    return min(laplace_deviation(scale), float(_FARTHEST)) ** 2


# --- Scores -----------------------------------------------------------------------------------------------------------


def table_score(statistic, counts, inverse, is_discrete, scale):
    """MTVr or MICr from counts of reports, minus the mean score of independent columns.

    Parameters
    ----------
    statistic : {"mtv_r", "mic_r"}
    counts : ndarray of shape (n_parts, n_target_parts)
        Counts, noisy if they are to be published.
    inverse : ndarray of shape (n_parts, n_parts)
        Inverse of the response matrix.
    is_discrete : bool
        Whether the target has classes.
    scale : number
        Scale of the noise on the counts.

    Returns
    -------
    float
        At most 1, and negative if below the chance level. A function of the counts: the simulation always uses the same
        random numbers.
    """
    n = counts.sum()
    if n < 1:
        return 0.0
    largest = _largest_variation if statistic == "mtv_r" else _largest_information
    by_chance = np.mean([largest(table, inverse, is_discrete) for table in _independent_tables(counts, scale)])
    return float(beyond_chance(largest(counts, inverse, is_discrete), by_chance))


def _independent_tables(counts, scale):
    """Tables of the same number of records, with the same margins and noise."""
    random = np.random.RandomState(0)
    n = int(counts.sum())
    margins = [nearest_shares(counts.sum(axis=axis) / n) for axis in (1, 0)]
    for _ in range(_DRAWS):
        table = random.multinomial(n, np.outer(*margins).ravel()).reshape(counts.shape)
        yield table + random.laplace(0, float(min(scale, _FARTHEST)), counts.shape) if scale else table


def _largest_variation(counts, inverse, is_discrete):
    """Twice the largest total variation from independence, of all parts against the target cut in two."""
    table = inverse @ (counts / counts.sum())
    steps = table - np.outer(table.sum(axis=1), table.sum(axis=0))
    n = counts.shape[1]
    alone = each_alone(n) if is_discrete else []
    divisions = np.array(distinct([*alone, *cuts(n), *parities(n)]))
    return min(2 * np.abs(steps @ divisions.T).sum(axis=0).max(), 1.0)


def _largest_information(counts, inverse, is_discrete):
    """The largest entry of the characteristic matrix of the debiased table, with negative counts set to 0."""
    table = nearest_shares(inverse @ (counts / counts.sum()))
    return mic_of_class_table(table, _B) if is_discrete else mic_of_table(table, _B)


# --- Randomised response ---------------------------------------------------------------------------------------------
#
# Randomised response among m parts, with exact probabilities (``docs/theory/two_parties.md``, Theorem 1).
#
# The true part is reported with probability exp(eps) / (exp(eps) + m - 1), each other with 1 / (exp(eps) + m - 1).


def randomized_response(parts, n_parts, epsilon, random_bytes):
    """The parts reported in place of the true ones.

    A uniform part is proposed, and accepted if it is the true one; any other is accepted with probability
    exp(-epsilon); otherwise there is a new proposal. The number of proposals does not depend on the true part.

    Parameters
    ----------
    parts : int ndarray of shape (n_samples,)
        In 0 ... n_parts - 1.
    n_parts : int
        Public.
    epsilon : int, Fraction or infinity, above 0
        Budget of one report.
    random_bytes : callable
        From :func:`skdpmic.privacy.noise.entropy_source`.

    Returns
    -------
    int64 ndarray of shape (n_samples,)
    """
    if epsilon == math.inf:
        return np.array(parts, dtype=np.int64)
    reports = np.empty(len(parts), dtype=np.int64)
    pending = np.arange(len(parts))
    while len(pending):
        proposals = uniform_below(n_parts, len(pending), random_bytes)
        accepted = bernoulli_exp(epsilon, len(pending), random_bytes) | (proposals == parts[pending])
        reports[pending[accepted]] = proposals[accepted]
        pending = pending[~accepted]
    return reports


def keep_probability(n_parts, epsilon):
    """The probability that the true part is reported."""
    return 1 / (1 + (n_parts - 1) * math.exp(-epsilon))


def inverse_response_matrix(n_parts, epsilon):
    """The inverse of R: entry [r, a] is the weight of a report r for part a that makes counts unbiased."""
    # The probability of a part other than the true one, and how much more likely the true one is, without cancellation.
    other = keep_probability(n_parts, epsilon) * math.exp(-epsilon)
    above = keep_probability(n_parts, epsilon) * -math.expm1(-epsilon)
    return (np.eye(n_parts) - other) / above


def drawn_columns(n_samples, n_columns, n_drawn, random_bytes):
    """The columns that each record reports: a uniformly random choice of `n_drawn`, independent of the data.

    Returns
    -------
    bool ndarray of shape (n_samples, n_columns)
    """
    if n_drawn == n_columns:
        return np.ones((n_samples, n_columns), dtype=bool)
    drawn = np.zeros((n_samples, n_columns), dtype=bool)
    at_once = max(1, 2**20 // n_columns)
    for first in range(0, n_samples, at_once):
        block = drawn[first : first + at_once]
        keys = np.frombuffer(random_bytes(8 * block.size), dtype=np.uint64).reshape(block.shape)
        np.put_along_axis(block, np.argpartition(keys, n_drawn - 1, axis=1)[:, :n_drawn], True, axis=1)
    return drawn


def n_columns_for(epsilon, n_columns):
    """The number of columns that each record reports: one per 2.5 of the budget, so that reports are informative."""
    return n_columns if epsilon == math.inf else max(1, min(n_columns, math.floor(epsilon / 2.5)))


def n_parts_for(epsilon):
    """The number of equal parts of a range for a report with this budget; more parts are reported less reliably."""
    return 4 if epsilon < 1.5 else 6 if epsilon < 3 else 8


# --- Public shares of the target --------------------------------------------------------------------------------------
#
# MTVr of reports against publicly known shares of the target, and its noise.
#
# ``docs/theory/two_parties.md``, section 4. From debiased counts of reported parts and groups of the target, the
# score is the sum of ``|n_ij - t_j n_i|``, divided by ``2 n max_j (1 - t_j)``.

STEPS = 2**30  # in a score of 1; noise is an integer number of steps
_TARGETS = 100  # of independent targets


def known_score(counts, inverse, shares):
    """The score, in [0, 1].

    Parameters
    ----------
    counts : ndarray of shape (..., n_parts, n_groups)
        Number of records that report each part, by the group of their target.
    inverse : ndarray of shape (n_parts, n_parts)
        Inverse of the response matrix.
    shares : ndarray of shape (n_groups,)
        Public shares, above 0, with sum 1.

    Returns
    -------
    ndarray of shape (...,)
        0 without records.
    """
    n = np.maximum(counts.sum(axis=(-2, -1)), 1)
    beyond = inverse @ (counts - counts.sum(axis=-1, keepdims=True) * shares)
    return np.minimum(np.abs(beyond).sum(axis=(-2, -1)) / (2 * n * (1 - shares.min())), 1.0)


def sensitivity(n, inverse, shares):
    """The largest change of the score if the target of one of n records is replaced, for any reports.

    A record that reports r moves column r of the inverse from one group to another.
    """
    return min(float(np.abs(inverse).sum(axis=0).max() / (max(n, 1) * (1 - shares.min()))), 1.0)


def sensitivity_in_steps(n, inverse, shares):
    """The sensitivity of scores that are computed in floats and rounded to integer steps."""
    moves = sensitivity(n, inverse, shares)
    if moves == 1:
        return STEPS
    of_sums = len(inverse) * (len(inverse) + len(shares) + 4) * np.abs(inverse).sum(axis=0).max()
    return min(math.ceil(STEPS * moves * (1 + 1e-9)) + 1 + math.ceil(STEPS * float(of_sums) * 2**-51), STEPS)


def noise_scale_of_score(epsilon, columns_per_record, n_steps):
    """Scale of the noise, in steps, if a record is in this many scores. A Fraction, or 0 for infinite epsilon."""
    return 0 if epsilon == math.inf else Fraction(columns_per_record * n_steps) / exact(epsilon)


def noisy_score(score, scale, random_bytes):
    """The score in integer steps, with discrete Laplace noise of this scale; it may be outside [0, 1]."""
    steps = round(float(score) * STEPS)
    return (steps + int(discrete_laplace(scale, 1, random_bytes)[0]) if scale else steps) / STEPS


def score_of_independent(reported, inverse, shares):
    """The mean score of targets with these shares that are independent of these reports. No real target is read.

    It always uses the same random numbers, so it is a function of the reports.
    """
    random = np.random.RandomState(0)
    drawn = [[random.multinomial(n, shares) for n in reported] for _ in range(_TARGETS)]
    return float(known_score(np.array(drawn), inverse, shares).mean())


def beyond_chance(score, by_chance):
    """Rescale scores: 0 at the chance level, 1 at 1."""
    return (score - by_chance) / np.maximum(1 - by_chance, 1e-9)
