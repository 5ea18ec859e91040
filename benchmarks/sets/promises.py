"""What a plan promises, and what is found.

Found is the share of the columns that PrivateSelectKBest chooses that count, beyond chance: those chosen without noise,
and those whose noise-free worth is within the tolerance of the last of these. The criterion is the default, so it
depends only on public numbers. Promised is what the plan of that fit states.
"""

import contextlib
import warnings
from functools import lru_cache
from unittest import mock

import numpy as np
import pandas

from benchmarks.sets.ways import best
from benchmarks.sets.worth import load
from benchmarks.store import completed
from skdpmic.planning.chances import SIGNALS, above_chance, tolerance_of
from skdpmic.privacy import top_k
from skdpmic.privacy.mechanisms import GRID
from skdpmic.privacy.top_k import CubeTopK, OneShotTopK

EPSILONS = (0.03, 0.1, 0.3, 1.0, 3.0)
N_DRAWS = 40


def promised(folder, names, n_draws=N_DRAWS, epsilons=EPSILONS, load=load):
    """A row for each table and epsilon."""
    todo = [{"table": name, "epsilon": epsilon, "n_draws": n_draws} for name in names for epsilon in epsilons]
    known = lru_cache(lambda name, epsilon, criterion: counted(load(name), epsilon, criterion))

    def find(configuration, seed):
        table, epsilon = load(configuration["table"]), configuration["epsilon"]
        seeds = np.random.default_rng(seed).integers(2**31, size=n_draws)
        fits = [_chosen(table, epsilon, int(each)) for each in seeds]
        counts = known(configuration["table"], epsilon, fits[0][1])
        shares = [counts[chosen].mean() for chosen, _ in fits]
        of_plans = {signal: _plan(table, configuration["epsilon"], signal) for signal in SIGNALS}
        return {
            "counted": np.mean(shares),
            "counted se": np.std(shares, ddof=1) / np.sqrt(n_draws),
            "by chance": counts.mean(),
            "is joint": fits[0][1] == "joint",
            **{f"promised, {signal}": of.found for signal, of in of_plans.items()},
        }

    rows = pandas.DataFrame(completed(folder / "promised.csv", todo, find, "promised"))
    sizes = {name: (*load(name).X.shape, load(name).k) for name in names}
    rows[["n", "d", "k"]] = [sizes[name] for name in rows["table"]]
    return rows


def found(rows):
    """The share found beyond chance over all rows, as a plan defines it; NaN if every column counts."""
    share, by_chance = rows["counted"].mean(), rows["by chance"].mean()
    return above_chance(share, by_chance) if by_chance < 1 else np.nan


def standard_error(rows):
    """Of the share found beyond chance: a ratio of two means over the rows, linearised."""
    beyond, most = rows["counted"] - rows["by chance"], 1 - rows["by chance"]
    return (beyond - found(rows) * most).std() / most.mean() / len(rows) ** 0.5


def counted(table, epsilon, criterion):
    """Whether each column counts: chosen by the same rule without noise, or as good up to the tolerance.

    How far worth may be from gains depends on epsilon; the noise in shares of the target does so little there.
    """
    last = {}

    def choose(self, scores, random_bytes):
        noisy = np.array(scores, dtype=np.float64)
        last["scores"], last["order"] = noisy, np.argsort(-noisy, kind="stable")[: self.k]
        return last["order"].tolist(), scores

    with contextlib.ExitStack() as stack:
        for mechanism in (OneShotTopK, CubeTopK):
            stack.enter_context(mock.patch.object(mechanism, "_choose", choose))
        stack.enter_context(mock.patch.object(top_k, "discrete_laplace", return_value=[0]))
        chosen, _ = _chosen(table, epsilon if criterion == "joint" else 1e6, 0, criterion)
    counts = np.zeros(table.X.shape[1], dtype=bool)
    counts[chosen] = True
    scores, order, left = last["scores"], last["order"], np.flatnonzero(~counts)
    # The last of the choices in turn compared the columns that were not chosen before.
    of_left = scores[left] if len(scores) == len(counts) else np.delete(scores, order)
    counts[left] = of_left >= scores[order[-1]] - tolerance_of(len(table.y)) / GRID
    return counts


def _chosen(table, epsilon, seed, criterion="auto"):
    """The columns that a fit chooses, and the criterion that it uses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the seed, and about noise that exceeds the signal
        fitted = best(table, epsilon, seed, criterion=criterion).fit(table.X, table.y)
    return np.flatnonzero(fitted.get_support()), fitted.criterion_


def _plan(table, epsilon, signal):
    return best(table, epsilon).plan(*table.X.shape, signal=signal)[0]
