"""What a table of counts most likely was before the noise: empirical Bayes, from the noisy table and public numbers.

A count is modelled as negative binomial around what independence expects, ``m = (row sum) (column sum) / n``, with a
shape ``a``: its variance is ``m + m**2 / a``. The less the two variables depend on each other, the larger ``a`` is. The
table itself tells how much it depends, and where it is empty; the law of the noise is known. All of it is
post-processing of the noisy table.
"""

import math

import numpy as np

from skdpmic.mic.jit import jit

_SHAPES = 2.0 ** np.arange(-4, 2)  # equally likely beforehand
_ROUNDS = 2
_BLOCKS = 48
_REACH = 8  # noise beyond this many scales has a probability of exp(-8)


def expected_counts(noisy, n, scale):
    """Mean of the counts given the noisy table.

    Parameters
    ----------
    noisy : ndarray of shape (n_rows, n_columns)
        Counts with truncated geometric noise.
    n : int
        Number of records.
    scale : float
        Scale of the noise; 0 for none.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        Not negative, with sum n.
    """
    noisy = np.asarray(noisy, dtype=np.float64)
    if scale == 0:
        return noisy
    means = noisy
    for _ in range(_ROUNDS):
        means = _with_sum(n, means)
        independent = np.outer(means.sum(axis=1), means.sum(axis=0)) / n
        means_of_shape, evidence = _posteriors(noisy, independent, float(n), float(scale), _SHAPES)
        weight = np.exp(evidence - evidence.max())
        means = np.tensordot(weight / weight.sum(), means_of_shape, axes=1)
    return _with_sum(n, means)


def _with_sum(n, means):
    means = means + 1e-6  # so that no row is empty beyond doubt
    return means * (n / means.sum())


@jit
def _posteriors(noisy, independent, n, scale, shapes):
    """Posterior mean of each count, and the log-likelihood of the table up to a constant, for every shape.

    Returns
    -------
    means : ndarray of shape (n_shapes, n_rows, n_columns)
    evidence : ndarray of shape (n_shapes,)
    """
    values, m_of_cell = noisy.ravel(), independent.ravel()
    means = np.empty((len(shapes), len(values)))
    evidence = np.zeros(len(shapes))
    weight = np.empty(_BLOCKS)
    for s in range(len(shapes)):
        a = shapes[s]
        value = np.nan
        for cell in np.argsort(values):  # equal noisy counts one after the other share the terms without m
            if values[cell] != value:
                value = values[cell]
                counts, log_terms = _blocks(value, n, scale, a)
            m = m_of_cell[cell]
            log_odds = math.log(m / (a + m))
            largest = -np.inf
            for b in range(len(counts)):
                weight[b] = log_terms[b] + counts[b] * log_odds
                largest = max(largest, weight[b])
            total, first_moment = 0.0, 0.0
            for b in range(len(counts)):
                term = math.exp(weight[b] - largest)
                total += term
                first_moment += term * counts[b]
            means[s, cell] = first_moment / total
            evidence[s] += largest + math.log(total) + a * math.log(a / (a + m))
    return means.reshape((len(shapes), noisy.shape[0], noisy.shape[1])), evidence


@jit
def _blocks(noisy, n, scale, a):
    """The possible counts, in at most _BLOCKS runs of integers: the middle of each, and the terms without m.

    Runs are single integers if these are few enough. Where 0 is possible they are shorter near it, as counts are small
    there.

    Returns
    -------
    counts : ndarray of shape (n_blocks,)
    log_terms : ndarray of shape (n_blocks,)
        Log of the run's length, times the noise's probability, times Gamma(count + a) / (Gamma(a) count!).
    """
    lowest = max(0.0, np.ceil(noisy - _REACH * scale))
    n_counts = min(n, np.floor(noisy + _REACH * scale)) - lowest + 1
    n_blocks = int(min(n_counts, _BLOCKS))
    counts, log_terms = np.empty(n_blocks), np.empty(n_blocks)
    start = 0.0
    for b in range(n_blocks):
        share = (b + 1) / n_blocks
        if lowest == 0:
            share *= share
        end = max(start + 1, np.rint(n_counts * share) if n_counts > _BLOCKS else start + 1)
        counts[b] = lowest + (start + end - 1) / 2
        log_terms[b] = math.log(end - start) - abs(noisy - counts[b]) / scale
        log_terms[b] += math.lgamma(counts[b] + a) - math.lgamma(a) - math.lgamma(counts[b] + 1)
        start = end
    return counts, log_terms
