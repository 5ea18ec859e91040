"""Tests of independence that know the graph: d-separation."""

from functools import cache

import networkx as nx
import numpy as np


def d_separation(dag):
    """A `p_value` that is 1 where the graph makes two columns independent, 0 elsewhere."""
    graph = nx.DiGraph(list(zip(*(side.tolist() for side in np.nonzero(dag)), strict=True)))
    graph.add_nodes_from(range(len(dag)))

    @cache
    def p_value(i, j, given):
        return float(nx.is_d_separator(graph, {i}, {j}, set(given)))

    return p_value


def random_dag(rng, n_columns, share):
    """A graph in which each two columns have an arrow with chance `share`, in a random order of the columns."""
    order = rng.permutation(n_columns)
    dag = np.zeros((n_columns, n_columns), dtype=bool)
    dag[np.ix_(order, order)] = np.triu(rng.random((n_columns, n_columns)) < share, k=1)
    return dag
