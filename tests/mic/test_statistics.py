"""MICr equals its definition: brute force on small data, golden values on real data."""

import csv
import json

import numpy as np
import pytest

from skdpmic import mic_r
from skdpmic.mic.optimize_axis import entropy_table
from skdpmic.mic.partitions import equipartitions, range_axis
from skdpmic.mic.statistics import DiscreteTarget, continuous_plan, grid_size, mic_r_of_axes, needed_grids
from tests.naive import naive_mic_r, naive_mic_r_discrete

UNIT = ((0.0, 1.0), (0.0, 1.0))


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
@pytest.mark.parametrize("n", [2, 3, 4, 5, 30])
@pytest.mark.parametrize(
    "B, c, master", [(4, 1, "reduced"), (9, 2.5, "reduced"), (17.9, 1.5, "reduced"), (10, 2, "full")]
)
def test_equals_the_definition_by_brute_force(kind, n, B, c, master):
    x, y = _data(kind, n, np.random.default_rng(n))
    expected = naive_mic_r(x, y, bounds=UNIT, B=B, c=c, master=master)
    assert mic_r(x, y, bounds=UNIT, B=B, c=c, master=master) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n_classes, B, c", [(2, 4, 1), (2, 12, 2), (3, 10, 3.5), (5, 4, 4), (4, 20, 2)])
@pytest.mark.parametrize("n", [4, 30])
def test_discrete_target_equals_the_definition_by_brute_force(n_classes, B, c, n):
    rng = np.random.default_rng(7)
    x, codes = rng.random(n), rng.integers(n_classes, size=n)
    codes[x > 0.6] = 0
    expected = naive_mic_r_discrete(x, codes, bounds=(0, 1), n_classes=n_classes, B=B, c=c)
    assert DiscreteTarget(codes, n_classes, B, c).score(x, (0, 1)) == pytest.approx(expected, abs=1e-12)


def test_golden_values_on_real_pairs(shared):
    pandas = pytest.importorskip("pandas")
    tables = {name: pandas.read_csv(shared / "data" / f"{name}.csv") for name in ("baseball", "Spellman")}
    with open(shared / "golden" / "micr.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 50
    for row in rows:
        table = tables[row["dataset"]]
        bounds = ((float(row["x0"]), float(row["x1"])), (float(row["y0"]), float(row["y1"])))
        score = mic_r(table[row["xcol"]], table[row["ycol"]], bounds=bounds, B=float(row["B"]), c=float(row["c"]))
        assert score == pytest.approx(float(row["mic_r"]), abs=1e-9), row


def test_golden_values_on_edge_cases(shared):
    cases = json.loads((shared / "golden" / "edge.json").read_text())
    assert len(cases) > 20
    for case in cases:
        bounds = ((case["x0"], case["x1"]), (case["y0"], case["y1"]))
        score = mic_r(case["x"], case["y"], bounds=bounds, B=case["B"], c=case["c"])
        assert score == pytest.approx(case["mic_r"], abs=1e-9), (case["case"], case["B"], case["c"])


def test_symmetric_in_x_and_y():
    rng = np.random.default_rng(0)
    x = rng.random(200)
    y = np.sin(6 * x) + 0.3 * rng.random(200)
    bounds = ((0, 1), (-1, 2))
    assert mic_r(x, y, bounds=bounds, B=40) == mic_r(y, x, bounds=bounds[::-1], B=40)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8, bool])
def test_integers_and_float32_give_the_float64_value(dtype):
    rng = np.random.default_rng(0)
    x, y = rng.integers(2, size=(2, 100)).astype(dtype)
    bounds = ((-1, 3), (-1, 3))
    assert mic_r(x, y, bounds=bounds) == mic_r(x.astype(np.float64), y.astype(np.float64), bounds=bounds)


def test_noiseless_relationships_score_one_and_independence_near_zero():
    x = np.linspace(0, 1, 2000)
    assert mic_r(x, np.sin(9 * np.pi * x), bounds=((0, 1), (-1, 1)), B=80) > 0.99
    assert mic_r(x, np.random.default_rng(0).random(2000), bounds=UNIT, B=40) < 0.05


