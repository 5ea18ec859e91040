"""Figures 2 and 4 of the paper: bias and variance on 189 distributions, n = 25 ... 10,000, epsilon = 1 and 0.1.

    python -m benchmarks.paper.synthetic --quick

Each of 50 runs draws a sample of its own. Errors are against MIC* of the distribution.
"""

import numpy as np
import pandas as pd

from benchmarks.paper.mechanisms import MECHANISMS, METHODS, NOISES, SIMULATED, errors, outputs, settings
from benchmarks.paper.plots import boxplots
from benchmarks.paper.samples import EPSILONS, N_SAMPLES, distributions, sample
from benchmarks.paper.store import completed, parser_of, result_path, write_csv
from skdpmic.datasets import load_mic_star

FIGURES = {1.0: "figure2", 0.1: "figure4"}
COLUMNS = {"paper": "the paper's noise", "shipped": "as shipped"}
MEASURES = ("bias", "variance", "error")

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

    runs = options.runs or (10 if options.quick else 50)
    rows = []
    for n in options.n or ((25, 250, 1000, 5000) if options.quick else N_SAMPLES):
        configurations = [
            configuration(n, name, r2, *method, epsilon, max(runs // 5, 2) if method == SIMULATED else runs)
            for name, r2 in distributions(options.quick)
            for epsilon in EPSILONS
            for method in METHODS
        ]
        rows += completed(options.output / "raw" / "synthetic.csv", configurations, compute, f"n = {n}")
    return pd.DataFrame(rows)


def configuration(n, name, r2, mechanism, noise, epsilon, runs):
    """What a result depends on; B and c with it, so that new defaults are computed and not taken from the file."""
    B, c = settings(mechanism, noise, n, epsilon)
    names = ("n", "name", "r2", "epsilon", "mechanism", "noise", "B", "c", "runs")
    return dict(zip(names, (n, name, r2, epsilon, mechanism, noise, round(B, 3), round(c, 3), runs), strict=True))


def summary(rows):
    """Five numbers of each box of the figures, those of the unsigned error, and what the paper says of them."""
    table = []
    keys = ["epsilon", "n", "mechanism", "noise"]
    for key, group in rows.groupby(keys, sort=False):
        row = dict(zip(keys, key, strict=True)) | {"distributions": len(group), "runs": int(group.runs.iloc[0])}
        for measure in MEASURES:
            for name, level in (("min", 0), ("q1", 0.25), ("median", 0.5), ("q3", 0.75), ("max", 1)):
                row[f"{measure}_{name}"] = float(group[measure].quantile(level))
        in_text = PAPER.get((row["n"], row["mechanism"]), {}) if key[0] == 1 and row["noise"] == "paper" else {}
        for name in ("bias_median", "bias_min", "bias_max", "variance_median"):
            row[f"paper_{name}"] = in_text.get(name)
        table.append(row)
    return table


def draw(rows, epsilon, path):
    panels = []
    for noise in NOISES:
        chosen = rows[(rows.epsilon == epsilon) & (rows.noise == noise)]
        panels.append(
            {
                (f"{n:,}", mechanism, measure): chosen.loc[
                    (chosen.n == n) & (chosen.mechanism == mechanism), measure
                ].to_numpy()
                for n in rows.n.unique()
                for mechanism in MECHANISMS
                for measure in ("bias", "variance")
            }
        )
    boxplots(path, panels, [f"$\\varepsilon$ = {epsilon:g}, {COLUMNS[noise]}" for noise in NOISES], "n")


def main(argv=None):
    parser = parser_of(__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, nargs="+", choices=N_SAMPLES, help="only these numbers of records")
    options = parser.parse_args(argv)
    rows = measured(options)
    table = summary(rows)
    write_csv(result_path(options, "synthetic.csv"), table)
    for epsilon in EPSILONS:
        draw(rows, epsilon, result_path(options, f"{FIGURES[epsilon]}.png"))
    return table


if __name__ == "__main__":
    main()
