"""The joint sensitivity of tables of counts, over all small tables, and the stages and noise that cover it."""

import math
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest

from skdpmic.causal import table_release as table_plan
from skdpmic.causal.table_release import ASKED, BLANKS, COUNTS, TABLES, TablePlan
from skdpmic.privacy.composition import rho_for
from skdpmic.release.path import counts_of_sets, tables_squared_sensitivity
from tests.folding import each


def counts_of(records, sizes, k):
    """All counts in the tables of every set of k columns."""
    columns = [np.array(column) for column in zip(*records, strict=True)]
    return np.concatenate([t.ravel() for t in counts_of_sets(columns, sizes, list(combinations(range(len(sizes)), k)))])


def largest_squared_change(n, sizes, k, m=1):
    """The largest squared change, over all tables of n records, when m records are replaced by any others."""
    possible = list(product(*map(range, sizes)))
    largest = 0
    for others in combinations_with_replacement(possible, n - m):
        counts = np.array([counts_of([*others, *own], sizes, k) for own in combinations_with_replacement(possible, m)])
        squares = (counts**2).sum(axis=1)
        largest = max(largest, int((squares[:, None] + squares - 2 * counts @ counts.T).max()))
    return largest


SMALL = [
    *[(1, (2, 2), 1, 1), (3, (2, 3), 1, 1), (2, (2, 2, 2), 1, 1), (3, (2, 2), 2, 1), (2, (2, 3, 2), 2, 1)],
    *[(3, (2, 1, 2), 2, 1), (2, (2,) * 4, 2, 1), (1, (3, 2, 4), 3, 1), (3, (2, 2, 2), 3, 1), (2, (2,) * 4, 3, 1)],
    *[(2, (2,) * 4, 4, 1), (1, (2,) * 5, 4, 1), (2, (2, 2), 1, 2), (3, (2, 3), 2, 2), (3, (2, 3), 2, 3)],
    *[(3, (2,) * 3, 2, 2), (2, (2,) * 4, 3, 2), (2, (2,) * 4, 4, 2)],
]


@each("n, sizes, k, m", SMALL)
def test_no_small_table_moves_the_counts_beyond_the_sensitivity_and_one_attains_it(n, sizes, k, m):
    assert largest_squared_change(n, sizes, k, m) == tables_squared_sensitivity(math.comb(len(sizes), k), m)


# --- The plan ---------------------------------------------------------------------------------------------------------

BUDGETS = [(1.0, 1e-6), (0.1, 1e-9), (3.0, 1e-3)]
SHAPES = [(2, 3, 1), (3, 2, 1), (7, 3, 1), (16, 3, 1), (20, 1, 1), (20, 3, 1), (5, 3, 4), (30, 2, 5)]


def plan_for(p, max_order=3, m=1, budget=(1.0, 1e-6), has_numbers=False):
    return TablePlan.for_budget(*budget, [4] * p, 1000, m, max_order, frozenset(range(p) if has_numbers else ()))


def stages(plan, n_asked):
    """For each stage, the share of the budget, the number of tables and the variance."""
    n_tables = math.comb(plan.n_columns, plan.columns_per_table)
    sizes = {COUNTS: plan.n_columns, TABLES: n_tables, ASKED: n_asked * plan.asks, BLANKS: 1 * plan.counts_blanks}
    yield from ((plan.shares[stage], n, plan.variance(stage, n)) for stage, n in sizes.items() if n > 0)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("p, max_order, m", SHAPES)
def test_the_variance_of_each_stage_is_the_smallest_integer_within_its_share_of_rho(p, max_order, m, budget):
    rho = Fraction(rho_for(*budget))
    for n_asked in (1, 13, 500):
        costs = []
        for share, n_tables, variance in stages(plan_for(p, max_order, m, budget), n_asked):
            assert type(variance) is int
            costs.append(Fraction(2 * m * m * n_tables, 2 * variance))
            assert costs[-1] <= share * rho < Fraction(2 * m * m * n_tables, 2 * (variance - 1))
        assert sum(costs) <= rho


@pytest.mark.parametrize("p, max_order", [(p, q) for p in (2, 3, 4, 11, 12, 16, 17, 60) for q in range(5)])
@pytest.mark.parametrize("has_numbers", [False, True])
def test_shares_sum_to_one_and_every_needed_stage_has_a_positive_share(p, max_order, has_numbers):
    plan = plan_for(p, max_order, has_numbers=has_numbers)
    assert sum(plan.shares) == 1
    assert all(type(share) is Fraction for share in plan.shares)
    assert min(plan.shares[:2]) > 0
    assert (plan.shares[2] > 0) == plan.asks
    assert (plan.shares[3] > 0) == plan.counts_blanks == (p > 2 and max_order > 0 and not has_numbers)


@pytest.mark.parametrize(
    "p, max_order, has_numbers, expected",
    [
        (2, 0, False, (2, False)), (2, 3, False, (2, False)), (3, 1, False, (2, False)), (40, 1, False, (2, False)),
        (3, 2, False, (3, False)), (3, 3, False, (3, False)), (4, 2, False, (3, False)), (4, 3, False, (4, False)),
        (11, 3, False, (4, False)), (11, 9, False, (4, False)), (11, 3, True, (3, False)), (12, 3, False, (3, False)),
        (16, 2, True, (3, False)), (16, 3, False, (3, False)), (17, 2, False, (2, True)), (17, 3, True, (2, True)),
    ],
)  # fmt: skip
def test_tables_have_one_column_more_than_max_order_if_there_are_not_too_many(p, max_order, has_numbers, expected):
    plan = plan_for(p, max_order, has_numbers=has_numbers)
    assert (plan.columns_per_table, plan.asks) == expected
    assert plan.n_tables == math.comb(p, expected[0])


@pytest.mark.parametrize("n_parts, expected", [([10] * 9, 4), ([15] * 9, 3), ([10] * 8 + [400], 3), ([40] * 9, 2)])
def test_tables_have_fewer_columns_if_many_labels_would_exceed_memory(n_parts, expected):
    plan = TablePlan.for_budget(1.0, 1e-6, n_parts, 1000, 1, 3)
    assert plan.columns_per_table == expected
    assert plan.asks == (expected == 2)

    def cells(k):
        return sum(math.prod(each) for each in combinations(n_parts, k))

    assert expected == 2 or cells(expected) <= table_plan.MOST_CELLS
    assert expected == 4 or cells(expected + 1) > table_plan.MOST_CELLS
