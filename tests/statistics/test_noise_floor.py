"""No score can have a sensitivity below 2/n: docs/theory/noise_floor.md. Exhaustive over small tables.

A table has a row for each class. Neighbours differ by one record, which is in another cell.
"""

from fractions import Fraction

import numpy as np
import pytest

from skdpmic.statistics.registry import STATISTICS, statistic_named
from skdpmic.table.records import Shape
from tests.folding import each
from tests.privacy.searches import all_tables, largest_change

EXACT = {"abs": 1e-12}


def distances(sources, moves):
    """The smallest number of replacements that lead from any of `sources`, a mask, to each table."""
    found, (here, there) = np.where(sources, 0, 10**6), np.concatenate([moves, moves[::-1]], axis=1)
    while (found[here] > found[there] + 1).any():
        np.minimum.at(found, here, found[there] + 1)
    return found


def where(tables, table):
    return int(np.flatnonzero((tables == table).all(axis=(1, 2)))[0])


def distance_from_independence(tables):
    """Half the L1 distance from the product of the margins: PrivBayes' R."""
    n = tables[0].sum()
    expected = tables.sum(axis=2, keepdims=True) * tables.sum(axis=1, keepdims=True)
    return np.abs(n * tables - expected).sum(axis=(1, 2)) / (2 * n**2)


def total_variation(tables):
    """Between the distributions of the parts in two classes that both occur."""
    first, second = (tables[:, i] / tables[:, i].sum(axis=1, keepdims=True) for i in (0, 1))
    return np.abs(first - second).sum(axis=1) / 2


# --- The floor --------------------------------------------------------------------------------------------------------


@each("n", range(2, 13))
def test_full_dependence_is_as_far_from_independence_as_the_smaller_half_has_records(n):
    tables, moves = all_tables((2, 2), n)
    if n % 4 == 0:
        balanced = (tables == n // 4).all(axis=(1, 2))
        assert distances(balanced, moves)[where(tables, [[n // 2, 0], [0, n // 2]])] == n // 2
    is_constant = (tables.sum(axis=1) == 0).any(axis=1) | (tables.sum(axis=2) == 0).any(axis=1)
    distance = distances(is_constant, moves)
    for half in (n // 2, n - n // 2):
        for dependent in ([[half, 0], [0, n - half]], [[0, half], [n - half, 0]]):
            assert distance[where(tables, dependent)] == n // 2
    # so no larger bound holds for all scores
    assert largest_change(np.minimum(distance / (n // 2), 1), moves) == pytest.approx(1 / (n // 2), **EXACT)


def test_the_distance_of_a_class_from_independence_is_its_size_times_the_total_variation():
    n, n_cases = 6, 0
    tables, moves = all_tables((2, 3), n)
    of_class, independence = tables.sum(axis=2), distance_from_independence(tables)
    for rare in range(1, n // 2 + 1):
        distance = distances((of_class[:, 0] == rare) & (independence == 0), moves)
        cases = (of_class[:, 0] == rare) & ((rare * tables[:, 1]) % (n - rare) == 0).all(axis=1)
        np.testing.assert_allclose(distance[cases], rare * total_variation(tables[cases]), rtol=0, atol=1e-12)
        n_cases += cases.sum()
    assert n_cases > 100


# --- Scores that attain it --------------------------------------------------------------------------------------------


def known_share(tables, t):
    """M_t for the classes A and not A."""
    of_parts = np.abs((1 - t) * tables[:, 0] - t * tables[:, 1])
    return of_parts.sum(axis=1) / (tables[0].sum() * max(t, 1 - t))


@each("t, attained_from", [(1 / 2, 2), (1 / 3, 3), (1 / 4, 4), (2 / 5, 3), (1 / 10, 10)])
@each("n_parts", [2, 3])
def test_with_a_known_share_one_record_moves_the_score_by_at_most_two_over_n(t, attained_from, n_parts):
    for n in range(2, 8 if n_parts == 3 else 12):
        tables, moves = all_tables((2, n_parts), n)
        change = largest_change(known_share(tables, t), moves)
        assert change <= 2 / n + 1e-12
        assert (change == pytest.approx(2 / n, **EXACT)) == (n >= attained_from)


@pytest.mark.parametrize("name", STATISTICS)
@each("n", [4, 10, 100, 1001, 10**6])
def test_no_statistic_of_the_package_has_a_sensitivity_below_the_floor(name, n):
    measure = statistic_named(name, "miller-madow").measure("auto", "auto", n, 1.0, None)
    assert Fraction(measure.sensitivity(Shape(n, [(0.0, 1.0)], 1))) >= Fraction(2, n)


# --- PrivBayes, and binary expansion testing --------------------------------------------------------------------------


@each("shape, least", [((2, 2), 2), ((2, 3), 2), ((3, 3), 3)])
def test_the_distance_from_independence_moves_by_less_than_stated(shape, least):
    for n in range(2, 6 if shape == (3, 3) else 8):
        tables, moves = all_tables(shape, n)
        change = largest_change(distance_from_independence(tables), moves)
        assert change <= least * (n - 1) / n**2 + 1e-12 < 3 / n + 2 / n**2
        assert least == 3 or change == pytest.approx(2 * (n - 1) / n**2, **EXACT)
