"""Published statistics from counts of cells are those of pairs of records; the loop finds the graph of an oracle."""

import math
from itertools import combinations, product

import networkx
import numpy as np
import pytest
from scipy import stats

from benchmarks.causal.graph_measures import cpdag_of
from benchmarks.published_pc import em_pc, loop, reconciled
from benchmarks.published_pc.corrected_sieve import conditional_kendall
from benchmarks.published_pc.statistics import Records, g_test, kendall_z, spearman_z
from tests.folding import each


def codes_of(seed, n=60, sizes=(3, 4, 2, 2)):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(size, size=n) for size in sizes])
    codes[:, 1] = np.where(rng.random(n) < 0.5, codes[:, 0], codes[:, 1])
    codes[codes[:, 2] + codes[:, 3] == 0, 0] = 1  # a stratum in which a column is constant
    return codes, sizes


def strata(codes, given):
    for labels in sorted({tuple(row) for row in codes[:, given]}):
        rows = codes[(codes[:, given] == labels).all(axis=1)]
        if len(rows) > 2 and len(set(rows[:, 0])) > 1 and len(set(rows[:, 1])) > 1:
            yield rows[:, 0], rows[:, 1]


def concordance(x, y):
    return sum(np.sign(x[a] - x[b]) * np.sign(y[a] - y[b]) for a, b in combinations(range(len(x)), 2))


@pytest.mark.parametrize("given", [(), (2,), (2, 3)])
@pytest.mark.parametrize("seed", range(3))
def test_z_of_kendall_and_spearman_are_those_of_definitions_6_and_8(given, seed):
    codes, sizes = codes_of(seed)
    tables = Records.of(codes, sizes).table(0, 1, given)
    taus, rhos = [], []
    for x, y in strata(codes, list(given)):
        n = len(x)
        taus.append((9 * n * (n - 1) / (4 * n + 10), concordance(x, y) / (n * (n - 1) / 2)))
        ranks = [stats.rankdata(values) - (n + 1) / 2 for values in (x, y)]
        rhos.append((n - 1, 12 * np.dot(*ranks) / (n * (n**2 - 1))))
    for z, of_strata in ((kendall_z(tables), taus), (spearman_z(tables), rhos)):
        weights, values = np.array(of_strata).T
        assert z == pytest.approx((weights * values).sum() / math.sqrt(weights.sum()))


def test_nothing_is_left_if_a_column_is_constant_in_all_strata():
    records = Records.of(np.array([[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1]] * 3), (2, 2, 2))
    assert math.isnan(kendall_z(records.table(0, 1, (2,))))


def test_conditional_kendall_of_the_corrected_sieve_weighs_all_strata():
    codes, sizes = codes_of(0)
    expected = 0.0
    for labels in ((0, 0), (0, 1), (1, 0), (1, 1)):
        x, y = codes[(codes[:, 2:] == labels).all(axis=1), :2].T
        expected += 2 / len(codes) * concordance(x, y) / len(x)
    assert conditional_kendall(Records.of(codes, sizes), 0, 1, (2, 3)) == pytest.approx(expected)


@pytest.mark.parametrize("given", [(), (2,)])
def test_g_is_that_of_scipy(given):
    codes, sizes = codes_of(1, n=900)
    records = Records.of(codes, sizes)
    expected = sum(
        stats.chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
        for table in (table[table.any(axis=1)] for table in records.table(0, 1, given))
    )
    g, dof, p_value = g_test(records, 0, 1, given)
    assert (g, dof) == (pytest.approx(expected), 6 * 2 ** len(given))
    assert p_value == pytest.approx(stats.chi2.sf(expected, dof))


def test_a_subsample_has_its_share_of_the_records_and_no_record_twice():
    codes, sizes = codes_of(2, n=500)
    records = Records.of(codes, sizes)
    sample = records.subsample(0.3, np.random.default_rng(0))
    assert sample.n == 150
    most = dict(zip(map(tuple, records.rows), records.counts, strict=True))
    assert all(count <= most[tuple(row)] for row, count in zip(sample.rows, sample.counts, strict=True))


@pytest.mark.slow  # it compiles for seconds
@pytest.mark.parametrize("table, sign", [([[30, 5], [5, 30]], -1), ([[10, 9], [10, 10]], 1)])
def test_distances_count_the_removals_before_the_one_that_turns_the_test(table, sign):
    threshold, left, steps = stats.chi2.isf(0.1, 1), np.array(table), 0

    def after(cell):
        removed = left.copy()
        removed[cell] -= 1
        return stats.chi2_contingency(removed, correction=False, lambda_="log-likelihood").statistic

    while True:
        best = max(np.ndindex(2, 2), key=lambda cell: sign * after(cell))
        if sign * after(best) >= sign * threshold:
            break
        left[best] -= 1
        steps += 1
    assert steps > 3
    assert em_pc.distance(np.array([table]), 1, 0.1) == sign * steps


@each("seed", range(20))
def test_with_an_oracle_the_loop_finds_the_graph(seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(6)
    dag = np.triu(rng.random((6, 6)) < 0.4, 1)[np.ix_(order, order)]
    graph = networkx.from_numpy_array(dag, create_using=networkx.DiGraph)

    def is_independent(i, j, given):
        return networkx.is_d_separator(graph, {i}, {j}, set(given))

    assert (loop.directed(*loop.skeleton(6, is_independent, 6)) == cpdag_of(dag)).all()


@pytest.mark.parametrize("decay", [0.03, 1.0])
def test_smooth_sensitivity_of_a_median_is_its_definition(decay):
    values = (0.0, 0.4, 1.0)
    tables = list(product(values, repeat=3))

    def differ(a, b):
        return sum(u != v for u, v in zip(a, b, strict=True))

    local = {a: max(abs(np.median(a) - np.median(b)) for b in tables if differ(a, b) <= 1) for a in tables}
    for a in tables:
        expected = max(math.exp(-decay * differ(a, b)) * local[b] for b in tables)
        assert reconciled.smooth_sensitivity(np.array(a), 0.0, 1.0, decay) == pytest.approx(expected)


def test_a_reconciled_test_is_the_median_of_the_blocks_with_its_noise():
    codes = np.arange(99).reshape(33, 3)
    noise = reconciled.right("laplace", 1.0, 1e-6)
    rng = np.random.default_rng(0)
    released = [reconciled.reconciled(codes, lambda block: 0.2, 11, 0.0, 1.0, noise, rng) for _ in range(500)]
    scale = reconciled.released_law(np.full(11, 0.2), 0.0, 1.0, noise)[1]
    assert stats.kstest(released, stats.laplace(0.2, scale).cdf).pvalue > 1e-3
