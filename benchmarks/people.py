"""One row per person, or several: python benchmarks/people.py --output FILE.

The kept result is benchmarks/results/people.csv. The file is written once everything is measured.

Simulated tables of people with 1 to 5 rows each. A feature is normal with variance 1, a share of which is between
people and the remainder within them: at 0, a person's rows are as informative as those of different people; at 1, they
would be copies. Four of 20 features determine the target, each through its own shape; the remainder of the target is
noise with the same share between people. Measured for max_rows_per_group of 1, 2 and 5:

- error: mean absolute difference between the private scores and the noise-free scores of 100,000 people with one row
  each;
- found: share of the four features among the four that PrivateSelectKBest chooses.
"""

import math
import sys
from itertools import product
from pathlib import Path

import numpy as np
from tqdm import tqdm

sys.path.append(str(Path(__file__).parents[1]))  # so that a kernel has one module name in numba's cache

from benchmarks.output import measure_into_file
from skdpmic import DPMICScorer, PrivateSelectKBest

MOST_ROWS, D, N_TRUE = 5, 20, 4
PEOPLE, SHARES, EPSILONS, STATISTICS = (300, 1000, 5000), (0.0, 0.5, 0.9), (0.3, 1.0, 3.0), ("mic_r", "mtv_r")
ROWS_EACH = (1, 2, 5)
FILE = Path(__file__).parent / "results" / "people.csv"
N_TABLES, N_DRAWS = 100, 4
PUBLIC = {"bounds": (-3, 3), "target_bounds": (-6, 8)}
SHAPES = (lambda x: 1.2 * x, lambda x: x**2 - 1, lambda x: 1.4 * np.sin(2.5 * x), lambda x: 1.5 * (np.abs(x) < 0.7))


def table(rng, n_people, most_rows, share):
    """X, y and the person behind each row."""
    people = np.repeat(np.arange(n_people), rng.integers(1, most_rows + 1, n_people))
    between, within = rng.standard_normal((n_people, D + 1))[people], rng.standard_normal((len(people), D + 1))
    columns = math.sqrt(share) * between + math.sqrt(1 - share) * within
    X, noise = columns[:, :D], columns[:, D]
    return X, sum(shape(X[:, j]) for j, shape in enumerate(SHAPES)) + noise, people


def large_sample_scores(statistic):
    X, y, _ = table(np.random.default_rng(0), 100_000, 1, 0.0)
    return DPMICScorer(statistic=statistic, epsilon=math.inf, **PUBLIC).fit(X, y).scores_


def measure(statistic, n_people, share, epsilon, rows_each, truth):
    """Error and share found, means over tables and draws of the noise."""
    errors, found = [], []
    given = {"statistic": statistic, "epsilon": epsilon, "max_rows_per_group": rows_each, **PUBLIC}
    for seed in range(N_TABLES):
        X, y, people = table(np.random.default_rng(seed), n_people, MOST_ROWS, share)
        errors.append(np.abs(DPMICScorer(**given).fit(X, y, people).scores_ - truth).mean())
        for _ in range(N_DRAWS):
            selector = PrivateSelectKBest(k=N_TRUE, **given).fit(X, y, people)
            found.append(selector.get_support()[:N_TRUE].mean())
    return np.mean(errors), np.mean(found)


def rows():
    """Rows of the result file, header first."""
    cells = list(product(STATISTICS, PEOPLE, SHARES, EPSILONS, ROWS_EACH))
    truths = {statistic: large_sample_scores(statistic) for statistic in STATISTICS}
    yield ["statistic", "persons", "share_between", "epsilon", "max_rows_per_group", "error", "found"]
    for cell in tqdm(cells):
        error, found = measure(*cell, truths[cell[0]])
        yield [*cell, f"{error:.4f}", f"{found:.3f}"]


def main(argv=None):
    measure_into_file(__doc__.splitlines()[0], FILE, rows, argv)


if __name__ == "__main__":
    main()
