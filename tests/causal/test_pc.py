"""The PC algorithm finds what independences imply, whatever the order of the columns."""

import math

import numpy as np
import pytest

from benchmarks.causal.graph_measures import cpdag_of
from skdpmic.causal.pc import find_graph, in_cycles, skeleton_of
from tests.causal.networks import NETWORKS
from tests.causal.oracle import d_separation, random_dag
from tests.folding import each

ALPHA = 0.5  # the oracle returns 0 or 1


def assert_found(dag, max_order):
    found = find_graph(len(dag), d_separation(dag), ALPHA, max_order)
    np.testing.assert_array_equal(found.skeleton, skeleton_of(dag))
    np.testing.assert_array_equal(found.cpdag, cpdag_of(dag))


@each("name", ["asia", "sachs"])
def test_pc_with_an_oracle_finds_the_cpdag_of_each_network(name):
    _, dag = NETWORKS[name]
    assert_found(dag, max_order=len(dag))


@pytest.mark.parametrize("first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in range(20, 80, 20))])
def test_pc_with_an_oracle_finds_the_cpdag_of_random_graphs(first):
    for seed in range(first, first + 20):
        rng = np.random.default_rng(seed)
        n_columns = int(rng.integers(2, 9))
        assert_found(random_dag(rng, n_columns, rng.uniform(0.1, 0.6)), n_columns)


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
    has_arrows = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        p_value, order = erring(rng, 7, digits), rng.permutation(7).tolist()
        alpha = rng.uniform(0.6, 0.95)
        here, there = (find_graph(7, of, alpha, 3) for of in (p_value, in_order(p_value, order)))
        for name in ("skeleton", "cpdag", "largest_p_values"):
            np.testing.assert_array_equal(getattr(here, name)[np.ix_(order, order)], getattr(there, name))
        has_arrows += (here.cpdag != here.cpdag.T).any()
    assert has_arrows > 20


def test_edges_without_a_p_value_above_alpha_remain_and_arrows_form_no_cycle():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        found = find_graph(7, erring(rng, 7, 16), 0.6, 3)
        np.testing.assert_array_equal(found.skeleton, (found.largest_p_values <= 0.6) & ~np.eye(7, dtype=bool))
        np.testing.assert_array_equal(skeleton_of(found.cpdag), found.skeleton)
        assert not in_cycles(found.cpdag).any()


def test_edges_are_removed_at_the_end_of_a_round():
    asked = []

    def p_value(i, j, given):
        asked.append((i, j, given))
        return 1.0 if (i, j, given) in {(0, 1, (2,)), (0, 2, (1,))} else 0.0

    skeleton = find_graph(3, p_value, 0.05, 1).skeleton
    # The test of 0 and 2 given 1 is made, although 0 - 1 is removed in the same round.
    assert np.argwhere(np.triu(skeleton)).tolist() == [[1, 2]]
    assert len(asked) == len(set(asked)) == 6


def test_no_test_conditions_on_more_than_max_order_columns():
    for max_order in range(4):
        sizes = []

        def p_value(i, j, given, sizes=sizes):
            sizes.append(len(given))
            return 0.0 if (i, j) != (0, 4) else 1.0

        find_graph(5, p_value, 0.05, max_order)
        assert max(sizes) == max_order


def test_of_contradictory_colliders_the_more_certain_wins():
    """A chain 0 - 1 - 2 - 3: 0 -> 1 <- 2 and 1 -> 2 <- 3 cannot both hold."""
    p_values = {(0, 2, ()): 0.9, (0, 2, (1,)): 0.3, (1, 3, ()): 0.8, (1, 3, (2,)): 0.4, (0, 3, ()): 0.5}

    def p_value(i, j, given):
        return p_values.get((i, j, given), 0.0)

    cpdag = find_graph(4, p_value, 0.05, 2).cpdag
    assert np.argwhere(cpdag).tolist() == [[0, 1], [2, 1], [2, 3], [3, 2]]
    p_values[0, 2, (1,)], p_values[1, 3, (2,)] = 0.4, 0.3
    p_values[0, 2, ()], p_values[1, 3, ()] = 0.8, 0.9
    cpdag = find_graph(4, p_value, 0.05, 2).cpdag
    assert np.argwhere(cpdag).tolist() == [[0, 1], [1, 0], [1, 2], [3, 2]]
    p_values[0, 2, ()], p_values[0, 2, (1,)] = 0.9, 0.3  # equally certain
    cpdag = find_graph(4, p_value, 0.05, 2).cpdag
    assert np.argwhere(cpdag).tolist() == [[0, 1], [1, 2], [2, 1], [3, 2]]


def test_two_columns_have_a_graph_with_or_without_an_edge():
    for p, n_edges in ((0.0, 1), (1.0, 0)):
        found = find_graph(2, lambda i, j, given, p=p: p, 0.05, 3)
        assert found.skeleton.sum() == found.cpdag.sum() == 2 * n_edges


def test_a_test_that_cannot_be_made_removes_no_edge_and_makes_no_collider():
    """0 - 1 - 2: the test of 0 and 2 given 1 is not made, or finds independence, or the test given nothing does."""

    def found(given_nothing, given_middle):
        p_values = {(): given_nothing, (1,): given_middle}
        return find_graph(3, lambda i, j, given: p_values[given] if (i, j) == (0, 2) else 0.0, 0.01, 3)

    not_made = found(1e-9, math.nan)
    assert not_made.skeleton[0, 2]
    assert math.isnan(not_made.largest_p_values[0, 2])
    assert not np.isnan(np.delete(not_made.largest_p_values, [2, 6])).any()
    assert not found(1e-9, 0.5).skeleton[0, 2]
    assert (found(0.5, 1e-9).cpdag == [[0, 1, 0], [0, 0, 0], [0, 1, 0]]).all()  # a collider
    assert (found(0.5, math.nan).cpdag == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]).all()  # lines


def test_tests_with_a_tolerance_do_not_decide_on_colliders_if_an_exact_test_does():
    """0 - 1 - 2: 0 and 2 are independent by an exact test given nothing, and by one with a tolerance given 1."""

    def found(**exact):
        p_values = {(): 0.3, (1,): 0.9}
        return find_graph(3, lambda i, j, given: p_values[given] if (i, j) == (0, 2) else 0.0, 0.01, 3, **exact).cpdag

    collider, lines = [[0, 1, 0], [0, 0, 0], [0, 1, 0]], [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert (found() == lines).all()
    assert (found(is_exact=lambda i, j, given: not given) == collider).all()
    assert (found(is_exact=lambda i, j, given: False) == lines).all()  # there is no exact test
