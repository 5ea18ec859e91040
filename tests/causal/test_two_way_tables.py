"""All two-way tables are those of plain loops over records."""

import numpy as np
import pytest

from skdpmic.causal.two_way_tables import as_tables, two_way_counts

SIZES = [2, 3, 7, 1, 4]


def by_plain_loops(records, sizes):
    tables = {}
    for i in range(len(sizes)):
        for j in range(i + 1, len(sizes)):
            tables[i, j] = [[0] * sizes[j] for _ in range(sizes[i])]
            for record in records:
                tables[i, j][record[i]][record[j]] += 1
    return tables


def codes(n, seed=0, sizes=SIZES):
    rng = np.random.default_rng(seed)
    return [rng.integers(size, size=n).astype(np.uint32) for size in sizes]


@pytest.mark.parametrize("n", [1, 2, 5, 60])
def test_the_tables_are_those_of_plain_loops(n):
    columns = codes(n, seed=n)
    counts = two_way_counts(columns, SIZES)
    assert counts.dtype == np.int64
    tables = as_tables(counts, SIZES)
    expected = by_plain_loops(list(zip(*(column.tolist() for column in columns), strict=True)), SIZES)
    assert {pair: table.tolist() for pair, table in tables.items()} == expected


def test_the_number_of_jobs_changes_nothing():
    columns = codes(60_000)
    np.testing.assert_array_equal(two_way_counts(columns, SIZES), two_way_counts(columns, SIZES, n_jobs=2))


def test_every_part_that_is_empty_has_its_cells():
    tables = as_tables(two_way_counts([np.zeros(4, np.uint32), np.full(4, 2, np.uint32)], [3, 4]), [3, 4])
    assert tables[0, 1].tolist() == [[0, 0, 4, 0], [0] * 4, [0] * 4]
