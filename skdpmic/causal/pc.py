"""The PC algorithm: a causal graph (CPDAG) from tests of independence, whatever the order of the columns."""

import math
from itertools import combinations
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


def with_forced_arrows(marks, through):
    """The graph after Meek's rules 1 to 3, which orient lines that can point only one way.

    The other direction would create a collider where there is none (1), a cycle (2), or either (3). Rule 4 adds nothing
    if all arrows come from colliders. The result does not depend on the order of the columns: all lines are checked
    before any is changed. A line forced both ways by contradictory arrows stays a line.

    Parameters
    ----------
    marks : bool ndarray of shape (n_columns, n_columns)
    through : bool ndarray of shape (n_columns, n_columns, n_columns)
        ``through[i, k, j]`` if i and j, which have no edge, are known to have no collider at k; symmetric.
    """
    while True:
        forced = _forced(marks, through)
        forced &= ~forced.T
        if not forced.any():
            return marks
        marks = marks & ~forced.T


def _forced(marks, through):
    """Whether one of the rules orients i - j as i -> j."""
    arrows, lines = arrows_of(marks), marks & marks.T
    by_rule_1 = (arrows[:, :, None] & through).any(axis=0)  # k -> i - j
    by_rule_2 = arrows @ arrows  # i -> k -> j
    forced = lines & (by_rule_1 | by_rule_2)
    for i, j in np.argwhere(lines & ~forced):
        into = np.flatnonzero(lines[i] & arrows[:, j])
        forced[i, j] = any(through[k, i, m] for k, m in combinations(into, 2))  # i - k -> j, i - m -> j
    return forced


def without_cycles(marks):
    """The graph with a line for each arrow that is part of a cycle of arrows."""
    arrows = arrows_of(marks)
    _, part = connected_components(arrows, directed=True, connection="strong")
    return marks | (arrows & (part[:, None] == part)).T


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


_APART, _APART_GIVEN_MANY = 0.1, 0.5  # least p-values of clear independence, given up to two columns or more
_ROOT = 1 / 40  # given none, it is also clear if its logarithm is at most this share of that of the dependence


class Outcome(NamedTuple):
    """What a test of independence found."""

    p_value: float  # valid at every level, whatever is hidden from the test; NaN if there is none
    least: float  # the smallest that it may be; NaN if there is no test


class Found(NamedTuple):
    """The result of the algorithm."""

    skeleton: np.ndarray  # pairs of columns that no set of others makes independent
    p_values: np.ndarray  # largest of each pair; NaN for an edge with a test without one; 0 on the diagonal
    n_untested: int  # tests of remaining edges that are no evidence for them
    cpdag: np.ndarray  # marks of the graph


def find_graph(n_columns, test, alpha, max_order):
    """The PC algorithm.

    Parameters
    ----------
    n_columns : int
    test : callable
        ``test(i, j, given)`` for columns ``i < j`` and an increasing tuple of other columns `given`: the test of the
        conditional independence of i and j given the others, a `Outcome`.
    alpha : float
        Two columns lose their edge if a p-value may not be below this.
    max_order : int
        Maximum number of columns in `given`.

    Returns
    -------
    Found

    Notes
    -----
    The skeleton is that of PC-stable [1]_: all pairs are tested given sets of 0, 1, 2, ... of the columns adjacent to
    either at the start of the round, and pairs found independent lose their edge at its end.

    A removed edge is no evidence for arrows, because a test may lack power. As in the conservative PC algorithm [2]_,
    an arrow takes evidence of its own (``docs/theory/private_pc.md``): if k has edges with i and j, which have none,
    then i -> k <- j if i and j are clearly independent given a set without k, dependent given the same set with k, and
    no set with k comes near to making them independent. With the two exchanged, k is known to be no collider, which
    directs further edges (Meek's rules). All others stay lines, as do edges with a test that has no p-value.

    Nothing depends on the order of the columns.

    References
    ----------
    .. [1] D. Colombo and M. H. Maathuis, "Order-Independent Constraint-Based Causal Structure Learning", Journal of
       Machine Learning Research 2014.
    .. [2] J. Ramsey, J. Zhang and P. Spirtes, "Adjacency-Faithfulness and Conservative Causal Inference", UAI 2006.
    """
    skeleton, p_values, n_untested = find_skeleton(n_columns, test, alpha, max_order)
    tested = skeleton & ~np.isnan(p_values)
    colliders, through = _triples(skeleton, tested, test, alpha, max_order)
    marks = with_forced_arrows(without_cycles(with_colliders(skeleton, colliders)), through)
    return Found(skeleton, p_values, n_untested, without_cycles(marks | (marks.T & ~tested)))


