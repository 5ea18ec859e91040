"""Black-box audits of additive models on worst-case neighbours.

The attacker knows both neighbours and the noise distribution, and computes the likelihood ratio of the whole release.
The model is a function of the release, so it can reveal no more.
"""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from skdpmic import PrivateAdditiveClassifier
from skdpmic.models import model_releases as scorecard_noise
from skdpmic.models import model_releases as two_way_noise
from skdpmic.privacy.composition import rho_for
from tests.privacy.auditing import privacy_loss_at_least, separation_at_least

pytestmark = pytest.mark.filterwarnings(
    "ignore::skdpmic.PrivacyLeakWarning",  # all fits share one random source
    "ignore:noise will exceed the signal",
)

BUDGET = (8.5, 1e-3)  # neighbours are then two standard deviations apart, so fewer fits suffice
LIMIT = math.sqrt(2 * rho_for(*BUDGET))  # the largest separation allowed, in standard deviations
ALPHA, N = 1e-2, 400
D = 4
CATEGORIES = {column: [0, 1] for column in range(D)}
PUBLIC = (rho_for(*BUDGET), D, two_way_noise.CHANGE_OF_NUMBERS)


def neighbours(n_staying, n_columns=D):
    """Two boolean tables with binary targets; one record changes its class and all but `n_staying` columns."""
    rng = np.random.default_rng(0)
    X, y = rng.random((N, n_columns)) < 0.5, rng.integers(0, 2, N)
    others = X.copy()
    others[0, n_staying:] = ~X[0, n_staying:]
    other_y = y.copy()
    other_y[0] = 1 - y[0]
    return (X, y), (others, other_y)


def tables_of(X, y, values):
    """Counts of columns and of their pairs, and sums of `values`, with four bins for each column."""
    indicators = [np.eye(4)[column.astype(int)] for column in X.T]
    counts = [one.sum(axis=0) for one in indicators]
    pairs = [one.T @ other for one, other in combinations(indicators, 2)]
    return counts, pairs, np.concatenate([one.T @ values for one in indicators])


def log_ratio_of_two_way(model, here, there):
    noise = two_way_noise.TwoWayNoise.for_budget(*PUBLIC)  # as stated
    seen = [*model.noisy_counts_, *model.noisy_pairs_.values(), model.noisy_sums_]
    exact = []
    for X, y in (here, there):
        counts, pairs, sums = tables_of(X, y, y[:, None] - 0.5)
        exact.append([*counts, *pairs, sums])
    variances = [noise.count_variance] * (len(seen) - 1) + [float(noise.sum_variance)]
    return sum(
        (((noisy - other) ** 2).sum() - ((noisy - one) ** 2).sum()) / (2 * variance)
        for noisy, one, other, variance in zip(seen, *exact, variances, strict=True)
    )


def separation_of_two_way(n_staying, n_runs):
    here, there = neighbours(n_staying)
    model = PrivateAdditiveClassifier(
        *BUDGET, categories=CATEGORIES, classes=[0, 1], random_state=np.random.RandomState(0)
    )
    return separation_at_least(
        lambda table: log_ratio_of_two_way(model.fit(*table), here, there),
        here, there, lambda ratio: ratio > 0, n_runs, ALPHA,
    )  # fmt: skip


@pytest.mark.slow
def test_two_way_tables_separate_neighbours_by_at_most_the_root_of_two_rho_and_by_most_of_it():
    # alpha = 1e-2, 130 fits of each neighbour, fixed seed. The record keeps half of its columns, the worst case.
    assert 0.5 * LIMIT < separation_of_two_way(D // 2, 130) <= LIMIT


@pytest.mark.slow
def test_half_the_noise_on_two_way_tables_is_detected(monkeypatch):
    exact, stated = two_way_noise.squared_sensitivity, two_way_noise.TwoWayNoise.for_budget(*PUBLIC)
    monkeypatch.setattr(two_way_noise, "squared_sensitivity", lambda *public: exact(*public) / 4)
    assert two_way_noise.TwoWayNoise.for_budget(*PUBLIC).count_variance < stated.count_variance / 3
    assert separation_of_two_way(D // 2, 130) > LIMIT


# --- Scorecards ------------------------------------------------------------------------------------------------------


EPSILON = 2.0


def log_ratio_of_scorecard(model, here, there):
    """That of the counts alone, which have Laplace noise: a lower bound, as the factor is left out."""
    noise = scorecard_noise.ScorecardNoise.for_budget(EPSILON, 0.0, 1, 2)
    total = 0.0
    for (X, y), sign in ((here, 1), (there, -1)):
        _, _, exact = tables_of(X, y, np.eye(2)[y])
        total -= sign * np.abs(model.noisy_sums_ - exact).sum() / float(noise.count_scale)
    return total


def loss_of_scorecard(n_runs):
    here, there = neighbours(0, n_columns=1)
    public = {"categories": {0: [0, 1]}, "classes": [0, 1]}
    fit_to = PrivateAdditiveClassifier(EPSILON, 0.0, **public, random_state=np.random.RandomState(0)).fit
    return privacy_loss_at_least(
        lambda table: log_ratio_of_scorecard(fit_to(*table), here, there),
        here, there, lambda ratio: ratio > 1.0, n_runs, ALPHA,
    )  # fmt: skip


@pytest.mark.slow
def test_a_scorecard_loses_at_most_epsilon_and_a_large_share_of_it():
    # alpha = 1e-2, 250 fits of each neighbour, fixed seed
    assert 0.4 * EPSILON < loss_of_scorecard(250) <= EPSILON


@pytest.mark.slow
def test_half_the_noise_on_scorecards_is_detected(monkeypatch):
    on_counts = scorecard_noise.ScorecardNoise.on_counts
    monkeypatch.setattr(
        scorecard_noise.ScorecardNoise,
        "on_counts",
        lambda noise, *given: on_counts(replace(noise, count_scale=noise.count_scale / 2), *given),
    )
    assert loss_of_scorecard(250) > EPSILON
