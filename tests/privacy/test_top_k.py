"""Choosing k features: the exact distribution of the published list, on integers small enough to enumerate."""

import math
from itertools import pairwise, permutations, product

import numpy as np
import pytest

from skdpmic.privacy.composition import budget_of, rho_for
from skdpmic.privacy.mechanisms import GRID, CubeLaw, tail_of_difference
from skdpmic.privacy.noise import discrete_k_norm, entropy_source, geometric
from skdpmic.privacy.top_k import CubeTopK, ExponentialTopK, OneShotTopK, confidence_among_best
from skdpmic.release.kinds import BestFeatures
from tests.folding import each
from tests.privacy.auditing import largest_log_ratio
from tests.privacy.laws import p_value_of_law, renyi

# --- One-shot noise ---------------------------------------------------------------------------------------------

TAIL = 120  # noise beyond it has probability below exp(-TAIL / scale)


def law(scores, k, scale):
    """Probability of every ordered list of k indices: the largest noisy scores; ties go to the smaller index."""
    pmf = (1 - math.exp(-1 / scale)) * np.exp(-np.arange(TAIL) / scale)
    cdf = np.append(np.cumsum(pmf), 0.0)  # index -1: no noise is below zero
    noise = np.indices((TAIL,) * k)  # all values of the noise on the chosen

    def beats(i, noisy_i, j):  # P(j ranks below i | noisy score of i)
        return cdf[np.clip(noisy_i - scores[j] - (1 if j < i else 0), -1, TAIL - 1)]

    lists = {}
    for chosen in permutations(range(len(scores)), k):
        noisy = [scores[i] + z for i, z in zip(chosen, noise, strict=True)]
        weight = np.prod(pmf[noise], axis=0)
        for (i, noisy_i), (j, noisy_j) in pairwise(zip(chosen, noisy, strict=True)):
            weight = weight * (noisy_i >= noisy_j + (1 if j < i else 0))
        for j in set(range(len(scores))) - set(chosen):
            weight = weight * beats(chosen[-1], noisy[-1], j)
        lists[chosen] = weight.sum()
    return lists


def worst(divergence, law, scores, k, scale, moves):
    """The largest divergence of the lists for `scores` from those for neighbours, whose scores move by any `moves`."""
    here = law(scores, k, scale)
    laws = (law(tuple(np.add(scores, move).tolist()), k, scale) for move in product(moves, repeat=len(scores)))
    return max(max(divergence(here, there), divergence(there, here)) for there in laws)


STEP = (-1, 0, 1)


@each("k, epsilon", [(1, 0.5), (1, 2.0), (2, 1.0)])
def test_no_list_is_more_than_exp_epsilon_times_as_likely_for_a_neighbour_but_with_half_the_noise_one_is(k, epsilon):
    scale = OneShotTopK.for_budget(budget_of(epsilon), k, steps=1).scale
    assert worst(largest_log_ratio, law, (2, 1, 2), k, scale, STEP) <= epsilon * (1 + 1e-9)
    assert worst(largest_log_ratio, law, (2, 1, 2), k, scale / 2, STEP) > epsilon


# --- Choices by the exponential mechanism --------------------------------------------------------------------------


def exponential_law(scores, k, scale):
    """Probability of every ordered list of k indices, each chosen in proportion to exp(score / scale)."""
    lists = {(): 1.0}
    for _ in range(k):
        longer = {}
        for chosen, probability in lists.items():
            remaining = [i for i in range(len(scores)) if i not in chosen]
            weights = np.exp((np.array([scores[i] for i in remaining]) - max(scores)) / scale)
            for i, share in zip(remaining, weights / weights.sum(), strict=True):
                longer[(*chosen, i)] = probability * share
        lists = longer
    return lists


STEPS = 20
CASES = [(0.1, 0.05, 1, 4), (0.1, 0.05, 2, 4), (0.5, 0.1, 3, 5), (1.0, 0.01, 4, 5)]  # epsilon, delta, k, scores


