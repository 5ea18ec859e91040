"""Choosing features by what they add to those before them: the exact law of the published list, on integers."""

import math

import numpy as np
import pytest

from skdpmic.privacy.in_turn import ChoicesInTurn
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.top_k import ExponentialTopK, OneShotTopK
from tests.privacy.test_greedy import _p_value, by_geometric_noise, by_weights

ALONE = (7, 6, 6, 3)
TOGETHER = ((7, 9, 12, 10), (9, 6, 10, 9), (12, 10, 6, 9), (10, 9, 9, 3))


def worths(chosen, noises):
    """Of the features that were not chosen: what each adds to the one of those chosen that it adds least to."""
    left = [f for f in range(len(ALONE)) if f not in chosen]
    if not chosen:
        return {f: ALONE[f] for f in left}
    return {f: min(TOGETHER[s][f] - ALONE[s] - z for s, z in zip(chosen, noises, strict=True)) for f in left}


def law_of_lists(k, one_choice, own_scale):
    """Probability of every ordered list, over all noise on what those chosen are worth by themselves."""
    reach = range(-8 * own_scale, 8 * own_scale + 1)
    weights = {z: math.exp(-abs(z) / own_scale) for z in reach}
    of_noise, states = {z: w / sum(weights.values()) for z, w in weights.items()}, {((), ()): 1.0}
    for place in range(k):
        following = {}
        for (chosen, noises), probability in states.items():
            for f, p in one_choice(worths(chosen, noises)).items():
                for z, q in of_noise.items() if place < k - 1 else [(0, 1.0)]:
                    state = ((*chosen, f), (*noises, z))
                    following[state] = following.get(state, 0.0) + probability * p * q
        states = following
    lists = {}
    for (chosen, _), probability in states.items():
        lists[chosen] = lists.get(chosen, 0.0) + probability
    return lists


def published(mechanism, source):
    asked = []

    def worths_beside(feature, chosen):
        asked.append(feature)
        assert asked == list(chosen)
        return np.delete(np.array(TOGETHER[feature], dtype=object), chosen), ALONE[feature]

    chosen = mechanism.release(np.array(ALONE, dtype=object), worths_beside, source).tolist()
    assert asked == chosen[:-1]
    return tuple(chosen)


CASES = {"exponential": (ExponentialTopK, by_weights, 3), "one-sided": (OneShotTopK, by_geometric_noise, 2)}


def p_value(case, own_scale, said, scale=3):
    """Chi-square, n = 1,000 lists, fixed seed; of a mechanism that says another scale than it has."""
    kind, by_noise, k = CASES[case]
    expected = law_of_lists(k, lambda worth: by_noise(worth, scale), said)
    source, mechanism = entropy_source(0), ChoicesInTurn(kind(k, scale), own_scale)
    lists = [published(mechanism, source) for _ in range(1000)]
    observed = np.array([lists.count(chosen) for chosen in expected])
    probabilities = np.array(list(expected.values())) / sum(expected.values())
    return _p_value(observed, probabilities)


@pytest.mark.parametrize("case", CASES)
def test_published_lists_follow_the_exact_law(case):
    assert p_value(case, 4, 4) > 1e-3


def test_own_worths_without_noise_would_be_seen_in_the_law():
    assert p_value("exponential", 0, 5, scale=1) < 1e-3
    assert p_value("exponential", 5, 5, scale=1) > 1e-3


def test_without_noise_each_choice_adds_most_to_the_one_that_it_adds_least_to():
    chosen = []
    for place in range(4):
        worth = worths(tuple(chosen), (0,) * place)
        chosen.append(max(worth, key=lambda f: (worth[f], -f)))
    assert published(ChoicesInTurn(OneShotTopK(4, 0), 0), entropy_source(0)) == tuple(chosen) == (0, 2, 3, 1)
