"""Three declarations of columns of integers: python benchmarks/integers.py --output FILE.

The kept result is benchmarks/results/integers.csv; the file is written once everything is measured.

Simulated tables of 3,500 people: five columns of integers determine two equally common classes, each by its value alone
and with the same weight. Beside them are 17 columns of noise: continuous ones, or others of the same kind. Measured is
the share of the five columns that PrivateSelectKBest chooses, with the columns declared by their range (`bounds`), by
labels (`categories`) and as integers (`range`), on the same tables; its standard error; and by how much integers are
behind that declaration, with the standard error over tables of the difference.
"""

import sys
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

sys.path.append(str(Path(__file__).parents[1]))  # so that a kernel has one module name in numba's cache

from benchmarks.output import measure_into_file
from skdpmic import PrivateSelectKBest

N, N_TRUE, N_NOISE, WEIGHT = 3500, 5, 17, 0.08
KINDS = {  # the lowest integer, the highest one, and the values of people
    "flags": (0, 1, lambda rng, n: rng.random(n) < 0.4),
    "rare flags": (0, 1, lambda rng, n: rng.random(n) < 0.08),
    "answers 1 to 5": (1, 5, lambda rng, n: np.clip(np.rint(rng.normal(3, 1.2, n)), 1, 5)),
    "counts 0 to 20": (0, 20, lambda rng, n: np.minimum(rng.negative_binomial(1.5, 0.25, n), 20)),
    "ages 0 to 120": (0, 120, lambda rng, n: np.clip(np.rint(rng.normal(45, 18, n)), 0, 120)),
    "hours": (0, 99, lambda rng, n: np.where(rng.random(n) < 0.5, 40, np.clip(np.rint(rng.normal(40, 14, n)), 0, 99))),
}
WAYS = {
    "bounds": lambda lower, upper: {"bounds": (lower, upper)},
    "categories": lambda lower, upper: {"categories": list(range(lower, upper + 1))},
    "integers": lambda lower, upper: {"bounds": range(lower, upper + 1)},
}
EPSILONS, CRITERIA = (0.5, 1.0, 2.0), ("single", "joint")
N_TABLES, N_DRAWS = 8, {"single": 25, "joint": 10}
FILE = Path(__file__).parent / "results" / "integers.csv"


def table(kind, noise, seed):
    """X and y; columns of integers are called i, continuous ones c."""
    rng, (*_, draw) = np.random.default_rng(seed), KINDS[kind]
    n_integers = N_TRUE + (N_NOISE if noise == "the same" else 0)
    X = {f"i{j}": draw(rng, N).astype(float) for j in range(n_integers)}
    latent = sum(WEIGHT * (X[f"i{j}"] - X[f"i{j}"].mean()) / X[f"i{j}"].std() for j in range(N_TRUE))
    latent = latent + rng.standard_normal(N)
    X |= {f"c{j}": rng.random(N) for j in range(N_TRUE + N_NOISE - n_integers)}
    return pd.DataFrame(X), (latent > np.median(latent)).astype(int)


def found(kind, noise, criterion, epsilon, way):
    """The mean share of the five columns that is found in each table."""
    lower, upper, _ = KINDS[kind]
    ((argument, entry),) = WAYS[way](lower, upper).items()
    shares = np.empty((N_TABLES, N_DRAWS[criterion]))
    for seed, draw in np.ndindex(shares.shape):
        X, y = table(kind, noise, seed)
        public = {"bounds": {name: (0, 1) for name in X if name[0] == "c"}, "categories": {}, "classes": [0, 1]}
        public[argument] |= {name: entry for name in X if name[0] == "i"}
        selector = PrivateSelectKBest(N_TRUE, epsilon=epsilon, criterion=criterion, **public).fit(X, y)
        shares[seed, draw] = selector.get_support()[:N_TRUE].mean()
    return shares.mean(axis=1)


def measured(noise, criterion, kind, epsilon):
    """A row for each declaration."""
    of_ways, root = {way: found(kind, noise, criterion, epsilon, way) for way in WAYS}, np.sqrt(N_TABLES)
    for way, shares in of_ways.items():
        behind = shares - of_ways["integers"]
        numbers = shares.mean(), shares.std(ddof=1) / root, behind.mean(), behind.std(ddof=1) / root
        yield [noise, criterion, kind, epsilon, way, *(f"{number:.4f}" for number in numbers)]


CELLS = list(product(("continuous", "the same"), CRITERIA, KINDS, EPSILONS))


def rows():
    warnings.simplefilter("ignore")  # about many labels, and noise
    yield ["noise", "criterion", "kind", "epsilon", "way", "found", "error", "behind", "behind_error"]
    for cell in tqdm(CELLS):
        yield from measured(*cell)


def main(argv=None):
    measure_into_file(__doc__.splitlines()[0], FILE, rows, argv)


if __name__ == "__main__":
    main()
