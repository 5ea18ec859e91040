"""How often each feature would be chosen at another epsilon, by simulation from what was released."""

import math

import numpy as np
from scipy.integrate import cumulative_trapezoid

from skdpmic._utils.fitted import check_has_scores
from skdpmic.privacy.mechanisms import GRID
from skdpmic.privacy.top_k import top_k_for_budget

_REACH = 40  # noise beyond this many scales has a probability of exp(-40)
_N_NODES = 4001


def draw_truths(scores, law, n_draws, random):
    """Scores without noise, drawn from their law given the released ones.

    Parameters
    ----------
    scores : ndarray of shape (n_features,)
        Released, clamped to [0, 1].
    law : frozen continuous distribution of scipy, or None
        Of the noise, symmetric around 0; None for no noise.
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
    # The noise was anything from scores - 1 to scores, which is where the truth lies in [0, 1].
    least, largest = law.cdf(scores - 1), law.cdf(scores)
    truths = np.clip(scores - law.ppf(least + chances * (largest - least)), 0, 1)
    above_0 = _quantiles_above_clamped(law)
    truths[:, scores == 0] = above_0(chances[:, scores == 0])
    truths[:, scores == 1] = 1 - above_0(chances[:, scores == 1])
    return truths


def _quantiles_above_clamped(law):
    """Quantile function of the truth where 0 was released: its density at t is proportional to P(noise <= -t)."""
    nodes = np.linspace(0, min(1, _REACH * law.std()), _N_NODES)
    mass = cumulative_trapezoid(law.cdf(-nodes), nodes, initial=0)
    return lambda chances: np.interp(chances * mass[-1], mass, nodes)


class ReleasedScores:
    """Released scores, and the noise on them.

    Parameters
    ----------
    scores : ndarray of shape (n_features,)
    offsets : ndarray of shape (n_features,)
        Public amounts that are subtracted from the scores before they are compared.
    mechanism : object of MECHANISMS
        What drew the noise.
    epsilon, delta : float
        What all of it cost.
    """

    def __init__(self, scores, offsets, mechanism, epsilon, delta):
        self.scores, self.offsets, self.mechanism = scores, offsets, mechanism
        self.epsilon, self.delta = epsilon, delta

    @classmethod
    def of_estimator(cls, estimator):
        """What a fitted estimator has released; an error unless that is noise with a known distribution."""
        check_has_scores(estimator, "StabilityDisplay")
        mechanism = estimator._mechanism_of_scores("StabilityDisplay")
        epsilon, delta = estimator.privacy_spent_
        if epsilon == math.inf:
            raise ValueError("estimator must be fitted with a finite epsilon, whose noise is known, got inf.")
        return cls(estimator.scores_, estimator.null_scores_, mechanism, epsilon, delta)

    def mechanism_at(self, epsilon, k, release):
        """The mechanism of a fit with another epsilon, and the same delta."""
        if release == "names":
            return top_k_for_budget(epsilon, self.delta, k, self._steps)
        return type(self.mechanism).for_budget(epsilon, self.delta, len(self.scores), self._steps)

    @property
    def _steps(self):
        """Sensitivity of a score in grid steps, up to rounding: what it must be for such noise at such a cost."""
        per_score = self.mechanism.epsilon_per_score(self.epsilon, self.delta, len(self.scores))
        return max(round(self.mechanism.law.std() / math.sqrt(2) * per_score / GRID), 1)


def frequencies_of_choice(fitted, epsilons, k, release, n_simulations, seed):
    """Share of simulated fits that choose each feature.

    Parameters
    ----------
    fitted : ReleasedScores
    epsilons : sequence of floats
        Of the fits that are simulated.
    k : int
        How many features each chooses.
    release : {"scores", "names"}
        What each publishes.
    n_simulations, seed : int

    Returns
    -------
    ndarray of shape (n_epsilons, n_features)
    """
    random = np.random.default_rng(seed)
    truths = draw_truths(fitted.scores, fitted.mechanism.law, n_simulations, random)
    adjusted = truths - fitted.offsets
    laws = [fitted.mechanism_at(epsilon, k, release).law for epsilon in epsilons]
    seed = random.integers(2**31)  # one for all, so that frequencies change with epsilon only
    return np.array([_frequencies(adjusted, k, law, np.random.default_rng(seed)) for law in laws])


def _frequencies(adjusted, k, law, random):
    noisy = adjusted if law is None else adjusted + law.rvs(size=adjusted.shape, random_state=random)
    chosen = np.argpartition(-noisy, k - 1, axis=1)[:, :k]
    return np.bincount(chosen.ravel(), minlength=adjusted.shape[1]) / len(adjusted)
