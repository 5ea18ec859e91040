"""How often each feature would be chosen at another epsilon, and which are the best: from the released scores."""

import math

import numpy as np
from scipy.integrate import cumulative_trapezoid

from skdpmic._utils.private_estimator import check_has_scores
from skdpmic.privacy.cube_law import CubeLaw
from skdpmic.privacy.mechanisms import GRID
from skdpmic.release.kinds import BestFeatures, release_of_scores

# --- Posterior draws -------------------------------------------------------------------------------------------------
#
# Posterior draws of the noise-free scores, given the released scores.
#
# The prior of each score is uniform on [0, 1], independently. A score between 0 and 1 is the truth plus noise; a
# score clamped to 0 or 1 only shows that the truth plus noise lay beyond. All of this is post-processing of released
# scores. Noise in a cube is independent given the size of the cube, so the size is drawn first, from its distribution
# given all scores.


_REACH = 40  # noise beyond this many scales has probability exp(-40)
_N_NODES, _N_NODES_OF_CUBES = 4001, 1001
_N_AT_ONCE = 1_000_000  # numbers


def draw_truths(scores, law, n_draws, random):
    """Noise-free scores, drawn from their distribution given the released scores.

    Parameters
    ----------
    scores : ndarray of shape (n_features,)
        Released scores, clamped to [0, 1].
    law : frozen continuous distribution of scipy, CubeLaw or None
        Distribution of the noise, symmetric around 0; None for no noise.
    n_draws : int
    random : numpy Generator

    Returns
    -------
    ndarray of shape (n_draws, n_features)
        In [0, 1].
    """
    scores = np.asarray(scores, dtype=np.float64)
    if law is None:
        return np.tile(scores, (n_draws, 1))
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


# --- Choices repeated ------------------------------------------------------------------------------------------------


_MOST_NUMBERS = 10_000_000  # drawn to estimate which features are among the best


class ReleasedScores:
    """Released scores, and the noise on them.

    Parameters
    ----------
    scores : ndarray of shape (n_features,)
    offsets : ndarray of shape (n_features,)
        Public amounts that are subtracted from the scores before they are compared.
    mechanism : object of MECHANISMS
        Mechanism that drew the noise.
    epsilon, delta : float
        Total cost.
    spends_on_target : bool, default=False
        Whether part of the cost was for the target itself.
    """

    def __init__(self, scores, offsets, mechanism, epsilon, delta, *, spends_on_target=False):
        self.scores, self.offsets, self.mechanism = scores, offsets, mechanism
        self.epsilon, self.delta, self.spends_on_target = epsilon, delta, spends_on_target

    @classmethod
    def of_estimator(cls, estimator, asker):
        """The released scores of a fitted estimator; an error unless their noise has a known distribution."""
        check_has_scores(estimator, asker)
        mechanism = estimator._mechanism_of_scores(asker)
        epsilon, delta = estimator.privacy_spent_
        if epsilon == math.inf:
            raise ValueError("estimator must be fitted with a finite epsilon, got inf.")
        spends = estimator._entry.epsilon_of_target is not None
        scores = estimator.scores_, estimator.null_scores_
        return cls(*scores, mechanism, epsilon, delta, spends_on_target=spends)

    def mechanism_at(self, epsilon, k, release):
        """The mechanism of a fit with another epsilon, and the same delta."""
        if release == "names":
            return BestFeatures(epsilon, self.delta, k, spends_on_target=self.spends_on_target).noise_for(self._steps)
        return self._release(epsilon).noise_for(self._steps)

    def _release(self, epsilon):
        given = self.mechanism.name, epsilon, self.delta, len(self.scores)
        return release_of_scores(*given, spends_on_target=self.spends_on_target)

    @property
    def _steps(self):
        """Sensitivity of a score in grid steps, up to rounding, inferred from the noise and the cost."""
        per_score = self._release(self.epsilon).epsilon_per_feature
        return max(round(self.mechanism.law.std() / math.sqrt(2) * per_score / GRID), 1)


def chances_among_best(fitted, k):
    """Probability that each feature is among the k with the largest noise-free scores, given the released ones."""
    n_draws = max(min(1000, _MOST_NUMBERS // len(fitted.scores)), 1)
    return frequencies_of_choice(fitted, [math.inf], k, "scores", n_draws, 0)[0]


def frequencies_of_choice(fitted, epsilons, k, release, n_simulations, seed):
    """Share of simulated fits that choose each feature.

    Parameters
    ----------
    fitted : ReleasedScores
    epsilons : sequence of floats
        Epsilons of the simulated fits.
    k : int
        Number of features each fit chooses.
    release : {"scores", "names"}
        What each fit publishes.
    n_simulations, seed : int

    Returns
    -------
    ndarray of shape (n_epsilons, n_features)
    """
    random = np.random.default_rng(seed)
    truths = draw_truths(fitted.scores, fitted.mechanism.law, n_simulations, random)
    adjusted = truths - fitted.offsets
    laws = [fitted.mechanism_at(epsilon, k, release).law for epsilon in epsilons]
    seed = random.integers(2**31)  # the same for all, so that frequencies change with epsilon only
    return np.array([_frequencies(adjusted, k, law, np.random.default_rng(seed)) for law in laws])


def _frequencies(adjusted, k, law, random):
    noisy = adjusted if law is None else adjusted + _noise(law, adjusted.shape, random)
    chosen = np.argpartition(-noisy, k - 1, axis=1)[:, :k]
    return np.bincount(chosen.ravel(), minlength=adjusted.shape[1]) / len(adjusted)


def _noise(law, shape, random):
    """Noise of simulated fits, of shape (n_simulations, n_features)."""
    if isinstance(law, CubeLaw):
        return law.vectors(shape[0], random)
    return law.rvs(size=shape, random_state=random)
