"""What a plan promises, and what is found.

Found is the share of the columns chosen without noise that PrivateSelectKBest also chooses with noise. The criterion is
the default, so it depends only on public numbers. Promised is what the plan of that fit states.
"""

import warnings
from functools import lru_cache

import numpy as np
import pandas

from benchmarks.sets.ways import best
from benchmarks.sets.worth import load
from benchmarks.store import completed
from skdpmic.planning.chances import SIGNALS

EPSILONS = (0.03, 0.1, 0.3, 1.0, 3.0)
N_DRAWS = 40


def promised(folder, names, n_draws=N_DRAWS, epsilons=EPSILONS, load=load):
    """A row for each table and epsilon."""
    todo = [{"table": name, "epsilon": epsilon, "n_draws": n_draws} for name in names for epsilon in epsilons]
    without_noise = lru_cache(lambda name, criterion: _chosen(load(name), np.inf, 0, criterion)[0])

    def find(configuration, seed):
        table = load(configuration["table"])
        fits = [
            _chosen(table, configuration["epsilon"], int(each), "auto")
            for each in np.random.default_rng(seed).integers(2**31, size=n_draws)
        ]
        wanted = without_noise(configuration["table"], fits[0][1])
        found = [len(wanted & chosen) / table.k for chosen, _ in fits]
        of_plans = {signal: _plan(table, configuration["epsilon"], signal) for signal in SIGNALS}
        return {
            "found": np.mean(found),
            "found se": np.std(found, ddof=1) / np.sqrt(n_draws),
            "is joint": fits[0][1] == "joint",
            **{f"promised, {signal}": of.found for signal, of in of_plans.items()},
        }

    rows = pandas.DataFrame(completed(folder / "promised.csv", todo, find, "promised"))
    sizes = {name: (*load(name).X.shape, load(name).k) for name in names}
    rows[["n", "d", "k"]] = [sizes[name] for name in rows["table"]]
    return rows


def _chosen(table, epsilon, seed, criterion):
    """The columns that a fit chooses, and the criterion that it uses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the seed, and about noise that exceeds the signal
        fitted = best(table, epsilon, seed, criterion=criterion).fit(table.X, table.y)
    return set(np.flatnonzero(fitted.get_support())), fitted.criterion_


def _plan(table, epsilon, signal):
    return best(table, epsilon).plan(*table.X.shape, signal=signal)[0]
