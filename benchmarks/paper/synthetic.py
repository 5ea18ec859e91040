"""Figures 2 and 4 of the paper: bias and variance on 189 distributions, n = 25 ... 10,000, epsilon = 1 and 0.1.

    python -m benchmarks.paper.synthetic --quick

Each of 50 runs draws a sample of its own. Errors are against MIC* of the distribution.
"""

import numpy as np
import pandas as pd

from benchmarks.paper.mechanisms import (
    EPSILONS,
    MEASURES,
    METHODS,
    NOISES,
    SIMULATED,
    TUNED_N,
    configuration,
    errors,
    outputs,
)
from benchmarks.paper.plots import NAMES, boxplots, five_numbers
from benchmarks.paper.samples import distributions, sample
from benchmarks.paper.script import options_of, write_csv
from benchmarks.store import completed
from skdpmic.datasets import load_mic_star

FIGURES = {1.0: "figure2", 0.1: "figure4"}

# What Section 5.1 says of Figure 2 (epsilon = 1).
PAPER = {
    (5000, "MICr-Lap"): {"bias_median": 0.01, "bias_min": -0.1, "bias_max": 0.02},
    (5000, "MICr-Geom"): {"bias_median": 0.01, "bias_min": -0.37, "bias_max": 0.04},
    (250, "MICr-Geom"): {"variance_median": 0.003},
}


def measured(options):
    """Errors against MIC*, one row for each n, distribution, epsilon, mechanism and noise: a DataFrame."""
    mic_star = load_mic_star()

    def compute(configuration, seed):
        n, name, r2, runs = (configuration[key] for key in ("n", "name", "r2", "runs"))
        wanted = [configuration[key] for key in ("mechanism", "noise", "epsilon")]
        released = [outputs(sample(name, r2, n, run), *wanted, 1, (seed + run) % 2**32) for run in range(runs)]
        return {"mic_star": mic_star[name, r2]} | errors(np.concatenate(released), mic_star[name, r2])

    runs = dict.fromkeys(METHODS, options.runs or (10 if options.quick else 50))
    runs[SIMULATED] = max(runs[SIMULATED] // 5, 2)
    rows = []
    for n in options.n or ((25, 250, 1000, 5000) if options.quick else TUNED_N):
        configurations = [
            configuration({"n": n, "name": name, "r2": r2}, n, method, epsilon, runs[method])
            for name, r2 in distributions(options.quick)
            for epsilon in EPSILONS
            for method in METHODS
        ]
        rows += completed(options.output / "raw" / "synthetic.csv", configurations, compute, f"n = {n}")
    return pd.DataFrame(rows)


def summary(rows):
    """Five numbers of each box of the figures, those of the unsigned error, and what the paper says of them."""
    table = []
    keys = ["epsilon", "n", "mechanism", "noise"]
    for key, group in rows.groupby(keys, sort=False):
        row = dict(zip(keys, key, strict=True)) | {"distributions": len(group), "runs": int(group.runs.iloc[0])}
        row |= five_numbers(group, MEASURES)
        in_text = PAPER.get((row["n"], row["mechanism"]), {}) if key[0] == 1 and row["noise"] == "paper" else {}
        for name in ("bias_median", "bias_min", "bias_max", "variance_median"):
            row[f"paper_{name}"] = in_text.get(name)
        table.append(row)
    return table


def draw(table, epsilon, path):
    """The figure of this epsilon, from the table of :func:`summary`."""
    rows = table[table["epsilon"] == epsilon]
    rows = rows.assign(n=rows["n"].map("{:,}".format))
    boxplots(path, {NAMES[noise]: rows[rows["noise"] == noise] for noise in NOISES}, "n", "rows")


def main(argv=None):
    options = options_of(__doc__, False, ["synthetic.csv", *(f"{name}.png" for name in FIGURES.values())], argv)
    rows = measured(options)
    table = summary(rows)
    write_csv(options.output / "synthetic.csv", table)
    for epsilon, name in FIGURES.items():
        draw(pd.DataFrame(table), epsilon, options.output / f"{name}.png")
    return table


if __name__ == "__main__":
    main()
