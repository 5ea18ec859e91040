"""Choosing features by what they add to those chosen before: the exact distribution of the list, on integers."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from skdpmic.privacy.mechanisms import GRID
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.top_k import ChoicesInTurn, ExponentialTopK, OneShotTopK
from tests.folding import each
from tests.privacy.laws import p_value_of_law
from tests.privacy.test_top_k import exponential_law, law

ALONE = (7, 6, 6, 3)
TOGETHER = ((7, 9, 12, 10), (9, 6, 10, 9), (12, 10, 6, 9), (10, 9, 9, 3))


def by_geometric_noise(adjusted, scale):
    """The exact distribution of the largest, with one-sided geometric noise of a small scale."""
    return {f: p for ((i,), p) in law(list(adjusted.values()), 1, scale).items() for f in [list(adjusted)[i]]}


def by_permute_and_flip(adjusted, scale):
    """The distribution of the largest with one-sided exponential noise, in the equivalent form of coin flips.

    In random order, each feature is accepted with probability exp(-(largest - its own) / scale), until one is.
    """
    flips = {f: math.exp(-(max(adjusted.values()) - w) / scale) for f, w in adjusted.items()}
    chances = {}
    for f in flips:
        others = [flips[g] for g in flips if g != f]
        subsets = (s for size in range(len(flips)) for s in combinations(others, size))
        chances[f] = flips[f] * sum((-1) ** len(s) * math.prod(s) / (len(s) + 1) for s in subsets)
    return chances


def by_weights(adjusted, scale):
    """The distribution of the exponential mechanism."""
    return {f: exponential_law(list(adjusted.values()), 1, scale)[i,] for i, f in enumerate(adjusted)}


def gain_by_chance(f, own):
    return 2 * (f % 2) * (own % 2)


SHARE_OF_ALONE = Fraction(1, 10)  # more than the package uses with so little noise, so that small integers show it


def mixed_scores(chosen, noises, of_alone=SHARE_OF_ALONE):
    """For each remaining feature: its smallest gain over the chosen ones, mixed with a share of its own score."""
    left = [f for f in range(len(ALONE)) if f not in chosen]
    if not chosen:
        return {f: ALONE[f] for f in left}
    owns = {s: ALONE[s] + z for s, z in zip(chosen, noises, strict=True)}
    gains = {f: min(TOGETHER[s][f] - own - gain_by_chance(f, own) for s, own in owns.items()) for f in left}
    return {f: math.floor((1 - of_alone) * gains[f] + of_alone * ALONE[f]) for f in left}


def law_of_lists(k, one_choice, own_scale, kept=()):
    """Probability of every ordered list, over all noise on the single scores of the chosen features."""
    reach = range(-8 * own_scale, 8 * own_scale + 1)
    weights = {z: math.exp(-abs(z) / own_scale) for z in reach}
    of_noise = {z: w / sum(weights.values()) for z, w in weights.items()}
    states = {(kept, noises): math.prod(map(of_noise.get, noises)) for noises in product(of_noise, repeat=len(kept))}
    for place in range(k):
        following = {}
        for (chosen, noises), probability in states.items():
            for f, p in one_choice(mixed_scores(chosen, noises)).items():
                for z, q in of_noise.items() if place < k - 1 else [(0, 1.0)]:
                    state = ((*chosen, f), (*noises, z))
                    following[state] = following.get(state, 0.0) + probability * p * q
        states = following
    lists = {}
    for (chosen, _), probability in states.items():
        lists[chosen[len(kept) :]] = lists.get(chosen[len(kept) :], 0.0) + probability
    return lists


def published(mechanism, source, kept=(), of_alone=SHARE_OF_ALONE):
    asked = []

    def pair_scores(feature, taken):
        asked.append(feature)
        assert taken == list(kept) + asked[len(kept) :]
        return np.delete(np.array(TOGETHER[feature], dtype=object), taken), ALONE[feature]

    def by_chance(feature, taken, own):
        return np.array([gain_by_chance(f, own) for f in range(4) if f not in taken], dtype=object)

    mechanism._own_share = int(1000 * of_alone)
    candidates = np.delete(np.arange(4), kept)
    alone = np.array(ALONE, dtype=object)[candidates]
    chosen = mechanism.release(candidates, alone, pair_scores, by_chance, source, kept).tolist()
    assert asked == [*kept, *chosen[:-1]]
    return tuple(chosen)


CASES = {"exponential": (ExponentialTopK, by_weights, 3), "one-sided": (OneShotTopK, by_geometric_noise, 2)}


def p_value(case, own_scale, stated_scale, scale=3, kept=()):
    """Chi-square, n = 1,000 lists, fixed seed; the true `own_scale` may differ from the stated one."""
    kind, choice_law, k = CASES[case]
    k = min(k, 4 - len(kept))
    source, mechanism = entropy_source(0), ChoicesInTurn(kind(k, scale), own_scale)
    lists = [published(mechanism, source, kept) for _ in range(1000)]
    return p_value_of_law(lists, law_of_lists(k, lambda worth: choice_law(worth, scale), stated_scale, kept))


@pytest.mark.slow
@pytest.mark.parametrize("kept", [(), (2,), (0, 3)])
@pytest.mark.parametrize("case", CASES)
def test_published_lists_follow_the_exact_distribution(case, kept):
    own_scale = 2 if kept else 4
    assert p_value(case, own_scale, own_scale, kept=kept) > 1e-3


@pytest.mark.slow
def test_chosen_scores_published_without_noise_are_detected():
    assert p_value("exponential", 0, 5, scale=1) < 1e-3
    assert p_value("exponential", 5, 5, scale=1) > 1e-3


@pytest.mark.parametrize("of_alone, lists", [(SHARE_OF_ALONE, (0, 2, 3, 1)), (3 * SHARE_OF_ALONE, (0, 2, 1, 3))])
def test_without_noise_each_choice_has_the_largest_minimum_gain(of_alone, lists):
    chosen = []
    for place in range(4):
        worth = mixed_scores(tuple(chosen), (0,) * place, of_alone)
        chosen.append(max(worth, key=lambda f: (worth[f], -f)))
    assert published(ChoicesInTurn(OneShotTopK(4, 0), 0), entropy_source(0), (), of_alone) == tuple(chosen) == lists
    kept = published(ChoicesInTurn(OneShotTopK(2, 0), 0), entropy_source(0), (0, 2), of_alone)
    assert kept == lists[2:]


def test_a_step_in_all_scores_moves_a_mixed_score_by_no_more_than_that_step():
    """For random integers, the floor of the sum; the sum of two floors could move further."""
    rng, apart = np.random.default_rng(0), 0
    for _ in range(3000):
        mechanism, step = ChoicesInTurn(OneShotTopK(2, int(rng.integers(0, 2**24))), 0), rng.integers(1, 50)
        gain, alone = rng.integers(-1000, 1000), rng.integers(1000)
        moved = gain + step, alone + step
        assert abs(mechanism._mixed(*moved) - mechanism._mixed(gain, alone)) <= step
        floors = [9 * a // 10 + b // 10 for a, b in ((gain, alone), moved)]
        apart = max(apart, abs(floors[1] - floors[0]) - step)
    assert apart == 1


@each("noise_scale, share", [(0, 0), (0.001, 0.025), (0.004, 0.1), (0.04, 1), (3, 1)])
def test_the_score_of_a_feature_alone_counts_more_when_there_is_more_noise(noise_scale, share):
    mechanism = ChoicesInTurn(OneShotTopK(2, round(noise_scale / GRID)), 0)
    assert mechanism._mixed(0, 10**6) == pytest.approx(share * 10**6, abs=1001)
    assert mechanism._mixed(10**6, 0) == pytest.approx((1 - share) * 10**6, abs=1001)
