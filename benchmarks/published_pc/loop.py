"""What the published algorithms share: the order of the tests, and the graph made from the answers.

The skeleton is that of PC as first published: an edge is removed as soon as its columns are found independent.
Directions follow the package's own rules, which favours the published programs: theirs stop once the graph no longer
changes *up to the names of its columns*.
"""

import math
from dataclasses import dataclass, field
from itertools import combinations, permutations

import numpy as np

from benchmarks.published_pc.statistics import Records, kendall_p_value
from skdpmic.causal.pc import with_colliders, with_forced_arrows, without_cycles

ALPHA, DELTA = 0.1, 1e-3  # in all experiments


@dataclass(frozen=True)
class Published:
    """What a published algorithm returns.

    Parameters
    ----------
    marks : bool ndarray of shape (n_columns, n_columns)
        The graph, see `skdpmic.causal.pc`.
    claimed_epsilon : float
        The epsilon that the algorithm reports as spent, at a delta of 1e-3. None of these claims is true.
    n_answers : int
        Number of steps that the claim counts, which depends on the data.
    """

    marks: np.ndarray
    claimed_epsilon: float
    n_answers: int


@dataclass
class NoisyTest:
    """What the noisy tests of independence have in common; subclasses answer with `is_independent`."""

    records: Records
    epsilon: float
    rng: np.random.Generator
    alpha: float = ALPHA
    p_value: object = kendall_p_value
    n_answers: int = field(default=0, init=False)


def skeleton(n_columns, is_independent, max_order):
    """The remaining edges, and the separating set of every other pair.

    Parameters
    ----------
    n_columns : int
    is_independent : callable
        Called with two columns and a tuple of others, and later with the two in the other order.
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
    """What an algorithm publishes if all it knows are the answers of `test`, an object with `records`."""
    n_columns = test.records.n_columns
    marks, separators = skeleton(n_columns, test.is_independent, largest_order(test.records.n, n_columns))
    return Published(directed(marks, separators), test.claimed_epsilon(), test.n_answers)


def separate(marks, separators, i, j, given):
    """Remove an edge."""
    marks[i, j] = marks[j, i] = False
    separators[min(i, j), max(i, j)] = given


def directed(marks, separators):
    """The graph of a skeleton: i -> k <- j if k did not help to separate i and j, and the arrows that this forces."""
    colliders = [
        (i, k, j)
        for (i, j), given in separators.items()
        for k in np.flatnonzero(marks[i] & marks[j]).tolist()
        if k not in given
    ]
    everywhere = np.broadcast_to(~marks[:, None], (len(marks),) * 3)  # no collider except those found
    return without_cycles(with_forced_arrows(without_cycles(with_colliders(marks, colliders)), everywhere))


def largest_order(n, n_columns):
    """Largest size of a conditioning set."""
    return max(min(int(math.log2(n)) - 5, n_columns - 2), 0)


def advanced_composition(epsilon, count, log_term):
    """Total of `count` steps of `epsilon` each, which holds only for a count fixed beforehand, unlike this one."""
    return math.sqrt(2 * count * log_term) * epsilon + count * epsilon * math.expm1(epsilon)
