"""How often each feature would be chosen at another epsilon, simulated from the released scores."""

import math

import numpy as np

from skdpmic._utils.fitted import check_has_scores
from skdpmic.privacy.cube_law import CubeLaw
from skdpmic.privacy.mechanisms import GRID
from skdpmic.release.kinds import BestFeatures, release_of_scores
from skdpmic.release.posterior import draw_truths

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
    learns : bool, default=False
        Whether part of the cost was for the target itself.
    """

    def __init__(self, scores, offsets, mechanism, epsilon, delta, *, learns=False):
        self.scores, self.offsets, self.mechanism = scores, offsets, mechanism
        self.epsilon, self.delta, self.learns = epsilon, delta, learns

    @classmethod
    def of_estimator(cls, estimator, asker):
        """The released scores of a fitted estimator; an error unless their noise has a known distribution."""
        check_has_scores(estimator, asker)
        mechanism = estimator._mechanism_of_scores(asker)
        epsilon, delta = estimator.privacy_spent_
        if epsilon == math.inf:
            raise ValueError("estimator must be fitted with a finite epsilon, got inf.")
        learns = estimator._entry.epsilon_of_target is not None
        return cls(estimator.scores_, estimator.null_scores_, mechanism, epsilon, delta, learns=learns)

    def mechanism_at(self, epsilon, k, release):
        """The mechanism of a fit with another epsilon, and the same delta."""
        if release == "names":
            return BestFeatures(epsilon, self.delta, k, learns=self.learns).noise_for(self._steps)
        return self._release(epsilon).noise_for(self._steps)

    def _release(self, epsilon):
        return release_of_scores(self.mechanism.name, epsilon, self.delta, len(self.scores), learns=self.learns)

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
