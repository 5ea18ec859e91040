"""MICr equals its definition: brute force on small data, golden values on real data."""

import json
import math
from itertools import permutations

import numpy as np
import pytest

from skdpmic import (
    characteristic_matrix,
    dp_mic_classif,
    mic_cross,
    mic_e,
    mic_pairs,
    mic_r,
    private_score,
)
from skdpmic.counting import RangeGridSketch
from skdpmic.statistics.grids import grid_size, largest_c, largest_size
from skdpmic.statistics.mic import mic_r as module
from skdpmic.statistics.mic.mic_r import (
    ClassTargetScorer,
    NumericTargetScorer,
    closed_plan,
    continuous_plan,
    discrete_plan,
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
    if kind == "tied":
        x, y = np.round(4 * x) / 4, np.round(6 * y) / 6  # many on edges
    elif kind == "constant":
        x = np.full(n, 0.3)
    elif kind == "two-valued":
        x, y = np.where(x > 0.7, 0.9, 0.1), np.where(y > 0.5, 1.0, 0.0)
    elif kind == "related":
        y = (x - 0.5) ** 2 * 4
    elif kind == "outside":
        x, y = 3 * x - 1, 3 * y - 1
    return x, y


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


@pytest.mark.parametrize("B, n, expected", [(0.6, 1000, 1000**0.6), (0.1, 10, 4.0), (4, 5, 4.0), (18.5, 5, 18.5)])
def test_grid_size_accepts_numbers_and_exponents(B, n, expected):
    assert grid_size(B, n) == expected


def test_exponents_give_no_more_cells_than_allowed():
    assert grid_size(0.6, 10**9) == largest_size(10**9) == 10_000
    for n in (2, 50, 1000, 10**4, 10**6):
        assert grid_size(0.999, n) <= largest_size(n)


# --- The plan: tables instead of nested loops -----------------------------------------------------------------------


@each(
    "B, c, master, expected",
    [
        (4, 5, "reduced", [(2, 10, 2)]),
        (4, 0.1, "full", [(2, 2, 2)]),
        (15.999999999999998, 1, "reduced", [(7, 3, 2), (5, 3, 3)]),  # the square root rounds to 4
        (16, 1, "reduced", [(8, 4, 2), (4, 4, 4)]),
        (36, 1, "reduced", [(18, 6, 2), (6, 6, 6)]),
        (196, 1.5, "reduced", [(98, 21, 2), (49, 21, 4), (28, 21, 7), (14, 21, 14)]),
        (144.5, 0.5, "full", [(12, 6, 12), (24, 12, 6), (72, 36, 2)]),
    ],
)
def test_the_plan_with_a_correction_halves_the_merged_parts(B, c, master, expected):
    plan = closed_plan(B, c, master)
    assert plan.dtype == np.int64
    assert sorted(map(tuple, plan.tolist())) == sorted(expected)


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


@pytest.mark.parametrize(
    "n_classes, B, c, expected",
    [
        (2, 4, 0.1, [(2, 2, 2)]),
        (3, 10, 3.5, [(3, 10, 3), (2, 10, 3), (2, 10, 3), (2, 10, 3)]),
        (5, 4, 4, [(5, 8, 2)]),
    ],
)
def test_the_plan_for_classes_is_one_grid_except_for_three_classes(n_classes, B, c, expected):
    assert discrete_plan(B, c, n_classes).tolist() == [list(row) for row in expected]


# --- Limits set by public numbers -----------------------------------------------------------------------------------


def pair(n):
    x = np.linspace(0, 1, n)
    return x, x**2


LARGE = {
    "mic_r": lambda x, y, **sizes: mic_r(x, y, bounds=UNIT, **sizes),
    "mic_e": mic_e,
    "matrix of mic_e": characteristic_matrix,
    "pairs of mic_e": lambda x, y, **sizes: mic_pairs(np.c_[x, y], **sizes),
    "cross mic_r": lambda x, y, **sizes: mic_cross(x[:, None], y[:, None], statistic="mic_r", bounds=UNIT, **sizes),
    "private mic_e": lambda x, y, **sizes: private_score(x, y, statistic="mic_e", epsilon=1, **sizes),
    "noisy table": lambda x, y, **sizes: private_score(x, y, mechanism="geometric", epsilon=1, bounds=UNIT, **sizes),
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("n, largest", [(20, 1000), (1500, 1500)])
def test_more_cells_than_records_are_refused_above_a_thousand(name, n, largest):
    assert largest == largest_size(n)
    for B in (largest + 0.5, 1e12, 1e300):
        with pytest.raises(ValueError, match=rf"B must be at most {largest:,} cells with n_samples={n}, got \d"):
            LARGE[name](*pair(n), B=B)
    if n == 20:
        LARGE[name](*pair(n), B=0.99)


@each("name", [name for name in LARGE if "mic_e" not in name])
def test_master_partitions_of_more_parts_than_records_are_refused_above_a_thousand(name):
    for c in (250.01, 1e12, 1e300):
        with pytest.raises(ValueError, match="c must be at most"):
            LARGE[name](*pair(20), B=20, c=c)
    if name != "noisy table":  # which has another limit
        assert LARGE[name](*pair(20), B=20, c=250) is not None


@pytest.mark.parametrize("B, n_classes", [(4, None), (20, None), (999.5, None), (300, 2), (200, 50)])
def test_the_largest_c_makes_the_largest_master_partition(B, n_classes):
    def largest_master(c):
        plan = continuous_plan(B, c, "reduced") if n_classes is None else discrete_plan(B, c, n_classes)
        return plan[:, 1].max()

    c, most = largest_c(20, B, n_classes), largest_size(20)
    assert most - 1 <= largest_master(c) <= most < largest_master(1.1 * c)


def test_each_class_may_have_a_hundred_cells():
    codes, x = np.arange(60) % 20, np.linspace(0, 1, 60)
    assert largest_size(60, 20) == 2000
    assert 0 <= dp_mic_classif(x[:, None], codes, epsilon=1, bounds=(0, 1), classes=range(20), B=2000)[0] <= 1
    with pytest.raises(ValueError, match="B must be at most 2,000 cells with n_samples=60 and 20 classes, got 2001"):
        dp_mic_classif(x[:, None], codes, epsilon=1, bounds=(0, 1), classes=range(20), B=2001)


def test_sketches_of_an_open_number_of_records_have_the_limits_for_any_number():
    public = {"bounds": (0, 1), "n_features": 1}
    for change, message in (
        ({"B": 10_001}, "B must be at most 10,000 cells, got 10001"),
        ({"B": 1e300}, "B must be at most 10,000 cells, got"),
        (
            {"B": 100, "c": 1001},
            "c must be at most 1000 with B=100, because master partitions have at most 10,000 parts",
        ),
        ({"B": 100, "n_parts": 101}, "n_parts must be None or an int >= 2, and at most 100, got 101"),
        ({"B": 100, "n_parts": 10**6}, "n_parts must be"),
        ({"B": 100, "n_parts": 10, "c": 1e308}, "c must be None, or"),
    ):
        with pytest.raises(ValueError, match=message):
            RangeGridSketch(**public, target_bounds=(0, 1), **change)
    with pytest.raises(ValueError, match=r"B must be at most 10,000 cells with 2 classes, got 1e\+300"):
        RangeGridSketch(**public, classes=[0, 1], B=1e300)
    assert RangeGridSketch(**public, classes=[0, 1], B=10_000).c == 2  # 10,000 master parts


SECRET = 4321.125


@each(
    "change, message",
    [
        ({"x": [[1.0, 2.0]]}, "x must be 1-dimensional"),
        ({"y": [1j, 2j, 3j]}, "y must hold real numbers"),
        ({"y": [SECRET, np.inf, 0]}, "y must be finite"),
        ({"y": [SECRET, 1.0]}, "x and y must have the same length, got 3 and 2"),
        ({"x": [SECRET], "y": [SECRET]}, "at least 2 samples, got n_samples=1"),
        ({"bounds": None}, "bounds must be"),
        ({"bounds": (0, 1)}, "bounds of x must be a pair"),
        ({"bounds": ((0, 1), (2, 2))}, "bounds of y must be finite with lower < upper"),
        ({"bounds": ((-1.5e308, 1.5e308), (0, 1))}, "bounds of x must be finite"),
        *[({"B": B}, "B must be a number >= 4 or an exponent") for B in (3.9, 1, np.nan, "auto")],
        *[({"c": c}, "c must be a number > 0") for c in (0, np.inf)],
        ({"master": "half"}, "master must be 'reduced' or 'full'"),
        ({"c": 1e3, "B": 20, "master": "full"}, r"c must be at most 100 with B=20 .* at most 1,000 parts"),
        *[({"correction": other}, "correction must be None or 'miller-madow', got") for other in ("miller", True, [0])],
    ],
)
def test_bad_arguments_are_named_and_no_data_is_quoted(change, message):
    arguments = {"x": [SECRET, 1, 2], "y": [SECRET, 3, 5], "bounds": UNIT, "B": 4, "c": 1} | change
    with pytest.raises(ValueError, match=message) as error:
        mic_r(**arguments)
    assert "4321" not in str(error.value)


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
