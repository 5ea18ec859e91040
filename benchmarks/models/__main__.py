"""Compare private models on ten tables of people: python -m benchmarks.models, in the environment of .ci/models.txt.

Scores are ROC AUC, or R2 for numbers, on the third of the people that no model has seen, averaged over several splits.
Noise is seeded here, which is not allowed in a release. Ways whose package is not installed are left out.

An interrupted run resumes where it stopped. Existing results are replaced only with --overwrite.
"""

import argparse
import math
import warnings
from functools import lru_cache
from pathlib import Path

import pandas
from sklearn.metrics import r2_score, roc_auc_score

from benchmarks.models.tables import TABLES
from benchmarks.models.ways import OF_CLASSES, WAYS, Split, is_installed
from benchmarks.output import add_output, refuse_to_overwrite
from benchmarks.store import completed

RESULTS = Path(__file__).parent / "results"
EPSILONS, REPEATS = (0.1, 0.25, 0.5, 1.0, 2.0), 5
NUMBERS = ("loans", "wages")  # tables whose target is a number


def score(split, way, epsilon, seed):
    """ROC AUC or R2 of one model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about seeded noise, and deprecations in old packages
        predicted = WAYS[way](split, epsilon, seed)
    return (roc_auc_score if split.table.n_classes else r2_score)(split.unseen, predicted)


def configurations(tables, ways, epsilons, repeats):
    """All configurations; those with the same table and split are adjacent."""
    return [
        {"table": table, "repeat": repeat, "way": way, "epsilon": epsilon}
        for table in tables
        for repeat in range(repeats)
        for way in ways
        if table not in NUMBERS or way not in OF_CLASSES
        for epsilon in ((math.inf,) if way == "no privacy" else epsilons)
    ]


def run(folder, tables=TABLES, ways=tuple(WAYS), epsilons=EPSILONS, repeats=REPEATS, n_rows=None):
    """Means over splits and their standard errors, as a dataframe and in a file in `folder`."""
    of_name = lru_cache(maxsize=1)(lambda name: tables[name]())
    split = lru_cache(maxsize=1)(lambda name, repeat: Split(of_name(name), repeat, n_rows))

    def computed(of, seed):
        return {"score": score(split(of["table"], of["repeat"]), of["way"], of["epsilon"], seed % 2**31)}

    compared = configurations(tables, only_installed(ways), epsilons, repeats)
    rows = pandas.DataFrame(completed(folder / "raw" / "models.csv", compared, computed, "models"))
    groups = rows.groupby(["table", "way", "epsilon"], sort=False)["score"]
    means = groups.agg(score="mean", se="sem", runs="count").reset_index().round({"score": 4, "se": 4})
    means.to_csv(folder / "models.csv", index=False, lineterminator="\n")
    return means


def only_installed(ways):
    """The ways whose package is installed."""
    return [way for way in ways if is_installed(way)]


def main(argv=None):
    parser = argparse.ArgumentParser(description="Private models on ten tables of people.")
    parser.add_argument("--tables", nargs="*", choices=TABLES, default=list(TABLES))
    parser.add_argument("--ways", nargs="*", choices=WAYS, default=list(WAYS))
    parser.add_argument("--epsilons", type=float, nargs="*", default=EPSILONS)
    parser.add_argument("--repeats", type=int, default=REPEATS, help="number of splits")
    add_output(parser, RESULTS, "folder")
    options = parser.parse_args(argv)
    refuse_to_overwrite(parser, options, [options.output / "models.csv"])
    tables = {name: TABLES[name] for name in options.tables}
    print(run(options.output, tables, options.ways, options.epsilons, options.repeats).to_string())


if __name__ == "__main__":
    main()
