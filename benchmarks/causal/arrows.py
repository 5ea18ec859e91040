"""How many of the arrows that PrivatePC draws are wrong: python -m benchmarks.causal.arrows prints the tables.

An arrow is wrong if the CPDAG of the network, which is all that independences determine, does not have it: whether it
has a line there, the reverse arrow or no edge. It is missed if the CPDAG, which PC finds from exact independences, has
it and the graph does not.

Random networks have 5 to 9 columns of 2 to 4 labels (2 for noisy-or), as in `benchmarks.causal.random_networks`; asia,
cancer, earthquake and sachs are those of the literature. Each row of benchmarks/results/causal_arrows.csv is one fit at
alpha = 0.01. The rule was chosen on networks with other seeds.
"""

import math
import warnings
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.causal.networks import network
from benchmarks.causal.random_networks import LABELS, random_network
from benchmarks.output import table
from benchmarks.store import completed
from skdpmic.causal import PrivatePC
from skdpmic.causal.pc import arrows_of

FILE = Path(__file__).parents[1] / "results" / "causal_arrows.csv"
EPSILONS, RECORDS, NAMED = (0.3, 1.0, 3.0, 10.0), (5000, 20_000, 100_000), ("asia", "cancer", "earthquake", "sachs")


def drawn(kind, seed):
    """The network of a kind and seed."""
    if kind in NAMED:
        return network(kind)
    n_columns = int(np.random.default_rng(seed).integers(5, 10))
    return random_network(kind, n_columns, seed)


def run(configuration, seed):
    net = drawn(configuration["kind"], configuration["seed"])
    facts = {"categories": {j: list(range(size)) for j, size in enumerate(net.sizes)}, "random_state": seed}
    private = PrivatePC(configuration["epsilon"], 1e-6, **facts).fit(net.sample(configuration["n"], seed))
    found, true = arrows_of(np.asarray(private.cpdag_)), arrows_of(net.cpdag)
    return {"drawn": found.sum(), "wrong": (found & ~true).sum(), "right": (found & true).sum(), "true": true.sum()}


def configurations():
    """Three networks of each kind at every epsilon and number of records, and twelve without noise."""
    cells = [*product(EPSILONS, RECORDS), *[(math.inf, RECORDS[-1])] * 4]
    for place, (epsilon, n) in enumerate(cells):
        random = product(LABELS, range(8000 + 3 * place, 8003 + 3 * place))
        for kind, seed in [*random, (NAMED[place % len(NAMED)], place)]:
            yield {"kind": kind, "epsilon": epsilon, "n": n, "seed": seed}


def measured():
    """Rows of all runs; those missing from the file are run first."""
    return completed(FILE, list(configurations()), run, "arrows")


def report(rows):
    """A table in Markdown, by epsilon, number of records, and kind of network."""
    body = []
    for name, title in (("epsilon", "ε = {:g}"), ("n", "n = {:,}"), ("kind", "{}")):
        for value in dict.fromkeys(row[name] for row in rows):
            of_value = [row for row in rows if row[name] == value and (name == "epsilon" or row["epsilon"] != math.inf)]
            body.append([title.format(value), *summary(of_value)])
    shares = ["wrong: of all arrows", "mean over fits", "of the true arrows, drawn"]
    return table(["", "fits with arrows", "arrows", *shares], body)


def summary(rows):
    drawn, wrong, right, true = (np.array([row[name] for row in rows]) for name in ("drawn", "wrong", "right", "true"))
    some = drawn > 0
    of_fits = (wrong[some] / drawn[some]).mean() if some.any() else 0.0
    shares = wrong.sum() / max(drawn.sum(), 1), of_fits, right.sum() / max(true.sum(), 1)
    return [f"{some.sum()} of {len(rows)}", f"{drawn.sum():.0f}", *(f"{share:.1%}" for share in shares)]


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # about seeds
    print(report(measured()))
