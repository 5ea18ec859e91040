"""Pictures of the results, as in docs/evidence/selection.md."""

import numpy as np
from matplotlib.figure import Figure

from benchmarks.selection.no_functions import R2_OF_LINES, mixture_of
from benchmarks.selection.no_functions import SHAPES as NO_FUNCTIONS
from benchmarks.selection.relationships import N_TRUE, draw_given_target
from benchmarks.selection.statistics import NOTHING_KNOWN
from benchmarks.selection.ways import COUNTS, CUBE, EVEN, GAUSSIAN, SUPPORT
from benchmarks.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, WIDTH, legible

STYLES = {
    "MTVr": {"color": BLACK, "marker": "o", "linewidth": 2.4, "zorder": 5},
    NOTHING_KNOWN: {"color": BLACK, "marker": "v", "linestyle": "dotted"},
    "MICr": {"color": BLUE, "marker": "s", "linestyle": "dashed"},
    "MICr, corrected": {"color": BLUE, "marker": "s"},
    "binned MI": {"color": PURPLE, "marker": "D"},
    "Chatterjee": {"color": ORANGE, "marker": "^"},
    "distance correlation": {"color": VERMILION, "marker": "P"},
    "Kendall": {"color": GREEN, "marker": "X"},
    "Spearman": {"color": GREEN, "marker": "+", "linestyle": "dotted"},
    "covariance": {"color": GREY, "marker": "|", "linestyle": "dashed"},
}
MECHANISMS = {
    SUPPORT: (BLUE, "o"),
    GAUSSIAN: (GREEN, "s"),
    CUBE: (PURPLE, "D"),
    EVEN: (ORANGE, "^"),
    COUNTS: (VERMILION, "X"),
}
LABELS = {SUPPORT: "names only", GAUSSIAN: "gaussian", COUNTS: "geometric"}
RELATIONSHIPS = {
    "F1": "line + slow wave",
    "F2": "line + wave",
    "F3": "line + fast wave",
    "F4": "line + large wave",
    "F5": "cosine, 3.5 periods",
    "F6": "cosine, 7 periods",
    "F7": "cubic",
    "F8": "steep cubic",
    "F9": "elbow",
    "F10": "exponential, base 2",
    "F11": "exponential, base 8",
    "F12": "line",
    "F13": "parabola",
    "F14": "sine, 4.5 periods",
    "F15": "sine, 4 periods",
    "F16": "sine, 8 periods",
    "F17": "sigmoid",
    "F18": "chirp, cosine",
    "F19": "chirp, sine",
    "F20": "spike",
    "F21": "lopsided L",
}
_EPSILONS = (0.01, 0.1, 1, 10)
_BARS = "bars: standard error"
_SMALL = {f"{of}size": 10 for of in ("font.", "axes.title", "axes.label", "legend.font", "figure.title")}

# --- Recall -----------------------------------------------------------------------------------------------------------


def draw_recall(summary, path):
    """Recall against epsilon, for each score by support."""
    with legible(**_SMALL):
        figure, panels = _panels(summary)
        for axes, cell, d in panels:
            for score, style in STYLES.items():
                _line(axes, cell, score, SUPPORT, score, **style)
            _finish(axes, N_TRUE / d)
        _finish_figure(figure, f"share of the true columns found, names only\n{_BARS}", path)


CURVES = {
    "MTVr": {"color": BLACK, "marker": "o"},
    NOTHING_KNOWN: {"color": SKY, "marker": "v", "linestyle": "dashed"},
    "Chatterjee": {"color": ORANGE, "marker": "s", "linestyle": "dashdot"},
    "Kendall": {"color": GREEN, "marker": "^", "linestyle": "dotted"},
    "MICr, corrected": {"color": PURPLE, "marker": "D"},
}
# What the README shows: a way, its style, and where on its curve its name is, and in which place beside it.
FOUND = (
    ("MTVr", SUPPORT, {"color": BLUE, "marker": "o", "linewidth": 2.6}, "PrivateSelectKBest (MTVr)", 300, (22, 1.12)),
    (
        "Chatterjee",
        SUPPORT,
        {"color": VERMILION, "marker": "s", "linestyle": "dashed"},
        "Chatterjee",
        900,
        (1500, 1.12),
    ),
    ("Kendall", SUPPORT, {"color": GREEN, "marker": "^", "linestyle": "dashdot"}, "Kendall", 9000, (6000, 0.67)),
    ("MTVr", EVEN, {"color": BLACK, "marker": "D", "linestyle": "dotted"}, "even split", 1000, (1700, 0.4)),
)


def draw_curves(summary, path, d=100):
    """Recall against rows times epsilon, by support, for all numbers of rows together, with bands of two errors."""
    with legible():
        figure = Figure(figsize=(WIDTH, 4.6))
        axes = figure.subplots()
        for score, style in CURVES.items():
            _curve(axes, _where(summary, d=d, mechanism=SUPPORT, score=score), score, **style)
        _finish_curves(axes, d)
        figure.legend(loc="outside lower center", ncols=2, frameon=False)
        figure.savefig(path)