@pytest.mark.parametrize("order", [1.0001, 2, 8])
@pytest.mark.parametrize("epsilon, delta, k, n_scores", CASES)
@pytest.mark.combinations
def test_lists_stay_within_rho_but_not_with_half_the_noise(epsilon, delta, k, n_scores, order):
    def divergence(p, q):
        return renyi(np.array([*p.values()]), np.array([*q.values()]), order)

    scale, rho = ExponentialTopK.for_budget(budget_of(epsilon, delta), k, STEPS).scale, rho_for(epsilon, delta)
    least, most = (
        worst(divergence, exponential_law, (0,) * n_scores, k, noise, (-STEPS, STEPS)) for noise in (scale, scale / 2)
    )
    assert least <= order * rho < most


@pytest.mark.parametrize("k", [1, 8, 9, 200])
def test_the_mechanism_with_less_noise_is_used(k):
    # epsilon = 1, delta = 1e-6: standard deviations in units of the sensitivity, as in docs/theory/top_k.md
    steps = 10**6
    one_shot, gumbel = 2 * k, math.pi / math.sqrt(6) * math.sqrt(k / (2 * 0.024356))
    chosen = BestFeatures(1, 1e-6, k).noise_for(steps)
    assert isinstance(chosen, ExponentialTopK) == (gumbel < one_shot) == (k >= 9)
    sd = chosen.scale / steps * (math.pi / math.sqrt(6) if chosen.name == "exponential" else 1)
    assert sd == pytest.approx(min(one_shot, gumbel), rel=1e-5)
    assert BestFeatures(1, 1e-6, k).epsilon_per_feature == pytest.approx(1 / sd, rel=1e-5)


# --- Noise in a cube --------------------------------------------------------------------------------------------------

REACH = 16  # noise beyond it has probability below exp(-REACH / scale), times a polynomial


def cube_law(scores, k, scale):
    """Probability of every ordered list of k of three indices, summed over all noise within REACH."""
    noise = np.indices((2 * REACH + 1,) * len(scores)).reshape(len(scores), -1) - REACH
    weights = np.exp(-np.abs(noise).max(axis=0) / scale)
    order = np.argsort(-(noise + np.array(scores)[:, np.newaxis]), axis=0, kind="stable")[:k]
    lists = {chosen: weights[(order.T == chosen).all(axis=1)].sum() for chosen in permutations(range(len(scores)), k)}
    return {chosen: weight / weights.sum() for chosen, weight in lists.items()}


def test_no_list_from_a_cube_is_more_than_exp_epsilon_times_as_likely_but_with_a_third_of_the_noise_one_is():
    # The list reveals less than the noisy scores: here even half the noise would stay within epsilon.
    assert CubeTopK.for_budget(budget_of(0.5), 2, steps=7, n_candidates=3).scale == 14
    scale = CubeTopK.for_budget(budget_of(1), 2, steps=1, n_candidates=3).scale
    assert worst(largest_log_ratio, cube_law, (0, 0, 0), 2, scale, STEP) <= 1 + 1e-4  # plus the noise beyond REACH
    assert worst(largest_log_ratio, cube_law, (0, 0, 0), 2, scale / 3, STEP) > 1


FOUR = (2, 0, 3, 2)
DRAWN = {  # scores, k, scale of the noise, the mechanism and the law
    "one-shot, one": (FOUR, 1, 3, OneShotTopK(1, 3), law),
    "one-shot, two": (FOUR, 2, 3, OneShotTopK(2, 3), law),
    "exponential, one": (FOUR, 1, 3, ExponentialTopK(1, 3), exponential_law),
    "exponential, three": (FOUR, 3, 3, ExponentialTopK(3, 3), exponential_law),
    "cube": ((2, 0, 3), 2, 1, CubeTopK(2, 1, 3), cube_law),
}


@pytest.mark.few
@pytest.mark.parametrize("scores, k, scale, mechanism, its_law", DRAWN.values(), ids=DRAWN)
def test_published_lists_follow_the_exact_distribution(scores, k, scale, mechanism, its_law):
    # chi-square, alpha = 1e-3, n = 1,500 lists, fixed seed
    source = entropy_source(0)
    lists = [tuple(mechanism.release(np.array(scores) * GRID, source)[0].tolist()) for _ in range(1500)]
    assert p_value_of_law(lists, its_law(scores, k, scale)) > 1e-3


