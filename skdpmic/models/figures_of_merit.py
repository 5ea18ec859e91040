"""Figures of merit of a model from noisy counts or sums, each with an interval for its value without noise.

All of them are means of ratios of noisy numbers (``noisy_ratios.py``, ``docs/theory/evaluation.md``).
"""

import math
from typing import NamedTuple

import numpy as np

from skdpmic.models.noisy_ratios import Ratio, mean_of
from skdpmic.privacy.weighted_noise import deviations_of


class Figure(NamedTuple):
    """A figure of merit, and two kinds of error."""

    value: float
    lower: float
    """Lower end of the 95% interval for the value without noise, for the same records."""
    upper: float
    sampling_error: float
    """Estimated standard error for another sample of people; NaN where the release does not determine it."""


_MOST = 1e25  # of noisy numbers: far below the largest scale of their noise, so that nothing overflows, or seems clear


def bounded_scale(scale):
    """The scale of noise as a float whose powers do not overflow: larger noise leaves nothing to be seen, either."""
    return float(min(scale, 10**30))


def mean_over_records(worth, noisy, scale, n_samples, usual=0.0, limits=(0.0, 1.0)):
    """The mean over records, whose number is public, of what they are worth: its value and interval.

    Parameters
    ----------
    worth, noisy : ndarrays of one shape
        What a record of each cell is worth, less `usual`; and the noisy numbers of records, with noise of this scale.
    scale : float
    n_samples : int
    usual : float
    limits : (float, float)
        Of the mean.
    """
    worth, noisy = worth.ravel(), np.clip(noisy, -_MOST, _MOST).ravel()
    nothing = np.zeros(len(worth))
    mean = Ratio(worth @ noisy, n_samples, worth, nothing, deviations_of(nothing + scale))
    return mean_of([mean._replace(top=mean.top + usual * n_samples)], limits)


def accuracy(n_right, scale, n_samples, rows_per_group):
    """The share of right predictions, from their noisy number."""
    value, *ends = mean_over_records(np.ones(1), np.array([n_right]), scale, n_samples)
    return Figure(value, *ends, math.sqrt(value * (1 - value) * rows_per_group / n_samples))


def brier_score(middles, tables, scale, n_samples, rows_per_group):
    """The sum over classes of the mean squared difference between a prediction and whether the record is of the class.

    Parameters
    ----------
    middles : ndarray of shape (n_bins,)
        The prediction that represents each bin.
    tables : ndarray of shape (n_scored, 2, n_bins)
        Noisy counts.
    scale : float
        That of their noise.
    n_samples, rows_per_group : int
    """
    worth, n_scored = (np.arange(2)[:, None] - middles) ** 2, len(tables)
    usual = worth.mean()
    centred = np.tile(worth - usual, (n_scored, 1, 1))  # as the sum of all counts is known
    limits = n_scored * worth.min(), n_scored * worth.max()
    value, *ends = mean_over_records(centred, tables, scale, n_samples, n_scored * usual, limits)
    means, squares = ((centred**power * tables).sum(axis=(1, 2)) / n_samples for power in (1, 2))
    spreads = np.sqrt(np.maximum(squares - means**2, 0.0) * rows_per_group / n_samples)
    return Figure(value, *ends, float(spreads.sum()))


# --- ROC AUC ----------------------------------------------------------------------------------------------------------


def area_under_curve(tables, scale, rows_per_group):
    """The mean over classes of the probability that a member has a larger prediction than another; ties count half.

    Parameters
    ----------
    tables : ndarray of shape (n_scored, 2, n_bins)
        Noisy counts, others first.
    scale : float
        That of their noise.
    rows_per_group : int
    """
    tables = np.clip(tables, -_MOST, _MOST)
    areas = mean_of([_area(*table, scale) for table in tables])
    return Figure(*areas, float(np.mean([_sampling_error_of_area(*table, rows_per_group) for table in tables])))


def _area(others, members, scale):
    """The number of pairs in which the member has the larger prediction, by that of all; 1/2 if there is none."""
    n_members, n_others = members.sum(), others.sum()
    if n_members <= 0 or n_others <= 0:
        nothing, is_known = np.zeros(1), float(scale == 0)
        return Ratio(is_known / 2, is_known, nothing, nothing, nothing)
    wins, losses = _of_one_more(others, members)
    of_pairs = np.repeat([n_members, n_others], len(members))
    of_wins = np.concatenate([losses, wins])
    return Ratio(members @ wins, n_members * n_others, of_wins, of_pairs, deviations_of(np.full(len(of_wins), scale)))


