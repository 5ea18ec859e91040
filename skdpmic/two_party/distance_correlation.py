"""Squared distance correlation of the parts of a reported column and a target, with intervals.

First the distance covariance of weighted records; then the distances between the parts of a column, with its distance
variance; then the ratio (``docs/theory/two_parties.md``, section 2).
"""

import math
from typing import NamedTuple

import numpy as np

from skdpmic._utils.arguments import nearest_shares
from skdpmic.privacy.noise import laplace_deviation
from skdpmic.table.domains import ends_of

_FEWEST = 5  # records; the equations also hold with one left out
_AT_ONCE = 16  # parts at a time, to limit memory per record
_TO_MISSING = 0.5  # for a range of width 1: the smallest distance to all of it that distance covariance allows
_NO_SPREAD = 1e-12  # rounding error of zero spread
_SIGNIFICANT = 2.0  # standard errors
_MOST_OF_RECORD = 0.15  # share of the variance: if one record has more, the normal approximation fails
_MOST_IN_PART = 0.6  # share of the values in one part: with more, parts say little (log-normal values have 0.8)
FARTHEST = 2**40  # noisy count: far more than the records that reports can have
REFUSALS = {
    "spread": "the reports do not show that values lie in more than one part: use more people, a larger epsilon, or "
    "bounds over which the values spread, such as (lower, upper, 'log') or knots",
    "coarse": f"more than {_MOST_IN_PART:.0%} of the values are in one part, and others in the next, so that parts say "
    "little of the values: give bounds over which the values spread, such as (lower, upper, 'log') or knots",
    "one record": f"one record contributes more than {_MOST_OF_RECORD:.0%} of the variance: use more people, "
    "target_bounds, or the logarithm of the target",
}


class Numbers(NamedTuple):
    """A target of numbers, or of parts at their centres."""

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
        """Sum of the squared distances of each record to all records, with these weights: (n_records,)."""
        y = self.values - np.mean(self.values)
        return weights.sum() * y**2 - 2 * y * (weights @ y) + weights @ y**2


class Classes(NamedTuple):
    """A target of class numbers: the distance between any two classes is 1."""

    values: np.ndarray

    def sums(self, weights):
        """As in :class:`Numbers`."""
        of_class = np.zeros((self.values.max() + 1, weights.shape[1]))
        np.add.at(of_class, self.values, weights)
        return weights.sum(axis=0) - of_class[self.values]

    def sums_of_squares(self, weights):
        """As in :class:`Numbers`."""
        return self.sums(weights[:, np.newaxis])[:, 0]


class Estimate(NamedTuple):
    """An estimate from n records, and its values without each one of them."""

    value: float
    without: np.ndarray  # (n_records,)


