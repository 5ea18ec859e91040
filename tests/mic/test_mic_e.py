"""MICe equals its definition by brute force on small data, and the library minepy's values on real data."""

import csv

import numpy as np
import pytest

from skdpmic import mic_e
from skdpmic.mic.blockwise import best_cuts, upper_bounds
from skdpmic.mic.mass_partitions import equipartition, ranked_column
from skdpmic.mic.mic_e import all_entries, largest_entry, mass_plan
from skdpmic.mic.optimize_axis import entropy_table, optimize_axis, segments_of
from tests.naive import naive_equicharacteristic_matrix, naive_equipartition, naive_mic_e

KINDS = ["random", "tied", "constant", "both constant", "two-valued", "related", "half tied"]


def _data(kind, n, rng):
    x, y = rng.normal(size=n), rng.normal(size=n)
    if kind == "tied":
        x, y = np.round(x), np.round(2 * y)
    elif kind == "constant":
        x = np.full(n, 0.3)
    elif kind == "both constant":
        x, y = np.full(n, 0.3), np.full(n, -1.0)
    elif kind == "two-valued":
        x, y = np.where(x > 0.7, 0.9, 0.1), np.where(y > 0.5, 1.0, 0.0)
    elif kind == "related":
        y = x**2
    elif kind == "half tied":
        x = np.maximum(x, 0.0)
    return x, y


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [*range(2, 11), 40])
@pytest.mark.parametrize("B, c", [(4, 1), (9.5, 2), (17.9, 1.3), (7, 0.1)])
def test_equals_the_definition_by_brute_force(kind, n, B, c):
    x, y = _data(kind, n, np.random.default_rng(n))
    expected = naive_mic_e(x.tolist(), y.tolist(), B=B, c=c)
    assert mic_e(x, y, B=B, c=c) == pytest.approx(expected, abs=1e-12)
    assert mic_e(y, x, B=B, c=c) == mic_e(x, y, B=B, c=c)
    assert 0 <= mic_e(x, y, B=B, c=c) <= 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n, B, c", [(5, 9, 2), (40, 17.9, 1.3)])
def test_every_entry_equals_the_definition_by_brute_force(kind, n, B, c):
    x, y = _data(kind, n, np.random.default_rng(n))
    expected = naive_equicharacteristic_matrix(x.tolist(), y.tolist(), B=B, c=c)
    entries = all_entries(ranked_column(x), ranked_column(y), mass_plan(B, c), entropy_table(n))
    assert set(zip(*np.nonzero(~np.isnan(entries)), strict=True)) == set(expected)
    for (k, l), value in expected.items():  # noqa: E741
        assert entries[k, l] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_skipping_grids_by_their_upper_bounds_changes_nothing(kind):
    x, y = _data(kind, 150, np.random.default_rng(1))
    for slope in (0.0, 0.5, 3.0):
        arguments = ranked_column(x), ranked_column(y + slope * np.sin(2 * x)), mass_plan(26, 3), entropy_table(150)
        assert largest_entry(*arguments) == np.nanmax(all_entries(*arguments))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2, 9, 150])
def test_more_master_parts_than_records_change_nothing(kind, n):
    x, y = _data(kind, n, np.random.default_rng(n))
    columns, table = (ranked_column(x), ranked_column(y)), entropy_table(n)
    for c in (n + 0.5, 3 * n, 1e5):
        assert (
            mic_e(x, y, B=17.9, c=c)
            == mic_e(x, y, B=17.9, c=1e300)
            == largest_entry(*columns, mass_plan(17.9, c), table)
        )


def test_golden_values_on_real_pairs(shared):
    pandas = pytest.importorskip("pandas")
    tables = {name: pandas.read_csv(shared / "data" / f"{name}.csv") for name in ("baseball", "Spellman")}
    with open(shared / "golden" / "mice.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 20
    for row in rows:
        table = tables[row["dataset"]]
        score = mic_e(table[row["xcol"]], table[row["ycol"]], B=float(row["alpha"]), c=float(row["c"]))
        assert score == pytest.approx(float(row["mic_e"]), abs=1e-9), row


@pytest.mark.parametrize("seed", range(10))
def test_equipartition_equals_the_walk_over_groups(seed):
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(size=rng.integers(2, 60)) * rng.choice([0.5, 2, 100]))
    column = ranked_column(values)
    for size in range(2, 70):
        starts = equipartition(column.ends, size)
        parts = np.searchsorted(starts, column.group, side="right") - 1
        assert parts.tolist() == naive_equipartition(values.tolist(), size)


