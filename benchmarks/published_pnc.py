"""PNC, the published two-party protocol for private distance correlation, as printed (arXiv 2110.09670).

Its guarantee does not hold: `docs/theory/corrections.md` says what is wrong, and
`benchmarks/tests/test_published_pnc.py` shows it. Noise is drawn in floating point. For comparison only.
"""

import math

import numpy as np
from scipy.special import gamma
from scipy.stats import norm


def noise_of_theorem_4(epsilon, delta, w2=1.0):
    """sigma, which protects one attribute of a record, changed by at most 1, but not a whole record."""
    return w2 * math.sqrt(2 * (math.log(1 / (2 * delta)) + epsilon)) / epsilon


def noise_of_appendix_1(epsilon, delta, w2=1.0):
    """sigma of the formula in Appendix A.1, which is for sigma squared and lacks the inner bracket."""
    return math.sqrt(w2 * math.sqrt(2 * math.log(1 / (2 * delta)) + epsilon) / epsilon)


def delta_of_gaussian_noise(epsilon, sigma, shift=1.0):
    """The least delta with which noise of this standard deviation protects a shift (Balle and Wang 2018)."""
    half, scaled = shift / (2 * sigma), epsilon * sigma / shift
    return norm.cdf(half - scaled) - math.exp(epsilon) * norm.cdf(-half - scaled)


def directions(K, p, rng):
    """K uniform unit vectors: the rows of an array."""
    vectors = rng.standard_normal((K, p))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def noisy_projections(X, vectors, sigma, rng):
    """Equation 3: u_k'X + N, with the same N for all k."""
    return X @ vectors.T + sigma * rng.standard_normal((len(X), 1))


def constant(p):
    """C_p of equation 2."""
    return math.sqrt(math.pi) * gamma((p + 1) / 2) / gamma(p / 2)


def u_statistic(x, y):
    """Equation 1: the unbiased squared distance covariance of two columns."""
    n, of_rows = len(x), []
    for own_x, own_y in zip(x, y, strict=True):
        a, b = np.abs(x - own_x), np.abs(y - own_y)
        of_rows.append((a @ b, a.sum(), b.sum()))
    products, a, b = np.transpose(of_rows)
    last = a.sum() * b.sum() / (n * (n - 1) * (n - 2) * (n - 3))
    return products.sum() / (n * (n - 3)) - 2 * (a @ b) / (n * (n - 2) * (n - 3)) + last


def covariance_without_partition(X, Y, K, sigma, rng):
    """Equation 3."""
    u, v = directions(K, X.shape[1], rng), directions(K, Y.shape[1], rng)
    projected, targets = noisy_projections(X, u, sigma, rng), Y @ v.T
    terms = [u_statistic(projected[:, k], targets[:, k]) for k in range(K)]
    return constant(X.shape[1]) * constant(Y.shape[1]) * np.mean(terms)


def noisy_variance(X, epsilon, rng):
    """Section 3.3.1: Laplace noise "with a variance of Delta / epsilon" on the distance variance."""
    n = len(X)
    scale = math.sqrt((12 * n - 11) / (n - 1) ** 2 / epsilon / 2)
    return u_statistic(X[:, 0], X[:, 0]) + rng.laplace(0, scale)


def squared_correlation(x, y, epsilon, delta, rng):
    """What Bob has at the end of Figure 2, for a column x in [0, 1] and a column y of any range.

    The paper does not say how the budget is split: here each of Alice's two releases has the whole epsilon.
    """
    X, Y = x[:, np.newaxis], y[:, np.newaxis]
    covariance = covariance_without_partition(X, Y, 1, noise_of_theorem_4(epsilon, delta), rng)
    product = noisy_variance(X, epsilon, rng) * u_statistic(y, y)
    return covariance / math.sqrt(product) if product > 0 else 0.0
