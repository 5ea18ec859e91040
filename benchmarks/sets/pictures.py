"""Pictures of what sets of columns are worth, and of what plans promise."""

from matplotlib.figure import Figure

from benchmarks.selection.ways import NOT_PRIVATE
from benchmarks.sets.promises import found, standard_error
from benchmarks.sets.ways import RIVAL, SINGLE
from benchmarks.style import BLACK, BLUE, GREY, ORANGE, PURPLE, WIDTH, legible

# Four lines, as many as a reader can compare; the report has all ways.
_LINES = {
    "auto": {"color": BLUE, "marker": "o", "linewidth": 2.4, "label": "PrivateSelectKBest, default"},
    SINGLE: {"color": BLACK, "marker": "s", "linestyle": "dashed"},
    RIVAL: {"color": PURPLE, "marker": "D", "label": "Kendall less redundancy (Dick et al. 2023)"},
}
_FREE = {
    "forward, boosting": {"color": BLACK, "linestyle": "solid", "label": "forward selection by boosting"},
}
_SMALL = {"font.size": 11, "axes.titlesize": 11, "axes.labelsize": 11, "legend.fontsize": 10}


def draw_worth(worth, over, copies, path):
    """A panel for the mean over tables, and one for each of two tables with redundant columns."""
    panels = {f"mean of {over['n_tables'].iloc[0]} tables": (over, "lead se")}
    panels |= {name.replace("_", " "): (worth[worth["table"] == name], "worth se") for name in copies}
    with legible(**_SMALL):
        figure = Figure(figsize=(WIDTH, 2.6 * len(panels) + 2.4))
        axes = figure.subplots(len(panels), 1, squeeze=False)[:, 0]
        for ax, (title, (rows, error)) in zip(axes, panels.items(), strict=True):
            _draw_private(ax, rows, error)
            for way, style in _FREE.items():
                value = rows[(rows["way"] == way) & (rows["epsilon"] == NOT_PRIVATE)]["worth"]
                ax.axhline(value.iloc[0], **style | {"label": f"{style.get('label', way)}, not private"}, linewidth=1.2)
            ax.set(title=title, xscale="log", ylabel="R² or ROC AUC")
            ax.set_xticks(sorted(set(rows["epsilon"]) - {NOT_PRIVATE}))
            ax.xaxis.set_major_formatter("{x:g}")
            ax.minorticks_off()
        axes[-1].set_xlabel("ε")
        figure.suptitle("a boosted model on the chosen columns, on new rows\nbands: two standard errors")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", frameon=False)
        figure.savefig(path)


def _draw_private(ax, rows, error):
    for way, style in _LINES.items():
        of_way = rows[(rows["way"] == way) & (rows["epsilon"] != NOT_PRIVATE)].sort_values("epsilon")
        ax.plot(of_way["epsilon"], of_way["worth"], **{"label": way} | style)
        band = 2 * of_way[error].fillna(0)
        ends = of_way["worth"] - band, of_way["worth"] + band
        ax.fill_between(of_way["epsilon"], *ends, alpha=0.12, color=style["color"])


def draw_promises(promised, path):
    """The share found against what a plan states, for each table at each epsilon, and the means by epsilon."""
    with legible(**_SMALL):
        figure = Figure(figsize=(WIDTH, 7.6))
        each, mean = figure.subplots(2, 1, height_ratios=(1.3, 1))
        promised = promised.assign(found=[found(promised.iloc[[i]]) for i in range(len(promised))])
        for is_joint, color, marker, name in ((0, BLUE, "o", "single scores"), (1, ORANGE, "^", "joint scores")):
            rows = promised[promised["is joint"] == is_joint]
            each.plot(rows["promised, weak"], rows["found"], marker, color=color, alpha=0.8, label=name)
        each.plot([0, 1], [0, 1], color=GREY, linewidth=1)
        each.set(xlabel="promised, by default (signal='weak')", ylabel="share found", title="each table at each ε")
        each.set(xlim=(0, 1.02), ylim=(0, 1.02))
        each.legend(frameon=False, loc="upper left")
        _draw_means(mean, promised.groupby("epsilon"))
        figure.savefig(path)


def _draw_means(ax, by_epsilon):
    means, shares = by_epsilon.mean(numeric_only=True), by_epsilon.apply(found)
    error = 2 * by_epsilon.apply(standard_error)
    ax.fill_between(means.index, shares - error, (shares + error).clip(upper=1), color=BLACK, alpha=0.15, linewidth=0)
    ax.plot(means.index, shares, color=BLACK, marker="o", label="found")
    for signal, line in (("strong", "dotted"), ("typical", "dashed"), ("weak", "solid")):
        ax.plot(means.index, means[f"promised, {signal}"], color=BLUE, linestyle=line, label=f"promised, {signal!r}")
    title = "mean of all tables; band: two standard errors"
    ax.set(xscale="log", xlabel="ε", ylabel="share found", title=title, ylim=(0, 1.02), xticks=list(means.index))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.minorticks_off()
    ax.legend(frameon=False, loc="lower right")
