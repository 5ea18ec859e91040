"""MICe equals its definition by brute force on small data, and the library minepy's values on real data."""

import numpy as np
import pytest

from skdpmic import mic_e
from skdpmic.statistics.mic.mass_partitions import Way, both_ways, mass_tables, ranked_column
from skdpmic.statistics.mic.mic_e import all_entries, mass_plan, mic_e_of_columns
from skdpmic.statistics.mic.optimize_axis import N_FIXED, N_MASTER, entropy_table
from tests.folding import each
from tests.naive import (
    naive_counts,
    naive_equicharacteristic_matrix,
    naive_equipartition,
    naive_master,
    naive_mic_e,
)

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
@each("n", [*range(2, 11), 40])
@pytest.mark.parametrize("B, c", [(4, 1), (9.5, 2), (17.9, 1.3), (7, 0.1)])
@pytest.mark.combinations
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


@each("kind", KINDS)
def test_skipping_grids_by_their_upper_bounds_changes_nothing(kind):
    x, y = _data(kind, 150, np.random.default_rng(1))
    for slope in (0.0, 0.5, 3.0):
        arguments = ranked_column(x), ranked_column(y + slope * np.sin(2 * x)), mass_plan(26, 3), entropy_table(150)
        assert mic_e_of_columns(*arguments) == np.nanmax(all_entries(*arguments))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2, 9, 150])
@pytest.mark.combinations
def test_more_master_parts_than_records_change_nothing(kind, n):
    x, y = _data(kind, n, np.random.default_rng(n))
    columns, table = (ranked_column(x), ranked_column(y)), entropy_table(n)
    for c in (n + 0.5, 3 * n, 1e5):
        assert (
            mic_e(x, y, B=17.9, c=c)
            == mic_e(x, y, B=17.9, c=1e300)
            == mic_e_of_columns(*columns, mass_plan(17.9, c), table)
        )


def test_golden_values_on_real_pairs(real_pairs):
    rows = list(real_pairs("mic_e"))
    assert len(rows) > 20
    for x, y, row in rows:
        score = mic_e(x, y, B=float(row["alpha"]), c=float(row["c"]))
        assert score == pytest.approx(float(row["mic_e"]), abs=1e-9), row


def _tables(ways, plan):
    """The counts of all grids of one way, a row for each master part."""
    for _, _, tables, grids in mass_tables(ways, plan):
        for (n_fixed, n_master), (start, height) in zip(
            grids.rows[:, [N_FIXED, N_MASTER]].tolist(), tables.places.tolist(), strict=True
        ):
            assert height == n_fixed + 1
            below = tables.below[start : start + (n_master + 1) * height].reshape(-1, height).astype(int)
            yield np.diff(np.diff(below, axis=0), axis=1).tolist()


@each("seed", range(10))
def test_counts_equal_the_walk_over_groups(seed):
    rng = np.random.default_rng(seed)
    x, y = np.round(rng.normal(size=(2, rng.integers(2, 60))) * rng.choice([0.5, 2, 100], size=(2, 1)))
    sizes = [(n_fixed, n_master) for n_fixed in (2, 3, 7, 30, 70) for n_master in (2, 4, 25, 90)]
    plan = np.array([(*pair, 2) for pair in sizes])
    for (n_fixed, n_master), counts in zip(
        sizes, _tables(both_ways(ranked_column(x), ranked_column(y))[:1], plan), strict=True
    ):
        columns = naive_equipartition(y.tolist(), n_fixed)
        rows = naive_master(x.tolist(), columns, n_master)
        assert counts == naive_counts(rows, max(rows) + 1, columns, max(columns) + 1)


@pytest.mark.parametrize("seed", range(4))
def test_counts_by_rank_equal_the_walk_over_ranks(seed):
    y_ranks = np.random.default_rng(seed).permutation(30)
    sizes = [(n_fixed, n_master) for n_fixed in (2, 7, 40) for n_master in (2, 9, 90)]
    ends = np.arange(31, dtype=np.uint64)
    way = Way(ends, ends, y_ranks.astype(np.uint32), False)
    for (n_fixed, n_master), counts in zip(
        sizes, _tables([way], np.array([(*pair, 2) for pair in sizes])), strict=True
    ):
        columns, rows = naive_equipartition(y_ranks.tolist(), n_fixed), naive_equipartition(range(30), n_master)
        assert counts == naive_counts(rows, max(rows) + 1, columns, max(columns) + 1)


def test_counting_some_grids_at_a_time_changes_nothing(monkeypatch):
    x, y = np.random.default_rng(0).random((2, 200))
    arguments = ranked_column(x), ranked_column(y), mass_plan(40, 5), entropy_table(200)
    expected = all_entries(*arguments)
    for cells_at_once in (1, 700):
        monkeypatch.setattr("skdpmic.statistics.mic.mass_partitions._CELLS_AT_ONCE", cells_at_once)
        np.testing.assert_array_equal(all_entries(*arguments), expected)
        assert mic_e_of_columns(*arguments) == np.nanmax(expected)


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


@each(
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
