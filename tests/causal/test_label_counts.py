"""Tables of counts are those of plain loops over records."""

from itertools import combinations, product

import numpy as np
import pytest

from skdpmic.causal.table_release import counts_of_sets

SIZES = [2, 3, 7, 1, 4]


def by_plain_loops(columns, sizes, columns_of_table):
    table = dict.fromkeys(product(*(range(sizes[column]) for column in columns_of_table)), 0)
    for record in zip(*(columns[column].tolist() for column in columns_of_table), strict=True):
        table[record] += 1
    return table


def codes(n, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(size, size=n) for size in SIZES]


@pytest.mark.parametrize("n", [1, 2, 5, 60])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_the_tables_are_those_of_plain_loops(n, k):
    columns, sets = codes(n, seed=n), list(combinations(range(5), k))
    tables = counts_of_sets(columns, SIZES, sets)
    assert len(tables) == len(sets)
    for columns_of_table, table in zip(sets, tables, strict=True):
        assert table.dtype == np.int64
        assert table.shape == tuple(SIZES[column] for column in columns_of_table)
        assert dict(np.ndenumerate(table)) == by_plain_loops(columns, SIZES, columns_of_table)


def test_the_number_of_jobs_changes_nothing():
    columns, sets = codes(60_000), list(combinations(range(5), 3))
    for one, other in zip(*(counts_of_sets(columns, SIZES, sets, n_jobs) for n_jobs in (1, 2)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_of_no_sets_there_are_no_tables():
    assert counts_of_sets(codes(9), SIZES, []) == []
