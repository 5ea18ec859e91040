"""Theorem 1 of docs/theory/closed_family.md: families in which three parts can be merged have sensitivity h(1/n).

Exhaustive over small tables and moves of one record, for families small enough to be written down. That the families of
the package are closed is tested in ``tests/statistics/mic/test_mic_r.py``.
"""

import math
from functools import lru_cache
from itertools import combinations

import numpy as np
import pytest

from skdpmic.statistics.sensitivity import mi_sensitivity, mic_r_sensitivity

LOG3 = math.log2(3)
ERROR = 1e-9
ADJACENT, TWO, ALL = [(0, 1), (1, 2)], [(0, 1), (0, 2)], [(0, 1), (0, 2), (1, 2)]


@lru_cache(maxsize=4)
def all_tables(shape, n):
    """All tables of n records, (n_tables, *shape), and all pairs of them that differ by a move of one record."""
    n_places = math.prod(shape)
    bars = np.array(list(combinations(range(n + n_places - 1), n_places - 1)))
    counts = np.diff(bars, axis=1, prepend=-1, append=n + n_places - 1) - 1
    keys = counts @ (n + 1) ** np.arange(n_places)
    order = np.argsort(keys)
    pairs = []
    for start, end in combinations(range(n_places), 2):
        can_move = np.flatnonzero(counts[:, start])
        moved = keys[can_move] + (n + 1) ** end - (n + 1) ** start
        pairs.append((can_move, order[np.searchsorted(keys, moved, sorter=order)]))
    return counts.reshape(-1, *shape), np.concatenate(pairs, axis=1)


def information(tables):
    """Mutual information in bits, of tables of shape (..., n_rows, n_columns)."""

    def g(counts):
        return (counts * np.log2(np.maximum(counts, 1))).sum(axis=-1)

    n = tables[0].sum()
    margins = g(tables.sum(axis=-1)) + g(tables.sum(axis=-2))
    return (g(tables.reshape(*tables.shape[:-2], -1)) - margins + n * math.log2(n)) / n


def merged(tables, axis, pair):
    """The tables with two parts of an axis merged."""
    kept, gone = pair
    joined = np.delete(tables, gone, axis=axis)
    where = [slice(None)] * tables.ndim
    where[axis] = kept
    joined[tuple(where)] += np.take(tables, gone, axis=axis)
    return joined


def largest_change(shape, n, axis, merges, offset, of_merges):
    """The largest change of max(0, (I - o) / log2 kappa) over a grid of `shape` and its merges of pairs of parts."""
    tables, (here, there) = all_tables(shape, n)
    scores = np.maximum((information(tables) - offset) / math.log2(min(shape)), 0)
    for pair in merges:
        smaller = merged(tables, axis, pair)
        scores = np.maximum(scores, (information(smaller) - of_merges) / math.log2(min(smaller.shape[1:])))
    return np.abs(scores[here] - scores[there]).max()


CLOSED = [
    *[((3, 3), n, 1, merges) for n in (3, 6, 8, 9) for merges in (ADJACENT, TWO, ALL)],
    *[((4, 3), n, 2, ALL) for n in (4, 5, 6)],
    *[pytest.param((3, 3), 10, 1, merges, marks=pytest.mark.slow) for merges in (ADJACENT, TWO, ALL)],
    *[pytest.param((4, 3), 6, 2, merges, marks=pytest.mark.slow) for merges in (ADJACENT, TWO)],
]


@pytest.mark.parametrize("shape, n, axis, merges", CLOSED)
@pytest.mark.parametrize("chance", [0.0, 0.5, 1.0, 3.0])
@pytest.mark.combinations
def test_a_closed_family_changes_by_at_most_h_of_1_over_n(shape, n, axis, merges, chance):
    # In units of the Miller-Madow correction. Three parts have twice the offset of two; log2(3) times is enough.
    of_two = chance * (shape[2 - axis] - 1) / (2 * n * math.log(2))
    for factor in (2, LOG3):
        largest = largest_change(shape, n, axis, merges, factor * of_two, of_two)
        assert largest <= mic_r_sensitivity(n) + ERROR
        if chance == 0:
            assert largest == pytest.approx(mic_r_sensitivity(n), abs=ERROR)


NOT_CLOSED = {
    "no merges": ([], 0.0),
    "a part that cannot be merged": ([(0, 1)], 0.0),
    "an offset of two parts that is too large": (ALL, 1.0),
}


@pytest.mark.parametrize("name", NOT_CLOSED)
def test_families_that_are_not_closed_exceed_the_sensitivity(name):
    merges, of_two = NOT_CLOSED[name]
    for n in (9, 11) if name == "no merges" else (9,):
        largest = largest_change((3, 3), n, 1, merges, 0.0, of_two)
        assert largest > mic_r_sensitivity(n) + 1e-3
        assert largest == pytest.approx(mi_sensitivity(n) / LOG3, abs=ERROR)
