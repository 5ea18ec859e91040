"""Features that add to one another, or the best single ones: python -m benchmarks.forward --output FILE.

The result that is kept is benchmarks/results/forward.csv: simulated tables whose features are partly near copies of one
another.

- parents: six independent parents, a near copy of each (correlation 0.98) and twelve columns of noise. The target is a
  sum of the parents with weights from 1 down to 0.4, and noise; no linear model has an R squared above 0.73.
- groups: 8, 5, 3, 2, 1 and 1 noisy copies (correlation 0.9 among themselves) of six signals of equal weight, and twenty
  columns of noise; the target is their sum and noise, with R squared 0.72 of the signals' first copies.
- independent: six parents of weights from 1 down to 0.4 and 18 columns of noise: nothing is to be gained.
- alike: 24 columns that all have the correlation 0.4, six of which are in the target.

Columns are in random order. Six features are chosen, and a linear model of them is fitted to the same rows; its R
squared on 20,000 new rows is averaged over tables, each with noise of its own.
"""

import argparse
import sys
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.feature_selection import SelectKBest, r_regression
from sklearn.linear_model import LinearRegression
from tqdm import tqdm

from benchmarks.output import add_output, refuse_to_overwrite, write_csv
from benchmarks.store import seed_of
from skdpmic import PrivateSelectKBest
from skdpmic.correlation import PrivateForwardSelector

RESULT = Path(__file__).parent / "results" / "forward.csv"
K, N_NEW, DELTA = 6, 20_000, 1e-6
SIZES, EPSILONS, N_TABLES = (1000, 3000, 10_000, 50_000), (0.3, 1.0, 3.0), 40
WEIGHTS = np.linspace(1, 0.4, K)


def parents(rng, n):
    X = rng.standard_normal((n, 24))
    X[:, K : 2 * K] = X[:, :K] + 0.2 * X[:, K : 2 * K]
    return X, X[:, :K] @ WEIGHTS, 0.73


def groups(rng, n, copies=(8, 5, 3, 2, 1, 1)):
    X, first = rng.standard_normal((n, 40)), np.cumsum((0, *copies[:-1]))
    for start, size in zip(first, copies, strict=True):
        X[:, start : start + size] = (
            np.sqrt(0.9) * rng.standard_normal((n, 1)) + np.sqrt(0.1) * X[:, start : start + size]
        )
    return X, X[:, first].sum(axis=1), 0.72


def independent(rng, n):
    X = rng.standard_normal((n, 24))
    return X, X[:, :K] @ WEIGHTS, 0.73


def alike(rng, n):
    X = np.sqrt(0.4) * rng.standard_normal((n, 1)) + np.sqrt(0.6) * rng.standard_normal((n, 24))
    return X, X[:, :K] @ WEIGHTS, 0.73


TABLES = {kind.__name__: kind for kind in (parents, groups, independent, alike)}


def table(kind, n, seed):
    """X and y of n rows, and of new rows."""
    rng = np.random.default_rng(seed)
    X, signal, r2 = TABLES[kind](rng, n + N_NEW)
    y = signal + np.std(signal) * np.sqrt(1 / r2 - 1) * rng.standard_normal(len(signal))
    X = X[:, rng.permutation(X.shape[1])]
    return X[:n], y[:n], X[n:], y[n:]


def absolute_correlation(X, y):
    return np.abs(r_regression(X, y))


WITHOUT_NOISE = {
    "forward": lambda: PrivateForwardSelector(K, epsilon=np.inf),
    "best single, Pearson": lambda: SelectKBest(absolute_correlation, k=K),
}
PRIVATE = {
    "forward": lambda epsilon: PrivateForwardSelector(K, epsilon=epsilon, delta=DELTA),
    "best single, kendall": lambda epsilon: PrivateSelectKBest(K, statistic="kendall", epsilon=epsilon),
    "best single, mtv_r": lambda epsilon: PrivateSelectKBest(K, epsilon=epsilon, bounds=(-4, 4), target_bounds=(-8, 8)),
}


def r2_on_new_rows(selector, X, y, X_new, y_new):
    chosen = selector.fit(X, y).get_support()
    return LinearRegression().fit(X[:, chosen], y).score(X_new[:, chosen], y_new)


def rows(sizes=SIZES, n_tables=N_TABLES):
    """The table, its head first."""
    ways = [(way, np.inf, make) for way, make in WITHOUT_NOISE.items()]
    ways += [
        (way, eps, lambda eps=eps, make=make: make(eps)) for (way, make), eps in product(PRIVATE.items(), EPSILONS)
    ]
    yield ["table", "n", "way", "epsilon", "r2", "standard_error"]
    for kind, n in tqdm(list(product(TABLES, sizes))):
        tables = [seed_of(("forward", kind, n, i)) for i in range(n_tables if n <= 10_000 else n_tables // 4)]
        scores = np.array(
            [[r2_on_new_rows(make(), *data) for _, _, make in ways] for data in (table(kind, n, s) for s in tables)]
        )
        for (way, epsilon, _), of_way in zip(ways, scores.T, strict=True):
            error = of_way.std(ddof=1) / np.sqrt(len(of_way))
            yield [kind, n, way, epsilon, f"{of_way.mean():.4f}", f"{error:.4f}"]


def main(argv=None):
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_output(parser, RESULT)
    options = parser.parse_args(argv)
    refuse_to_overwrite(parser, options)
    write_csv(options.output, rows())


if __name__ == "__main__":
    if not sys.warnoptions:
        import warnings

        warnings.filterwarnings("ignore", message="noise will exceed the signal")
    main()
