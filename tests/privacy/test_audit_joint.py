"""Choices by what features add: the probabilities of all outcomes on neighbours, from the real scores and noise."""

import math

import numpy as np
import pytest

from skdpmic.privacy.mechanisms import to_grid
from skdpmic.release.kinds import JointFeatures
from skdpmic.statistics.registry import statistic_named
from skdpmic.table.shape import Shape
from skdpmic.table.targets import ClassTarget
from tests.privacy.test_greedy import by_permute_and_flip

UNIT = (0.0, 1.0)
N, D, EPSILON = 6, 3, 1.0
RELEASE = JointFeatures(EPSILON, 0.0, 2)
MEASURE = statistic_named("mtv_r", "miller-madow").measure("auto", "auto", N, EPSILON, 2).knowing((0.5, 0.5))
MECHANISM = RELEASE.mechanism(MEASURE, Shape(N, [UNIT] * D))


def law_of_lists(records):
    """The probability of each list of two, and the noiseless worth of each feature by itself, in its pair with itself.

    At k = 2 the noise on that worth is the same for all, and decides nothing.
    """
    X, target = records[:, :D].T.astype(float) * 0.8 + 0.1, ClassTarget(records[:, D], 2)
    scorer, lists, alone = MEASURE.scorer(target, None), {}, {}
    first = by_permute_and_flip(_worths({f: scorer.score(x, UNIT) for f, x in enumerate(X)}), MECHANISM.scale)
    for s, p in first.items():
        beside = MEASURE.scorer_beside(target, X[s], UNIT)
        alone[s] = int(to_grid(np.array([beside.score(X[s], UNIT)]))[0])
        added = _worths({f: beside.score(x, UNIT) for f, x in enumerate(X) if f != s})
        lists |= {(s, f): p * q for f, q in by_permute_and_flip(added, MECHANISM.scale).items()}
    return lists, alone


def _worths(scores):
    return {f: int(to_grid(np.array([score]))[0]) for f, score in scores.items()}


def losses(n_tables=400):
    """Of neighbours that differ in one record: the loss of the list, and that of the list with the released worth."""
    rng, kept = np.random.default_rng(0), {}

    def law(records):
        key = tuple(sorted(map(tuple, records.tolist())))
        if key not in kept:
            kept[key] = law_of_lists(np.array(key))
        return kept[key]

    of_lists = together = 0.0
    for _ in range(n_tables):
        here = rng.integers(2, size=(N, D + 1))
        there = here.copy()
        there[0] = rng.integers(2, size=D + 1)
        (p, own), (q, others) = law(here), law(there)
        for chosen in p:
            loss = abs(math.log(p[chosen] / q[chosen]))
            moved = abs(own[chosen[0]] - others[chosen[0]]) / MECHANISM._own_scale
            of_lists, together = max(of_lists, loss), max(together, loss + moved)
    return of_lists, together


def test_no_outcome_loses_more_than_the_budget_and_some_lose_a_good_part_of_it():
    of_lists, together = losses()
    assert 0.4 * EPSILON < of_lists <= float(RELEASE._of_choices)
    assert of_lists < together <= EPSILON


@pytest.mark.parametrize(("part", "share"), [("scale", 3), ("_own_scale", 12)])
def test_less_noise_is_found_out(part, share, monkeypatch):
    monkeypatch.setattr(MECHANISM, part, getattr(MECHANISM, part) // share)
    assert losses()[1] > EPSILON
