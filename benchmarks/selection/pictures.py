"""Pictures of the results, as in docs/evidence/selection.md."""

import numpy as np
from matplotlib.figure import Figure

from benchmarks.selection.relationships import N_TRUE
from benchmarks.selection.ways import EVEN, SUPPORT
from benchmarks.style import BLACK, BLUE, GREEN, GREY, PURPLE, WIDTH, legible

CURVES = {
    "MTVr": {"color": BLACK, "marker": "o"},
    "Kendall": {"color": GREEN, "marker": "^", "linestyle": "dotted"},
    "MICr, corrected": {"color": PURPLE, "marker": "D"},
}
# What the README shows: a way, its style and label, the budget at which its curve is labelled, and where the label is.
FOUND = (
    ("MTVr", SUPPORT, {"color": BLUE, "marker": "o", "linewidth": 2.6}, "PrivateSelectKBest (MTVr)", 300, (22, 1.12)),
    ("Kendall", SUPPORT, {"color": GREEN, "marker": "^", "linestyle": "dashdot"}, "Kendall", 9000, (6000, 0.67)),
    ("MTVr", EVEN, {"color": BLACK, "marker": "D", "linestyle": "dotted"}, "even split", 1000, (1700, 0.4)),
)


def draw_curves(summary, path, d=100):
    """Recall against rows times epsilon, by support, over all numbers of rows, with bands of two standard errors."""
    with legible():
        figure = Figure(figsize=(WIDTH, 4.6))
        axes = figure.subplots()
        for score, style in CURVES.items():
            _curve(axes, where(summary, d=d, mechanism=SUPPORT, score=score), score, **style)
        _finish_curves(axes, d)
        figure.legend(loc="outside lower center", ncols=2, frameon=False)
        figure.savefig(path)


def draw_found(summary, path, d=100):
    """The same for the README: PrivateSelectKBest, Kendall and an even split, each labelled at its curve."""
    with legible():
        figure = Figure(figsize=(WIDTH, 3.9))
        axes = figure.subplots()
        for score, mechanism, style, name, budget, place in FOUND:
            found = _curve(axes, where(summary, d=d, mechanism=mechanism, score=score), name, **style)
            if budget in found.index:  # not in a quick run
                line = {"arrowstyle": "-", "color": style["color"], "linewidth": 0.8, "shrinkA": 0}
                axes.annotate(name, (budget, found[budget]), place, color=style["color"], arrowprops=line)
        _finish_curves(axes, d)
        figure.savefig(path)


def _curve(axes, rows, label, color, **style):
    """Draw and return the mean over numbers of rows with the same budget, with a band of two standard errors."""
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


def where(rows, **wanted):
    """The rows that have one of the wanted values in each of these columns."""
    for name, values in wanted.items():
        rows = rows[rows[name].isin(np.atleast_1d(values))]
    return rows
