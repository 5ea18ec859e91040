"""The PC algorithm: a causal graph (CPDAG) from tests of independence, whatever the order of the columns."""

import math
from dataclasses import dataclass
from functools import cache
from itertools import combinations, groupby
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

# --- Graphs ----------------------------------------------------------------------------------------------------------
#
# Causal graphs, and the conversions between their kinds.
#
# A graph of p columns is a bool ndarray `marks` of shape (p, p): ``marks[i, j]`` is True if there is an arrow i -> j
# or a line i - j. A line has both ``marks[i, j]`` and ``marks[j, i]``, an arrow only one of them.


def arrows_of(marks):
    """Marks of the arrows only."""
    return marks & ~marks.T


def lines_of(marks):
    """Marks of the lines only."""
    return marks & marks.T


def skeleton_of(marks):
    """The graph with a line for each arrow."""
    return marks | marks.T


def with_colliders(skeleton, colliders):
    """The skeleton with its lines turned into arrows i -> k <- j; a line that would point both ways stays a line.

    The result does not depend on the order of the colliders.
    """
    into = np.zeros_like(skeleton)
    for i, k, j in colliders:
        into[i, k] = into[j, k] = True
    return skeleton & ~(into.T & ~into)


def with_forced_arrows(marks):
    """The graph after Meek's rules 1 to 3, which orient lines that can point only one way.

    The other direction would create a collider that is not in `marks` (1), a cycle (2), or either (3). Rule 4 adds
    nothing if all arrows come from colliders. The result does not depend on the order of the columns: all lines are
    checked before any is changed. A line forced both ways by contradictory arrows stays a line.
    """
    while True:
        forced = _forced(marks)
        forced &= ~forced.T
        if not forced.any():
            return marks
        marks = marks & ~forced.T


def _forced(marks):
    """Whether one of the rules orients i - j as i -> j."""
    arrows, lines, apart = arrows_of(marks), lines_of(marks), ~skeleton_of(marks)
    by_rule_1 = arrows.T @ apart  # k -> i - j, k and j apart
    by_rule_2 = arrows @ arrows  # i -> k -> j
    forced = lines & (by_rule_1 | by_rule_2)
    for i, j in np.argwhere(lines & ~forced):
        into = np.flatnonzero(lines[i] & arrows[:, j])
        forced[i, j] = any(apart[k, m] for k, m in combinations(into, 2))  # i - k -> j, i - m -> j, k and m apart
    return forced


def in_cycles(marks):
    """Marks of the arrows that are part of a cycle of arrows."""
    arrows = arrows_of(marks)
    _, part = connected_components(arrows, directed=True, connection="strong")
    return arrows & (part[:, None] == part)


def without_cycles(marks):
    """The graph with a line for each arrow that is part of a cycle of arrows."""
    return marks | in_cycles(marks).T


def markov_blanket(marks, target):
    """The Markov blanket of a target: its neighbours, and the other parents of its children.

    Parameters
    ----------
    marks : bool ndarray of shape (n_columns, n_columns)
    target : int

    Returns
    -------
    int64 ndarray
        Columns with any edge to the target, and those with an arrow into a child of the target; in increasing order. In
        a CPDAG no other parent is missing: if it is not adjacent to the target, both arrows into the common child are
        known.
    """
    of_children = arrows_of(marks)[:, arrows_of(marks)[target]].any(axis=1)
    blanket = skeleton_of(marks)[target] | of_children
    blanket[target] = False
    return np.flatnonzero(blanket)


# --- The algorithm ---------------------------------------------------------------------------------------------------


_TINY = 1e-12  # a p-value that counts as 0


class Skeleton(NamedTuple):
    """The edges of the complete graph that remain after the tests."""

    edges: np.ndarray
    largest_p_values: np.ndarray  # of the tests of each pair; NaN for an edge with a missing test; 0 on the diagonal
    n_untested: int  # tests of remaining edges that could not be made


