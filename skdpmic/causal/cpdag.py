"""Causal graphs, and the conversions between their kinds.

A graph of p columns is a bool ndarray `marks` of shape (p, p): ``marks[i, j]`` is True if there is an arrow i -> j or a
line i - j. A line has both ``marks[i, j]`` and ``marks[j, i]``, an arrow only one of them.
"""

from itertools import combinations

import numpy as np
from scipy.sparse.csgraph import connected_components


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
