"""The largest score that any feature can have, for known shares of the classes (``docs/theory/largest_scores.md``).

All of it is computed from shares that are public or were released, and from public numbers.
"""

import math

import numpy as np

from skdpmic.statistics.mtv.family import UNITS

_MOST_ADDED = 12  # classes whose shares are added in every way
_MOST_GROUPED = 8  # classes that are grouped in every way
_FEW_LABELS = 2  # the fewest that a feature can have, which gives the least offset
_CODES_BESIDE_LABELS = 2  # of other labels and of missing values


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
        Scorer of the family.
    family : Family
        The grids for classes.
    shares : sequence of float
        Share of each class, for groups whose share the family does not know.
    mean_weight : float, default=1.0
        Mean weight of the records, as a share of the largest weight.

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
    known = side.margins
    in_groups = np.bincount(side.groups, weights=shares) if known is None else np.array(known) / UNITS
    apart = mean_weight * (1 - (in_groups**2).sum()) - scorer.offset_of_labels(_FEW_LABELS, side)
    apart = apart / family.normaliser(side, len(in_groups))
    if len(in_groups) == 2:
        return float(apart)
    in_two = mean_weight * 2 * _most_even(in_groups) - scorer.offsets(side, family.cuts.per_unit)
    return float(max(apart, in_two / family.normaliser(side, 2)))


def _most_even(shares):
    """The largest product of the share of some classes and that of the others; a bound with many classes."""
    if len(shares) > _MOST_ADDED:
        return 0.25
    sums = np.zeros(1)
    for share in shares:
        sums = np.concatenate([sums, sums + share])
    return float((sums * (1 - sums)).max())


def largest_mic_r(shares, n, chance):
    """The largest MICr of n records of any feature; with nine or more classes, a bound on it.

    Parameters
    ----------
    shares : sequence of float
        Share of each class, with a sum of 1.
    n : int
    chance : float
        Amount subtracted from n I for each degree of freedom, in bits.

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> from skdpmic.statistics.largest_scores import largest_mic_r
    >>> round(largest_mic_r([0.955, 0.045], 1000, 0), 2)
    0.26
    """
    n_classes, most = len(shares), _most_information(shares)
    entries = ((most[m] - chance * _least_degrees(m, n_classes) / n) / math.log2(m) for m in range(2, n_classes + 1))
    return min(max(*entries, 0.0), 1.0)


def _most_information(shares):
    """The largest entropy of the classes in m groups, by m; a bound with many classes."""
    if len(shares) > _MOST_GROUPED:
        apart = _entropy(shares)
        return {m: min(apart, _most_entropy(max(max(shares), 1 / m), m)) for m in range(2, len(shares) + 1)}
    most = dict.fromkeys(range(1, len(shares) + 1), 0.0)
    for groups in _groupings(list(shares)):
        most[len(groups)] = max(most[len(groups)], _entropy(groups))
    return most


def _groupings(shares):
    """The shares of the groups, for all ways to group the classes."""
    if len(shares) == 1:
        yield shares
        return
    for groups in _groupings(shares[1:]):
        yield [shares[0], *groups]
        for i, group in enumerate(groups):
            yield [*groups[:i], group + shares[0], *groups[i + 1 :]]


def _entropy(shares):
    return -sum(share * math.log2(share) for share in shares if share > 0)


def _most_entropy(largest, m):
    """The largest entropy of m shares, the largest of which is at least this, and at least 1 / m."""
    return _entropy([largest, *[(1 - largest) / (m - 1)] * (m - 1)])


def _least_degrees(m, n_classes):
    """The least degrees of freedom of grids whose I is divided by log2 m: of a feature with few labels."""
    if n_classes > _MOST_GROUPED:
        return 0  # a bound, like that on I; many classes in two groups have fewer degrees than stated here
    if n_classes == 3:
        return m - 1  # two: one class against the others; three: two labels, and another code
    in_labels = m - 1 if m < 4 else max(m - _CODES_BESIDE_LABELS, _FEW_LABELS) - 1
    return in_labels * (n_classes - 1)
