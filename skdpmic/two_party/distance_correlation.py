"""Distance correlation of a reported column and a target, squared, and its variance.

First the distance covariance of weighted records, and the distances between the parts of a column, with its distance
variance (``docs/theory/two_parties.md``, section 2).
"""

import math
from typing import NamedTuple

import numpy as np

from skdpmic._utils.shares import nearest_shares
from skdpmic.table.axes import Labels
from skdpmic.two_party.response_tables import noise_variance

_FEWEST = 5  # records, with one of which left out the equations still hold
_TO_MISSING = 0.5  # of a range of width 1: the least distance to all of it that distance covariance allows
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(3)  # exact for squares of quadratic functions
_NODES, _WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2


class Numbers(NamedTuple):
    """A target of numbers, or of parts, each at its centre."""

    values: np.ndarray

    def sums(self, weights):
        """Sum of the distances of each record to all records, with these weights: (n_records, n_columns)."""
        order = np.argsort(self.values, kind="stable")
        values, weights = self.values[order, np.newaxis], weights[order]
        below, moment = weights.cumsum(axis=0), (weights * values).cumsum(axis=0)
        result = np.empty_like(below)
        result[order] = values * (2 * below - below[-1]) - 2 * moment + moment[-1]
        return result

    def sums_of_squares(self, weights):
        """The same of the squares of the distances."""
        y = self.values - np.mean(self.values)
        return weights.sum() * y**2 - 2 * y * (weights @ y) + weights @ y**2


class Classes(NamedTuple):
    """A target of class numbers: any two different classes are 1 apart."""

    values: np.ndarray

    def sums(self, weights):
        """As of :class:`Numbers`."""
        of_class = np.zeros((self.values.max() + 1, weights.shape[1]))
        np.add.at(of_class, self.values, weights)
        return weights.sum(axis=0) - of_class[self.values]

    def sums_of_squares(self, weights):
        """As of :class:`Numbers`."""
        return self.sums(weights[:, np.newaxis])[:, 0]


class Estimate(NamedTuple):
    """An estimate of n records, and what it would be without one of each kind."""

    value: float
    without: np.ndarray  # (n_records,)


def distance_covariance(parts, target, weights, distances, n=None, noise_variance=0.0):
    """Squared distance covariance, by equation 1 of the U-statistic with ``a_ij = distances[part_i, part_j]``.

    Parameters
    ----------
    parts : int ndarray of shape (n_records,)
        Reported.
    target : Numbers or Classes
    weights : ndarray of shape (n_records,)
        Of sum 5 or more.
    distances : ndarray of shape (n_parts, n_parts)
        Debiased, so those of a part to itself need not be 0.
    n : int, default=None
        How many records there are, if not the sum of the weights.
    noise_variance : float, default=0.0
        Of independent noise on each of the weights, which are then cells of a table. What it adds on average, up to the
        square of this variance, is taken off.

    Returns
    -------
    Estimate
    """
    n_parts = len(distances)
    by_part = np.zeros((len(parts), n_parts))
    by_part[np.arange(len(parts)), parts] = weights
    to_self = np.diag(distances)[parts]
    a = (distances @ by_part.sum(axis=0))[parts] - to_self  # sum of a_ij over j
    sums = target.sums(np.column_stack([by_part, weights * a]))
    b, b_times_a = sums[:, :n_parts].sum(axis=1), sums[:, n_parts]
    ab = (distances[parts] * sums[:, :n_parts]).sum(axis=1)  # sum of a_ij b_ij; a record is at no distance of itself
    b_of_part = by_part.T @ b
    a_times_b = (distances @ b_of_part)[parts] - to_self * b  # sum of a_ij b_j
    n = weights.sum() if n is None else n
    estimate = _without_each(n, weights, ab, a, b, a_times_b, b_times_a)
    if noise_variance == 0:
        return estimate
    each = np.zeros((len(parts), n_parts))
    each[np.arange(len(parts)), parts] = 1.0
    products = weights @ (distances[parts] * target.sums(each)).sum(axis=1) + to_self @ b
    of_both = to_self.sum() * (weights @ b) + 2 * (2 * a + to_self) @ b
    excess = noise_variance * _equation(n, 0.0, products, of_both)
    return Estimate(estimate.value - excess, estimate.without - excess)


