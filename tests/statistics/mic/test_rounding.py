"""A computed score lies within `rounding_error` of its exact value: the steps of docs/theory/rounding.md."""

from itertools import combinations, pairwise

import mpmath
import numpy as np
import pytest

from skdpmic.privacy.mechanisms import grid_sensitivity, to_grid
from skdpmic.statistics.mic.mic_r import (
    ClassTargetScorer,
    NumericTargetScorer,
    closed_plan,
    continuous_plan,
    largest_rounding_error,
)
from skdpmic.statistics.mic.optimize_axis import entropy_table, rounding_error
from skdpmic.statistics.sensitivity import binary_mi_sensitivity
from tests.folding import each

KINDS = ["uneven", "independent", "diagonal", "sparse", "all but one in one place"]


def exact_information(counts):
    """n I in bits, to 40 digits, from a list of lists of counts."""

    def g(values):
        return mpmath.fsum(v * mpmath.log(v, 2) for v in values if v > 0)

    cells = [int(v) for row in counts for v in row]
    rows, columns = ([int(v) for v in np.sum(counts, axis=axis)] for axis in (1, 0))
    return g(cells) - g(rows) - g(columns) + g([sum(cells)])


def exact_largest_entry(rows, n_rows, columns, n_columns, k_max, correction):
    """The largest (I - o) / log2 min(k, l) over all merges of the rows, or 0."""
    n, counts = len(rows), np.zeros((n_rows, n_columns), dtype=int)
    np.add.at(counts, (rows, columns), 1)
    chance = mpmath.mpf(0) if correction is None else 1 / (2 * mpmath.log(2))
    best = mpmath.mpf(0)
    for k in range(2, min(k_max, n_rows) + 1):
        offset = (k - 1) * (n_columns - 1) * chance
        for cuts in combinations(range(1, n_rows), k - 1):
            merged = [counts[start:end].sum(axis=0) for start, end in pairwise([0, *cuts, n_rows])]
            best = max(best, (exact_information(merged) - offset) / (n * mpmath.log(min(k, n_columns), 2)))
    return best


