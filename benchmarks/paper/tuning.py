"""Table 2 of the paper: the c and B of MICr-Lap and MICr-Geom with the least error against MIC*.

    python -m benchmarks.paper.tuning --quick

The objective is that of Appendix E.2.3: the mean unsigned error on each of the 189 distributions, added up with weights
that give every part of the range of MIC* the same say. MICr-Lap's is exact for a sample; no noise is drawn.
"""

from itertools import product

import numpy as np
import pandas as pd

from benchmarks.paper.mechanisms import EPSILONS, TUNED, TUNED_N, laplace_scale, settings
from benchmarks.paper.samples import distributions, sample
from benchmarks.paper.script import options_of, write_csv
from benchmarks.published_geometric import published_scores_not_dp
from benchmarks.store import completed
from benchmarks.tune_defaults import unsigned_error, weights
from skdpmic.datasets import load_mic_star

SIZES = (4, 6, 8, 10, 12, 16, 20, 30, 40, 60, 80, 100, 125, 150)
CS = {"MICr-Lap": (5.0,), "MICr-Geom": (1.0, 2.0)}


def measured(options):
    """Mean unsigned error against MIC* for each n, distribution, mechanism, c, B and epsilon: a DataFrame."""
    runs = options.runs or (4 if options.quick else 50)
    names = ("mechanism", "noise", "epsilon", "n", "name", "r2", "B", "c", "runs")
    mic_star = load_mic_star()

    def compute(configuration, seed):
        mechanism, noise, epsilon, n, name, r2, B, c, runs = (configuration[key] for key in names)
        truth = mic_star[name, r2]
        pairs = [sample(name, r2, n, run) for run in range(runs)]
        if mechanism == "MICr-Lap":
            scores = np.array([pair.mic_r(B, c) for pair in pairs])
            return {"error": unsigned_error(scores, truth, laplace_scale(mechanism, noise, n, epsilon), 1.0).mean()}
        released = [
            published_scores_not_dp(pair.x, pair.y, pair.bounds, epsilon, B, c, 1, (seed + run) % 2**32)
            for run, pair in enumerate(pairs)
        ]
        return {"error": np.abs(np.concatenate(released) - truth).mean()}

    rows = []
    for n in options.n or ((250, 1000) if options.quick else TUNED_N):
        configurations = [
            dict(zip(names, (mechanism, noise, epsilon, n, name, r2, B, c, runs), strict=True))
            for name, r2 in distributions(options.quick)
            for mechanism, noise, epsilon, B, c in candidates(n)
        ]
        rows += completed(options.output / "raw" / "tuning.csv", configurations, compute, f"n = {n}")
    return pd.DataFrame(rows)


def candidates(n):
    """(mechanism, noise, epsilon, B, c) to compare at n records: the grid, the paper's choice and the automatic one."""
    for mechanism, cs in CS.items():
        for epsilon in EPSILONS:
            yield from ((mechanism, "paper", epsilon, float(B), c) for B, c in product(SIZES, cs))
    for epsilon in EPSILONS:
        yield from (("MICr-Lap", "shipped", epsilon, float(B), 5.0) for B in SIZES)
        B, c = settings("MICr-Lap", "shipped", n, epsilon)
        if (B, c) not in product(SIZES, CS["MICr-Lap"]):
            yield "MICr-Lap", "shipped", epsilon, B, c


def objectives(rows):
    """The weighted sum of each candidate: a Series."""
    mic_star = load_mic_star()
    rows = rows.assign(truth=[mic_star[key] for key in zip(rows.name, rows.r2, strict=True)])
    groups = rows.groupby(["mechanism", "noise", "n", "epsilon", "c", "B"], sort=False)
    return pd.Series({key: weights(group.truth.to_numpy()) @ group.error.to_numpy() for key, group in groups})


def summary(rows):
    """For each mechanism, n and epsilon: the paper's choice, the best with its noise, and what the package takes."""
    objective = objectives(rows).sort_index()
    table = []
    for mechanism, n, epsilon in product(CS, rows.n.unique(), EPSILONS):
        row = {"mechanism": mechanism, "n": n, "epsilon": epsilon}
        reproduced = objective[mechanism, "paper", n, epsilon]
        c, B = TUNED[mechanism, epsilon][TUNED_N.index(n)]
        row |= {"paper_c": c, "paper_B": B, "objective_at_paper": reproduced[c, B]}
        row |= best(reproduced, "reproduced")
        if mechanism == "MICr-Lap":
            shipped = objective[mechanism, "shipped", n, epsilon]
            B, c = settings(mechanism, "shipped", n, epsilon)
            row |= {"automatic_c": c, "automatic_B": B, "objective_at_automatic": shipped[c, B]}
            row |= best(shipped, "shipped")
        table.append(row)
    columns = dict.fromkeys(name for row in table for name in row)
    return [{name: row.get(name) for name in columns} for row in table]


def best(objective, name):
    c, B = objective.idxmin()
    return {f"{name}_c": c, f"{name}_B": B, f"{name}_objective": objective.min()}


def main(argv=None):
    options = options_of(__doc__, False, ["tuning.csv"], argv)
    table = summary(measured(options))
    write_csv(options.output / "tuning.csv", table)
    return table


if __name__ == "__main__":
    main()
