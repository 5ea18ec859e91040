"""EM-PC as published: NOT differentially private at the epsilon it reports (``docs/theory/corrections.md``).

1. The exponential mechanism takes its scores to be 1-sensitive. They are meant to be the least number of records whose
   removal turns the test, but a greedy search finds another number, and this one moves by more than 1.
2. The total is computed afterwards by advanced composition from the number of columns that still had enough neighbours.
   The data decide on that number, so the theorem does not apply.

The rival of Priv-PC in the authors' comparison, after Xu, Yuan and Wu, "Differential privacy preserving causal graph
discovery" (2017), from the authors' program: at each order, for each column, first the number of neighbours to part
with is chosen by the exponential mechanism, then which, each with half of the step's epsilon. As there, all neighbours
are never parted with at once. In its favour: the set that separated two columns is filed under these columns.

A distance of more than `FARTHEST` records counts as `FARTHEST`, to save time.
"""

import math
from functools import cache
from itertools import combinations

import numpy as np
from scipy.stats import chi2

from benchmarks.published_pc.loop import ALPHA, DELTA, Published, advanced_composition, directed, separate
from benchmarks.published_pc.statistics import g_test
from skdpmic._utils.jit import jit, leaf

FARTHEST = 2000


def em_pc(records, epsilon, rng, alpha=ALPHA, max_order=4):
    """The graph.

    Parameters
    ----------
    records : Records
    epsilon : float
        Of one step; the total is larger.
    rng : Generator
    alpha : float
        Level of the G-test.
    max_order : int
        Most columns in a conditional set; the program has no limit, and seldom comes as far.

    Returns
    -------
    Published
    """
    p = records.n_columns
    marks, separators, n_steps = ~np.eye(p, dtype=bool), {}, 0
    for order in range(max_order + 1):
        if marks.sum(axis=1).max() <= order:
            break
        for i in range(p):
            neighbours = np.flatnonzero(marks[i]).tolist()
            if len(neighbours) > order:
                n_steps += 1
                best = [most_independent(records, i, j, neighbours, order, alpha) for j in neighbours]
                for place in parted_with(*map(np.array, zip(*(b[1:] for b in best), strict=True)), epsilon, alpha, rng):
                    separate(marks, separators, i, neighbours[place], best[place][0])
    claimed = advanced_composition(epsilon, n_steps, math.log(1 / DELTA))
    return Published(directed(marks, separators), claimed, n_steps)


def parted_with(distances, p_values, epsilon, alpha, rng):
    """Places of the neighbours that are found independent; one step."""
    n_parted = exponential_mechanism(scores_of_numbers(distances, p_values, alpha), epsilon / 2, rng)
    left, parted = distances.astype(float), []
    for _ in range(n_parted):
        parted.append(exponential_mechanism(left, epsilon / 2 / n_parted, rng))
        left[parted[-1]] = -np.inf
    return parted


def exponential_mechanism(scores, epsilon, rng):
    """Algorithm 4."""
    return int(rng.choice(len(scores), p=chances(scores, epsilon)))


def chances(scores, epsilon):
    """Of each output: in proportion to exp(epsilon score / 2). "Infinite output sets" have no such law."""
    weights = np.exp(epsilon * (scores - np.max(scores)) / 2)
    return weights / weights.sum()


def scores_of_numbers(distances, p_values, alpha):
    """Of parting with 0, 1, ..., all but one of the neighbours: how far the data are from another number."""
    order = np.lexsort((p_values, distances))[::-1]
    d, p = distances[order], p_values[order]
    scores = np.empty(len(d))
    scores[0] = -d[0] - (p[0] >= alpha)
    for k in range(1, len(d)):
        if p[k - 1] > alpha:
            scores[k] = min(d[k - 1], -d[k]) - 1 if p[k] <= alpha else -d[k]
        else:
            scores[k] = d[k - 1]
    return scores


def most_independent(records, i, j, neighbours, order, alpha):
    """Of the sets of other neighbours that with the largest p-value, its distance, and the p-value."""
    others = [k for k in neighbours if k != j]
    p_values = {given: records.known(g_p_value, i, j, given) for given in combinations(others, order)}
    given = max(p_values, key=p_values.get)
    return given, records.known(distance_at(alpha), i, j, given), p_values[given]


def g_p_value(records, i, j, given):
    return g_test(records, i, j, given)[2]


@cache
def distance_at(alpha):
    """How far the G-test at level `alpha` is from turning, as a statistic."""
    return lambda records, i, j, given: distance(records.table(i, j, given), g_test(records, i, j, given)[1], alpha)


def distance(tables, dof, alpha):
    """Records to remove, the most effective first, until the G-test turns: negative if it finds dependence."""
    return int(_greedy(np.ascontiguousarray(tables, dtype=np.float64), chi2.isf(alpha, dof), FARTHEST))


@jit
def _greedy(tables, threshold, farthest):
    # Of one stratum, G = 2 (S(cells) - S(rows) - S(columns) + S(all)) with S the sum of m log m.
    g = 0.0
    for s in range(len(tables)):
        g += _g_of(tables[s])
    sign = 1 if g < threshold else -1
    gains = np.empty(tables.shape)
    for s in range(len(tables)):
        _fill(gains[s], tables[s], sign)
    steps = 0
    while steps < farthest:
        best, place = -np.inf, (0, 0, 0)
        for s in range(gains.shape[0]):
            for i in range(gains.shape[1]):
                for j in range(gains.shape[2]):
                    if gains[s, i, j] > best:
                        best, place = gains[s, i, j], (s, i, j)
        g += sign * best
        if best == -np.inf or sign * g >= sign * threshold:
            break
        steps += 1
        s = place[0]
        tables[place] -= 1
        _fill(gains[s], tables[s], sign)
    return sign * steps


@leaf
def _fill(gains, table, sign):
    """How much nearer to the threshold each removal from a stratum brings G."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    of_all = _change(columns.sum())
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            m = table[i, j]
            change = _change(m) - _change(rows[i]) - _change(columns[j]) + of_all
            gains[i, j] = 2 * sign * change if m > 0 else -np.inf


@leaf
def _g_of(table):
    total = _m_log_m(table.sum())
    for m in table.ravel():
        total += _m_log_m(m)
    for m in table.sum(axis=1):
        total -= _m_log_m(m)
    for m in table.sum(axis=0):
        total -= _m_log_m(m)
    return 2 * total


@leaf
def _change(m):
    return _m_log_m(m - 1) - _m_log_m(m)


@leaf
def _m_log_m(m):
    return m * np.log(m) if m > 0 else 0.0
