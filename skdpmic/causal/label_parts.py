"""Which labels of a column, or cells of a number, are told apart in tables: decided from noisy counts of each."""

import numpy as np

N_CELLS = 64  # of equal width, in the public range of a number
MOST_PARTS = 6  # of a number, beside missing values
MOST_VALUES = 8  # of a number that has no others: each is a part
_CLEAR, _FEW = 3.0, 5.0  # a part counts if it has this many standard deviations of its noise, and records


def parts_of_columns(counts, noise_scale, numbers):
    """The part of each label or cell of each column, of which some are numbers: a list of int64 ndarrays."""
    return [
        parts_of_cells(of_column, noise_scale) if j in numbers else parts_of_labels(of_column, noise_scale)
        for j, of_column in enumerate(counts)
    ]


def parts_of_labels(counts, noise_scale):
    """The part of each label: labels that are not seen to have records are in the part of the most frequent one.

    Parameters
    ----------
    counts : ndarray of shape (n_labels,)
        With noise.
    noise_scale : float

    Returns
    -------
    int64 ndarray of shape (n_labels,)
        Numbers of parts, 0, 1, ..., of which each has a label.
    """
    most = int(np.argmax(counts))
    counts_alone = counts >= max(_FEW, _CLEAR * noise_scale)
    counts_alone[most] = True
    parts = np.cumsum(counts_alone) - 1
    return np.where(counts_alone, parts, parts[most])


def parts_of_cells(counts, noise_scale):
    """The part of each cell of a number, and of missing values, which come last: parts of nearly equal size.

    As many parts as the noise lets one cut, at most ``MOST_PARTS``; or, of a number that is seen to have few values,
    one for each. Missing values without records are in the largest.

    Parameters
    ----------
    counts : ndarray of shape (N_CELLS + 1,)
        With noise.
    noise_scale : float

    Returns
    -------
    int64 ndarray of shape (N_CELLS + 1,)
        As of :func:`parts_of_labels`.
    """
    clear = counts >= max(_FEW, _CLEAR * noise_scale)
    if clear[:-1].sum() <= MOST_VALUES and counts[~clear].sum() <= _FEW + _CLEAR * noise_scale * np.sqrt(N_CELLS):
        return parts_of_labels(counts, noise_scale)
    within = np.maximum(counts[:-1], 0.0)
    least = max(_FEW, _CLEAR * noise_scale * np.sqrt(N_CELLS))
    n_parts = int(np.clip(within.sum() // least, 1, MOST_PARTS))
    parts = _cut(within, within.sum() / n_parts)
    if clear[-1]:
        return np.append(parts, parts.max() + 1)
    return np.append(parts, np.argmax(np.bincount(parts, weights=within)))


def _cut(counts, wanted):
    """The part of each cell, from the first on: a part ends where it is nearest to having as many records as wanted.

    Half as many are enough for the last part.
    """
    parts, in_part = [0], counts[0]
    for count in counts[1:]:
        ends = in_part + count / 2 > wanted and in_part >= wanted / 2
        parts.append(parts[-1] + ends)
        in_part = count if ends else in_part + count
    parts = np.array(parts)
    return np.minimum(parts, max(parts[-1] - 1, 0)) if in_part < wanted / 2 else parts
