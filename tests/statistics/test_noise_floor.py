"""No score can have a sensitivity below 2/n: docs/theory/noise_floor.md. Exhaustive over small tables, in fractions."""

from collections import deque
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

from skdpmic import mtv_r
from skdpmic.statistics.registry import STATISTICS, statistic_named
from skdpmic.table.records import Shape

# A table is a tuple of rows of counts, one row per class. Neighbours differ by one record, which is in another cell.


@cache
def tables(n, shape):
    """All tables of n records."""
    n_cells = shape[0] * shape[1]

    def counts(left, cells):
        if cells == 1:
            return [(left,)]
        return [(first, *rest) for first in range(left + 1) for rest in counts(left - first, cells - 1)]

    return [as_rows(each, shape) for each in counts(n, n_cells)]


def as_rows(counts, shape):
    return tuple(counts[i * shape[1] : (i + 1) * shape[1]] for i in range(shape[0]))


def neighbours(table):
    shape, counts = (len(table), len(table[0])), [count for row in table for count in row]
    for source, target in product(range(len(counts)), repeat=2):
        if counts[source] and source != target:
            moved = counts.copy()
            moved[source] -= 1
            moved[target] += 1
            yield as_rows(tuple(moved), shape)


def distances(sources):
    """The smallest number of replacements that lead from any of `sources` to each table."""
    found, waiting = dict.fromkeys(sources, 0), deque(sources)
    while waiting:
        table = waiting.popleft()
        for other in neighbours(table):
            if other not in found:
                found[other] = found[table] + 1
                waiting.append(other)
    return found


def largest_change(score, n, shape):
    scores = {table: score(table) for table in tables(n, shape)}
    return max(abs(scores[table] - scores[other]) for table in scores for other in neighbours(table))


def margins(table):
    return [sum(row) for row in table], [sum(column) for column in zip(*table, strict=True)]


def distance_from_independence(table):
    """Half the L1 distance from the product of the margins: PrivBayes' R."""
    n, (rows, columns) = sum(map(sum, table)), margins(table)
    cells = product(range(len(rows)), range(len(columns)))
    return sum(abs(Fraction(table[i][j], n) - Fraction(rows[i] * columns[j], n * n)) for i, j in cells) / 2


