"""Figures of merit of a model from noisy counts or sums, each with an interval for its value without noise.

An interval holds all values that the noise, at 95%, does not rule out. Ratios are not divided first: a value v of a / b
is kept if a - v b is within its noise (Fieller 1954), so intervals stay valid where noise exceeds the signal.
"""

import math
from typing import NamedTuple

import numpy as np

_CONFIDENCE = 0.95
# Half-width of the interval in standard deviations: that of one Laplace number, whose tails are no lighter at this
# confidence than those of weighted sums of several (``docs/theory/evaluation.md``).
_REACH = math.log(1 / (1 - _CONFIDENCE)) / math.sqrt(2)
_CANDIDATES = np.linspace(0, 1, 4001)


class Figure(NamedTuple):
    """A figure of merit, and two kinds of error."""

    value: float
    lower: float
    """Lower end of the 95% interval for the value without noise, for the same records."""
    upper: float
    sampling_error: float
    """Estimated standard error for another sample of people; NaN where the release does not determine it."""


def mean_over_cells(worth, counts, deviation, n_samples, rows_per_group):
    """The mean of a number that depends on the cell only, over all records, whose number is public.

    Parameters
    ----------
    worth, counts : ndarrays of one shape
    deviation : float
        Standard deviation of the noise on a count.
    n_samples, rows_per_group : int
    """
    mean_worth = worth.mean()
    centred = worth - mean_worth  # as the sum of all counts is known
    value = float(np.vdot(centred, counts)) / n_samples + mean_worth
    noise = deviation * math.sqrt(float((centred**2).sum())) / n_samples
    squares = float(np.vdot(centred**2, counts)) / n_samples - (value - mean_worth) ** 2
    sampling = math.sqrt(max(squares, 0.0) * rows_per_group / n_samples)
    ends = worth.min(), worth.max()
    return Figure(*np.clip([value, value - _REACH * noise, value + _REACH * noise], *ends).tolist(), sampling)


def sum_of_figures(figures):
    """The sum of several means; the intervals and errors add, whatever their dependence."""
    return Figure(*(float(sum(each)) for each in zip(*figures, strict=True)))


def area_under_curve(others, members, deviation, rows_per_group):
    """The probability that a member of the class has a larger prediction than another record; ties count half.

    With A the noisy number of such pairs, and N that of all pairs, a value v remains possible if A - v N is within the
    noise on it. The variance of this noise is estimated from the noisy counts, on average from above.

    Parameters
    ----------
    others, members : ndarrays of shape (n_bins,)
        Noisy counts.
    """
    wins = np.cumsum(others) - others / 2  # of a member in each bin
    losses = members[::-1].cumsum()[::-1] - members / 2
    n_members, n_others = members.sum(), others.sum()
    gaps = members @ wins - _CANDIDATES * n_members * n_others
    of_members = wins[:, None] - _CANDIDATES * n_others  # what one more member of a bin adds to the gap
    of_others = losses[:, None] - _CANDIDATES * n_members
    noise = deviation * np.sqrt((of_members**2).sum(axis=0) + (of_others**2).sum(axis=0))
    possible = _CANDIDATES[np.abs(gaps) <= _REACH * noise + _FLOAT_NOISE * max(abs(n_members * n_others), 1.0)]
    if n_members <= 0 or n_others <= 0:
        return Figure(0.5, 0.0, 1.0, math.nan)
    value = float(np.clip(members @ wins / (n_members * n_others), 0, 1))
    influence = wins / n_others - value, losses / n_members - value
    variance = np.maximum(members, 0) @ influence[0] ** 2 / n_members**2
    variance += np.maximum(others, 0) @ influence[1] ** 2 / n_others**2
    ends = [value, *possible[[0, -1]]] if len(possible) else [value]
    return Figure(value, float(min(ends)), float(max(ends)), math.sqrt(variance * rows_per_group))


_FLOAT_NOISE = 1e-12


