"""MTVr of reports against publicly known shares of the target, its noise, and the public terms of estimates.

``docs/theory/two_parties.md``, section 4. From debiased counts of reported parts and groups of the target, the score
is the sum of ``|n_ij - t_j n_i|``, divided by ``2 n max_j (1 - t_j)``.
"""

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from skdpmic.privacy.composition import exact
from skdpmic.privacy.noise import discrete_laplace
from skdpmic.two_party.response_tables import inverse_response_matrix, n_target_parts, noise_scale

STEPS = 2**30  # in a score of 1; noise is an integer number of steps
_DRAWS = 100  # of independent targets


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
    drawn = [[random.multinomial(n, shares) for n in reported] for _ in range(_DRAWS)]
    return float(known_score(np.array(drawn), inverse, shares).mean())


def beyond_chance(score, by_chance):
    """Rescale scores: 0 at the chance level, 1 at 1."""
    return (score - by_chance) / np.maximum(1 - by_chance, 1e-9)


_LEAST = 1e-6  # epsilon per report: with less, more reports than can be read would tell nothing


class Terms(NamedTuple):
    """Public numbers of one fit."""

    inverses: list  # of the response matrices, by column; those of equal columns are the same object
    n_target: int  # parts of a numeric target
    scale: Any = 0  # of the noise on counts, a Fraction; 0 for none
    scales: Any = None  # of the noise on each score, in steps, if the shares of the target are known
    null_scores: Any = None  # mean scores of independent targets with these shares


def terms_of_tables(statistic, epsilon, reports):
    """The terms if tables of counts are scored; `epsilon` is None without noise."""
    spent, k = math.inf if epsilon is None else epsilon, reports.description.columns_per_record
    n_target = n_target_parts(statistic, spent * reports.n_samples / len(reports.parts))
    return Terms(_inverses(reports.description), n_target, noise_scale(spent, k))


def terms_of_known_shares(shares, epsilon, reports):
    """The terms if the shares of the target are public; `epsilon` is None without noise."""
    spent, k = math.inf if epsilon is None else epsilon, reports.description.columns_per_record
    inverses, scales, null_scores = _inverses(reports.description), [], []
    for parts, inverse in zip(reports.parts, inverses, strict=True):
        reported = np.bincount(parts[parts >= 0], minlength=len(inverse))
        n_steps = sensitivity_in_steps(reported.sum(), inverse, shares)
        scales.append(noise_scale_of_score(spent, k, n_steps))
        null_scores.append(score_of_independent(reported, inverse, shares))
    return Terms(inverses, len(shares), scales=scales, null_scores=np.array(null_scores))


def _inverses(description):
    epsilon = float(description.epsilon_per_column)
    if epsilon < _LEAST:
        raise ValueError(
            f"reports must have an epsilon of at least {_LEAST:g} for each column that a record reports, to tell "
            f"anything, got {epsilon:g}."
        )
    sizes = [column.n_parts for column in description.columns]
    of_size = {n_parts: inverse_response_matrix(n_parts, epsilon) for n_parts in set(sizes)}
    return [of_size[n_parts] for n_parts in sizes]