def draw_found(summary, path, d=100):
    """The same for the readme: PrivateSelectKBest, two rivals and an even split, each named at its curve."""
    with legible():
        figure = Figure(figsize=(WIDTH, 3.9))
        axes = figure.subplots()
        for score, mechanism, style, name, budget, place in FOUND:
            found = _curve(axes, _where(summary, d=d, mechanism=mechanism, score=score), name, **style)
            if budget in found.index:  # not in a quick run
                line = {"arrowstyle": "-", "color": style["color"], "linewidth": 0.8, "shrinkA": 0}
                axes.annotate(name, (budget, found[budget]), place, color=style["color"], arrowprops=line)
        _finish_curves(axes, d)
        figure.savefig(path)


def _curve(axes, rows, label, color, **style):
    """The mean over the numbers of rows with the same budget, which is returned, with a band of two standard errors."""
    budget = (rows["n"] * rows["epsilon"]).round(6)
    groups = rows.assign(budget=budget, square=rows["recall se"] ** 2).groupby("budget")
    found, error = groups["recall"].mean(), np.sqrt(groups["square"].sum()) / groups["recall"].count()
    axes.fill_between(found.index, found - 2 * error, found + 2 * error, color=color, alpha=0.2, linewidth=0)
    axes.plot(found.index, found, color=color, label=label, **{"markersize": 4, **style})
    return found


def _finish_curves(axes, d):
    axes.axhline(N_TRUE / d, color=GREY, linewidth=1)
    axes.text(29_000, N_TRUE / d + 0.015, "at random", color=GREY, ha="right", va="bottom")
    axes.set(xscale="log", xlim=(20, 30_000), ylim=(0, 1.02))
    axes.set_xticks([100, 1000, 10_000], ["100", "1,000", "10,000"])
    axes.set(xlabel="rows · ε", ylabel=f"share of the {N_TRUE} true columns found")


def draw_mechanisms(summary, first, path):
    """Recall against epsilon, for each mechanism of the package."""
    with legible(**_SMALL):
        figure, panels = _panels(summary)
        for axes, cell, d in panels:
            for mechanism, (color, marker) in MECHANISMS.items():
                label = LABELS.get(mechanism, mechanism)
                style = {"color": color, "marker": marker}
                _line(axes, cell, first, mechanism, f"{first}, {label}", **style)
                _line(axes, cell, "MICr", mechanism, f"MICr, {label}", **style, linestyle="dashed")
            _finish(axes, N_TRUE / d)
        _finish_figure(figure, f"share of the true columns found\n{_BARS}", path)


def _panels(summary):
    """A row for each number of features, a column for each of two numbers of rows."""
    rows_of = sorted(set(summary["n"]) & {1000, 10_000})
    sizes = sorted(set(summary["d"]))
    figure = Figure(figsize=(WIDTH, 2.3 * len(sizes) + 2.4))
    grid = figure.subplots(len(sizes), len(rows_of), sharex=True, sharey=True, squeeze=False)
    panels = []
    for i, d in enumerate(sizes):
        for j, n in enumerate(rows_of):
            grid[i, j].set_title(f"{n:,} rows, {d} columns")
            panels.append((grid[i, j], _where(summary, n=n, d=d), d))
    for axes in grid[-1]:
        axes.set_xlabel("ε of one selection")
    return figure, panels


def draw_shapes(summary, shapes, n, d, path):
    """Recall against epsilon by shape, for each score by support."""
    cell = _where(summary, n=n, d=d)
    with legible(**_SMALL):
        figure = Figure(figsize=(WIDTH, 2.3 * len(shapes) + 2.2))
        panels = figure.subplots(len(shapes), 1, sharex=True)
        for axes, shape in zip(panels, shapes, strict=True):
            for score, style in STYLES.items():
                _line(axes, cell, score, SUPPORT, score, shape, **style)
            axes.set_title(shape)
            _finish(axes, N_TRUE / d)
        panels[-1].set_xlabel("ε of one selection")
        title = f"share of the true columns found, by shape\n{n:,} rows, {d} columns, names only; {_BARS}"
        _finish_figure(figure, title, path)


def draw_by_name(one, names, n, d, path):
    """How often each relationship is found at two epsilon, by each score."""
    with legible(**_SMALL):
        figure = Figure(figsize=(WIDTH, 11.5))
        for axes, epsilon in zip(figure.subplots(2, 1), (0.1, 1.0), strict=True):
            rows = _where(one, mechanism=SUPPORT, epsilon=epsilon).set_index("score").loc[list(STYLES), list(names)].T
            axes.imshow(rows, vmin=0, vmax=1, cmap="Blues", aspect="auto")
            for (i, j), value in np.ndenumerate(rows.to_numpy()):
                color = "white" if value > 0.6 else "black"
                axes.text(j, i, f"{100 * value:.0f}", ha="center", va="center", fontsize=9, color=color)
            axes.set_yticks(range(len(names)), [RELATIONSHIPS[name] for name in names])
            axes.set_xticks(range(len(STYLES)), STYLES, rotation=60, ha="right", rotation_mode="anchor")
            axes.set_title(f"ε = {epsilon:g}")
        figure.suptitle(f"how often each relationship is found, in %\n{n:,} rows, {d} columns, names only")
        figure.savefig(path)


