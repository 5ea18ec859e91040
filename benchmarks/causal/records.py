"""How many records a graph of numeric columns needs: python -m benchmarks.causal.records prints the guide's table.

Normal columns in independent pairs, epsilon = 1, delta = 1e-6, alpha = 0.01: the share of pairs that get an edge, and
the mean number of edges between columns of different pairs, with standard errors.
"""

import math
import warnings
from itertools import product

import numpy as np
from tqdm import tqdm

from benchmarks.output import table
from skdpmic.causal import PrivatePC

N_COLUMNS, TAUS, PER_COLUMN = (10, 20), (0.1, 0.3), (100, 300, 1000)
N_TABLES = 20
SETTINGS = {"epsilon": 1.0, "delta": 1e-6, "alpha": 0.01}


def pairs(rng, n, n_columns, tau):
    """Columns 2i and 2i + 1 have this Kendall correlation; all other pairs are independent."""
    rho = math.sin(math.pi * tau / 2)
    X = rng.normal(size=(n, n_columns))
    X[:, 1::2] = rho * X[:, ::2] + math.sqrt(1 - rho**2) * X[:, 1::2]
    return X


def found(n, n_columns, tau, seed):
    """The share of pairs that are found, and the number of false edges."""
    X = pairs(np.random.default_rng([seed, n, n_columns]), n, n_columns, tau)
    skeleton = np.triu(PrivatePC(**SETTINGS, random_state=seed).fit(X).skeleton_)
    true = skeleton[np.arange(0, n_columns, 2), np.arange(1, n_columns, 2)]
    return true.mean(), skeleton.sum() - true.sum()


def main():
    """Print the table."""
    warnings.simplefilter("ignore")
    body = []
    for n_columns, tau, per_column in tqdm(list(product(N_COLUMNS, TAUS, PER_COLUMN)), leave=False):
        tables = [found(per_column * n_columns, n_columns, tau, seed) for seed in range(N_TABLES)]
        (share, false), se = np.mean(tables, axis=0), np.std(tables, axis=0) / math.sqrt(N_TABLES)
        cells = [f"{share:.0%} ± {se[0]:.0%}", f"{false:.1f} ± {se[1]:.1f}"]
        body.append([str(n_columns), str(tau), f"{per_column:,}", *cells])
    print(table(["columns", "tau", "records per column", "pairs found", "false edges"], body))


if __name__ == "__main__":
    main()
