"""Tables that are made to agree are the nearest ones that do, and a law of pairs has the pairs it is made of."""

from itertools import combinations

import numpy as np
import pytest
from scipy import optimize

from skdpmic._utils.shares import nearest_shares
from skdpmic.causal.consistent_tables import law_of_pairs, margins_of, scaled_to_margins, with_margins


def test_margins_are_those_of_least_squares_over_all_consistent_tables():
    rng, sizes, n = np.random.default_rng(0), [2, 3, 4], 1000
    law = rng.dirichlet(np.full(24, 5)).reshape(sizes)
    noisy = {
        (i, j): n * law.sum(axis=({0, 1, 2} - {i, j}).pop()) + 5 * rng.normal(size=(sizes[i], sizes[j]))
        for i, j in combinations(range(3), 2)
    }
    for table in noisy.values():
        table += (n - table.sum()) / table.size  # the total is public
    # Parameters: a table for each pair; constraints: equal margins, by a basis of the null space.
    ends = np.cumsum([0] + [table.size for table in noisy.values()])
    rows = []
    for column in range(3):
        sums = []
        for (pair, table), start in zip(noisy.items(), ends[:-1], strict=True):
            if column in pair:
                places = start + np.arange(table.size).reshape(table.shape)
                places = places if pair[0] == column else places.T
                one = np.zeros((sizes[column], ends[-1]))
                np.put_along_axis(one, places, 1, axis=1)
                sums.append(one)
        rows.append(sums[0] - sums[1])
    constraints = np.concatenate(rows)
    given = np.concatenate([table.ravel() for table in noisy.values()])
    nearest = given - np.linalg.pinv(constraints) @ (constraints @ given)
    margins = margins_of(noisy, sizes, 5, n)
    first = nearest[: ends[1]].reshape(2, 3)
    np.testing.assert_allclose(margins.shares[0] * n, first.sum(axis=1), rtol=1e-9)
    np.testing.assert_allclose(margins.shares[1] * n, first.sum(axis=0), rtol=1e-9)
    fitted = with_margins(noisy[0, 1], margins.shares[0] * n, margins.shares[1] * n)
    np.testing.assert_allclose(fitted, first, rtol=1e-9)


def test_the_noise_on_margins_has_the_variance_that_is_stated():
    # 4,000 draws: a variance within 5 of its standard errors.
    rng, sizes, n = np.random.default_rng(0), [2, 3, 4], 1000
    tables = {(i, j): np.full((sizes[i], sizes[j]), n / sizes[i] / sizes[j]) for i, j in combinations(range(3), 2)}
    shares, stated = [], margins_of(tables, sizes, 5, n).variances
    for _ in range(4000):
        noisy = {pair: table + 5 * rng.normal(size=table.shape) for pair, table in tables.items()}
        shares.append(np.concatenate(margins_of(noisy, sizes, 5, n).shares))
    found = np.var(shares, axis=0)
    expected = np.concatenate(
        [np.full(size, of_one * (1 - 1 / size)) for size, of_one in zip(sizes, stated, strict=True)]
    )
    np.testing.assert_allclose(found, expected, rtol=5 * np.sqrt(2 / 4000))


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_shares_are_nearest(seed):
    values = np.random.default_rng(seed).normal(0.3, 0.5, size=6)
    found = nearest_shares(values)
    np.testing.assert_array_equal(nearest_shares(values.reshape(2, 3)), found.reshape(2, 3))
    assert found.sum() == pytest.approx(1)
    assert found.min() >= 0
    best = optimize.minimize(
        lambda x: ((x - values) ** 2).sum(),
        np.full(6, 1 / 6),
        bounds=[(0, 1)] * 6,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14},
    ).x
    np.testing.assert_allclose(found, best, atol=1e-6)


def test_a_scaled_table_has_the_margins_and_the_odds_ratios():
    rng = np.random.default_rng(0)
    table, rows, columns = rng.random((3, 4)) + 0.1, rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(4))
    scaled = scaled_to_margins(table, rows, columns)
    np.testing.assert_allclose(scaled.sum(axis=0), columns, rtol=1e-8)
    np.testing.assert_allclose(scaled.sum(axis=1), rows, rtol=1e-7)
    odds = [np.log(t[1:, 1:] * t[0, 0] / t[1:, :1] / t[:1, 1:]) for t in (table, scaled)]
    np.testing.assert_allclose(*odds, rtol=1e-9)


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 2), (3, 2, 2, 3)])
def test_a_law_without_interactions_of_three_is_found_from_its_two_way_tables(shape):
    rng, axes = np.random.default_rng(0), range(len(shape))
    logarithm = sum(
        rng.normal(scale=0.7, size=[shape[c] if c in pair else 1 for c in axes]) for pair in combinations(axes, 2)
    )
    law = np.exp(logarithm) / np.exp(logarithm).sum()
    found = law_of_pairs(shape, lambda a, b: law.sum(axis=tuple(set(axes) - {a, b})))
    np.testing.assert_allclose(found, law, atol=1e-6)


def test_of_laws_with_the_same_tables_it_has_the_largest_entropy():
    rng = np.random.default_rng(0)
    law = rng.dirichlet(np.ones(8)).reshape(2, 2, 2)
    found = law_of_pairs((2, 2, 2), lambda a, b: law.sum(axis=({0, 1, 2} - {a, b}).pop()))
    for a, b in combinations(range(3), 2):
        other = ({0, 1, 2} - {a, b}).pop()
        np.testing.assert_allclose(found.sum(axis=other), law.sum(axis=other), atol=1e-6)
    signs = np.array([1, -1])
    free = signs[:, None, None] * signs[None, :, None] * signs  # the one direction that changes no two-way table
    entropies = [-(x * np.log(x)).sum() for x in (found - 1e-3 * free, found, found + 1e-3 * free)]
    assert entropies[1] > max(entropies[0], entropies[2])
