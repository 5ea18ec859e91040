"""Unbiased distance covariance of reports and a target, and how much each record bears on it.

Records are reported parts with targets and weights: 1 for a record, its noisy count for a cell of a table. All sums
take O(n log n + m n) operations for m parts (``docs/theory/two_parties.md``, section 2).
"""

from typing import NamedTuple

import numpy as np


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
