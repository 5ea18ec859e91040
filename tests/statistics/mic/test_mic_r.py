"""MICr equals its definition: brute force on small data, golden values on real data."""

import json
import math
from itertools import permutations

import numpy as np
import pytest

from skdpmic import mic_r
from skdpmic.statistics.grids import largest_c, largest_size
from skdpmic.statistics.mic import mic_r as module
from skdpmic.statistics.mic.mic_r import (
    ClassTargetScorer,
    NumericTargetScorer,
    class_grids,
    closed_plan,
    continuous_plan,
    needed_grids,
)
from tests.folding import each
from tests.golden import definitions
from tests.naive import naive_mic_r, naive_mic_r_discrete

UNIT = ((0.0, 1.0), (0.0, 1.0))
CORRECTIONS = [None, "miller-madow"]
ORDERS = list(permutations(range(3)))


def _data(kind, n, rng):
    x, y = rng.random(n), rng.random(n)
    return {
        "random": (x, y),
        "tied": (np.round(4 * x) / 4, np.round(6 * y) / 6),  # many on edges
        "constant": (np.full(n, 0.3), y),
        "two-valued": (np.where(x > 0.7, 0.9, 0.1), np.where(y > 0.5, 1.0, 0.0)),
        "related": (x, (x - 0.5) ** 2 * 4),
        "outside": (3 * x - 1, 3 * y - 1),
    }[kind]


@pytest.mark.parametrize("kind", ["random", "tied", "constant", "two-valued", "related", "outside"])
@each("n", [2, 3, 4, 5, 30])
@pytest.mark.parametrize(
    "B, c, master", [(4, 1, "reduced"), (9, 2.5, "reduced"), (17.9, 1.5, "reduced"), (10, 2, "full")]
)
@each("correction", CORRECTIONS)
@pytest.mark.combinations
def test_score_equals_the_definition_by_brute_force(kind, n, B, c, master, correction):
    x, y = _data(kind, n, np.random.default_rng(n))
    arguments = {"bounds": UNIT, "B": B, "c": c, "master": master, "correction": correction}
    assert mic_r(x, y, **arguments) == pytest.approx(naive_mic_r(x, y, **arguments), abs=1e-12)


@pytest.mark.parametrize(
    "n_classes, B, c", [(2, 4, 1), (2, 12, 2), (3, 10, 3.5), (3, 15, 2), (5, 4, 4), (4, 20, 2), (40, 80, 2)]
)
@pytest.mark.parametrize("n", [4, 30])
@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.combinations
def test_score_of_a_discrete_target_equals_the_definition_by_brute_force(n_classes, B, c, n, correction):
    rng = np.random.default_rng(7)
    for kind in range(4):
        x, codes = rng.random(n), rng.integers(n_classes, size=n)
        codes[x > 0.6] = kind % n_classes
        arguments = {"n_classes": n_classes, "B": B, "c": c, "correction": correction}
        expected = naive_mic_r_discrete(x, codes, bounds=(0, 1), **arguments)
        assert ClassTargetScorer(codes, **arguments).score(x, (0, 1)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_classes_may_be_numbered_in_any_order(correction):
    x, noise = np.random.default_rng(0).random((2, 200))
    codes = (3 * np.where(noise < 0.4, x, noise)).astype(int)
    scores = {ClassTargetScorer(np.array(order)[codes], 3, 15, 2, correction).score(x, (0, 1)) for order in ORDERS}
    assert len(scores) == 1


def test_scores_match_golden_values_on_real_pairs(real_pairs):
    rows = list(real_pairs("mic_r"))
    assert len(rows) > 50
    for x, y, row in rows:
        bounds = ((float(row["x0"]), float(row["x1"])), (float(row["y0"]), float(row["y1"])))
        score = mic_r(x, y, bounds=bounds, B=float(row["B"]), c=float(row["c"]))
        assert score == pytest.approx(float(row["mic_r"]), abs=1e-9), row


def test_scores_match_golden_values_on_edge_cases():
    cases = json.loads((definitions.FOLDER / "mic_r_edges.json").read_text(encoding="utf-8"))
    assert len(cases) > 20
    for case in cases:
        bounds = ((case["x0"], case["x1"]), (case["y0"], case["y1"]))
        score = mic_r(case["x"], case["y"], bounds=bounds, B=case["B"], c=case["c"])
        assert score == pytest.approx(case["mic_r"], abs=1e-9), (case["case"], case["B"], case["c"])


# --- The plan: tables instead of nested loops -----------------------------------------------------------------------


def test_the_plan_with_a_correction_is_closed():
    # Three merged parts can be merged into two, as k' = 2 <= k_max, and three fixed parts face no more than three.
    squares = np.arange(3, 100) ** 2.0
    near_squares = np.concatenate([squares, np.nextafter(squares, 0), np.nextafter(squares, 1e9)])
    for B in [*map(float, range(4, 1000)), *near_squares, *np.random.default_rng(0).uniform(4, 10_000, size=500)]:
        n_fixed, n_master, k_max = closed_plan(B, 3, "reduced").T
        assert (k_max >= 2).all()
        assert (k_max <= n_fixed).all()
        assert (n_fixed * k_max <= B).all()
        assert len(np.unique(n_master)) == 1
        assert (k_max[0], k_max[-1]) == (2, math.isqrt(int(B)))


# --- Limits set by public numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("B, n_classes", [(4, None), (20, None), (999.5, None), (300, 2), (200, 50)])
def test_the_largest_c_makes_the_largest_master_partition(B, n_classes):
    def largest_master(c):
        plan = continuous_plan(B, c, "reduced") if n_classes is None else class_grids(n_classes, B, c).plan
        return plan[:, 1].max()

    c, most = largest_c(20, B, n_classes), largest_size(20)
    assert most - 1 <= largest_master(c) <= most < largest_master(1.1 * c)


@pytest.mark.parametrize(
    "B, c, master", [(16, 5, "reduced"), (40, 1, "reduced"), (60, 0.4, "reduced"), (24, 2, "full")]
)
def test_omitted_grids_never_hold_the_largest_entry(B, c, master, monkeypatch):
    rng = np.random.default_rng(0)
    plan = continuous_plan(B, c, master)
    assert len(needed_grids(plan)) < len(plan)

    def score(x, y):
        return NumericTargetScorer(y, (0.0, 1.0), B, c, master).score(x, (0.0, 1.0))

    pairs = []
    for kind in range(12):
        x, y = rng.integers(0, B, size=(2, 60)) / B if kind % 2 else rng.random((2, 60))  # the former lie on edges
        pairs.append((x, np.where(rng.random(60) < kind / 12, x, y)))
    few = [score(x, y) for x, y in pairs]
    module.continuous_grids.cache_clear()
    monkeypatch.setattr(module, "needed_grids", lambda plan: plan)
    every = [score(x, y) for x, y in pairs]
    module.continuous_grids.cache_clear()
    np.testing.assert_allclose(few, every, rtol=0, atol=1e-15)
