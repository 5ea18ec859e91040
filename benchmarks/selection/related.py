"""Does it pay to take redundancy off? python -m benchmarks.selection.related [--quick]: docs/results/selection.md.

Features are chosen on two thirds of the rows, and one model of the chosen features is scored on the others: gradient
boosting, the same for all. An interrupted run goes on where it stopped; all takes a quarter of an hour.
"""

import argparse
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas
from matplotlib.figure import Figure
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from benchmarks.selection import report
from benchmarks.selection.related_tables import TABLES
from benchmarks.selection.ways import DELTA, EPSILONS, NOT_PRIVATE
from benchmarks.store import completed
from skdpmic import PrivateSelectKBest
from skdpmic.correlation import PrivateForwardSelector

RESULTS = Path(__file__).parent / "results"
REPEATS = 20
SHOWN = tuple(epsilon for epsilon in EPSILONS if epsilon >= 0.1)
REDUNDANCIES = {f"redundancy {alpha:g}": alpha for alpha in (0.0, 0.5, 1.0)}
MATRIX = "matrix"
REFERENCES = ("mutual_info", "all features", "at random")
_MAX_ROWS = 10_000  # that a model, or scikit-learn's score, learns from; half as many are predicted
_MODEL = {
    "max_iter": 30,
    "learning_rate": 0.2,
    "random_state": 0,
}  # as good as 100 trees at 0.1, and three times as fast

# --- One choice -----------------------------------------------------------------------------------------------------


