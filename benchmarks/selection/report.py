"""Tables and pictures of the results; those in docs/results_selection.md are made here."""

import numpy as np
import pandas
from matplotlib.figure import Figure

from benchmarks.selection.relationships import NAMES, SHAPES
from benchmarks.selection.ways import COUNTS, EVEN, GAUSSIAN, PRIVATE_SCORES, SUPPORT

COLOURS = dict(zip(PRIVATE_SCORES, ("tab:blue", "tab:orange", "tab:green", "tab:red", "tab:purple"), strict=True))
MECHANISM_COLOURS = {SUPPORT: "tab:blue", EVEN: "tab:orange", GAUSSIAN: "tab:green", COUNTS: "tab:red"}
LABELS = {GAUSSIAN: "gaussian, δ = 1e-6"}
WAY = ["score", "mechanism", "epsilon"]
COMPARED = [("MICr", SUPPORT), ("MICr", GAUSSIAN), ("MICr", EVEN), *((score, SUPPORT) for score in PRIVATE_SCORES[1:])]


def write(of_relationships, of_tables, output):
    """All tables and pictures of a run."""
    summary = summarise(of_relationships, ["n", "d", *WAY], "recall", list(SHAPES))
    by_name = summarise(of_relationships, ["n", "d", *WAY], "recall", list(NAMES))
    tables = summarise(of_tables, ["table", "d", "k", "metric", *WAY], "quality", ["agreement", "n"])
    tables["n"] = tables["n"].astype(int)  # splits by groups of rows differ a little
    n, d = (size if size in set(summary[name]) else summary[name].max() for name, size in (("n", 10_000), ("d", 100)))
    one = where(by_name, n=n, d=d, epsilon=(1.0, np.inf))

    summary = saved(summary, output / "relationships.csv")
    one = saved(one, output / "by_relationship.csv")
    tables = saved(tables, output / "tables.csv")
    (output / "tables.md").write_text(markdown(summary, tables), encoding="utf-8")
    draw_recall(summary, output / "scores.png")
    draw_mechanisms(summary, output / "mechanisms.png")
    draw_shapes(summary, n, d, output / "shapes.png")
    draw_by_name(one, n, d, output / "by_relationship.png")
    draw_tables(tables, output / "tables.png")


def summarise(frame, keys, measure, others):
    """Means over repeats, or splits, and the standard error of `measure` from their spread."""
    groups = frame.groupby(keys, sort=False)
    count = groups[measure].count()
    summary = groups[[measure, *others]].mean()
    summary.insert(1, "se", groups[measure].std() / np.sqrt(count))
    return summary.reset_index()


def saved(frame, path, digits=4):
    """The table as others will read it, so that all that is made of it can be made again."""
    frame.to_csv(path, index=False, float_format=f"%.{digits}g")
    return pandas.read_csv(path)


# --- Tables ---------------------------------------------------------------------------------------------------------


def markdown(summary, tables):
    """The tables of the docs, under headings."""
    parts = [
        "## The least epsilon that finds 80 % of the true features",
        least_epsilon_table(summary),
        "## What finds most",
        winners_table(summary),
        "## By shape",
        shapes_table(summary),
        "## Real tables",
        models_table(tables),
        *(f"### {name}\n\n{quality_table(rows)}" for name, rows in tables.groupby("table", sort=False)),
    ]
    return "\n\n".join(parts) + "\n"


def least_epsilon_table(summary, share=0.8):
    """One row for each number of records and of features, one column for each way."""
    head = ["rows", "features", *(f"{score}, {mechanism}" for score, mechanism in COMPARED)]
    body = []
    for (n, d), cell in summary.groupby(["n", "d"]):
        body.append([f"{n:,}", str(d), *(least_epsilon(cell, *way, share) for way in COMPARED)])
    return table(head, body)


def least_epsilon(cell, score, mechanism, share):
    """Where recall reaches `share`, by interpolation in the logarithm of epsilon."""
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


def winners_table(summary):
    """The best two scores by support, for each epsilon, where the best stands out from chance."""
    rows = where(summary, mechanism=SUPPORT)
    epsilons = sorted(set(rows["epsilon"]))
    body = []
    for (n, d), cell in rows.groupby(["n", "d"]):
        body.append([f"{n:,}", str(d), *(best_two(where(cell, epsilon=epsilon), 5 / d) for epsilon in epsilons)])
    return table(["rows", "features", *(f"ε = {epsilon:g}" for epsilon in epsilons)], body)


def best_two(cell, chance):
    best = cell.nlargest(2, "recall")
    if best["recall"].iloc[0] < max(1.5 * chance, 0.25):
        return "--"
    return ", ".join(f"{score} {recall:.2f}" for score, recall in zip(best["score"], best["recall"], strict=True))


