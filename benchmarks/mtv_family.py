"""Which grids for MTVr: share of five true features of 100 found, and time, for several families.

    python benchmarks/mtv_family.py [--tables 4] [--first 4]

The tables are those of benchmarks/selection/relationships.py, with seeds of their own. The family of the package was
tuned on the tables 0 to 3, so others are to be reported (--first 4). Choices are made as with release="support". The
last column but one has ranges of the features that are a hundred times too wide, at n = 3,000 and epsilon = 0.3; the
last one is the time of a score at n = 1,000 and 10,000, in microseconds.
"""

import argparse
import time

import numpy as np

from benchmarks.selection.relationships import N_TRUE, Trials, make_pool
from benchmarks.selection.ways import SUPPORT, choose
from benchmarks.store import seed_of
from skdpmic.dependence.mtv_r import ROUNDING_ERROR, AgainstNumbers, Family, numeric_family
from skdpmic.privacy.mechanisms import grid_sensitivity
from skdpmic.privacy.sensitivity import mtv_r_sensitivity
from skdpmic.privacy.top_k import OneShotTopK

CELLS = ((1000, 0.3), (1000, 1.0), (3000, 0.1), (3000, 0.3), (10_000, 0.03), (10_000, 0.1))
UNIT, WIDE = (0.0, 1.0), (-33.0, 67.0)
D = 100


def even(n_columns, n_groups, k_max):
    """A side of equal groups of neighbouring columns."""
    return tuple(j * n_groups // n_columns for j in range(n_columns)), k_max


def cuts(n_columns, k_max):
    """All sides of two groups of neighbouring columns."""
    return tuple((tuple(int(j >= cut) for j in range(n_columns)), k_max) for cut in range(1, n_columns))


FAMILIES = {
    "default": numeric_family(32, 32),
    "default, half the master parts": numeric_family(32, 16),
    "default, twice the master parts": numeric_family(32, 64),
    "default, k <= 8": numeric_family(16, 64),
    "default, k <= 24": numeric_family(48, 512 / 24),
    "cuts at eighths only": Family(8, 512, cuts(8, 16)),
    "one cut in the middle": Family(2, 512, cuts(2, 16)),
    "cuts at eighths, both orientations": Family(8, 256, cuts(8, 16), both=True),
    "2 or 8 columns, k <= 8, both": Family(8, 128, (even(8, 2, 8), even(8, 8, 8)), both=True, penalty=0.5),
    "2, 4, 8, 16 columns, k <= 6, both": Family(
        16, 256, tuple(even(16, size, 6) for size in (2, 4, 8, 16)), both=True, penalty=0.5
    ),
    **{
        f"default, penalty {penalty}": Family(8, 512, numeric_family(32, 32).sides, penalty=penalty)
        for penalty in (0.0, 0.25, 0.5, 1.0)
    },
}


def scores(pool, family, bounds=UNIT):
    target = AgainstNumbers(pool.y, UNIT, family)
    return np.array([target.score(x, bounds) for x in np.ascontiguousarray(pool.X.T)])


def recall(values, n, epsilon, seed):
    """Share of the true features that is found; the same trials and noise for all families."""
    random = np.random.default_rng(seed)
    trials = Trials(D, 400, random)
    steps = grid_sensitivity(mtv_r_sensitivity(n), ROUNDING_ERROR)
    scale = OneShotTopK.for_budget(epsilon, N_TRUE, steps).noise_scale
    return trials.row(choose(values[trials.columns], N_TRUE, SUPPORT, scale, random))["recall"]


def microseconds(family, pool, n):
    """Median time of a score of n records."""
    target, times = AgainstNumbers(pool.y[:n], UNIT, family), []
    for x in np.ascontiguousarray(pool.X[:n].T):
        start = time.perf_counter()
        target.score(x, UNIT)
        times.append((time.perf_counter() - start) * 1e6)
    return np.median(times)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=4, help="tables of each size")
    parser.add_argument("--first", type=int, default=4, help="number of the first table")
    options = parser.parse_args(argv)

    seeds = {
        (n, table): seed_of(("mtv families", n, table))
        for n in dict(CELLS)
        for table in range(options.first, options.first + options.tables)
    }
    pools = {key: make_pool(key[0], seed, n_noise=D - N_TRUE) for key, seed in seeds.items()}
    print("| grids | " + " | ".join(f"n = {n:,}, ε = {epsilon}" for n, epsilon in CELLS) + " | too wide | µs |")
    print("| --- |" + " ---: |" * (len(CELLS) + 2))
    for name, family in FAMILIES.items():
        values = {key: scores(pool, family) for key, pool in pools.items()}
        found = [
            np.mean([recall(values[key], n, epsilon, seeds[key]) for key in seeds if key[0] == n])
            for n, epsilon in CELLS
        ]
        found.append(
            np.mean(
                [recall(scores(pools[key], family, WIDE), 3000, 0.3, seeds[key]) for key in seeds if key[0] == 3000]
            )
        )
        times = " / ".join(f"{microseconds(family, pools[10_000, options.first], n):.0f}" for n in (1000, 10_000))
        print(f"| {name} | " + " | ".join(f"{share:.3f}" for share in found) + f" | {times} |", flush=True)


if __name__ == "__main__":
    main()