@pytest.mark.parametrize("B, n, expected", [(0.6, 1000, 1000**0.6), (0.1, 10, 4.0), (4, 5, 4.0), (18.5, 5, 18.5)])
def test_grid_size_of_numbers_and_exponents(B, n, expected):
    assert grid_size(B, n) == expected


SECRET = 4321.125


@pytest.mark.parametrize(
    "change, message",
    [
        ({"x": [[1.0, 2.0]]}, "x must be 1-dimensional"),
        ({"x": ["a", "b", "c"]}, "x must hold real numbers"),
        ({"y": [1j, 2j, 3j]}, "y must hold real numbers"),
        ({"y": [SECRET, np.nan, 0]}, "y must be finite"),
        ({"y": [SECRET, np.inf, 0]}, "y must be finite"),
        ({"y": [SECRET, 1.0]}, "x and y must have the same length, got 3 and 2"),
        ({"x": [SECRET], "y": [SECRET]}, "at least 2 samples, got n_samples=1"),
        ({"bounds": None}, "bounds must be"),
        ({"bounds": (0, 1)}, "bounds of x must be a pair"),
        ({"bounds": ((1, 0), (0, 1))}, "bounds of x must be finite with lower < upper"),
        ({"bounds": ((0, 1), (2, 2))}, "bounds of y must be finite with lower < upper"),
        ({"bounds": ((0, np.inf), (0, 1))}, "bounds of x must be finite"),
        ({"bounds": ((-1.5e308, 1.5e308), (0, 1))}, "bounds of x must be finite"),
        ({"B": 3.9}, "B must be a number >= 4 or an exponent"),
        ({"B": 1}, "B must be a number >= 4 or an exponent"),
        ({"B": np.nan}, "B must be a number >= 4 or an exponent"),
        ({"B": "auto"}, "B must be a number >= 4 or an exponent"),
        ({"c": 0}, "c must be a number > 0"),
        ({"c": np.inf}, "c must be a number > 0"),
        ({"master": "half"}, "master must be 'reduced' or 'full'"),
    ],
)
def test_bad_arguments_are_named_and_no_data_is_quoted(change, message):
    arguments = {"x": [SECRET, 1, 2], "y": [SECRET, 3, 5], "bounds": UNIT, "B": 4, "c": 1} | change
    with pytest.raises(ValueError, match=message) as error:
        mic_r(**arguments)
    assert "4321" not in str(error.value)


@pytest.mark.parametrize("n_places", [3, 30])
def test_counting_into_cells_first_changes_nothing(n_places):
    # 20,000 records outnumber the cells of all grids together, unlike those of the other tests.
    rng = np.random.default_rng(0)
    x, noise = rng.integers(n_places, size=(2, 20_000)) / n_places
    y = np.where(rng.random(20_000) < 0.5, (2 * x - 1) ** 2, noise)
    few = naive_mic_r(x, y, bounds=UNIT, B=12, c=1.5)
    assert mic_r(x, y, bounds=UNIT, B=12, c=1.5) == pytest.approx(few, abs=1e-12)
    codes = rng.integers(3, size=20_000)
    codes[y > 0.5] = 1
    expected = naive_mic_r_discrete(x, codes, bounds=(0, 1), n_classes=3, B=12, c=2)
    assert DiscreteTarget(codes, 3, 12, 2).score(x, (0, 1)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "B, c, master", [(16, 5, "reduced"), (40, 1, "reduced"), (60, 0.4, "reduced"), (24, 2, "full")]
)
def test_grids_that_are_left_out_never_hold_the_largest_entry(B, c, master):
    rng = np.random.default_rng(0)
    plan = continuous_plan(B, c, master)
    few, every = needed_grids(plan), equipartitions(plan[:, :2])
    assert len(few) < len(plan)
    for kind in range(12):
        x, y = rng.integers(0, B, size=(2, 60)) / B if kind % 2 else rng.random((2, 60))  # B-ths lie on many edges
        y = np.where(rng.random(60) < kind / 12, x, y)
        axes = [range_axis(values, 0.0, 1.0, every) for values in (x, y)]
        assert mic_r_of_axes(*axes, few, entropy_table(60)) == pytest.approx(
            mic_r_of_axes(*axes, plan, entropy_table(60)), abs=1e-15
        )
