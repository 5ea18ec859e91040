"""OptimizeAxis finds the best merge into any number of parts at once, in several tables, and skips only what it can."""

import numpy as np
import pytest

from skdpmic.statistics.mic.optimize_axis import (
    BLOCK,
    MILLER_MADOW,
    Tables,
    _optimize_axis,
    _room,
    _units,
    entries,
    entropy_table,
    grids_of,
    largest_entry,
)
from tests.folding import each
from tests.naive import naive_entry, naive_largest_entry


def table_of(counts):
    """A table of counts with a row for each master part, in the form that the kernel takes."""
    below = np.pad(counts, ((1, 0), (1, 0))).cumsum(axis=0).cumsum(axis=1).astype(np.uint32)
    n_rows, n_columns = (np.arange(length, dtype=np.uint32).reshape(1, -1) for length in below.shape)
    return Tables(below.ravel(), np.array([[0, below.shape[1]]], dtype=np.uint64), n_rows, n_columns)


def largest(counts, k_max, block, chance=0.0):
    grids = grids_of(np.array([[counts.shape[1], counts.shape[0], k_max]]))
    grids.rows[:, BLOCK] = block
    n = int(counts.sum())
    return largest_entry([(table_of(counts), grids.rows)], grids.most, entropy_table(n), n, chance)


def entries_of(counts, k_max):
    n = int(counts.sum())
    return entries(table_of(counts), grids_of(np.array([[*counts.shape[::-1], k_max]])), entropy_table(n), n)[0]


def random_counts(rng, n_master, n_fixed):
    # The largest columns are below and above the limit for lookups in pairs.
    counts = rng.poisson(rng.choice([0.3, 2.0, 30.0, 90.0]), size=(n_master, n_fixed))
    counts[rng.random(n_master) < 0.3] = 0  # empty parts
    counts[:, rng.random(n_fixed) < 0.2] = 0  # empty columns
    counts[0, 0] += 1
    return counts


@each("seed", range(12))
def test_every_entry_equals_brute_force(seed):
    rng = np.random.default_rng(seed)
    counts = random_counts(rng, rng.integers(1, 8), rng.integers(2, 6))
    of_k = entries_of(counts, 7)
    assert (of_k[:2] == 0).all()
    for k in range(2, 8):
        assert of_k[k] == pytest.approx(naive_entry(counts.tolist(), k), abs=1e-12)
        assert largest(counts, k, len(counts)) == pytest.approx(naive_largest_entry(counts.tolist(), k), abs=1e-12)


@each("seed", range(12))
@pytest.mark.parametrize("k_max", [2, 3, 5, 8])
def test_upper_bounds_skip_no_grid_that_holds_the_largest_entry(seed, k_max):
    rng = np.random.default_rng(seed)
    counts = random_counts(rng, rng.integers(2, 30), rng.integers(2, 9))
    exact = entries_of(counts, k_max).max()
    for block in (1, 2, 3, 8, 30):
        assert min(largest(counts, k_max, block), 1.0) == exact


@each("seed", range(12))
@pytest.mark.parametrize("k_max", [2, 3, 5, 8])
@pytest.mark.parametrize("chance", [0.05, MILLER_MADOW, 3.0])
@pytest.mark.combinations
def test_with_an_offset_for_chance_neither_bounds_nor_their_omission_change_the_largest_entry(seed, k_max, chance):
    rng = np.random.default_rng(seed)
    counts = random_counts(rng, rng.integers(2, 30), rng.integers(2, 9))
    n, n_fixed = int(counts.sum()), counts.shape[1]
    k = np.arange(2, k_max + 1)
    parts = np.log2(np.minimum(k, n_fixed))
    offsets = (k - 1) * (n_fixed - 1) * chance / n / parts
    exact = max((entries_of(counts, k_max)[2:] - offsets).max(), 0.0)
    found = {largest(counts, k_max, block, chance) for block in (1, 2, 3, 8, 30)}
    assert len(found) == 1
    assert found.pop() == pytest.approx(exact, abs=1e-14)


@pytest.mark.parametrize("k", [2, 3, 5, 7])
def test_each_number_of_parts_has_its_own_offset(k):
    # On a diagonal with an odd number of parts, the best entry uses all of them.
    counts = np.diag(np.full(k, 200))
    offset = (k - 1) ** 2 * MILLER_MADOW / (200 * k)
    for block in (1, k):
        assert largest(counts, k, block, MILLER_MADOW) == pytest.approx(1 - offset / np.log2(k), abs=1e-14)