def distance_variance(target, weights):
    """The same of the target with itself."""
    b = target.sums(weights[:, np.newaxis])[:, 0]
    bb = target.sums_of_squares(weights)
    b_times_b = target.sums((weights * b)[:, np.newaxis])[:, 0]
    return _without_each(weights.sum(), weights, bb, b, b, b_times_b, b_times_b)


def _without_each(n, w, ab, a, b, a_times_b, b_times_a):
    """Equation 1 from its sums, and from those that remain without each record."""
    products = w @ (a * b)
    value = _equation(n, w @ ab, products, (w @ a) * (w @ b))
    without = _equation(
        n - 1, w @ ab - 2 * ab, products - a * b - a_times_b - b_times_a + ab, (w @ a - 2 * a) * (w @ b - 2 * b)
    )
    return Estimate(value, without)


def _equation(n, s1, s2, s3):
    return s1 / (n * (n - 3)) - 2 * s2 / (n * (n - 2) * (n - 3)) + s3 / (n * (n - 1) * (n - 2) * (n - 3))


def part_distances(column):
    """Distances between the parts of a reported column: (n_parts, n_parts).

    Of equal parts, that of their centres, with a range of width 1; a missing value is half of that away from all.
    Labels are all 1 apart.
    """
    if isinstance(column.axis, Labels):
        return 1.0 - np.eye(column.n_parts)
    centres = part_centres(column.n_equal)
    distances = np.full((column.n_parts, column.n_parts), _TO_MISSING)
    distances[: column.n_equal, : column.n_equal] = np.abs(centres[:, np.newaxis] - centres)
    np.fill_diagonal(distances, 0.0)
    return distances


def part_centres(n_equal):
    """Centres of equal parts of a range of width 1."""
    return (np.arange(n_equal) + 0.5) / n_equal


def part_variance(column, shares):
    """Distance variance, squared, of a column whose parts have these shares.

    Of a range, values are taken to be spread evenly within each part: then distance covariance, for which centres
    will do, and this have nearly the ratio that they have without parts.
    """
    if isinstance(column.axis, Labels):
        return discrete_variance(shares)
    n = column.n_equal
    return histogram_variance(shares[:n], shares[n:].sum())


def discrete_variance(shares):
    """Distance variance, squared, where any two different parts are 1 apart."""
    squares = shares**2
    return squares.sum() ** 2 + squares.sum() - 2 * (squares * shares).sum()


def histogram_variance(shares, missing=0.0):
    """Distance variance, squared, of a density that is constant on equal parts of a range of width 1.

    Parameters
    ----------
    shares : ndarray of shape (n_equal,)
        Of the parts; with `missing`, of sum 1.
    missing : float, default=0.0
        Share of missing values, which are `_TO_MISSING` from all others.
    """
    n = len(shares)
    centres, present = part_centres(n), shares.sum()
    between = np.abs(centres[:, np.newaxis] - centres)
    below = np.cumsum(shares) - shares
    at_left_end = np.abs(np.arange(n)[:, np.newaxis] / n - centres) @ shares
    rise = (2 * below - present)[:, np.newaxis] * _NODES + shares[:, np.newaxis] * _NODES**2
    to_all = at_left_end[:, np.newaxis] + rise / n + _TO_MISSING * missing  # mean distance, within each part
    mean_of_squares = shares @ (to_all**2 @ _WEIGHTS) + missing * (_TO_MISSING * present) ** 2
    mean = shares @ (between + np.eye(n) / (3 * n)) @ shares + 2 * _TO_MISSING * missing * present
    squared = shares @ (between**2 + 1 / (6 * n * n)) @ shares + 2 * _TO_MISSING**2 * missing * present
    return squared - 2 * mean_of_squares + mean**2


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
