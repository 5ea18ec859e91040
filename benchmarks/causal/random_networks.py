"""PrivatePC and causal-learn's PC, which is not private, on random networks.

python -m benchmarks.causal.random_networks; --report prints the table of benchmarks/results/causal.md.

Ten random networks of each kind with 8, 12 and 15 columns, and from each a table of 10,000 records and one of 100,000:

- Dirichlet: columns of two to four labels, whose distributions are drawn anew for each combination of the parents'
  labels, so causes interact.
- log-linear: the effects of parents add up on the log scale.
- noisy-or: two labels, rare effects of rare causes.
- normal: sums of the parents' columns plus noise.

causal-learn's PC tests labels by G squared and normal columns by Fisher's z, at the same alpha = 0.01. Each row of
benchmarks/results/causal_random.csv is one algorithm on one table: the structural Hamming distance to what can be known
about the network, and the numbers of missing and extra edges. The constants of the tests were chosen on networks with
other seeds.
"""

import argparse
import math
import warnings
from collections import defaultdict
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.causal.graph_measures import cpdag_of, structural_hamming_distance
from benchmarks.causal.networks import Network
from benchmarks.output import table as markdown_table
from benchmarks.store import completed
from skdpmic.causal import PrivatePC
from skdpmic.causal.pc import skeleton_of

FILE = Path(__file__).parents[1] / "results" / "causal_random.csv"
COLUMNS, RECORDS, SEEDS = (8, 12, 15), (10_000, 100_000), range(6000, 6010)
PRIVATE, WITHOUT_NOISE, RIVAL = "PrivatePC", "PrivatePC without noise", "causal-learn"


# --- Networks ---------------------------------------------------------------------------------------------------------


def dirichlet(rng, sizes, n_labels):
    return rng.dirichlet(np.full(n_labels, rng.choice([0.3, 1.0, 3.0])), size=sizes)


def log_linear(rng, sizes, n_labels):
    logits = rng.normal(0, 0.5, n_labels) + np.zeros((*sizes, n_labels))
    for axis, size in enumerate(sizes):
        effect = rng.normal(0, rng.choice([0.4, 1.0, 2.0]), (size, n_labels))
        logits += effect.reshape([size if a == axis else 1 for a in range(len(sizes))] + [n_labels])
    return np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)


def noisy_or(rng, sizes, _):
    none = np.full(sizes, 1 - rng.choice([0.001, 0.01, 0.05, 0.2]))
    for axis, size in enumerate(sizes):
        stays = np.where(np.arange(size) == 0, 1.0, rng.choice([0.02, 0.1, 0.3, 0.6]))
        none = none * stays.reshape([size if a == axis else 1 for a in range(len(sizes))])
    return np.stack([none, 1 - none], axis=-1)


LABELS = {"Dirichlet": dirichlet, "log-linear": log_linear, "noisy-or": noisy_or}
KINDS = (*LABELS, "normal")


def random_dag(rng, n_columns):
    """A random graph without cycles, in which each column has up to three parents."""
    dag = np.zeros((n_columns, n_columns), dtype=bool)
    for j in range(1, n_columns):
        dag[rng.choice(j, min(j, rng.choice([0, 1, 1, 2, 2, 3])), replace=False), j] = True
    return dag


def random_network(kind, n_columns, seed):
    """A network of categorical columns."""
    rng = np.random.default_rng(seed)
    sizes = np.full(n_columns, 2) if kind == "noisy-or" else rng.integers(2, 5, n_columns)
    dag = random_dag(rng, n_columns)
    parents = [tuple(np.flatnonzero(of_one).tolist()) for of_one in dag.T]
    tables = [LABELS[kind](rng, tuple(sizes[list(of_one)]), sizes[j]) for j, of_one in enumerate(parents)]
    names = tuple(tuple(map(str, range(size))) for size in sizes)
    return Network(f"{kind} {seed}", tuple(map(str, range(n_columns))), names, dag, tuple(parents), tuple(tables))


