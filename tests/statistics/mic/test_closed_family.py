"""Theorem 1 of docs/theory/closed_family.md: families in which three parts can be merged have sensitivity h(1/n).

Exhaustive over small tables and moves of one record, for families small enough to be written down. That the families of
the package are closed is tested in ``tests/statistics/mic/test_mic_r.py`` and ``test_nominal_missing.py``.
"""

import math

import numpy as np
import pytest

from skdpmic.statistics.sensitivity import mi_sensitivity, mic_r_sensitivity
from tests.privacy.searches import ERROR, LOG3, all_tables, information, joined, largest_change

MERGES = {(0, 1): (0, 0, 1), (1, 2): (0, 1, 1), (0, 2): (0, 1, 0)}  # the groups of three parts
ADJACENT, TWO, ALL = [(0, 1), (1, 2)], [(0, 1), (0, 2)], [(0, 1), (0, 2), (1, 2)]


def change_of_family(shape, n, grids):
    """The largest change of the score, max(0, I - o) / log2 kappa over grids (row groups, column groups, offset)."""
    tables, moves = all_tables(shape, n)
    scores = np.zeros(len(tables))
    for rows, columns, offset in grids:
        kappa = min(max(rows), max(columns)) + 1
        scores = np.maximum(scores, (information(joined(tables, rows, columns)) - offset) / math.log2(kappa))
    return largest_change(scores, moves)


def of_three_rows(n_columns, merges, offset, of_two):
    """The grid of all rows and columns, and its merges of pairs of rows."""
    columns = tuple(range(n_columns))
    merged = [MERGES[pair] for pair in merges]
    return [((0, 1, 2), columns, offset), *((rows, columns, of_two) for rows in merged)]


CLOSED = [
    *[(3, n, merges) for n in (3, 6, 8, 9) for merges in (ADJACENT, TWO, ALL)],
    *[(4, n, ALL) for n in (4, 5, 6)],
    *[pytest.param(3, 10, merges, marks=pytest.mark.slow) for merges in (ADJACENT, TWO, ALL)],
    *[pytest.param(4, 6, merges, marks=pytest.mark.slow) for merges in (ADJACENT, TWO)],
]


@pytest.mark.parametrize("n_columns, n, merges", CLOSED)
@pytest.mark.parametrize("chance", [0.0, 0.5, 1.0, 3.0])
@pytest.mark.combinations
def test_a_closed_family_changes_by_at_most_h_of_1_over_n(n_columns, n, merges, chance):
    # In units of the Miller-Madow correction. Three parts have twice the offset of two; log2(3) times is enough.
    of_two = chance * (n_columns - 1) / (2 * n * math.log(2))
    for factor in (2, LOG3):
        largest = change_of_family((3, n_columns), n, of_three_rows(n_columns, merges, factor * of_two, of_two))
        assert largest <= mic_r_sensitivity(n) + ERROR
        if chance == 0:
            assert largest == pytest.approx(mic_r_sensitivity(n), abs=ERROR)


NOT_CLOSED = {
    "no merges": of_three_rows(3, [], 0.0, 0.0),
    "a part that cannot be merged": of_three_rows(3, [(0, 1)], 0.0, 0.0),
    "an offset of two parts that is too large": of_three_rows(3, ALL, 0.0, 1.0),
    "one part never against the rest": [*of_three_rows(3, [(0, 1)], 0.0, 0.0), ((0, 1, 1), (0, 0, 1), 0.0)],
}


@pytest.mark.parametrize("name", NOT_CLOSED)
def test_families_that_are_not_closed_exceed_the_sensitivity(name):
    for n in (9, 11) if name == "no merges" else (9,):
        largest = change_of_family((3, 3), n, NOT_CLOSED[name])
        assert largest > mic_r_sensitivity(n) + 1e-3
        if len(NOT_CLOSED[name]) != 3:
            assert largest == pytest.approx(mi_sensitivity(n) / LOG3, abs=ERROR)
