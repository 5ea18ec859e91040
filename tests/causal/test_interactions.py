"""Interactions are the weighted least squares fit to all tables, and have the stated noise."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import linalg

from skdpmic.causal.table_tests import Interactions, subsets

SIZES = (2, 3, 2, 4)
N = 500
SETS = {
    "pairs": list(combinations(range(4), 2)),
    "triples": list(combinations(range(4), 3)),
    "pairs and a triple": [*combinations(range(4), 2), (0, 1, 3)],
    "overlapping": [(0, 1, 2), (2, 3), (1, 3), (0, 3), (0, 2), (3,)],
    "one of all": [(0, 1, 2, 3)],
}
VARIANCES = {1: 9.0, 2: 4.0, 3: 25.0, 4: 1.0}


def margin(joint, columns):
    return joint.sum(axis=tuple(axis for axis in range(joint.ndim) if axis not in columns))


def noisy_tables(name, seed=0):
    rng = np.random.default_rng(seed)
    joint = rng.multinomial(N, rng.dirichlet(np.ones(math.prod(SIZES)))).reshape(SIZES)
    exact = {columns: margin(joint, columns) for columns in SETS[name]}
    return {
        columns: table + rng.normal(0, math.sqrt(VARIANCES[len(columns)]), table.shape)
        for columns, table in exact.items()
    }


def cells_of(columns):
    """For each cell of the table of these columns, the cells of the full table that it sums."""
    every = np.eye(math.prod(SIZES)).reshape(*SIZES, -1)
    return every.sum(axis=tuple(a for a in range(4) if a not in columns)).reshape(-1, math.prod(SIZES))


def least_squares(tables):
    """The full table with N records nearest to all tables; the flattest if there are several."""
    n_cells = math.prod(SIZES)
    free = linalg.null_space(np.ones((1, n_cells)))
    weights = np.concatenate([np.full(t.size, VARIANCES[t.ndim] ** -0.5) for t in tables.values()])
    design = np.concatenate([cells_of(columns) for columns in tables])
    seen = np.concatenate([table.ravel() for table in tables.values()])
    left = seen - design @ np.full(n_cells, N / n_cells)
    solution = np.linalg.lstsq(weights[:, None] * (design @ free), weights * left, rcond=1e-10)[0]
    return (N / n_cells + free @ solution).reshape(SIZES)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("seed", [0, 1])
def test_all_fitted_tables_are_those_of_weighted_least_squares(name, seed):
    tables = noisy_tables(name, seed)
    known, expected = Interactions(tables, VARIANCES, N), least_squares(tables)
    for columns in subsets(range(4)):
        np.testing.assert_allclose(known.table(columns), margin(expected, columns), atol=1e-8)


# --- Noise ------------------------------------------------------------------------------------------------------------


def sums_of(known, weights):
    """Weighted sums of tables, with columns in any order."""
    total = 0.0
    for columns, each in weights:
        table = known.table(tuple(sorted(columns)))
        order = [sorted(columns).index(column) for column in columns]
        total = total + (each * table.transpose(order)).reshape(len(each), -1).sum(axis=1)
    return total


def exact_covariance(name, of):
    """The noise covariance of numbers linear in the tables, found by moving each count by 1."""
    zeros = {columns: np.zeros([SIZES[c] for c in columns]) for columns in SETS[name]}
    start, total = of(Interactions(zeros, VARIANCES, N)), 0.0
    for columns, table in zeros.items():
        for cell in np.ndindex(table.shape):
            moved = table.copy()
            moved[cell] = 1.0
            change = (of(Interactions(zeros | {columns: moved}, VARIANCES, N)) - start).ravel()
            total = total + VARIANCES[len(columns)] * np.outer(change, change)
    return total


@pytest.mark.parametrize("name", SETS)
def test_the_noise_on_sums_has_the_stated_covariance(name):
    rng = np.random.default_rng(3)
    weights = [
        (columns, rng.normal(size=(3, *(SIZES[c] for c in columns)))) for columns in [(1, 0), (0, 2), (3, 1), (2,)]
    ]
    weights += [((3, 0, 2), rng.normal(size=(3, 4, 2, 2)))]
    expected = exact_covariance(name, lambda known: sums_of(known, weights))
    known = Interactions(noisy_tables(name), VARIANCES, N)
    np.testing.assert_allclose(known.noise_of(weights), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("columns", [(1,), (0, 3), (0, 1, 2)])
def test_the_noise_on_a_cell_has_the_stated_variance(name, columns):
    expected = np.diag(exact_covariance(name, lambda known: known.table(columns))).mean()
    known = Interactions(noisy_tables(name), VARIANCES, N)
    assert known.cell_variance(columns) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", SETS)
def test_the_noise_on_the_covariances_in_a_stratum_is_that_of_its_cells(name):
    """Columns 1 and 3 given 0 and 2, with any means of the indicators of their parts."""
    rng, known = np.random.default_rng(0), Interactions(noisy_tables(name), VARIANCES, N)
    means = [rng.dirichlet(np.ones(size), size=4).T[:-1] for size in (3, 4)]
    found = known.noise_in_strata(1, 3, (0, 2), *(1 / (len(each) + 1) - each for each in means))
    for stratum, (here, covariance) in enumerate(zip(np.eye(4).reshape(4, 2, 2), found, strict=True)):
        off = [np.eye(len(each) + 1)[:-1] - each[:, stratum, None] for each in means]
        weights = np.einsum("ax,by,st->abxyst", *off, here).reshape(6, 3, 4, 2, 2)
        np.testing.assert_allclose(covariance, known.noise_of([((1, 3, 0, 2), weights)]), rtol=1e-9, atol=1e-9)
