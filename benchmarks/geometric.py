"""The error of mic_r_geometric against MICr on real pairs: python benchmarks/geometric.py --data FOLDER.

The folder holds ``baseball.csv`` (337 players, 129 statistics) and ``Spellman.csv`` (4,381 genes, 23 times). Pairs and
bounds are those of Section 5.2 of Lazarsfeld, Johnson and Adeniran (ICML 2022). With --rule, the error on the 21
relationships for tables of many sizes, which the default size was chosen from.
"""

import argparse
import sys
import warnings
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
from tqdm import tqdm

from skdpmic import PrivacyLeakWarning, mic_r, mic_r_geometric
from skdpmic.datasets import RELATIONSHIPS, make_relationship
from skdpmic.datasets.relationships import R2_LEVELS
from skdpmic.defaults import default_B, default_parts

UNIT = ((0, 1), (0, 1))
REFERENCE_B = {"baseball": 40, "Spellman": 139}
C = 5


def real_pairs(folder, name, n_pairs, seed=0):
    """Random pairs of columns, as (x, y, bounds, MICr)."""
    import pandas

    table = pandas.read_csv(Path(folder) / f"{name}.csv")
    if name == "baseball":
        table = table.drop(columns=["PLAYER", "Record_ID#"]).select_dtypes("number")
        columns = [column for column in table.to_numpy(dtype=float).T if np.ptp(column) > 0]
        bounds = [_widened(column.min(), column.max()) for column in columns]
    else:
        columns = list(table.iloc[:, 1:].to_numpy(dtype=float).T)
        bounds = [_widened(np.min(columns), np.max(columns))] * len(columns)
    every = list(combinations(range(len(columns)), 2))
    chosen = np.random.default_rng(seed).permutation(len(every))[:n_pairs]
    pairs = []
    for i, j in (every[index] for index in chosen):
        of_pair = (bounds[i], bounds[j])
        reference = mic_r(columns[i], columns[j], bounds=of_pair, B=REFERENCE_B[name], c=C)
        pairs.append((columns[i], columns[j], of_pair, reference))
    return pairs


def _widened(lo, hi):
    return lo - (hi - lo) / 100, hi + (hi - lo) / 100


def shipped(x, y, bounds, epsilon, seed, **size):
    return mic_r_geometric(x, y, epsilon=epsilon, bounds=bounds, random_state=seed, **size)


def published(x, y, bounds, epsilon, seed):
    from benchmarks.published_geometric import published_scores_not_dp

    B, c = (40, 1) if len(x) < 1000 else (139, 1)  # its Table 2 at epsilon = 1
    return published_scores_not_dp(x, y, bounds, epsilon, B, c, 1, seed)[0]


def errors(pairs, epsilon, n_repeats, score=shipped, progress=False):
    """Score minus MICr: (n_pairs, n_repeats)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        return np.array(
            [
                [score(x, y, bounds, epsilon, i * n_repeats + r) - reference for r in range(n_repeats)]
                for i, (x, y, bounds, reference) in enumerate(tqdm(pairs, disable=not progress))
            ]
        )


def median_error(pairs, epsilon, n_repeats):
    """Median absolute error over the pairs and the draws of the noise."""
    return np.median(np.abs(errors(pairs, epsilon, n_repeats)))


def report_real(folder, n_pairs, epsilon, n_repeats, label, score):
    for name in REFERENCE_B:
        pairs = real_pairs(folder, name, n_pairs)
        error = errors(pairs, epsilon, n_repeats, score, progress=True)
        of_draws = np.median(np.abs(error), axis=0)
        print(f"{name}, {len(pairs)} pairs, {n_repeats} draws each, epsilon={epsilon:g}, {label}:")
        print(f"  median absolute error {np.median(np.abs(error)):.4f}, of one draw each {of_draws.round(4).tolist()}")
        print(f"  mean absolute error {np.abs(error).mean():.4f}, median error {np.median(error):+.4f}", flush=True)


def relationship_pairs(n):
    """The 21 relationships at random noise, half of them with other margins, and again with 60 % of y permuted."""
    rng = np.random.default_rng(0)
    pairs = []
    for name in RELATIONSHIPS:
        x, y = make_relationship(name, n_samples=n, r2=rng.choice(R2_LEVELS), random_state=int(rng.integers(10**9)))
        if rng.random() < 0.5:
            x, y = x**3, 0.3 + 0.4 * (y - 0.5)
        weaker = y.copy()
        permuted = rng.permutation(n)[: int(0.6 * n)]
        weaker[permuted] = rng.permutation(y[permuted])
        for target in (y, weaker):
            pairs.append((x, target, UNIT, mic_r(x, target, bounds=UNIT, B=default_B(n, 1.0), c=C)))
    return pairs


def report_rule():
    for n in (100, 300, 1000, 5000, 20_000):
        pairs, B = relationship_pairs(n), default_B(n, 1.0)
        for epsilon in (0.1, 0.3, 1.0, 3.0, 10.0):
            mean_error = {}
            for n_parts in tqdm((4, 6, 8, 12, 16, 20, 28, 40), leave=False):
                c = (n_parts + 0.5) / int(np.sqrt(B))
                mean_error[n_parts] = np.abs(errors(pairs, epsilon, 1, partial(shipped, B=B, c=c))).mean()
            row = "  ".join(f"{n_parts}: {error:.3f}" for n_parts, error in mean_error.items())
            print(f"n={n} epsilon={epsilon:g}  {row}  (default {default_parts(n, epsilon)})", flush=True)


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1]))  # so that a kernel has one module name in numba's cache
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="../shared/data", help="folder with baseball.csv and Spellman.csv")
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--repeats", type=int, default=5, help="draws of the noise for each pair")
    parser.add_argument("--published", action="store_true", help="the published mechanism, which is not epsilon-DP")
    parser.add_argument("--rule", action="store_true", help="errors of tables of many sizes on the 21 relationships")
    arguments = parser.parse_args()
    if arguments.rule:
        report_rule()
    else:
        label, score = ("as published, NOT private", published) if arguments.published else ("mic_r_geometric", shipped)
        report_real(arguments.data, arguments.pairs, arguments.epsilon, arguments.repeats, label, score)
