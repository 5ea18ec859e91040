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
@pytest.mark.parametrize("chance", [0.0, 0.05, MILLER_MADOW, 3.0])
@pytest.mark.combinations
def test_bounds_skip_no_grid_that_holds_the_largest_entry_less_its_offset_for_chance(seed, k_max, chance):
    rng = np.random.default_rng(seed)
    counts = random_counts(rng, rng.integers(2, 30), rng.integers(2, 9))
    k, n_fixed = np.arange(2, k_max + 1), counts.shape[1]
    offsets = (k - 1) * (n_fixed - 1) * chance / int(counts.sum()) / np.log2(np.minimum(k, n_fixed))
    exact = max((entries_of(counts, k_max)[2:] - offsets).max(), 0.0)
    found = {min(largest(counts, k_max, block, chance), 1.0) for block in (1, 2, 3, 8, 30)}
    assert len(found) == 1
    assert found.pop() == pytest.approx(exact, abs=1e-14)


@pytest.mark.parametrize("k", [2, 3, 5, 7])
def test_each_number_of_parts_has_its_own_offset(k):
    # On a diagonal with an odd number of parts, the best entry uses all of them.
    counts = np.diag(np.full(k, 200))
    offset = (k - 1) ** 2 * MILLER_MADOW / (200 * k)
    for block in (1, k):
        assert largest(counts, k, block, MILLER_MADOW) == pytest.approx(1 - offset / np.log2(k), abs=1e-14)


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