class Split:
    """Two thirds of a table to choose features on, and one to predict."""

    def __init__(self, name, repeat):
        self.table = _load(name)
        rows = np.arange(len(self.table.y))
        stratify = None if self.table.n_classes is None else self.table.y
        self._train, self._test = train_test_split(rows, test_size=1 / 3, random_state=repeat, stratify=stratify)
        self.X, self.y = self.table.X.iloc[self._train], self.table.y[self._train]
        self._known = {}

    def quality(self, columns):
        """How good the model is on these columns of the table."""
        key = tuple(sorted(columns))
        if key not in self._known:
            self._known[key] = self._quality(list(key))
        return self._known[key]

    def _quality(self, columns):
        train, test = self._train[:_MAX_ROWS], self._test[: _MAX_ROWS // 2]
        X, y, n_classes = self.table.X.iloc[:, columns], self.table.y, self.table.n_classes
        model = HistGradientBoostingRegressor if n_classes is None else HistGradientBoostingClassifier
        with threadpool_limits(1):  # more threads than free cores wait for one another
            model = model(**_MODEL).fit(X.iloc[train], y[train])
        if n_classes == 2:
            return roc_auc_score(y[test], model.predict_proba(X.iloc[test])[:, 1])
        return (r2_score if n_classes is None else accuracy_score)(y[test], model.predict(X.iloc[test]))


_load = lru_cache(lambda name: TABLES[name]())
_split = lru_cache(maxsize=1)(Split)


def compare(configuration, seed):
    """Quality of the model on the features that one way chooses."""
    split = _split(configuration["table"], configuration["repeat"])
    return {"quality": split.quality(_chosen(split, configuration["way"], configuration["epsilon"], seed))}


def _chosen(split, way, epsilon, seed):
    """Columns that one way chooses, the first one first."""
    table, d = split.table, split.table.X.shape[1]
    if way == "all features":
        return range(d)
    if way == "at random":
        return np.random.default_rng(seed).choice(d, table.k, replace=False)
    if way == "mutual_info":
        return np.argsort(-_mutual_information(split), kind="stable")[: table.k]
    noise = {"epsilon": epsilon, "random_state": seed % 2**31}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the seed, and of noise that exceeds the signal
        return np.argsort(selector(table, way, **noise).fit(split.X, split.y).ranking_)[: table.k]


def selector(table, way, **noise):
    """The selector of the package for a way."""
    if way == MATRIX:
        public = {"categories": table.features.get("categories")}
        if table.n_classes is not None:
            public["classes"] = table.target["classes"]
        return PrivateForwardSelector(table.k, delta=DELTA, **public, **noise)
    return PrivateSelectKBest(table.k, redundancy=REDUNDANCIES[way], **table.features, **table.target, **noise)


def _mutual_information(split):
    X, y = _codes(split.X.iloc[:_MAX_ROWS]), split.y[:_MAX_ROWS]
    X = X.fillna(X.min() - 1)
    score = mutual_info_regression if split.table.n_classes is None else mutual_info_classif
    return score(X, y, discrete_features=(split.X.dtypes == "category").to_numpy(), random_state=0)


def _codes(X):
    return X.apply(lambda column: column.cat.codes if column.dtype == "category" else column)


# --- All ------------------------------------------------------------------------------------------------------------


def configurations(names, repeats, epsilons):
    """All that are compared; those that share a split are neighbours."""
    for repeat in range(repeats):
        for name in names:
            ways = [(way, epsilon) for way in _private_ways(name) for epsilon in (*epsilons, NOT_PRIVATE)]
            for way, epsilon in (*ways, *((way, NOT_PRIVATE) for way in REFERENCES)):
                yield {"table": name, "repeat": repeat, "way": way, "epsilon": epsilon}


def _private_ways(name):
    has_order = _load(name).n_classes in (None, 2)  # which more classes have not, so the matrix cannot
    return [*REDUNDANCIES, MATRIX] if has_order else list(REDUNDANCIES)


def summarise(rows):
    """Means over splits with their standard errors, and the size of each table."""
    summary = report.summarise(rows, ["table", "way", "epsilon"], ["quality"])
    sizes = {name: (*_load(name).X.shape, _load(name).k, _metric(_load(name))) for name in set(summary["table"])}
    summary[["n", "d", "k", "metric"]] = [sizes[name] for name in summary["table"]]
    summary["n"] = summary["n"] * 2 // 3  # to choose on
    return summary


def _metric(table):
    return "R²" if table.n_classes is None else "AUC" if table.n_classes == 2 else "accuracy"


def leads(rows):
    """By how much each private way is better than the k best single features, and than mutual_info, split by split."""
    found = rows.pivot_table(index=["table", "repeat", "epsilon"], columns="way", values="quality", sort=False)
    others = {
        "redundancy 0": found["redundancy 0"],
        "mutual_info": found["mutual_info"].groupby(["table", "repeat"]).transform("first"),
    }
    frames = []
    for name, other in others.items():
        lead = found[[*REDUNDANCIES, MATRIX]].sub(other, axis=0).drop(columns=name, errors="ignore")
        long = lead.melt(ignore_index=False, value_name="lead").dropna().reset_index()
        frames.append(report.summarise(long, ["table", "epsilon", "way"], ["lead"]).assign(over=name))
    return pandas.concat(frames)


def leads_table(lead, over):
    """Leads over one way at some epsilons: a row for each table and way."""
    rows = report.where(lead, over=over)
    known, epsilons = rows.set_index(["table", "way", "epsilon"]), (0.1, 1.0, 10.0)
    body = [
        [name, way, *("{:+.3f} ± {:.3f}".format(*known.loc[(name, way, e), ["lead", "lead se"]]) for e in epsilons)]
        for name in dict.fromkeys(rows["table"])
        for way in dict.fromkeys(report.where(rows, table=name)["way"])
    ]
    return report.table(["table", f"lead over {over}", *(f"ε = {epsilon:g}" for epsilon in epsilons)], body)


def quality_table(summary, name):
    """One table of the docs: a row for each way, a column for each epsilon."""
    cell = report.where(summary, table=name)
    first, epsilons = cell.iloc[0], sorted(set(cell["epsilon"]))
    known = cell.set_index(["way", "epsilon"])

    def shown(way, epsilon):
        if (way, epsilon) not in known.index:
            return ""
        return "{:.3f} ± {:.3f}".format(*known.loc[(way, epsilon), ["quality", "quality se"]])

    ways = dict.fromkeys(cell["way"])
    body = [[way, *(shown(way, epsilon) for epsilon in epsilons)] for way in ways]
    title = f"{name}: {first['metric']}, {first['k']} of {first['d']}, {first['n']:,} rows"
    heads = (f"ε = {epsilon:g}".replace("inf", "∞") for epsilon in epsilons)
    return report.table([title, *heads], body)


def choices_without_noise(names):
    """What each way would choose on the first split if there were no privacy: a row for each table and way."""
    return pandas.DataFrame(
        [
            {"table": name, "way": way, "chosen": ", ".join(split.X.columns[list(_chosen(split, way, NOT_PRIVATE, 0))])}
            for name in names
            for split in [_split(name, 0)]
            for way in [*_private_ways(name), "mutual_info"]
        ]
    )


def choices_table(choices, name):
    """What each way chooses, for the docs."""
    rows = report.where(choices, table=name)
    return report.table([name, "chosen without noise"], rows[["way", "chosen"]].to_numpy().tolist())


def markdown(summary, lead, choices):
    """All tables."""
    names = dict.fromkeys(summary["table"])
    parts = [
        "## Quality of the model",
        *(quality_table(summary, name) for name in names),
        "## Leads, split by split",
        *(leads_table(lead, over) for over in dict.fromkeys(lead["over"])),
        "## What would be chosen without noise",
        *(choices_table(choices, name) for name in names),
    ]
    return "\n\n".join(parts) + "\n"


# --- The picture ----------------------------------------------------------------------------------------------------

_STYLES = {
    "redundancy 0": {"color": "black", "marker": "o"},
    "redundancy 0.5": {"color": "tab:orange", "marker": "s"},
    "redundancy 1": {"color": "tab:red", "marker": "^"},
    MATRIX: {"color": "tab:blue", "marker": "D"},
}
_LABELS = {"redundancy 0": "redundancy 0: the k best", MATRIX: f"matrix, δ = {DELTA:g}"}
_LINES = {"mutual_info": "--", "all features": "-", "at random": ":"}


def draw(summary, path):
    """Quality against epsilon, a panel for each table; beside it, without noise."""
    names = list(dict.fromkeys(summary["table"]))
    n_rows = -(-len(names) // 2)
    figure = Figure(figsize=(9, 2.7 * n_rows + 0.9), layout="constrained")
    panels = figure.subplots(n_rows, 2, squeeze=False).ravel()
    for axes in panels[len(names) :]:
        axes.axis("off")
    for axes, name in zip(panels, names, strict=False):
        _draw_table(axes, report.where(summary, table=name))
    handles = dict(zip(*reversed(panels[0].get_legend_handles_labels()), strict=True))
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, fontsize=9)
    figure.suptitle("a model on the chosen features; bars: standard error over splits", fontsize=11)
    figure.savefig(path, dpi=90)


def _draw_table(axes, cell):
    first, finite = cell.iloc[0], cell["epsilon"][np.isfinite(cell["epsilon"])]
    beyond = finite.max() * 4  # where there is no noise
    for i, (way, style) in enumerate(_STYLES.items()):
        rows = report.where(cell, way=way).sort_values("epsilon")
        if len(rows) == 0:
            continue
        x = rows["epsilon"].where(np.isfinite(rows["epsilon"]), beyond) * 1.05 ** (i - 1.5)  # so that bars can be told
        last = len(rows) - 1
        options = {"markersize": 4, "linewidth": 1.4, **style}
        quality, error = rows["quality"], rows["quality se"]
        axes.errorbar(x[:last], quality[:last], error[:last], label=_LABELS.get(way, way), **options)
        axes.errorbar(x[last:], quality[last:], error[last:], **options)
    for way, line in _LINES.items():
        value = report.where(cell, way=way)["quality"].iloc[0]
        axes.axhline(value, color="tab:brown", linestyle=line, linewidth=1, label=f"{way}, not private")
    axes.set_title(f"{first['table']}: {first['k']} of {first['d']} features, {first['n']:,} rows", fontsize=10)
    axes.set_xscale("log")
    ticks = [*sorted(set(finite)), beyond]
    axes.set_xticks(ticks, [*(f"{epsilon:g}" for epsilon in ticks[:-1]), "∞"])
    axes.minorticks_off()
    axes.set_xlabel("ε of one selection")
    axes.set_ylabel(first["metric"])
    axes.grid(alpha=0.3)


def main(argv=None):
    parser = argparse.ArgumentParser(description="Models on features that are chosen with and without redundancy.")
    parser.add_argument("--quick", action="store_true", help="three small tables, two splits")
    parser.add_argument("--tables", nargs="*", choices=TABLES, help="these only")
    parser.add_argument("--output", type=Path, help="folder of results")
    options = parser.parse_args(argv)
    output = options.output or (RESULTS / "quick" if options.quick else RESULTS)
    names = options.tables or (("breast cancer", "RAND health", "loans") if options.quick else _that_are_here())
    repeats, epsilons = (2, (1.0,)) if options.quick else (REPEATS, SHOWN)
    rows = completed(output / "raw" / "related.csv", list(configurations(names, repeats, epsilons)), compare, "related")
    rows = pandas.DataFrame(rows)
    summary = report.saved(summarise(rows), output / "related.csv")
    lead = report.saved(leads(rows), output / "related_leads.csv")
    choices = report.saved(choices_without_noise(names), output / "related_choices.csv")
    (output / "related.md").write_text(markdown(summary, lead, choices), encoding="utf-8")
    draw(summary, output / "related.png")
    return summary


def _that_are_here():
    """Names of the tables whose packages are installed; it is said which are not."""
    names = []
    for name in TABLES:
        try:
            _load(name)
            names.append(name)
        except (FileNotFoundError, ImportError) as error:
            print(f"{name} is left out. {error}")
    return names


if __name__ == "__main__":
    main()
