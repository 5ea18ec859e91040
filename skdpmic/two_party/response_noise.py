"""Randomised response among m parts, with exact probabilities (``docs/theory/two_parties.md``, Theorem 1).

The true part is reported with probability exp(eps) / (exp(eps) + m - 1), each other with 1 / (exp(eps) + m - 1).
"""

import math

import numpy as np

from skdpmic.privacy.noise import bernoulli_exp, uniform_below


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
    # The probability of a part other than the true one, and how much likelier the true one is, without cancellation.
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
