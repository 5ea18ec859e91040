"""Five true features among noise: how many of them does each way find?

The target is uniform on [0, 1]. A true feature is drawn given the target, from one of the 21 relationships of
``skdpmic.datasets`` at an R² of 0.5 to 0.9; true features are independent given the target. A noise feature is a true
one whose records are permuted: the same values, no dependence. In each trial five of the relationships, at random, are
the true features.
"""

import numpy as np

from benchmarks.selection.rivals import Table
from benchmarks.selection.ways import (
    COUNTS,
    EPSILONS,
    NOT_PRIVATE,
    PRIVATE_SCORES,
    Scores,
    choose,
    geometric_scores,
    mutual_information,
    private_ways,
)
from benchmarks.store import seed_of
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

    def __init__(self, d, n_trials, random):
        true = np.argsort(random.random((n_trials, len(NAMES))), axis=1)[:, :N_TRUE]
        noise = np.argsort(random.random((n_trials, d - N_TRUE)), axis=1) + len(NAMES)
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


def run(n, repeat, sizes=SIZES, n_trials=N_TRIALS, epsilons=EPSILONS, with_slow=True):
    """Rows of one table of n records."""
    seed = seed_of(("relationships", n, repeat))
    pool = make_pool(n, seed, n_noise=max(sizes) - N_TRUE)
    scores = Scores(pool, seed)
    rows = []
    for d in sizes:
        random = np.random.default_rng([seed, d])
        trials = Trials(d, n_trials, random)
        n_columns = len(NAMES) + d - N_TRUE  # that the trials take theirs from
        ways = [
            *private_ways(scores, N_TRUE, d, epsilons, n_columns),
            *((score, "none", NOT_PRIVATE, scores.of(score, n_features=n_columns), 0.0) for score in PRIVATE_SCORES),
        ]
        if d in GEOMETRIC_SIZES and repeat == 0 and with_slow:
            ways += _slow_ways(pool.columns(np.arange(n_columns)), d, seed)
        for score, mechanism, epsilon, values, scale in ways:
            chosen = choose(values[trials.columns], N_TRUE, mechanism, scale, random)
            label = {"n": n, "repeat": repeat, "d": d, "score": score, "mechanism": mechanism, "epsilon": epsilon}
            rows.append(label | trials.row(chosen))
    return rows


def _slow_ways(table, d, seed):
    """As of `private_ways`; counts with noise once for all features, epsilon / d each, so that any d are a trial."""
    for epsilon in GEOMETRIC_EPSILONS:
        values = geometric_scores(table, round(epsilon * table.X.shape[1] / d, 6), seed)
        yield "MICr", COUNTS, epsilon, values, 0.0
    if len(table.y) <= MUTUAL_INFORMATION_ROWS:
        yield "mutual_info", "none", NOT_PRIVATE, mutual_information(table), 0.0
