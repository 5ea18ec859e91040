"""Do features get chosen as often as StabilityDisplay says? python -m benchmarks.stability --output FILE

The result that is kept is benchmarks/results/stability.csv; docs/choose/planning.md shows it.

Scores of MTVr without noise are known here, of targets of which nothing is learnt. Noise is drawn, frequencies are
computed from the noisy scores and compared with how often each feature is chosen, given the scores without noise. A
minute on one core.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas

from benchmarks.output import add_output, refuse_to_overwrite
from benchmarks.selection.relationships import NAMES, make_pool
from benchmarks.selection.statistics import NOTHING_KNOWN
from benchmarks.selection.ways import Scores
from skdpmic.privacy.mechanisms import GRID, LaplaceMechanism
from skdpmic.release.repeated_choices import ReleasedScores, frequencies_of_choice

RESULT = Path(__file__).parent / "results" / "stability.csv"
N_TABLES, N_DRAWS, N_SIMULATIONS, N_CHOICES = 20, 10, 500, 2000
K = 5
TIMES = (1, 3, 10)  # the epsilon that is asked about, in units of that of the released scores
EDGES = (0, 0.1, 0.4, 0.8, 1.000001)

# How many features are true, of how many, the number of records, and n * epsilon of the released scores.
TABLES = {
    "5 of 20 features true": (5, 20, 1000, 1000),
    "5 of 100 features true": (5, 100, 3000, 3000),
    "0 of 20 features true": (0, 20, 1000, 1000),
}


def run(n_tables=N_TABLES):
    """One row for each kind of table and range of frequencies."""
    rows = []
    for kind, (n_true, d, n, budget) in TABLES.items():
        found = [
            pair
            for seed in range(n_tables)
            for pair in _said_and_chosen(*_scores(n_true, d, n, seed), budget / n, np.random.default_rng(seed))
        ]
        said, plugged_in, chosen = np.concatenate(found, axis=1)
        for way, values in (("posterior", said), ("released scores as truth", plugged_in)):
            cell = np.digitize(values, EDGES) - 1
            rows += [
                {
                    "table": kind,
                    "truth": way,
                    "said from": EDGES[i],
                    "to": round(EDGES[i + 1], 3),
                    "share of features": (cell == i).mean(),
                    "said": values[cell == i].mean(),
                    "chosen": chosen[cell == i].mean(),
                    "rms error": np.sqrt(((values - chosen)[cell == i] ** 2).mean()),
                }
                for i in range(len(EDGES) - 1)
                if (cell == i).any()
            ]
    return pandas.DataFrame(rows)


def _scores(n_true, d, n, seed):
    """Scores without noise of some true features and others, and their sensitivity."""
    pool = make_pool(n, seed, d - n_true)
    scores = Scores(pool, NOTHING_KNOWN, seed)
    true = np.random.default_rng(seed).choice(len(NAMES), n_true, replace=False)
    return np.append(scores.of(np.inf)[true], scores.of(np.inf)[len(NAMES) :]), scores.sensitivity(np.inf)


def _said_and_chosen(scores, sensitivity, epsilon, random):
    """Frequencies that are said, by two ways, and those that are true: (3, n_features), for each draw and epsilon."""
    scale = len(scores) * sensitivity / epsilon
    epsilons = epsilon * np.array(TIMES)
    for _ in range(N_DRAWS):
        released = np.clip(scores + random.laplace(scale=scale, size=len(scores)), 0, 1)
        seed = int(random.integers(2**31))
        fitted = ReleasedScores(released, 0.0, LaplaceMechanism(round(scale / GRID)), epsilon, 0.0)
        said = frequencies_of_choice(fitted, epsilons, K, "scores", N_SIMULATIONS, seed)
        for i, times in enumerate(TIMES):
            plugged_in, chosen = (_chosen(values, scale / times, random) for values in (released, scores))
            yield np.array([said[i], plugged_in, chosen])


def _chosen(scores, scale, random):
    noisy = scores + random.laplace(scale=scale, size=(N_CHOICES, len(scores)))
    best = np.argpartition(-noisy, K - 1, axis=1)[:, :K]
    return np.bincount(best.ravel(), minlength=len(scores)) / N_CHOICES


def main(argv=None):
    """Write and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_output(parser, RESULT)
    options = parser.parse_args(argv)
    refuse_to_overwrite(parser, options)
    table = run()
    table.to_csv(options.output, index=False, float_format="%.3g")
    print(table.to_string(float_format="%.3f"))


if __name__ == "__main__":
    main()
