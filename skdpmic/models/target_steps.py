"""The target as integers, each record separately, and its sums in the parts of each column."""

import numpy as np

from skdpmic.models.parts import offsets_of
from skdpmic.table.targets import ClassTarget

GRID = 2**12  # equal steps of the range of a numeric target, so that sums are integers


def in_steps(target):
    """The target as integers, each record separately, and the number of steps from the smallest to the largest.

    Parameters
    ----------
    target : ClassTarget or NumericTarget

    Returns
    -------
    values : int64 ndarray of shape (n_samples, n_targets)
        Steps from the middle of the range; -1 and 1 for two classes; for more, 1 in the column of the class.
    n_steps : int
    """
    if isinstance(target, ClassTarget):
        codes = np.asarray(target.values, dtype=np.int64)
        if target.n_classes == 2:
            return 2 * codes[:, None] - 1, 2
        return (codes[:, None] == np.arange(target.n_classes)).astype(np.int64), 1
    return np.rint(shares_of_bounds(target) * GRID).astype(np.int64)[:, None] - GRID // 2, GRID


def shares_of_bounds(target):
    """The position of each number within its bounds, from 0 to 1."""
    lower, upper = target.bounds
    return (np.clip(target.values.astype(np.float64), lower, upper) - lower) / (upper - lower)


def sums_in_parts(columns, sizes, values):
    """Sums of each column of `values` in each part of each column: int64 ndarray of shape (n_parts, n_targets)."""
    offsets = offsets_of(sizes)
    sums = np.empty((offsets[-1], values.shape[1]), dtype=np.int64)
    for codes, first, last in zip(columns, offsets[:-1], offsets[1:], strict=True):
        for target, of_target in enumerate(values.T):
            sums[first:last, target] = np.bincount(codes, weights=of_target, minlength=last - first)  # below 2**53
    return sums
