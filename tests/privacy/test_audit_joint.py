"""Choices by joint scores: the probabilities of all outcomes on neighbours, from the real scores and noise scales."""

import math

import numpy as np
import pytest

from skdpmic.privacy.mechanisms import to_grid
from skdpmic.release.kinds import JointFeatures
from skdpmic.statistics.registry import statistic_named
from skdpmic.table.records import Shape
from skdpmic.table.values import ClassTarget
from tests.privacy.test_in_turn import by_permute_and_flip

UNIT = (0.0, 1.0)
N, D, EPSILON = 6, 4, 1.0
KEPT = 0  # the kept feature; two others are chosen beside it
RELEASE = JointFeatures(EPSILON, 0.0, 2, n_kept=1)
MEASURE = statistic_named("mtv_r", "miller-madow").measure("auto", "auto", N, EPSILON, 2).with_target_shares((0.5, 0.5))
MECHANISM = RELEASE.mechanism(MEASURE, Shape(N, [UNIT] * D))


def pair_scores(records):
    """The noise-free joint scores of all pairs of features, in grid steps: an array of shape (D, D)."""
    X, target = records[:, :D].T.astype(float) * 0.8 + 0.1, ClassTarget(records[:, D], 2)
    rows = [MEASURE.scorer_beside(target, s, UNIT) for s in X]
    return to_grid(np.array([[row.score(x, UNIT) for x in X] for row in rows])).astype(int)


def log_law(beside, lists, own):
    """The log-probabilities of both choices, given the published scores `own` of two features alone."""
    added = {f: beside[KEPT, f] - own[0] for f in range(D) if f != KEPT}
    first, second = by_permute_and_flip(added, MECHANISM.scale), {}
    for s in first:
        to_both = {f: min(gain, beside[s, f] - own[1]) for f, gain in added.items() if f != s}
        second |= {(s, f): p for f, p in by_permute_and_flip(to_both, MECHANISM.scale).items()}
    return np.array([math.log(first[s] * second[s, f]) for s, f in lists])


def losses(n_tables=150):
    """The loss of the list, and of everything published, on neighbours that differ in one record."""
    rng, kept = np.random.default_rng(0), {}
    lists = [(s, f) for s in range(1, D) for f in range(1, D) if s != f]

    def beside(records):
        key = tuple(sorted(map(tuple, records.tolist())))
        if key not in kept:
            kept[key] = pair_scores(np.array(key))
        return kept[key]

    of_lists = of_all = 0.0
    for _ in range(n_tables):
        here = rng.integers(2, size=(N, D + 1))
        there = here.copy()
        there[0] = rng.integers(2, size=D + 1)
        p, q = beside(here), beside(there)
        moved = abs(p.diagonal() - q.diagonal()) / MECHANISM._own_scale
        for away in ((0, 0), (-1, 1), (1, -1)):  # shifts of the published scores of the two features alone
            own = [int(p[KEPT, KEPT] + shift * MECHANISM._own_scale / 4) for shift in away]
            loss = abs(log_law(p, lists, own) - log_law(q, lists, own))
            of_lists = max(of_lists, loss.max())
            of_all = max(of_all, *(loss + moved[KEPT] + moved[[s for s, _ in lists]]))
    return of_lists, of_all


@pytest.mark.slow
def test_no_outcome_loses_more_than_the_budget_and_some_lose_a_good_part_of_it():
    of_lists, of_all = losses()
    assert 0.4 * EPSILON < of_lists <= float(RELEASE._choice_budget.epsilon)
    assert of_lists < of_all <= EPSILON


@pytest.mark.slow
@pytest.mark.parametrize(("part", "share"), [("scale", 3), ("_own_scale", 15)])
def test_too_little_noise_is_detected(part, share, monkeypatch):
    monkeypatch.setattr(MECHANISM, part, getattr(MECHANISM, part) // share)
    assert losses()[1] > EPSILON
