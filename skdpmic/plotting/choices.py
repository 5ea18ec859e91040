"""How often each feature would be chosen at another epsilon, by simulation from what was released."""

import math

import numpy as np

from skdpmic._utils.fitted import check_has_scores
from skdpmic.privacy.composition import rho_for
from skdpmic.privacy.mechanisms import GRID, GaussianMechanism, LaplaceMechanism
from skdpmic.privacy.top_k import top_k_for_budget
from skdpmic.statistics.mic.posterior import draw_truths


class NoisyScores:
    """Released scores, and the noise on them.

    Parameters
    ----------
    scores : ndarray of shape (n_features,)
    offsets : ndarray of shape (n_features,)
        Public amounts that are subtracted from the scores before they are compared.
    noise_scale, epsilon, delta : float
        The noise of each score, and what all of it cost.
    """

    def __init__(self, scores, offsets, noise_scale, epsilon, delta):
        self.scores, self.offsets = scores, offsets
        self.epsilon, self.delta = epsilon, delta
        # What the fit spent shows which mechanism it used, even if the parameter has been set anew since.
        self.mechanism = (GaussianMechanism if delta > 0 else LaplaceMechanism).of_noise_scale(noise_scale)

    @classmethod
    def of_estimator(cls, estimator):
        """What a fitted estimator has released; an error unless that is scores with noise of a known law."""
        check_has_scores(estimator, "StabilityDisplay")
        if hasattr(estimator, "noisy_counts_"):
            raise AttributeError(
                "StabilityDisplay needs scores with noise of a known law, and mechanism='geometric' adds it to counts."
            )
        epsilon, delta = estimator.privacy_spent_
        if epsilon == math.inf:
            raise ValueError("estimator must be fitted with a finite epsilon, whose noise is known, got inf.")
        return cls(estimator.scores_, estimator.null_scores_, estimator.noise_scale_, epsilon, delta)

    def mechanism_at(self, epsilon, k, release):
        """The mechanism of a fit with another epsilon, and the same delta."""
        if release == "support":
            return top_k_for_budget(epsilon, self.delta, k, self._steps)
        if self.delta > 0:
            return GaussianMechanism.for_budget(epsilon, self.delta, len(self.scores), self._steps)
        return LaplaceMechanism.for_budget(epsilon, len(self.scores), self._steps)

    @property
    def _steps(self):
        """Sensitivity of a score in grid steps, up to rounding: what it must be for such noise at such a cost."""
        d = len(self.scores)
        per_score = math.sqrt(2 * rho_for(self.epsilon, self.delta) / d) if self.delta > 0 else self.epsilon / d
        return max(round(self.mechanism.noise_scale / GRID * per_score), 1)


def frequencies_of_choice(fitted, epsilons, k, release, n_simulations, seed):
    """Share of simulated fits that choose each feature.

    Parameters
    ----------
    fitted : NoisyScores
    epsilons : sequence of floats
        Of the fits that are simulated.
    k : int
        How many features each chooses.
    release : {"scores", "support"}
        What each publishes.
    n_simulations, seed : int

    Returns
    -------
    ndarray of shape (n_epsilons, n_features)
    """
    random = np.random.default_rng(seed)
    truths = draw_truths(fitted.scores, fitted.mechanism.law, n_simulations, random)
    worth = truths - fitted.offsets
    laws = [fitted.mechanism_at(epsilon, k, release).law for epsilon in epsilons]
    seed = random.integers(2**31)  # one for all, so that frequencies change with epsilon only
    return np.array([_frequencies(worth, k, law, np.random.default_rng(seed)) for law in laws])


def _frequencies(worth, k, law, random):
    noisy = worth if law is None else worth + law.rvs(size=worth.shape, random_state=random)
    chosen = np.argpartition(-noisy, k - 1, axis=1)[:, :k]
    return np.bincount(chosen.ravel(), minlength=worth.shape[1]) / len(worth)