@dataclass(frozen=True)
class Found:
    """The result of the algorithm."""

    skeleton: np.ndarray  # pairs of columns that no set of others makes independent
    cpdag: np.ndarray  # marks of the graph
    largest_p_values: np.ndarray  # as in `Skeleton`
    n_untested: int  # as in `Skeleton`


def find_graph(n_columns, p_value, alpha, max_order, is_exact=None, at_most=None):
    """The PC algorithm.

    Parameters
    ----------
    n_columns : int
    p_value : callable
        ``p_value(i, j, given)`` for columns ``i < j`` and an increasing tuple of other columns `given`: the p-value of
        the conditional independence of i and j given the others. NaN if there is no such test, which then decides
        nothing.
    alpha : float
        Two columns lose their edge if a p-value is above this.
    max_order : int
        Maximum number of columns in `given`.
    is_exact : callable, default=None
        ``is_exact(i, j, given)`` says whether a test has all the information it needs, without an allowance. The
        p-values of other tests are too large to compare, so these decide on no collider if an exact test makes the
        columns independent. None if all are exact.
    at_most : callable, default=None
        ``at_most(i, j, given)`` is the largest that the p-value may be, whatever is hidden from the test. If this is
        above `alpha` and the p-value is not, the test counts as one that could not be made. None if nothing is hidden.

    Returns
    -------
    Found

    Notes
    -----
    The skeleton is that of PC-stable [1]_: all pairs are tested given sets of 0, 1, 2, ... of the columns adjacent to
    either at the start of the round, and pairs found independent lose their edge at its end.

    Colliders are those of PC-Max [2]_: if k is adjacent to two columns i and j that are not adjacent, then i -> k <- j
    if the largest p-value of i and j, over all sets of columns adjacent to i or to j in the skeleton, is for a set
    without k. Triples with the largest ratio of the two p-values (without and with k) are the most certain, whether
    they are colliders or not, and a triple that contradicts a more certain one does not count. This rule was chosen on
    simulated tables. The alternatives were: the first or the best of the sets that made i and j independent in the
    search; the majority or all of these sets; lines for arrows that would point both ways; colliders only. Random
    graphs of 10 normal columns with 2.5 edges each and 10,000 records had a mean structural Hamming distance of 2.4
    without noise and 4.8 at epsilon = 1; the first sets with lines gave 4.9 and 6.1.

    Nothing depends on the order of the columns.

    References
    ----------
    .. [1] D. Colombo and M. H. Maathuis, "Order-Independent Constraint-Based Causal Structure Learning", Journal of
       Machine Learning Research 2014.
    .. [2] J. Ramsey, "Improving Accuracy and Scalability of the PC Algorithm by Maximizing P-value", 2016
       (arXiv:1610.00378).
    """
    p_value = cache(p_value)
    skeleton, largest, n_untested = find_skeleton(n_columns, p_value, alpha, max_order, at_most)
    marks = with_colliders(skeleton, _colliders(_triples(skeleton, p_value, alpha, max_order, is_exact)))
    return Found(skeleton, without_cycles(with_forced_arrows(without_cycles(marks))), largest, n_untested)


# --- Skeleton ---------------------------------------------------------------------------------------------------------


def find_skeleton(n_columns, p_value, alpha, max_order, at_most=None):
    """The skeleton by PC-stable, and the tests of each pair of columns; parameters as in `find_graph`."""
    skeleton = ~np.eye(n_columns, dtype=bool)
    largest = np.zeros((n_columns, n_columns))
    untested = np.zeros((n_columns, n_columns), dtype=int)
    for order in range(max_order + 1):
        adjacent = adjacent_columns(skeleton)
        if max(map(len, adjacent), default=0) <= order:
            break
        for i, j in np.argwhere(np.triu(skeleton)).tolist():
            p_values = {given: p_value(i, j, given) for given in sets_between(adjacent, i, j, order)}
            largest[i, j] = largest[j, i] = max([largest[i, j], *_made(p_values.values())])
            not_made = [given for given, p in p_values.items() if not is_made(p, alpha, (i, j, given), at_most)]
            untested[i, j] = untested[j, i] = untested[i, j] + len(not_made)
        skeleton = skeleton & (largest <= alpha)
    n_untested = int(np.triu(untested * skeleton).sum())
    return Skeleton(skeleton, np.where((untested > 0) & skeleton, np.nan, largest), n_untested)


