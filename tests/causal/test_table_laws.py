"""Distributions fitted to noisy tables are positive, have consistent margins, and assume nothing beyond the tables."""

import math
from itertools import combinations

import numpy as np
import pytest

from skdpmic.causal.table_tests import Interactions, TableLaws, fitted_to_margins, subsets

SIZES = (2, 3, 2, 3)
N = 2000


def margin(joint, columns):
    return joint.sum(axis=tuple(axis for axis in range(joint.ndim) if axis not in columns))


def joint_law(seed, sizes=SIZES):
    return np.random.default_rng(seed).dirichlet(np.full(math.prod(sizes), 2.0)).reshape(sizes)


def laws_of(joint, k, noise_scale=0.0, seed=0):
    """Distributions fitted to all tables of k columns."""
    rng = np.random.default_rng(seed)
    tables = {columns: N * margin(joint, columns) for columns in combinations(range(joint.ndim), k)}
    tables = {columns: table + rng.normal(0, noise_scale, table.shape) for columns, table in tables.items()}
    return TableLaws(Interactions(tables, {k: noise_scale**2}, N))


@pytest.mark.parametrize("k", [2, 3, 4])
def test_without_noise_the_distribution_of_columns_in_a_table_equals_the_table(k):
    joint = joint_law(0)
    laws = laws_of(joint, k)
    for columns in subsets(range(4)):
        if len(columns) <= k:
            np.testing.assert_allclose(laws.of(columns), margin(joint, columns), atol=1e-7)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("noise_scale", [0.0, 5.0, 20.0])
def test_all_distributions_are_positive_with_consistent_margins(k, noise_scale):
    laws = laws_of(joint_law(1), k, noise_scale)
    for columns in subsets(range(4)):
        law = laws.of(columns)
        assert (law > 0).all()
        assert law.sum() == pytest.approx(1, abs=1e-6)
        for axis in range(len(columns)):
            if len(columns) > 1:
                others = columns[:axis] + columns[axis + 1 :]
                np.testing.assert_allclose(law.sum(axis=axis), laws.of(others), atol=2e-5)


def test_negative_counts_are_raised_to_the_detection_limit_of_the_noise():
    empty = np.array([[1003, -3], [-3, 1003]])
    laws = TableLaws(Interactions({(0, 1): empty}, {2: 10.0**2}, N))
    law = laws.of((0, 1))
    assert (law > 0).all()
    assert law[0, 1] + law[1, 0] < 4 * 0.3 * 10 / N
    exact = TableLaws(Interactions({(0, 1): np.maximum(empty, 0)}, {2: 0.0}, N)).of((0, 1))
    assert 0 < exact[0, 1] < 1e-4


# --- Beyond the tables ------------------------------------------------------------------------------------------------


def test_fitting_keeps_the_odds_ratios_of_the_start():
    start = np.array([[1.0, 2.0], [3.0, 24.0]])
    law = fitted_to_margins(start, [np.array([[0.3, 0.7]]), np.array([[0.6], [0.4]])])
    assert law[0, 0] * law[1, 1] / law[0, 1] / law[1, 0] == pytest.approx(4)
    np.testing.assert_allclose(law.sum(axis=0), [0.3, 0.7], atol=1e-6)
    np.testing.assert_allclose(law.sum(axis=1), [0.6, 0.4], atol=1e-6)