def _grid(seed):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.choice([0.5, 3.0]), size=(rng.integers(2, 5), rng.integers(2, 15)))
    counts[:, 0] += 1
    below = np.pad(counts, ((1, 0), (1, 0))).cumsum(axis=0).cumsum(axis=1).astype(np.uint32)
    return below, entropy_table(int(counts.sum()))


@pytest.mark.parametrize("seed", range(8))
def test_upper_bounds_are_not_below_the_optimum_and_exact_in_one_block(seed):
    below, table = _grid(seed)
    segments = segments_of(below, np.arange(len(below)), table)
    exact = optimize_axis(segments, 6)
    for block in (1, 2, 3, 8):
        bounds = upper_bounds(segments, 6, block)
        assert (bounds >= exact).all()
        assert bounds[0] == exact[0]
    np.testing.assert_array_equal(upper_bounds(segments, 6, below.shape[1] - 1), exact)


@pytest.mark.parametrize("seed", range(8))
def test_best_cuts_reach_the_optimum(seed):
    below, table = _grid(seed)
    segments = segments_of(below, np.arange(len(below)), table)
    exact = optimize_axis(segments, 6)
    for k in range(2, 7):
        cuts = best_cuts(segments, k)
        n_master = below.shape[1] - 1
        assert len(cuts) == min(k, n_master) - 1
        ends = np.concatenate([[0], cuts, [n_master]])
        assert (np.diff(ends) > 0).all()
        cells, rows = np.diff(np.diff(below[:, ends], axis=0)), np.diff(below[-1, ends])
        columns, n = np.diff(below[:, -1]), below[-1, -1]
        n_mi = table.g[cells].sum() - table.g[rows].sum() - table.g[columns].sum() + table.g[n]
        assert n_mi == exact[k - 2]


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8, bool])
def test_integers_and_float32_give_the_float64_value(dtype):
    x, y = (10 * np.random.default_rng(0).normal(size=(2, 100))).astype(dtype)
    assert mic_e(x, y, B=12, c=2) == mic_e(x.astype(np.float64), y.astype(np.float64), B=12, c=2)


def test_only_the_order_of_values_matters():
    x, y = np.random.default_rng(0).normal(size=(2, 80))
    value = mic_e(x, y + x, B=15, c=2)
    assert mic_e(np.exp(x), 1e300 * np.tanh((y + x) / 9), B=15, c=2) == value
    assert mic_e([-0.0, 0.0, 1.0, 1.0], [1, 1, 2, 2]) == 1.0  # the two zeros are one value


def test_noiseless_relationships_score_one_and_independence_near_zero():
    rng = np.random.default_rng(0)
    x = rng.random(400)
    assert mic_e(x, np.exp(x), c=1) == 1.0
    assert mic_e(x, np.sin(9 * x), B=60, c=3) > 0.9
    assert mic_e(x, rng.random(400), B=10, c=3) < 0.1


SECRET = 4321.125


@pytest.mark.parametrize(
    "change, message",
    [
        ({"x": [[1.0, 2.0]]}, "x must be 1-dimensional"),
        ({"y": [SECRET, np.nan, 0]}, "y must be finite"),
        ({"y": [SECRET, 1.0]}, "x and y must have the same length, got 3 and 2"),
        ({"x": [SECRET], "y": [SECRET]}, "at least 2 samples, got n_samples=1"),
        ({"B": 3.9}, "B must be a number >= 4 or an exponent"),
        ({"c": 0}, "c must be a number > 0"),
    ],
)
def test_bad_arguments_are_named_and_no_data_is_quoted(change, message):
    arguments = {"x": [SECRET, 1, 2], "y": [SECRET, 3, 5], "B": 4, "c": 1} | change
    with pytest.raises(ValueError, match=message) as error:
        mic_e(**arguments)
    assert "4321" not in str(error.value)
