"""Boxplots like the paper's: groups along the axis, in each a box for every mechanism; and the numbers they show."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from benchmarks.paper.mechanisms import MECHANISMS

DRAWN = ("bias", "variance")
NAMES = {"paper": "the paper's noise", "shipped": "as shipped"}  # of the noises
COLOURS = {"MICe-Lap": "#c0504d", "MICr-Lap": "#4472a8", "MICr-Geom": "#6b9e4a"}
WIDTH = 0.25


def five_numbers(rows, measures=DRAWN):
    """Those of the box of each measure: a dict."""
    levels = (("min", 0), ("q1", 0.25), ("median", 0.5), ("q3", 0.75), ("max", 1))
    return {f"{m}_{name}": float(rows[m].quantile(level)) for m in measures for name, level in levels}


def boxplots(path, panels, group, x_label):
    """Draw bias and variance, one column of panels for each of `panels`.

    Parameters
    ----------
    path : Path
        Of the PNG.
    panels : dict
        From a title to a DataFrame with bias, variance and mechanism.
    group : str
        The column that says which group a row is in: of categories, in order.
    x_label : str
    """
    figure, axes = plt.subplots(2, len(panels), figsize=(4.6 * len(panels), 5.6), sharey="row", squeeze=False)
    for column, (title, rows) in zip(axes.T, panels.items(), strict=True):
        for axis, measure in zip(column, DRAWN, strict=True):
            _draw(axis, rows, group, measure)
        column[0].set_title(title, fontsize=10)
        column[1].set_xlabel(x_label)
    for axis, measure in zip(axes[:, 0], DRAWN, strict=True):
        axis.set_ylabel(measure)
    handles = [plt.Rectangle((0, 0), 1, 1, color=COLOURS[mechanism]) for mechanism in MECHANISMS]
    figure.legend(handles, MECHANISMS, ncols=len(MECHANISMS), loc="upper center", frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 0.95))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=80)
    plt.close(figure)


def _draw(axis, rows, group, measure):
    names = rows[group].cat.categories
    for offset, mechanism in enumerate(MECHANISMS, start=-1):
        of_mechanism = rows[rows.mechanism == mechanism]
        values = [of_mechanism.loc[of_mechanism[group] == name, measure] for name in names]
        at = [i for i in range(len(names)) if len(values[i])]
        if not at:
            continue
        boxes = axis.boxplot(
            [values[i] for i in at],
            positions=[i + offset * WIDTH for i in at],
            widths=0.8 * WIDTH,
            patch_artist=True,
            manage_ticks=False,
            flierprops={"markersize": 1.5, "markeredgecolor": COLOURS[mechanism]},
            medianprops={"color": "black"},
        )
        for box in boxes["boxes"]:
            box.set_facecolor(COLOURS[mechanism])
    axis.set_xticks(range(len(names)), names, fontsize=8)
    if measure == "variance":
        axis.set_yscale("log")
    else:
        axis.axhline(0, color="grey", linewidth=0.5, zorder=0)
