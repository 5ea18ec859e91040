"""Graphs against their definitions, for all small graphs."""

from itertools import combinations, product

import networkx as nx
import numpy as np
import pytest

from benchmarks.causal.graph_measures import cpdag_of
from skdpmic.causal.pc import markov_blanket
from tests.causal.oracle import random_dag


def marks_of(n_columns, *edges):
    """Marks from arrows (i, j) and lines (i, j), (j, i)."""
    marks = np.zeros((n_columns, n_columns), dtype=bool)
    for edge in edges:
        marks[edge] = True
    return marks


def all_dags(n_columns):
    pairs = list(combinations(range(n_columns), 2))
    for kinds in product(range(3), repeat=len(pairs)):
        edges = [pair[::step] for pair, step in zip(pairs, kinds, strict=True) if step for step in (2 * step - 3,)]
        if nx.is_directed_acyclic_graph(nx.DiGraph(edges)):
            yield marks_of(n_columns, *edges)


def class_of(dag):
    """The equivalence class: the same skeleton and the same colliders of non-adjacent columns."""
    adjacent = dag | dag.T
    colliders = {
        (i, k, j)
        for k in range(len(dag))
        for i, j in combinations(range(len(dag)), 2)
        if dag[i, k] and dag[j, k] and not adjacent[i, j]
    }
    return adjacent.tobytes(), frozenset(colliders)


@pytest.mark.parametrize(
    "n_columns, n_dags", [(2, 3), (3, 25), (4, 543), pytest.param(5, 29281, marks=pytest.mark.slow)]
)
def test_the_cpdag_has_exactly_the_arrows_common_to_the_equivalence_class(n_columns, n_dags):
    dags = list(all_dags(n_columns))
    assert len(dags) == n_dags
    union, some = {}, {}
    for dag in dags:
        of_class = class_of(dag)
        union[of_class] = union.get(of_class, False) | dag
        some.setdefault(of_class if n_columns == 5 else dag.tobytes(), dag)  # for 5 columns, one of each class
    for dag in some.values():
        np.testing.assert_array_equal(cpdag_of(dag), union[class_of(dag)])


# --- Colliders and their consequences ---------------------------------------------------------------------------------


# --- Markov blankets --------------------------------------------------------------------------------------------------


def test_the_markov_blanket_of_a_cpdag_equals_that_of_the_graph():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        dag = random_dag(rng, 8, rng.uniform(0.1, 0.5))
        for target in range(8):
            children = dag[target]
            blanket = dag[:, target] | children | dag[:, children].any(axis=1)
            blanket[target] = False
            assert markov_blanket(cpdag_of(dag), target).tolist() == np.flatnonzero(blanket).tolist()
