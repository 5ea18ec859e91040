"""Tests on noisy tables have their level under independence, and detect dependence."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from skdpmic.causal import table_tests as module
from skdpmic.causal.table_tests import Counted, Merged, TableTests

ALPHA, N = 0.05, 4000


def tables_of(counts, n_columns=3):
    """All margins with `n_columns` columns of a table of counts."""
    axes = range(counts.ndim)
    sets = combinations(axes, min(n_columns, counts.ndim))
    return {each: counts.sum(axis=tuple(set(axes) - {*each})) for each in sets}


def with_noise(tables, scale, rng):
    return {each: np.rint(table + scale * rng.standard_normal(table.shape)) for each, table in tables.items()}


def built_on(tables, assumed, n, **other):
    return TableTests(tables, dict.fromkeys(map(len, tables), assumed), n, **other)


def drawn(law, noise_scale, rng, n=N, assumed=None, n_columns=3):
    """Tests on tables of n records from this distribution; they assume the noise `assumed`."""
    counts = rng.multinomial(n, law.ravel()).reshape(law.shape)
    return built_on(
        with_noise(tables_of(counts, n_columns), noise_scale, rng), noise_scale if assumed is None else assumed, n
    )


def share_rejected(law, i, j, given, noise_scale, n_tables=400, seed=0, **other):
    rng = np.random.default_rng(seed)
    p_values = [drawn(law, noise_scale, rng, **other).test(i, j, given).p_value for _ in range(n_tables)]
    return np.mean(np.array(p_values) <= ALPHA)


def independent_given(strata, seed):
    """A distribution of columns 0 and 1, with two and three bins, independent given the others, which are `strata`.

    Each stratum has its own distribution, so the columns given interact.
    """
    rng = np.random.default_rng(seed)
    of_0, of_1 = (rng.dirichlet(np.full(size, 2.0), size=strata.shape) for size in (2, 3))
    return np.moveaxis(of_0[..., :, None] * of_1[..., None, :] * strata[..., None, None], (-2, -1), (0, 1))


STRATA = {(): np.ones(()), (2,): np.array([0.1, 0.6, 0.3]), (2, 3): np.array([[0.2, 0.3], [0.1, 0.2], [0.05, 0.15]])}
ERROR = 4 * (ALPHA * (1 - ALPHA) / 400) ** 0.5  # 4 standard errors of the share of 400 tables
LEVELS = [(given, noise_scale) for given in STRATA for noise_scale in (0, 10, 40)]
FAST = [((2,), 10)]


@pytest.mark.few
@pytest.mark.parametrize(
    "given, noise_scale", [pytest.param(*one, marks=[] if one in FAST else pytest.mark.slow) for one in LEVELS]
)
def test_independent_columns_are_rejected_with_probability_alpha(given, noise_scale):
    # alpha = 0.05, 400 tables of 4,000 records, 4 standard errors. The columns given interact arbitrarily.
    share = share_rejected(independent_given(STRATA[given], 1), 0, 1, given, noise_scale, seed=1)
    assert ALPHA - ERROR < share < ALPHA + ERROR


@pytest.mark.parametrize("noise_scale", [0, 5])
def test_dependence_that_cancels_over_the_strata_is_found(noise_scale):
    """Columns 0 and 1 go together in one half of the records and against each other in the other half."""
    together = np.array([[0.35, 0.15], [0.15, 0.35]])
    law = np.stack([together, together[::-1]], axis=-1) / 2
    assert share_rejected(law, 0, 1, (2,), noise_scale, n_tables=10) == 1.0
    assert share_rejected(np.full((2, 2, 2), 1 / 8), 0, 1, (2,), noise_scale, n_tables=100) <= 0.12  # alpha is 0.05


def test_empty_strata_of_tables_without_noise_leave_a_p_value():
    """Four columns, of which two are given, with combinations that no record has."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        counts = rng.multinomial(N, rng.dirichlet(np.full(81, 0.5))).reshape(3, 3, 3, 3)
        counts[:, :, rng.random((3, 3)) < 0.3] = 0
        tests = built_on(tables_of(counts, 3), 0.0, int(counts.sum()))
        assert not np.isnan(tests.test(0, 1, (2, 3))).any()


def test_for_two_columns_without_noise_it_is_the_chi_squared_test():
    """Up to the factor n / (n - 1) of the distribution given the margins, and the correction for few records."""
    table = np.random.default_rng(0).multinomial(N, np.full(20, 1 / 20)).reshape(4, 5)
    exact = stats.chi2_contingency(table, correction=False).pvalue
    assert 0.05 < exact < 0.95
    assert built_on({(0, 1): table}, 0.0, N).test(0, 1, ()).p_value == pytest.approx(exact, rel=0.01)


def test_given_a_column_without_noise_it_is_the_mantel_haenszel_test():
    statsmodels = pytest.importorskip("statsmodels.stats.contingency_tables")
    counts = np.random.default_rng(1).multinomial(
        N, independent_given(STRATA[2,], 0)[:, :2].ravel() / independent_given(STRATA[2,], 0)[:, :2].sum()
    )
    counts = counts.reshape(2, 2, 3)
    exact = statsmodels.StratifiedTable(counts.astype(float)).test_null_odds(correction=False).pvalue
    assert 0.02 < exact < 0.98
    assert built_on({(0, 1, 2): counts}, 0.0, N).test(0, 1, (2,)).p_value == pytest.approx(2 * exact, rel=0.02)


