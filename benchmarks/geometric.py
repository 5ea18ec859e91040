"""Errors of MICr from a noisy table against exact MICr on real pairs: python benchmarks/geometric.py --data FOLDER.

The folder holds ``baseball.csv`` (337 players, 129 statistics) and ``Spellman.csv`` (4,381 genes, 23 time points).
Pairs and bounds are those of Section 5.2 of Lazarsfeld, Johnson and Adeniran (ICML 2022).

--rule needs no data: it measures in ten minutes what the default size of the noisy table costs compared with other
sizes, on the 189 distributions of skdpmic.datasets. The kept result is benchmarks/results/geometric.csv.
"""

import argparse
import sys
import warnings
from functools import partial
from itertools import combinations, product
from pathlib import Path

import numpy as np
from tqdm import tqdm

sys.path.append(str(Path(__file__).parents[1]))  # so that a kernel has one module name in numba's cache

from benchmarks.output import add_output, refuse_to_overwrite, write_csv
from skdpmic import PrivacyLeakWarning, mic_r, private_score
from skdpmic.datasets import load_mic_star, relationship
from skdpmic.statistics.mic.statistic import default_B, default_parts

RESULT = Path(__file__).parent / "results" / "geometric.csv"
UNIT = ((0, 1), (0, 1))
REFERENCE_B = {"baseball": 40, "Spellman": 139}
C = 5
PARTS = (2, 4, 6, 8, 12, 16, 20, 28, 40)  # per side, of the tables compared with the default one


def real_pairs(folder, name, n_pairs):
    """Random pairs of columns of the paper's data, as (x, y, bounds, MICr)."""
    import pandas

    table = pandas.read_csv(Path(folder) / f"{name}.csv")
    if name == "baseball":
        table = table.drop(columns=["PLAYER", "Record_ID#"]).select_dtypes("number")
        columns = [column for column in table.to_numpy(dtype=float).T if np.ptp(column) > 0]
        bounds = [widened(column.min(), column.max()) for column in columns]
    else:
        columns = list(table.iloc[:, 1:].to_numpy(dtype=float).T)
        bounds = [widened(np.min(columns), np.max(columns))] * len(columns)
    return random_pairs(columns, bounds, REFERENCE_B[name], n_pairs)


def random_pairs(columns, bounds, B, n_pairs, seed=0):
    """Random pairs of columns, as (x, y, bounds, MICr)."""
    every = list(combinations(range(len(columns)), 2))
    chosen = np.random.default_rng(seed).permutation(len(every))[:n_pairs]
    pairs = []
    for i, j in (every[index] for index in chosen):
        of_pair = (bounds[i], bounds[j])
        reference = mic_r(columns[i], columns[j], bounds=of_pair, B=B, c=C)
        pairs.append((columns[i], columns[j], of_pair, reference))
    return pairs


def widened(lo, hi):
    """The range, extended by a hundredth on either side."""
    return lo - (hi - lo) / 100, hi + (hi - lo) / 100


def shipped(x, y, bounds, epsilon, seed, **size):
    return private_score(x, y, mechanism="geometric", epsilon=epsilon, bounds=bounds, random_state=seed, **size)


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


def report_real(folder, n_pairs, epsilon, n_repeats, label, score):
    for name in REFERENCE_B:
        pairs = real_pairs(folder, name, n_pairs)
        error = errors(pairs, epsilon, n_repeats, score, progress=True)
        of_draws = np.median(np.abs(error), axis=0)
        print(f"{name}, {len(pairs)} pairs, {n_repeats} draws each, epsilon={epsilon:g}, {label}:")
        print(f"  median absolute error {np.median(np.abs(error)):.4f}, of one draw each {of_draws.round(4).tolist()}")
        print(f"  mean absolute error {np.abs(error).mean():.4f}, median error {np.median(error):+.4f}", flush=True)


def rows_of_rule():
    """Weighted sums of errors against MIC* for tables of many sizes, with one sample and one draw per distribution."""
    yield ["n", "epsilon", "parts", "error", "best_parts", "least", "excess"]
    for n, epsilon in tqdm(list(product((100, 1000, 10_000), (0.01, 0.1, 1.0, 10.0)))):
        automatic, errors_by_parts = default_parts(n, epsilon), {}
        for n_parts in {*PARTS, automatic}:
            errors_by_parts[n_parts] = weighted_error(n, epsilon, n_parts)
        best = min(errors_by_parts, key=errors_by_parts.get)
        error, least = errors_by_parts[automatic], errors_by_parts[best]
        yield [n, epsilon, automatic, f"{error:.4f}", best, f"{least:.4f}", f"{error / least - 1:.3f}"]


def weighted_error(n, epsilon, n_parts):
    """The weighted error of the paper's Appendix E.2.3, as in benchmarks/tune_defaults.py."""
    from benchmarks.tune_defaults import weights

    truth = load_mic_star()
    B = default_B(n, epsilon)
    size = {"B": B, "c": (n_parts + 0.5) / int(np.sqrt(B))}
    pairs = []
    for seed, (key, mic_star) in enumerate(truth.items()):
        x, y = relationship(*key).sample(n, seed).T.copy()
        pairs.append((x, y, UNIT, mic_star))
    error = np.abs(errors(pairs, epsilon, 1, partial(shipped, **size)))[:, 0]
    return float(weights(np.array(list(truth.values()))) @ error)


def main(argv=None):
    """Print the errors on real pairs, or write those of the rule."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="../shared/data", help="folder with baseball.csv and Spellman.csv")
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--repeats", type=int, default=5, help="draws of the noise for each pair")
    parser.add_argument("--published", action="store_true", help="the published mechanism, which is not epsilon-DP")
    parser.add_argument("--rule", action="store_true", help="what the default size of the table costs")
    add_output(parser, RESULT)
    arguments = parser.parse_args(argv)
    if arguments.rule:
        refuse_to_overwrite(parser, arguments)
        write_csv(arguments.output, rows_of_rule())
    else:
        label, score = ("as published, NOT private", published) if arguments.published else ("shipped", shipped)
        report_real(arguments.data, arguments.pairs, arguments.epsilon, arguments.repeats, label, score)


if __name__ == "__main__":
    main()
