"""The PC algorithm finds what independences imply, whatever the order of the columns."""

import math

import numpy as np
import pytest

from benchmarks.causal.graph_measures import cpdag_of
from skdpmic.causal.pc import Outcome, find_graph, skeleton_of
from tests.causal.oracle import d_separation, random_dag

ALPHA = 0.5  # the oracle returns 0 or 1


def found_by(p_value, n_columns, alpha, max_order):
    """The graph found by tests that hide nothing."""

    def test(i, j, given):
        p = p_value(i, j, given)
        return Outcome(p, p)

    return find_graph(n_columns, test, alpha, max_order)


@pytest.mark.parametrize("first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in range(20, 80, 20))])
def test_pc_with_an_oracle_finds_the_cpdag_of_random_graphs(first):
    for seed in range(first, first + 20):
        rng = np.random.default_rng(seed)
        n_columns = int(rng.integers(2, 9))
        dag = random_dag(rng, n_columns, rng.uniform(0.1, 0.6))
        found = found_by(d_separation(dag), n_columns, ALPHA, n_columns)
        np.testing.assert_array_equal(found.skeleton, skeleton_of(dag))
        np.testing.assert_array_equal(found.cpdag, cpdag_of(dag))


# --- Tests that make errors -------------------------------------------------------------------------------------------


def erring(rng, n_columns, digits):
    """Random p-values; with few digits many are equal."""
    known = {}

    def p_value(i, j, given):
        assert i < j
        assert list(given) == sorted({*given} - {i, j})
        key = (i, j, given)
        if key not in known:
            known[key] = round(float(rng.random() ** 2), digits)
        return known[key]

    return p_value


def in_order(p_value, order):
    """The same p-values with columns in another order."""

    def permuted(i, j, given):
        i, j = sorted((order[i], order[j]))
        return p_value(i, j, tuple(sorted(order[k] for k in given)))

    return permuted


@pytest.mark.parametrize("digits", [1, 2, 16])
def test_the_result_does_not_depend_on_the_order_of_the_columns_whatever_the_p_values(digits):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        p_value, order = erring(rng, 7, digits), rng.permutation(7).tolist()
        alpha = rng.uniform(0.6, 0.95)
        here, there = (found_by(of, 7, alpha, 3) for of in (p_value, in_order(p_value, order)))
        for name in ("skeleton", "cpdag", "p_values"):
            np.testing.assert_array_equal(getattr(here, name)[np.ix_(order, order)], getattr(there, name))


def test_edges_are_removed_at_the_end_of_a_round():
    asked = []

    def p_value(i, j, given):
        asked.append((i, j, given))
        return 1.0 if (i, j, given) in {(0, 1, (2,)), (0, 2, (1,))} else 0.0

    skeleton = found_by(p_value, 3, 0.05, 1).skeleton
    # The test of 0 and 2 given 1 is made, although 0 - 1 is removed in the same round.
    assert np.argwhere(np.triu(skeleton)).tolist() == [[1, 2]]
    assert len(asked) == len(set(asked)) == 6


def middle(nothing, one):
    """The graph 0 - 1 - 2 found by these tests of 0 and 2, given nothing and given 1; both ends depend on 1."""
    given = {(): Outcome(*nothing), (1,): Outcome(*one)}
    return find_graph(3, lambda i, j, by: given[by] if (i, j) == (0, 2) else Outcome(0.0, 0.0), 0.01, 3)


LINES, COLLIDER = [[0, 1, 0], [1, 0, 1], [0, 1, 0]], [[0, 1, 0], [0, 0, 0], [0, 1, 0]]
MISSING = math.nan, math.nan


def test_a_test_that_cannot_be_made_removes_no_edge_and_makes_no_collider():
    not_made = middle((1e-9, 1e-9), MISSING)
    assert not_made.skeleton[0, 2]
    assert not_made.n_untested == 1
    assert np.argwhere(np.isnan(not_made.p_values)).tolist() == [[0, 2], [2, 0]]
    assert not middle((1e-9, 1e-9), (0.5, 0.5)).skeleton[0, 2]
    assert (middle((0.5, 0.5), MISSING).cpdag == LINES).all()


@pytest.mark.parametrize(
    "nothing, one, found",
    [
        ((0.5, 0.5), (1e-9, 1e-9), COLLIDER),
        ((0.05, 0.05), (1e-9, 1e-9), LINES),  # removed, but perhaps dependent
        ((0.05, 0.05), (1e-99, 1e-99), COLLIDER),  # a dependence as large as the other would be seen
        ((0.5, 0.5), (0.005, 0.005), LINES),  # below alpha in one test, not in those of three pairs
        ((0.5, 0.5), (0.5, 1e-9), LINES),  # a dependence that hidden labels may explain
        ((1.0, 0.5), (math.nan, 1e-9), LINES),  # no p-value
        ((0.5, 0.5), (0.2, 0.2), LINES),
    ],
)
def test_an_arrow_takes_clear_independence_and_dependence_given_the_collider(nothing, one, found):
    assert (middle(nothing, one).cpdag == found).all()


def test_arrows_lead_on_only_through_columns_that_are_known_to_be_no_colliders():
    """0 -> 2 <- 1 and 2 - 3: an arrow to 3 takes evidence that 3 depends on 0 or 1, unless 2 is given."""

    def found(given_nothing):
        p_values = dict.fromkeys([(0, 1, ()), (0, 3, (2,)), (1, 3, (2,))], 0.5)
        p_values |= dict.fromkeys([(0, 3, ()), (1, 3, ())], given_nothing)
        return found_by(lambda i, j, given: p_values.get((i, j, given), 1e-9), 4, 0.01, 1).cpdag

    assert np.argwhere(found(1e-9)).tolist() == [[0, 2], [1, 2], [2, 3]]
    assert np.argwhere(found(0.009)).tolist() == [[0, 2], [1, 2], [2, 3], [3, 2]]
