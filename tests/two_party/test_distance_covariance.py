"""Distance covariance of reports: exact without noise, unbiased with it; and the distances and variances of parts."""

import math
from fractions import Fraction

import numpy as np
import pytest

from skdpmic.privacy.noise import entropy_source
from skdpmic.two_party.distance_correlation import (
    Classes,
    Numbers,
    distance_covariance,
    distance_variance,
    part_distances,
    unbiased_variance,
    variance_of_shares,
)
from skdpmic.two_party.randomized_response import inverse_response_matrix, randomized_response


def naive(A, B):
    """Equation 1, term by term, for distances of all pairs."""
    n, pairs, rows = len(A), 0.0, 0.0
    for i in range(n):
        for j in range(n):
            if i != j:
                pairs += A[i, j] * B[i, j]
        rows += sum(A[i, j] for j in range(n) if j != i) * sum(B[i, j] for j in range(n) if j != i)
    of_all = [sum(M[i, j] for i in range(n) for j in range(n) if i != j) for M in (A, B)]
    last = of_all[0] * of_all[1] / (n * (n - 1) * (n - 2) * (n - 3))
    return pairs / (n * (n - 3)) - 2 * rows / (n * (n - 2) * (n - 3)) + last


def without(M, i):
    return np.delete(np.delete(M, i, axis=0), i, axis=1)


TARGETS = {
    "numbers": lambda rng, n: rng.normal(size=n),
    "ties": lambda rng, n: rng.integers(4, size=n) / 3,
    "constant": lambda rng, n: np.ones(n),
    "classes": lambda rng, n: rng.integers(3, size=n),
}


def target_and_distances(kind, rng, n):
    y = TARGETS[kind](rng, n)
    if kind == "classes":
        return Classes(y), (y[:, np.newaxis] != y).astype(float)
    return Numbers(y), np.abs(y[:, np.newaxis] - y)


@pytest.mark.parametrize("n", [5, 6, 20])
@pytest.mark.parametrize("kind", TARGETS)
def test_the_covariance_follows_equation_1_with_any_distances_of_parts_and_without_each_record(kind, n):
    rng = np.random.default_rng(n)
    target, B = target_and_distances(kind, rng, n)
    distances = rng.normal(size=(4, 4))
    distances += distances.T  # on the diagonal, too
    parts = rng.integers(4, size=n)
    A = distances[np.ix_(parts, parts)]
    found, own = distance_covariance(parts, target, np.ones(n), distances), distance_variance(target, np.ones(n))
    assert found.value == pytest.approx(naive(A, B), abs=1e-12)
    assert own.value == pytest.approx(naive(B, B), abs=1e-12)
    if n > 5:
        np.testing.assert_allclose(
            found.without, [naive(without(A, i), without(B, i)) for i in range(n)], rtol=1e-9, atol=1e-12
        )
        np.testing.assert_allclose(
            own.without, [naive(without(B, i), without(B, i)) for i in range(n)], rtol=1e-9, atol=1e-12
        )


# --- Unbiased (docs/theory/two_parties.md, Theorem 2) -----------------------------------------------------------------

N, M, EPSILON, DRAWS = 40, 4, 1.0, 3000


@pytest.mark.few
@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_the_covariance_is_unbiased_given_both_columns(kind):
    """3,000 releases of one table of 40 records; if unbiased, the test fails once in 370."""
    inverse = inverse_response_matrix(M, EPSILON)
    rng = np.random.default_rng(1)
    parts = np.sort(rng.integers(M, size=N))
    target, B = target_and_distances(kind, rng, N)
    D = part_distances(M, M)
    debiased, source = inverse.T @ D @ inverse, entropy_source(0)
    reports = randomized_response(np.tile(parts, DRAWS), M, Fraction(EPSILON), source).reshape(DRAWS, N)
    values = [distance_covariance(row, target, np.ones(N), debiased).value for row in reports]
    truth = naive(D[np.ix_(parts, parts)], B)
    assert abs(np.mean(values) - truth) < 3 * np.std(values) / math.sqrt(DRAWS)


# --- Distances and variances of parts -----------------------------------------------------------------------------


SHARES = np.array([0.1, 0.4, 0.3, 0.2])
DISTANCES = {"equal parts": part_distances(4, 4), "labels": part_distances(None, 4)}


@pytest.mark.parametrize("distances", DISTANCES.values(), ids=DISTANCES)
def test_the_variance_of_shares_is_that_of_records_with_those_shares(distances):
    parts = np.repeat(np.arange(4), np.rint(1000 * SHARES).astype(int))
    assert variance_of_shares(SHARES, distances) == pytest.approx(brute_variance(distances[np.ix_(parts, parts)]))
    assert variance_of_shares(np.array([0.0, 1.0, 0.0, 0.0]), distances) == 0
    both = variance_of_shares(np.array([SHARES, SHARES[::-1]]), distances)
    apart = [variance_of_shares(of_one, distances) for of_one in (SHARES, SHARES[::-1])]
    np.testing.assert_allclose(both, apart, rtol=1e-12)  # products of matrices and of vectors sum in different orders


def brute_variance(D):
    return (D * D).mean() - 2 * (D.mean(axis=1) ** 2).mean() + D.mean() ** 2


@pytest.mark.few
@pytest.mark.parametrize("noise_variance", [0.0, 200.0])
def test_the_variance_of_reported_parts_has_hardly_any_bias(noise_variance):
    """4,000 tables of 300 reports at epsilon 1.5, with two nonempty parts; 3 standard errors."""
    rng, inverse, distances = np.random.default_rng(0), inverse_response_matrix(4, 1.5), part_distances(4, 4)
    shares = np.array([0.5, 0.0, 0.0, 0.5])
    counts = rng.multinomial(300, np.linalg.inv(inverse) @ shares, 4000)
    counts = counts + rng.normal(0, math.sqrt(noise_variance), counts.shape)
    parts = np.arange(4)
    found = np.array([unbiased_variance(row, parts, distances, inverse, noise_variance)[0].value for row in counts])
    plain = variance_of_shares(counts / counts.sum(axis=1, keepdims=True) @ inverse.T, distances)
    truth, error = variance_of_shares(shares, distances), found.std() / math.sqrt(4000)
    assert abs(found.mean() - truth) < 3 * error
    assert abs(plain.mean() - truth) > 4 * error


@pytest.mark.slow
def test_noise_on_counts_adds_nothing_on_average():
    """2,000 draws of Laplace noise of scale 3 on the counts of 120 records; 3 standard errors."""
    rng = np.random.default_rng(3)
    counts = rng.multinomial(120, np.full(12, 1 / 12)).astype(float)
    parts, values = (index.ravel() for index in np.indices((4, 3)))
    inverse = inverse_response_matrix(4, 1.0)
    debiased = inverse.T @ part_distances(4, 4) @ inverse
    truth = distance_covariance(parts, Numbers(values / 2), counts, debiased).value
    with_and_without = []
    for variance in (18.0, 0.0):
        noise = np.random.default_rng(4)
        noisy = (counts + noise.laplace(0, 3, 12) for _ in range(2000))
        found = [distance_covariance(parts, Numbers(values / 2), of, debiased, 120, variance).value for of in noisy]
        with_and_without.append(abs(np.mean(found) - truth) / (np.std(found) / math.sqrt(2000)))
    corrected, uncorrected = with_and_without
    assert corrected < 3 < uncorrected
