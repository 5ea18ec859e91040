"""Distance correlation of a reported column and a target, squared, and its variance."""

import math
from typing import NamedTuple

import numpy as np

from skdpmic._utils.shares import nearest_shares
from skdpmic.two_party.distances import (
    discrete_variance,
    histogram_variance,
    part_centres,
    part_distances,
    part_variance,
)
from skdpmic.two_party.response_tables import noise_variance
from skdpmic.two_party.weighted_records import Classes, Estimate, Numbers, distance_covariance, distance_variance

_FEWEST = 5  # records, with one of which left out the equations still hold


class SquaredCorrelation(NamedTuple):
    """An estimate of the square of a distance correlation."""

    value: float  # negative where less is seen than chance shows
    variance: float
    covariance: float  # unbiased


NOTHING = SquaredCorrelation(0.0, math.inf, 0.0)


def of_records(parts, target, column, inverse):
    """The estimate from the reports of records, and their targets as they are.

    Parameters
    ----------
    parts : ndarray of shape (n_samples,)
        Reported; -1 where a record reports nothing.
    target : NumericTarget or ClassTarget
    column : ReportedColumn
    inverse : ndarray of shape (n_parts, n_parts)
        Of the response matrix.
    """
    reported = parts >= 0
    if reported.sum() < _FEWEST:
        return NOTHING
    weights, values = np.ones(reported.sum()), target.values[reported]
    of_target, unit = Classes(values), 1.0
    if target.n_classes is None:
        of_target, unit = _of_width_1(values, target.bounds)
    spread = distance_variance(of_target, weights)
    found = _estimate(parts[reported], of_target, spread, weights, column, inverse, len(weights), 0.0)
    return found._replace(covariance=found.covariance * unit)


def of_counts(counts, n, is_discrete, scale, column, inverse):
    """The estimate from counts of n reported parts and parts of the target, with noise of this scale."""
    n_target = counts.shape[1]
    if n < _FEWEST:
        return NOTHING
    parts, of_target = (index.ravel() for index in np.indices(counts.shape))
    variance_of = discrete_variance if is_discrete else histogram_variance
    spread = _of_shares(variance_of, counts.sum(axis=0), of_target, np.eye(n_target))
    target = Classes(of_target) if is_discrete else Numbers(part_centres(n_target)[of_target])
    weights = counts.ravel().astype(np.float64)
    return _estimate(parts, target, spread, weights, column, inverse, n, noise_variance(scale))


def _estimate(parts, target, spread, weights, column, inverse, n, of_noise):
    distances = inverse.T @ part_distances(column) @ inverse
    covariance = distance_covariance(parts, target, weights, distances, n, of_noise)
    counts = np.bincount(parts, weights, minlength=len(inverse))
    own = _of_shares(lambda shares: part_variance(column, shares), counts, parts, inverse)
    value = _ratio(covariance.value, own.value, spread.value)
    without = _ratio(covariance.without, own.without, spread.without)
    # The jackknife; noise on a count moves the estimate as so many records more or less would.
    counted = np.maximum(weights, 0.0)
    bears = (without - (counted @ without) / max(counted.sum(), 1.0)) ** 2
    return SquaredCorrelation(float(value), float((counted + of_noise) @ bears), float(covariance.value))


def _of_shares(variance_of, counts, parts, inverse):
    """A distance variance from counts of parts, with and without a record of each of `parts`."""
    without = [variance_of(_shares(row, inverse)) for row in counts - np.eye(len(counts))]
    return Estimate(variance_of(_shares(counts, inverse)), np.array(without)[parts])


def _shares(counts, inverse):
    total = counts.sum()
    return nearest_shares(inverse @ (counts / total)) if total > 0 else np.full(len(counts), 1 / len(counts))


def _ratio(covariance, own, spread):
    """Zero where a column is constant."""
    product = np.maximum(own, 0.0) * np.maximum(spread, 0.0)
    varies = product > 1e-24
    return np.where(varies, covariance / np.sqrt(np.where(varies, product, 1.0)), 0.0)


def _of_width_1(values, bounds):
    """A target in a range of width 1, so that no product of its values can overflow; and the unit of a covariance.

    That is 1 if the range is public, and the width of the range of these values, if there are no bounds.
    """
    if bounds is not None:
        lower, upper = bounds
        return Numbers((np.clip(values, lower, upper) - lower) / (upper - lower)), 1.0
    halves = values / 2  # whose range is a float
    width = halves.max() - halves.min() or 1.0
    return Numbers((halves - halves.min()) / width), 2 * float(width)