def normal_table(n_columns, n, seed):
    """A graph, and a table of columns that are sums of their parents', with weights of 0.3 to 0.9, and normal noise."""
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, n_columns)
    weights = dag * rng.uniform(0.3, 0.9, dag.shape) * rng.choice([-1, 1], dag.shape)
    X = rng.standard_normal((n, n_columns))
    for j in range(n_columns):
        X[:, j] += X @ weights[:, j]
    return X, dag


@lru_cache(maxsize=1)
def table(kind, n_columns, n, seed):
    """A table, the graph of its network, and the labels of its columns (None for numbers)."""
    if kind == "normal":
        return *normal_table(n_columns, n, seed), None
    net = random_network(kind, n_columns, seed)
    return net.sample(n, seed), net.dag, {j: list(range(size)) for j, size in enumerate(net.sizes)}


# --- Runs -------------------------------------------------------------------------------------------------------------


def found_by_causal_learn(X, categories):
    """Marks of the graph found by causal-learn's PC; edges that point both ways are lines."""
    from causallearn.search.ConstraintBased.PC import pc

    test = "fisherz" if categories is None else "gsq"
    ends = pc(X, alpha=0.01, indep_test=test, show_progress=False).G.graph  # -1 is a tail, 1 an arrowhead, at the row
    return (ends != 0) & ((ends == -1) | (ends.T == ends))


def run(configuration, seed):
    X, dag, categories = table(*(configuration[key] for key in ("kind", "columns", "n", "seed")))
    if configuration["algorithm"] == RIVAL:
        marks = found_by_causal_learn(X, categories)
    else:
        epsilon = 1.0 if configuration["algorithm"] == PRIVATE else math.inf
        marks = np.asarray(PrivatePC(epsilon, 1e-6, categories=categories, random_state=seed).fit(X).cpdag_)
    found, true = skeleton_of(marks), skeleton_of(dag)
    return {
        "shd": structural_hamming_distance(marks, cpdag_of(dag)),
        "missing": np.triu(true & ~found).sum(),
        "superfluous": np.triu(found & ~true).sum(),
        "edges": dag.sum(),
    }


def measured():
    """Rows of all runs; those missing from the file are run first."""
    names = ("kind", "columns", "n", "seed", "algorithm")
    cells = product(KINDS, COLUMNS, RECORDS, SEEDS, (RIVAL, WITHOUT_NOISE, PRIVATE))
    return completed(FILE, [dict(zip(names, cell, strict=True)) for cell in cells], run, "random networks")


def report(rows):
    """The table in Markdown: means and standard errors of the distance, and edges missing and superfluous."""
    of_cell = defaultdict(list)
    for row in rows:
        of_cell[row["kind"], row["columns"], row["n"], row["algorithm"]].append(row)
    body = []
    for kind, n_columns, n in product(KINDS, COLUMNS, RECORDS):
        cells = [of_cell[kind, n_columns, n, algorithm] for algorithm in (RIVAL, WITHOUT_NOISE, PRIVATE)]
        edges = np.mean([row["edges"] for row in cells[0]])
        body.append([f"{n_columns} {kind} ({edges:.1f})", f"{n:,}", *map(_summary, cells)])
    algorithms = ["causal-learn, no privacy", "`PrivatePC`, ε = ∞", "`PrivatePC`, (1, 10⁻⁶)"]
    return markdown_table(["columns (edges)", "records", *algorithms], body)


def _summary(rows):
    shd, missing, superfluous = ([row[name] for row in rows] for name in ("shd", "missing", "superfluous"))
    error = np.std(shd, ddof=1) / math.sqrt(len(shd))
    return f"{np.mean(shd):.1f} ± {error:.1f} (-{np.mean(missing):.1f}, +{np.mean(superfluous):.1f})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--report", action="store_true", help="print the table")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # about seeds
    results = measured()
    if arguments.report:
        print(report(results))
