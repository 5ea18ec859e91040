"""Tables of the results, in results/tables.md; docs/evidence/selection.md shows some of them."""

import numpy as np
import pandas

from benchmarks.output import table
from benchmarks.selection import no_functions, pictures
from benchmarks.selection.pictures import where
from benchmarks.selection.relationships import SHAPES
from benchmarks.selection.statistics import NOTHING_KNOWN, STATISTICS
from benchmarks.selection.ways import CUBE, EVEN, GAUSSIAN, SUPPORT

WAY = ["score", "mechanism", "epsilon"]
FIRST = next(iter(STATISTICS))  # the one that all others are compared with
COMPARED = [
    *((FIRST, mechanism) for mechanism in (SUPPORT, GAUSSIAN, CUBE, EVEN)),
    *((score, SUPPORT) for score in list(STATISTICS)[1:]),
]
TABLES = ("relationships", "monotone", "no_functions", "leads", "wide_bounds")
PICTURES = ("curves", "found")
FILES = (*(f"{name}.csv" for name in TABLES), "tables.md", *(f"{name}.png" for name in PICTURES))


def write(of_relationships, of_monotone, of_no_functions, of_wide_bounds, output):
    """All tables and pictures of a run."""
    summary = summarise(of_relationships, ["n", "d", *WAY], ["recall", *SHAPES])
    monotone = summarise(of_monotone, ["n", "d", *WAY], ["recall"])
    no_function = summarise(of_no_functions, ["n", "d", *WAY], ["recall", *no_functions.SHAPES])
    wide = summarise(of_wide_bounds, ["of", "n", "d", "epsilon", "score", "width"], ["recall"])

    summary = saved(summary, output / "relationships.csv")
    monotone = saved(monotone, output / "monotone.csv")
    no_function = saved(no_function, output / "no_functions.csv")
    frames = {"functions": of_relationships, "monotone functions": of_monotone, "no functions": of_no_functions}
    leads = saved(leads_of_first(frames), output / "leads.csv")
    wide = saved(wide, output / "wide_bounds.csv")
    (output / "tables.md").write_text(markdown(summary, leads, monotone, no_function, wide), encoding="utf-8")
    pictures.draw_curves(summary, output / "curves.png")
    pictures.draw_found(summary, output / "found.png")


def of_results(folder):
    """The tables, from the files of a run."""
    paths = (folder / f"{name}.csv" for name in ("relationships", "leads", "monotone", "no_functions", "wide_bounds"))
    return markdown(*map(pandas.read_csv, paths))


def summarise(frame, keys, measures):
    """Means over repeats or splits, and in columns that end in `se` their standard errors, from the spread."""
    groups = frame.groupby(keys, sort=False)[list(measures)]
    errors = groups.std() / np.sqrt(groups.count())
    return groups.mean().join(errors.add_suffix(" se")).reset_index()


def leads_of_first(frames):
    """How much more FIRST finds than each other statistic, by support: mean over tables, and its standard error."""
    rows = where(pandas.concat(frames, names=["experiment"]), mechanism=SUPPORT)
    cell = ["experiment", "n", "d", "epsilon"]
    found = rows.pivot_table(index=[*cell, "repeat"], columns="score", values="recall")
    leads = (-found.drop(columns=FIRST)).add(found[FIRST], axis=0).melt(ignore_index=False, value_name="lead").dropna()
    groups = leads.groupby([*cell, "score"])["lead"]
    return pandas.DataFrame({"lead": groups.mean(), "se": groups.std() / np.sqrt(groups.count())}).reset_index()


def saved(frame, path, digits=4):
    """The table as read back from the file, so that everything made from it can be reproduced."""
    frame.to_csv(path, index=False, float_format=f"%.{digits}g")
    return pandas.read_csv(path)


# --- All --------------------------------------------------------------------------------------------------------------


def markdown(summary, leads, monotone, no_function, wide):
    """All tables, under headings."""
    parts = [
        "# Choosing features: all tables",
        "`python -m benchmarks.selection --report` prints this from the CSV files beside it.",
        "## In short: the least epsilon that finds 80% of five true features among 100",
        least_epsilon_by_way(summary),
        "## Sensitivity: what one record can change",
        sensitivities_table(),
        f"## {FIRST}, and in brackets the best of the others",
        first_and_best_table(summary),
        "## Where another one finds more, by over 0.01",
        behind_table(leads),
        "## The least epsilon that finds 80% of the true features",
        least_epsilon_table(summary),
        "## By shape",
        shapes_table(summary),
        "## Nothing but monotone features to find",
        monotone_table(monotone),
        "## No functions",
        least_epsilon_table(no_function),
        *(no_functions_table(no_function, epsilon=epsilon) for epsilon in (1.0, 0.1)),
        "## Bounds that are too wide",
        wide_bounds_table(wide),
    ]
    return "\n\n".join(parts) + "\n"


# --- Relationships ----------------------------------------------------------------------------------------------------


