"""Empirical Bayes estimate of a table of counts before the noise, from the noisy table and public numbers.

A count is modelled as negative binomial with the mean under independence, ``m = (row sum) (column sum) / n``, and a
shape ``a``: its variance is ``m + m**2 / a``. Weaker dependence means larger ``a``. The strength of dependence and the
empty cells are estimated from the table; the noise distribution is known. All of it is post-processing of the noisy
table.
"""

import math

import numpy as np

from skdpmic._utils.jit import jit, leaf

_SHAPES = 2.0 ** np.arange(-4, 2)  # equally likely a priori
_ROUNDS = 2
_BLOCKS = 48
_REACH = 8  # noise beyond this many scales has probability exp(-8)


def expected_counts(noisy, n, scale):
    """Posterior mean of the counts given the noisy table.

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
        Nonnegative, with sum n.
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
    means = means + 1e-6  # so that no row is certainly empty
    return means * (n / means.sum())


def _posteriors(noisy, independent, n, scale, shapes):
    """Posterior mean of each count, and the log-likelihood of the table up to a constant, for every shape.

    Returns
    -------
    means : ndarray of shape (n_shapes, n_rows, n_columns)
    evidence : ndarray of shape (n_shapes,)
    """
    means, evidence = np.empty((len(shapes), *noisy.shape)), np.zeros(len(shapes))
    # Consecutive equal noisy counts share the terms without m.
    order, room = np.argsort(noisy, axis=None, kind="stable"), np.empty((3, _BLOCKS))
    _fill_posteriors(
        noisy.ravel(), order, independent.ravel(), n, scale, shapes, room, means.reshape(len(shapes), -1), evidence
    )
    return means, evidence


@jit
def _fill_posteriors(values, order, m_of_cell, n, scale, shapes, room, means, evidence):
    """Fill in `means`, and add to `evidence`; `room` is a workspace."""
    for s in range(len(shapes)):
        a = shapes[s]
        value = np.nan
        n_blocks = 0
        for cell in order:
            if values[cell] != value:
                value = values[cell]
                n_blocks = _fill_blocks(room, value, n, scale, a)
            m = m_of_cell[cell]
            log_odds = math.log(m / (a + m))
            largest = -np.inf
            for b in range(n_blocks):
                room[2, b] = room[1, b] + room[0, b] * log_odds
                if room[2, b] > largest:
                    largest = room[2, b]
            total, first_moment = 0.0, 0.0
            for b in range(n_blocks):
                term = math.exp(room[2, b] - largest)
                total += term
                first_moment += term * room[0, b]
            means[s, cell] = first_moment / total
            evidence[s] += largest + math.log(total) + a * math.log(a / (a + m))


@leaf
def _fill_blocks(room, noisy, n, scale, a):
    """The possible counts, in at most _BLOCKS runs of integers: the middle of each, and the terms without m.

    Runs are single integers if there are few enough. If 0 is possible, runs are shorter near it, because counts are
    small there. The middles go into ``room[0]``. Log of the run's length, times the noise's probability, times
    Gamma(count + a) / (Gamma(a) count!), goes into ``room[1]``.
    """
    lowest = max(0.0, np.ceil(noisy - _REACH * scale))
    n_counts = min(n, np.floor(noisy + _REACH * scale)) - lowest + 1
    n_blocks = int(min(n_counts, _BLOCKS))
    start = 0.0
    for b in range(n_blocks):
        share = (b + 1) / n_blocks
        if lowest == 0:
            share *= share
        end = max(start + 1, np.rint(n_counts * share) if n_counts > _BLOCKS else start + 1)
        count = lowest + (start + end - 1) / 2
        room[0, b] = count
        term = math.log(end - start) - abs(noisy - count) / scale
        room[1, b] = term + (math.lgamma(count + a) - math.lgamma(a) - math.lgamma(count + 1))
        start = end
    return n_blocks
