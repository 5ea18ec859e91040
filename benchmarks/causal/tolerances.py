"""How the constants of the tests on tables were chosen: python -m benchmarks.causal.tolerances prints the table.

What two or more columns explain may be missed by a share of it (`_EXPLAINED`), as two-way tables do not tell what they
do together. For shares from 0 to 0.2: the mean structural Hamming distance, and edges that are missed, on random
networks of eight columns with two to four labels, n = 100,000, delta = 1e-6; and on three tables of sachs. The networks
and seeds are not those of `private_pc`.

- Dirichlet: conditional laws are drawn anew for each combination of the parents' labels, so that they act together.
- log-linear: the effects of parents are added up in logarithms.
- noisy-or: two labels, rare effects of rare causes.
"""

import math
import warnings

import numpy as np
from tqdm import tqdm

from benchmarks.causal.graph_measures import structural_hamming_distance
from benchmarks.causal.networks import Network, network
from skdpmic.causal import PrivatePC
from skdpmic.causal import table_tests as tables
from skdpmic.causal.cpdag import skeleton_of

TOLERANCES, EPSILONS = (0.0, 0.03, 0.05, 0.1, 0.2), (1.0, math.inf)
N, P, N_NETWORKS, N_OF_SACHS = 100_000, 8, 12, 3


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


KINDS = {"Dirichlet": dirichlet, "log-linear": log_linear, "noisy-or": noisy_or}


def random_network(kind, seed):
    """A network of columns with up to three parents each."""
    rng = np.random.default_rng(seed)
    sizes = np.full(P, 2) if kind == "noisy-or" else rng.integers(2, 5, P)
    dag = np.zeros((P, P), dtype=bool)
    for j in range(1, P):
        dag[rng.choice(j, min(j, rng.choice([0, 1, 1, 2, 2, 3])), replace=False), j] = True
    parents = [tuple(np.flatnonzero(of_one).tolist()) for of_one in dag.T]
    laws = [KINDS[kind](rng, tuple(sizes[list(of_one)]), sizes[j]) for j, of_one in enumerate(parents)]
    names = tuple(tuple(map(str, range(size))) for size in sizes)
    return Network(f"{kind} {seed}", tuple(map(str, range(P))), names, dag, tuple(parents), tuple(laws))


def measured(private, net):
    found = np.asarray(private.cpdag_)
    missed = np.triu(skeleton_of(net.dag) & ~skeleton_of(found)).sum()
    return structural_hamming_distance(found, net.cpdag), missed


def main():
    drawn = {kind: [(random_network(kind, seed), seed) for seed in range(N_NETWORKS)] for kind in KINDS}
    drawn["sachs"] = [(network("sachs"), 100 + seed) for seed in range(N_OF_SACHS)]
    results = {}
    for kind, nets in tqdm(drawn.items(), disable=None):
        for net, seed in tqdm(nets, desc=kind, disable=None, leave=False):
            codes = net.sample(N, seed)
            for epsilon in EPSILONS:
                categories = {j: list(range(size)) for j, size in enumerate(net.sizes)}
                private = PrivatePC(epsilon, 1e-6, categories=categories, random_state=seed).fit(codes)
                for tolerance in TOLERANCES:
                    tables._EXPLAINED = tolerance
                    results.setdefault((kind, epsilon, tolerance), []).append(measured(private, net))
                    private._kept = private._tests = None  # so that the next tolerance is used
    print("| networks (edges) | epsilon | " + " | ".join(f"{tolerance:g}" for tolerance in TOLERANCES) + " |")
    print("| --- | --- |" + " --- |" * len(TOLERANCES))
    for kind, nets in drawn.items():
        n_edges = np.mean([net.dag.sum() for net, _ in nets])
        for epsilon in EPSILONS:
            means = (np.mean(results[kind, epsilon, tolerance], axis=0) for tolerance in TOLERANCES)
            cells = " | ".join("{:.1f} ({:.1f})".format(*mean) for mean in means)
            print(f"| {kind} ({n_edges:.1f}) | {epsilon:g} | {cells} |")


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of seeds
    main()