def first_and_best_table(summary):
    """Recall of FIRST by support, and of the best rival, for each number of records and of features, and epsilon."""
    rows = where(summary, mechanism=SUPPORT)
    epsilons = sorted(set(rows["epsilon"]))
    body = []
    for (n, d), cell in rows.groupby(["n", "d"]):
        body.append([f"{n:,}", str(d), *(_first_and_best(where(cell, epsilon=epsilon)) for epsilon in epsilons)])
    return table(["rows", "features", *(f"ε = {epsilon:g}" for epsilon in epsilons)], body)


def _first_and_best(cell):
    recall = cell.set_index("score")["recall"]
    others = recall.drop([FIRST, NOTHING_KNOWN])
    return f"{recall[FIRST]:.2f} ({others.idxmax()} {others.max():.2f})"


def behind_table(leads, margin=0.01):
    """Where FIRST finds less than another statistic."""
    body = [
        [row.experiment, f"{row.n:,}", str(row.d), f"{row.epsilon:g}", row.score, f"{-row.lead:.3f} ± {row.se:.3f}"]
        for row in leads[leads["lead"] < -margin].itertuples()
    ]
    return table(["true features", "rows", "features", "ε", "statistic", f"finds more than {FIRST} by"], body)


def least_epsilon_table(summary, share=0.8):
    """One row for each number of records and of features, one column for each way."""
    head = ["rows", "features", *(f"{score}, {mechanism}" for score, mechanism in COMPARED)]
    body = []
    for (n, d), cell in summary.groupby(["n", "d"]):
        body.append([f"{n:,}", str(d), *(least_epsilon(cell, *way, share) for way in COMPARED)])
    return table(head, body)


def sensitivities_table(n=10_000):
    """One row for each statistic, for a numeric target."""
    body = [[name, f"{of.sensitivity(n, None, of.grid(n, 1.0, None)):.5f}"] for name, of in STATISTICS.items()]
    return table(["score", f"at {n:,} rows"], body)


def least_epsilon_by_way(summary, d=100):
    """One row for each way, one column for each number of records."""
    cells = where(summary, d=d)
    sizes = sorted(set(cells["n"]))
    body = [[f"{way[0]}, {way[1]}", *(least_epsilon(where(cells, n=n), *way, 0.8) for n in sizes)] for way in COMPARED]
    return table(["score, and how it is published", *(f"{n:,} rows" for n in sizes)], body)


def least_epsilon(cell, score, mechanism, share):
    """The epsilon at which recall reaches `share`, by interpolation in its logarithm."""
    rows = where(cell, score=score, mechanism=mechanism).sort_values("epsilon")
    log_epsilon, recall = np.log(rows["epsilon"].to_numpy()), rows["recall"].to_numpy()
    reached = np.flatnonzero(recall >= share)
    if not len(reached):
        return f"> {np.exp(log_epsilon[-1]):g}"
    i = reached[0]
    if i == 0:
        return f"< {np.exp(log_epsilon[0]):g}"
    part = (share - recall[i - 1]) / (recall[i] - recall[i - 1])
    return f"{np.exp(log_epsilon[i - 1] + part * (log_epsilon[i] - log_epsilon[i - 1])):.2g}"


def shapes_table(summary, n=10_000, d=100):
    """Recall by shape without noise and at two epsilons, by support."""
    return _table_by_shape(where(summary, n=n, d=d), [(shape, at) for shape in SHAPES for at in (0.1, 1.0, np.inf)])


# --- Monotone functions, no functions, and bounds ---------------------------------------------------------------------


def monotone_table(summary):
    """Recall by support with its standard error; one row for each statistic."""
    wanted = [(1000, 0.1), (1000, 0.3), (1000, 1.0), (10_000, 0.01), (10_000, 0.03), (10_000, 0.1)]
    rows = where(summary, mechanism=SUPPORT).set_index(["score", "n", "epsilon"])
    columns = [column for column in wanted if (FIRST, *column) in rows.index]

    def cell(*key):
        return f"{rows.loc[key, 'recall']:.2f} ± {rows.loc[key, 'recall se']:.2f}"

    body = [[score, *(cell(score, *column) for column in columns)] for score in STATISTICS]
    return table(["", *(f"{n:,} rows, ε = {epsilon:g}" for n, epsilon in columns)], body)


def no_functions_table(summary, n=3000, epsilon=1.0):
    """Recall by shape at one epsilon, by support."""
    return _table_by_shape(where(summary, n=n), [(shape, epsilon) for shape in no_functions.SHAPES])


def _table_by_shape(cell, columns):
    body = []
    for score in STATISTICS:
        rows = where(cell, score=score, mechanism=(SUPPORT, "none")).set_index("epsilon")
        body.append([score, *(f"{rows[shape].get(epsilon, np.nan):.2f}" for shape, epsilon in columns)])
    return table(["", *(f"{shape}, ε = {epsilon:g}".replace("inf", "∞") for shape, epsilon in columns)], body)


def wide_bounds_table(wide):
    """Recall by width of the bounds; one row for each statistic."""
    columns = list(wide[["of", "width"]].drop_duplicates().itertuples(index=False, name=None))
    recall = wide.set_index(["score", "of", "width"])["recall"]
    body = [[score, *(f"{recall[score, of, width]:.2f}" for of, width in columns)] for score in STATISTICS]
    return table(["bounds", *(f"{of}, {width} times" for of, width in columns)], body)
