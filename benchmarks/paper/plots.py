"""Boxplots like the paper's: groups along the axis, in each a box for every mechanism; and the numbers they show."""

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from benchmarks.paper.mechanisms import MECHANISMS
from benchmarks.style import BLUE, GREEN, GREY, VERMILION, WIDTH, legible

DRAWN = ("bias", "variance")
NAMES = {"paper": "the paper's noise", "shipped": "as shipped"}  # of the noises
COLORS = dict(zip(MECHANISMS, (VERMILION, BLUE, GREEN), strict=True))
_LEVELS = {"min": 0, "q1": 0.25, "median": 0.5, "q3": 0.75, "max": 1}
_WIDTH = 0.25


def five_numbers(rows, measures=DRAWN):
    """Those of the box of each measure: a dict."""
    return {f"{m}_{name}": float(rows[m].quantile(level)) for m in measures for name, level in _LEVELS.items()}


def boxplots(path, panels, group, x_label):
    """Draw bias and variance, one panel each for each of `panels`, side by side.

    Parameters
    ----------
    path : Path
        Of the PNG.
    panels : dict
        From a title to a DataFrame with the five numbers of bias and variance, and the mechanism.
    group : str
        The column that says which group a row is in.
    x_label : str
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with legible(**{"font.size": 10, "axes.titlesize": 10, "axes.labelsize": 10, "legend.fontsize": 10}):
        figure = Figure(figsize=(WIDTH, 2.1 * len(panels) + 0.8))
        axes = figure.subplots(len(panels), 2, squeeze=False, sharey="col")
        for row, (title, rows) in zip(axes, panels.items(), strict=True):
            for axis, measure in zip(row, DRAWN, strict=True):
                _draw(axis, rows, group, measure)
                axis.set_title(f"{measure}, {title}")
        for axis in axes[-1]:
            axis.set_xlabel(x_label)
        handles = [Patch(facecolor=color, edgecolor="black", label=name) for name, color in COLORS.items()]
        figure.legend(handles=handles, ncols=len(handles), loc="outside upper center", frameon=False)
        figure.savefig(path)


def _draw(axis, rows, group, measure):
    """A box from quartile to quartile with the median, and whiskers to the least and the largest value."""
    names = list(dict.fromkeys(rows[group]))
    for offset, (mechanism, color) in enumerate(COLORS.items(), start=-1):
        of_mechanism = rows[rows["mechanism"] == mechanism]
        stats, keys = [], {"min": "whislo", "q1": "q1", "median": "med", "q3": "q3", "max": "whishi"}
        for row in of_mechanism.to_dict("records"):
            stats.append({keys[name]: row[f"{measure}_{name}"] for name in _LEVELS} | {"fliers": []})
        at = [names.index(name) + offset * _WIDTH for name in of_mechanism[group]]
        style = {"boxprops": {"facecolor": color}, "medianprops": {"color": "black"}, "patch_artist": True}
        axis.bxp(stats, at, widths=0.8 * _WIDTH, manage_ticks=False, showfliers=False, **style)
    axis.set_xticks(range(len(names)), [str(name) for name in names], rotation=40, ha="right", rotation_mode="anchor")
    if measure == "variance":
        axis.set_yscale("log")
    else:
        axis.axhline(0, color=GREY, linewidth=0.8, zorder=0)
