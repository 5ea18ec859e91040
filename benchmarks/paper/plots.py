"""Boxplots like the paper's: groups along the axis, in each a box for every mechanism."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from benchmarks.paper.mechanisms import MECHANISMS

COLOURS = {"MICe-Lap": "#c0504d", "MICr-Lap": "#4472a8", "MICr-Geom": "#6b9e4a"}
WIDTH = 0.25


def boxplots(path, panels, titles, x_label):
    """Draw bias and variance, one column of panels for each of `panels`.

    Parameters
    ----------
    path : Path
        Of the PNG.
    panels : list of dict
        One a column: from (group, mechanism, "bias" or "variance") to an array, groups in order.
    titles : list of str
    x_label : str
    """
    figure, axes = plt.subplots(2, len(panels), figsize=(4.6 * len(panels), 5.6), sharey="row", squeeze=False)
    for column, (panel, title) in enumerate(zip(panels, titles, strict=True)):
        for axis, measure in zip(axes[:, column], ("bias", "variance"), strict=True):
            _draw(axis, panel, measure)
        axes[0, column].set_title(title, fontsize=10)
        axes[1, column].set_xlabel(x_label)
    axes[0, 0].set_ylabel("bias")
    axes[1, 0].set_ylabel("variance")
    drawn = [m for m in MECHANISMS if any(m == mechanism for panel in panels for _, mechanism, _ in panel)]
    handles = [plt.Rectangle((0, 0), 1, 1, color=COLOURS[mechanism]) for mechanism in drawn]
    figure.legend(handles, drawn, ncols=len(drawn), loc="upper center", frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 0.95))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=80)
    plt.close(figure)


def _draw(axis, panel, measure):
    groups = list(dict.fromkeys(group for group, _, _ in panel))
    for offset, mechanism in enumerate(MECHANISMS, start=-1):
        at = [i for i, group in enumerate(groups) if len(panel.get((group, mechanism, measure), ()))]
        if not at:
            continue
        boxes = axis.boxplot(
            [panel[groups[i], mechanism, measure] for i in at],
            positions=[i + offset * WIDTH for i in at],
            widths=0.8 * WIDTH,
            patch_artist=True,
            manage_ticks=False,
            flierprops={"markersize": 1.5, "markeredgecolor": COLOURS[mechanism]},
            medianprops={"color": "black"},
        )
        for box in boxes["boxes"]:
            box.set_facecolor(COLOURS[mechanism])
    axis.set_xticks(range(len(groups)), groups, fontsize=8)
    if measure == "variance":
        axis.set_yscale("log")
    else:
        axis.axhline(0, color="grey", linewidth=0.5, zorder=0)
