"""PrivatePC and the published private algorithms: python -m benchmarks.causal.compare [--picture --output FILE].

Tables of 100,000 records are drawn from pgmpy's networks. The published algorithms, whose guarantees do not hold, run
at several epsilons per step; the total that they report, at a delta of 1e-3, is their claim. At (1, 1e-6), three
methods run: PrivatePC on labels (noisy two-way tables), PrivatePC on label numbers in alphabetical order (Kendall
matrix), and sieve-and-examine with its errors corrected. At a delta of 1e-3, PrivatePC runs on labels at totals of 0.1,
0.3, 1, ..., 100. If a published algorithm comes closer to the network than PrivatePC at the largest of these totals
below the claim, PrivatePC also runs at the claim itself, rounded down to two digits.

Each row of benchmarks/results/causal_compare.csv is one algorithm on one table. Commit 2a2d595 has the programs of all
published algorithms and the command that made the file; this command prints its tables or draws it.
"""

import argparse
import csv
import math
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.output import add_output, refuse_to_overwrite
from benchmarks.style import BLUE, GREEN, GREY, ORANGE, VERMILION, WIDTH, legible

FILE = Path(__file__).parents[1] / "results" / "causal_compare.csv"
PICTURE = Path(__file__).parents[2] / "docs" / "images" / "causal_compare.png"
N_EDGES = {"earthquake": 4, "cancer": 4, "asia": 8, "survey": 6, "sachs": 17, "child": 25}
PUBLISHED = ("Priv-PC", "EM-PC", "SVT-PC")
STEPS = (0.01, 0.03, 0.1, 0.3, 1.0)
CLAIMED_DELTA, DELTA = 1e-3, 1e-6
LABELS, NUMBERS, SIEVE = "PrivatePC, tables", "PrivatePC, Kendall", "corrected sieve"


def kept():
    """The rows of the file."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return [row | {name: float(row[name]) for name in ("claimed", "f1", "shd")} for row in csv.DictReader(file)]


def cells(rows):
    """Mean and standard error of `claimed`, `f1` and `shd` for each network, algorithm and budget."""
    of_cell = defaultdict(list)
    for row in rows:
        of_cell[row["network"], row["algorithm"], float(row["epsilon"]), float(row["delta"])].append(row)
    for (name, algorithm, epsilon, delta), of_tables in of_cell.items():
        summary = {"network": name, "algorithm": algorithm, "epsilon": epsilon, "delta": delta}
        for number in ("claimed", "f1", "shd"):
            values = [row[number] for row in of_tables]
            summary[number] = np.mean(values), np.std(values, ddof=1) / math.sqrt(len(values))
        yield summary


def rivals(rows, name):
    """Pairs of a published algorithm's cell and PrivatePC's at the largest epsilon that does not exceed its claim."""
    of_network = [cell for cell in cells(rows) if cell["network"] == name]
    ours = [cell for cell in of_network if (cell["algorithm"], cell["delta"]) == (LABELS, CLAIMED_DELTA)]
    for rival in of_network:
        if rival["algorithm"] in PUBLISHED:
            up_to_claim = [cell for cell in ours if cell["epsilon"] <= rival["claimed"][0]]
            yield rival, max(up_to_claim, key=lambda cell: cell["epsilon"])


def report(rows):
    """Tables in Markdown."""
    at_one = [cell for cell in cells(rows) if cell["delta"] == DELTA]
    yield "| network (edges) | " + " | ".join((LABELS, NUMBERS, SIEVE)) + " |"
    yield "| --- |" + " ---: |" * 3
    for name in N_EDGES:
        of_network = {cell["algorithm"]: cell for cell in at_one if cell["network"] == name}
        yield f"| {_title(name)} | " + " | ".join(_result(of_network[key]) for key in (LABELS, NUMBERS, SIEVE)) + " |"
    yield ""
    yield "| network (edges) | algorithm | " + " | ".join(f"step {step:g}" for step in STEPS) + " |"
    yield "| --- | --- |" + " --- |" * len(STEPS)
    for name, algorithm in product(N_EDGES, PUBLISHED):
        pairs = [pair for pair in rivals(rows, name) if pair[0]["algorithm"] == algorithm]
        yield f"| {_title(name)} | {algorithm} | " + " | ".join(_beside(*pair) for pair in pairs) + " |"


def _title(name):
    return f"{name} ({N_EDGES[name]})"


def _result(cell):
    (f1, _), (shd, error) = cell["f1"], cell["shd"]
    return f"{f1:.2f}, {shd:.1f} ± {error:.1f}"


def _beside(rival, ours):
    claimed, shd, of_ours = (number[0] for number in (rival["claimed"], rival["shd"], ours["shd"]))
    digits = 0 if claimed >= 10 else 1 if claimed >= 1 else 2
    text = f"{claimed:.{digits}f}: {shd:.1f} / {of_ours:.1f}"
    return f"**{text}**" if _is_nearer(rival, ours) else text


def _is_nearer(rival, ours):
    return rival["shd"][0] < ours["shd"][0]


def picture(rows, path):
    """Distance from the network's graph against epsilon, one panel per network."""
    from matplotlib.figure import Figure

    colors = (BLUE, ORANGE, GREEN, GREY)
    with legible(**{"font.size": 10, "axes.titlesize": 10, "legend.fontsize": 10}):
        figure = Figure(figsize=(WIDTH, 8.2))
        for axes, name in zip(figure.subplots(3, 2).flat, N_EDGES, strict=True):
            of_network = [cell for cell in cells(rows) if cell["network"] == name]
            for algorithm, marker, color in zip((LABELS, *PUBLISHED), "osD^", colors, strict=True):
                line = sorted(
                    (*cell["claimed"][:1], *cell["shd"])
                    for cell in of_network
                    if (cell["algorithm"], cell["delta"]) == (algorithm, CLAIMED_DELTA)
                )
                epsilon, shd, error = np.transpose(line)
                filled = {} if algorithm == LABELS else {"markerfacecolor": "none", "linestyle": "none"}
                label = rf"{algorithm}, $\delta = 10^{{-3}}$" if algorithm == LABELS else f"{algorithm}, as claimed"
                axes.errorbar(epsilon, shd, error, marker=marker, color=color, capsize=2, label=label, **filled)
            (one,) = (cell for cell in of_network if (cell["algorithm"], cell["delta"]) == (LABELS, DELTA))
            star = {"color": VERMILION, "capsize": 2, "markersize": 11}
            axes.errorbar(1, *one["shd"], fmt="*", **star, label=rf"{LABELS}, $\delta = 10^{{-6}}$")
            axes.axhline(N_EDGES[name], color=GREY, linewidth=1, linestyle="dotted", zorder=0, label="no edge found")
            axes.set(xscale="log", xlim=(0.08, 600), ylim=(-0.5, None), title=_title(name))
            axes.set_xticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
        figure.supxlabel("ε, or what is claimed; bars: standard error", fontsize=10)
        figure.supylabel("structural Hamming distance (edges in brackets)", fontsize=10)
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
        figure.savefig(path)


def main(argv=None):
    """Print the tables, or draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", action="store_true", help="draw the picture")
    add_output(parser, PICTURE, "picture")
    options = parser.parse_args(argv)
    if options.picture:
        refuse_to_overwrite(parser, options)
        picture(kept(), options.output)
    else:
        print("\n".join(report(kept())))


if __name__ == "__main__":
    main()
