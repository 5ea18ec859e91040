"""How fast scores fall, and what a plan promises beside what is found.

`falling` are the scores of a table without noise, in descending order, as PrivateSelectKBest compares them: mtv_r less
what a column of that kind scores by chance. `promised` is the share of the k best of them that fits with noise find,
and the share that the plan of such a fit states.
"""

import warnings

import numpy as np
import pandas

from benchmarks.sets.ways import best
from benchmarks.sets.worth import load
from benchmarks.store import completed
from skdpmic import DPMICSelector

EPSILONS = (0.03, 0.1, 0.3, 1.0, 3.0)
N_DRAWS = 40


def falling(names, load=load):
    """A row for each column of each table."""
    return pandas.concat([_falling(name, load(name)) for name in names], ignore_index=True)


def _falling(name, table):
    score = scores(table)
    order = np.argsort(-score, kind="stable")
    n, d = table.X.shape
    names = table.X.columns[order]
    places = np.arange(1, d + 1)
    return pandas.DataFrame(
        {"table": name, "n": n, "d": d, "k": table.k, "place": places, "column": names, "score": score[order]}
    )


def scores(table):
    """Scores of all columns as they are compared, without noise."""
    public = table.features | table.target
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that nothing is private
        fitted = DPMICSelector("all", statistic="mtv_r", epsilon=np.inf, **public).fit(table.X, table.y)
    return fitted.scores_ - fitted.null_scores_


def promised(folder, names, n_draws=N_DRAWS, epsilons=EPSILONS, load=load):
    """A row for each table and epsilon; a plan states nothing for more than two classes."""
    todo = [
        {"table": name, "epsilon": epsilon, "n_draws": n_draws} for name in names for epsilon in (*epsilons, np.inf)
    ]
    best_without_noise = {}

    def find(configuration, seed):
        name, epsilon = configuration["table"], configuration["epsilon"]
        table = load(name)
        if name not in best_without_noise:
            best_without_noise[name] = set(_chosen(table, np.inf, 0))
        wanted, seeds = best_without_noise[name], np.random.default_rng(seed).integers(2**31, size=n_draws)
        found = [len(wanted.intersection(_chosen(table, epsilon, int(seed)))) / table.k for seed in seeds]
        return {"found": np.mean(found), "found se": np.std(found, ddof=1) / np.sqrt(n_draws), **_plan(table, epsilon)}

    rows = pandas.DataFrame(completed(folder / "promised.csv", todo, find, "promised"))
    sizes = {name: (*load(name).X.shape, load(name).k) for name in names}
    rows[["n", "d", "k"]] = [sizes[name] for name in rows["table"]]
    return rows[np.isfinite(rows["epsilon"])]


def _chosen(table, epsilon, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the seed, and of noise that exceeds the signal
        return np.flatnonzero(best(table, epsilon, seed).fit(table.X, table.y).get_support())


def _plan(table, epsilon):
    if not np.isfinite(epsilon):
        return {"promised": np.nan, "noise_scale": 0.0}
    own = best(table, epsilon).plan(*table.X.shape)[0]
    return {"promised": own.found, "noise_scale": own.noise_scale}
