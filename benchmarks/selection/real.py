"""Real tables: how good is a model on the features that each way chooses? Choices are made on training rows only."""

from functools import cache

import numpy as np
from sklearn.model_selection import GroupShuffleSplit

from benchmarks.selection.tables import TABLES, few
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

SPLITS = {"digits": 5, "breast cancer": 10, "RAND health": 5, "flights": 2, "flights of new days": 3}
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


def run(name, split, n_draws=N_DRAWS, epsilons=EPSILONS, with_slow=True):
    """Rows of one table and the split of that number."""
    real = load(name)
    splits = GroupShuffleSplit(split + 1, test_size=1 / 3, random_state=0).split(real.table.X, groups=real.groups)
    train, test = (real.table.rows(rows) for rows in list(splits)[split])
    seed = seed_of((name, split))
    random = np.random.default_rng(seed)
    quality, scores = Quality(real, train, test), Scores(train, seed)
    (n, d), k = train.X.shape, real.k
    label = {"table": name, "split": split, "n": n, "d": d, "k": k, "metric": real.metric}

    def row(score, mechanism, epsilon, chosen, best):
        values = quality.of(chosen)
        return label | {
            "score": score,
            "mechanism": mechanism,
            "epsilon": epsilon,
            "quality": values.mean(),
            "agreement": np.isin(chosen, best).mean(),  # with the choice by the same score without noise
        }

    def best_by(values):
        return choose(values[None, :], k, None, 0.0, random)

    best = {score: best_by(scores.of(score)) for score in PRIVATE_SCORES}
    best["mutual_info"] = best_by(mutual_information(few(train)))
    best["all features"] = np.arange(d)[None, :]
    rows = [row(score, "none", NOT_PRIVATE, chosen, chosen) for score, chosen in best.items()]
    at_random = choose(random.random((n_draws, d)), k, None, 0.0, random)
    rows.append(row("at random", "none", 0.0, at_random, best["MICr"]))
    for score, mechanism, epsilon, values, scale in private_ways(scores, k, d, epsilons):
        chosen = choose(np.broadcast_to(values, (n_draws, d)), k, mechanism, scale, random)
        rows.append(row(score, mechanism, epsilon, chosen, best[score]))
    if with_slow:
        for epsilon in GEOMETRIC_EPSILONS:
            chosen = best_by(geometric_scores(train, epsilon, seed))
            rows.append(row("MICr", COUNTS, epsilon, chosen, best["MICr"]))
    return rows
