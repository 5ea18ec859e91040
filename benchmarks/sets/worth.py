"""What a set of columns is worth: a model is fitted to them on training rows, and scored on the others."""

from functools import lru_cache

import numpy as np
from joblib import Memory
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from benchmarks.sets.copies import COPIES
from benchmarks.sets.kept_back import KEPT_BACK
from benchmarks.sets.other_tables import OTHER_TABLES
from benchmarks.sets.tables import TABLES

MAX_ROWS = 10_000  # that a model is fitted to, except on the two tables of copies; half as many are predicted
MODEL = {"max_iter": 30, "learning_rate": 0.2}  # as good as 100 trees at 0.1, and three times as fast
_TEST = 1 / 3

load = lru_cache(lambda name: (TABLES | COPIES | OTHER_TABLES | KEPT_BACK)[name]())


class Split:
    """Two thirds of a table to choose columns on, and one to predict.

    Parameters
    ----------
    name : str
    repeat : int
        The seed of the split.
    folder : Path
        Where the worth of each set is kept, so that no model is fitted twice.
    """

    def __init__(self, name, repeat, folder):
        self.table, self._key = load(name), (name, repeat)
        train, _ = rows_of(name, repeat)
        self.X, self.y = self.table.X.iloc[train], self.table.y[train]
        self._kept = Memory(folder, verbose=0).cache(worth)
        self.known = {}  # what several ways need

    def worth(self, columns):
        """The score, on new rows, of a model of these columns."""
        return self._kept(*self._key, sorted({int(column) for column in columns}))


def rows_of(name, repeat):
    """The rows to choose columns on, and those to predict."""
    y = load(name).y
    stratify = None if load(name).n_classes is None else y
    return train_test_split(np.arange(len(y)), test_size=_TEST, random_state=repeat, stratify=stratify)


def worth(name, repeat, columns):
    """The score, on the rows to predict, of a model of these columns."""
    most, table = None if name in COPIES else MAX_ROWS, load(name)
    train, test = rows_of(name, repeat)
    train, test = train[:most], test[: most and most // 2]
    X, y = table.X.iloc[:, columns], table.y
    model = fitted(X.iloc[train], y[train], table.n_classes, **MODEL)
    return score(model, X.iloc[test], y[test], table.n_classes)


def fitted(X, y, n_classes, **options):
    """Gradient boosting of numbers and labels."""
    model = HistGradientBoostingRegressor if n_classes is None else HistGradientBoostingClassifier
    with threadpool_limits(1):  # more threads than free cores wait for one another
        return model(random_state=0, **options).fit(X, y)


def score(model, X, y, n_classes):
    """R², at least 0; or the area under the curve, for several classes the mean over each against the others."""
    with threadpool_limits(1):
        if n_classes is None:
            return max(r2_score(y, model.predict(X)), 0.0)
        chances = model.predict_proba(X)
    return roc_auc_score(y, chances[:, 1]) if n_classes == 2 else roc_auc_score(y, chances, multi_class="ovr")


def metric(table):
    """What the worth is, for tables of results."""
    return "R²" if table.n_classes is None else "AUC" if table.n_classes == 2 else "AUC, one against the rest"