def draw_no_functions(no_function, path, n=3000):
    """What the shapes that are no functions look like, and how often each is found against epsilon, by support."""
    cell = _where(no_function, n=n)
    n_pairs = len(NO_FUNCTIONS) // 2
    with legible(**_SMALL):
        figure = Figure(figsize=(WIDTH, 2.8 * n_pairs + 2))
        panels = figure.subplots(2 * n_pairs, 2, height_ratios=(1, 1.6) * n_pairs, squeeze=False)
        random = np.random.default_rng(0)
        y = random.random(700)
        for i, shape in enumerate(NO_FUNCTIONS):
            picture, axes = panels[i // 2 * 2 : i // 2 * 2 + 2, i % 2]
            x = draw_given_target(mixture_of(shape, R2_OF_LINES[-1]), y, random)
            picture.scatter(x, y, s=1, color=BLUE)
            picture.set(xticks=[], yticks=[], xlim=(0, 1), ylim=(0, 1), aspect="equal", title=shape)
            for score, style in STYLES.items():
                _line(axes, cell, score, SUPPORT, score, shape, **style)
            _finish(axes, N_TRUE / cell["d"].iloc[0])
        for axes in panels[-1]:
            axes.set_xlabel("ε of one selection")
        title = f"share found by shape, {n:,} rows, 100 columns, names only\ndots: a column and the target; {_BARS}"
        _finish_figure(figure, title, path)


def draw_wide_bounds(wide, path):
    """Recall against the width of the bounds, by support."""
    first = wide.iloc[0]
    with legible(**_SMALL):
        figure = Figure(figsize=(WIDTH, 5))
        for axes, of in zip(figure.subplots(1, 2, sharey=True), ("features", "target"), strict=True):
            for score, style in STYLES.items():
                rows = _where(wide, of=of, score=score)
                _points(axes, rows["width"], rows, "recall", score, style)
            axes.set(title=f"bounds of the {of}", xlabel="times too wide")
            _finish(axes, N_TRUE / first["d"], (1, 10, 100, 1000))
        title = f"share found, {first['n']:,} rows, {first['d']} columns, ε = {first['epsilon']:g}, names only\n{_BARS}"
        _finish_figure(figure, title, path)


# --- Real tables ------------------------------------------------------------------------------------------------------


def draw_tables(tables, path):
    """Quality of a model against epsilon, for each real table and score by support."""
    names = list(dict.fromkeys(tables["table"]))
    with legible(**_SMALL):
        figure = Figure(figsize=(WIDTH, 2.3 * len(names) + 2.8))
        panels = figure.subplots(len(names), 1, squeeze=False, sharex=True).ravel()
        for axes, name in zip(panels, names, strict=True):
            _draw_table(axes, name, _where(tables, table=name))
        panels[-1].set_xlabel("ε of one selection")
        title = f"a model on the chosen columns, names only; higher is better\n{_BARS}; bands: the same, not private"
        _finish_figure(figure, title, path)


def _draw_table(axes, name, cell):
    for score, style in STYLES.items():
        _line(axes, cell, score, SUPPORT, score, "quality", **style)
    for score, line in (("all features", "solid"), ("mutual_info", "dashed"), ("at random", "dotted")):
        row = _where(cell, score=score).iloc[0]
        axes.axhline(row["quality"], color=SKY, linestyle=line, label=f"{score.replace('_', ' ')}, not private")
        if row["quality se"] > 0:
            ends = row["quality"] - row["quality se"], row["quality"] + row["quality se"]
            axes.axhspan(*ends, color=SKY, alpha=0.15, linewidth=0)
    first = cell.iloc[0]
    axes.set_title(f"{name}: {first['k']} of {first['d']} columns, {first['n']:,} rows")
    axes.set_ylabel(first["metric"])
    _finish_x(axes)
    if "error" in first["metric"]:
        axes.invert_yaxis()  # better is higher in all panels


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
    axes.errorbar(x, rows[measure], error, label=label, **{"linewidth": 1.4, "markersize": 4, **style})


def _finish(axes, chance, ticks=_EPSILONS):
    axes.axhline(chance, color=SKY, linewidth=3, zorder=0, label="at random")
    axes.set_ylim(0, 1.02)
    _finish_x(axes, ticks)


def _finish_x(axes, ticks=_EPSILONS):
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{tick:,g}" for tick in ticks])
    axes.minorticks_off()
    axes.grid(alpha=0.3)


def _finish_figure(figure, title, path):
    figure.suptitle(title)
    shown = {}
    for axes in figure.axes:
        shown |= {label: handle for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(path)
