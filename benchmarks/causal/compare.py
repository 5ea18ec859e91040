"""PrivatePC and the published private algorithms: python -m benchmarks.causal.compare.

Tables of 100,000 records are drawn from pgmpy's networks. The published algorithms, whose guarantees do not hold, run
at several epsilons per step; the total that they report, at a delta of 1e-3, is their claim. At (1, 1e-6), three
methods run: PrivatePC on labels (noisy two-way tables), PrivatePC on label numbers in alphabetical order (Kendall
matrix), and sieve-and-examine with its errors corrected. At a delta of 1e-3, PrivatePC runs on labels at totals of 0.1,
0.3, 1, ..., 100. If a published algorithm comes closer to the network than PrivatePC at the largest of these totals
below the claim, PrivatePC also runs at the claim itself, rounded down to two digits.

Each row of benchmarks/results/causal_compare.csv is one algorithm on one table. Commit 2a2d595 has the programs of all
published algorithms and the command that made the file, commit 64ec2246 the one that drew it; this command prints its
tables.
"""

import csv
import math
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.output import table

FILE = Path(__file__).parents[1] / "results" / "causal_compare.csv"
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
    at_one = {(cell["network"], cell["algorithm"]): cell for cell in cells(rows) if cell["delta"] == DELTA}
    body = [[_title(name), *(_result(at_one[name, way]) for way in (LABELS, NUMBERS, SIEVE))] for name in N_EDGES]
    beside = []
    for name, algorithm in product(N_EDGES, PUBLISHED):
        pairs = [pair for pair in rivals(rows, name) if pair[0]["algorithm"] == algorithm]
        beside.append([_title(name), algorithm, *(_beside(*pair) for pair in pairs)])
    heads = ["network (edges)", "algorithm", *(f"step {step:g}" for step in STEPS)]
    return "\n\n".join([table(["network (edges)", LABELS, NUMBERS, SIEVE], body), table(heads, beside)])


def _title(name):
    return f"{name} ({N_EDGES[name]})"


def _result(cell):
    (f1, _), (shd, error) = cell["f1"], cell["shd"]
    return f"{f1:.2f}, {shd:.1f} ± {error:.1f}"


def _beside(rival, ours):
    claimed, shd, of_ours = (number[0] for number in (rival["claimed"], rival["shd"], ours["shd"]))
    digits = 0 if claimed >= 10 else 1 if claimed >= 1 else 2
    text = f"{claimed:.{digits}f}: {shd:.1f} / {of_ours:.1f}"
    return f"**{text}**" if shd < of_ours else text


if __name__ == "__main__":
    print(report(kept()))
