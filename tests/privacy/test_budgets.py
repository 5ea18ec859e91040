"""The noise of a release never costs more than its ledger is charged, exactly, however its budget is divided."""

import random
import warnings
from fractions import Fraction

import numpy as np
import pytest

from skdpmic import DPMICScorer, PrivateSelectKBest
from skdpmic.privacy.composition import Concentrated, Pure, budget_of, exact, rho_for
from skdpmic.privacy.mechanisms import MECHANISMS, GaussianMechanism, KNormMechanism, LaplaceMechanism
from skdpmic.privacy.top_k import ChoicesInTurn, CubeTopK, ExponentialTopK, OneShotTopK
from skdpmic.release.kinds import BestFeatures, JointFeatures, NoisyScores

STEPS = 10**9 + 7  # sensitivity of a score


# --- The cost of noise, from its scale alone: docs/theory/laplace.md, k_norm.md, gaussian.md, top_k.md --------------


def epsilon_of_noise(mechanism, n_scores):
    """The epsilon of noise without delta; None if the noise needs a delta."""
    if isinstance(mechanism, LaplaceMechanism):
        return Fraction(n_scores * STEPS, mechanism.scale)
    if isinstance(mechanism, (KNormMechanism, CubeTopK)):
        return Fraction(STEPS, mechanism.scale)
    if isinstance(mechanism, OneShotTopK):
        return Fraction(2 * mechanism.k * STEPS, mechanism.scale)
    if isinstance(mechanism, ChoicesInTurn) and isinstance(mechanism._one_choice, OneShotTopK):
        return Fraction(2 * mechanism.k * STEPS, mechanism.scale)  # k choices of one feature each
    return None


def rho_of_noise(mechanism, n_scores):
    """The rho of the noise on scores or choices: the sum over independent parts."""
    if isinstance(mechanism, GaussianMechanism):
        return n_scores * Fraction(STEPS, mechanism.scale) ** 2 / 2
    of_choices = mechanism._one_choice if isinstance(mechanism, ChoicesInTurn) else mechanism
    if isinstance(of_choices, ExponentialTopK):
        return mechanism.k * Fraction(STEPS, mechanism.scale) ** 2 / 2
    n_parts = n_scores if isinstance(mechanism, LaplaceMechanism) else 1
    n_parts = mechanism.k if isinstance(mechanism, ChoicesInTurn) else n_parts
    return n_parts * (epsilon_of_noise(mechanism, n_scores) / n_parts) ** 2 / 2


def spent(release):
    """The epsilon (None if there is a delta) and the rho of all noise in a release."""
    n_scores = getattr(release, "n_features", 1)
    mechanism = release.noise_for(STEPS)
    epsilons, rhos = [epsilon_of_noise(mechanism, n_scores)], [rho_of_noise(mechanism, n_scores)]
    if release.spends_on_target:
        of_target = Fraction(release.epsilon_of_target)
        epsilons, rhos = [*epsilons, of_target], [*rhos, of_target**2 / 2]
    if isinstance(mechanism, ChoicesInTurn):
        n_own = release.n_kept + release.k - 1
        each = Fraction(STEPS, mechanism._own_scale)
        epsilons, rhos = [*epsilons, n_own * each], [*rhos, n_own * each**2 / 2]
    return None if None in epsilons else sum(epsilons), sum(rhos)


# --- Random releases, with budgets from the smallest to the largest ---------------------------------------------------


def random_budget(draw, has_delta):
    epsilon = 10 ** draw.choice([draw.uniform(-3, 2), draw.uniform(-100, 12), -8.0, -3.0])
    if not has_delta:
        return epsilon, 0.0
    above = 10 ** draw.uniform(0, 4) * epsilon  # delta alone pays for most of epsilon
    return epsilon, draw.choice([10 ** draw.uniform(-300, -1), min(above, 0.5), 1e-6, 1e-2])


def random_release(draw):
    kind = draw.choice([*MECHANISMS.values(), BestFeatures, JointFeatures])
    d, learns = draw.choice([1, 2, 3, 17, draw.randint(1, 5000)]), draw.random() < 0.7
    if kind in MECHANISMS.values():
        return NoisyScores(*random_budget(draw, kind.needs_delta), kind, d, spends_on_target=learns)
    budget = random_budget(draw, draw.random() < 0.8)
    if kind is BestFeatures:
        k = draw.choice([d, draw.randint(1, d)])
        return BestFeatures(*budget, k, n_candidates=draw.choice([None, d]), spends_on_target=learns)
    k = draw.randint(1, d)
    return JointFeatures(*budget, k, draw.randint(2 - min(k, 2), 3), spends_on_target=learns)


