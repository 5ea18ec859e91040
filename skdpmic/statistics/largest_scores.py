"""The largest score that any feature can have, for known shares of the classes (``docs/theory/largest_scores.md``).

All of it is computed from shares that are public or were released, and from public numbers.
"""

import numpy as np

from skdpmic.statistics.mtv.family import UNITS

_MOST_ADDED = 12  # classes whose shares are added in every way
_FEW_LABELS = 2  # the fewest that a feature can have, and so those of the least offset


def largest_kendall(share, n):
    """The largest tau-a of n records if this share of them is in one of two classes: all pairs of both are concordant.

    Examples
    --------
    >>> from skdpmic.statistics.largest_scores import largest_kendall
    >>> round(largest_kendall(0.1, 1000), 3)
    0.18
    """
    return min(2 * share * (1 - share) * n / (n - 1), 1.0)


def largest_mtv_r(scorer, family, shares, mean_weight=1.0):
    """The largest MTVr of any feature, by the offsets of a scorer; with five or more classes, a bound on it.

    Parameters
    ----------
    scorer : CountsScorer
        Of the family.
    family : Family
        The grids for classes.
    shares : sequence of float
        Share of each class, for groups whose share the family does not know.
    mean_weight : float, default=1.0
        Of the records, as a part of the largest weight.

    Returns
    -------
    float
        In [0, 1].
    """
    shares = np.asarray(shares, dtype=np.float64)
    shares = shares / shares.sum()
    largest = max(_largest_against(side, scorer, family, shares, mean_weight) for side in family.sides)
    return float(min(max(largest, 0.0), 1.0))


def _largest_against(side, scorer, family, shares, mean_weight):
    """The largest (TV - o) / nu against one grouping of the classes: of all groups apart, or of two parts."""
    in_groups = _shares_of_groups(side, shares)
    apart = mean_weight * (1 - (in_groups**2).sum()) - scorer.offset_of_labels(_FEW_LABELS, side)
    apart = apart / family.normaliser(side, len(in_groups))
    if len(in_groups) == 2:
        return float(apart)
    in_two = mean_weight * 2 * _most_even(in_groups) - scorer.offsets(side, family.cuts.per_unit)
    return float(max(apart, in_two / family.normaliser(side, 2)))


def _shares_of_groups(side, shares):
    """The share of each group as the side knows it; if it knows none, that of its classes."""
    if side.margins is not None:
        return np.array(side.margins) / UNITS
    return np.bincount(side.groups, weights=shares)


def _most_even(shares):
    """The largest product of the share of some classes and that of the others; a bound with many classes."""
    if len(shares) > _MOST_ADDED:
        return 0.25
    sums = np.zeros(1)
    for share in shares:
        sums = np.concatenate([sums, sums + share])
    return float((sums * (1 - sums)).max())
