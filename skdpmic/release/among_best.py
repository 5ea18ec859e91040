"""The probability that each feature is among the best without noise, given the released scores."""

import numpy as np
from scipy.integrate import cumulative_trapezoid

from skdpmic.privacy.cube_law import CubeLaw

# --- Draws of the noise-free scores ----------------------------------------------------------------------------------
#
# The prior of each score is uniform on [0, 1], independently. A score between 0 and 1 is the truth plus noise; a
# score clamped to 0 or 1 only shows that the truth plus noise lay beyond. All of this is post-processing of released
# scores. Noise in a cube is independent given the size of the cube, so the size is drawn first, from its distribution
# given all scores.


_REACH = 40  # noise beyond this many scales has probability exp(-40)
_N_NODES, _N_NODES_OF_CUBES = 4001, 1001
_N_AT_ONCE = 1_000_000  # numbers
_MOST_NUMBERS = 10_000_000  # drawn to estimate which features are among the best


def chances_among_best(scores, null_scores, law, k):
    """The probability that each feature is among the best k without noise, given the released scores: (n_features,).

    Parameters
    ----------
    scores : ndarray of shape (n_features,)
        Released scores, clamped to [0, 1].
    null_scores : ndarray of shape (n_features,)
        Public amounts that are subtracted from the scores before they are compared.
    law : frozen continuous distribution of scipy or CubeLaw
        Distribution of the noise, symmetric around 0.
    k : int
    """
    n_draws = max(min(1000, _MOST_NUMBERS // len(scores)), 1)
    truths = draw_truths(scores, law, n_draws, np.random.default_rng(0)) - null_scores
    best = np.argpartition(-truths, k - 1, axis=1)[:, :k]
    return np.bincount(best.ravel(), minlength=len(scores)) / n_draws


def draw_truths(scores, law, n_draws, random):
    """Noise-free scores, drawn from their distribution given the released scores.

    Parameters
    ----------
    scores : ndarray of shape (n_features,)
        Released scores, clamped to [0, 1].
    law : frozen continuous distribution of scipy or CubeLaw
        Distribution of the noise, symmetric around 0.
    n_draws : int
    random : numpy Generator

    Returns
    -------
    ndarray of shape (n_draws, n_features)
        In [0, 1].
    """
    scores = np.asarray(scores, dtype=np.float64)
    chances = random.random((n_draws, len(scores)))
    if isinstance(law, CubeLaw):
        return _truths_in_cubes(scores, _half_widths(scores, law, n_draws, random)[:, np.newaxis], chances)
    # The truth is in [0, 1] if the noise is between scores - 1 and scores.
    least, largest = law.cdf(scores - 1), law.cdf(scores)
    truths = np.clip(scores - law.ppf(least + chances * (largest - least)), 0, 1)
    above_0 = _quantiles_above_clamped(law)
    truths[:, scores == 0] = above_0(chances[:, scores == 0])
    truths[:, scores == 1] = 1 - above_0(chances[:, scores == 1])
    return truths


def _quantiles_above_clamped(law):
    """Quantile function of the truth if 0 was released: its density at t is proportional to P(noise <= -t)."""
    nodes = np.linspace(0, min(1, _REACH * law.std()), _N_NODES)
    mass = cumulative_trapezoid(law.cdf(-nodes), nodes, initial=0)
    return lambda chances: np.interp(chances * mass[-1], mass, nodes)


def _truths_in_cubes(scores, m, chances):
    """Quantiles of truths if the noise is uniform on [-m, m]; m of shape (n_draws, 1).

    The truth is uniform within m of a score inside (0, 1). If 0 was released, its density is proportional to m - t.
    """
    least, largest = np.maximum(scores - m, 0), np.minimum(scores + m, 1)
    truths = least + chances * (largest - least)
    from_end = m - np.sqrt(np.maximum(m**2 - 2 * chances * _mass_above_clamped(m), 0))
    from_end = np.clip(from_end, 0, 1)
    return np.where(scores == 0, from_end, np.where(scores == 1, 1 - from_end, truths))


def _mass_above_clamped(m):
    """The integral of m - t over truths t in [0, min(m, 1)]."""
    reach = np.minimum(m, 1)
    return reach * (m - reach / 2)


def _half_widths(scores, law, n_draws, random):
    """Half-widths m of the cube of all noise, drawn from their distribution given the released scores.

    A priori m is a gamma variable of shape n_scores + 1. Its density is multiplied by the likelihood of each score, up
    to a constant: the length of the truths in [0, 1] within m of it, over 2 m; for a clamped score, the mass above,
    over 2 m. All powers of m cancel.
    """
    inside = scores[(scores > 0) & (scores < 1)]
    n_clamped = len(scores) - len(inside)

    def log_density(m):
        parts = np.array_split(m[:, np.newaxis], 1 + m.size * inside.size // _N_AT_ONCE)
        truths = [np.log(np.minimum(inside + p, 1) - np.maximum(inside - p, 0)).sum(axis=1) for p in parts]
        return np.concatenate(truths) + n_clamped * np.log(_mass_above_clamped(m)) - m / law.scale

    # The density is log-concave, with tails no heavier than those of a gamma distribution of this shape.
    shape = len(inside) + 2 * n_clamped + 1
    nodes = law.scale * np.geomspace(1e-9, shape + _REACH * np.sqrt(shape) + _REACH, _N_NODES_OF_CUBES)
    for _ in range(2):  # from the whole range to where the mass is
        logs = log_density(nodes)
        likely = np.flatnonzero(logs > logs.max() - _REACH)
        ends = nodes[max(likely[0] - 1, 0)], nodes[min(likely[-1] + 1, len(nodes) - 1)]
        nodes = np.linspace(*ends, _N_NODES_OF_CUBES)
    logs = log_density(nodes)
    mass = cumulative_trapezoid(np.exp(logs - logs.max()), nodes, initial=0)
    return np.interp(random.random(n_draws) * mass[-1], mass, nodes)


# --- Repeated choices ------------------------------------------------------------------------------------------------
