"""One-shot top-k: the exact law of the published list, on integers small enough to enumerate."""

import math
from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from skdpmic.privacy.mechanisms import GRID
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.top_k import OneShotTopK

TAIL = 120  # noise beyond it has probability below exp(-TAIL / scale)


def law(scores, k, scale):
    """Probability of every ordered list of k indices: the largest noisy scores, ties going to the smaller index."""
    pmf = (1 - math.exp(-1 / scale)) * np.exp(-np.arange(TAIL) / scale)
    cdf = np.cumsum(pmf)

    def beats(i, noisy_i, j):  # P(j comes after i | noisy score of i)
        largest = noisy_i - scores[j] - (1 if j < i else 0)
        return cdf[min(largest, TAIL - 1)] if largest >= 0 else 0.0

    lists = {}
    for chosen in permutations(range(len(scores)), k):
        rest = [j for j in range(len(scores)) if j not in chosen]
        total = 0.0
        for noise in product(range(TAIL), repeat=k):
            noisy = [scores[i] + z for i, z in zip(chosen, noise, strict=True)]
            in_order = all((-noisy[a], chosen[a]) < (-noisy[a + 1], chosen[a + 1]) for a in range(k - 1))
            if in_order:
                weight = math.prod(pmf[z] for z in noise)
                total += weight * math.prod(beats(chosen[-1], noisy[-1], j) for j in rest)
        lists[chosen] = total
    return lists


@pytest.mark.parametrize("k", [1, 2])
def test_published_lists_follow_the_exact_law(k):
    # chi-square, alpha = 1e-3, n = 4,000 lists, fixed seed
    scores, scale, n = (2, 0, 3, 2), 3, 4000
    expected = law(scores, k, scale)
    source = entropy_source(0)
    mechanism = OneShotTopK(k, scale)
    lists = [tuple(mechanism.release(np.array(scores) * GRID, source)) for _ in range(n)]
    observed = [lists.count(chosen) for chosen in expected]
    probabilities = np.array(list(expected.values()))
    assert stats.chisquare(observed, n * probabilities / probabilities.sum()).pvalue > 1e-3


@pytest.mark.parametrize("k, epsilon", [(1, 0.5), (1, 2.0), (2, 1.0)])
def test_no_list_is_more_than_exp_epsilon_more_likely_for_a_neighbour(k, epsilon):
    worst = _worst_log_ratio(OneShotTopK.for_budget(epsilon, k, steps=1).scale, k)
    assert worst <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("k, epsilon", [(1, 2.0), (2, 2.0)])
def test_half_the_noise_would_be_caught(k, epsilon):
    assert _worst_log_ratio(OneShotTopK.for_budget(epsilon, k, steps=1).scale / 2, k) > epsilon


def _worst_log_ratio(scale, k):
    """Over neighbours of integer scores with sensitivity 1: every score moves by -1, 0 or 1."""
    scores = (2, 1, 2)
    here = law(scores, k, scale)
    worst = 0.0
    for move in product((-1, 0, 1), repeat=len(scores)):
        there = law(tuple(s + m for s, m in zip(scores, move, strict=True)), k, scale)
        worst = max(worst, *(abs(math.log(here[chosen] / there[chosen])) for chosen in here))
    return worst


def test_scale_is_two_k_sensitivities_over_epsilon():
    mechanism = OneShotTopK.for_budget(0.5, 10, steps=7)
    assert mechanism.scale == 280
    assert mechanism.noise_scale == 280 * GRID


def test_without_noise_the_best_are_chosen_and_ties_go_to_the_first():
    mechanism = OneShotTopK.for_budget(math.inf, 3, steps=7)
    assert mechanism.release(np.array([0.2, 0.9, 0.2, 0.5]), entropy_source()).tolist() == [1, 3, 0]