# --- Skeleton ---------------------------------------------------------------------------------------------------------


def find_skeleton(n_columns, test, alpha, max_order):
    """All but the last of `Found`, by PC-stable; parameters as in `find_graph`."""
    skeleton = ~np.eye(n_columns, dtype=bool)
    shape = n_columns, n_columns
    least, p_values, unknown, untested = np.zeros(shape), np.zeros(shape), np.zeros(shape, bool), np.zeros(shape, int)
    for order in range(max_order + 1):
        adjacent = adjacent_columns(skeleton)
        if max(map(len, adjacent), default=0) <= order:
            break
        for i, j in np.argwhere(np.triu(skeleton)).tolist():
            tested = [test(i, j, given) for given in sets_between(adjacent, i, j, order)]
            least[i, j] = np.fmax.reduce([least[i, j], *(each.least for each in tested)])
            p_values[i, j] = max([p_values[i, j], *(np.nan_to_num(each.p_value, nan=1.0) for each in tested)])
            unknown[i, j] |= any(math.isnan(each.p_value) for each in tested)
            untested[i, j] += sum(not each.p_value <= alpha for each in tested)
        skeleton = skeleton & (np.maximum(least, least.T) <= alpha)
    p_values[unknown & skeleton] = math.nan
    return skeleton, np.maximum(p_values, p_values.T), int(untested[skeleton].sum())


def adjacent_columns(skeleton):
    """The columns that have an edge with each column."""
    return [np.flatnonzero(row).tolist() for row in skeleton]


def sets_between(adjacent, i, j, order):
    """Sets of `order` columns that are all adjacent to i, or all to j."""
    sides = ([k for k in adjacent[a] if k != b] for a, b in ((i, j), (j, i)))
    return sorted({given for side in sides for given in combinations(side, order)})


# --- Evidence for arrows ----------------------------------------------------------------------------------------------


def _triples(skeleton, tested, test, alpha, max_order):
    """Colliders i -> k <- j of columns i and j without an edge, and `through` of :func:`with_forced_arrows`."""
    n_columns, adjacent = len(skeleton), adjacent_columns(skeleton)
    colliders, through = [], np.zeros((n_columns,) * 3, dtype=bool)
    sure = alpha / math.comb(n_columns, 2)
    for i, j in np.argwhere(np.triu(~skeleton, k=1)).tolist():
        between = np.flatnonzero(tested[i] & tested[j]).tolist()
        if not between:
            continue
        orders = range(min(max_order, max(len(adjacent[i]), len(adjacent[j]))) + 1)
        tests = {given: test(i, j, given) for order in orders for given in sets_between(adjacent, i, j, order)}
        for k in between:
            if _separates(tests, k, False, alpha, sure):
                colliders.append((i, k, j))
            through[i, k, j] = through[j, k, i] = _separates(tests, k, True, alpha, sure)
    return colliders, through


def _separates(tests, k, inside, alpha, sure):
    """Whether two columns are clearly independent given sets with k (or without it), and only given these."""
    sides = [{given: each for given, each in tests.items() if (k in given) == has} for has in (inside, not inside)]
    least, least_there = (np.fmax.reduce([0.0, *(each.least for each in side.values())]) for side in sides)
    if least_there > least / 10:
        return False
    return any(_apart(tests, given, k, alpha, sure) for given in sides[0])


def _apart(tests, given, k, alpha, sure):
    """Whether columns are clearly independent given a set, and dependent if k is put in or taken out."""
    other = tests.get(tuple(sorted({*given} ^ {k})))
    if other is None or not other.p_value <= sure:
        return False
    clear = _APART if len(given) <= 2 else _APART_GIVEN_MANY
    clear = clear if given else min(clear, other.p_value**_ROOT)
    return tests[given].least > max(alpha, clear)
