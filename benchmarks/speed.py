"""Time of a MICr score beside scikit-learn's mutual information, as ratios within one run.

    python benchmarks/speed.py

B and c are automatic, for epsilon = 1 a feature. One thread. Every figure is the median of the rounds; in each round
both are timed in turn, so that a drift of the machine's speed meets both.
"""

import argparse
import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import time

import numpy as np
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from tqdm import tqdm

from skdpmic.defaults import default_B, default_c
from skdpmic.mic.statistics import ContinuousTarget, DiscreteTarget
from skdpmic.privacy.noise import discrete_laplace, entropy_source


def score_all(target, X):
    return [target.score(X[:, j], (0.0, 1.0)) for j in range(X.shape[1])]


def mic_regression(X, y):
    return score_all(ContinuousTarget(y, (0.0, 1.0), default_B(len(y), 1.0), default_c()), X)


def mic_classif(X, codes):
    return score_all(DiscreteTarget(codes, codes.max() + 1, default_B(len(codes), 1.0), default_c()), X)


def seconds(function, *arguments):
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def compare(ours, theirs, X, y, rounds, label):
    ours(X[:, :2], y)  # compiles
    times = np.array(
        [
            (seconds(ours, X, y), seconds(theirs, X, y))
            for _ in tqdm(range(rounds), desc=label, leave=False, disable=None)
        ]
    )
    mine, other = np.median(times, axis=0) / X.shape[1] * 1e3
    ratio = np.median(times[:, 1] / times[:, 0])
    print(f"{label:<34} {mine:>9.3f} ms {other:>9.2f} ms {ratio:>8.1f}")


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--features", type=int, default=50)
    options = parser.parse_args(argv)

    print(f"{'a feature, d = ' + str(options.features):<34} {'MICr':>12} {'scikit-learn':>12} {'times faster':>8}")
    for n in (1000, 5000, 10000):
        rng = np.random.default_rng(0)
        X = rng.random((n, options.features))
        y = np.clip((2 * X[:, 0] - 1) ** 2 + 0.1 * rng.standard_normal(n), 0, 1)
        compare(mic_regression, mutual_info_regression, X, y, options.rounds, f"n = {n}, mutual_info_regression")
        compare(
            mic_classif, mutual_info_classif, X, (y * 5).astype(int), options.rounds, f"n = {n}, mutual_info_classif"
        )

    n_draws = 100_000
    took = seconds(discrete_laplace, 10**7, n_draws, entropy_source())
    print(f"\nexact discrete Laplace noise: {n_draws / took:,.0f} draws a second")


if __name__ == "__main__":
    main()
