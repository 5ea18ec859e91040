"""Five true features among noise: how many of them does each way find?

The target is uniform on [0, 1]. A true feature is drawn given the target, from one of the 21 relationships of
``skdpmic.datasets`` at an R² of 0.5 to 0.9; true features are independent given the target. A noise feature is a true
one with its records permuted: the same values, no dependence. In each trial, five random relationships are the true
features.
"""

from functools import lru_cache

import numpy as np

from benchmarks.selection.table import Table
from benchmarks.selection.ways import (
    COUNTS,
    EPSILONS,
    NOT_PRIVATE,
    REFERENCES,
    Scores,
    choose,
    geometric_scores,
    mutual_information,
    noise_of,
    private_ways,
    trial_scores,
)
from benchmarks.store import seed_of
from skdpmic.datasets import RELATIONSHIPS, relationship

N_TRUE = 5
SIZES = (20, 100, 500)  # features, the true ones included
REPEATS = {1000: 12, 3000: 8, 10_000: 6, 30_000: 4, 100_000: 2}  # tables for each number of records
N_TRIALS = 400
R2_OF_TRUE = (0.5, 0.6, 0.7, 0.8, 0.9)
NAMES = tuple(RELATIONSHIPS)
SHAPES = {
    "monotone": ("F9", "F10", "F11", "F12", "F17"),
    "trend": ("F1", "F2", "F3", "F4", "F7", "F8", "F20", "F21"),  # rises or falls overall, with bends
    "waves": ("F5", "F6", "F13", "F14", "F15", "F16", "F18", "F19"),  # and the parabola: little or no trend
}
_GROUPS = {group: [NAMES.index(name) for name in names] for group, names in SHAPES.items()} | {
    name: [i] for i, name in enumerate(NAMES)
}
GEOMETRIC_EPSILONS = (0.1, 1.0, 10.0)
SLOW_SIZES = (20, 100)  # features, for noisy counts and scikit-learn's score; only on the first table
MUTUAL_INFORMATION_ROWS = 10_000  # beyond this, scikit-learn's score takes too long

# --- Data -----------------------------------------------------------------------------------------------------------


def make_pool(n, seed, n_noise):
    """The 21 true features, in the order of NAMES, then `n_noise` noise features, and their target: a Table."""
    random = np.random.default_rng(seed)
    y = random.random(n)
    true = [draw_given_target(relationship(name, random.choice(R2_OF_TRUE)), y, random) for name in NAMES]
    return with_noise_features(true, y, n_noise, random)


def with_noise_features(true, y, n_noise, random):
    """The Table of the true features, then `n_noise` of them, taken in turn, with their records permuted."""
    X = np.empty((len(y), len(true) + n_noise), order="F")
    for j in range(X.shape[1]):
        X[:, j] = true[j] if j < len(true) else random.permutation(true[(j - len(true)) % len(true)])
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
    """The features of a pool that each trial uses: columns of shape (n_trials, d), the true ones first.

    Parameters
    ----------
    d : int
        Features of a trial, N_TRUE of them true.
    n_trials : int
    random : numpy Generator
    groups : dict, default=shapes and relationships
        Maps a name to the true features of the pool whose share found is reported under it. Together they are all true
        features of the pool, which come first there.
    """

    def __init__(self, d, n_trials, random, groups=_GROUPS):
        n_true = 1 + max(max(members) for members in groups.values())
        true = np.argsort(random.random((n_trials, n_true)), axis=1)[:, :N_TRUE]
        noise = np.argsort(random.random((n_trials, d - N_TRUE)), axis=1) + n_true
        self.columns = np.hstack([true, noise])
        self.n_columns = n_true + d - N_TRUE  # of the pool that the trials draw from
        self._groups = groups

    def row(self, chosen):
        """The shares found by choices of shape (n_trials, N_TRUE) among each trial's columns: a dict."""
        true = self.columns[:, :N_TRUE]
        found = (chosen[:, :, None] == np.arange(N_TRUE)).any(axis=1)
        recall = found.mean(axis=1)
        row = {"recall": recall.mean(), "sd": recall.std(ddof=1), "trials": len(recall)}
        return row | {group: found[np.isin(true, members)].mean() for group, members in self._groups.items()}


def run(n, repeat, statistic, sizes=SIZES, n_trials=N_TRIALS, epsilons=EPSILONS):
    """Rows of one table of n records, and one statistic; or of COUNTS, or REFERENCES."""
    seed = seed_of(("relationships", n, repeat))
    pool = kept_pool(n, seed, max(sizes) - N_TRUE)
    if statistic in (COUNTS, REFERENCES):
        sizes = [d for d in sizes if d in SLOW_SIZES] if repeat == 0 else []
    else:
        pool = Scores(pool, statistic, seed)
    rows = []
    for d in sizes:
        trials = Trials(d, n_trials, np.random.default_rng([seed, d]))
        rows += rows_of_trials(trials, d, pool, statistic, seed, epsilons, {"n": n, "repeat": repeat, "d": d})
    return rows


kept_pool = lru_cache(maxsize=1)(make_pool)  # reused for the next statistic


def rows_of_trials(trials, d, pool, statistic, seed, epsilons, label):
    """A row for each way to hide one statistic, given its Scores of the pool, or the pool for COUNTS and REFERENCES."""
    if statistic == COUNTS:
        ways = _ways_of_counts(trials, d, pool, seed)
    elif statistic == REFERENCES:
        ways = _ways_of_references(trials, pool)
    else:
        no_noise = ("none", NOT_PRIVATE, pool.of(NOT_PRIVATE, trials.n_columns), 0.0)
        ways = [*private_ways(pool, N_TRUE, d, epsilons, trials.n_columns), no_noise]
    score = {COUNTS: "MICr", REFERENCES: "mutual_info"}.get(statistic, statistic)
    rows = []
    for mechanism, epsilon, values, scale in ways:
        random = noise_of(seed + d, mechanism, epsilon)
        chosen = choose(trial_scores(values, trials.columns), N_TRUE, mechanism, scale, random)
        rows.append(label | {"score": score, "mechanism": mechanism, "epsilon": epsilon} | trials.row(chosen))
    return rows


def _ways_of_counts(trials, d, pool, seed):
    """Noisy counts, once for all features of the pool at epsilon / d each, so that any d of them make a trial."""
    table = pool.columns(slice(trials.n_columns))
    for epsilon in GEOMETRIC_EPSILONS:
        yield COUNTS, epsilon, geometric_scores(table, round(epsilon * trials.n_columns / d, 6), seed), 0.0


def _ways_of_references(trials, pool):
    if len(pool.y) <= MUTUAL_INFORMATION_ROWS:
        yield "none", NOT_PRIVATE, mutual_information(pool.columns(slice(trials.n_columns))), 0.0
