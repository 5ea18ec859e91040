"""Tests on noisy two-way tables reject what is independent as often as they say, and find what is not."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from skdpmic.causal import table_tests as module
from skdpmic.causal.table_tests import TableTests

ALPHA, N = 0.05, 4000


def two_way(counts):
    """All two-way tables of a table of counts of several columns."""
    axes = range(counts.ndim)
    return {pair: counts.sum(axis=tuple(set(axes) - {*pair})) for pair in combinations(axes, 2)}


def with_noise(tables, scale, rng):
    return {pair: np.rint(table + scale * rng.standard_normal(table.shape)) for pair, table in tables.items()}


def drawn(law, noise_scale, rng, n=N, told=None):
    """Tests on the tables of n records of this law; `told` is the noise that they are told of."""
    counts = rng.multinomial(n, law.ravel()).reshape(law.shape)
    return TableTests(with_noise(two_way(counts), noise_scale, rng), noise_scale if told is None else told, n)


def share_rejected(law, i, j, given, noise_scale, n_tables=400, seed=0, **other):
    rng = np.random.default_rng(seed)
    p_values = [drawn(law, noise_scale, rng, **other).p_value(i, j, given) for _ in range(n_tables)]
    return np.mean(np.array(p_values) <= ALPHA)


def independent_given(strata, seed, interaction=0.0):
    """Laws of columns 0 and 1, of two and three parts, that are independent given the others, which are `strata`.

    Given several, the logarithms of what they do are added up; unless there is an interaction.
    """
    rng = np.random.default_rng(seed)
    law = strata.copy()
    axes = range(strata.ndim)
    for size in (3, 2):
        logits = rng.normal(size=size)
        for k in axes:
            effect = 1.5 * rng.normal(size=(strata.shape[k], size))
            logits = logits + effect.reshape([strata.shape[k] if a == k else 1 for a in axes] + [size])
        if interaction:
            logits = logits + interaction * rng.normal(size=(*strata.shape, size))
        conditional = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
        law = np.moveaxis(conditional, -1, 0).reshape(size, *([1] * (law.ndim - strata.ndim)), *strata.shape) * law
    return law / law.sum()


STRATA = {
    (): np.ones(()),
    (2,): np.array([0.1, 0.6, 0.3]),
    (2, 3): np.array([[0.2, 0.3], [0.1, 0.2], [0.05, 0.15]]),
}
# 4 standard errors of the share of 400 tables.
ERROR = 4 * (ALPHA * (1 - ALPHA) / 400) ** 0.5


LEVELS = [(seed, given, noise_scale) for seed in (0, 1) for given in STRATA for noise_scale in (0, 10, 40)]
FAST = [(0, (2,), 10), (1, (2, 3), 0)]


@pytest.mark.parametrize(
    "seed, given, noise_scale", [pytest.param(*one, marks=[] if one in FAST else pytest.mark.slow) for one in LEVELS]
)
def test_what_is_independent_is_rejected_as_often_as_alpha_says(seed, given, noise_scale, monkeypatch):
    # alpha = 0.05, 400 tables of 4,000 records, 4 standard errors. Other and missing parts are there, and empty.
    monkeypatch.setattr(module, "_EXPLAINED", 0.0)
    law = np.pad(independent_given(STRATA[given], seed), [(0, 2)] * (2 + len(given)))
    share = share_rejected(law, 0, 1, given, noise_scale, seed=seed)
    assert share < ALPHA + ERROR
    if noise_scale < 40 or not given:  # with most noise, small cells are cut off at 0, and cut off noise
        assert share > ALPHA - ERROR


@pytest.mark.parametrize("given", list(STRATA))
def test_tests_that_are_told_of_half_the_noise_reject_too_often(given):
    law = independent_given(STRATA[given], 0)
    assert share_rejected(law, 0, 1, given, noise_scale=60, told=30, n_tables=80) > 3 * ALPHA


@pytest.mark.parametrize("noise_scale", [0, 10])
def test_what_several_columns_do_together_is_forgiven_up_to_a_twentieth_of_what_they_explain(noise_scale, monkeypatch):
    # The two-way tables do not tell of it: only what is more than that counts as dependence.
    law = independent_given(STRATA[2, 3], seed=31, interaction=0.4)  # without noise, p is 2e-6 or 1
    assert share_rejected(law, 0, 1, (2, 3), noise_scale, n=10**5, n_tables=60) < ALPHA
    monkeypatch.setattr(module, "_EXPLAINED", 0.0)
    assert share_rejected(law, 0, 1, (2, 3), noise_scale, n=10**5, n_tables=60) > 3 * ALPHA


@pytest.mark.parametrize("noise_scale", [0, 20])
@pytest.mark.parametrize("given", list(STRATA))
def test_dependence_is_found(given, noise_scale):
    law = independent_given(STRATA[given], 1)
    tilt = np.array([[2, 1, 1], [1, 1, 2]]).reshape(2, 3, *[1] * len(given))
    dependent = law * tilt / (law * tilt).sum()
    assert share_rejected(dependent, 0, 1, given, noise_scale, n_tables=25) > 0.9


def test_what_the_noise_adds_has_the_covariance_of_the_formula():
    # 600 draws of the noise; entries of a covariance within 5 of its standard errors.
    law, scale, n = independent_given(STRATA[2, 3], 5), 30, 10**6
    exact = two_way(law * n)
    tests = TableTests(exact, scale, n)
    weights = tests._weights(0, 1, (2, 3))
    stacked, places = np.concatenate(list(weights.values())), np.concatenate([tests._places[k] for k in weights])
    rng, moves = np.random.default_rng(0), []
    for _ in range(600):
        noisy = TableTests(with_noise(exact, scale, rng), scale, n)
        moves.append((stacked.T @ noisy._covariance[np.ix_(places, places)] @ stacked)[:1, 1:].ravel())
    found, formula = np.cov(np.array(moves).T), tests._of_noise(weights, 0, 1)
    spread = np.sqrt((np.outer(formula.diagonal(), formula.diagonal()) + formula**2) / 600)
    assert (np.abs(found - formula) < 5 * spread).all()
    assert (formula.diagonal() > 12 * spread.diagonal()).all()  # so that a wrong factor is seen


def test_of_two_columns_without_noise_it_is_the_chi_squared_test_of_their_table():
    """With (4 - 1) (5 - 1) degrees of freedom; but for the covariance that keeps every direction from having none."""
    table = np.random.default_rng(0).multinomial(N, np.full(20, 1 / 20)).reshape(4, 5)
    exact = stats.chi2_contingency(table, correction=False).pvalue
    assert 0.05 < exact < 0.95
    assert TableTests({(0, 1): table}, 0.0, N).p_value(0, 1, ()) == pytest.approx(exact, rel=0.01)


def test_the_order_of_two_columns_does_not_matter():
    rng = np.random.default_rng(0)
    tests = drawn(independent_given(STRATA[2, 3], 0), 20, rng)
    for given in ((), (2,), (3,), (2, 3)):
        assert tests.p_value(0, 1, given) == pytest.approx(tests.p_value(1, 0, given), rel=1e-6)


def test_parts_that_are_empty_change_nothing_without_noise():
    law = independent_given(STRATA[2, 3], 0)
    tables = [two_way(np.pad(np.rint(law * 1000), [(0, extra)] * 4)) for extra in (0, 2)]
    found = [[TableTests(one, 0, 1000).p_value(0, 1, given) for given in ((), (2,), (2, 3))] for one in tables]
    np.testing.assert_allclose(*found, rtol=1e-3)


def test_a_constant_column_is_independent_of_all_others():
    counts = np.zeros((2, 3))
    counts[:, 0] = 50
    assert TableTests({(0, 1): counts}, 0, 100).p_value(0, 1, ()) == 1.0
    drowned = TableTests({(0, 1): np.array([[50, 0], [0, 50]])}, 1000, 100)
    assert drowned.p_value(0, 1, ()) == 1.0


def test_columns_that_determine_another_say_nothing_of_its_neighbours():
    # Column 2 is a copy of column 0 and makes it independent of all others: nobody's edge is to be lost for that.
    pair = np.array([[400, 100], [100, 400]])
    tests = TableTests({(0, 1): pair, (0, 2): np.diag([500, 500]), (1, 2): pair}, 0, 1000)
    assert tests.p_value(0, 1, (2,)) == tests.p_value(1, 2, (0,)) == 0.0
    assert tests.p_value(0, 2, (1,)) < 1e-9


def test_a_law_of_too_many_cells_is_replaced_by_linear_models(monkeypatch):
    law = independent_given(STRATA[2, 3], 0)
    with_law = drawn(law, 10, np.random.default_rng(0)).p_value
    monkeypatch.setattr(module, "_MOST_CELLS", 1)
    linear = drawn(law, 10, np.random.default_rng(0)).p_value
    assert linear(0, 1, (2,)) == pytest.approx(with_law(0, 1, (2,)), abs=0.1)
    assert linear(0, 2, ()) < 1e-9


def test_rows_of_persons_count_as_one():
    rng = np.random.default_rng(0)
    counts = rng.multinomial(300, independent_given(STRATA[2,], 0).ravel()).reshape(2, 3, 3)
    once, fivefold = TableTests(two_way(counts), 0, 300), TableTests(two_way(5 * counts), 0, 1500, rows_per_group=5)
    assert fivefold.p_value(0, 1, (2,)) == pytest.approx(once.p_value(0, 1, (2,)), rel=0.02)
    assert TableTests(two_way(5 * counts), 0, 1500).p_value(0, 1, (2,)) < once.p_value(0, 1, (2,))
