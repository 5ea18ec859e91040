"""Reconciled tests (App. F of the Priv-PC supplement), as printed and with the right constants.

As printed, NOT (epsilon, delta)-differentially private (``docs/theory/corrections.md``): the smooth sensitivity decays
by exp(-k epsilon), where it must be exp(-k beta); beta of the Laplace law is printed as epsilon ln(1/delta) / 2 in
place of epsilon / (2 ln(2/delta)); the Gaussian law's alpha and beta are too large, and its density lacks a root.

A test's statistic is computed on blocks of the records, clipped, and the median of the blocks released with noise in
proportion to its smooth sensitivity. Right constants are those of Nissim, Raskhodnikova and Smith, "Smooth sensitivity
and sampling in private data analysis" (STOC 2007). Noise is drawn in floating point.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Noise:
    """A law, and what the release does with it.

    Parameters
    ----------
    law : scipy frozen distribution
    alpha : float
        Noise is the smooth sensitivity over alpha, times a draw.
    decay : float
        A change that takes k other records to be possible counts exp(-k decay) times.
    """

    law: object
    alpha: float
    decay: float


def as_printed(law, epsilon, delta):
    """Constants of Definition 10 for ``"laplace"`` or ``"gaussian"``."""
    if law == "laplace":
        return Noise(stats.laplace(), epsilon / 2, epsilon)
    return Noise(stats.norm(), epsilon / math.sqrt(math.log(1 / delta)), epsilon)


def right(law, epsilon, delta):
    """Constants with which the release is (epsilon, delta)-differentially private."""
    log_term = math.log(2 / delta)
    if law == "laplace":
        return Noise(stats.laplace(), epsilon / 2, epsilon / (2 * log_term))
    return Noise(stats.norm(), epsilon / (5 * math.sqrt(2 * log_term)), epsilon / (4 * (1 + log_term)))


def smooth_sensitivity(values, lowest, highest, decay):
    """Of the median of an odd number of values in [lowest, highest], when one of them may be replaced."""
    m, middle = len(values), len(values) // 2
    ends = np.full(m + 1, lowest), np.full(m + 1, highest)
    x = np.concatenate([ends[0], np.sort(values), ends[1]])
    largest = 0.0
    for k in range(m + 1):
        t = m + 1 + middle + np.arange(k + 2)
        reached = x[np.minimum(t, len(x) - 1)] - x[np.maximum(t - k - 1, 0)]
        largest = max(largest, math.exp(-k * decay) * reached.max())
    return largest


def released_law(values, lowest, highest, noise):
    """Law of the noisy median of the blocks: its centre and scale."""
    clipped = np.clip(values, lowest, highest)
    return float(np.median(clipped)), smooth_sensitivity(clipped, lowest, highest, noise.decay) / noise.alpha


def reconciled(codes, statistic, n_blocks, lowest, highest, noise, rng):
    """Algorithm 6: the noisy median of a statistic of the blocks.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_columns)
    statistic : callable
        Of some of these rows.
    n_blocks : int, odd
    lowest, highest : float
        What the statistic is clipped to.
    noise : Noise
    rng : Generator
    """
    blocks = np.array_split(codes[rng.permutation(len(codes))], n_blocks)
    centre, scale = released_law([statistic(block) for block in blocks], lowest, highest, noise)
    return centre + scale * noise.law.rvs(random_state=rng)
