"""A private table of chosen columns, or of all? python -m benchmarks.ends.table: docs/publish/private_table.md.

It needs a separate environment with the extra ``synthesis``. The people are those of :mod:`benchmarks.ends.claims`;
each of ten splits uses two thirds of them for training. A quarter of epsilon chooses five columns, by joint scores.
The remainder synthesises these and the target with OpenDP's MST, or Fixed, which counts each column jointly with the
target; with ``rounded``, rows are rounded counts, not draws. A model without privacy, gradient boosting, is fitted to
the synthetic table and scored on the other third of the real people. With ``real``, the model is fitted to the binned
real rows, without privacy.

With ``all``, the whole epsilon is for all 129 columns. OpenDP's synthesizers do not get that far (``failures.md`` in
the results folder), so ``all, pairs`` measures what Fixed would do: it counts each column jointly with the target, adds
Gaussian noise of the same zCDP, and draws columns independently given the target. It also spends a delta of 1e-6,
because noise for pure epsilon would be larger. ``chosen, pairs`` does the same on chosen columns.

Numbers are binned by the public bounds: eight bins of equal width, on the codebook's scale.

An interrupted run resumes where it stopped. Existing results are replaced only with --overwrite.
"""

import argparse
import math
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from benchmarks.ends.claims import TARGET, claims, codebook
from benchmarks.ends.report import summarised
from benchmarks.output import add_output, refuse_to_overwrite
from benchmarks.store import completed
from skdpmic import PrivateSelectKBest

RESULTS = Path(__file__).parent / "results"
K, SHARE, REPEATS = 5, 0.25, 10
EPSILONS = (0.5, 2.0)
OPENDP = ("chosen, MST", "chosen, MST rounded", "chosen, Fixed")
WAYS = (*OPENDP, "chosen, pairs", "all, pairs", "chosen, real", "all, real")
N_BINS, DELTA = 8, 1e-6


class Split:
    """Two thirds of a table to fit on, and the other third to score on."""

    def __init__(self, repeat, table, book):
        self.book = book
        self.train, self.test = train_test_split(table, test_size=1 / 3, random_state=repeat, stratify=table[TARGET])
        self.names = [name for name in table if name != TARGET]

    def choice(self, epsilon, seed):
        """Names of columns, chosen with seeded noise."""
        public = self.book.target(TARGET, features=self.names)
        selector = PrivateSelectKBest(K, epsilon=epsilon, criterion="joint", random_state=seed, **public)
        return list(selector.fit(**self.book.records(self.train, TARGET)).get_feature_names_out())


def edges(bounds):
    """Edges of a column's bins, from its public bounds alone."""
    lower, upper, *scale = bounds
    if not scale:
        return np.linspace(lower, upper, N_BINS + 1)
    ends = [math.copysign(math.log1p(abs(end)), end) for end in (lower, upper)]
    points = np.linspace(*ends, N_BINS + 1)
    return np.sign(points) * np.expm1(np.abs(points))


def binned(table, public):
    """Bin numbers of all columns, and each column's number of bins."""
    codes, sizes = {}, {}
    for name, bounds in public["bounds"].items():
        inner = edges(bounds)[1:-1] if bounds != (0, 1) else [0.5]
        codes[name], sizes[name] = np.digitize(table[name], inner), len(inner) + 1
    for name, labels in public["categories"].items():
        codes[name], sizes[name] = pandas.Categorical(table[name], labels).codes, len(labels)
    codes[TARGET], sizes[TARGET] = table[TARGET], 2
    return pandas.DataFrame(codes).astype("int64"), sizes


def rho_of(epsilon, delta):
    """The rho of zCDP that gives (epsilon, delta) (Bun and Steinke 2016), rounded down to a short binary number."""
    most = (math.sqrt(math.log(1 / delta) + epsilon) - math.sqrt(math.log(1 / delta))) ** 2
    return math.floor(most * 2**20) / 2**20


def synthetic_by_opendp(codes, sizes, algorithm, loss, method):
    """A synthetic table with about as many rows, by an OpenDP mechanism."""
    import opendp.prelude as dp
    import polars

    dp.enable_features("contrib")
    records = polars.LazyFrame({name: codes[name].to_numpy() for name in codes})
    # Replacing a person removes one and adds another: two contributions.
    unit = dp.unit_of(contributions=2)
    context = dp.Context.compositor(data=records, privacy_unit=unit, privacy_loss=loss, split_evenly_over=1)
    keys = {name: list(range(size)) for name, size in sizes.items()}
    released = context.query().contingency_table(keys=keys, algorithm=algorithm).release()
    rows = released.synthesize(rows=len(codes), method=method)
    table = pandas.DataFrame(rows.to_dict(as_series=False))
    return table.dropna(subset=TARGET)  # OpenDP adds a label for missing values, and noise fills it