def shapes_table(summary, n=10_000, d=100):
    """Recall by shape without noise and at three epsilon, by support."""
    cell = where(summary, n=n, d=d)
    columns = [(shape, epsilon) for shape in SHAPES for epsilon in (0.1, 1.0, np.inf)]
    body = []
    for score in PRIVATE_SCORES:
        rows = where(cell, score=score, mechanism=(SUPPORT, "none")).set_index("epsilon")
        body.append([score, *(f"{rows[shape].get(epsilon, np.nan):.2f}" for shape, epsilon in columns)])
    return table(["", *(f"{shape}, ε = {epsilon:g}".replace("inf", "∞") for shape, epsilon in columns)], body)


def models_table(tables, epsilon=1.0):
    """The quality of models at one epsilon, in brackets that without noise; one column for each real table."""
    names = list(dict.fromkeys(tables["table"]))
    known = tables.set_index(["table", "score", "mechanism", "epsilon"])[["quality", "se"]]
    body = []
    for score, mechanism in COMPARED:
        hidden = [known.loc[(name, score, mechanism, epsilon)] for name in names]
        free = [known.loc[(name, score, "none", np.inf)] for name in names]
        cells = (f"{h.quality:.3f} ± {h.se:.3f} ({f.quality:.3f})" for h, f in zip(hidden, free, strict=True))
        body.append([f"{score}, {mechanism}", *cells])
    for score, at in (("mutual_info", np.inf), ("all features", np.inf), ("at random", 0.0)):
        body.append([score, *(f"({known.loc[(name, score, 'none', at)].quality:.3f})" for name in names)])
    metrics = tables.drop_duplicates("table").set_index("table")["metric"]
    return table([f"ε = {epsilon:g}", *(f"{name}: {metrics[name]}" for name in names)], body)


def quality_table(rows):
    """The quality of models by each way, over epsilon."""
    epsilons = sorted(set(private(rows)["epsilon"]))
    body = []
    for (score, mechanism), way in private(rows).groupby(["score", "mechanism"], sort=False):
        values = way.set_index("epsilon")["quality"]
        free = where(rows, score=score, mechanism="none")["quality"].iloc[0]
        cells = (f"{values[epsilon]:.3f}" if epsilon in values.index else "" for epsilon in epsilons)
        body.append([f"{score}, {mechanism}", *cells, f"{free:.3f}"])
    for score in ("mutual_info", "all features", "at random"):
        value = where(rows, score=score)["quality"].iloc[0]
        body.append([score, *[""] * len(epsilons), f"{value:.3f}"])
    first = rows.iloc[0]
    title = f"{first['k']} of {first['d']}, {first['n']:,} rows, {first['metric']}"
    return table([title, *(f"ε = {epsilon:g}" for epsilon in epsilons), "no noise"], body)


def private(rows):
    return rows[rows["mechanism"] != "none"]


def where(rows, **wanted):
    """The rows with one of the values that are wanted of each column."""
    for name, values in wanted.items():
        rows = rows[rows[name].isin(np.atleast_1d(values))]
    return rows


def table(head, body):
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


# --- Pictures -------------------------------------------------------------------------------------------------------


def draw_recall(summary, path):
    """Recall against epsilon, for each score by support."""
    figure, panels = _panels(summary)
    for axes, cell, d in panels:
        for score in PRIVATE_SCORES:
            _line(axes, cell, score, SUPPORT, COLOURS[score], score)
            _free(axes, cell, score, COLOURS[score])
        _finish(axes, 5 / d)
    _finish_figure(figure, 'share of the true features found, release="support"; dotted: without noise', path)


def draw_mechanisms(summary, path):
    """Recall against epsilon, for each mechanism of the package."""
    figure, panels = _panels(summary)
    for axes, cell, d in panels:
        for mechanism, colour in MECHANISM_COLOURS.items():
            _line(axes, cell, "MICr", mechanism, colour, LABELS.get(mechanism, mechanism))
        _free(axes, cell, "MICr", "black")
        _finish(axes, 5 / d)
    _finish_figure(figure, "share of the true features found by MICr; dotted: without noise", path)


def _panels(summary):
    rows_of = sorted(set(summary["n"]) & {1000, 10_000, 100_000})
    sizes = sorted(set(summary["d"]))
    figure = Figure(figsize=(3.6 * len(rows_of), 2.5 * len(sizes) + 0.8), layout="constrained")
    grid = figure.subplots(len(sizes), len(rows_of), sharex=True, sharey=True, squeeze=False)
    panels = []
    for i, d in enumerate(sizes):
        for j, n in enumerate(rows_of):
            grid[i, j].set_title(f"{n:,} rows, {d} features", fontsize=10)
            panels.append((grid[i, j], where(summary, n=n, d=d), d))
    for axes in grid[-1]:
        axes.set_xlabel("ε of one selection")
    return figure, panels


