"""The geometric mechanism: exact probabilities of all noisy tables and scores, for all neighbours, on small tables."""

import math
from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np
import pytest
from scipy import stats

from skdpmic import DPMICScorer, mic_r, private_score
from skdpmic.datasets import make_relationship
from skdpmic.privacy.composition import exact
from skdpmic.privacy.noise import entropy_source
from skdpmic.statistics.mic.mic_r import continuous_plan
from skdpmic.statistics.mic.noisy_tables import GeometricMechanism, TableGrids, TableScorer, mic_of_table
from tests.folding import each
from tests.privacy.laws import truncated_geometric_pmf
from tests.privacy.searches import all_tables
from tests.tables import refused

UNIT = (0, 1)

# --- All outputs for all neighbours -------------------------------------------------------------------------------


def counted(grids, x, y):
    return grids.count(x, UNIT, grids.place(y)).astype(np.int64).reshape(grids.shape)


def count(points, shape=(2, 2)):
    """Counts of (feature, target) points in the unit square, as the package counts them."""
    return counted(TableGrids(UNIT, shape[1], shape[0]), *np.array(points).T)


@lru_cache
def tables(n, size):
    """All possible noisy tables: (n_tables, size)."""
    return np.array(list(product(range(n + 1), repeat=size)))


def table_probabilities(counts, n, scale):
    """The probability of each of the `tables`, given the `counts`."""
    cells = [truncated_geometric_pmf(count, n, scale) for count in counts.ravel()]
    return math.prod(cell[column] for cell, column in zip(cells, tables(n, counts.size).T, strict=True))


@pytest.mark.few
@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.combinations
def test_the_largest_log_ratio_over_noisy_tables_and_neighbours_is_exactly_epsilon(n, epsilon):
    scale = GeometricMechanism.for_budget(epsilon, 1).scale
    counts, (here, there) = all_tables((2, 2), n)
    logs = np.log([table_probabilities(each, n, scale) for each in counts])
    assert np.abs(logs[here] - logs[there]).max() == pytest.approx(epsilon, rel=1e-9)


def test_replacing_a_record_moves_two_counts_of_a_table_by_at_most_one():
    rng = np.random.default_rng(0)
    for shape in ((2, 2), (5, 5), (7, 3)):
        for _ in range(50):
            points = rng.uniform(-0.2, 1.2, size=(20, 2))
            other = points.copy()
            other[3] = rng.uniform(-0.2, 1.2, size=2)
            assert np.abs(count(points, shape) - count(other, shape)).sum() in (0, 2)
            assert count(points, shape).sum() == 20


def test_a_missing_value_is_counted_in_the_first_part():
    points = [(0.3, 0.9), (0.9, 0.1), (np.nan, 0.9), (np.nan, 0.2)]
    np.testing.assert_array_equal(count(points), count([(0.3, 0.9), (0.9, 0.1), (0.1, 0.9), (0.1, 0.2)]))


def test_nominal_features_have_no_tables_and_are_refused_before_the_charge(ledger):
    X = np.random.default_rng(0).integers(2, size=(50, 2))
    public = {"bounds": {0: (0, 1)}, "categories": {1: [0, 1]}, "target_bounds": (0, 1)}
    with refused(ValueError, "'laplace', 'gaussian' or 'k-norm' with categories, got 'geometric'", ledger):
        DPMICScorer(mechanism="geometric", ledger=ledger, **public).fit(X, X[:, 0])


# --- The published mechanism, which adds noise to every master grid -------------------------------------------


def probability_of_score_zero(corners, n, epsilon):
    """P(output = 0) of the published mechanism at B = 6, c = 1: all its noisy tables must have rank one.

    Parameters
    ----------
    corners : list of points, n of them in corners of the unit square
    """
    probability = 1.0
    for n_fixed, n_master, _ in continuous_plan(6, 1, "reduced"):
        for shape in ((n_master, n_fixed), (n_fixed, n_master)):
            noisy = tables(n, shape[0] * shape[1]).reshape(-1, *shape)
            probability *= table_probabilities(count(corners, shape), n, 2 / epsilon)[_have_rank_one(noisy)].sum()
    return probability


def _have_rank_one(noisy):
    """Whether each table has no dependence: every 2 x 2 minor is 0."""
    _, n_rows, n_columns = noisy.shape
    rank_one = np.ones(len(noisy), dtype=bool)
    for i, j, u, v in product(range(n_rows), range(n_rows), range(n_columns), range(n_columns)):
        rank_one &= noisy[:, i, u] * noisy[:, j, v] == noisy[:, i, v] * noisy[:, j, u]
    return rank_one


