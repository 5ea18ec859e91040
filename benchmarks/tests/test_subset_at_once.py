"""The law of the set chosen at once, by ranks, is that of all sets; and its score moves by twice a score's change."""

import math
from itertools import combinations, product

import numpy as np
import pytest

from benchmarks.subset_at_once import taken_at_once


def gap(scores, chosen):
    return max(s for i, s in enumerate(scores) if i not in chosen) - min(scores[i] for i in chosen)


@pytest.mark.parametrize("k", [1, 3, 5])
@pytest.mark.parametrize("rate", [0.0, 4.0, 100.0])
def test_features_are_taken_as_often_as_over_all_sets(k, rate):
    scores = np.array([0.9, 0.7, 0.65, 0.3, 0.2, 0.05])
    weights = {chosen: math.exp(-rate * gap(scores, chosen)) for chosen in combinations(range(6), k)}
    total = sum(weights.values())
    expected = [sum(weight for chosen, weight in weights.items() if i in chosen) / total for i in range(6)]
    np.testing.assert_allclose(taken_at_once(scores, k, rate), expected, atol=1e-12)


def test_a_gap_moves_by_twice_what_a_score_does_and_no_more():
    scores = (2, 0, 3, 2)
    moved = [
        abs(gap(scores, chosen) - gap(np.add(scores, moves), chosen))
        for chosen in combinations(range(4), 2)
        for moves in product((-1, 0, 1), repeat=4)
    ]
    assert max(moved) == 2
