"""Choosing features one after the other: the exact law of the published list, on integers, next to a naive twin."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from skdpmic.privacy import top_k
from skdpmic.privacy.composition import rho_for, scale_for_rho
from skdpmic.privacy.greedy import (
    GreedyChoice,
    greedy_epsilon_per_score,
    greedy_for_budget,
    greedy_needs_no_delta,
)
from skdpmic.privacy.mechanisms import GRID
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.top_k import ExponentialTopK, OneShotTopK
from skdpmic.release.kinds import release_of_names
from tests.privacy.test_top_k import law

# --- The twin ---------------------------------------------------------------------------------------------------------


def worths(scores, with_features, chosen, redundancy):
    """Of the features that were not chosen: the score, less redundancy times the mean score with those chosen."""
    left = [f for f in range(len(scores)) if f not in chosen]
    overlap = {f: sum(with_features[s][f] for s in chosen) for f in left}
    return {f: scores[f] - math.floor(Fraction(redundancy) * overlap[f] / max(len(chosen), 1)) for f in left}


def by_geometric_noise(adjusted, scale):
    """The exact law of the largest, with one-sided geometric noise of a small scale."""
    return {f: p for ((i,), p) in law(list(adjusted.values()), 1, scale).items() for f in [list(adjusted)[i]]}


def by_permute_and_flip(adjusted, scale):
    """The law of the largest with one-sided exponential noise, in its other form: no noise, but flips of coins.

    In random order, each is accepted with probability exp(-(largest - its own) / scale), until one is.
    """
    flips = {f: math.exp(-(max(adjusted.values()) - w) / scale) for f, w in adjusted.items()}
    chances = {}
    for f in flips:
        others = [flips[g] for g in flips if g != f]
        subsets = (s for size in range(len(flips)) for s in combinations(others, size))
        chances[f] = flips[f] * sum((-1) ** len(s) * math.prod(s) / (len(s) + 1) for s in subsets)
    return chances


def by_weights(adjusted, scale):
    """The law of the exponential mechanism."""
    weights = {f: math.exp((w - max(adjusted.values())) / scale) for f, w in adjusted.items()}
    return {f: weight / sum(weights.values()) for f, weight in weights.items()}


def law_of_lists(scores, with_features, k, redundancy, one_choice):
    """Probability of every ordered list of k features; ``one_choice(worth)`` is the law of each step."""
    lists = {(): 1.0}
    for _ in range(k):
        lists = {
            (*chosen, f): probability * p
            for chosen, probability in lists.items()
            for f, p in one_choice(worths(scores, with_features, chosen, redundancy)).items()
        }
    return lists


def published(scores, with_features, mechanism, source):
    """The list that the mechanism publishes; scores with features are asked for as they are needed."""
    asked = []

    def scores_with(feature, chosen):
        asked.append(feature)
        assert asked == list(chosen)
        return np.delete(np.array(with_features[feature], dtype=object), chosen)

    chosen = mechanism.release(np.array(scores, dtype=object), scores_with, source).tolist()
    assert asked == chosen[:-1]
    return tuple(chosen)


SCORES = (7, 6, 6, 3)
WITH_FEATURES = ((7, 6, 1, 0), (5, 6, 0, 2), (1, 0, 6, 3), (0, 3, 3, 3))  # not symmetric, as those of MTVr


# --- The law ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind, by_noise", [(OneShotTopK, by_geometric_noise), (ExponentialTopK, by_weights)])
@pytest.mark.parametrize("redundancy", [pytest.param(Fraction(1, 2), marks=pytest.mark.slow), Fraction(1)])
def test_published_lists_follow_the_exact_law(kind, by_noise, redundancy):
    # chi-square, alpha = 1e-3, n = 1,000 lists, fixed seed
    scale, n = 3, 1000
    expected = law_of_lists(SCORES, WITH_FEATURES, 3, redundancy, lambda adjusted: by_noise(adjusted, scale))
    source, mechanism = entropy_source(0), GreedyChoice(3, redundancy, kind(1, scale))
    lists = [published(SCORES, WITH_FEATURES, mechanism, source) for _ in range(n)]
    observed = np.array([lists.count(chosen) for chosen in expected])
    probabilities = np.array(list(expected.values())) / sum(expected.values())
    assert _p_value(observed, probabilities) > 1e-3


def test_noise_that_is_drawn_once_would_be_seen_in_the_law():
    # as above
    scale, n, k = 3, 1000, 3
    expected = law_of_lists(SCORES, WITH_FEATURES, k, 1, lambda adjusted: by_geometric_noise(adjusted, scale))
    noise, lists = np.random.default_rng(0).geometric(1 - math.exp(-1 / scale), size=(n, 4)) - 1, []
    for draw in noise:
        chosen = []
        for _ in range(k):
            adjusted = worths(SCORES, WITH_FEATURES, chosen, 1)
            chosen.append(max(adjusted, key=lambda f: (adjusted[f] + draw[f], -f)))
        lists.append(tuple(chosen))
    observed = np.array([lists.count(chosen) for chosen in expected])
    probabilities = np.array(list(expected.values())) / sum(expected.values())
    assert _p_value(observed, probabilities) < 1e-3


def _p_value(observed, probabilities):
    """Of a chi-square test in which lists with fewer than 5 expected are counted together."""
    n = observed.sum()
    rare = n * probabilities < 5
    if rare.any():
        observed, probabilities = (np.append(some[~rare], some[rare].sum()) for some in (observed, probabilities))
    return stats.chisquare(observed, n * probabilities).pvalue


def test_the_two_forms_of_exponential_noise_have_one_law():
    adjusted = {3: 1000, 0: 2500, 7: 1900, 1: -400}
    draws = np.array(list(adjusted.values())) + np.random.default_rng(0).exponential(1500, size=(200_000, 4))
    shares = np.bincount(np.argmax(draws, axis=1), minlength=4) / len(draws)
    np.testing.assert_allclose(shares, list(by_permute_and_flip(adjusted, 1500).values()), atol=0.005)


def test_without_noise_the_choice_is_the_naive_one():
    rng = np.random.default_rng(0)
    for _ in range(200):
        d, k = 6, int(rng.integers(1, 7))
        scores, with_features = rng.integers(0, 9, size=d), rng.integers(0, 9, size=(d, d))
        redundancy = Fraction(int(rng.integers(0, 7)), 3)
        expected = []
        for _ in range(k):
            adjusted = worths(scores.tolist(), with_features.tolist(), expected, redundancy)
            expected.append(max(adjusted, key=lambda f: (adjusted[f], -f)))
        mechanism = GreedyChoice(k, redundancy, OneShotTopK(1, 0))
        assert published(scores, with_features, mechanism, None) == tuple(expected)


def test_means_are_rounded_as_whole_numbers_however_large():
    """Floating point would not tell 2**60 + 1 and 2**60 apart."""
    scores, large = [2**60 + 1, 2**60, 2**60 + 1], 2**60
    with_features = [[0, 2 * large - 1, 2 * large + 1], [0, 0, 0], [0, 0, 0]]
    assert published(scores, with_features, GreedyChoice(2, Fraction(1, 2), OneShotTopK(1, 0)), None) == (0, 1)
    with_features = [[0, 2 * large + 2, 2 * large + 1], [0, 0, 0], [0, 0, 0]]
    assert published(scores, with_features, GreedyChoice(2, Fraction(1, 2), OneShotTopK(1, 0)), None) == (0, 2)


# --- The guarantee ----------------------------------------------------------------------------------------------------

# Two choices among three features, as the law of lists that begin with feature 0 sees them: each score, and each score
# with feature 0, is STEPS more or less for a neighbour.
STEPS, K, BASE = 10**6, 2, 10**8


def moved(of_target, of_first):
    """Scores, and scores with features, that are so far from those of the middle."""
    return [BASE + move for move in of_target], [[BASE, *(BASE + move for move in of_first)], [BASE] * 3, [BASE] * 3]


def neighbours():
    """Two ends of what one record can do, around a tie; and the tie, with everything that it can become."""
    half = STEPS // 2
    yield moved((half, -half, -half), (-half, half)), moved((-half, half, half), (half, -half))
    for moves in product((-STEPS, STEPS), repeat=5):
        yield moved((0, 0, 0), (0, 0)), moved(moves[:3], moves[3:])


def worst(divergence, redundancy, one_choice):
    """Largest divergence of the laws of lists, over neighbours and both directions."""
    laws = [[law_of_lists(*ends, K, redundancy, one_choice) for ends in pair] for pair in neighbours()]
    return max(max(divergence(p, q), divergence(q, p)) for p, q in laws)


def log_ratio(p, q):
    return max(abs(math.log(p[chosen] / q[chosen])) for chosen in p if chosen[0] == 0)


@pytest.mark.parametrize("epsilon, redundancy", [(0.2, 1.0), (0.2, 0.3), (1.0, 1.0), (1.0, 4.0)])
def test_no_list_is_more_than_exp_epsilon_likelier_for_a_neighbour_and_half_the_noise_is_too_little(
    epsilon, redundancy
):
    scale = greedy_for_budget(epsilon, 0.0, K, redundancy, STEPS).scale
    alpha = Fraction(str(redundancy))
    assert worst(log_ratio, alpha, lambda adjusted: by_permute_and_flip(adjusted, scale)) <= epsilon
    assert worst(log_ratio, alpha, lambda adjusted: by_permute_and_flip(adjusted, scale / 2)) > epsilon


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_the_noise_of_k_best_features_would_be_too_little(epsilon):
    scale = OneShotTopK.for_budget(epsilon, K, STEPS).scale
    assert worst(log_ratio, Fraction(4), lambda adjusted: by_permute_and_flip(adjusted, scale)) > epsilon


CONCENTRATED = [(0.05, 0.01, 1.0), (0.2, 0.05, 0.3), (0.2, 0.05, 2.0)]  # epsilon, delta, redundancy


@pytest.mark.parametrize("order", [1.0001, 2, 8])
@pytest.mark.parametrize("epsilon, delta, redundancy", CONCENTRATED)
def test_choices_by_weight_keep_to_rho_and_half_the_noise_does_not(epsilon, delta, redundancy, order):
    alpha, rho = Fraction(str(redundancy)), rho_for(epsilon, delta)
    first, later = STEPS, STEPS + math.ceil(alpha * STEPS)
    scale = scale_for_rho(rho, first**2 + (K - 1) * later**2, 1)

    def renyi(p, q):
        return math.log(sum(p[chosen] ** order * q[chosen] ** (1 - order) for chosen in p)) / (order - 1)

    assert worst(renyi, alpha, lambda adjusted: by_weights(adjusted, scale)) <= order * rho
    assert worst(renyi, alpha, lambda adjusted: by_weights(adjusted, scale / 3)) > order * rho


# --- Scales -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("redundancy, later", [(1.0, 14), (0.5, 11), (0.1, 8), (1e-9, 8), (3, 28)])
def test_the_scale_is_that_of_the_theorem(redundancy, later):
    mechanism = greedy_for_budget(0.5, 0.0, 10, redundancy, steps=7)
    assert mechanism.scale == 2 * (7 + 9 * later) / 0.5
    assert (mechanism.name, mechanism.noise_scale) == ("permute-and-flip", mechanism.scale * GRID)
    assert mechanism.law.std() == pytest.approx(mechanism.noise_scale)


@pytest.mark.parametrize("k, redundancy", [(40, 1.0), (60, 0.5)])
def test_with_delta_the_scale_is_that_of_the_theorem_where_it_is_less_noise(k, redundancy):
    steps, rho = 10**9, rho_for(1, 1e-6)
    mechanism = greedy_for_budget(1, 1e-6, k, redundancy, steps)
    later = int(steps * (1 + redundancy))
    cost = Fraction(steps**2 + (k - 1) * later**2) / (2 * Fraction(mechanism.scale) ** 2)
    assert cost <= rho < cost * (1 + Fraction(1, 10**6))
    assert mechanism.name == "exponential"
    assert mechanism.law.std() < greedy_for_budget(1, 0.0, k, redundancy, steps).law.std()
    assert not greedy_needs_no_delta(1, 1e-6, k, redundancy)


@pytest.mark.parametrize("epsilon, delta", [(1, 0.0), (math.inf, 0.0), (math.inf, 1e-6), (1, 1e-6)])
def test_few_choices_need_no_delta(epsilon, delta):
    assert greedy_for_budget(epsilon, delta, 3, 1.0, 7).name == "permute-and-flip"
    assert greedy_needs_no_delta(epsilon, delta, 3, 1.0)


@pytest.mark.parametrize("k", [1, 5, 100])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_what_a_score_is_worth_is_its_sensitivity_over_the_standard_deviation(k, delta):
    steps = 10**9
    mechanism = greedy_for_budget(1, delta, k, 0.7, steps)
    adjusted = greedy_epsilon_per_score(1, delta, k, 0.7)
    assert adjusted == pytest.approx(steps * GRID / mechanism.law.std(), rel=1e-6)
    assert greedy_epsilon_per_score(1, delta, k, 0.0) == release_of_names(1, delta, k).epsilon_per_feature


def test_each_choice_draws_for_each_feature_that_is_left(monkeypatch):
    sizes = []
    draw = top_k.geometric
    monkeypatch.setattr(top_k, "geometric", lambda scale, size, source: sizes.append(size) or draw(scale, size, source))
    published(SCORES, WITH_FEATURES, GreedyChoice(4, Fraction(1), OneShotTopK(1, 5)), entropy_source(0))
    assert sizes == [4, 3, 2, 1]
