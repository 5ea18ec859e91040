"""The nearest correlation matrix and Pearson correlations, compared with their definitions."""

import numpy as np
import pytest

from skdpmic.correlation.private_correlation import (
    columns_with_ties,
    known_shares,
    nearest_correlation,
)


def random_correlation(p, rng, rank=None):
    factor = rng.normal(size=(p, rank or p))
    factor /= np.linalg.norm(factor, axis=1, keepdims=True)
    return factor @ factor.T


def symmetric_noise(p, rng):
    noise = np.triu(rng.normal(size=(p, p)), 1)
    return noise + noise.T


def assert_is_correlation(matrix):
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_array_equal(matrix.diagonal(), 1.0)
    assert np.abs(matrix).max() <= 1
    assert np.linalg.eigvalsh(matrix)[0] > -1e-12


NOISE = [0.01, 0.1, 1.0, 1e6]


@pytest.mark.few
@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("p", [2, 3, 10, 40])
def test_the_nearest_matrix_is_a_correlation_matrix_and_no_farther_from_any_other_than_the_noisy_one(p, noise):
    rng = np.random.default_rng(p)
    for rank in (1, p):
        truth = random_correlation(p, rng, rank)
        noisy = truth + noise * symmetric_noise(p, rng)
        nearest = nearest_correlation(noisy)
        assert_is_correlation(nearest)
        assert np.linalg.norm(nearest - truth) <= np.linalg.norm(noisy - truth) + 1e-9


def test_no_correlation_matrix_is_nearer():
    # A projection onto a convex set: its residual makes an obtuse angle with the direction to any other member.
    rng = np.random.default_rng(0)
    for p in (3, 6, 15):
        noisy = np.clip(random_correlation(p, rng, 2) + 0.5 * symmetric_noise(p, rng), -1, 1)
        np.fill_diagonal(noisy, 1.0)
        nearest = nearest_correlation(noisy)
        members = [random_correlation(p, rng, rank) for rank in (1, 2, p) for _ in range(200)]
        assert max(((noisy - nearest) * (member - nearest)).sum() for member in members) < 1e-6


# --- Ties -------------------------------------------------------------------------------------------------------------


def test_ties_that_noise_alone_may_explain_are_ignored():
    """Up to three standard deviations. No share is so small that dividing by it would leave only noise."""
    untied = np.array([1.01, 0.95, 0.93, 0.5, 0.01])
    assert known_shares(untied, 0.02).tolist() == [1.0, 1.0, 0.93, 0.5, 0.06]
    assert known_shares(untied, 0.0).tolist() == [1.0, *untied[1:]]


def test_columns_with_ties_leaves_out_ties_that_may_be_noise():
    assert columns_with_ties(np.array([0.98, 0.5, 1.01]), 0.02) == [1]
    assert columns_with_ties(np.array([0.98, 0.5, 1.01]), 0.0) == [0, 1]
    assert columns_with_ties(np.array([0.991, 0.99, 0.989]), 0.0) == [2]
    assert columns_with_ties(np.array([0.0, -0.5]), 9.0) == []
