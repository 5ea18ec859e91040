"""Audits measure from outside how much privacy a mechanism loses.

An audit takes a *release*, a function of a table that returns everything it publishes, and never looks inside. So a
broken mechanism is put through the same audit that the real one passes, and must fail it.
"""

import math
from collections import defaultdict
from itertools import product

import numpy as np
from scipy import stats

from skdpmic.privacy.mechanisms import GRID
from skdpmic.privacy.noise import discrete_laplace, entropy_source

# --- By sampling ------------------------------------------------------------------------------------------------


def privacy_loss_at_least(release, here, there, event, n_runs, alpha, delta=0.0):
    """Lower confidence bound, of level 1 - alpha, on log(P(event | here) - delta) - log P(event | there).

    Each probability has a one-sided Clopper-Pearson bound of level 1 - alpha / 2. For a mechanism that is
    (epsilon, delta)-differentially private, and an event chosen before looking, the bound exceeds epsilon with
    probability at most alpha.

    Parameters
    ----------
    release : callable
        Takes a table, returns what is published, or an array of independent draws of it.
    here, there : neighbouring tables
    event : callable
        Takes what `release` returns, and returns whether (or for which draws) the event occurred.
    n_runs : int
        Runs on each table.
    alpha, delta : float
    """
    at_least, at_most = _probabilities(release, here, there, event, n_runs, alpha)
    return math.log((at_least - delta) / at_most) if at_least > delta else -math.inf


def separation_at_least(release, here, there, event, n_runs, alpha):
    """Lower confidence bound, of level 1 - alpha, on q(P(event | here)) - q(P(event | there)), q the normal quantile.

    For Gaussian noise that is rho-zCDP, no event is separated by more than ``sqrt(2 rho)``, the distance in standard
    deviations between the means of two normal distributions (Neyman and Pearson). The event whose bound is halfway
    between the means attains it. So a single event reveals more about the noise than any probability ratio does.
    Parameters as above.
    """
    return float(np.diff(stats.norm.ppf(_probabilities(release, here, there, event, n_runs, alpha)[::-1]))[0])


def _probabilities(release, here, there, event, n_runs, alpha):
    """Clopper-Pearson bounds of level 1 - alpha / 2 each: lower on P(event | here), upper on P(event | there)."""
    occurred_here, occurred_there = (
        np.array([event(release(table)) for _ in range(n_runs)]).ravel() for table in (here, there)
    )
    hits_here, hits_there, n = occurred_here.sum(), occurred_there.sum(), len(occurred_here)
    at_least = stats.beta.ppf(alpha / 2, hits_here, n - hits_here + 1) if hits_here else 0.0
    at_most = stats.beta.ppf(1 - alpha / 2, hits_there + 1, n - hits_there) if hits_there < n else 1.0
    return at_least, at_most


# --- Neighbours whose scores all move --------------------------------------------------------------------------------


def exchange(n_features, n=400):
    """Neighbours on which every score moves by 98% of the sensitivity: the first half up, the second half down.

    Features and target are 1 for the same ninth of the records and 0 for the others, so that a score on halves of
    [0, 1] is about 1/2, far from where it is clamped. But one record is 0 in half of the features and 1 in the target.
    """
    y = (np.arange(n) < round(0.11 * n)).astype(float)
    here, there = np.repeat(y[:, None], n_features, axis=1), np.repeat(y[:, None], n_features, axis=1)
    here[0, : n_features // 2] = 0
    there[0, n_features // 2 :] = 0
    return (here, y), (there, y)


# --- Exactly ----------------------------------------------------------------------------------------------------


def law_of(release, noises):
    """The probability of every outcome of `release`, a function of the noise.

    Parameters
    ----------
    release : callable
        The real code that follows the draw; its outcome must be hashable.
    noises : iterable of (noise, probability)
    """
    law = defaultdict(float)
    for noise, probability in noises:
        law[release(noise)] += probability
    return dict(law)


def largest_log_ratio(here, there):
    """Largest |log(P(outcome | here) / P(outcome | there))|; infinite if an outcome is possible on one side only."""
    return max(
        abs(math.log(here[outcome] / there[outcome])) if here.get(outcome) and there.get(outcome) else math.inf
        for outcome in here.keys() | there.keys()
    )


def noises_within(cdf, lowest, highest):
    """All integers in lowest ... highest with their probabilities under `cdf`; the tails are added to the ends."""
    z = np.arange(lowest, highest + 1)
    at_most = cdf(z)
    at_most[-1] = 1.0
    return list(zip(z.tolist(), np.diff(at_most, prepend=0.0).tolist(), strict=True))


def independent(*noises_of):
    """Joint values of independent draws of noise, with their probabilities."""
    for draws in product(*noises_of):
        yield [z for z, _ in draws], math.prod(probability for _, probability in draws)


# --- Attacks ----------------------------------------------------------------------------------------------------


def float_laplace(score, scale, rng):
    """What not to do: textbook Laplace noise in floating point (u is a multiple of 2**-53)."""
    sign = 1 if rng.random() < 0.5 else -1
    return score + sign * scale * math.log(1 - rng.random())


def float_laplace_can_give(released, score, scale):
    """Whether `float_laplace` can return exactly this number for this score (Mironov 2012).

    The sampler is inverted approximately, and all inputs near the result are tried.
    """
    guess = round(math.exp(-abs(released - score) / scale) * 2**53)
    return any(
        score + sign * scale * math.log(u * 2.0**-53) == released
        for u in range(max(guess - 40, 1), min(guess + 41, 2**53))
        for sign in (1, -1)
    )


def off_the_grid(released):
    """How many of these numbers are not multiples of the grid step in [0, 1], as all released scores must be."""
    released = np.asarray(released)
    return int(np.sum((released / GRID != np.rint(released / GRID)) | (released < 0) | (released > 1)))


def scores_behind_one_seed(first, second, seeds):
    """The noise-free scores in grid steps, from two releases that share one of these seeds; or None.

    Parameters
    ----------
    first, second : (released scores, noise scale)
        Of the same table, at different values of epsilon.
    """
    for seed in seeds:
        guesses = [_minus_noise(*release, seed) for release in (first, second)]
        if (guesses[0] == guesses[1]).all():
            return guesses[0]
    return None


def _minus_noise(released, noise_scale, seed):
    noise = discrete_laplace(round(noise_scale / GRID), len(released), entropy_source(seed))
    return np.rint(released / GRID).astype(np.int64) - noise.astype(np.int64)