def independent_given_target(codes, sizes, rho, rng):
    """A synthetic table with as many rows, from noisy counts of each column jointly with the target."""
    names = [name for name in codes if name != TARGET]
    # Replacing a person changes two cells of each table by one: a squared distance of 2 len(names).
    scale = math.sqrt(len(names) / rho)
    counts = {}
    for name in names:
        true = np.zeros((2, sizes[name]))
        np.add.at(true, (codes[TARGET], codes[name]), 1)
        counts[name] = np.maximum(true + rng.normal(0, scale, true.shape), 1e-9)
    of_target = np.mean([table.sum(axis=1) for table in counts.values()], axis=0)
    target = (rng.uniform(size=len(codes)) < of_target[1] / of_target.sum()).astype(int)
    table = {TARGET: target}
    for name in names:
        table[name] = np.empty(len(codes), dtype=int)
        for label, of_label in enumerate(counts[name]):
            is_label = target == label
            table[name][is_label] = rng.choice(sizes[name], is_label.sum(), p=of_label / of_label.sum())
    return pandas.DataFrame(table)


def auc(split, way, epsilon, seed):
    """ROC AUC of a model that is fitted to a table made in this way."""
    columns, maker = way.split(", ")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about seeded noise
        names = split.names if columns == "all" else split.choice(SHARE * epsilon, seed)
    public = split.book.features(names)
    codes, sizes = binned(split.train, public)
    if maker == "pairs":
        rho = rho_of(epsilon if columns == "all" else (1 - SHARE) * epsilon, DELTA)
        codes = independent_given_target(codes, sizes, rho, np.random.default_rng(seed))
    elif maker != "real":
        import opendp.prelude as dp

        loss = dp.loss_of(epsilon=(1 - SHARE) * epsilon)
        with_target = {"queries": [dp.mbi.Count((name, TARGET)) for name in names], "oneway": "unkeyed"}
        algorithm, _, rounded = maker.partition(" ")
        algorithm = dp.mbi.Fixed(**with_target) if algorithm == "Fixed" else getattr(dp.mbi, algorithm)()
        # OpenDP's default, "round", makes independent columns look dependent.
        codes = synthetic_by_opendp(codes, sizes, algorithm, loss, "round" if rounded else "sample")
    test, _ = binned(split.test, public)
    model = HistGradientBoostingClassifier(random_state=0).fit(codes[[*names]], codes[TARGET])
    return roc_auc_score(test[TARGET], model.predict_proba(test[[*names]])[:, 1])


def configurations(repeats, epsilons=EPSILONS, ways=WAYS):
    """All configurations; those of the same split are adjacent."""
    of_way = {"real": (math.inf,), "pairs": (0.1, *epsilons)}  # which take next to no time
    return [
        {"repeat": repeat, "way": way, "epsilon": epsilon}
        for repeat in range(repeats)
        for way in ways
        for epsilon in of_way.get(way.split(", ")[1], epsilons)
    ]


def run(folder, repeats=REPEATS, epsilons=EPSILONS, ways=WAYS):
    """Means over splits and their standard errors, as a dataframe and in a file in `folder`."""
    table, book = claims(), codebook()
    split = lru_cache(maxsize=1)(lambda repeat: Split(repeat, table, book))

    def computed(configuration, seed):
        of = split(configuration["repeat"])
        return {"auc": auc(of, configuration["way"], configuration["epsilon"], seed % 2**31)}

    rows = completed(folder / "raw" / "table.csv", configurations(repeats, epsilons, ways), computed, "tables")
    return summarised(pandas.DataFrame(rows), ["way", "epsilon"], folder / "table.csv")


def main(argv=None):
    parser = argparse.ArgumentParser(description="Private tables of chosen columns and of all.")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="number of splits")
    parser.add_argument("--epsilons", type=float, nargs="*", default=EPSILONS)
    parser.add_argument("--ways", nargs="*", choices=WAYS, default=WAYS)
    add_output(parser, RESULTS, "folder")
    options = parser.parse_args(argv)
    refuse_to_overwrite(parser, options, [options.output / "table.csv"])
    print(run(options.output, options.repeats, options.epsilons, options.ways).to_string())


if __name__ == "__main__":
    main()
