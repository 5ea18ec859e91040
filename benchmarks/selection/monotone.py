"""Like relationships.py, with only monotone features to find: do rank correlations find more of these?

There, features of other shapes are also true, and displace monotone ones if a score detects them.
"""

import numpy as np

from benchmarks.selection.relationships import N_TRIALS, N_TRUE, NAMES, SHAPES, Trials, kept_pool, rows_of_trials
from benchmarks.selection.ways import EPSILONS, Scores
from benchmarks.store import seed_of

D = 100  # features, the true ones included
REPEATS = {1000: 12, 10_000: 6}  # tables for each number of records
TRUE = SHAPES["monotone"]


def run(n, repeat, statistic, n_trials=N_TRIALS, epsilons=EPSILONS):
    """Rows of one table of n records, and one statistic."""
    seed = seed_of(("monotone", n, repeat))
    pool = kept_pool(n, seed, D - N_TRUE)
    noise = range(len(NAMES), len(NAMES) + D - N_TRUE)
    scores = Scores(pool.columns([*(NAMES.index(name) for name in TRUE), *noise]), statistic, seed)
    trials = Trials(D, n_trials, np.random.default_rng(seed), {name: [i] for i, name in enumerate(TRUE)})
    return rows_of_trials(trials, D, scores, statistic, seed, epsilons, {"n": n, "repeat": repeat, "d": D})