@pytest.mark.parametrize("epsilon, delta", [(0.3, 0.0), (1, 1e-6)])
def test_a_cube_is_used_if_its_noise_is_at_most_two_thirds_of_that_of_any_other_mechanism(epsilon, delta):
    for d in (2, 6, 12, 20, 40, 300):
        for k in range(1, d + 1):
            release = BestFeatures(epsilon, delta, k, n_candidates=d)
            sd, others = CubeLaw(d, 1 / epsilon).std(), [2 * k / epsilon]
            if delta:
                others.append(math.pi / math.sqrt(6) * math.sqrt(k / (2 * rho_for(epsilon, delta))))
            is_cube = release.noise_for(10**6).name == "k-norm"
            assert is_cube == (sd <= 2 / 3 * min(others))
            assert release.cost.delta == (delta if release.noise_for(10**6).name == "exponential" else 0)
            if is_cube:
                assert release.epsilon_per_feature == pytest.approx(1 / sd)


def test_the_half_width_of_a_cube_covers_the_difference_of_two_scores():
    # 1,000 cubes of 5 scores, ten pairs each: the share outside is at most 5%, up to 4 standard errors at n = 1,000
    mechanism, source = CubeTopK(3, 50, 5), entropy_source(0)
    draws = np.array([discrete_k_norm(50, 5, source) for _ in range(1000)], dtype=float)
    apart = np.abs(draws[:, :, np.newaxis] - draws[:, np.newaxis])[:, *np.triu_indices(5, 1)]
    outside = (apart > mechanism.half_width(0.95) / GRID - 1).mean()
    assert 0.035 < outside <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 1000)
    z = np.linspace(0, 40, 9)
    half_widths = np.random.default_rng(0).gamma(6, size=(100_000, 1))
    assert tail_of_difference(z, 5) == pytest.approx((np.clip(1 - z / (2 * half_widths), 0, 1) ** 2).mean(0), abs=5e-3)


# --- Confidence of a choice -------------------------------------------------------------------------------------------


@pytest.mark.few
@pytest.mark.parametrize(
    "scores",
    [(0, 0, 0, 0, 0), (30, 20, 10, 10, 0), (0, 50, 60, 60, 60, 60, 60), (90, 90, 90, 0, 80, 90), (999, 0, 0, 0, 0)],
)
def test_features_reported_among_the_best_are_wrong_no_more_often_than_their_confidence_allows(scores):
    """20,000 choices of three: confidence above c is wrong in at most 1 - c of them, up to 4 standard errors."""
    k, scale, source, steps, wrong = 3, 80, entropy_source(0), np.array(scores), []
    noise = np.array(geometric(scale, 20_000 * len(steps), source), dtype=np.int64)
    for noisy in steps + noise.reshape(-1, len(steps)):
        chosen = np.argsort(-noisy, kind="stable")[:k]
        sure = confidence_among_best(-np.diff(noisy[chosen]).astype(float), scale)
        is_wrong = steps[chosen] <= np.delete(steps, chosen).max()  # a feature not chosen is as good, or better
        wrong.append(np.where(is_wrong, sure, -1.0))
    wrong = np.array(wrong)
    for confidence in (0.3, 0.6, 0.9, 0.98):
        share = (wrong > confidence).mean(axis=0)
        assert (share <= 1 - confidence + 4 * math.sqrt((1 - confidence) * confidence / len(wrong))).all()
    if len(set(scores[1:])) == 1:  # ties: tight at the first place where the best are not certain
        place = int(scores[0] > 0)
        assert (wrong > 0.6).mean(axis=0)[place] > 0.38
    assert (wrong[:, -1] <= 0).all()
    assert confidence_among_best(np.array([0.2, 0.1]), 0.0).tolist() == [1, 1, 1]