def is_made(p, alpha, test, at_most=None):
    """Whether a test has a p-value, and this is evidence: for independence, or for dependence."""
    return p > alpha or (p if at_most is None else at_most(*test)) <= alpha


def _made(p_values):
    """The tests that could be made."""
    return [p for p in p_values if not math.isnan(p)]


def adjacent_columns(skeleton):
    """The columns that have an edge with each column."""
    return [np.flatnonzero(row).tolist() for row in skeleton]


def sets_between(adjacent, i, j, order):
    """Sets of `order` columns that are all adjacent to i, or all to j."""
    sides = ([k for k in adjacent[a] if k != b] for a, b in ((i, j), (j, i)))
    return sorted({given for side in sides for given in combinations(side, order)})


# --- Colliders --------------------------------------------------------------------------------------------------------


def _colliders(triples):
    """Colliders i -> k <- j, none of which contradicts a more certain triple."""
    triples = sorted(triples, key=lambda triple: -abs(triple[0]))
    chosen, no_colliders, arrows = [], [], set()
    for _, equal in groupby(triples, key=lambda triple: abs(triple[0])):  # equal triples count together, or as lines
        equal = list(equal)
        colliders = [triple for log_ratio, triple in equal if log_ratio > 0 and _agrees(triple, arrows, no_colliders)]
        no_colliders += [
            (i, k, j) for log_ratio, (i, k, j) in equal if log_ratio <= 0 and not {(i, k), (j, k)} <= arrows
        ]
        chosen += colliders
        arrows.update(arrow for i, k, j in colliders for arrow in ((i, k), (j, k)))
        _lead_on(arrows, no_colliders)
    return chosen


def _agrees(triple, arrows, no_colliders):
    """Whether a collider reverses no arrow, and turns no non-collider into a collider."""
    i, k, j = triple
    into_k = {a for a, at in arrows if at == k} | {i, j}
    return arrows.isdisjoint({(k, i), (k, j)}) and not any(at == k and {a, b} <= into_k for a, at, b in no_colliders)


def _lead_on(arrows, no_colliders):
    """Add k -> j if i -> k and i, k, j is not a collider."""
    while True:
        forced = {(k, j) for i, k, j in no_colliders if (i, k) in arrows}
        forced |= {(k, i) for i, k, j in no_colliders if (j, k) in arrows}
        forced -= arrows | {(b, a) for a, b in arrows | forced}
        if not forced:
            return
        arrows |= forced


def _triples(skeleton, p_value, alpha, max_order, is_exact):
    """Each i, k, j with k adjacent to i and j, which are not adjacent; and the evidence for independence without k.

    The evidence is the log ratio of the largest p-values given sets without k and with k. p-values of dependent columns
    are concentrated near 0, so a ratio is more informative than a difference: 0.2 against 0.001 is more certain than
    0.9 against 0.3.
    """
    adjacent = adjacent_columns(skeleton)
    for i, j in np.argwhere(np.triu(~skeleton, k=1)).tolist():
        between = sorted({*adjacent[i]} & {*adjacent[j]})
        if not between:
            continue
        orders = range(min(max_order, max(len(adjacent[i]), len(adjacent[j]))) + 1)
        p_values = {given: p_value(i, j, given) for order in orders for given in sets_between(adjacent, i, j, order)}
        exact = {given: p for given, p in p_values.items() if is_exact is None or is_exact(i, j, given)}
        p_values = exact if max(_made(exact.values()), default=0.0) > alpha else p_values
        for k in between:
            with_k, without = ([p for given, p in p_values.items() if (k in given) == has] for has in (True, False))
            if with_k and not _made(with_k):
                continue  # nothing distinguishes a collider from a non-collider
            best_with, best_without = max(_made(with_k), default=0.0), max(_made(without), default=0.0)
            yield math.log(max(best_without, _TINY) / max(best_with, _TINY)), (i, k, j)
