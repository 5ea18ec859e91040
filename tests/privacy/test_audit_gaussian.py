"""Joint audits of the scores of several features with Gaussian noise: a single score shows little of the loss.

If d scores move by the same amount, each is separated by only `1 / sqrt(d)` of their joint separation. So an audit of
single scores does not detect a budget that was spent d times over. Here the audited number is the sum over all scores,
each with the sign of its move. The likelihood ratio of independent Gaussian noise depends on this sum alone.
"""

import math
from functools import cache, reduce

import numpy as np
import pytest

from skdpmic import DPMICScorer
from skdpmic.privacy import mechanisms
from skdpmic.privacy.composition import budget_of, epsilon_of, rho_for
from skdpmic.privacy.mechanisms import GaussianMechanism
from tests.privacy.auditing import exchange, separation_at_least
from tests.privacy.laws import discrete_gaussian_pmf

# --- Exactly: the distribution of the sum over all scores ----------------------------------------------------------


@cache
def law_of_sum(sigma, n_scores):
    """The distribution of the sum of `n_scores` discrete Gaussian integers; 0 is at the middle of the array."""
    reach = int(12 * sigma) + 8  # probability beyond it: less than 1e-30
    return reduce(np.convolve, [discrete_gaussian_pmf(np.arange(-reach, reach + 1), sigma**2)] * n_scores)


def exact_delta(sigma, n_scores, steps, epsilon):
    """The smallest delta for neighbours on which `n_scores` scores move by `steps`: the sum of (P - e^epsilon Q)+."""
    law, move = law_of_sum(sigma, n_scores), n_scores * steps
    here, there = np.pad(law, (0, move)), np.pad(law, (move, 0))
    return np.maximum(here - math.exp(epsilon) * there, 0).sum()


def exact_epsilon(sigma, n_scores, steps, delta):
    """The smallest epsilon that holds at this delta, rounded down to 1e-4."""
    low, high = 0.0, 64.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (middle, high) if exact_delta(sigma, n_scores, steps, middle) > delta else (low, middle)
    return low


CLAIMS = [(1.0, 1e-3), (1.0, 1e-6), (0.5, 1e-5), (3.0, 1e-6)]
FEATURES = [(4, 6), (10, 5)]  # scores, and how far each moves: so far that rounding sigma up wastes next to nothing


@pytest.mark.parametrize("n_scores, steps", FEATURES)
@pytest.mark.parametrize("epsilon, delta", CLAIMS)
@pytest.mark.combinations
def test_all_scores_together_lose_at_most_epsilon_and_at_least_five_sixths_of_it(epsilon, delta, n_scores, steps):
    # The conversion from rho gives away the missing sixth; with more noise than needed, more would be missing.
    sigma = GaussianMechanism.for_budget(budget_of(epsilon, delta), n_scores, steps).scale
    losses = [exact_epsilon(sigma, moving, steps, delta) for moving in range(1, n_scores + 1)]
    assert 5 / 6 * epsilon < losses[-1] <= epsilon
    assert losses == sorted(losses)  # the more scores move, the worse
    assert losses[0] < 0.55 * epsilon  # all that an audit of single scores can see


TOO_SMALL = {  # factors of sigma
    "one score": lambda n_scores, rho: 1 / math.sqrt(n_scores),  # the budget is not divided among the scores
    "half": lambda n_scores, rho: 1 / 2,
    "four fifths": lambda n_scores, rho: 0.8,
    "twice rho": lambda n_scores, rho: math.sqrt(1 / 2),
    "root of rho": lambda n_scores, rho: rho**0.25,
}


@pytest.mark.parametrize("factor", TOO_SMALL.values(), ids=TOO_SMALL)
@pytest.mark.parametrize("n_scores, steps", FEATURES)
@pytest.mark.parametrize("epsilon, delta", CLAIMS)
@pytest.mark.combinations
def test_too_little_noise_is_detected(epsilon, delta, n_scores, steps, factor):
    sigma = GaussianMechanism.for_budget(budget_of(epsilon, delta), n_scores, steps).scale
    sigma *= factor(n_scores, rho_for(epsilon, delta))
    assert exact_epsilon(sigma, n_scores, steps, delta) > 1.02 * epsilon


# --- As a user runs it -----------------------------------------------------------------------------------------------

ALPHA = 1e-2
EPSILON, DELTA = 3.0, 1e-3
PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1), "B": 4, "c": 1}
GROUPS = 100  # copies of the audited features in one fit, each with its own share of rho and its own draws
CLAIMED = math.sqrt(2 * rho_for(EPSILON, DELTA))  # how far apart two neighbours may be, in standard deviations
seeded = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")  # one source continues from run to run


def separation(n_features, n_runs, *, rho_factor=1.0):
    """Lower bound on the separation of neighbours, from `n_runs` fits of GROUPS groups of features."""
    budget = epsilon_of(GROUPS * rho_factor * rho_for(EPSILON, DELTA), DELTA)
    scorer = DPMICScorer(epsilon=budget, delta=DELTA, mechanism="gaussian", **PUBLIC)
    scorer.set_params(random_state=np.random.RandomState(0))
    halves = np.repeat([-1.0, 1.0], n_features // 2)

    def release(table):
        X, y = table
        return scorer.fit(np.tile(X, GROUPS), y).scores_.reshape(GROUPS, n_features)

    def second_half_is_larger(scores):
        return scores @ halves > 0

    return separation_at_least(release, *exchange(n_features), second_half_is_larger, n_runs, ALPHA)


@seeded
@pytest.mark.parametrize("n_features, n_runs", [(4, 30), (10, 40)])
@pytest.mark.slow
def test_neighbours_are_separated_by_at_most_root_two_rho_and_at_least_three_quarters_of_it(n_features, n_runs):
    # alpha = 1e-2, 3,000 to 4,000 joint releases of each neighbour, fixed seed.
    assert 0.75 < separation(n_features, n_runs) / CLAIMED <= 1


@pytest.mark.slow
@seeded
@pytest.mark.parametrize("n_features", [4, 10])
@pytest.mark.parametrize("share_of_the_noise, n_runs", [(1 / 2, 5), (0.8, 30)])
def test_a_release_with_too_little_noise_is_detected(n_features, share_of_the_noise, n_runs):
    assert separation(n_features, n_runs, rho_factor=1 / share_of_the_noise**2) > CLAIMED


@seeded
@pytest.mark.parametrize("shared_by", ["pairs", "all"])
def test_noise_shared_by_features_is_detected(shared_by, monkeypatch):
    draw = mechanisms.discrete_gaussian

    def once(sigma2, size, source):
        n = 4 if shared_by == "pairs" else size
        return np.tile(draw(sigma2, size // n, source)[:, None], n).ravel()

    monkeypatch.setattr(mechanisms, "discrete_gaussian", once)
    assert separation(4, 5) > CLAIMED
