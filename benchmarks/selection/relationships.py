"""Five true features among noise: how many of them does each way find?

The target is uniform on [0, 1]. A true feature is drawn given the target, from one of the 21 relationships of
``skdpmic.datasets`` at an R² of 0.5 to 0.9; true features are independent given the target. A noise feature is a true
one whose records are permuted: the same values, no dependence. In each trial five of the relationships, at random, are
the true features.
"""

import zlib
from itertools import product

import numpy as np

from benchmarks.selection.rivals import Table
from benchmarks.selection.ways import (
    COUNTS,
    EPSILONS,
    NOT_PRIVATE,
    PRIVATE_SCORES,
    Scores,
    automatic_grid,
    choose,
    geometric_scores,
    grid_for,
    mechanisms_of,
    mutual_information,
    noise_scale,
)
from skdpmic.datasets import RELATIONSHIPS, relationship

N_TRUE = 5
SIZES = (20, 100, 500)  # features, the true ones included
REPEATS = {1000: 4, 3000: 4, 10_000: 3, 30_000: 2, 100_000: 2}  # tables for each number of records
N_TRIALS = 400
R2_OF_TRUE = (0.5, 0.6, 0.7, 0.8, 0.9)
NAMES = tuple(RELATIONSHIPS)
SHAPES = {
    "monotone": ("F9", "F10", "F11", "F12", "F17"),
    "trend": ("F1", "F2", "F3", "F4", "F7", "F8", "F20", "F21"),  # rises or falls on the whole, with bends
    "waves": ("F5", "F6", "F13", "F14", "F15", "F16", "F18", "F19"),  # and the parabola: little or no trend
}
GEOMETRIC_SIZES = (20, 100)
GEOMETRIC_EPSILONS = (0.1, 1.0, 10.0)
MUTUAL_INFORMATION_ROWS = 10_000  # beyond them, scikit-learn's score takes too long

# --- Data -----------------------------------------------------------------------------------------------------------


def make_pool(n, seed, n_noise):
    """The 21 true features, in the order of NAMES, then `n_noise` noise features, and their target: a Table."""
    random = np.random.default_rng(seed)
    y = random.random(n)
    true = np.column_stack(
        [draw_given_target(relationship(name, random.choice(R2_OF_TRUE)), y, random) for name in NAMES]
    )
    X = np.empty((n, len(NAMES) + n_noise))
    X[:, : len(NAMES)] = true
    for j in range(n_noise):
        X[:, len(NAMES) + j] = random.permutation(true[:, j % len(NAMES)])
    return Table(X, y, np.zeros(X.shape[1]), np.ones(X.shape[1]), (0, 1))


