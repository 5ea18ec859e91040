"""The squared sensitivity of all tables of an additive model, by exhaustive search over all pairs of records."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from skdpmic.models.model_releases import (
    CHANGE_OF_CLASSES,
    CHANGE_OF_NUMBERS,
    TwoWayNoise,
    squared_sensitivity,
)
from skdpmic.models.parts import GRID, in_steps
from skdpmic.privacy.composition import rho_for
from skdpmic.table.values import ClassTarget, NumericTarget


def all_tables(record, target, sizes):
    """Tables of counts and sums of one record, by definition."""
    indicators = [np.eye(size, dtype=int)[code] for size, code in zip(sizes, record, strict=True)]
    counts = [*indicators, *(np.outer(one, other).ravel() for one, other in combinations(indicators, 2))]
    sums = [np.outer(indicator, target).ravel() for indicator in indicators]
    return np.concatenate(counts), np.concatenate(sums)


LARGE = [pytest.param(sizes, marks=pytest.mark.slow) for sizes in ((2, 3, 2), (2, 2, 2, 2))]
TARGETS = {
    "numbers": ([(Fraction(-1, 2),), (Fraction(-1, 5),), (Fraction(0),), (Fraction(1, 2),)], CHANGE_OF_NUMBERS),
    "two classes": ([(Fraction(-1, 2),), (Fraction(1, 2),)], CHANGE_OF_NUMBERS),
    "three classes": ([(1, 0, 0), (0, 1, 0), (0, 0, 1)], CHANGE_OF_CLASSES),
}


@pytest.mark.parametrize("sizes", [(2,), (3,), (2, 2), (2, 3), (2, 2, 2), *LARGE])
@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("weight", [Fraction(7), pytest.param(Fraction(1, 3), marks=pytest.mark.slow)])
def test_no_replacement_changes_all_tables_by_more_than_the_bound_and_one_attains_it(sizes, kind, weight):
    targets, change = TARGETS[kind]
    records = [all_tables(record, t, sizes) for record in product(*map(range, sizes)) for t in targets]
    most = max(sum((a - b) ** 2) + weight * sum((s - t) ** 2) for a, s in records for b, t in records)
    assert squared_sensitivity(len(sizes), weight, change) == most


def test_equal_rows_attain_the_sensitivity_of_a_person_with_several_rows():
    sizes, rows = (2, 2, 2), 3
    targets, change = TARGETS["numbers"]
    records = [all_tables(record, t, sizes) for record in product(*map(range, sizes)) for t in targets]
    most = max(sum((rows * (a - b)) ** 2) + 8 * sum((rows * (s - t)) ** 2) for a, s in records for b, t in records)
    assert squared_sensitivity(3, 8, change, rows) == most


@pytest.mark.parametrize("n_columns", [1, 2, 8, pytest.param(129, marks=pytest.mark.slow)])
@pytest.mark.parametrize("change", [CHANGE_OF_NUMBERS, CHANGE_OF_CLASSES])
@pytest.mark.parametrize("rows", [1, 4])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 50.0])
def test_the_noise_costs_at_most_its_budget_in_exact_fractions(n_columns, change, rows, epsilon):
    rho = Fraction(rho_for(epsilon, 1e-6))
    noise = TwoWayNoise.for_budget(rho, n_columns, change, rows)
    d = n_columns
    costs = [
        Fraction(rows**2) * (d * (d - 1) - m * (m - 1) + 2 * (d - m)) / (2 * noise.count_variance)
        + Fraction(rows**2) * (m * change.in_same_part + (d - m) * change.between_parts) / (2 * noise.sum_variance)
        for m in range(d + 1)
    ]
    assert max(costs) <= rho
    assert max(costs) >= rho * (1 - Fraction(1, noise.count_variance))  # the variance is rounded up to an integer


def test_each_target_becomes_steps_within_its_range_independently_of_others():
    values = np.array([-5.0, 0.0, 1.0, 3.0, 4.0, 9.0])
    steps, n_steps = in_steps(NumericTarget(values, (0.0, 4.0)))
    assert steps[:, 0].tolist() == [-GRID // 2, -GRID // 2, -GRID // 4, GRID // 4, GRID // 2, GRID // 2]
    assert n_steps == GRID
    alone = [in_steps(NumericTarget(values[i : i + 1], (0.0, 4.0)))[0][0, 0] for i in range(len(values))]
    assert steps[:, 0].tolist() == alone
    assert in_steps(ClassTarget(np.array([0, 1]), 2))[0].ravel().tolist() == [-1, 1]
    assert in_steps(ClassTarget(np.array([0, 2]), 3))[0].tolist() == [[1, 0, 0], [0, 0, 1]]
