"""The tables on private models: python -m benchmarks.models.report prints benchmarks/models/results/report.md."""

import math

import pandas

from benchmarks.models.__main__ import EPSILONS, NUMBERS, RESULTS
from benchmarks.models.tables import TABLES
from benchmarks.models.ways import DELTA, SHARE, WAYS, K
from benchmarks.output import print_or_write, table

NAMES = {
    "additive": "`PrivateAdditiveClassifier`, `PrivateAdditiveRegressor`",
    "additive, delta 0": "... with δ = 0",
    "chosen, additive": f"... on {K} columns, chosen with {SHARE:.0%} of ε",
    "chosen, additive, delta 0": f"... with δ = 0, on {K} columns",
    "noisy gradients": "logistic regression by noisy gradients, numpy",
    "DP-EBM": "DP-EBM, interpret-core 0.7.8",
    "diffprivlib, logistic regression": "logistic regression, diffprivlib 0.6.6",
    "diffprivlib, naive Bayes": "naive Bayes, diffprivlib 0.6.6",
    "no privacy": "boosting without privacy",
}


def kept():
    """Means by table, way and epsilon."""
    rows = pandas.read_csv(RESULTS / "models.csv")
    return {(row.table, row.way, row.epsilon): row.score for row in rows.itertuples()}


def mean_auc(scores, way, epsilon):
    """The mean ROC AUC over the tables of two classes."""
    return sum(scores[name, way, epsilon] for name in TABLES if name not in NUMBERS) / (len(TABLES) - len(NUMBERS))


def row_of(way, epsilon, scores):
    """A row with a cell for each table; empty where the way is for classes only."""
    found = (scores.get((name, way, epsilon)) for name in TABLES)
    return [NAMES[way], *("" if score is None else _short(score) for score in found)]


def markdown():
    """The whole report."""
    scores = kept()
    ways = [way for way in WAYS if any(of == way for _, of, _ in scores)]
    private = [way for way in ways if way != "no privacy"]
    means = [[NAMES[way], *(_short(mean_auc(scores, way, epsilon)) for epsilon in EPSILONS)] for way in private]
    parts = [
        "# Private models: all results",
        "`python -m benchmarks.models.report` prints this from [models.csv](models.csv): ROC AUC on a third of the "
        f"people, whom no model has seen; for {' and '.join(NUMBERS)} R². Replacing a person is (ε, {DELTA:g})-private "
        "for every way, or better.",
        "## Mean ROC AUC of the eight tables with two classes",
        table(["ε", *(f"{epsilon:g}" for epsilon in EPSILONS)], means),
    ]
    for epsilon in EPSILONS:
        rows = [row_of(way, epsilon, scores) for way in private] + [row_of("no privacy", math.inf, scores)]
        parts += [f"## By table, ε = {epsilon:g}", table(["", *TABLES], rows)]
    return "\n\n".join(parts) + "\n"


def _short(score):
    """Three digits, or one for a score far below 0, as R2 may be."""
    return f"{score:.1f}" if abs(score) >= 1 else f"{score:.3f}".replace("0.", ".", 1)


if __name__ == "__main__":
    print_or_write(__doc__.splitlines()[0], markdown)