# --- The floor --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [4, 8, 12])
def test_balanced_full_dependence_is_n_over_2_replacements_away_from_independence(n):
    quarters = ((n // 4, n // 4), (n // 4, n // 4))
    assert distances([quarters])[(n // 2, 0), (0, n // 2)] == n // 2


@pytest.mark.parametrize("n", range(2, 10))
def test_full_dependence_is_as_far_from_a_constant_column_as_the_smaller_half_has_records(n):
    constant = [table for table in tables(n, (2, 2)) if 0 in margins(table)[0] + margins(table)[1]]
    distance = distances(constant)
    for half in (n // 2, n - n // 2):
        assert distance[(half, 0), (0, n - half)] == distance[(0, half), (n - half, 0)] == n // 2

    def score(table):
        return min(Fraction(distance[table], n // 2), 1)

    assert largest_change(score, n, (2, 2)) == Fraction(1, n // 2)  # so no larger bound holds for all scores


@pytest.mark.slow
def test_the_distance_of_a_class_from_independence_is_its_size_times_the_total_variation():
    n, n_cases = 6, 0
    for table in tables(n, (2, 3)):
        (rare, other), _ = sorted_margins = margins(table)
        if not 0 < rare <= other or any(rare * count % other for count in table[1]):
            continue
        distributions = [
            [Fraction(count, total) for count in row] for row, total in zip(table, sorted_margins[0], strict=True)
        ]
        tau = sum(abs(x - y) for x, y in zip(*distributions, strict=True)) / 2
        independent = [
            each
            for each in tables(n, (2, 3))
            if margins(each)[0] == [rare, other] and distance_from_independence(each) == 0
        ]
        assert distances(independent)[table] == rare * tau
        n_cases += 1
    assert n_cases > 100


# --- Scores that attain it --------------------------------------------------------------------------------------------


def known_share(table, t):
    """M_t for the classes A and not A."""
    n = sum(map(sum, table))
    of_parts = (abs((1 - t) * inside - t * outside) for inside, outside in zip(*table, strict=True))
    return sum(of_parts) / (n * max(t, 1 - t))


@pytest.mark.few
@pytest.mark.parametrize("t, attained_from", [((1, 2), 2), ((1, 3), 3), ((1, 4), 4), ((2, 5), 3), ((1, 10), 10)])
@pytest.mark.parametrize("n_parts", [2, 3])
def test_with_a_known_share_one_record_moves_the_score_by_at_most_two_over_n(t, attained_from, n_parts):
    t = Fraction(*t)
    for n in range(2, 8 if n_parts == 3 else 12):
        change = largest_change(lambda table: known_share(table, t), n, (2, n_parts))
        assert change <= Fraction(2, n)
        assert (change == Fraction(2, n)) == (n >= attained_from)


def test_at_the_share_of_the_class_the_score_attains_the_floor_and_mtv_r_the_stated_fraction():
    for table in tables(8, (2, 3)):
        rare, other = margins(table)[0]
        if 0 < rare <= other:
            p = Fraction(rare, 8)
            distributions = [[Fraction(c, total) for c in row] for row, total in zip(table, (rare, other), strict=True)]
            tau = sum(abs(x - y) for x, y in zip(*distributions, strict=True)) / 2
            assert known_share(table, p) / Fraction(2, 8) == 8 * p * tau
            of_mtv_r = 2 * distance_from_independence(table) / Fraction(4 * 7, 64)
            assert of_mtv_r == (1 - p) * Fraction(8, 7) * 8 * p * tau


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("n", [4, 10, 100, 1001, 10**6])
def test_no_statistic_of_the_package_has_a_sensitivity_below_the_floor(name, n):
    measure = statistic_named(name, "miller-madow").measure("auto", "auto", n, 1.0, None)
    assert Fraction(measure.sensitivity(Shape(n, [(0.0, 1.0)], 1))) >= Fraction(2, n)


# --- PrivBayes, and binary expansion testing --------------------------------------------------------------------------


@pytest.mark.few
@pytest.mark.parametrize("shape, least", [((2, 2), 2), ((2, 3), 2), ((3, 3), 3)])
def test_the_distance_from_independence_moves_by_less_than_stated(shape, least):
    for n in range(2, 6 if shape == (3, 3) else 8):
        change = largest_change(distance_from_independence, n, shape)
        assert change <= Fraction(least * (n - 1), n * n) < Fraction(3, n) + Fraction(2, n * n)
        if least == 2:
            assert change == Fraction(2 * (n - 1), n * n)


def from_balanced_dependence(table):
    """PrivBayes' F for a binary attribute: the best assignment of parts to values, no share counting above a half."""
    n, half = sum(map(sum, table)), Fraction(1, 2)
    n_parts = len(table[0])
    overlaps = []
    for chosen in product((0, 1), repeat=n_parts):
        if len(set(chosen)) == 2:  # each value must occur
            kept = [Fraction(sum(table[a][j] for j in range(n_parts) if chosen[j] == a), n) for a in (0, 1)]
            overlaps.append(sum(min(share, half) for share in kept))
    return max(overlaps) - 1


@pytest.mark.parametrize("n_parts", [2, 3])
def test_the_distance_from_balanced_dependence_attains_the_floor(n_parts):
    for n in (4, 5, 6):
        assert largest_change(from_balanced_dependence, n, (2, n_parts)) == Fraction(1, n)
        for table in tables(n, (2, n_parts)):
            scaled, of_half = 1 + 2 * from_balanced_dependence(table), known_share(table, Fraction(1, 2))
            assert scaled <= of_half
            if margins(table)[0][0] * 2 == n:
                assert scaled == of_half
    assert from_balanced_dependence(((1, 1), (1, 1))) == Fraction(-1, 2)
    assert from_balanced_dependence(((2, 0), (0, 2))) == 0


def test_mtv_r_on_two_by_two_tables_is_the_centred_symmetry_statistic():
    signs = {0: -1, 1: 1}
    for table in tables(7, (2, 2)):
        mean_ab = sum(Fraction(signs[i] * signs[j] * table[i][j], 7) for i, j in product((0, 1), repeat=2))
        mean_a, mean_b = ((each[1] - each[0]) * Fraction(1, 7) for each in margins(table))
        assert 2 * distance_from_independence(table) == abs(mean_ab - mean_a * mean_b)
    x, y = np.repeat([0.25, 0.75], 50), np.repeat([0.25, 0.75, 0.25, 0.75], [40, 10, 10, 40])
    assert mtv_r(x, y, bounds=((0, 1), (0, 1))) == pytest.approx(0.6)  # the mean of AB is .6, those of A and B are 0
