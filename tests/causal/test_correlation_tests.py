"""Tests on a noisy Kendall matrix have their level under independence, and detect dependence."""

import numpy as np
import pytest
from scipy import stats

from skdpmic.causal.private_pc import CorrelationTests
from skdpmic.correlation.private_correlation import concordances
from skdpmic.statistics.ranks import mid_ranks

ALPHA, N = 0.05, 400
ERROR = 4 * (ALPHA * (1 - ALPHA) / 300) ** 0.5  # 4 standard errors of the share of 300 tables


def drawn(X, noise_scale, rng, assumed=None):
    """Tests on the noisy matrix of a table; they assume the noise `assumed`."""
    n, p = X.shape
    above = np.triu_indices(p)
    taus = concordances([mid_ranks(column) for column in X.T]) * 2 / (n * (n - 1))
    noisy = np.empty((p, p))
    noisy[above] = noisy.T[above] = taus + noise_scale * rng.standard_normal(len(taus))
    untied = noisy.diagonal().copy()
    np.fill_diagonal(noisy, 1.0)
    return CorrelationTests(noisy, untied, noise_scale if assumed is None else assumed, n)


def common_causes(rng, n, n_causes, direct=0.0):
    """Columns 0 and 1 with common causes, which are the other columns."""
    causes = rng.standard_normal((n, n_causes))
    both = 0.8 * causes.sum(axis=1, keepdims=True) + rng.standard_normal((n, 2))
    both[:, 1] += direct * both[:, 0]
    return np.column_stack([both, causes])


def independent(given):
    """A function that draws a table whose first two columns are independent given these columns, or have no causes."""
    return lambda rng: common_causes(rng, N, len(given)) if given else rng.standard_normal((N, 2))


def binned(X, n_bins):
    """Few distinct values: bins of equal width, the last ones rare."""
    return np.clip(np.floor(X + 1), 0, n_bins - 1)


def share_rejected(table_of, given, noise_scale, n_tables=300, assumed=None):
    rng = np.random.default_rng(0)
    tests = (drawn(table_of(rng), noise_scale, rng, assumed) for _ in range(n_tables))
    return np.mean([one.test(0, 1, given).p_value <= ALPHA for one in tests])


LEVELS = [(given, noise_scale) for given in ((), (2,), (2, 3)) for noise_scale in (0.03, 0.08)]
FAST = [((2, 3), 0.03)]


@pytest.mark.parametrize(
    "given, noise_scale", [pytest.param(*one, marks=[] if one in FAST else pytest.mark.slow) for one in LEVELS]
)
def test_independent_columns_are_rejected_with_probability_alpha(given, noise_scale):
    # alpha = 0.05, 300 tables of 400 records, 4 standard errors.
    share = share_rejected(independent(given), given, noise_scale)
    assert share < ALPHA + ERROR
    if noise_scale < 0.08:  # with more, residual variances are less certain, and a ridge keeps them away from 0
        assert share > ALPHA / 5


@pytest.mark.parametrize("n_bins", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_columns_with_ties_are_rejected_with_probability_alpha_at_most(n_bins):
    # alpha = 0.05, 300 tables of 400 records, 4 standard errors.
    share = share_rejected(lambda rng: binned(rng.standard_normal((N, 2)), n_bins), (), 0.0)
    assert share < ALPHA + ERROR


@pytest.mark.parametrize("noise_scale", [0, 0.02])
def test_dependence_beyond_common_causes_is_detected(noise_scale):
    share = share_rejected(lambda rng: common_causes(rng, N, 2, direct=0.7), (2, 3), noise_scale, n_tables=25)
    assert share > 0.9


def test_the_noise_is_accounted_for_to_first_order():
    # 500 draws of noise on the exact matrix of a normal distribution: the test statistic has the spread assumed.
    rng = np.random.default_rng(0)
    mixed = rng.normal(size=(4, 6))
    covariance = mixed @ mixed.T
    root = np.sqrt(covariance.diagonal())
    pearson, scale, n = covariance / np.outer(root, root), 0.003, 10**9  # n makes sampling error negligible
    exact = 2 / np.pi * np.arcsin(pearson)
    partial = -np.linalg.inv(pearson)[0, 1]  # at least its sign
    scores = []
    for _ in range(500):
        noise = np.triu(scale * rng.standard_normal((4, 4)), 1)
        tests = CorrelationTests(exact + noise + noise.T, np.ones(4), scale, n)
        scores.append(np.sign(partial) * stats.norm.isf(tests.test(0, 1, (2, 3)).p_value / 2))
    assert np.std(scores) == pytest.approx(1, abs=0.13)  # 4 standard errors


def test_the_noise_on_the_number_of_tied_pairs_is_accounted_for(monkeypatch):
    """A chain whose middle column has many ties; the noise on the number of tied pairs is half of all noise."""
    monkeypatch.setattr("skdpmic.correlation.private_correlation.FEW_TIES", 0.0)
    pearson, shares = np.array([[1, 0.64, 0.8], [0.64, 1, 0.8], [0.8, 0.8, 1]]), np.array([1.0, 1.0, 0.3])
    exact = 2 / np.pi * np.arcsin(pearson) * np.sqrt(np.outer(shares, shares))
    rng, scale = np.random.default_rng(0), 0.002
    squares = []
    for _ in range(500):
        noise = np.triu(scale * rng.standard_normal((3, 3)), 1)
        untied = shares + scale * rng.standard_normal(3)
        tests = CorrelationTests(exact + noise + noise.T, untied, scale, 10**9)
        squares.append(stats.norm.isf(tests.test(0, 1, (2,)).p_value / 2) ** 2)
    assert np.mean(squares) == pytest.approx(1, abs=0.25)  # 4 standard errors