def draw_given_target(mixture, y, random):
    """x of a Gaussian mixture on the unit square, given y."""
    x = np.empty(len(y))
    left = np.arange(len(y))
    while len(left):  # those outside [0, 1] choose their component again
        drawn = np.concatenate(
            [_component(mixture, part, random) for part in np.array_split(y[left], len(left) // 5000 + 1)]
        )
        drawn += mixture.sigma * random.standard_normal(len(left))
        inside = (drawn >= 0) & (drawn <= 1)
        x[left[inside]] = drawn[inside]
        left = left[~inside]
    return x


def _component(mixture, y, random):
    """Centre in x of the component that each y comes from."""
    log_weights = -0.5 * ((y[:, None] - mixture.points[:, 1]) / mixture.sigma) ** 2
    cumulated = np.cumsum(np.exp(log_weights - log_weights.max(axis=1, keepdims=True)), axis=1)
    chosen = (cumulated < random.random((len(y), 1)) * cumulated[:, -1:]).sum(axis=1)
    return mixture.points[chosen, 0]


# --- Trials ---------------------------------------------------------------------------------------------------------


class Trials:
    """Which features of a pool each trial is about: columns of shape (n_trials, d), the true ones first."""

    def __init__(self, d, n_noise, n_trials, random):
        true = np.argsort(random.random((n_trials, len(NAMES))), axis=1)[:, :N_TRUE]
        noise = np.argsort(random.random((n_trials, n_noise)), axis=1)[:, : d - N_TRUE] + len(NAMES)
        self.columns = np.hstack([true, noise])

    def row(self, chosen):
        """What was found, by choices of shape (n_trials, N_TRUE) among each trial's columns: a dict of shares."""
        true = self.columns[:, :N_TRUE]
        found = (chosen[:, :, None] == np.arange(N_TRUE)).any(axis=1)
        recall = found.mean(axis=1)
        row = {"recall": recall.mean(), "sd": recall.std(ddof=1), "trials": len(recall)}
        for shape, names in SHAPES.items():
            row[shape] = found[np.isin(true, [NAMES.index(name) for name in names])].mean()
        return row | {name: found[true == i].mean() for i, name in enumerate(NAMES)}


def run(configuration, sizes=SIZES, n_trials=N_TRIALS, epsilons=EPSILONS, with_slow=True):
    """Rows of one table of n records: configuration is ("relationships", n, repeat)."""
    _, n, repeat = configuration
    seed = zlib.crc32(repr(configuration).encode())
    pool = make_pool(n, seed, n_noise=max(sizes) - N_TRUE)
    scores = Scores(pool, seed)
    rows = []
    for d in sizes:
        random = np.random.default_rng([seed, d])
        trials = Trials(d, d - N_TRUE, n_trials, random)
        label = {"n": n, "repeat": repeat, "d": d}
        rows += [label | row for row in _private_rows(scores, trials, n, d, epsilons, random)]
        rows += [label | row for row in _rows_without_privacy(scores, trials, n, d, random)]
        if d in GEOMETRIC_SIZES and repeat == 0 and with_slow:
            rows += [label | row for row in _geometric_rows(pool, trials, d, seed, random)]
        if d in GEOMETRIC_SIZES and repeat == 0 and n <= MUTUAL_INFORMATION_ROWS and with_slow:
            values = mutual_information(pool.columns(np.arange(_n_columns(d))))
            rows.append(label | _way("mutual_info", "none", NOT_PRIVATE) | _found(values, trials, random))
    return rows


def _n_columns(d):
    """Columns of a pool that trials with d features take theirs from."""
    return len(NAMES) + d - N_TRUE


def _way(score, mechanism, epsilon):
    return {"score": score, "mechanism": mechanism, "epsilon": epsilon}


def _private_rows(scores, trials, n, d, epsilons, random):
    rows = []
    for score, epsilon in product(PRIVATE_SCORES, epsilons):
        for mechanism in mechanisms_of(score):
            values = scores.of(score, grid_for(score, mechanism, epsilon, N_TRUE, d, n), _n_columns(d))
            scale = noise_scale(score, mechanism, epsilon, N_TRUE, d, n)
            rows.append(_way(score, mechanism, epsilon) | _found(values, trials, random, mechanism, scale))
    return rows


def _rows_without_privacy(scores, trials, n, d, random):
    grids = {"MICr": automatic_grid(n, np.inf)}
    return [
        _way(score, "none", NOT_PRIVATE) | _found(scores.of(score, grids.get(score), _n_columns(d)), trials, random)
        for score in PRIVATE_SCORES
    ]


def _geometric_rows(pool, trials, d, seed, random):
    """All features of the pool once, each with epsilon / d, so that any d of them are a trial at epsilon."""
    columns = pool.columns(np.arange(_n_columns(d)))
    rows = []
    for epsilon in GEOMETRIC_EPSILONS:
        values = geometric_scores(columns, round(epsilon * _n_columns(d) / d, 6), seed)
        rows.append(_way("MICr", COUNTS, epsilon) | _found(values, trials, random))
    return rows


def _found(values, trials, random, mechanism=None, scale=0.0):
    return trials.row(choose(values[trials.columns], N_TRUE, mechanism, scale, random))
