"""Gaps between chosen noisy scores cost nothing: the exact distribution of lists with their gaps, in fractions.

One-sided noise z has probability (1 - Q) Q**z. So if each score moves by one step, exp(epsilon) = Q**(-2 k).
"""

import math
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest

from skdpmic.privacy.mechanisms import GRID
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.top_k import OneShotTopK
from tests.folding import each
from tests.privacy.laws import p_value_of_law

Q = Fraction(1, 2)


def probability(scores, chosen, gaps, q=Q):
    """The probability of this list with these gaps.

    The noisy score of each chosen feature is that of the last, t, plus the gaps below it; all others are below t, or at
    t with a larger index. So t has probability sum c r**t over terms (c, r), and is at least `first`.
    """
    above = [sum(gaps[place:]) for place in range(len(chosen))]
    if min(gaps, default=0) < 0 or any(g == 0 and i > j for g, (i, j) in zip(gaps, pairwise(chosen), strict=True)):
        return Fraction(0)
    others = [j for j in range(len(scores)) if j not in chosen]
    limits = [(j > chosen[-1]) - scores[j] for j in others]  # the noise of j takes one of t + limit values
    first = max([scores[i] - more for i, more in zip(chosen, above, strict=True)] + [-limit for limit in limits])
    total = Fraction(0)
    for some in (some for size in range(len(others) + 1) for some in combinations(limits, size)):
        r = q ** (len(chosen) + len(some))
        total += (-1) ** len(some) * q ** sum(some) * r**first / (1 - r)
    return total * math.prod((1 - q) * q ** (more - scores[i]) for i, more in zip(chosen, above, strict=True))


@cache
def law(scores, k, most=12):
    """The probabilities of all lists with gaps below `most`; as their sums show, those of nearly all lists."""
    lists = list(permutations(range(len(scores)), k))
    return {
        (chosen, gaps): probability(scores, chosen, gaps)
        for chosen in lists
        for gaps in product(range(most), repeat=k - 1)
    }


def worst_ratio(here, there):
    """The largest ratio of probabilities; infinite if an outcome is possible on one side only."""
    outcomes = [outcome for outcome in here.keys() | there.keys() if here.get(outcome) or there.get(outcome)]
    if any(not here.get(outcome) or not there.get(outcome) for outcome in outcomes):
        return math.inf
    return max(max(here[o] / there[o], there[o] / here[o]) for o in outcomes)


def neighbours(d, largest):
    for scores in product(range(largest + 1), repeat=d):
        for moves in product((-1, 0, 1), repeat=d):
            yield scores, tuple(s + m for s, m in zip(scores, moves, strict=True))


@pytest.mark.slow
def test_probabilities_of_lists_with_gaps_sum_to_one_and_match_the_draws_of_the_mechanism():
    # chi-square, alpha = 1e-3, n = 3,000, fixed seed; the scale above, 1 / log(2), is not an integer, so scale 2 here
    scores, n, q = (2, 0, 3), 3000, Fraction(math.exp(-0.5))
    assert 1 - sum(law(scores, 2, 40).values()) < Fraction(1, 2**30)
    mechanism, source = OneShotTopK(2, 2), entropy_source(0)
    drawn = [mechanism.release(np.array(scores) * GRID, source) for _ in range(n)]
    seen = [(tuple(chosen.tolist()), tuple((gaps / GRID).astype(int).tolist())) for chosen, gaps in drawn]
    expected = {(c, (g,)): probability(scores, c, (g,), q) for c in permutations(range(3), 2) for g in range(9)}
    assert p_value_of_law(seen, expected) > 1e-3


@each("d, k, largest", [(3, 1, 2), (2, 2, 2), (3, 2, 1), (3, 3, 0)])
def test_no_list_with_gaps_is_more_than_exp_epsilon_times_as_likely_for_a_neighbour_and_some_attain_it(d, k, largest):
    worst = max(worst_ratio(law(here, k, 4), law(there, k, 4)) for here, there in neighbours(d, largest))
    assert worst == Q ** (-2 * k) if k < d else worst < Q ** (-2 * k)


def test_the_gaps_come_from_the_draw_that_made_the_choice_and_offsets_are_subtracted_from_scores():
    scores = np.random.default_rng(0).integers(0, 2**10, 20) / 2**10
    for k in (1, 2, 20):
        mechanism, offsets = OneShotTopK(k, 2**27), scores[::-1] / 2
        chosen, gaps = mechanism.release(scores, entropy_source(5))
        np.testing.assert_array_equal(chosen[:1], type(mechanism)(1, 2**27).release(scores, entropy_source(5))[0])
        assert len(gaps) == k - 1
        assert (gaps >= 0).all()
        with_offsets = mechanism.release(scores, entropy_source(5), offsets)
        without = mechanism.release(scores - offsets, entropy_source(5))
        assert [part.tolist() for part in with_offsets] == [part.tolist() for part in without]


# --- What must not be published: broken variants ----------------------------------------------------------------------


def test_the_gap_to_the_best_feature_not_chosen_costs_twice_as_much():
    """The counterexample of docs/theory/top_k.md: the first score rises by one; the other two, tied, fall by one.

    Of one feature, the second, and the gap from it to the next, the third, with which it is tied.
    """
    here, there = (probability(scores, (1, 2), (0,)) for scores in ((1, 0, 0), (2, -1, -1)))
    assert here / there == Q**-4  # exp(2 epsilon)
    assert worst_ratio(law((1, 0, 0), 1), law((2, -1, -1), 1)) <= Q**-2


# --- What a gap shows -------------------------------------------------------------------------------------------------


@pytest.mark.few
@pytest.mark.parametrize("scores", [(0, 0, 0), (1, 1, 0), (2, 1, 3), (3, 0, 3)])
@pytest.mark.parametrize("place", [0, 1])
def test_a_large_gap_above_an_equally_good_feature_is_as_rare_as_stated(scores, place):
    """Lemma: P(gap > g, though a later feature is as good) <= Q**g, for each single gap; tight up to one step."""
    most, outcomes = 25, law(scores, 3, 25)
    for g in range(8):
        wrong = sum(
            p
            for (chosen, gaps), p in outcomes.items()
            if gaps[place] > g and any(scores[j] >= scores[chosen[place]] for j in chosen[place + 1 :])
        )
        assert wrong <= Q**g + Fraction(1, 2**most)
        if scores == (0, 0, 0) and place == 0:
            assert wrong > Q ** (g + 2)


def test_the_margin_in_the_plot_matches_the_lemma():
    for scale in (1, 5, 1000, 2**30):
        steps = round(OneShotTopK(1, scale).half_width(0.95) / GRID)  # a gap beyond it is more than `steps` steps
        assert math.exp(-steps / scale) <= 0.05
        assert math.exp(-(steps - 2) / scale) > 0.05
        assert math.exp(-3 * scale / scale) <= 0.05
