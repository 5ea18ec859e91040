"""The expected counts are the posterior means of the model, compared with plain summation on small tables."""

import numpy as np
import pytest
from scipy import stats

from skdpmic.statistics.mic import noisy_tables as denoise
from skdpmic.statistics.mic.noisy_tables import expected_counts
from tests.privacy.laws import truncated_geometric_pmf


def posterior_by_summation(noisy, m, shape, n, scale):
    """Posterior mean and likelihood of one count with a negative binomial prior of mean m."""
    counts = np.arange(n + 1)
    prior = stats.nbinom.pmf(counts, shape, shape / (shape + m))
    joint = prior * [truncated_geometric_pmf(count, n, scale)[noisy] for count in counts]
    return joint @ counts / joint.sum(), joint.sum()


@pytest.mark.parametrize("scale", [0.3, 2.0, 3.0])
def test_posterior_means_and_likelihoods_equal_the_sums_over_all_counts(scale):
    n = 40
    noisy = np.array([[0.0, 3.0], [7.0, 40.0]])
    independent = np.array([[1.0, 4.0], [6.0, 30.0]])
    means, evidence = denoise._posteriors(noisy, independent, float(n), scale, denoise._SHAPES)
    cells = list(zip(noisy.ravel().astype(int), independent.ravel(), strict=True))
    expected = np.array([[posterior_by_summation(*cell, a, n, scale) for cell in cells] for a in denoise._SHAPES])
    np.testing.assert_allclose(means.reshape(len(means), -1), expected[:, :, 0], atol=0.1)
    log_likelihood = np.log(expected[:, :, 1]).sum(axis=1)
    np.testing.assert_allclose(evidence - evidence[0], log_likelihood - log_likelihood[0], atol=0.1)


@pytest.mark.parametrize("scale", [0.02, 2.0, 400.0, 1e9])
def test_expected_counts_are_a_table_of_n_records(scale):
    n = 1000
    for noisy in (np.zeros((5, 3)), np.full((5, 3), n), np.random.default_rng(0).integers(0, n, (5, 3))):
        means = expected_counts(noisy, n, scale)
        assert means.min() >= 0
        assert means.sum() == pytest.approx(n)
