"""Like relationships.py, with true features that are not functions of the target, nor the target of them.

Each is drawn given the target from a mixture of round Gaussians in the unit square, with centres along a circle, the
two arms of an X, two parallel lines or a fork, or all over the dark squares of a checkerboard. The noise is such that
feature and target share as much information as on a line with an R² of 0.3 or 0.4, which is 0.3 or 0.4 bits. No
checkerboard has more than one bit.
"""

from functools import cache, lru_cache

import numpy as np
from scipy.optimize import brentq

from benchmarks.selection.relationships import (
    N_TRIALS,
    N_TRUE,
    Trials,
    draw_given_target,
    rows_of_trials,
    with_noise_features,
)
from benchmarks.selection.ways import EPSILONS, REFERENCES, Scores
from benchmarks.store import seed_of
from skdpmic.datasets import relationship
from skdpmic.datasets.relationships import GaussianMixture

D = 100  # features, the true ones included
REPEATS = {1000: 8, 3000: 6, 10_000: 4, 30_000: 2}  # tables for each number of records
R2_OF_LINES = (0.3, 0.4)

# --- Shapes -----------------------------------------------------------------------------------------------------------


def _circle():
    angles = np.arange(200) / 200 * 2 * np.pi
    return 0.5 + 0.4 * np.column_stack([np.cos(angles), np.sin(angles)])


def _lines(*ends):
    """Points along straight lines, each from (x, y) to (x, y)."""
    places = (np.arange(100) + 0.5)[:, None] / 100
    return np.concatenate([(1 - places) * start + places * end for start, end in np.array(ends, dtype=float)])


def _checkerboard(n_squares):
    """Points all over the dark squares of a checkerboard of n_squares by n_squares."""
    n_points = -(-60 // n_squares) * n_squares
    side = (np.arange(n_points) + 0.5) / n_points
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    return points[(points * n_squares).astype(int).sum(axis=1) % 2 == 0]


SHAPES = {
    "circle": _circle(),
    "X": _lines([(0, 0), (1, 1)], [(0, 1), (1, 0)]),
    "parallel lines": _lines([(0, 0), (0.6, 1)], [(0.4, 0), (1, 1)]),
    "fork": _lines([(0, 0), (1, 1)], [(0, 0), (0.2, 1)]),
    **{f"{n} x {n} squares": _checkerboard(n) for n in (3, 5, 8, 16)},
}
TRUE = [(shape, r2) for shape in SHAPES for r2 in R2_OF_LINES]  # the true features of a pool
GROUPS = {shape: [i for i, (name, _) in enumerate(TRUE) if name == shape] for shape in SHAPES}


@cache
def mixture_of(shape, r2):
    """The shape with as much information as a line with this R²."""
    wanted = information(relationship("F12", r2))

    def excess(log_sigma):
        return information(GaussianMixture(SHAPES[shape], np.exp(log_sigma))) - wanted

    return GaussianMixture(SHAPES[shape], float(np.exp(brentq(excess, *np.log([0.005, 0.3]), xtol=1e-4))))


def information(mixture, n_places=200):
    """Mutual information in bits of a uniform target and a feature drawn from the mixture given the target."""
    places = (np.arange(n_places) + 0.5) / n_places
    x, y = (np.exp(-0.5 * ((places - centres[:, None]) / mixture.sigma) ** 2) for centres in mixture.points.T)
    shares = x.T @ y
    shares /= n_places * shares.sum(axis=0)  # the target, whose places are columns, is uniform
    at_random = np.broadcast_to(shares.sum(axis=1, keepdims=True) / n_places, shares.shape)
    some = shares > 0
    return float((shares[some] * np.log2(shares[some] / at_random[some])).sum())


# --- Trials -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)  # reused for the next statistic
def make_pool(n, seed):
    """The true features, in the order of TRUE, then noise features, and their target: a Table."""
    random = np.random.default_rng(seed)
    y = random.random(n)
    true = [draw_given_target(mixture_of(*kind), y, random) for kind in TRUE]
    return with_noise_features(true, y, D - N_TRUE, random)


def run(n, repeat, statistic, n_trials=N_TRIALS, epsilons=EPSILONS):
    """Rows of one table of n records, and one statistic; or REFERENCES."""
    if statistic == REFERENCES and repeat > 0:
        return []
    seed = seed_of(("no functions", n, repeat))
    pool = make_pool(n, seed)
    trials = Trials(D, n_trials, np.random.default_rng(seed), GROUPS)
    scores = pool if statistic == REFERENCES else Scores(pool, statistic, seed)
    return rows_of_trials(trials, D, scores, statistic, seed, epsilons, {"n": n, "repeat": repeat, "d": D})
