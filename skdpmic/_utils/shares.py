"""Shares of a whole, from noisy estimates that may be negative."""

import numpy as np


def nearest_shares(estimates):
    """The nearest point with nonnegative coordinates that sum to 1.

    Parameters
    ----------
    estimates : ndarray of any shape

    Returns
    -------
    ndarray of the same shape
    """
    descending = np.sort(estimates, axis=None)[::-1]
    shifts = (descending.cumsum() - 1) / np.arange(1, descending.size + 1)
    return np.maximum(estimates - shifts[np.flatnonzero(descending > shifts)[-1]], 0.0)
