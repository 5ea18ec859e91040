"""What B="auto" and c="auto" choose and cost: python -m benchmarks.defaults prints tables of results/defaults.md.

They come from the tables in the package and from the errors on fresh samples in results/defaults*.csv, made by
``benchmarks/tune_defaults.py`` of commits 64ec2246 (with a correction for chance) and 2a2d595 (without).
"""

import argparse

import numpy as np
import pandas as pd

from benchmarks.output import ROOT, table
from skdpmic import mic_r
from skdpmic.statistics.mic.statistic import TABLES, default_B, default_c

CHOSEN_N = (25, 50, 100, 250, 500, 1000, 4000, 10_000, 30_000, 100_000)
COMPARED_N, COMPARED_EPSILONS = (100, 1000, 2500, 5000, 10_000, 60_000), (0.1, 1.0, 10.0)
CHANCE_B = (72, 200, 1000)
MM = "miller-madow"
KINDS = (0, 2, 3, 5, 10)  # classes of the target; 0 stands for a continuous one


def choices(correction):
    """(B, c) for each n and kind of target; they are the same at any epsilon."""
    body = []
    for kind in KINDS:
        chosen = ([of(n, 1.0, kind or None, correction) for of in (default_B, default_c)] for n in CHOSEN_N)
        body.append([_kind(kind), *("{:g}, {:g}".format(*pair) for pair in chosen)])
    return table(["target", *(f"n = {n:,}" for n in CHOSEN_N)], body)


def gains():
    """Errors without and with the correction."""
    errors = {correction: _errors(correction) for correction in (None, MM)}
    body = []
    for n in COMPARED_N:
        cells = [", ".join(f"{errors[of][n, epsilon]:.4f}" for of in errors) for epsilon in COMPARED_EPSILONS]
        body.append([f"{n:,}", *cells])
    heads = [f"ε = {epsilon:g}: without, with" for epsilon in COMPARED_EPSILONS]
    return table(["n", *heads], body)


def _errors(correction):
    rows = _laplace(correction)
    rows = rows[rows["n_classes"] == 0]
    return {(row.n, round(row.epsilon, 6)): row.error for row in rows.itertuples()}


def class_gains():
    """Smallest and largest reduction of the error against classes by the correction, for epsilon of at least 1."""
    both = _laplace(None).merge(_laplace(MM), on=["n_classes", "n", "epsilon"], suffixes=("", "_with"))
    both = both[both["epsilon"] >= 1].assign(gain=1 - both["error_with"] / both["error"])
    known = both.groupby(["n", "n_classes"])["gain"].agg(["min", "max"])
    sizes = [n for n in sorted(set(both["n"])) if n >= 100]
    body = [
        [f"{n:,}", *("{:.0%} to {:.0%}".format(*known.loc[(n, kind), ["min", "max"]]) for kind in KINDS if kind)]
        for n in sizes
    ]
    return table(["n, ε from 1 on", *(_kind(kind) for kind in KINDS if kind)], body)


def costs(correction):
    """Excess of the automatic choice's error over the smallest error on the grid, over n and epsilon."""
    body = []
    for kind, rows in _laplace(correction).groupby("n_classes"):
        worst = rows.loc[rows["excess"].idxmax()]
        shares = (rows["excess"].median(), rows["excess"].quantile(0.95), worst["excess"])
        where = f"n = {int(worst['n']):,}, ε = {worst['epsilon']:g}"
        body.append([_kind(kind), str(len(rows)), *(f"{share:.1%}" for share in shares), where])
    return table(["target", "cells", "median", "95% of cells below", "worst", "where"], body)


def chance(n=1000, n_tables=5):
    """Mean MICr of two independent columns, for each B."""
    tables = [np.random.default_rng(seed).random((2, n)) for seed in range(n_tables)]
    means = [np.mean([mic_r(x, y, bounds=((0, 1), (0, 1)), B=B) for x, y in tables]) for B in CHANCE_B]
    return table(["B", *map(str, CHANCE_B)], [["MICr", *(f"{mean:.2f}" for mean in means)]])


def _laplace(correction):
    rows = pd.read_csv(ROOT / "benchmarks" / "results" / TABLES[correction])
    return rows[rows["noise"] == "laplace"]


def _kind(n_classes):
    return f"{n_classes} classes" if n_classes else "continuous"


PARTS = {
    "B, c with the correction": lambda: choices(MM),
    "B, c without a correction": lambda: choices(None),
    "Errors without and with the correction": gains,
    "By how much the correction lowers the error against classes": class_gains,
    "Excess over the least error, with the correction": lambda: costs(MM),
    "Excess over the least error, without a correction": lambda: costs(None),
    "MICr of 1,000 uniform records without a relationship": chance,
}


def main(argv=None):
    """Print all tables."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args(argv)
    print("\n\n".join(f"{title}\n\n{made()}" for title, made in PARTS.items()))


if __name__ == "__main__":
    main()
