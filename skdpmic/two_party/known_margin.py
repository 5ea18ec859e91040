"""MTVr of reports against shares of the target that are publicly known, and its noise.

``docs/theory/two_parties.md``, section 4. With counts of reported parts and groups of the target, debiased, the score
is the sum of ``|n_ij - t_j n_i|``, divided by ``2 n max_j (1 - t_j)``.
"""

import math
from fractions import Fraction

import numpy as np

from skdpmic.privacy.noise import discrete_laplace
from skdpmic.privacy.parameters import exact

STEPS = 2**30  # of a score of 1; noise is of whole steps
_DRAWS = 100  # of independent targets


def known_score(counts, inverse, shares):
    """The score, in [0, 1].

    Parameters
    ----------
    counts : ndarray of shape (..., n_parts, n_groups)
        Records that report each part, by the group of their target.
    inverse : ndarray of shape (n_parts, n_parts)
        Of the response matrix.
    shares : ndarray of shape (n_groups,)
        Public, above 0, of sum 1.

    Returns
    -------
    ndarray of shape (...,)
        0 without records.
    """
    n = np.maximum(counts.sum(axis=(-2, -1)), 1)
    beyond = inverse @ (counts - counts.sum(axis=-1, keepdims=True) * shares)
    return np.minimum(np.abs(beyond).sum(axis=(-2, -1)) / (2 * n * (1 - shares.min())), 1.0)


def sensitivity(n, inverse, shares):
    """How far the score moves at most if the target of one of n records is replaced, whatever the reports are.

    A record that reports r moves 1 from one group to another, times column r of the inverse.
    """
    return min(float(np.abs(inverse).sum(axis=0).max() / (max(n, 1) * (1 - shares.min()))), 1.0)


def sensitivity_in_steps(n, inverse, shares):
    """The same of scores that are rounded to whole steps, and computed in floats."""
    moves = sensitivity(n, inverse, shares)
    if moves == 1:
        return STEPS
    of_sums = len(inverse) * (len(inverse) + len(shares) + 4) * np.abs(inverse).sum(axis=0).max()
    return min(math.ceil(STEPS * moves * (1 + 1e-9)) + 1 + math.ceil(STEPS * float(of_sums) * 2**-51), STEPS)


def noise_scale_of_score(epsilon, columns_per_record, n_steps):
    """Scale of the noise, in steps: a record is in so many scores. A Fraction, or 0 for infinite epsilon."""
    return 0 if epsilon == math.inf else Fraction(columns_per_record * n_steps) / exact(epsilon)


def noisy_score(score, scale, random_bytes):
    """The score in whole steps, with discrete Laplace noise of this scale, which may be outside of [0, 1]."""
    steps = round(float(score) * STEPS)
    return (steps + int(discrete_laplace(scale, 1, random_bytes)[0]) if scale else steps) / STEPS


def score_of_independent(reported, inverse, shares):
    """The mean score of targets that are independent of these reports, with these shares. No target is looked at.

    Always of the same random numbers, so a function of the reports.
    """
    random = np.random.RandomState(0)
    drawn = [[random.multinomial(n, shares) for n in reported] for _ in range(_DRAWS)]
    return float(known_score(np.array(drawn), inverse, shares).mean())


def beyond_chance(score, by_chance):
    """0 for what independent columns show, 1 for 1."""
    return (score - by_chance) / np.maximum(1 - by_chance, 1e-9)
