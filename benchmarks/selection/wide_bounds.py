"""Like relationships.py, with public bounds that are wider than the data: for the features, or for the target.

The data lie between 0 and 1, and the bounds are `width` wide; the data's position in them is random, drawn once per
table.
"""

import numpy as np

from benchmarks.selection.relationships import N_TRIALS, N_TRUE, Trials, kept_pool
from benchmarks.selection.ways import SUPPORT, Scores, choose, noise_of, private_ways, trial_scores
from benchmarks.store import seed_of

D = 100  # features, the true ones included
EPSILON = 0.3
REPEATS = {3000: 12}  # tables for each number of records
WIDTHS = (1, 3, 10, 30, 100, 300, 1000)


def widened(table, of, width, place):
    """The table with bounds of this width; `place` is the data's position in them, from 0, at the left, to 1."""
    low = -(width - 1) * place
    if of == "target":
        return table._replace(target_bounds=(low, low + width))
    return table._replace(lower=np.full_like(table.lower, low), upper=np.full_like(table.upper, low + width))


def run(n, repeat, statistic, n_trials=N_TRIALS, widths=WIDTHS):
    """Rows of one table of n records, and one statistic."""
    seed = seed_of(("wide bounds", n, repeat))
    pool = kept_pool(n, seed, D - N_TRUE)
    trials = Trials(D, n_trials, np.random.default_rng(seed))
    place = np.random.default_rng([seed, n]).random()
    rows = []
    for of in ("features", "target"):
        for width in widths:
            scores = Scores(widened(pool, of, width, place), statistic, seed)
            ((_, _, values, scale),) = private_ways(scores, N_TRUE, D, [EPSILON], mechanisms=[SUPPORT])
            values, noise = trial_scores(values, trials.columns), noise_of(seed, SUPPORT, EPSILON)
            recall = trials.row(choose(values, N_TRUE, SUPPORT, scale, noise))["recall"]
            label = {"n": n, "repeat": repeat, "d": D, "epsilon": EPSILON, "score": statistic, "of": of, "width": width}
            rows.append(label | {"recall": recall})
    return rows
