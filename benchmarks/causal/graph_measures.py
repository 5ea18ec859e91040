"""What independences determine about a graph, and how far apart two graphs are."""

from itertools import combinations

import numpy as np

from skdpmic.causal.pc import arrows_of, skeleton_of, with_colliders, with_forced_arrows, without_cycles


def colliders_of(marks):
    """Triples (i, k, j), i < j, with i -> k <- j and no edge between i and j."""
    arrows, adjacent = arrows_of(marks), skeleton_of(marks)
    return [
        (i, k, j)
        for k in range(len(marks))
        for i, j in combinations(np.flatnonzero(arrows[:, k]).tolist(), 2)
        if not adjacent[i, j]
    ]


def cpdag_of(dag):
    """The part of a directed acyclic graph that independences determine: the arrows shared by all graphs with the same.

    Parameters
    ----------
    dag : bool ndarray of shape (n_columns, n_columns)
        ``dag[i, j]`` for an arrow i -> j; without cycles.

    Returns
    -------
    bool ndarray of shape (n_columns, n_columns)
        Marks of the completed partially directed graph. An arrow is in all graphs of the class; a line points one way
        in some and the other way in others.

    Raises
    ------
    ValueError
        If the graph has a cycle.
    """
    if (without_cycles(dag) != dag).any():
        raise ValueError("dag must have no cycles.")
    everywhere = np.broadcast_to(~skeleton_of(dag)[:, None], (len(dag),) * 3)  # no collider except those given
    return with_forced_arrows(with_colliders(skeleton_of(dag), colliders_of(dag)), everywhere)


def structural_hamming_distance(a, b):
    """Number of pairs of columns whose edges differ: present in only one graph, or directed differently.

    Parameters
    ----------
    a, b : bool ndarrays of shape (n_columns, n_columns)

    Returns
    -------
    int
    """
    return int(np.triu(skeleton_of(a != b), k=1).sum())


def skeleton_f1(a, b):
    """F1 score of one graph's edges against the other's, regardless of direction; 1 if neither has any."""
    a, b = (np.triu(skeleton_of(marks), k=1) for marks in (a, b))
    n_edges = a.sum() + b.sum()
    return float(2 * (a & b).sum() / n_edges) if n_edges else 1.0
