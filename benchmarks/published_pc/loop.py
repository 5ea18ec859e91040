"""What the published algorithms have in common: the order of the tests, and what is made of the answers.

The skeleton is that of PC as first published: an edge goes as soon as it is found independent. Directions are found by
the package's own rules, in favour of the published programs: theirs stop once the graph no longer changes *up to the
names of its columns*.
"""

import math
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np

from skdpmic.causal.pc import with_colliders, with_forced_arrows, without_cycles

ALPHA, DELTA = 0.1, 1e-3  # of all experiments


@dataclass(frozen=True)
class Published:
    """What a published algorithm returns.

    Parameters
    ----------
    marks : bool ndarray of shape (n_columns, n_columns)
        The graph, see `skdpmic.causal.pc`.
    claimed_epsilon : float
        What the algorithm says that it has spent, at a delta of 1e-3. None of these claims is true.
    n_answers : int
        The number of steps that the claim counts: the data decide on it.
    """

    marks: np.ndarray
    claimed_epsilon: float
    n_answers: int


def skeleton(n_columns, is_independent, max_order):
    """Edges that are left, and the set that each other pair was separated by.

    Parameters
    ----------
    n_columns : int
    is_independent : callable
        Of two columns and a tuple of others; asked again for the same columns in the other order.
    max_order : int
    """
    marks, separators = ~np.eye(n_columns, dtype=bool), {}
    for order in range(max_order + 1):
        if marks.sum(axis=1).max() <= order:
            break
        for i, j in permutations(range(n_columns), 2):
            others = np.flatnonzero(marks[i] & (np.arange(n_columns) != j)).tolist()
            for given in combinations(others, order) if marks[i, j] else ():
                if is_independent(i, j, given):
                    separate(marks, separators, i, j, given)
                    break
    return marks, separators


def graph_by(test):
    """What an algorithm publishes that asks `test`, an object with `records`, for all it knows."""
    n_columns = test.records.n_columns
    marks, separators = skeleton(n_columns, test.is_independent, largest_order(test.records.n, n_columns))
    return Published(directed(marks, separators), test.claimed_epsilon(), test.n_answers)


def separate(marks, separators, i, j, given):
    """Remove an edge."""
    marks[i, j] = marks[j, i] = False
    separators[min(i, j), max(i, j)] = given


def directed(marks, separators):
    """The graph of a skeleton: i -> k <- j where k is not in the set that separated i and j, and what that forces."""
    colliders = [
        (i, k, j)
        for (i, j), given in separators.items()
        for k in np.flatnonzero(marks[i] & marks[j]).tolist()
        if k not in given
    ]
    return without_cycles(with_forced_arrows(without_cycles(with_colliders(marks, colliders))))


def largest_order(n, n_columns):
    """Most columns in a conditional set."""
    return max(min(int(math.log2(n)) - 5, n_columns - 2), 0)


def advanced_composition(epsilon, count, log_term):
    """Total of `count` steps of `epsilon` each: true of a number that is fixed beforehand, which this one is not."""
    return math.sqrt(2 * count * log_term) * epsilon + count * epsilon * math.expm1(epsilon)
