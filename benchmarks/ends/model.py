"""A private model of chosen columns, or of all? python -m benchmarks.ends.model: docs/publish/private_model.md.

In the environment of ``.ci/models.txt``. Two thirds of the people of :mod:`benchmarks.ends.claims` are for a model of
diffprivlib, the others for its ROC AUC, in ten splits. With ``chosen``, a quarter of epsilon chooses five columns and
the rest fits the model; "chosen jointly" does so with criterion="joint", in place
of the default; with ``all``, the model has all of epsilon and all columns. Nothing was tuned on the table:
five columns and a quarter were fixed before, and C is so large that the regularisation is what the mechanism itself
adds. What else might help many columns is there too: more regularisation (C = 0.1), and rows that are clipped to a
length of 4, as most columns of most people are 0. At an epsilon of infinity, choice and model are those without noise.
Noise is of a seed here, which no release may have.

An interrupted run goes on where it stopped. Results that are there are replaced with --overwrite only.
"""

import argparse
import math
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas
from sklearn import linear_model, naive_bayes
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from benchmarks.ends.claims import TARGET, claims, codebook
from benchmarks.ends.report import summarised
from benchmarks.output import add_output, refuse_to_overwrite
from benchmarks.store import completed
from skdpmic import PrivateSelectKBest, PublicEncoder

RESULTS = Path(__file__).parent / "results"
EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, math.inf)
COLUMNS = ("chosen", "chosen jointly", "all")
MODELS = ("logistic regression", "logistic regression, C=0.1", "logistic regression, rows of length 4", "naive Bayes")
K, SHARE, REPEATS = 5, 0.25, 10


def unit_rows(X, norm):
    """Rows clipped to a norm, with a constant last, scaled to a norm of 1: what the proof of CMS11 covers."""
    X = np.asarray(X) * np.minimum(1, norm / np.maximum(np.linalg.norm(X, axis=1), 1e-9))[:, None]
    return np.column_stack([X, np.ones(len(X))]) / math.hypot(norm, 1)


def logistic(encoder, epsilon, seed, C=1000.0, norm=math.inf):
    """A model that gives chances, and what it takes of encoded records."""
    # An intercept of its own would not be regularised, which the proof asks for; nor does it hold for longer rows.
    options = {"C": C, "fit_intercept": False, "tol": 1e-6, "max_iter": 1000}
    if epsilon == math.inf:
        model = linear_model.LogisticRegression(**options)
    else:
        from diffprivlib.models import LogisticRegression

        model = LogisticRegression(epsilon=epsilon, data_norm=1.0, random_state=seed, **options)
    return model, lambda X: unit_rows(X, min(norm, encoder.data_norm_))


def bayes(encoder, epsilon, seed):
    """The same; who replaces a person may move them to the other class, for which diffprivlib's proof asks twice."""
    if epsilon == math.inf:
        model = naive_bayes.GaussianNB()
    else:
        from diffprivlib.models import GaussianNB

        model = GaussianNB(epsilon=epsilon / 2, bounds=encoder.bounds_, random_state=seed)
    return model, np.asarray


_MAKE = {
    "logistic regression": logistic,
    "logistic regression, C=0.1": lambda *args: logistic(*args, C=0.1),
    "logistic regression, rows of length 4": lambda *args: logistic(*args, norm=4.0),
    "naive Bayes": bayes,
}


class Split:
    """A third of a table to score on, and the rest to learn from."""

    def __init__(self, repeat, table, book, n_rows=None):
        self.table, self.book = table, book
        y = table[TARGET]
        self.train, self.test = train_test_split(table, test_size=1 / 3, random_state=repeat, stratify=y)
        self.train = self.train[:n_rows]
        self.names = [name for name in table if name != TARGET]

    def choice(self, epsilon, seed, criterion="auto", k=K):
        """Names of columns, chosen with noise of a seed."""
        public = self.book.target(TARGET, features=self.names)
        selector = PrivateSelectKBest(k, criterion=criterion, epsilon=epsilon, random_state=seed, **public)
        selector.fit(**self.book.records(self.train, TARGET))
        return list(selector.get_feature_names_out())

    def auc(self, names, model, epsilon, seed):
        """ROC AUC of a model of these columns."""
        encoder = PublicEncoder(**self.book.features(names), add_indicator=False)
        encoder.fit(self.train[names])
        model, rows = _MAKE[model](encoder, epsilon, seed)
        model.fit(rows(encoder.transform(self.train[names])), self.train[TARGET])
        chances = model.predict_proba(rows(encoder.transform(self.test[names])))[:, 1]
        return roc_auc_score(self.test[TARGET], chances)


def compare(split, columns, model, epsilon, seed):
    """What is written down of one model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # noise of a seed
        if columns == "all":
            return {"auc": split.auc(split.names, model, epsilon, seed)}
        names = split.choice(SHARE * epsilon, seed, "joint" if columns == "chosen jointly" else "auto")
        return {"auc": split.auc(names, model, (1 - SHARE) * epsilon, seed + 1)}


def configurations(repeats, epsilons=EPSILONS, models=MODELS):
    """All that are compared; those of a split are neighbours."""
    return [
        {"repeat": repeat, "model": model, "columns": columns, "epsilon": epsilon}
        for repeat in range(repeats)
        for model in models
        for columns in COLUMNS
        for epsilon in epsilons
    ]


def run(folder, repeats=REPEATS, epsilons=EPSILONS, models=MODELS, n_rows=None):
    """Means over splits and their standard errors, as a dataframe and in a file of a folder."""
    table, book = claims(), codebook()
    split = lru_cache(maxsize=1)(lambda repeat: Split(repeat, table, book, n_rows))

    def computed(configuration, seed):
        of = dict(configuration)
        return compare(split(of.pop("repeat")), **of, seed=seed % 2**31)

    rows = completed(folder / "raw" / "model.csv", configurations(repeats, epsilons, models), computed, "models")
    return summarised(pandas.DataFrame(rows), ["model", "columns", "epsilon"], folder / "model.csv")


def main(argv=None):
    parser = argparse.ArgumentParser(description="Private models of chosen columns and of all.")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="this many splits")
    parser.add_argument("--epsilons", type=float, nargs="*", default=EPSILONS)
    add_output(parser, RESULTS, "folder")
    options = parser.parse_args(argv)
    refuse_to_overwrite(parser, options, [options.output / "model.csv"])
    print(run(options.output, options.repeats, options.epsilons).to_string())


if __name__ == "__main__":
    main()
