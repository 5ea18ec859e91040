"""Figures 3 and 5 of the paper: bias and variance on real data by the data set's MICe, at epsilon = 1 and 0.1.

    python -m benchmarks.paper.binned --quick

Uses the results of tables.py, and computes what is missing.
"""

from itertools import pairwise, product

import pandas as pd

from benchmarks.paper.mechanisms import NOISES
from benchmarks.paper.plots import NAMES, boxplots, five_numbers
from benchmarks.paper.real_data import measured
from benchmarks.paper.script import options_of, write_csv

BINS = {"Spellman4381": (0, 0.1, 0.2, 0.3, 0.4, 1), "Baseball": (0, 0.2, 0.4, 0.6, 0.8, 1)}
FIGURES = {1.0: "figure3", 0.1: "figure5"}

# What Section 5.2 says of Figure 3: the median bias in the bin of the lowest MICe.
PAPER_LOWEST = {
    ("Spellman4381", "MICr-Geom"): 0.03,
    ("Baseball", "MICr-Geom"): 0.09,
    ("Spellman4381", "MICr-Lap"): -0.01,
    ("Baseball", "MICr-Lap"): 0.03,
}


def with_bins(rows, collection):
    """The rows of a collection, with their bin of MICe; the highest bin holds 1."""
    rows = rows[rows.collection == collection]
    edges = BINS[collection]
    labels = [f"{lo:g}–{hi:g}" for lo, hi in pairwise(edges)]  # noqa: RUF001
    return rows.assign(bin=pd.cut(rows.mic_e, [*edges[:-1], 1.001], labels=labels, right=False))


def summary(rows):
    """Five numbers of each box of the figures."""
    table = []
    for collection in BINS:
        binned = with_bins(rows, collection)
        keys = ["epsilon", "bin", "mechanism", "noise"]
        for key, group in binned.groupby(keys, sort=False, observed=True):
            row = {"collection": collection} | dict(zip(keys, key, strict=True)) | {"data_sets": len(group)}
            in_text = row["epsilon"] == 1 and row["noise"] == "paper" and row["bin"] == binned.bin.cat.categories[0]
            row["paper_median_bias"] = PAPER_LOWEST.get((collection, row["mechanism"])) if in_text else None
            table.append(row | five_numbers(group))
    return table


def draw(table, epsilon, path):
    """The figure of this epsilon, from the table of :func:`summary`."""
    panels = {}
    for collection, noise in product(BINS, NOISES):
        rows = table[(table["collection"] == collection) & (table["epsilon"] == epsilon) & (table["noise"] == noise)]
        panels[f"{collection},\n{NAMES[noise]}"] = rows.sort_values("bin", key=_lowest)
    boxplots(path, panels, "bin", "MICe of the data set")


def _lowest(bins):
    return bins.astype(str).str.extract(r"^([\d.]+)", expand=False).astype(float)


def main(argv=None):
    options = options_of(__doc__, True, ["binned.csv", *(f"{name}.png" for name in FIGURES.values())], argv)
    rows = measured(options, tuple(BINS))
    table = summary(rows)
    write_csv(options.output / "binned.csv", table)
    for epsilon, name in FIGURES.items():
        draw(pd.DataFrame(table), epsilon, options.output / f"{name}.png")
    return table


if __name__ == "__main__":
    main()