def _of_one_more(others, members):
    """Pairs that one more member of each bin wins, and that one more of the others loses."""
    return np.cumsum(others) - others / 2, members[::-1].cumsum()[::-1] - members / 2


def _sampling_error_of_area(others, members, rows_per_group):
    n_members, n_others = members.sum(), others.sum()
    if n_members <= 0 or n_others <= 0:
        return math.nan
    wins, losses = _of_one_more(others, members)
    area = np.clip(members @ wins / (n_members * n_others), 0, 1)
    variance = np.maximum(members, 0) @ (wins / n_others - area) ** 2 / n_members**2
    variance += np.maximum(others, 0) @ (losses / n_members - area) ** 2 / n_others**2
    return math.sqrt(variance * rows_per_group)


# --- Numbers ----------------------------------------------------------------------------------------------------------


def figures_of_sums(noisy, scales, steps, width, n_samples, rows_per_group):
    """R2 and the mean absolute error.

    Parameters
    ----------
    noisy : list of int
        The four sums of :class:`skdpmic.models.number_sums.ErrorSums`.
    scales : list of float
        Scales of their noise.
    steps : int
    width : float
        Width of the range of the target.
    n_samples, rows_per_group : int

    Returns
    -------
    dict of Figure
    """
    units = np.array([steps, steps**2, 2 * steps, 4 * steps**2], dtype=np.float64)
    worth = 1 / units / n_samples
    error, square, mean, mean_square = worth * [max(min(total, _MOST), -_MOST) for total in noisy]
    absolute = mean_over_records(1 / units[:1], error / worth[:1], scales[0], n_samples)
    sampling = math.sqrt(max(square - error**2, 0.0) * rows_per_group / n_samples)
    return {
        "r2": _r2(square, float(np.clip(mean, -0.5, 0.5)), mean_square, worth, deviations_of(scales)),
        "mean_absolute_error": Figure(*(width * end for end in (*absolute, sampling))),
    }


def _r2(square, mean, mean_square, worth, deviations):
    """1 - S / V, with S the mean of squares of errors, and V the variance of the target.

    The square of the noise on the mean, less its expectation, is in V, too. Its deviation is that of sqrt(5) times the
    variance of this noise, so it counts as one more noisy number.
    """
    of_mean = worth[2] * deviations[2]
    variance = mean_square - mean**2 + of_mean**2
    of_variance = [0.0, worth[3], -2 * mean * worth[2], math.sqrt(5) * worth[2] * of_mean]
    of_square = np.array([worth[1], 0.0, 0.0, 0.0])
    ratio = Ratio(square, variance, of_square, np.array(of_variance), deviations[[1, 3, 2, 2]])
    share, lower, upper = mean_of([ratio], (0.0, math.inf))
    return Figure(1 - share if variance > 0 else math.nan, 1 - upper, 1 - lower, math.nan)


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
_CLEAR = 6.0  # standard deviations of the noise


def calibration_of(others, members, edges, scale):
    """Observed shares of a class by predicted probability, in ranges of bins with clearly more records than noise."""
    both, parts, start = others + members, [], 0
    fewest, deviation = max(both.sum() / _PARTS, 1.0), float(deviations_of(scale))
    for end in range(1, len(both) + 1):
        inside = slice(start, end)
        count = both[inside].sum()
        if count >= max(fewest, _CLEAR * deviation * math.sqrt(2 * (end - start))):
            parts.append(_part(others[inside], members[inside], edges[start : end + 1], scale))
            start = end
    return parts


def _part(others, members, edges, scale):
    middles, weights = (edges[:-1] + edges[1:]) / 2, np.maximum(others + members, 0)
    of_class = np.repeat([0.0, 1.0], len(members))
    of_both = np.ones(len(of_class))
    share = Ratio(members.sum(), others.sum() + members.sum(), of_class, of_both, deviations_of(scale * of_both))
    predicted = float(middles @ weights / weights.sum())
    return CalibrationPart(float(edges[0]), float(edges[-1]), predicted, *mean_of([share]))
