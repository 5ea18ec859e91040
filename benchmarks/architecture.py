"""Draw docs/images/architecture.png: what a fit does with a column, and which packages use a statistic.

python -m benchmarks.architecture --output FILE
"""

import argparse
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from benchmarks.output import add_output, refuse_to_overwrite
from benchmarks.style import WIDTH, legible

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "architecture.png"
COLUMN = [
    ("selection/scoring_plan.py", "_plan() checks the parameters\nand resolves them once"),
    ("selection/sources.py, table/", "read() turns each value into a\nnumber, by public bounds and labels"),
    ("release/kinds.py, statistics/", "ready() decides on cost, noise and\nwarnings, from public facts only"),
    ("release/path.py", "publish() charges the ledger"),
    ("statistics/", "kernels score the columns"),
    ("privacy/", "exact noise is drawn"),
    ("release/path.py", "store() is the first write"),
]
STATISTIC = [
    ("statistics/mtv/", "kernels, defaults,\nsensitivity, null law"),
    ("statistic.py", "one object that\njoins them"),
    ("registry.py", "where all others\nlook it up"),
    ("selection/", "selectors, scorer,\nprivate_score"),
    ("planning/", "plans"),
    ("search/", "cost of searches"),
    ("compile.py", "compiles its kernels"),
]


def draw_path(ax, title, steps, x, width, color, n_arrows):
    """Draw boxes from top to bottom, the first of them joined by arrows."""
    ax.text(x + width / 2, 7.35, title, ha="center", va="bottom", fontsize=12, fontweight="bold")
    for i, (place, what) in enumerate(steps):
        y = 6.9 - i
        box = {"boxstyle": "round,pad=0.02,rounding_size=0.06", "facecolor": color, "edgecolor": "none"}
        ax.add_patch(FancyBboxPatch((x, y - 0.42), width, 0.78, **box))
        ax.text(x + width / 2, y + 0.2, place, ha="center", va="center", fontsize=10, family="monospace")
        ax.text(x + width / 2, y - 0.14, what, ha="center", va="center", fontsize=10, linespacing=1.1)
        if 0 < i <= n_arrows:
            arrow = {"arrowstyle": "-|>", "color": "#444444", "lw": 1.5}
            ax.annotate("", (x + width / 2, y + 0.37), (x + width / 2, y + 0.58), arrowprops=arrow)


def main(argv=None):
    """Draw and save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_output(parser, PICTURE)
    options = parser.parse_args(argv)
    refuse_to_overwrite(parser, options)
    with legible():
        figure = Figure(figsize=(WIDTH, 7.4))
        ax = figure.subplots()
        draw_path(ax, "A column in a fit", COLUMN, 0.0, 3.0, "#d7e8f5", n_arrows=6)
        draw_path(ax, "A statistic", STATISTIC, 3.1, 1.9, "#f7e3cf", n_arrows=3)
        ax.set(xlim=(-0.03, 5.03), ylim=(0.4, 7.7))
        ax.set_axis_off()
        figure.savefig(options.output)


if __name__ == "__main__":
    main()
