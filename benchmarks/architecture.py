"""Draw docs/images/architecture.png: the way of a column through a fit, and of a statistic to those who use it.

python -m benchmarks.architecture
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "architecture.png"
COLUMN = [
    ("selection/", "fit(X, y): parameters are checked"),
    ("table/", "public facts say how to read;\neach value becomes a number by itself"),
    ("statistics/", "public numbers fix the grids\nand how far one record moves a score"),
    ("release/kinds.py", "what is published, and its noise:\nall that can be refused has been"),
    ("release/path.py", "run: the budget is charged …"),
    ("statistics/, privacy/", "… then kernels score the columns,\nand exact noise is drawn"),
    ("selection/", "what was released is kept"),
]
STATISTIC = [
    ("statistics/mtv/", "kernels, defaults,\nsensitivity, null law"),
    ("statistic.py", "one object that\njoins them"),
    ("registry.py", "everything else\nasks for it here"),
    ("selection/", "selectors, scorer,\nprivate_score"),
    ("planning/", "plans"),
    ("search/", "what searches cost"),
    ("compile.py", "its kernels"),
]


def draw_way(ax, title, steps, x, width, color, n_arrows):
    """Draw boxes from top to bottom, the first of them joined by arrows."""
    ax.text(x + width / 2, 7.35, title, ha="center", va="bottom", fontsize=15, fontweight="bold")
    for i, (place, what) in enumerate(steps):
        y = 6.9 - i
        box = {"boxstyle": "round,pad=0.02,rounding_size=0.06", "facecolor": color, "edgecolor": "none"}
        ax.add_patch(matplotlib.patches.FancyBboxPatch((x, y - 0.42), width, 0.78, **box))
        ax.text(x + width / 2, y + 0.2, place, ha="center", va="center", fontsize=12, family="monospace")
        ax.text(x + width / 2, y - 0.14, what, ha="center", va="center", fontsize=11.5, linespacing=1.1)
        if 0 < i <= n_arrows:
            arrow = {"arrowstyle": "-|>", "color": "#444444", "lw": 1.5}
            ax.annotate("", (x + width / 2, y + 0.37), (x + width / 2, y + 0.58), arrowprops=arrow)


def main():
    """Draw and save."""
    figure, ax = plt.subplots(figsize=(7.2, 8.2), layout="constrained")
    draw_way(ax, "A column", COLUMN, 0.0, 3.6, "#d7e8f5", n_arrows=6)
    draw_way(ax, "A statistic", STATISTIC, 3.9, 2.1, "#f7e3cf", n_arrows=3)
    ax.set(xlim=(-0.05, 6.05), ylim=(0.35, 7.75))
    ax.set_axis_off()
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
