"""The three collections of data sets of Section 5.2, and the errors of all mechanisms on them."""

from functools import lru_cache
from itertools import combinations

import numpy as np
import pandas as pd

from benchmarks.paper.mechanisms import EPSILONS, METHODS, SIMULATED, Pair, configuration, errors, outputs
from benchmarks.store import completed

COLLECTIONS = ("Spellman23", "Baseball", "Spellman4381")
N_SAMPLES = {"Spellman23": 23, "Baseball": 337, "Spellman4381": 4381}
# Numbers of data sets per collection, where not all are used.
QUICK = {"Spellman23": 300, "Baseball": 300, "Spellman4381": 60}
QUICK_HEADLINE = {"Spellman23": 300, "Baseball": 2000, "Spellman4381": 253}  # MICr-Lap, which is fast
QUICK_SIMULATED = {"Spellman23": 60, "Baseball": 60, "Spellman4381": 60}
FULL_SIMULATED = QUICK

# --- The data -----------------------------------------------------------------------------------------------------


class Collections:
    """The data sets of Section 5.2, made from the columns of two files in a folder."""

    def __init__(self, folder):
        missing = [name for name in ("Spellman.csv", "baseball.csv") if not (folder / name).exists()]
        if missing:
            raise SystemExit(f"{' and '.join(missing)} not found in {folder}; name their folder with --data.")
        genes = pd.read_csv(folder / "Spellman.csv", index_col=0)
        self._genes = genes.to_numpy(dtype=np.float64)
        # 129 statistics follow a player's name, number, salary, status as a rookie and position.
        self._statistics = pd.read_csv(folder / "baseball.csv").iloc[:, 5:].to_numpy(dtype=np.float64).T
        self.pair = lru_cache(maxsize=8)(self._pair)  # keeps the scores that several mechanisms need

    def names(self, collection):
        """The data sets of a collection: pairs of column numbers, or gene numbers with None."""
        if collection == "Spellman23":
            return [(i, None) for i in range(len(self._genes))]
        n_columns = len(self._statistics) if collection == "Baseball" else self._genes.shape[1]
        return list(combinations(range(n_columns), 2))

    def _pair(self, collection, i, j):
        if collection == "Spellman23":
            times = np.arange(1.0, 24.0)
            return Pair(times, self._genes[i], ((0, 24), widened(self._genes[i])))
        if collection == "Baseball":
            x, y = self._statistics[i], self._statistics[j]
            return Pair(x, y, (widened(x), widened(y)))
        bounds = widened(self._genes)
        return Pair(self._genes[:, i].copy(), self._genes[:, j].copy(), (bounds, bounds))


def widened(values):
    """The range of the values, extended on both sides by a hundredth of its length, or by 1 if they are constant."""
    lo, hi = values.min(), values.max()
    margin = (hi - lo) / 100 or 1.0
    return lo - margin, hi + margin


def chosen(names, size, seed=0):
    """`size` random data sets, or all of them, in their original order."""
    if size is None or size >= len(names):
        return names
    return [names[k] for k in sorted(np.random.RandomState(seed).permutation(len(names))[:size])]


# --- The errors ---------------------------------------------------------------------------------------------------


def measured(options, collections=COLLECTIONS):
    """Errors against MICe(n^0.6, 15), one row for each data set, epsilon, mechanism and noise: a DataFrame."""
    data = Collections(options.data)
    runs = dict.fromkeys(METHODS, options.runs or 100)
    runs[SIMULATED] = max(runs[SIMULATED] // 10, 5)

    def compute(configuration, seed):
        pair = data.pair(*(configuration[name] for name in ("collection", "i", "j")))
        wanted = (configuration[name] for name in ("mechanism", "noise", "epsilon", "runs"))
        return {"mic_e": pair.mic_e} | errors(outputs(pair, *wanted, seed), pair.mic_e)

    rows = []
    for collection in collections:
        n = N_SAMPLES[collection]
        configurations = [
            configuration({"collection": collection, "i": i, "j": j}, n, method, epsilon, runs[method])
            for method, (i, j) in methods_and_sets(data.names(collection), collection, options.quick)
            for epsilon in EPSILONS
        ]
        rows += completed(options.output / "raw" / f"{collection}.csv", configurations, compute, collection)
    return pd.DataFrame(rows)


def methods_and_sets(names, collection, quick):
    """Pairs of a method and a data set to run, one data set after the other."""
    sets = {method: set(chosen(names, n_data_sets(method, collection, quick))) for method in METHODS}
    return [(method, name) for name in names for method in METHODS if name in sets[method]]


def n_data_sets(method, collection, quick):
    """Number of data sets that a mechanism is run on; None for all."""
    if method == SIMULATED:
        return (QUICK_SIMULATED if quick else FULL_SIMULATED)[collection]
    if not quick:
        return None
    return (QUICK_HEADLINE if method[0] == "MICr-Lap" else QUICK)[collection]
