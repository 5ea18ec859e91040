"""The nearest correlation matrix, and forward selection, against what defines them."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from skdpmic.correlation.kendall_release import concordances
from skdpmic.correlation.matrices import (
    columns_with_ties,
    known_shares,
    nearest_correlation,
    pearson_of_kendall,
)
from skdpmic.statistics.ranks.kernels import mid_ranks


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


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("p", [2, 3, 10, 40])
def test_the_nearest_is_a_correlation_matrix_and_no_farther_from_any_than_the_noisy_one(p, noise):
    rng = np.random.default_rng(p)
    for rank in (1, p):
        truth = random_correlation(p, rng, rank)
        noisy = truth + noise * symmetric_noise(p, rng)
        nearest = nearest_correlation(noisy)
        assert_is_correlation(nearest)
        assert np.linalg.norm(nearest - truth) <= np.linalg.norm(noisy - truth) + 1e-9


def test_it_is_the_nearest_of_all():
    # A projection on a convex set: it makes an obtuse angle with the way to any other member.
    rng = np.random.default_rng(0)
    for p in (3, 6, 15):
        noisy = np.clip(random_correlation(p, rng, 2) + 0.5 * symmetric_noise(p, rng), -1, 1)
        np.fill_diagonal(noisy, 1.0)
        nearest = nearest_correlation(noisy)
        members = [random_correlation(p, rng, rank) for rank in (1, 2, p) for _ in range(200)]
        assert max(((noisy - nearest) * (member - nearest)).sum() for member in members) < 1e-6


def test_of_three_columns_it_is_what_a_search_finds():
    noisy = np.array([[1, 0.9, -0.8], [0.9, 1, 0.7], [-0.8, 0.7, 1]])

    def farness(angles):
        a, b, c = angles
        rows = np.array([[1, 0, 0], [math.cos(a), math.sin(a), 0],
                         [math.cos(b), math.sin(b) * math.cos(c), math.sin(b) * math.sin(c)]])  # fmt: skip
        return ((rows @ rows.T - noisy) ** 2).sum()

    best = min(
        optimize.minimize(farness, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14}).fun
        for start in np.random.default_rng(0).uniform(0, 3, size=(10, 3))
    )
    assert ((nearest_correlation(noisy) - noisy) ** 2).sum() == pytest.approx(best, abs=1e-7)


def test_a_correlation_matrix_is_its_own_nearest():
    rng = np.random.default_rng(0)
    for p in (2, 5, 30):
        matrix = random_correlation(p, rng)
        np.testing.assert_allclose(nearest_correlation(matrix), matrix, atol=1e-12)
    np.testing.assert_array_equal(nearest_correlation(np.eye(3)), np.eye(3))


def test_the_matrix_of_a_table_is_a_correlation_matrix_with_ties_too():
    rng = np.random.default_rng(0)
    X = rng.integers(3, size=(40, 8)).astype(float)
    taus = np.eye(8)
    above = np.triu_indices(8)
    taus[above] = taus.T[above] = concordances([mid_ranks(column) for column in X.T]) / 780
    np.fill_diagonal(taus, 1.0)
    assert np.linalg.eigvalsh(taus)[0] >= 0


def test_greiner_turns_kendall_into_pearson_for_normal_columns():
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=20_000, method="cholesky")
    tau = concordances([mid_ranks(column) for column in X.T])[1] * 2 / (20_000 * 19_999)
    assert pearson_of_kendall(tau) == pytest.approx(0.6, abs=0.02)
    assert pearson_of_kendall(np.array([-3.0, -1, 0, 1, 3])).tolist() == [-1, -1, 0, 1, 1]


# --- Forward selection ------------------------------------------------------------------------------------------------


def kendall_of_pearson(correlation):
    taus = np.arcsin(np.clip(correlation, -1, 1)) * 2 / math.pi
    np.fill_diagonal(taus, 1.0)
    return taus


def test_ties_that_may_be_noise_alone_are_taken_for_none():
    """Up to three standard deviations; and no share is so small that dividing by it would make noise of all."""
    untied = np.array([1.01, 0.95, 0.93, 0.5, 0.01])
    assert known_shares(untied, 0.02).tolist() == [1.0, 1.0, 0.93, 0.5, 0.06]
    assert known_shares(untied, 0.0).tolist() == [1.0, *untied[1:]]


def test_what_may_be_noise_is_no_tie():
    assert columns_with_ties(np.array([0.98, 0.5, 1.01]), 0.02) == [1]
    assert columns_with_ties(np.array([0.98, 0.5, 1.01]), 0.0) == [0, 1]
    assert columns_with_ties(np.array([0.991, 0.99, 0.989]), 0.0) == [2]
    assert columns_with_ties(np.array([0.0, -0.5]), 9.0) == []


@pytest.mark.parametrize("n_values, pearson, partial_by_sine", [(2, [0.2, 0.447], -0.125), (5, [0.667, 0.816], -0.28)])
def test_the_sine_of_tau_b_is_not_pearsons_correlation_of_a_column_with_many_ties(n_values, pearson, partial_by_sine):
    """s -> a and s -> b, with s of few values. Fixed seed; 4,000 records, so correlations are off by 0.016 or so."""
    rng = np.random.default_rng(0)
    s = rng.integers(n_values, size=4000)
    a, b = s + rng.normal(size=(2, 4000))

    def of_three(correlation):
        ab, as_, bs = correlation(a, b), correlation(a, s), correlation(b, s)
        return ab, as_, (ab - as_ * bs) / math.sqrt((1 - as_**2) * (1 - bs**2))

    def sine(x, y):
        return math.sin(math.pi / 2 * stats.kendalltau(x, y).statistic)

    np.testing.assert_allclose(of_three(lambda x, y: np.corrcoef(x, y)[0, 1]), [*pearson, 0], atol=0.05)
    ab, as_, partial = of_three(sine)
    assert as_ > pearson[1] + 0.04
    assert partial == pytest.approx(partial_by_sine, abs=0.05)  # though a and b are independent given s
    if n_values == 2:  # as docs/theory/kendall_matrix.md has it
        agree = 2 * stats.norm.cdf(1 / math.sqrt(2)) - 1
        ab, as_ = math.sin(math.pi / 4 * agree**2), math.sin(math.pi / 2 * agree / math.sqrt(2))
        assert [round(x, 3) for x in (ab, as_, (ab - as_**2) / (1 - as_**2))] == [0.211, 0.546, -0.125]


def test_the_correlation_matrix_is_the_nearest_to_the_noisy_one_cut_to_minus_one_and_one():
    """Not always to the noisy one itself: three columns, one entry of which noise has taken beyond 1."""
    noisy = np.array([[1.0, 1.6, 0.9], [1.6, 1.0, -0.5], [0.9, -0.5, 1.0]])
    found, cut = nearest_correlation(noisy), np.clip(noisy, -1, 1)
    np.testing.assert_allclose(found, nearest_correlation(cut), atol=1e-12)
    # Of a grid of correlation matrices, none is nearer to the cut one, and some are to the noisy one.
    values = np.linspace(-1, 1, 81)
    a, b, c = (corner.ravel() for corner in np.meshgrid(values, values, values))
    is_one = 1 + 2 * a * b * c - a**2 - b**2 - c**2 >= 0
    every = np.stack([a, b, c], axis=1)[is_one]
    above = np.triu_indices(3, 1)

    def least(target):
        return ((every - target[above]) ** 2).sum(axis=1).min(), ((found - target)[above] ** 2).sum()

    nearest_of_grid, of_found = least(cut)
    assert of_found <= nearest_of_grid + 1e-6
    nearest_of_grid, of_found = least(noisy)
    assert of_found > nearest_of_grid + 1e-3


def test_single_entries_and_the_largest_may_be_farther_off_than_the_noisy_ones():
    """So of these nothing is said, only of the sum of squares."""

    def matrix(a, b, c):
        return np.array([[1, a, b], [a, 1, c], [b, c, 1]])

    noisy = matrix(-0.8, -0.8, 0.0)
    assert nearest_correlation(noisy)[1, 2] == pytest.approx(0.05, abs=0.005)  # of which 0 is the truth
    truth, noisy = matrix(0.05, -0.61, 0.73), matrix(0.34, -0.85, 0.42)
    errors = np.abs(nearest_correlation(noisy) - truth), np.abs(noisy - truth)
    assert errors[0].max() == pytest.approx(0.36, abs=0.005)
    assert errors[1].max() == pytest.approx(0.31, abs=0.005)
    assert (errors[0] ** 2).sum() < (errors[1] ** 2).sum()
