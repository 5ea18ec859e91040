"""Pictures of the results, as in docs/evidence/selection.md."""

import numpy as np
from matplotlib.figure import Figure

from benchmarks.selection.no_functions import R2_OF_LINES, mixture_of
from benchmarks.selection.no_functions import SHAPES as NO_FUNCTIONS
from benchmarks.selection.relationships import N_TRUE, draw_given_target
from benchmarks.selection.statistics import NOTHING_KNOWN
from benchmarks.selection.ways import COUNTS, CUBE, EVEN, GAUSSIAN, SUPPORT

# Grids in strong colours, ranks of any shape in warm ones, what looks for a trend in green and grey.
STYLES = {
    "MTVr": {"color": "black", "linewidth": 2.2, "zorder": 5},
    NOTHING_KNOWN: {"color": "black", "linestyle": ":", "linewidth": 1.5},
    "MICr": {"color": "tab:blue", "linestyle": "--"},
    "MICr, corrected": {"color": "tab:blue"},
    "binned MI": {"color": "tab:purple"},
    "Chatterjee": {"color": "tab:orange"},
    "distance correlation": {"color": "tab:red"},
    "Kendall": {"color": "tab:green"},
    "Spearman": {"color": "tab:green", "linestyle": ":"},
    "covariance": {"color": "tab:gray", "linestyle": "--"},
}
MECHANISM_COLOURS = {
    SUPPORT: "tab:blue",
    GAUSSIAN: "tab:green",
    CUBE: "tab:purple",
    EVEN: "tab:orange",
    COUNTS: "tab:red",
}
LABELS = {GAUSSIAN: "gaussian, δ = 1e-6"}

# --- Recall -----------------------------------------------------------------------------------------------------------


def draw_recall(summary, path):
    """Recall against epsilon, for each score by support."""
    figure, panels = _panels(summary)
    for axes, cell, d in panels:
        for score, style in STYLES.items():
            _line(axes, cell, score, SUPPORT, score, **style)
        _finish(axes, N_TRUE / d)
    _finish_figure(figure, "share of the true features found, names only; bars: standard error over tables", path)


# Of Okabe and Ito, whose colours are told apart without red or green.
CURVES = {
    "MTVr": "#000000",
    NOTHING_KNOWN: "#56B4E9",
    "Chatterjee": "#E69F00",
    "Kendall": "#009E73",
    "MICr, corrected": "#CC79A7",
}


def draw_curves(summary, path, d=100):
    """Recall against rows times epsilon, by support, for all numbers of rows together, with bands of two errors."""
    rows = _where(summary, d=d, mechanism=SUPPORT)
    rows = rows.assign(budget=(rows["n"] * rows["epsilon"]).round(6), square=rows["recall se"] ** 2)
    figure = Figure(figsize=(8, 4.4), layout="constrained")
    axes = figure.subplots()
    for score, colour in CURVES.items():
        groups = _where(rows, score=score).groupby("budget")
        found, error = groups["recall"].mean(), np.sqrt(groups["square"].sum()) / groups["recall"].count()
        axes.fill_between(found.index, found - 2 * error, found + 2 * error, color=colour, alpha=0.2, linewidth=0)
        axes.plot(found.index, found, color=colour, marker="o", markersize=3, label=score)
    axes.legend(loc="lower right")
    axes.set(
        xscale="log", xlim=(20, 30_000), ylim=(0, 1.02), xlabel="rows · ε", ylabel="share of the true features found"
    )
    axes.grid(alpha=0.3)
    figure.suptitle(f"names of 5 of {d} features; bands: two standard errors", fontsize=11)
    figure.savefig(path, dpi=110)


def draw_mechanisms(summary, first, path):
    """Recall against epsilon, for each mechanism of the package."""
    figure, panels = _panels(summary)
    for axes, cell, d in panels:
        for mechanism, colour in MECHANISM_COLOURS.items():
            label = LABELS.get(mechanism, mechanism)
            _line(axes, cell, first, mechanism, f"{first}, {label}", color=colour)
            _line(axes, cell, "MICr", mechanism, f"MICr, {label}", color=colour, linestyle="--")
        _finish(axes, N_TRUE / d)
    _finish_figure(figure, "share of the true features found; bars: standard error over tables", path)


def _panels(summary):
    rows_of = sorted(set(summary["n"]) & {1000, 10_000, 100_000})
    sizes = sorted(set(summary["d"]))
    figure = Figure(figsize=(4 * len(rows_of), 2.8 * len(sizes) + 0.8), layout="constrained")
    grid = figure.subplots(len(sizes), len(rows_of), sharex=True, sharey=True, squeeze=False)
    panels = []
    for i, d in enumerate(sizes):
        for j, n in enumerate(rows_of):
            grid[i, j].set_title(f"{n:,} rows, {d} features", fontsize=10)
            panels.append((grid[i, j], _where(summary, n=n, d=d), d))
    for axes in grid[-1]:
        axes.set_xlabel("ε of one selection")
    return figure, panels


def draw_shapes(summary, shapes, n, d, path):
    """Recall against epsilon by shape, for each score by support."""
    cell = _where(summary, n=n, d=d)
    figure = Figure(figsize=(12, 4), layout="constrained")
    for axes, (shape, names) in zip(figure.subplots(1, len(shapes), sharey=True), shapes.items(), strict=True):
        for score, style in STYLES.items():
            _line(axes, cell, score, SUPPORT, score, shape, **style)
        axes.set_title(f"{shape}: {', '.join(names)}", fontsize=9)
        axes.set_xlabel("ε of one selection")
        _finish(axes, N_TRUE / d)
    title = f"share of the true features found by their shape, {n:,} rows, {d} features, names only"
    _finish_figure(figure, title, path)


