"""Choices without privacy, for reference.

Information is computed on few bins: 5 bins with equally many training rows for numbers, the 9 most frequent labels and
one bin for the others, and a bin for missing values; with the correction of Miller and Madow.
"""

import numpy as np
import pandas

from benchmarks.sets.worth import MAX_ROWS, fitted, score

_BINS, _LABELS = 5, 9
_FEW_ROWS = 2000  # training rows that each of many small models is fitted to, and as many that it is scored on
_SMALL = {"max_iter": 15, "learning_rate": 0.3}

# --- Information ------------------------------------------------------------------------------------------------------


def mutual_information(split, epsilon, seed):
    """The k columns that are individually most informative about the target."""
    return np.argsort(-_target_information(split), kind="stable")[: split.table.k]


def mrmr_quotient(split, epsilon, seed):
    """Maximum relevance over minimum redundancy, mean information with those chosen before (Ding and Peng 2005)."""
    chosen = [int(np.argmax(_target_information(split)))]
    while len(chosen) < split.table.k:
        worth = _target_information(split) / np.maximum(np.mean([_redundancy(split, j) for j in chosen], axis=0), 0.01)
        worth[chosen] = -np.inf
        chosen.append(int(np.argmax(worth)))
    return chosen


def _codes(split):
    """Bins of all columns, and of the target last."""
    if "codes" not in split.known:
        X, y = split.X.iloc[:MAX_ROWS], pandas.Series(split.y[:MAX_ROWS])
        columns = [_binned(column) for _, column in X.items()]
        split.known["codes"] = [*columns, _binned(y) if split.table.n_classes is None else pandas.factorize(y)[0]]
    return split.known["codes"]


def _binned(column):
    if column.dtype == "category":
        frequent = column.value_counts().index[:_LABELS]
        bins = column.astype(object).where(column.isin(frequent) | column.isna(), "another one")
    else:
        bins = pandas.qcut(column, _BINS, labels=False, duplicates="drop")
        if bins.nunique() < 2:  # one value takes nearly all
            bins = (column != column.mode()[0]).where(column.notna())
    return pandas.factorize(bins, use_na_sentinel=False)[0]


def _target_information(split):
    if "of target" not in split.known:
        *columns, y = _codes(split)
        split.known["of target"] = np.array([_information(x, y) for x in columns])
    return split.known["of target"]


def _redundancy(split, j):
    if ("between", j) not in split.known:
        columns = _codes(split)[:-1]
        split.known["between", j] = np.array([_information(x, columns[j]) for x in columns])
    return split.known["between", j]


def _information(x, y):
    """Mutual information in nats, corrected for the number of cells that are not empty."""
    counts = np.zeros((x.max() + 1, y.max() + 1))
    np.add.at(counts, (x, y), 1)
    parts = counts.sum(axis=1), counts.sum(axis=0), counts.ravel()
    x_entropy, y_entropy, together = ((np.log(n := c.sum()) - (c @ np.log(np.maximum(c, 1))) / n) for c in parts)
    x_cells, y_cells, cells = (np.count_nonzero(c) for c in parts)
    return x_entropy + y_entropy - together + (x_cells + y_cells - cells - 1) / (2 * len(x))


# --- Models -----------------------------------------------------------------------------------------------------------


def forward(split, epsilon, seed):
    """One column at a time, by the score of a small model of it and the columns already chosen.

    The model is fitted to 2,000 training rows, fewer if there are not 4,000, and scored on as many others.
    """
    n = min(_FEW_ROWS, len(split.y) // 2)
    X, y, n_classes, chosen = split.X, split.y, split.table.n_classes, []
    for _ in range(split.table.k):
        values = np.full(X.shape[1], -np.inf)
        for column in set(range(X.shape[1])).difference(chosen):
            of = X.iloc[:, [*chosen, column]]
            model = fitted(of.iloc[:n], y[:n], n_classes, **_SMALL)
            values[column] = score(model, of.iloc[n : 2 * n], y[n : 2 * n], n_classes)
        chosen.append(int(np.argmax(values)))
    return chosen


def everything(split, epsilon, seed):
    """All columns."""
    return range(split.X.shape[1])


def at_random(split, epsilon, seed):
    """Any k columns."""
    return np.random.default_rng(seed).choice(split.X.shape[1], split.table.k, replace=False)