def assert_costs_what_is_charged(release):
    charged, (epsilon, rho) = release.cost, spent(release)
    assert rho <= charged.in_zcdp, release
    if epsilon is None:
        assert charged.delta == release.delta
        assert Fraction(charged.rho) == Fraction(rho_for(release.epsilon, release.delta))
    else:
        assert charged.delta == 0
        assert epsilon <= exact(charged.epsilon), release


def try_releases(seed, n_releases):
    draw = random.Random(seed)
    n_with_delta = 0
    for _ in range(n_releases):
        try:
            release = random_release(draw)
            release.cost  # noqa: B018
        except ValueError as error:
            assert "epsilon and delta must be larger" in str(error)  # noqa: PT017
            continue
        assert_costs_what_is_charged(release)
        n_with_delta += release.cost.delta > 0
    assert n_with_delta > n_releases / 5


def test_no_release_costs_more_than_its_ledger_is_charged():
    try_releases(0, 150)


@pytest.mark.parametrize("epsilon, delta", [(1e-8, 1e-6), (1e-3, 1e-2), (1e-100, 0.5), (0.1, 1e-6), (1e3, 1e-300)])
@pytest.mark.parametrize("k", [1, 4])
def test_noise_after_a_learnt_target_spends_at_most_the_remainder_and_nearly_all_of_it(epsilon, delta, k):
    """The remainder after the target may be smaller than the rho of any epsilon with this delta."""
    gaussian = NoisyScores(epsilon, delta, GaussianMechanism, k, spends_on_target=True)
    for release in (gaussian, *releases_of_many_names(epsilon, delta)):
        assert_costs_what_is_charged(release)
        _, rho = spent(release)
        least = Fraction(9, 10) if isinstance(release, JointFeatures) else 1 - Fraction(1, 10**6)
        assert rho >= least * release.cost.in_zcdp  # joint: the epsilons of single scores are summed


def releases_of_many_names(epsilon, delta):
    """Choices of enough names that delta is used, if there are any."""
    names = [kind(epsilon, delta, 10**6, spends_on_target=True) for kind in (BestFeatures, JointFeatures)]
    return [release for release in names if release.cost.delta > 0]


# --- The budgets themselves -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1e-100, 0.1, 1.0, 7.5, 1e300])
@pytest.mark.parametrize("delta", [0.0, 1e-300, 1e-9, 1e-3, 0.999])
def test_shares_of_a_budget_sum_exactly_to_the_whole(epsilon, delta):
    if (epsilon, delta) == (1e-100, 1e-300):
        return  # refused
    budget = budget_of(epsilon, delta)
    assert budget == (Pure(exact(epsilon)) if delta == 0 else Concentrated(Fraction(rho_for(epsilon, delta))))
    share = Fraction(3, 20)
    first, second = budget.part(share), budget.part(1 - share)
    whole = lambda part: part.epsilon if delta == 0 else part.rho  # noqa: E731
    assert whole(first) + whole(second) == whole(budget)
    assert first.epsilon > 0
    if delta > 0:
        assert first.epsilon**2 / 2 <= first.rho <= first.epsilon**2 / 2 * (1 + Fraction(1, 10**9))
        assert second.part(share) == Concentrated(second.rho * share)


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-8, 1e-6), (1e-3, 1e-2)])
def test_a_target_whose_epsilon_exceeds_that_of_the_release_is_charged(ledger, epsilon, delta):
    X, y = np.random.default_rng(0).uniform(size=(100, 3)), np.arange(100) % 2
    public = {"statistic": "mtv_r", "epsilon": epsilon, "delta": delta, "bounds": (0, 1), "classes": [0, 1]}
    with warnings.catch_warnings(action="ignore"):
        DPMICScorer(mechanism="gaussian", ledger=ledger, **public).fit(X, y)
        PrivateSelectKBest(k=2, ledger=ledger, **public).fit(X, y)
    for entry in ledger.entries():
        assert entry.epsilon_of_target > epsilon
        assert entry.epsilon_of_target**2 / 2 <= entry.rho
