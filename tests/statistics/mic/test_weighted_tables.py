"""The largest entry of a table of weights equals its definition, by brute force over all merges."""

from itertools import pairwise

import numpy as np
import pytest

from skdpmic.statistics.mic.noisy_tables import mic_of_class_table, mic_of_table
from tests.naive import naive_largest_entry


def table_of(seed, shape, total=2**10):
    """A random table whose total divides the fixed-point total, so that nothing is rounded."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(total, rng.dirichlet(np.full(shape[0] * shape[1], 0.3))).reshape(shape)


def naive_mic_of_table(counts, B):
    largest = 0.0
    for table in (counts, counts.T):
        n_columns = table.shape[1]
        for n_fixed in range(2, min(n_columns, int(B // 2)) + 1):
            edges = [j * n_columns // n_fixed for j in range(n_fixed + 1)]
            joined = np.array([table[:, a:b].sum(axis=1) for a, b in pairwise(edges)]).T
            largest = max(largest, naive_largest_entry(joined.tolist(), min(n_fixed, int(B // n_fixed))))
    return largest


@pytest.mark.parametrize("shape", [(2, 2), (5, 5), (6, 4), (7, 7)])
@pytest.mark.parametrize("B", [4, 9.5, 14, 40])
@pytest.mark.combinations
def test_mic_of_table_equals_the_definition(shape, B):
    for seed in range(3):
        counts = table_of(seed, shape)
        assert mic_of_table(counts, B) == pytest.approx(naive_mic_of_table(counts, B), abs=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("B", [4, 12, 30])
def test_classes_are_kept_separate_and_three_are_also_scored_each_against_the_rest(n_classes, B):
    for seed in range(3):
        counts = table_of(seed, (7, n_classes))
        tables = [counts]
        if n_classes == 3:
            tables += [np.c_[counts[:, j], counts.sum(axis=1) - counts[:, j]] for j in range(3)]
        expected = max(naive_largest_entry(table.tolist(), max(int(B // n_classes), 2)) for table in tables)
        assert mic_of_class_table(counts, B) == pytest.approx(expected, abs=1e-9)
