"""The laws that samplers and mechanisms must follow, written down independently of how they are sampled."""

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


def laplace_p_value(draws, scale):
    """P-value of a chi-square test that `draws` follow the discrete Laplace law."""
    return _chi_square(draws, float(scale) * stats.laplace.ppf(QUANTILES), lambda z: discrete_laplace_cdf(z, scale))


def geometric_p_value(draws, scale):
    """P-value of a chi-square test that `draws` follow the one-sided geometric law."""
    return _chi_square(draws, float(scale) * stats.expon.ppf(QUANTILES), lambda z: geometric_cdf(z, scale))


def _chi_square(draws, cuts, cdf):
    """Cells are the runs of integers between `cuts`; those with less than 20 expected join their left neighbour."""
    draws = np.asarray(draws, dtype=float)
    kept = [-np.inf]
    for cut in np.unique(np.floor(cuts)):
        below = cdf(kept[-1]) if np.isfinite(kept[-1]) else 0.0
        if len(draws) * min(cdf(cut) - below, 1 - cdf(cut)) >= 20:
            kept.append(cut)
    cumulative = np.array([0.0, *(cdf(cut) for cut in kept[1:]), 1.0])
    observed = np.histogram(draws, bins=[-np.inf, *(cut + 0.5 for cut in kept[1:]), np.inf])[0]
    return stats.chisquare(observed, len(draws) * np.diff(cumulative)).pvalue


def truncated_geometric_pmf(count, n, scale):
    """P(0), ..., P(n) of `count` plus discrete Laplace noise, truncated to [0, n]."""
    at_most = np.concatenate([discrete_laplace_cdf(np.arange(n) - count, scale), [1.0]])
    return np.diff(at_most, prepend=0.0)
