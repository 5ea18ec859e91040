"""Learning a target's margin: noisy counts, and where to cut a numeric target (``docs/theory/known_margin.md``).

The counts that come in are as sensitive as the target; what comes out is epsilon-differentially private.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from skdpmic.privacy.mechanisms import laplace_quantile
from skdpmic.privacy.noise import discrete_laplace
from skdpmic.privacy.weighted_choice import weighted_choice
from skdpmic.statistics.grids.partitions import equal_parts
from skdpmic.statistics.mtv.margin import Margin

N_PLACES = 1024  # of the target's range at which it may be cut
_LEAST_FOR_A_CUT = 50  # n * epsilon of the target from which on a cut is learnt; else it is the middle of the range
_FOR_THE_CUT = Fraction(1, 2)  # of the target's epsilon; the rest is for the count


def places_of(y, bounds):
    """How many records are at each of the places where a numeric target may be cut: int64 (N_PLACES,)."""
    return np.bincount(equal_parts(y, bounds, N_PLACES), minlength=N_PLACES)


def learns_a_cut(n, epsilon):
    """Whether it is worth while to learn where to cut a numeric target: by public numbers."""
    return n * epsilon >= _LEAST_FOR_A_CUT


def class_margin(counts, epsilon, rows_per_group, random_bytes):
    """What epsilon tells of a target of classes: one noisy count of two classes; of more, one each.

    Parameters
    ----------
    counts : int64 ndarray of shape (n_classes,)
    epsilon : Fraction or infinity, above 0
    rows_per_group : int
        Records of a person: so far can one of the counts move, and another one the other way.
    random_bytes : callable
    """
    n, is_pair = int(counts.sum()), len(counts) == 2
    scale = _scale(rows_per_group if is_pair else 2 * rows_per_group, epsilon)
    noisy = _with_noise(counts[:1] if is_pair else counts, scale, random_bytes)
    shares = [Fraction(count, n) for count in noisy]
    shares += [1 - shares[0]] if is_pair else []
    return Margin(tuple(range(1, len(counts) + 1)), tuple(shares), scale, n)


def cut_margin(counts, n_columns, bounds, epsilon, rows_per_group, random_bytes):
    """What epsilon tells of a numeric target: where to cut it, if that is worth while, and the share below the cut.

    The cut is drawn by the exponential mechanism, the likelier the nearer the number of records below it is to half of
    them. Without, it is the middle of the range.

    Parameters
    ----------
    counts : int64 ndarray of shape (n_places,)
        Records in equal parts of the range: `N_PLACES` of them, of which those on either side of the cut become equally
        many columns; or `n_columns`, which then stay as they are.
    n_columns : int
    bounds : pair of floats or None
        The range; None where the columns stay as they are.
    epsilon, rows_per_group, random_bytes
        As for classes.
    """
    n, n_places, place = int(counts.sum()), len(counts), len(counts) // 2
    below = np.cumsum(counts)
    is_learnt = learns_a_cut(n // rows_per_group, epsilon)
    for_the_cut = _FOR_THE_CUT if is_learnt else 0
    if is_learnt:
        from_half = np.abs(2 * below[:-1] - n)  # twice, to be whole
        place = _near_the_median(from_half, for_the_cut * epsilon, rows_per_group, random_bytes)
    scale = _scale(rows_per_group, epsilon * (1 - for_the_cut))
    (count,) = _with_noise(below[place - 1 : place], scale, random_bytes)
    share = Fraction(count, n)
    margin = Margin((n_columns // 2, n_columns), (share, 1 - share), scale, n)
    if not is_learnt:
        return margin
    if n_places == n_columns:
        return replace(margin, ends=(place, n_columns))
    lower, upper = bounds
    return replace(margin, knots=(lower, lower + place * ((upper - lower) / n_places), upper))


def _near_the_median(from_half, epsilon, rows_per_group, random_bytes):
    """One of the places, of which the middle is as likely beforehand as all others together.

    A person moves twice the number of records below a place by twice the number of their rows, and each weight by as
    much in the exponent; so does the sum of all weights.
    """
    middle = len(from_half) // 2
    if epsilon == math.inf:
        return 1 + (middle if from_half[middle] == from_half.min() else int(np.argmin(from_half)))
    weights = np.ones(len(from_half), dtype=np.int64)
    weights[middle] = len(from_half)
    return 1 + weighted_choice(weights, from_half, epsilon / (4 * rows_per_group), random_bytes)


def _scale(sensitivity, epsilon):
    return Fraction(0) if epsilon == math.inf else sensitivity / epsilon


def _with_noise(counts, scale, random_bytes):
    """Counts with discrete Laplace noise, as Python integers."""
    if scale == 0:
        return counts.tolist()
    return (counts + discrete_laplace(scale, len(counts), random_bytes)).tolist()


def shares_interval(margin, confidence):
    """Bounds that hold each share of the records with at least this confidence, of a margin that was learnt."""
    reach = 0.0 if margin.scale == 0 else laplace_quantile(float(margin.scale), confidence) / margin.n
    shares = np.array(margin.shares, dtype=np.float64)
    return np.clip(shares - reach, 0.0, 1.0), np.clip(shares + reach, 0.0, 1.0)
