"""Counterexamples to PNC as printed: the rows of docs/theory/corrections.md that name this file."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks.published_pnc import (
    covariance_without_partition,
    delta_of_gaussian_noise,
    directions,
    noise_of_appendix_1,
    noise_of_theorem_4,
    noisy_projections,
    squared_correlation,
    u_statistic,
)

EPSILON, DELTA = 1.0, 1e-6


def test_noise_without_the_index_of_the_projection_reveals_every_value():
    """Equation 3, with any noise: differences of two projections have none, and p + 1 projections give all of X."""
    rng = np.random.default_rng(0)
    X = rng.random((50, 4))
    u = directions(5, 4, rng)
    sent = noisy_projections(X, u, 1000.0, rng)  # as if epsilon were 0.005
    solved = np.linalg.lstsq(u[1:] - u[0], (sent[:, 1:] - sent[:, :1]).T, rcond=None)[0].T
    np.testing.assert_allclose(solved, X, atol=1e-9)
    for_each = X @ u.T + 1000.0 * rng.standard_normal((50, 5))  # with the index, the guess is nowhere near
    guess = np.linalg.lstsq(u[1:] - u[0], (for_each[:, 1:] - for_each[:, :1]).T, rcond=None)[0].T
    assert np.abs(guess - X).mean() > 100


@pytest.mark.parametrize("p", [1, 10, 100])
def test_noise_of_theorem_4_protects_one_attribute_but_not_a_record(p):
    """u = (1, ..., 1) / sqrt(p) has w2 = 1 / sqrt(p); a record whose attributes all rise by 1 moves by sqrt(p)."""
    w2 = 1 / math.sqrt(p)
    sigma = noise_of_theorem_4(EPSILON, DELTA, w2)
    assert delta_of_gaussian_noise(EPSILON, sigma, shift=w2) < DELTA
    of_record = delta_of_gaussian_noise(EPSILON, sigma, shift=p * w2)
    assert of_record < DELTA if p == 1 else of_record > 0.3


def test_noise_of_appendix_1_has_a_delta_a_thousand_times_too_large():
    assert delta_of_gaussian_noise(EPSILON, noise_of_appendix_1(EPSILON, DELTA)) > 1000 * DELTA


def test_noise_of_the_stated_variance_does_not_give_the_stated_guarantee():
    """Laplace noise of variance D / eps has scale sqrt(D / (2 eps)): its loss is D over that, sqrt(2 D eps)."""

    def loss(n, epsilon):
        sensitivity = (12 * n - 11) / (n - 1) ** 2
        return sensitivity / math.sqrt(sensitivity / epsilon / 2)

    assert loss(20, 1.0) == pytest.approx(1.126, abs=1e-3)  # above 1: too little noise for few records
    assert loss(10_000, 1.0) == pytest.approx(0.049, abs=1e-3)  # 20 times too much for many
    assert loss(2000, 0.001) > 3 * 0.001


def test_the_decomposition_is_not_an_equality():
    """Theorem 1 writes what noise does as a sum whose second term is never negative; in fact noise subtracts."""
    rng = np.random.default_rng(0)
    n, sigma = 300, noise_of_theorem_4(EPSILON, DELTA)
    x = rng.random(n)
    N = sigma * rng.standard_normal(n)
    difference = u_statistic(x + N, x) - u_statistic(x, x)
    distances = [np.abs(values[:, np.newaxis] - values).sum(axis=1) for values in (N, x)]
    second = 4 / (n * (n - 2) * (n - 3)) * (distances[0] @ distances[1])
    assert difference < 0.1
    assert u_statistic(N, x) + second > 5  # stated to equal it
    correlations = [squared_correlation(x, x, EPSILON, DELTA, rng) for _ in range(5)]
    assert np.median(correlations) < 0.2  # of a column with itself, which should be 1


def test_the_tail_behind_the_error_bound_does_not_hold_for_the_noise():
    """A.1: (n - 1) N_i is given the variance (n - 1) s^2, not (n - 1)^2 s^2; n = 200, t = 2 s."""
    n, t = 200, 2.0
    printed = math.exp(-(n**2) * t**2 / (4 * (n - 1)) + n * math.log(2))
    assert printed < 1e-25
    assert 2 * norm.sf(n * t / (n - 1)) > 0.04  # |(n - 1) N_i| alone reaches n t
    N = np.random.default_rng(0).standard_normal((2000, n))
    assert (np.abs(N[:, :1] - N).sum(axis=1) >= n * t).mean() > 0.02  # as does the sum that is bounded by it


@pytest.mark.parametrize("n", [100, 10_000, 10**8])
def test_the_error_bound_does_not_shrink_with_n_and_exceeds_the_largest_value(n):
    """Theorem 2: C n^3 t1 t2, with each t above 2 s sqrt((n - 1) / n log 2); no dCov^2 in [0, 1] exceeds 1/4."""
    sigma = noise_of_theorem_4(EPSILON, DELTA)
    least = 2 * math.sqrt((n - 1) / n * math.log(2))  # for a standard deviation of 1
    bound = 4 / (n * (n - 2) * (n - 3)) * n**3 * (sigma * least) * (0.01 * least)  # of V'Y, only 0.01
    assert bound > 0.25


def test_the_u_statistic_matches_equation_1():
    """Equation 1, and equation 2 without noise: the mean over projections of 2 columns with 1."""
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 2)), rng.random((60, 1))

    def plain(A, B):
        n = len(A)
        U = [M - M.sum(0) / (n - 2) - M.sum(1)[:, np.newaxis] / (n - 2) + M.sum() / ((n - 1) * (n - 2)) for M in (A, B)]
        return (U[0] * U[1] * (1 - np.eye(n))).sum() / (n * (n - 3))

    A, B = np.linalg.norm(X[:, np.newaxis] - X, axis=2), np.abs(y - y.T)
    assert u_statistic(y[:, 0], X[:, 0]) == pytest.approx(plain(B, np.abs(X[:, :1] - X[:, 0])))
    tied = np.round(3 * X[:, 0])
    assert u_statistic(tied, tied) == pytest.approx(plain(*2 * [np.abs(tied[:, np.newaxis] - tied)]))
    assert covariance_without_partition(X, X[:, :1], 500, 0.0, rng) == pytest.approx(
        plain(A, np.abs(X[:, :1] - X[:, 0])), rel=0.1
    )
