"""What a set of columns is worth: a model is fitted to them on training rows, and scored on the others."""

import csv
from functools import lru_cache

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from benchmarks.sets.copies import COPIES
from benchmarks.sets.tables import TABLES

MAX_ROWS = 10_000  # that a model is fitted to, except on the two tables of copies; half as many are predicted
MODEL = {"max_iter": 30, "learning_rate": 0.2}  # as good as 100 trees at 0.1, and three times as fast
_TEST = 1 / 3

load = lru_cache(lambda name: (TABLES | COPIES)[name]())


class Split:
    """Two thirds of a table to choose columns on, and one to predict.

    Parameters
    ----------
    name : str
    repeat : int
        The seed of the split.
    models : Models
        Where the worth of each set is kept.
    """

    def __init__(self, name, repeat, models):
        self.table, self._key, self._models = load(name), (name, repeat), models
        rows = np.arange(len(self.table.y))
        stratify = None if self.table.n_classes is None else self.table.y
        self._train, self._test = train_test_split(rows, test_size=_TEST, random_state=repeat, stratify=stratify)
        self.X, self.y = self.table.X.iloc[self._train], self.table.y[self._train]
        self.known = {}  # what several ways need

    def worth(self, columns):
        """The score, on new rows, of a model of these columns."""
        chosen = frozenset(int(column) for column in columns)
        return self._models.worth(self._key, chosen, lambda: self._worth(sorted(chosen)))

    def _worth(self, columns):
        most = None if self._key[0] in COPIES else MAX_ROWS
        train, test = self._train[:most], self._test[: most and most // 2]
        X, y = self.table.X.iloc[:, columns], self.table.y
        model = fitted(X.iloc[train], y[train], self.table.n_classes, **MODEL)
        return score(model, X.iloc[test], y[test], self.table.n_classes)


class Models:
    """Worth of each set of columns of each split, kept in a file, so that no model is fitted twice."""

    def __init__(self, path):
        self._path, self._known = path, {}
        if path.exists():
            with path.open(encoding="utf-8", newline="") as file:
                for name, repeat, columns, worth in csv.reader(file):
                    self._known[name, int(repeat), frozenset(map(int, columns.split()))] = float(worth)

    def worth(self, split, columns, compute):
        """The kept worth, or else the one computed now."""
        key = (*split, columns)
        if key not in self._known:
            self._known[key] = round(float(compute()), 6)
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8", newline="") as file:
                row = [*split, " ".join(map(str, sorted(columns))), self._known[key]]
                csv.writer(file, lineterminator="\n").writerow(row)
        return self._known[key]


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
