"""What scores may have been before the noise, given what was released: draws from their posterior law.

Before the release, any value in [0, 1] is taken to be as likely as any other, for each score by itself. A score between
0 and 1 is the truth plus noise; one that was clamped to 0 or 1 says only that the truth plus noise lay beyond. All of
it is post-processing of released scores.
"""

import numpy as np
from scipy.integrate import cumulative_trapezoid

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
