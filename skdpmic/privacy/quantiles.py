"""Quantiles of noise, without the distributions of scipy, which take long to import."""

import math

from scipy.special import ndtri


def laplace_quantile(scale, confidence, n_scores=1):
    """Least q with P(|noise| > q) = 2 exp(-(q + 1) / scale) / (1 + exp(-1 / scale)) <= 1 - confidence.

    Parameters
    ----------
    scale : number above 0
        Scale of discrete Laplace noise.
    confidence : float in (0, 1)
        Probability that the noise on `n_scores` independent scores is at most q.
    n_scores : int, default=1

    Returns
    -------
    int
    """
    tail = _tail_of_each(confidence, n_scores) * (1 + math.exp(-1 / scale)) / 2
    return max(math.ceil(-scale * math.log(tail) - 1), 0)


def normal_half_width(confidence):
    """Half-width of an interval of this confidence for normal errors, in standard deviations."""
    return float(-ndtri((1 - confidence) / 2))


def gaussian_quantile(scale, confidence, n_scores=1):
    """A q with P(|noise| > q) <= 1 - confidence: P(noise > q) is at most that of the continuous law, at q.

    Parameters
    ----------
    scale : int
        Standard deviation of discrete Gaussian noise.
    confidence : float in (0, 1)
        Probability that the noise on `n_scores` independent scores is at most q.
    n_scores : int, default=1

    Returns
    -------
    int
    """
    return math.ceil(-scale * ndtri(_tail_of_each(confidence, n_scores) / 2))


def _tail_of_each(confidence, n_scores):
    """The tail probability of each of this many independent variables for a joint confidence."""
    if n_scores == 1:
        return 1 - confidence
    return -math.expm1(math.log(confidence) / n_scores) * (1 - FLOAT_ERROR)


FLOAT_ERROR = 2.0**-36  # upper bound on the relative error of a quantile computed in floating point
