"""OptimizeAxis finds the best merge for every number of parts at once."""

import numpy as np
import pytest

from skdpmic.mic.optimize_axis import best_bisection, entropy_table, optimize_axis, segments_of
from tests.naive import naive_largest_entry


def below_corners(counts):
    return np.pad(counts.T, ((1, 0), (1, 0))).cumsum(axis=0).cumsum(axis=1).astype(np.uint32)


def best_merges(counts, k_max):
    """n I in bits of the best merge of the rows of `counts` into k parts, for k = 2 ... k_max."""
    below = below_corners(counts)
    table = entropy_table(int(counts.sum()))
    segments = segments_of(below, np.arange(len(below)), table)
    return optimize_axis(segments, k_max) / table.scale


@pytest.mark.parametrize("seed", range(12))
def test_every_entry_equals_brute_force(seed):
    rng = np.random.default_rng(seed)  # the largest columns are below and above what is looked up in pairs
    n_master, n_fixed = rng.integers(2, 8), rng.integers(2, 6)
    counts = rng.poisson(rng.choice([0.3, 2.0, 30.0, 90.0]), size=(n_master, n_fixed))
    counts[rng.random(n_master) < 0.3] = 0  # empty parts
    counts[0, 0] += 1
    n_mi = best_merges(counts, 7)
    for k in range(2, 8):
        # Normalising by the largest k in play turns the brute-force maximum into that over sizes up to k.
        largest = max(n_mi[j - 2] / np.log2(min(j, n_fixed)) for j in range(2, k + 1)) / counts.sum()
        assert largest == pytest.approx(naive_largest_entry(counts.tolist(), k), abs=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_bisection_is_the_best_merge_into_two_parts(seed):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.choice([0.3, 2.0, 30.0, 90.0]), size=rng.integers(1, [30, 8]))
    counts[:, rng.random(counts.shape[1]) < 0.3] = 0  # empty columns
    counts[0, 0] += 1
    table, below = entropy_table(int(counts.sum())), below_corners(counts)
    two = best_bisection(below, np.arange(len(below)), table)
    assert two == optimize_axis(segments_of(below, np.arange(len(below)), table), 2)[0]


def test_more_parts_never_tell_less():
    counts = np.random.default_rng(0).poisson(3.0, size=(20, 6))
    assert (np.diff(best_merges(counts, 10)) >= 0).all()


@pytest.mark.parametrize("n", [1, 2, 100, 1000])
def test_table_holds_g_of_single_counts_and_of_pairs(n):
    table = entropy_table(n)
    a = np.arange(1, n + 1)
    np.testing.assert_allclose(table.g[1:] / table.scale, a * np.log2(a), rtol=1e-14, atol=1 / table.scale)
    assert table.g[0] == 0
    for first, second in np.random.default_rng(0).integers(min(n + 1, 1 << table.shift), size=(20, 2)):
        assert table.g_pairs[(first << table.shift) + second] == table.g[first] + table.g[second]