def draw_by_name(one, names, n, d, path):
    """How often each relationship is found at two epsilon, by each score."""
    figure = Figure(figsize=(10.5, 5.6), layout="constrained")
    for axes, epsilon in zip(figure.subplots(2, 1, sharex=True), (0.1, 1.0), strict=True):
        rows = _where(one, mechanism=SUPPORT, epsilon=epsilon).set_index("score").loc[list(STYLES), list(names)]
        axes.imshow(rows, vmin=0, vmax=1, cmap="Blues", aspect="auto")
        for (i, j), value in np.ndenumerate(rows.to_numpy()):
            colour = "white" if value > 0.6 else "black"
            axes.text(j, i, f"{100 * value:.0f}", ha="center", va="center", fontsize=8, color=colour)
        axes.set_xticks(range(len(names)), names)
        axes.set_yticks(range(len(rows)), rows.index)
        axes.set_title(f"ε = {epsilon:g}", fontsize=10)
    figure.suptitle(f"how often each relationship is found, in %: {n:,} rows, {d} features, names only", fontsize=11)
    figure.savefig(path, dpi=90)


def draw_no_functions(no_function, path, n=3000):
    """What the shapes that are no functions look like, and how often each is found against epsilon, by support."""
    cell = _where(no_function, n=n)
    half = len(NO_FUNCTIONS) // 2
    figure = Figure(figsize=(3.1 * half, 8.6), layout="constrained")
    panels = figure.subplots(4, half, height_ratios=(1, 2.2, 1, 2.2), squeeze=False)
    random = np.random.default_rng(0)
    y = random.random(700)
    for i, shape in enumerate(NO_FUNCTIONS):
        picture, axes = panels[i // half * 2 : i // half * 2 + 2, i % half]
        x = draw_given_target(mixture_of(shape, R2_OF_LINES[-1]), y, random)
        picture.scatter(x, y, s=1, color="tab:brown")
        picture.set(xticks=[], yticks=[], xlim=(0, 1), ylim=(0, 1), aspect="equal")
        picture.set_title(shape, fontsize=10)
        for score, style in STYLES.items():
            _line(axes, cell, score, SUPPORT, score, shape, **style)
        axes.set_xlabel("ε of one selection")
        _finish(axes, N_TRUE / cell["d"].iloc[0])
    title = f"share found by shape, {n:,} rows, 100 features, names only; brown: a feature and the target"
    _finish_figure(figure, title, path)


def draw_wide_bounds(wide, path):
    """Recall against the width of the bounds, by support."""
    first = wide.iloc[0]
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    for axes, of in zip(figure.subplots(1, 2, sharey=True), ("features", "target"), strict=True):
        for score, style in STYLES.items():
            rows = _where(wide, of=of, score=score)
            _points(axes, rows["width"], rows, "recall", score, style)
        axes.set_title(f"bounds of the {of}", fontsize=10)
        axes.set_xlabel("how many times too wide")
        _finish(axes, N_TRUE / first["d"])
    title = f"share found, {first['n']:,} rows, {first['d']} features, ε = {first['epsilon']:g}, names only"
    _finish_figure(figure, title, path)


# --- Real tables ------------------------------------------------------------------------------------------------------


def draw_tables(tables, path):
    """Quality of a model against epsilon, for each real table and score by support."""
    names = list(dict.fromkeys(tables["table"]))
    n_rows = -(-len(names) // 2)
    figure = Figure(figsize=(6 * min(2, len(names)), 3.4 * n_rows + 0.8), layout="constrained")
    panels = figure.subplots(n_rows, min(2, len(names)), squeeze=False).ravel()
    for axes in panels[len(names) :]:
        axes.axis("off")
    for axes, name in zip(panels, names, strict=False):
        cell = _where(tables, table=name)
        for score, style in STYLES.items():
            _line(axes, cell, score, SUPPORT, score, "quality", **style)
        for score, line in (("all features", "-"), ("mutual_info", "--"), ("at random", ":")):
            value = _where(cell, score=score)["quality"].iloc[0]
            axes.axhline(value, color="tab:brown", linestyle=line, label=f"{score}, not private", linewidth=1)
        first = cell.iloc[0]
        axes.set_title(f"{name}: {first['k']} of {first['d']} features, {first['n']:,} rows", fontsize=10)
        axes.set_ylabel(first["metric"])
        axes.set_xlabel("ε of one selection")
        axes.set_xscale("log")
        axes.grid(alpha=0.3)
        if "error" in first["metric"]:
            axes.invert_yaxis()  # better is higher in all panels
    title = "a model on the chosen features, names only; higher is better; bars: standard error over splits"
    _finish_figure(figure, title, path)


# --- What all use -----------------------------------------------------------------------------------------------------


def _where(rows, **wanted):
    for name, value in wanted.items():
        rows = rows[rows[name] == value]
    return rows


def _line(axes, cell, score, mechanism, label, measure="recall", **style):
    rows = _where(cell, score=score, mechanism=mechanism).sort_values("epsilon")
    if len(rows) > 0:
        _points(axes, rows["epsilon"], rows, measure, label, style)


def _points(axes, x, rows, measure, label, style):
    error = rows[f"{measure} se"].fillna(0)
    axes.errorbar(x, rows[measure], error, label=label, **{"marker": ".", "linewidth": 1.3, **style})


def _finish(axes, chance):
    axes.axhline(chance, color="grey", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_ylim(0, 1.03)
    axes.grid(alpha=0.3)


def _finish_figure(figure, title, path):
    figure.suptitle(title, fontsize=11)
    shown = {}
    for axes in figure.axes:
        shown |= {label: handle for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=4, fontsize=9)
    figure.savefig(path, dpi=80)
