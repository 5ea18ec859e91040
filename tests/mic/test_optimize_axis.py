"""OptimizeAxis finds the best merge for every number of parts at once."""

import numpy as np
import pytest

from skdpmic.mic.optimize_axis import g_table, optimize_axis
from tests.naive import naive_largest_entry


@pytest.mark.parametrize("seed", range(8))
def test_every_entry_equals_brute_force(seed):
    rng = np.random.default_rng(seed)
    n_master, n_fixed = rng.integers(2, 8), rng.integers(2, 6)
    counts = rng.poisson(rng.choice([0.3, 2.0, 30.0]), size=(n_master, n_fixed))
    counts[rng.random(n_master) < 0.3] = 0  # empty parts
    counts[0, 0] += 1
    g, scale = g_table(counts.sum())
    n_mi = optimize_axis(counts, 7, g) / scale
    for k in range(2, 8):
        # Normalising by the largest k in play turns the brute-force maximum into that over sizes up to k.
        largest = max(n_mi[j - 2] / np.log2(min(j, n_fixed)) for j in range(2, k + 1)) / counts.sum()
        assert largest == pytest.approx(naive_largest_entry(counts.tolist(), k), abs=1e-12)


def test_more_parts_never_tell_less():
    counts = np.random.default_rng(0).poisson(3.0, size=(20, 6))
    n_mi = optimize_axis(counts, 10, g_table(counts.sum())[0])
    assert (np.diff(n_mi) >= 0).all()


@pytest.mark.parametrize("n", [1, 2, 1000])
def test_table_holds_a_log_a_and_its_sums_fit_64_bits(n):
    table, scale = g_table(n)
    a = np.arange(1, n + 1)
    np.testing.assert_allclose(table[1:] / scale, a * np.log2(a), rtol=1e-14, atol=1 / scale)
    assert table[0] == 0
    assert 4 * int(table[-1]) < 2**62