def test_rare_bins_widen_the_null_distribution_as_in_simulated_tables():
    """Variance of the statistic of two independent columns: 6,000 tables of 80 records, bins of 8% or more."""
    shares, n = np.array([0.8, 0.12, 0.08]), 80
    within, one = shares[:, None], np.ones(1)
    sampling = built_on({(0, 1): np.ones((3, 3))}, 0.0, n)._sampling(within[:2], within[:2], one)
    of_records = module._quadratic(np.zeros((1, 4)), sampling[None], 0.0, (within, within, one), n)
    tables = np.random.default_rng(0).multinomial(n, np.outer(shares, shares).ravel(), size=6000).reshape(-1, 3, 3)
    independent = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None] / n
    excess = ((tables - independent) / n)[:, :2, :2].reshape(-1, 4)
    statistics = np.einsum("tx,xy,ty->t", excess, of_records.inverse[0], excess)
    assert np.var(statistics) / np.mean(statistics) / 2 == pytest.approx(of_records.stretch[0], rel=0.15)
    assert np.mean(statistics) == pytest.approx((of_records.degrees * of_records.stretch)[0], rel=0.1)


def test_a_copy_of_a_column_does_not_remove_the_edges_of_its_neighbours():
    # Column 2 is a copy of column 0 and makes it independent of all others: no other edge may be lost for that.
    counts = np.zeros((2, 2, 2))
    counts[[0, 1], :, [0, 1]] = [[400, 100], [100, 400]]
    tests = built_on({(0, 1, 2): counts}, 0, 1000)
    assert tests.test(0, 1, (2,)) == tests.test(1, 2, (0,)) == (1.0, 0.0)
    assert tests.test(0, 2, (1,)).p_value < 1e-9


def test_no_test_is_made_if_the_distribution_has_too_many_cells(monkeypatch):
    tests = drawn(independent_given(STRATA[2, 3], 0), 10, np.random.default_rng(0))
    monkeypatch.setattr(module, "_MOST_CELLS", 17)
    assert math.isnan(tests.test(0, 1, (2, 3)).p_value)
    assert tests.test(0, 2, ()).p_value < 1e-9
    monkeypatch.setattr(module, "_MOST_WEIGHTS", 11)  # for two entries of 2 x 3 cells, which memory might not hold
    assert math.isnan(tests.test(0, 1, ()).p_value)


def test_dependence_left_by_binning_a_number_is_tolerated():
    """x -> z -> y of normal columns, 100,000 records, z in five bins: x and y are dependent given the bin."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=100_000)
    columns = [
        np.digitize(column, [-0.84, -0.25, 0.25, 0.84])
        for column in (z + rng.normal(size=len(z)), z + rng.normal(size=len(z)), z)
    ]
    counts = np.histogramdd(np.column_stack(columns), bins=[np.arange(6) - 0.5] * 3)[0]
    tests = {cut: built_on({(0, 1, 2): counts}, 0.0, len(z), cut=cut) for cut in (frozenset(), frozenset({2}))}
    assert tests[frozenset()].test(0, 1, (2,)).p_value < 1e-6
    assert tests[frozenset({2})].test(0, 1, (2,)).least > 0.5
    assert math.isnan(tests[frozenset({2})].test(0, 1, (2,)).p_value)
    assert tests[frozenset({2})].test(0, 2, (1,)).p_value < 1e-9


def test_the_rows_of_a_person_count_as_one():
    rng = np.random.default_rng(0)
    counts = rng.multinomial(300, independent_given(STRATA[2,], 0).ravel()).reshape(2, 3, 3)
    once, fivefold = built_on(tables_of(counts), 0, 300), built_on(tables_of(5 * counts), 0, 1500, rows_per_group=5)
    assert fivefold.test(0, 1, (2,)).p_value == pytest.approx(once.test(0, 1, (2,)).p_value, rel=0.02)
    assert built_on(tables_of(5 * counts), 0, 1500).test(0, 1, (2,)).p_value < once.test(0, 1, (2,)).p_value


def test_joined_labels_may_hide_a_cause_only_as_far_as_their_records_allow():
    """Expected tables without noise, 100 distributions: a label of 0.1% to 1% of column 2 joined the first of three."""
    rng, n = np.random.default_rng(0), 10**6
    alone, bounded = [], []
    for _ in range(100):
        share, strata = 10 ** rng.uniform(-3, -2), rng.dirichlet(np.full(3, 5.0))
        of_0, of_1 = (rng.dirichlet(np.full(size, 0.5), size=4) for size in (2, 3))  # the last belong to the label
        shares = np.array([*strata, share]) - np.array([share, 0, 0, 0])
        cells = np.einsum("s,sa,sb->abs", shares, of_0, of_1)
        cells[..., 0] += cells[..., 3]
        tests = {(0, 1, 2): n * cells[..., :3]}
        for found, merged in ((alone, {}), (bounded, {2: Merged(0, Counted(n * share, 0.0), True)})):
            found.append(built_on(tests, 0.0, n, merged=merged).test(0, 1, (2,)).p_value)
    assert np.mean(np.array(alone) < 0.01) > 0.5
    assert min(bounded) > 0.2


def test_strata_hidden_by_noise_are_allowed_for_as_a_cause():
    """Expected counts of 100,000 records; both columns are 1 for 95% of 29 rare labels and 5% of the first."""
    shares = np.array([1 - 29 * 20 / 10**5] + 29 * [20 / 10**5])
    of_label = np.array([[0.95] + 29 * [0.05], [0.05] + 29 * [0.95]])
    tables = {(0, 1, 2): 10**5 * np.einsum("s,as,bs->abs", shares, of_label, of_label)}
    tests = built_on(tables, 10.0, 10**5)
    assert tests.test(0, 1, (2,)).least < 0.01
    assert tests.test(0, 1, (2,)).p_value > 0.2
