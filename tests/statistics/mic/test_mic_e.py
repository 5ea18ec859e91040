"""MICe equals its definition by brute force on small data, and the values of minepy on real data."""

import numpy as np
import pytest

from skdpmic import characteristic_matrix, mic_e
from skdpmic.statistics.mic.characteristic import both_ways, largest_of_ways, mass_plan, ranked_column
from skdpmic.statistics.mic.optimize_axis import entropy_table
from tests.folding import each
from tests.naive import naive_equicharacteristic_matrix, naive_mic_e

KINDS = ["random", "tied", "constant", "both constant", "two-valued", "related", "half tied"]


def _data(kind, n, rng):
    x, y = rng.normal(size=n), rng.normal(size=n)
    return {
        "random": (x, y),
        "tied": (np.round(x), np.round(2 * y)),
        "constant": (np.full(n, 0.3), y),
        "both constant": (np.full(n, 0.3), np.full(n, -1.0)),
        "two-valued": (np.where(x > 0.7, 0.9, 0.1), np.where(y > 0.5, 1.0, 0.0)),
        "related": (x, x**2),
        "half tied": (np.maximum(x, 0.0), y),
    }[kind]


@pytest.mark.parametrize("kind", KINDS)
@each("n", [*range(2, 11), 40])
@pytest.mark.parametrize("B, c", [(4, 1), (9.5, 2), (17.9, 1.3), (7, 0.1)])
@pytest.mark.combinations
def test_score_equals_the_definition_by_brute_force(kind, n, B, c):
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
    entries = characteristic_matrix(x, y, B=B, c=c).matrix
    assert set(zip(*np.nonzero(~np.isnan(entries)), strict=True)) == set(expected)
    for (k, l), value in expected.items():  # noqa: E741
        assert entries[k, l] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2, 9, 150])
@pytest.mark.combinations
def test_more_master_parts_than_records_change_nothing(kind, n):
    x, y = _data(kind, n, np.random.default_rng(n))
    ways, table = both_ways(ranked_column(x), ranked_column(y)), entropy_table(n)
    largest = mic_e(x, y, B=17.9, c=1e300)
    for c in (n + 0.5, 3 * n, 1e5):
        assert mic_e(x, y, B=17.9, c=c) == largest_of_ways(ways, mass_plan(17.9, c), table) == largest


def test_scores_match_golden_values_on_real_pairs(real_pairs):
    rows = list(real_pairs("mic_e"))
    assert len(rows) > 20
    for x, y, row in rows:
        score = mic_e(x, y, B=float(row["alpha"]), c=float(row["c"]))
        assert score == pytest.approx(float(row["mic_e"]), abs=1e-9), row