@pytest.mark.parametrize("found_before", [0.0, 0.5])
def test_bounds_skip_more_than_two_parts_if_a_larger_entry_was_found_before(found_before):
    counts = np.random.default_rng(0).multinomial(2000, np.full(320, 1 / 320)).reshape(40, 8)
    tables, grids, table = table_of(counts), grids_of(np.array([[8, 40, 8], [8, 40, 8]])), entropy_table(2000)
    room = _room(grids.most)
    n_mi = room[-1]
    n_mi[:] = -1
    units = _units(table, 2000, grids.most)
    for chance in (0.0, MILLER_MADOW * table.scale):
        found = np.array([found_before])
        _optimize_axis(found, tables.below[np.newaxis], *tables[1:], grids.rows, *table[:3], chance, units, *room)
        assert (n_mi[:, 2] > 0).all()
        assert (n_mi[:, 3:] == -1).all() == (found_before > 0)


def test_a_bound_is_raised_by_more_than_the_rounding_error():
    # Merging proportional rows loses nothing, so exact bounds are attained. The table has the largest errors that
    # docs/theory/rounding.md allows, and all but the last bit of the best entry is already found.
    rng = np.random.default_rng(0)
    n_found = 0
    for _ in range(300):
        kinds = rng.integers(1, 30, size=(3, 5))
        counts = np.repeat(kinds, 8, axis=0) * rng.integers(1, 4, size=(24, 1))
        n, table = int(counts.sum()), entropy_table(int(counts.sum()))
        g = table.g + np.rint(rng.uniform(-1, 1, size=n + 1) * 2.0**-49 * table.g).astype(np.int64)
        n_small = len(table.g_pairs) // table.step
        small = np.zeros(table.step, dtype=np.int64)
        small[: min(n + 1, n_small)] = g[:n_small]
        table = table._replace(g=g, g_pairs=np.add.outer(small[:n_small], small).ravel())
        grids = grids_of(np.array([[5, 24, 5]]))
        grids.rows[:, BLOCK] = 5
        arguments = table_of(counts), grids.rows.copy()
        arguments[1][:, BLOCK] = 24
        exact = largest_entry([arguments], grids.most, table, n)
        room = 0.0, _units(table, n, grids.most), *_room(grids.most)
        below, *tables = arguments[0]
        found = np.array([np.nextafter(exact, 0)])
        _optimize_axis(found, below[np.newaxis], *tables, grids.rows, *table[:3], *room)
        n_found += found[0] == exact
    assert n_found == 300


def test_an_entry_that_is_already_found_is_kept():
    counts = random_counts(np.random.default_rng(0), 10, 4)
    good, n = np.diag([5, 5, 5, 5]), int(counts.sum())
    grids = grids_of(np.array([[4, 10, 4]])), grids_of(np.array([[4, 4, 4]]))
    both = [(table_of(table), each.rows) for table, each in zip((counts, good), grids, strict=True)]
    alone = largest_entry(both[:1], (4, 10, 4, 1), entropy_table(n), n)
    assert alone == pytest.approx(entries_of(counts, 4).max())
    assert largest_entry([*both[:1], *both[:1]], (4, 10, 4, 1), entropy_table(n), n) == alone


def test_several_grids_of_several_tables_give_the_largest_of_all():
    rng = np.random.default_rng(0)
    counts = [rng.multinomial(200, rng.dirichlet(np.ones(60))).reshape(10, 6) for _ in range(3)]
    tables = [table_of(each) for each in counts]
    places = np.array([[i * tables[0].below.size, 7] for i in range(3)], dtype=np.uint64)
    together = tables[0]._replace(below=np.concatenate([each.below for each in tables]), places=places)
    plan = np.array([[6, 10, 2], [6, 10, 3], [6, 10, 5]])
    grids = grids_of(plan, table=[2, 0, 1])
    expected = max(naive_largest_entry(counts[i].tolist(), k) for i, k in ((2, 2), (0, 3), (1, 5)))
    found = largest_entry([(together, grids.rows)], grids.most, entropy_table(200), 200)
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 100, 1000])
def test_table_holds_g_of_single_counts_and_of_pairs(n):
    table = entropy_table(n)
    a = np.arange(1, n + 1)
    np.testing.assert_allclose(table.g[1:] / table.scale, a * np.log2(a), rtol=1e-14, atol=1 / table.scale)
    assert table.g[0] == 0
    n_small = len(table.g_pairs) // table.step
    for first, second in np.random.default_rng(0).integers(min(n + 1, n_small), size=(20, 2)):
        assert table.g_pairs[first * table.step + second] == table.g[first] + table.g[second]