def draw_shapes(summary, n, d, path):
    """Recall against epsilon by shape, for each score by support."""
    cell = where(summary, n=n, d=d)
    figure = Figure(figsize=(10.8, 3.6), layout="constrained")
    for axes, shape in zip(figure.subplots(1, len(SHAPES), sharey=True), SHAPES, strict=True):
        for score in PRIVATE_SCORES:
            _line(axes, cell, score, SUPPORT, COLOURS[score], score, shape, se=False)
        axes.set_title(f"{shape}: {', '.join(SHAPES[shape])}", fontsize=8)
        axes.set_xlabel("ε of one selection")
        _finish(axes, 5 / d)
    title = f'share of the true features found by their shape, {n:,} rows, {d} features, release="support"'
    _finish_figure(figure, title, path)


def draw_by_name(one, n, d, path):
    """How often each relationship is found at epsilon = 1, by each score."""
    rows = where(one, mechanism=SUPPORT).set_index("score").loc[list(PRIVATE_SCORES), list(NAMES)]
    figure = Figure(figsize=(10, 3), layout="constrained")
    axes = figure.subplots()
    axes.imshow(rows, vmin=0, vmax=1, cmap="Blues", aspect="auto")
    for (i, j), value in np.ndenumerate(rows.to_numpy()):
        axes.text(
            j, i, f"{100 * value:.0f}", ha="center", va="center", fontsize=8, color="white" if value > 0.6 else "k"
        )
    axes.set_xticks(range(len(NAMES)), NAMES)
    axes.set_yticks(range(len(rows)), rows.index)
    axes.set_title(
        f'how often each relationship is found, in %: ε = 1, {n:,} rows, {d} features, release="support"', fontsize=10
    )
    figure.savefig(path, dpi=70)


def draw_tables(tables, path):
    """Quality of a model against epsilon, for each real table and score by support."""
    names = list(dict.fromkeys(tables["table"]))
    figure = Figure(figsize=(5 * min(2, len(names)), 2.9 * -(-len(names) // 2) + 0.6), layout="constrained")
    panels = figure.subplots(-(-len(names) // 2), min(2, len(names)), squeeze=False).ravel()
    for axes in panels[len(names) :]:
        axes.axis("off")
    for axes, name in zip(panels, names, strict=False):
        cell = where(tables, table=name)
        for score in PRIVATE_SCORES:
            _line(axes, cell, score, SUPPORT, COLOURS[score], score, "quality")
        _line(axes, cell, "MICr", GAUSSIAN, COLOURS["MICr"], f"MICr, {LABELS[GAUSSIAN]}", "quality", "--")
        for score, style in (("all features", "-"), ("mutual_info", "--"), ("at random", ":")):
            value = where(cell, score=score)["quality"].iloc[0]
            axes.axhline(value, color="grey", linestyle=style, label=score, linewidth=1)
        first = cell.iloc[0]
        axes.set_title(f"{name}: {first['k']} of {first['d']} features, {first['n']:,} rows", fontsize=10)
        axes.set_ylabel(first["metric"])
        axes.set_xlabel("ε of one selection")
        axes.set_xscale("log")
        axes.grid(alpha=0.3)
        if "error" in first["metric"]:
            axes.invert_yaxis()  # better is higher in all panels
    title = 'a model on the chosen features, release="support"; higher is better; bars: standard error over splits'
    _finish_figure(figure, title, path)


def _line(axes, cell, score, mechanism, colour, label, measure="recall", style="-", se=True):
    rows = where(cell, score=score, mechanism=mechanism).sort_values("epsilon")
    error = rows["se"].fillna(0) if se else None
    axes.errorbar(
        rows["epsilon"],
        rows[measure],
        error,
        color=colour,
        label=label,
        linestyle=style,
        marker="o",
        markersize=3,
        linewidth=1.3,
    )


def _free(axes, cell, score, colour):
    value = where(cell, score=score, mechanism="none")["recall"].iloc[0]
    axes.axhline(value, color=colour, linestyle=":", linewidth=1)


def _finish(axes, chance):
    axes.axhline(chance, color="grey", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_ylim(0, 1.03)
    axes.grid(alpha=0.3)


def _finish_figure(figure, title, path):
    figure.suptitle(title, fontsize=10)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8)
    figure.savefig(path, dpi=70)