def _records(kind, n, rng):
    """Two columns of n numbers that lie on the midpoints of 1/60ths of [0, 1]."""
    table = {
        "uneven": rng.random((60, 60)) ** 8,
        "independent": np.ones((60, 60)),
        "diagonal": np.kron(np.eye(6), np.eye(10)),
        "sparse": (rng.random((60, 60)) < 0.003) + 1e-6,
        "all but one in one place": np.eye(60)[:, :1] * np.eye(60)[:1],
    }[kind]
    cells = rng.choice(table.size, size=n, p=table.ravel() / table.sum())
    if kind == "all but one in one place":
        cells[0] = table.size - 1
    if kind == "independent":
        cells = np.arange(n) % table.size  # exactly independent if 3600 divides n
    return (cells // 60 + 0.5) / 60, (cells % 60 + 0.5) / 60


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2, 10, 3600, pytest.param(10**6, marks=pytest.mark.slow)])
@pytest.mark.parametrize("B, c", [(4, 1), (12, 2)])
@pytest.mark.parametrize("correction, plan_of", [(None, continuous_plan), ("miller-madow", closed_plan)])
@pytest.mark.combinations
def test_score_is_within_the_rounding_error_of_its_exact_value(kind, n, B, c, correction, plan_of):
    x, y = _records(kind, n, np.random.default_rng(n))
    target = NumericTargetScorer(y, (0.0, 1.0), B, c, correction=correction)
    allowed = largest_rounding_error(n, [(0.0, 1.0)], None, B, c, correction)
    with mpmath.workdps(40):
        exact = max(
            exact_largest_entry((a * n_free).astype(int), n_free, (b * n_fixed).astype(int), n_fixed, k_max, correction)
            for a, b in ((x, y), (y, x))
            for n_fixed, n_free, k_max in plan_of(B, c, "reduced").tolist()
        )
        assert abs(exact - mpmath.mpf(target.score(x, (0.0, 1.0)))) <= allowed


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [10, pytest.param(10**6, marks=pytest.mark.slow)])
@pytest.mark.parametrize("n_classes, B", [(2, 10), (3, 12), (5, 12)])
@pytest.mark.parametrize("correction", [None, "miller-madow"])
@pytest.mark.combinations
def test_score_against_classes_is_within_the_rounding_error_of_its_exact_value(kind, n, n_classes, B, correction):
    x, y = _records(kind, n, np.random.default_rng(n))
    codes = (y * n_classes).astype(int)
    target = ClassTargetScorer(codes, n_classes, B, 1, correction)
    k_max = max(B // n_classes, 2)
    rows = (x * k_max).astype(int)
    targets = [(codes, n_classes), *[((codes == one).astype(int), 2) for one in range(3 if n_classes == 3 else 0)]]
    allowed = largest_rounding_error(n, [(0.0, 1.0)], n_classes, B, 1, correction)
    with mpmath.workdps(40):
        exact = max(exact_largest_entry(rows, k_max, *columns, k_max, correction) for columns in targets)
        assert abs(exact - mpmath.mpf(target.score(x, (0.0, 1.0)))) <= allowed


@each("n", [2, 5, 1000, 10**6])
def test_every_table_entry_is_off_by_no_more_than_the_bound_assumes(n):
    table, _, _, scale = entropy_table(n)
    tried = np.unique(np.concatenate([np.arange(min(n, 1000) + 1), np.geomspace(2, n, 2000).astype(int), [n]]))
    with mpmath.workdps(40):
        for a in map(int, tried):
            exact = a * mpmath.log(a, 2) if a > 0 else mpmath.mpf(0)
            error = abs(mpmath.mpf(int(table[a])) / mpmath.mpf(scale) - exact)
            assert error <= mpmath.mpf(2) ** -49 * exact + 1 / (2 * mpmath.mpf(scale))


@each("n", [1, 2, 3, 10, 10**3, 10**6])
def test_sums_of_table_entries_fit_64_bits(n):
    table = entropy_table(n).g
    assert 4 * int(table[-1]) < 2**62
    if n >= 10:
        assert 4 * int(table[-1]) > 2**59  # and no more than two bits are wasted


@pytest.mark.parametrize("n", [4, 125, 10**6])
@pytest.mark.parametrize("B", [4, 60])
def test_worst_neighbours_stay_within_the_grid_sensitivity_after_rounding(n, B):
    one_place = np.full(n, 0.1)
    columns = one_place, np.append(one_place[1:], 0.9)
    steps = [to_grid([NumericTargetScorer(x, (0.0, 1.0), B, 1).score(x, (0.0, 1.0))])[0] for x in columns]
    allowed = grid_sensitivity(binary_mi_sensitivity(n), largest_rounding_error(n, [(0.0, 1.0)], None, B, 1))
    assert allowed - 2 <= steps[1] - steps[0] <= allowed


def test_a_less_precise_table_would_be_caught():
    counts = np.random.default_rng(0).integers(1, 200, size=(4, 4))
    n = int(counts.sum())
    table, _, _, scale = entropy_table(n)
    allowed = rounding_error(n, np.array([[4, 4, 4]]))
    with mpmath.workdps(40):
        exact = exact_information(counts) / n
        for coarser, is_within in ((1, True), (2**15, False)):
            g = np.rint(table / coarser).astype(np.int64)
            n_mi = g[counts].sum() - g[counts.sum(axis=0)].sum() - g[counts.sum(axis=1)].sum() + g[n]
            assert (abs(mpmath.mpf(int(n_mi)) * coarser / scale / n - exact) <= allowed) is is_within


def test_more_records_than_a_count_can_hold_are_refused():
    with pytest.raises(ValueError, match=r"at most 4,294,967,295 records, got n_samples=4,294,967,296"):
        entropy_table(2**32)
