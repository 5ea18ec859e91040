"""The distributions that samplers and mechanisms must follow, implemented independently of the samplers."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
from scipy import stats

QUANTILES = np.linspace(0, 1, 42)[1:-1]


def discrete_laplace_cdf(z, scale):
    """P(Z <= z)."""
    rho = np.exp(-1 / float(scale))
    z = np.asarray(z, dtype=float)
    return np.where(z < 0, rho ** -np.minimum(z, 0), 1 + rho - rho ** (1 + np.maximum(z, 0))) / (1 + rho)


def geometric_cdf(z, scale):
    """P(Z <= z)."""
    return 1 - np.exp(-(np.maximum(np.asarray(z, dtype=float), -1) + 1) / float(scale))


def discrete_gaussian_pmf(z, sigma2):
    """P(Z = z), normalized by a sum over all integers that matter."""
    reach = np.arange(-int(40 * np.sqrt(float(sigma2))) - 2, int(40 * np.sqrt(float(sigma2))) + 3)
    return (
        np.exp(-(np.asarray(z, dtype=float) ** 2) / (2 * float(sigma2)))
        / np.exp(-(reach**2) / (2 * float(sigma2))).sum()
    )


def discrete_gaussian_cdf(z, sigma2):
    """P(Z <= z); for sigma above 1000 that of the continuous distribution, which agrees to 1e-7 at half-integers."""
    sigma = np.sqrt(float(sigma2))
    if sigma > 1000:
        return stats.norm.cdf((np.asarray(z, dtype=float) + 0.5) / sigma)
    first = -int(40 * sigma) - 2
    return np.cumsum(discrete_gaussian_pmf(np.arange(first, -first), sigma2))[int(z) - first]


def half_width_pmf(size, scale):
    """P(0), P(1), ... of the half-width of the noise cube for `size` scores: (2 m + 1)^size exp(-m / scale)."""
    m = np.arange(int(scale * (size + 50 + 12 * np.sqrt(size))) + 60)
    logs = size * np.log(2 * m + 1.0) - m / scale
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def cube_vectors(law, n_vectors, random):
    """Independent vectors of noise in a cube, of shape (n_vectors, n_scores)."""
    half_widths = random.gamma(law.n_scores + 1, law.scale, (n_vectors, 1))
    return half_widths * random.uniform(-1, 1, (n_vectors, law.n_scores))


def laplace_p_value(draws, scale):
    """P-value of a chi-square test that `draws` follow the discrete Laplace distribution."""
    return _chi_square(draws, float(scale) * stats.laplace.ppf(QUANTILES), lambda z: discrete_laplace_cdf(z, scale))


def geometric_p_value(draws, scale):
    """P-value of a chi-square test that `draws` follow the one-sided geometric distribution."""
    return _chi_square(draws, float(scale) * stats.expon.ppf(QUANTILES), lambda z: geometric_cdf(z, scale))


def gaussian_p_value(draws, sigma2):
    """P-value of a chi-square test that `draws` follow the discrete Gaussian distribution."""
    cuts = np.sqrt(float(sigma2)) * stats.norm.ppf(QUANTILES)
    return _chi_square(draws, cuts, lambda z: discrete_gaussian_cdf(z, sigma2))


def p_value_of_pmf(draws, pmf):
    """P-value of a chi-square test that `draws` of integers >= 0 have the probabilities pmf[0], pmf[1], ..."""
    at_most = np.cumsum(pmf)
    return _chi_square(draws, np.searchsorted(at_most, QUANTILES), lambda z: at_most[int(min(z, len(at_most) - 1))])


def _chi_square(draws, cuts, cdf):
    """Cells are the runs of integers between `cuts`; one with an expected count below 20 joins its left neighbour."""
    draws = np.asarray(draws, dtype=float)
    kept = [-np.inf]
    for cut in np.unique(np.floor(cuts)):
        below = cdf(kept[-1]) if np.isfinite(kept[-1]) else 0.0
        if len(draws) * min(cdf(cut) - below, 1 - cdf(cut)) >= 20:
            kept.append(cut)
    cumulative = np.array([0.0, *(cdf(cut) for cut in kept[1:]), 1.0])
    observed = np.histogram(draws, bins=[-np.inf, *(cut + 0.5 for cut in kept[1:]), np.inf])[0]
    return stats.chisquare(observed, len(draws) * np.diff(cumulative)).pvalue


def p_value_of_law(outcomes, law):
    """P-value of a chi-square test that `outcomes` have the probabilities in `law`, a dict.

    Outcomes that it leaves out are pooled, as are those with an expected count below 5.
    """
    n, observed = len(outcomes), Counter(outcomes)
    often = [outcome for outcome, p in law.items() if n * p >= 5]
    counts, expected = [observed[outcome] for outcome in often], [n * float(law[outcome]) for outcome in often]
    if n - sum(expected) > 1e-6 * n:
        counts, expected = [*counts, n - sum(counts)], [*expected, n - sum(expected)]
    return stats.chisquare(counts, np.array(expected) * n / sum(expected)).pvalue


def renyi(p, q, order):
    """Divergence of two distributions without zeros, as arrays; logarithms keep powers from overflowing."""
    logs = order * np.log(p) + (1 - order) * np.log(q)
    return (logs.max() + math.log(np.exp(logs - logs.max()).sum())) / (order - 1)


def truncated_geometric_pmf(count, n, scale):
    """P(0), ..., P(n) of `count` plus discrete Laplace noise, truncated to [0, n]."""
    at_most = np.concatenate([discrete_laplace_cdf(np.arange(n) - count, scale), [1.0]])
    return np.diff(at_most, prepend=0.0)


def rho_of_scale(scale, n_releases, steps):
    """The total rho of `n_releases` of sensitivity `steps` with noise of this scale, as an exact Fraction."""
    return Fraction(n_releases * steps**2, 2 * scale**2)
