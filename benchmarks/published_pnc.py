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
    n, a, b = len(x), _sums(x), _sums(y)
    last = a.sum() * b.sum() / (n * (n - 1) * (n - 2) * (n - 3))
    return _sum_of_products(x, y) / (n * (n - 3)) - 2 * (a @ b) / (n * (n - 2) * (n - 3)) + last


def _sum_of_products(x, y):
    """Sum of |x_i - x_j| |y_i - y_j| over all i and j, in O(n log^2 n): merge halves in order of x, sorted by y."""
    order = np.argsort(x)
    x, y, places, total, size = x[order], y[order], np.arange(len(x)), 0.0, 1
    while size < len(x):
        pair, is_left = places // (2 * size), places // size % 2 == 0
        by_y = np.lexsort((y, pair))
        moments = np.column_stack([np.ones(len(x)), x, y, x * y])
        below = np.cumsum(np.where(is_left[:, np.newaxis], moments, 0.0)[by_y], axis=0)
        ends = np.append(np.flatnonzero(np.diff(pair[by_y])), len(x) - 1)  # the last record of each pair
        before = np.vstack([np.zeros(4), below[ends[:-1]]])[pair[by_y]]
        of_pair = below[ends][pair[by_y]] - before
        right = ~is_left[by_y]
        n, sum_x, sum_y, sum_xy = (2 * (below - before) - of_pair)[right].T
        xr, yr = x[by_y][right], y[by_y][right]
        total += (xr * yr * n - yr * sum_x - xr * sum_y + sum_xy).sum()
        size *= 2
    return 2 * total


def _sums(values):
    order = np.argsort(values)
    ordered, k = values[order], np.arange(len(values))
    below, result = ordered.cumsum(), np.empty(len(values))
    result[order] = ordered * (2 * k + 2 - len(values)) - 2 * below + below[-1]
    return result


def covariance_without_partition(X, Y, K, sigma, rng):
    """Equation 3."""
    u, v = directions(K, X.shape[1], rng), directions(K, Y.shape[1], rng)
    projected, targets = noisy_projections(X, u, sigma, rng), Y @ v.T
    terms = [u_statistic(projected[:, k], targets[:, k]) for k in range(K)]
    return constant(X.shape[1]) * constant(Y.shape[1]) * np.mean(terms)


def covariance_of_disjoint_parts(X, Y, K, sigma, rng):
    """Equation 4: each of K blocks of records has its own projection and noise."""
    blocks = zip(np.array_split(X, K), np.array_split(Y, K), strict=True)
    return np.mean([covariance_without_partition(x, y, 1, sigma, rng) for x, y in blocks])


def noisy_variance(X, epsilon, rng):
    """Section 3.3.1: Laplace noise "with a variance of Delta / epsilon" on the distance variance."""
    n = len(X)
    scale = math.sqrt((12 * n - 11) / (n - 1) ** 2 / epsilon / 2)
    return u_statistic(X[:, 0], X[:, 0]) + rng.laplace(0, scale)


def squared_correlation(x, y, epsilon, delta, rng, K=1):
    """What Bob has at the end of Figure 2, for a column x in [0, 1] and a column y of any range.

    The paper does not say how the budget is split: here each of Alice's two releases has the whole epsilon.
    """
    X, Y = x[:, np.newaxis], y[:, np.newaxis]
    covariance = covariance_of_disjoint_parts(X, Y, K, noise_of_theorem_4(epsilon, delta), rng)
    product = noisy_variance(X, epsilon, rng) * u_statistic(y, y)
    return covariance / math.sqrt(product) if product > 0 else 0.0