def distance_covariance(parts, target, weights, distances, n=None, noise_variance=0.0):
    """Squared distance covariance, by equation 1 of the U-statistic with ``a_ij = distances[part_i, part_j]``.

    Parameters
    ----------
    parts : int ndarray of shape (n_records,)
        Reported parts.
    target : Numbers or Classes
    weights : ndarray of shape (n_records,)
        Weights with a sum of 5 or more.
    distances : ndarray of shape (n_parts, n_parts)
        Debiased distances, so the distance of a part to itself need not be 0.
    n : int, default=None
        Number of records, if it is not the sum of the weights.
    noise_variance : float, default=0.0
        Variance of independent noise on the weights, which are then cells of a table. Its mean effect, up to the square
        of this variance, is subtracted.

    Returns
    -------
    Estimate
    """
    to_self = np.diag(distances)[parts]
    a = (distances @ np.bincount(parts, weights, minlength=len(distances)))[parts] - to_self  # sum of a_ij over j
    b_times_a = target.sums((weights * a)[:, np.newaxis])[:, 0]
    b, ab = np.zeros(len(parts)), np.zeros(len(parts))  # sums of b_ij, and of a_ij b_ij; b_ii is 0
    for some in np.array_split(np.arange(len(distances)), -(-len(distances) // _AT_ONCE)):
        sums = target.sums(weights[:, np.newaxis] * (parts[:, np.newaxis] == some))
        b += sums.sum(axis=1)
        ab += (distances[np.ix_(some, parts)].T * sums).sum(axis=1)
    a_times_b = (distances @ np.bincount(parts, weights * b, minlength=len(distances)))[parts] - to_self * b
    n = weights.sum() if n is None else float(n)  # whose fourth power would not fit in an int64
    estimate = _without_each(n, weights, ab, a, b, a_times_b, b_times_a)
    if noise_variance == 0:
        return estimate
    each = np.zeros((len(parts), len(distances)))
    each[np.arange(len(parts)), parts] = 1.0
    products = weights @ (distances[parts] * target.sums(each)).sum(axis=1) + to_self @ b
    of_both = to_self.sum() * (weights @ b) + 2 * (2 * a + to_self) @ b
    excess = noise_variance * _equation(n, 0.0, products, of_both)
    return Estimate(estimate.value - excess, estimate.without - excess)


def distance_variance(target, weights):
    """Squared distance variance of the target, with these weights: an estimate."""
    b = target.sums(weights[:, np.newaxis])[:, 0]
    bb = target.sums_of_squares(weights)
    b_times_b = target.sums((weights * b)[:, np.newaxis])[:, 0]
    return _without_each(weights.sum(), weights, bb, b, b, b_times_b, b_times_b)


def _without_each(n, w, ab, a, b, a_times_b, b_times_a):
    """Equation 1 from its sums, and from the sums without each record."""
    products = w @ (a * b)
    value = _equation(n, w @ ab, products, (w @ a) * (w @ b))
    products, of_both = products - a * b - a_times_b - b_times_a + ab, (w @ a - 2 * a) * (w @ b - 2 * b)
    return Estimate(value, _equation(n - 1, w @ ab - 2 * ab, products, of_both))


def _equation(n, s1, s2, s3):
    return s1 / (n * (n - 3)) - 2 * s2 / (n * (n - 2) * (n - 3)) + s3 / (n * (n - 1) * (n - 2) * (n - 3))


def part_distances(n_equal, n_parts):
    """Distances between the parts of a column: (n_parts, n_parts).

    The distance of equal parts of a range is that of their centres, for a range of width 1; the distance of missing
    values to all others is one half. The distance of any two labels, of which none are equal parts, is 1.
    """
    if n_equal is None:
        return 1.0 - np.eye(n_parts)
    centres, distances = part_centres(n_equal), np.full((n_parts, n_parts), _TO_MISSING)
    distances[:n_equal, :n_equal] = np.abs(centres[:, np.newaxis] - centres)
    np.fill_diagonal(distances, 0.0)
    return distances


def part_centres(n_equal):
    """Centres of equal parts of a range of width 1."""
    return (np.arange(n_equal) + 0.5) / n_equal


def variance_of_shares(shares, distances):
    """Distance variance, squared, of columns whose parts have these shares, at these distances.

    Parameters
    ----------
    shares : ndarray of shape (..., n_parts)
        Shares, which may be negative due to noise.
    distances : ndarray of shape (n_parts, n_parts)

    Returns
    -------
    ndarray of shape (...,)
    """
    to_all = shares @ distances
    squares = (shares @ distances**2 * shares).sum(axis=-1)
    return squares - 2 * (shares * to_all**2).sum(axis=-1) + (shares * to_all).sum(axis=-1) ** 2


def curvature_of_variance(shares, distances):
    """Its second derivatives with respect to the shares of one column: (n_parts, n_parts)."""
    to_all = distances @ shares
    slope = to_all[:, np.newaxis] * distances
    mixed = slope + slope.T + distances * shares @ distances
    return 2 * distances**2 - 4 * mixed + 8 * np.outer(to_all, to_all) + 4 * (shares @ to_all) * distances


class SquaredCorrelation(NamedTuple):
    """An estimate of a squared distance correlation: a covariance divided by the spread of both columns."""

    covariance: float  # unbiased
    spread: float  # root of the product of both distance variances, debiased
    regular_spread: float  # the same from nonnegative shares: biased, but not small by chance
    errors: np.ndarray  # (2, 2): variances of covariance and spread, and their covariance
    largest_share: float  # largest share of the variance of one record
    is_coarse: bool = False  # whether the parts are too coarse for the values

    @property
    def value(self):
        """The estimate; negative if it is below the chance level, 0 for a constant column."""
        spread = self.spread if self._is_spread(_SIGNIFICANT) else self.regular_spread
        return self.covariance / spread if spread > _NO_SPREAD else 0.0

    def why_no_interval(self, z):
        """One of the keys of `REFUSALS`, or None."""
        if self.largest_share > _MOST_OF_RECORD:
            return "one record"
        if not self._is_spread(max(z, _SIGNIFICANT)):
            return "spread"
        return "coarse" if self.is_coarse else None

    def interval(self, z):
        """All r for which ``covariance - r * spread`` is at most z standard errors from 0 (Fieller)."""
        if self.why_no_interval(z):
            return 0.0, 1.0
        (of_covariance, of_both), (_, of_spread) = self.errors
        a = self.spread**2 - z * z * of_spread  # above 0, because the spread is significant
        b = self.covariance * self.spread - z * z * of_both
        c = self.covariance**2 - z * z * of_covariance
        width = math.sqrt(max(b * b - a * c, 0.0))
        return (b - width) / a, self._upper_end((b + width) / a, z)

    def _upper_end(self, upper, z):
        """The upper end if the standard error grows with the root of r, as it does for weak dependence."""
        margin = max(upper - self.value, 1e-300)
        slope = margin / math.sqrt(max(self.value, margin / z))
        return (slope / 2 + math.sqrt(slope**2 / 4 + max(self.value, 0.0))) ** 2

    def _is_spread(self, z):
        """Whether the spread is more than z standard errors above 0."""
        return self.spread > max(z * math.sqrt(self.errors[1, 1]), _NO_SPREAD)


NOTHING = SquaredCorrelation(0.0, 0.0, 0.0, np.zeros((2, 2)), 1.0)


def estimate_from_records(parts, column, inverse, target):
    """The estimate from the reports of records and their exact targets.

    Parameters
    ----------
    parts : ndarray of shape (n_samples,)
        Reported parts; -1 if a record reports nothing.
    column : ReportedColumn
    inverse : ndarray of shape (n_parts, n_parts)
        Inverse of the response matrix.
    target : NumericTarget or ClassTarget

    Returns
    -------
    SquaredCorrelation
    float
        The unbiased squared distance covariance, in the units of the target.
    """
    reported = parts >= 0
    if reported.sum() < _FEWEST:
        return NOTHING, 0.0
    weights, values = np.ones(reported.sum()), target.values[reported]
    of_target, unit = Classes(values), 1.0
    if target.n_classes is None:
        of_target, unit = _scaled_to_width_1(values, target.bounds)
    spread = distance_variance(of_target, weights)
    found = _estimate(parts[reported], of_target, spread, weights, column, inverse, len(weights), 0.0, 0.0)
    return found, found.covariance * unit


def estimate_from_counts(counts, n, column, inverse, is_discrete, scale):
    """The estimate from counts of n reported parts and parts of the target, with noise of this scale."""
    if n < _FEWEST:
        return NOTHING, 0.0
    n_parts, n_target = counts.shape
    parts, of_target = (index.ravel() for index in np.indices(counts.shape))
    distances = part_distances(None if is_discrete else n_target, n_target)
    target = Classes(of_target) if is_discrete else Numbers(part_centres(n_target)[of_target])
    of_noise, nothing = noise_variance(scale), np.eye(n_target)
    spread, _ = unbiased_variance(counts.sum(axis=0), of_target, distances, nothing, n_parts * of_noise)
    weights = counts.ravel().astype(np.float64)
    found = _estimate(parts, target, spread, weights, column, inverse, n, of_noise, n_target * of_noise)
    return found, found.covariance


def _estimate(parts, target, spread, weights, column, inverse, n, of_noise, of_noise_on_parts):
    distances = part_distances(column.n_equal, column.n_parts)
    covariance = distance_covariance(parts, target, weights, inverse.T @ distances @ inverse, n, of_noise)
    counts = np.bincount(parts, weights, minlength=len(inverse))
    own, regular = unbiased_variance(counts, parts, distances, inverse, of_noise_on_parts)
    without = np.array([covariance.without, _root(own.without, spread.without)])
    # The jackknife; noise on a count changes the estimate like that many records more or less.
    counted = np.maximum(weights, 0.0)
    bears = without - (without @ counted / max(counted.sum(), 1.0))[:, np.newaxis]
    errors = (counted + of_noise) * bears @ bears.T
    of_both, of_regular = _root(own.value, spread.value), _root(regular, spread.value)
    found = SquaredCorrelation(float(covariance.value), float(of_both), float(of_regular), errors, 0.0)
    of_each = ([1.0, -found.value] @ bears) ** 2
    of_all = of_each @ (counted + of_noise)
    return found._replace(
        largest_share=float(of_each.max() / of_all) if of_all > 0 else 0.0,
        is_coarse=are_coarse(*shares_of(counts, inverse, of_noise_on_parts), column.n_equal),
    )


def are_coarse(shares, errors, n_equal):
    """Whether one of `n_equal` parts of a range has by far most of the values, and a neighbouring part also has some.

    Both must exceed two standard errors. Labels are not parts of a range, and few distinct values rarely lie in
    neighbouring parts.
    """
    if n_equal is None:
        return False
    shares, errors = shares[:n_equal], _SIGNIFICANT * np.sqrt(np.maximum(np.diag(errors)[:n_equal], 0.0))
    most = np.argmax(shares)
    is_beside = np.abs(np.arange(n_equal) - most) == 1
    return bool(shares[most] - _MOST_IN_PART * shares.sum() > errors[most] and (shares > errors)[is_beside].any())


def shares_of(counts, inverse, of_noise):
    """Unbiased shares of the parts, and the covariance of their errors, with noise of this variance on each count."""
    n = max(float(counts.sum()), 1.0)  # noise may make it negative
    reported = counts / n
    draws = np.diag(np.maximum(reported, 0.0)) - np.outer(reported, reported)
    moved = np.eye(len(counts)) - reported[:, np.newaxis]  # derivatives of the shares by each count
    return inverse @ reported, inverse @ (draws / n + of_noise * moved @ moved.T / n**2) @ inverse.T


def unbiased_variance(counts, parts, distances, inverse, of_noise):
    """A distance variance, with and without a record of each of `parts`; and that of nonnegative shares.

    `of_noise` is the variance of independent noise on each count of parts.
    """
    n = float(counts.sum())
    if n <= 1:
        return Estimate(0.0, np.zeros(len(parts))), 0.0
    shares, errors = shares_of(counts, inverse, of_noise)
    without = variance_of_shares((counts - np.eye(len(counts))) / (n - 1) @ inverse.T, distances)
    bias = (curvature_of_variance(shares, distances) * errors).sum() / 2
    estimate = Estimate(variance_of_shares(shares, distances) - bias, without[parts] - bias)
    return estimate, variance_of_shares(nearest_shares(shares), distances)


def _root(own, spread):
    return np.sqrt(np.maximum(own, 0.0) * np.maximum(spread, 0.0))


def _scaled_to_width_1(values, bounds):
    """A target scaled to a range of width 1, so that no product of its values overflows; and the unit of a covariance.

    The unit is 1 if the range is public, and the width of the range of these values without bounds.
    """
    if bounds is not None:
        lower, upper = ends_of(bounds)
        return Numbers((np.clip(values, lower, upper) - lower) / (upper - lower)), 1.0
    halves = values / 2  # whose range does not overflow
    width = halves.max() - halves.min() or 1.0
    return Numbers((halves - halves.min()) / width), 2 * float(width)


def noise_variance(scale):
    """Variance of discrete Laplace noise of this scale on clamped counts."""
    return min(laplace_deviation(scale), float(FARTHEST)) ** 2
