"""The PC algorithm: a graph of causes from tests of conditional independence, whatever the order of the columns."""

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from skdpmic.causal.graphs import with_colliders, with_forced_arrows, without_cycles


def pc(n_columns, p_value, alpha, max_order):
    """The PC algorithm.

    Parameters
    ----------
    n_columns : int
    p_value : callable
        ``p_value(i, j, given)`` for columns ``i < j`` and an increasing tuple of other columns `given`: the chance of
        so much dependence as there is, or more, between i and j given the others, if they are independent.
    alpha : float
        Two columns are kept apart if a p-value is above this.
    max_order : int
        Most columns in `given`.

    Returns
    -------
    skeleton : bool ndarray of shape (n_columns, n_columns)
        Which columns no set of others makes independent.
    cpdag : bool ndarray of shape (n_columns, n_columns)
        Marks of the graph, see :mod:`skdpmic.causal.graphs`.

    Notes
    -----
    The skeleton is that of PC-stable [1]_: all pairs are tested given sets of 0, 1, 2, ... of the columns that are
    adjacent to either at the start of that round, and pairs found independent lose their edge at its end. Of the sets
    that make two columns i and j independent, the one of the largest p-value decides about colliders: i -> k <- j if k
    is adjacent to both, and not in it. Nothing depends on the order of the columns: an edge that colliders point both
    ways stays undirected, and so does one that is part of a cycle of arrows.

    References
    ----------
    .. [1] D. Colombo and M. H. Maathuis, "Order-Independent Constraint-Based Causal Structure Learning", Journal of
       Machine Learning Research 2014.
    """
    found = find_skeleton(n_columns, p_value, alpha, max_order)
    return found.marks, oriented(found)


@dataclass
class Skeleton:
    """Which columns are adjacent, and what the tests said."""

    marks: np.ndarray
    largest: np.ndarray  # p-value of the tests of each two columns; 0 of those never tested
    separators: dict = field(default_factory=dict)  # of (i, j), i < j: {set of columns: its p-value above alpha}


def find_skeleton(n_columns, p_value, alpha, max_order):
    """The skeleton by PC-stable; parameters as those of :func:`pc`."""
    marks = ~np.eye(n_columns, dtype=bool)
    found = Skeleton(marks, np.zeros(marks.shape))
    for order in range(max_order + 1):
        adjacent = [np.flatnonzero(row).tolist() for row in found.marks]
        if max(map(len, adjacent), default=0) <= order:
            break
        for i, j in np.argwhere(np.triu(found.marks)).tolist():
            p_values = {given: p_value(i, j, given) for given in _sets(adjacent, i, j, order)}
            _note(found, i, j, p_values, alpha)
        for i, j in found.separators:
            found.marks[i, j] = found.marks[j, i] = False
    return found


def _sets(adjacent, i, j, order):
    """Sets of `order` columns that are all adjacent to i, or all to j."""
    sides = ([k for k in adjacent[a] if k != b] for a, b in ((i, j), (j, i)))
    return sorted({given for side in sides for given in combinations(side, order)})


def _note(found, i, j, p_values, alpha):
    found.largest[i, j] = found.largest[j, i] = max([found.largest[i, j], *p_values.values()])
    separators = {given: p for given, p in p_values.items() if p > alpha}
    if separators:
        found.separators[i, j] = separators


def oriented(found):
    """The graph of a skeleton: colliders, then what they force, and no cycles."""
    marks = without_cycles(with_colliders(found.marks, _colliders(found)))
    return without_cycles(with_forced_arrows(marks))


def _colliders(found):
    """Triples i -> k <- j of columns i and j that the best set makes independent without k."""
    return [
        (i, k, j)
        for (i, j), separators in found.separators.items()
        for k in np.flatnonzero(found.marks[i] & found.marks[j]).tolist()
        if not _best_has(separators, k)
    ]


def _best_has(separators, k):
    """Whether a set of the largest p-value has column k."""
    best = max(separators.values())
    return any(k in given for given, p in separators.items() if p == best)
