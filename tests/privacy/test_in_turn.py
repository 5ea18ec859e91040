"""Choosing features by what they add to those chosen before: the exact distribution of the list, on integers."""

import math
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


REACH = 2  # less than most scores alone are from the gains below, so that small integers show it


def worths(chosen, noises, reach=REACH):
    """For each remaining feature: its score alone, moved no further than the reach from its smallest gain."""
    left = [f for f in range(len(ALONE)) if f not in chosen]
    if not chosen:
        return {f: ALONE[f] for f in left}
    owns = {s: ALONE[s] + z for s, z in zip(chosen, noises, strict=True)}
    gains = {f: min(TOGETHER[s][f] - own - gain_by_chance(f, own) for s, own in owns.items()) for f in left}
    return {f: sorted((gains[f] - reach, ALONE[f], gains[f] + reach))[1] for f in left}


def law_of_lists(k, one_choice, own_scale, kept=()):
    """Probability of every ordered list, over all noise on the single scores of the chosen features."""
    reach = range(-8 * own_scale, 8 * own_scale + 1)
    weights = {z: math.exp(-abs(z) / own_scale) for z in reach}
    of_noise = {z: w / sum(weights.values()) for z, w in weights.items()}
    states = {(kept, noises): math.prod(map(of_noise.get, noises)) for noises in product(of_noise, repeat=len(kept))}
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
        lists[chosen[len(kept) :]] = lists.get(chosen[len(kept) :], 0.0) + probability
    return lists


def published(mechanism, source, kept=(), reach=REACH):
    asked = []

    def pair_scores(feature, taken):
        asked.append(feature)
        assert taken == list(kept) + asked[len(kept) :]
        return np.delete(np.array(TOGETHER[feature], dtype=object), taken), ALONE[feature]

    def by_chance(feature, taken, own):
        return np.array([gain_by_chance(f, own) for f in range(4) if f not in taken], dtype=object)

    candidates = np.delete(np.arange(4), kept)
    alone = np.array(ALONE, dtype=object)[candidates]
    chosen = mechanism.release(candidates, alone, pair_scores, by_chance, reach, source, kept).tolist()
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


@pytest.mark.parametrize("reach, lists", [(0, (0, 2, 3, 1)), (4, (0, 2, 1, 3)), (9, (0, 1, 2, 3))])
def test_without_noise_each_choice_has_the_largest_worth(reach, lists):
    """From gains (a reach of 0) to scores alone (one beyond them all)."""
    chosen = []
    for place in range(4):
        worth = worths(tuple(chosen), (0,) * place, reach)
        chosen.append(max(worth, key=lambda f: (worth[f], -f)))
    assert published(ChoicesInTurn(OneShotTopK(4, 0), 0), entropy_source(0), (), reach) == tuple(chosen) == lists
    kept = published(ChoicesInTurn(OneShotTopK(2, 0), 0), entropy_source(0), (0, 2), reach)
    assert kept == tuple(f for f in lists if f not in (0, 2))


def test_a_step_in_all_scores_moves_a_worth_by_no_more_than_that_step():
    """For random integers, all of which move by up to the step: 500 draws, exact."""
    rng = np.random.default_rng(0)
    for _ in range(500):
        reach, step = int(rng.integers(30)), int(rng.integers(1, 9))
        tables = rng.integers(-60, 60, (2, 6))
        moved = tables + rng.integers(-step, step + 1, (2, 6))
        (alone, gains), (other_alone, other_gains) = tables.astype(object), moved.astype(object)
        apart = [
            abs(a - b)
            for a, b in zip(
                worth_beside(alone, gains, reach), worth_beside(other_alone, other_gains, reach), strict=True
            )
        ]
        assert max(apart) <= step


def worth_beside(alone, gains, reach):
    """What a choice compares, from the score alone and the gain over one kept feature."""
    asked = []

    class Asked(OneShotTopK):
        def choose(self, adjusted, random_bytes):
            asked.append(adjusted)
            return super().choose(adjusted, random_bytes)

    mechanism = ChoicesInTurn(Asked(1, 0), 0)
    features = np.arange(1, len(alone) + 1)
    mechanism.release(features, alone, lambda f, taken: (gains, 0), lambda *_: 0, reach, None, kept=(0,))
    return asked[0]


@each("noise_scale, n, reach", [(0, 10**8, 0.0004), (0, 1600, 0.1), (0.001, 10**4, 0.05), (0.01, 10**4, 0.14)])
def test_the_reach_grows_with_the_noise_and_falls_with_the_number_of_people(noise_scale, n, reach):
    mechanism = ChoicesInTurn(OneShotTopK(2, round(noise_scale / GRID)), 0)
    assert mechanism.reach(n, 1.0) * GRID == pytest.approx(reach, abs=1e-6)
    assert mechanism.reach(n, 0.5) * GRID == pytest.approx((reach + 10 * noise_scale) / 2, abs=1e-6)
