"""An oracle for independence tests: d-separation in a known graph."""

from functools import cache

import networkx as nx
import numpy as np


def d_separation(dag):
    """A `p_value` function: 1 if the graph makes two columns independent, otherwise 0."""
    graph = nx.DiGraph(list(zip(*(side.tolist() for side in np.nonzero(dag)), strict=True)))
    graph.add_nodes_from(range(len(dag)))

    @cache
    def p_value(i, j, given):
        return float(nx.is_d_separator(graph, {i}, {j}, set(given)))

    return p_value


def random_dag(rng, n_columns, share):
    """A random graph: each pair of columns has an arrow with probability `share`, directed by a random order."""
    order = rng.permutation(n_columns)
    dag = np.zeros((n_columns, n_columns), dtype=bool)
    dag[np.ix_(order, order)] = np.triu(rng.random((n_columns, n_columns)) < share, k=1)
    return dag