def figures_of_sums(noisy, scales, steps, width, n_samples, rows_per_group):
    """R2 and the mean absolute error.

    Parameters
    ----------
    noisy : list of int
        The four sums of :class:`skdpmic.models.number_sums.ErrorSums`.
    scales : list of Fraction
        Scales of their noise.
    steps : int
    width : float
        Width of the range of the target.
    n_samples, rows_per_group : int

    Returns
    -------
    dict of Figure
    """
    units = steps, steps**2, 2 * steps, 4 * steps**2
    means = (np.clip(total / unit / n_samples, -_MAX_MEAN, _MAX_MEAN) for total, unit in zip(noisy, units, strict=True))
    error, square, mean, mean_square = map(float, means)
    noise = [min(math.sqrt(2) * float(b / unit) / n_samples, _MAX_MEAN) for b, unit in zip(scales, units, strict=True)]
    mean = float(np.clip(mean, -0.5, 0.5))
    variance = mean_square - mean**2 + noise[2] ** 2
    of_variance = math.hypot(noise[3], 2 * mean * noise[2], math.sqrt(5) * noise[2] ** 2)
    sampling = math.sqrt(max(square - error**2, 0.0) * rows_per_group / n_samples)
    ends = [error, error - _REACH * noise[0], error + _REACH * noise[0]]
    return {
        "r2": _r2(square, variance, noise[1], of_variance),
        "mean_absolute_error": Figure(*(np.clip(ends, 0, 1) * width).tolist(), sampling * width),
    }


_MAX_MEAN = 1e30  # of means in [-1, 1] that are all noise, so that no square overflows


def _r2(square, variance, noise, of_variance):
    """1 - square / variance; the share v is possible if square - v variance is within the noise on it."""
    reach = _REACH**2
    a, c = variance**2 - reach * of_variance**2, square**2 - reach * noise**2
    if variance <= 0 or a <= 0:  # the variance of the target cannot be distinguished from 0
        value = 1 - square / variance if variance > 0 else math.nan
        return Figure(min(value, 1.0), -math.inf, 1.0, math.nan)
    spread = math.sqrt(max(square * variance**2 - a * c, 0.0))
    lower, upper = 1 - (square * variance + spread) / a, 1 - (square * variance - spread) / a
    return Figure(min(1 - square / variance, 1.0), min(lower, 1.0), min(upper, 1.0), math.nan)


# --- Curves -----------------------------------------------------------------------------------------------------------


def curve(others, members):
    """False and true positive rates at all bin ends, highest first: two ascending arrays from 0 to 1."""
    return tuple(_rates_from_the_top(counts) for counts in (others, members))


def _rates_from_the_top(counts):
    total = counts.sum()
    if total <= 0:
        return np.linspace(0, 1, len(counts) + 1)
    shares = np.clip(np.concatenate([[0.0], counts[::-1].cumsum()]) / total, 0, 1)
    return np.maximum.accumulate(shares)


class CalibrationPart(NamedTuple):
    """Records with predictions in one range: the mean prediction, and the share of the class."""

    lower_end: float
    upper_end: float
    predicted: float
    observed: float
    lower: float
    upper: float


_PARTS = 10  # of the records, or fewer if their counts are not clear
_CLEAR = 5.0  # standard deviations of the noise


def calibration_of(others, members, edges, deviation):
    """Observed shares of a class by predicted probability, in ranges of bins with clearly more records than noise."""
    both, parts, start = others + members, [], 0
    fewest = max(both.sum() / _PARTS, 1.0)
    for end in range(1, len(both) + 1):
        inside = slice(start, end)
        count = both[inside].sum()
        if count >= max(fewest, _CLEAR * deviation * math.sqrt(2 * (end - start))):
            parts.append(_part(others[inside], members[inside], edges[start : end + 1], deviation))
            start = end
    return parts


def _part(others, members, edges, deviation):
    count, of_class = others.sum() + members.sum(), members.sum()
    middles, weights = (edges[:-1] + edges[1:]) / 2, np.maximum(others + members, 0)
    share = of_class / count
    # The share v is possible if of_class - v count is within its noise; at least the interval at v = share.
    noise = deviation * math.sqrt(len(members) * (share**2 + (1 - share) ** 2)) / count
    ends = np.clip([share, share - _REACH * noise, share + _REACH * noise], 0, 1)
    predicted = float(middles @ weights / weights.sum()) if weights.sum() > 0 else float(middles.mean())
    return CalibrationPart(float(edges[0]), float(edges[-1]), predicted, *map(float, ends))
