"""Real tables: how good is a model on the features that each way chooses? Choices are made on training rows only."""

from functools import cache, lru_cache

import numpy as np
from sklearn.model_selection import GroupShuffleSplit

from benchmarks.selection.real_tables import TABLES, few
from benchmarks.selection.statistics import STATISTICS
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
    of_trials,
    private_ways,
)
from benchmarks.store import seed_of

SPLITS = {"digits": 5, "breast cancer": 10, "RAND health": 5, "flights": 3, "flights of new days": 3}
N_DRAWS = 20
GEOMETRIC_EPSILONS = (1.0, 10.0)

load = cache(lambda name: TABLES[name]())


class Quality:
    """How good a model is on chosen features, kept for each choice."""

    def __init__(self, real, train, test):
        self._real, self._train, self._test = real, train, test
        self._known = {}

    def of(self, chosen):
        """Quality of each choice: (n_draws,), from columns of shape (n_draws, k)."""
        return np.array([self._of_one(tuple(sorted(columns))) for columns in chosen.tolist()])

    def _of_one(self, columns):
        if columns not in self._known:
            chosen = list(columns)
            self._known[columns] = self._real.quality(self._train.columns(chosen), self._test.columns(chosen))
        return self._known[columns]


@lru_cache(maxsize=1)  # for the next statistic
def divided(name, split):
    """The rows to choose features on, and the Quality of a choice."""
    real = load(name)
    splits = GroupShuffleSplit(split + 1, test_size=1 / 3, random_state=0).split(real.table.X, groups=real.groups)
    train, test = (real.table.rows(rows) for rows in list(splits)[split])
    return train, Quality(real, train, test)


def run(name, split, statistic, n_draws=N_DRAWS, epsilons=EPSILONS):
    """Rows of one table and the split of that number, and one statistic; or of COUNTS, or REFERENCES."""
    real = load(name)
    if statistic in STATISTICS and not STATISTICS[statistic].can_score(real.table.n_classes):
        return []
    train, quality = divided(name, split)
    seed = seed_of((name, split))
    (n, d), k = train.X.shape, real.k
    ways_of = {COUNTS: _choices_by_counts, REFERENCES: _other_choices}.get(statistic, _private_choices)
    label = {"table": name, "split": split, "n": n, "d": d, "k": k, "metric": real.metric}
    names = "score", "mechanism", "epsilon"
    return [
        label | dict(zip(names, way, strict=True)) | {"quality": quality.of(chosen).mean()}
        for *way, chosen in ways_of(train, statistic, k, n_draws, epsilons, seed)
    ]


def _private_choices(train, statistic, k, n_draws, epsilons, seed):
    d = train.X.shape[1]
    scores = Scores(train, statistic, seed)
    yield statistic, "none", NOT_PRIVATE, _best(scores.of(NOT_PRIVATE), k, seed)
    columns = np.broadcast_to(np.arange(d), (n_draws, d))
    for mechanism, epsilon, values, scale in private_ways(scores, k, d, epsilons):
        random = noise_of(seed, mechanism, epsilon)
        yield statistic, mechanism, epsilon, choose(of_trials(values, columns), k, mechanism, scale, random)


def _choices_by_counts(train, statistic, k, n_draws, epsilons, seed):
    for epsilon in GEOMETRIC_EPSILONS:
        yield "MICr", COUNTS, epsilon, _best(geometric_scores(train, epsilon, seed), k, seed)


def _other_choices(train, statistic, k, n_draws, epsilons, seed):
    d = train.X.shape[1]
    random = np.random.default_rng(seed)
    yield "mutual_info", "none", NOT_PRIVATE, _best(mutual_information(few(train)), k, seed)
    yield "all features", "none", NOT_PRIVATE, np.arange(d)[None, :]
    yield "at random", "none", 0.0, choose(random.random((n_draws, d)), k, None, 0.0, random)


def _best(values, k, seed):
    return choose(values[None, :], k, None, 0.0, np.random.default_rng(seed))
