"""Records are counted in the cells that all partitions of a group share, from which each grid reads its parts."""

from itertools import pairwise

import numpy as np
import pytest

from skdpmic.statistics.grids import equipartitions, locate_between, refine
from skdpmic.statistics.mic.cell_counts import PlacedColumn, cells_of, count, edges_of, empty_tables, groups_ending
from skdpmic.statistics.mic.mic_r import all_grids, continuous_plan, needed_grids
from tests.naive import naive_counts, naive_parts


def _columns(x, y, plan, ends):
    """`x` to be merged, `y` fixed, and their groups."""
    partitions = equipartitions(plan[:, :2])
    groups = groups_ending(plan, ends)
    columns = []
    for values, parts in ((x, plan[:, 1]), (y, plan[:, 0])):
        edges, first_cell = refine(-0.1, 1.3, partitions)
        cells = cells_of(first_cell, len(edges) + 1, edges_of(parts, groups.of_grid, partitions.sizes))
        located, _ = locate_between(values, np.append(edges, np.nan), -0.1, 1.3)
        columns.append(PlacedColumn(located, cells, cells))
    return *columns, groups


@pytest.mark.parametrize("B, c", [(4, 1), (24, 5), (40, 0.7)])
def test_every_grid_finds_the_counts_of_its_parts(B, c):
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 50)) * 1.5 - 0.2
    plan = all_grids(needed_grids(continuous_plan(B, c, "reduced")))[0]
    for ends in ([len(plan)], range(1, len(plan) + 1)):  # all grids share a table, or none
        assert_counts(x, y, plan, *_columns(x, y, plan, ends))


def assert_counts(x, y, plan, free, fixed, groups):
    seen = 0
    for numbers, rows in groups.rounds:
        tables = count(free, fixed, numbers, empty_tables(free, fixed))
        for n_fixed, n_master, _, _, table, cuts, borders, _ in rows.tolist():
            start, height = tables.places[table].tolist()
            corners = [
                [int(tables.below[start + t * height + u]) for u in tables.borders[borders, : n_fixed + 1].tolist()]
                for t in tables.cuts[cuts, : n_master + 1].tolist()
            ]
            counts = [
                [b[1] - b[0] - a[1] + a[0] for a, b in zip(pairwise(low), pairwise(high), strict=True)]
                for low, high in pairwise(corners)
            ]
            parts = naive_parts(x, (-0.1, 1.3), n_master), naive_parts(y, (-0.1, 1.3), n_fixed)
            assert counts == naive_counts(parts[0], n_master, parts[1], n_fixed)
            seen += 1
    assert seen == len(plan)