@pytest.mark.parametrize("n, epsilon, log_ratio", [(3, 2, 2.979), (3, 4, 7.473), (4, 1, 1.305)])
def test_noise_per_grid_as_published_is_not_epsilon_dp(n, epsilon, log_ratio):
    alike = probability_of_score_zero([(0, 0)] * n, n, epsilon)
    one_moved = probability_of_score_zero([(0, 0)] * (n - 1) + [(1, 1)], n, epsilon)
    assert math.log(alike / one_moved) == pytest.approx(log_ratio, abs=5e-4)
    assert math.log(alike / one_moved) > 1.3 * epsilon


# --- The noise ------------------------------------------------------------------------------------------------


@each("epsilon", [0.1, 1 / 3, 1.0, 7, np.float32(0.1), np.int64(2)])
@each("n_tables", [1, 9, 1000])
def test_all_tables_together_spend_exactly_epsilon(epsilon, n_tables):
    scale = GeometricMechanism.for_budget(epsilon, n_tables).scale
    assert n_tables * 2 / scale == exact(epsilon)  # a record moves two counts of each table by 1


@pytest.mark.parametrize("count", [0, 1, 7, 10])
def test_noisy_counts_have_the_truncated_geometric_distribution(count):
    # chi-square, alpha = 1e-3, n = 20,000, fixed seed; half or twice the noise has a p-value of 0.
    n, draws = 10, 20_000
    mechanism = GeometricMechanism.for_budget(0.7, 1)
    noisy = mechanism.release(np.full(draws, count), n, entropy_source(count))
    observed = np.bincount(noisy, minlength=n + 1)
    p_value = stats.chisquare(observed, draws * truncated_geometric_pmf(count, n, mechanism.scale)).pvalue
    assert p_value > 1e-3
    for wrong in (mechanism.scale / 2, mechanism.scale * 2):
        assert stats.chisquare(observed, draws * truncated_geometric_pmf(count, n, wrong)).pvalue < 1e-12


def test_every_table_gets_separate_noise():
    noisy = GeometricMechanism.for_budget(1, 3).release(np.full((3, 4, 4), 500), 1000, entropy_source(0))
    assert noisy.shape == (3, 4, 4)
    assert len(np.unique(noisy)) > 20
    assert not (noisy[0] == noisy[1]).all()


# --- The estimate ---------------------------------------------------------------------------------------------


@each("is_discrete", [False, True])
@each("scale", [0, Fraction(1, 50), 2, 10**6])
def test_any_table_has_a_score_from_0_to_1(scale, is_discrete):
    diagonal, one_cell = 50 * np.eye(4, dtype=np.int64), np.zeros((4, 4), dtype=np.int64)
    one_cell[0, 3] = 50
    for noisy in (diagonal, one_cell, np.full((4, 4), 50), np.ones((4, 4), dtype=np.int64)):
        assert 0 <= TableScorer(50, scale, 12.5, is_discrete).score(noisy) <= 1
    assert TableScorer(1000, 2, 40.0, is_discrete=False).score(np.zeros((6, 6), dtype=np.int64)) < 0.1  # pure noise


def test_without_noise_the_estimate_is_close_to_mic_r():
    for name in ("F7", "F12", "F13"):
        x, y = make_relationship(name, n_samples=2000, r2=0.5, random_state=0)
        estimate = private_score(x, y, mechanism="geometric", epsilon=math.inf, bounds=(UNIT, UNIT))
        assert estimate == pytest.approx(mic_r(x, y, bounds=(UNIT, UNIT), B=105), abs=0.02)


def test_with_loose_bounds_the_estimate_has_half_the_error_of_the_raw_noisy_table():
    # n = 1,000, epsilon = 1, 12 relationships and two draws each, fixed seed: 91% of the table is empty
    n, B, n_parts = 1000, 80.0, 16
    mechanism, source = GeometricMechanism.for_budget(1, 1), entropy_source(0)
    scorer = TableScorer(n, mechanism.scale, B, is_discrete=False)
    errors, plain_errors = [], []
    for name, r2 in product(("F7", "F10", "F12", "F13"), (0.1, 0.3, 0.7)):
        x, y = 0.3 * np.array(make_relationship(name, n_samples=n, r2=r2, random_state=0))
        truth = mic_r(x, y, bounds=(UNIT, UNIT), B=B)
        counts = counted(TableGrids(UNIT, None, n_parts), x, y)
        for table in mechanism.release(np.stack([counts] * 2), n, source):
            errors.append(abs(scorer.score(table) - truth))
            plain_errors.append(abs(mic_of_table(table, B) - truth))
    assert np.mean(errors) < 0.5 * np.mean(plain_errors)


def test_classes_are_the_fixed_side():
    rng = np.random.default_rng(0)
    x, codes = rng.random(3000), rng.integers(3, size=3000)
    scorer = TableScorer(3000, Fraction(2), 60.0, is_discrete=True)
    dependent, independent = (
        scorer.score(counted(TableGrids(None, 3, 12), x, target)) for target in ((3 * x).astype(int), codes)
    )
    assert dependent > 0.9
    assert independent < 0.05
