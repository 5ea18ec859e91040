"""Tables 1 and 3 of the paper: errors of the three mechanisms on real data, at epsilon = 1 and 0.1.

    python -m benchmarks.paper.tables --quick

Bias (mean signed error against MICe), variance and mean unsigned error of 100 runs on each data set; medians over the
data sets of a collection. Three columns: the paper's number, ours with the paper's noise, ours as shipped.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.output import ROOT, add_output, results_folder
from benchmarks.paper.mechanisms import EPSILONS, MEASURES, MECHANISMS
from benchmarks.paper.real_data import COLLECTIONS, measured

RESULTS, DATA = Path(__file__).resolve().parent / "results", ROOT.parent / "shared" / "data"

# Tables 1 and 3: bias, variance; Section 5.2: unsigned error, at epsilon = 1 only.
PAPER = {
    (1.0, "Spellman23"): {
        "MICe-Lap": (0.18, 0.23, 0.46),
        "MICr-Lap": (0.14, 0.17, 0.39),
        "MICr-Geom": (0.24, 0.01, 0.25),
    },
    (1.0, "Baseball"): {
        "MICe-Lap": (0.30, 0.21, None),
        "MICr-Lap": (0.02, 0.02, 0.097),
        "MICr-Geom": (0.06, 9e-4, 0.068),
    },
    (1.0, "Spellman4381"): {
        "MICe-Lap": (0.26, 0.17, None),
        "MICr-Lap": (-0.01, 4e-4, 0.016),
        "MICr-Geom": (0.02, 1e-4, 0.019),
    },
    (0.1, "Spellman23"): {"MICe-Lap": (0.20, 0.24), "MICr-Lap": (0.19, 0.24), "MICr-Geom": (0.31, 0.05)},
    (0.1, "Baseball"): {"MICe-Lap": (0.36, 0.24), "MICr-Lap": (0.25, 0.18), "MICr-Geom": (0.33, 0.01)},
    (0.1, "Spellman4381"): {"MICe-Lap": (0.41, 0.24), "MICr-Lap": (0.03, 0.01), "MICr-Geom": (0.14, 8e-4)},
}


def medians(measured_rows):
    """Median over the data sets, and its standard error: one row for each number of the tables."""
    rows = []
    for epsilon in EPSILONS:
        for collection in COLLECTIONS:
            for mechanism in MECHANISMS:
                of_paper = dict(zip(MEASURES, PAPER[epsilon, collection][mechanism], strict=False))
                of_mechanism = measured_rows.query(
                    "epsilon == @epsilon and collection == @collection and mechanism == @mechanism"
                )
                for measure in MEASURES:
                    row = {"epsilon": epsilon, "collection": collection, "mechanism": mechanism, "measure": measure}
                    row["paper"] = of_paper.get(measure)
                    for noise in ("paper", "shipped"):
                        values = of_mechanism.loc[of_mechanism.noise == noise, measure].to_numpy()
                        name = "reproduced" if noise == "paper" else "shipped"
                        row[name], row[f"{name}_se"] = median_and_error(values)
                        row[f"{name}_data_sets"] = len(values)
                    rows.append(row)
    return rows


def median_and_error(values):
    """The median and its standard error, from the order statistics one standard deviation of their rank away.

    The data sets count as a sample of a larger collection, so the error is on the safe side where all are used.
    """
    if len(values) == 0:
        return None, None
    ordered, reach = np.sort(values), np.sqrt(len(values)) / 2
    lower, upper = (int(np.clip(round((len(values) - 1) / 2 + shift), 0, len(values) - 1)) for shift in (-reach, reach))
    return float(np.median(ordered)), float(ordered[upper] - ordered[lower]) / 2


def as_markdown(rows):
    """The tables, each number as the paper's | ours with its noise | ours as shipped."""
    lines = []
    for epsilon in EPSILONS:
        lines += ["", f"epsilon = {epsilon:g}", ""]
        lines.append("| collection | mechanism | " + " | ".join(MEASURES) + " |")
        lines.append("| --- | --- | --- | --- | --- |")
        table = pd.DataFrame([row for row in rows if row["epsilon"] == epsilon])
        for (collection, mechanism), group in table.groupby(["collection", "mechanism"], sort=False):
            cells = [
                " / ".join(shown(getattr(row, name)) for name in ("paper", "reproduced", "shipped"))
                for row in group.itertuples()
            ]
            lines.append("| " + " | ".join([collection, mechanism, *cells]) + " |")
    return "\n".join(lines)


def shown(value):
    return "--" if value is None or np.isnan(value) else f"{value:.2g}"


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small part of the experiment, in a minute or so")
    parser.add_argument("--runs", type=int, help="runs per data set, instead of the paper's number")
    parser.add_argument("--data", type=Path, default=DATA, help="folder with baseball.csv and Spellman.csv")
    add_output(parser, RESULTS, "folder")
    options = parser.parse_args(argv)
    options.output = results_folder(parser, options, RESULTS, ["tables.csv"])
    rows = medians(measured(options))
    pd.DataFrame(rows).to_csv(options.output / "tables.csv", index=False, float_format="%.4g", lineterminator="\n")
    print(as_markdown(rows))
    return rows


if __name__ == "__main__":
    main()
