"""Searches, exhaustive and by hill climbing, for neighbours whose scores are as far apart as possible."""

import math
from functools import lru_cache
from itertools import combinations, permutations

import numba
import numpy as np
import pytest

from skdpmic.statistics.mic.characteristic import mass_plan
from skdpmic.statistics.mic.optimize_axis import entropy_table
from skdpmic.statistics.mic.statistic import mic_e_of_ranks

UNIT = (0.0, 1.0)
MM = "miller-madow"
LOG3 = math.log2(3)
ERROR = 1e-9  # far above the rounding of two scores, far below any gap that matters
compiled_only = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="a search too long for uncompiled code")

# --- Exhaustive: a data set is a table of counts, with a cell for each place where a record can be -------------------


@lru_cache(maxsize=4)
def all_tables(shape, n):
    """All tables of n records, (n_tables, *shape), and all pairs of them that differ by a move of one record."""
    n_places = math.prod(shape)
    bars = np.array(list(combinations(range(n + n_places - 1), n_places - 1)))
    counts = np.diff(bars, axis=1, prepend=-1, append=n + n_places - 1) - 1
    keys = counts @ (n + 1) ** np.arange(n_places)
    order = np.argsort(keys)
    pairs = []
    for start, end in combinations(range(n_places), 2):
        can_move = np.flatnonzero(counts[:, start])
        moved = keys[can_move] + (n + 1) ** end - (n + 1) ** start
        pairs.append((can_move, order[np.searchsorted(keys, moved, sorter=order)]))
    return counts.reshape(-1, *shape), np.concatenate(pairs, axis=1)


def largest_change(scores, moves, m=1):
    """The largest difference of scores between tables that are m moves of a record apart, or fewer."""
    here, there = np.concatenate([moves, moves[::-1]], axis=1)
    reached = scores
    for _ in range(m):
        further = reached.copy()
        np.maximum.at(further, here, reached[there])
        reached = further
    return (reached - scores).max()


def scores_of_tables(tables, x_places, y_places, scorer_of, domain=UNIT):
    """The scores of records on the places of a feature and of a target, from `scorer_of` a target."""
    totals, group = np.unique(tables.sum(axis=1), axis=0, return_inverse=True)
    scores, places = np.empty(len(tables)), np.tile(x_places, len(y_places))
    for number, of_places in enumerate(totals):
        features = [np.repeat(places, table.T.ravel()) for table in tables[group == number]]
        scorer = scorer_of(np.repeat(y_places, of_places))
        scores[group == number] = scorer.score_block(features, [domain] * len(features))
    return scores


def information(tables):
    """Mutual information in bits, of tables of shape (..., n_rows, n_columns) with the same total."""

    def g(counts):
        return (counts * np.log2(np.maximum(counts, 1e-300))).sum(axis=-1)

    total = tables.reshape(-1, *tables.shape[-2:])[0].sum()
    margins = g(tables.sum(axis=-1)) + g(tables.sum(axis=-2))
    return (g(tables.reshape(*tables.shape[:-2], -1)) - margins + total * math.log2(total)) / total


def joined(tables, rows, columns):
    """Tables of shape (..., n_rows, n_columns) with rows and columns added up in groups."""
    of_rows, of_columns = (np.eye(max(groups) + 1, dtype=np.int64)[list(groups)] for groups in (rows, columns))
    return of_rows.T @ tables @ of_columns


# --- By hill climbing -------------------------------------------------------------------------------------------------


def climb(seed, n, n_steps, counts_of, score):
    """The largest change of ``score(counts)`` found by a walk over data sets of n records that never steps down.

    `counts_of` holds the counts of a record in each place. Two neighbours share n - 1 records, so a data set is n - 1
    of them, and the change is the range over the place of the last. Seed 0 starts from all records in one place, other
    seeds from a few heavily occupied places.
    """
    n_places = len(counts_of)
    rng = np.random.default_rng(seed)
    start = rng.choice(rng.choice(n_places, size=4), size=n - 1) if seed else np.zeros(n - 1, dtype=np.int64)

    def height(records):
        counts = np.bincount(records, minlength=n_places).astype(np.uint32) @ counts_of
        return np.ptp([score(counts + of_last) for of_last in counts_of])

    def step(records):
        target = rng.integers(n_places)
        if rng.random() < 0.1:  # move all records of one place to another
            records[records == records[rng.integers(n - 1)]] = target
        else:
            records[rng.integers(n - 1, size=rng.integers(1, 4))] = target

    return _climb(start, step, n_steps, height)


def _climb(state, step, n_steps, height):
    best = height(state)
    for _ in range(n_steps):
        trial = state.copy()
        step(trial)
        value = height(trial)
        if value >= best:
            best, state = value, trial
    return best


# --- MICe: a data set is a permutation: the ranks in y, in ascending order of x --------------------------------------


def mic_e_of(y_ranks, B, c):
    """The score before noise is added."""
    return mic_e_of_ranks(np.asarray(y_ranks), mass_plan(float(B), c), entropy_table(len(y_ranks)))


def largest_change_of_mic_e(n, B, c):
    """The largest change of the score over all pairs of neighbours with n records."""
    return max(_range_of_ranks(np.array(y_ranks), np.arange(n), B, c) for y_ranks in permutations(range(n - 1)))


def climb_mic_e(seed, n, n_steps, B, c):
    """The largest change found by a walk over data sets of n records that never steps down.

    At the start, the columns of the finest fixed partition alternate between two rows, or cycle through three.
    """
    rng = np.random.default_rng(seed)
    row = np.arange(n - 1) // max(n // int(B // 2), 1) % (2 + seed % 2)
    start = np.argsort(np.argsort(row + rng.uniform(0, 0.9, size=n - 1)))
    last_ranks = np.unique([0, n // 3, n // 2, n - 1])

    def step(y_ranks):
        for _ in range(rng.integers(1, 4)):  # reverse a run of records, or swap two in y
            i, j = np.sort(rng.integers(n - 1, size=2))
            if rng.random() < 0.3:
                y_ranks[i:j] = y_ranks[i:j][::-1].copy()
            else:
                y_ranks[[i, j]] = y_ranks[[j, i]]

    return _climb(start, step, n_steps, lambda y_ranks: _range_of_ranks(y_ranks, last_ranks, B, c))


def _range_of_ranks(y_ranks, ranks, B, c):
    """Max - min of the score of these records and one more, over its ranks in x and y among `ranks`."""
    others = [y_ranks + (y_ranks >= j) for j in range(len(y_ranks) + 1)]
    return np.ptp([mic_e_of(np.insert(others[j], i, j), B, c) for i in ranks for j in ranks])
