"""Pictures of what sets of columns are worth, and of what plans promise."""

from matplotlib.figure import Figure

from benchmarks.selection.ways import NOT_PRIVATE
from benchmarks.sets.ways import FORWARD, RIVAL, SINGLE

_LINES = {
    "auto": {"color": "#0b5394", "marker": "o", "linewidth": 2.4, "label": "PrivateSelectKBest, default"},
    SINGLE: {"color": "black", "marker": "s", "linestyle": "--"},
    "joint": {"color": "#56b4e9", "marker": "^", "linestyle": "-."},
    "redundancy 1": {"color": "#e69f00", "marker": "v", "label": "less redundancy (removed)"},
    RIVAL: {"color": "#cc79a7", "marker": "D", "label": "Kendall less redundancy (Dick et al. 2023)"},
    FORWARD: {"color": "#009e73", "marker": "x", "label": "PrivateForwardSelector"},
}
_FREE = {
    "forward, boosting": {"color": "0.15", "label": "forward selection by boosting"},
    "mRMR, quotient": {"color": "0.45"},
    "mutual information": {"color": "0.7"},
}


def draw_worth(worth, over, copies, path):
    """A panel for the mean over tables, and one for each of two tables in which columns say the same thing."""
    panels = {f"mean of {over['n_tables'].iloc[0]} tables": (over, "lead se")}
    panels |= {name.replace("_", " "): (worth[worth["table"] == name], "worth se") for name in copies}
    figure = Figure(figsize=(4.1 * len(panels), 4.6), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for ax, (title, (rows, error)) in zip(axes, panels.items(), strict=True):
        for way, style in _LINES.items():
            of_way = rows[(rows["way"] == way) & (rows["epsilon"] != NOT_PRIVATE)].sort_values("epsilon")
            ax.plot(of_way["epsilon"], of_way["worth"], **{"label": way, "markersize": 5} | style)
            band = 2 * of_way[error].fillna(0)
            ax.fill_between(
                of_way["epsilon"], of_way["worth"] - band, of_way["worth"] + band, alpha=0.12, color=style["color"]
            )
        for way, style in _FREE.items():
            value = rows[(rows["way"] == way) & (rows["epsilon"] == NOT_PRIVATE)]["worth"]
            ax.axhline(
                value.iloc[0],
                **{"label": way, "linestyle": ":"} | style | {"label": f"{style.get('label', way)}, not private"},
            )
        ax.set(title=title, xscale="log", xlabel="ε", xticks=sorted(set(rows["epsilon"]) - {NOT_PRIVATE}))
        ax.xaxis.set_major_formatter("{x:g}")
        ax.minorticks_off()
    axes[0].set_ylabel("R² or ROC AUC of a boosted model, on new rows")
    lines = axes[0].get_legend_handles_labels()
    figure.legend(*lines, loc="outside lower center", ncols=3, fontsize="small", frameon=False)
    figure.savefig(path, dpi=110)


def draw_promises(promised, path):
    """What is found beside what a plan states, of each table at each epsilon; and the means, by epsilon."""
    figure = Figure(figsize=(8.4, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for is_joint, marker, name in ((0, "o", "single scores"), (1, "^", "joint scores")):
        rows = promised[promised["is joint"] == is_joint]
        left.plot(rows["promised, weak"], rows["found"], marker, color="#0b5394", alpha=0.6, label=name, markersize=5)
    left.plot([0, 1], [0, 1], color="0.5", linewidth=1)
    left.set(
        xlabel="promised, by default (signal='weak')", ylabel="found", title="each table at each ε", aspect="equal"
    )
    left.legend(frameon=False, loc="upper left")
    means = promised.groupby("epsilon").mean(numeric_only=True)
    right.plot(means.index, means["found"], color="black", marker="o", label="found", linewidth=2)
    for signal, style in (("strong", ":"), ("typical", "--"), ("weak", "-")):
        right.plot(means.index, means[f"promised, {signal}"], style, color="#0b5394", label=f"promised, {signal!r}")
    right.set(xscale="log", xlabel="ε", title="mean of all tables", ylim=(0, 1.02), xticks=list(means.index))
    right.xaxis.set_major_formatter("{x:g}")
    right.minorticks_off()
    right.legend(frameon=False, loc="lower right")
    figure.savefig(path, dpi=110)
