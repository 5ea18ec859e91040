"""Draw the pictures that explain the guarantee: python -m benchmarks.explain --output FOLDER.

- neighbours.png: the distribution of a published score, for two tables that differ in one row.
- trust.png: what stays private and what is published.
- guess.png: how often a guess about one person can be right, by epsilon.
- attack.png: how often the attack of benchmarks/attack.py is right, from benchmarks/results/attack.csv.
"""

import argparse
import csv
import math

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from scipy.stats import binomtest

from benchmarks.attack import RESULT as ATTACK
from benchmarks.output import ROOT, add_output, refuse_to_overwrite
from benchmarks.style import BLACK, BLUE, GREY, VERMILION, WIDTH, legible
from skdpmic.privacy.composition import budget_of
from skdpmic.privacy.mechanisms import GRID, LaplaceMechanism, grid_sensitivity
from skdpmic.statistics.sensitivity import mtv_r_sensitivity

IMAGES = ROOT / "docs" / "images"
N_ROWS, EPSILON = 100, 1.0
SCORES = 0.30, 0.32  # without noise; they differ by 2 / n, MTVr's sensitivity, as one row can move them
EDGES = np.linspace(0.195, 0.425, 24)  # of intervals of published scores

# --- Two neighbouring output distributions ----------------------------------------------------------------------------


def published_distribution(score, edges=EDGES, epsilon=EPSILON, n=N_ROWS):
    """Probability that a published score lies in each interval [edge, next edge), with exact Laplace noise."""
    steps = grid_sensitivity(mtv_r_sensitivity(n, knows_target_shares=True), 0)
    scale = LaplaceMechanism.for_budget(budget_of(epsilon), 1, steps).scale
    # The score is published below an edge if the noise has fewer steps than this.
    below = np.ceil(np.asarray(edges) / GRID) - math.floor(score / GRID)
    tail = np.exp(-np.maximum(below, 1 - below) / scale) / (1 + math.exp(-1 / scale))
    return np.diff(np.where(below > 0, 1 - tail, tail))


def draw_neighbours(path):
    """The two distributions, whose ratio is at most exp(epsilon)."""
    figure = Figure(figsize=(WIDTH, 3.6))
    ax = figure.subplots()
    styles = ((BLUE, "solid", "the table"), (VERMILION, "dashed", "one row replaced"))
    for score, (color, line, label) in zip(SCORES, styles, strict=True):
        probabilities = published_distribution(score)
        ax.stairs(probabilities, EDGES, color=color, linestyle=line, linewidth=2, label=f"{label}: {score:.2f}")
        ax.stairs(probabilities, EDGES, color=color, fill=True, alpha=0.12)
    ax.set(xlabel=f"published MTVr score, ε = {EPSILON:g}", ylabel="probability per 0.01", xlim=EDGES[[0, -1]])
    ax.set(ylim=(0, 0.34), xticks=[0.2, 0.25, 0.3, 0.35, 0.4])
    ax.legend(title="score without noise", frameon=False, loc="upper right")
    ax.text(0.2, 0.325, f"ratio at most\nexp(ε) = {math.exp(EPSILON):.2f}", va="top")
    figure.savefig(path)


# --- The trust boundary -----------------------------------------------------------------------------------------------


def draw_trust(path):
    """What stays with the owner of the data, and what leaves."""
    figure = Figure(figsize=(WIDTH, 4))
    ax = figure.subplots()
    _draw_box(ax, (0.0, 0.0, 3.0, 4.0), "#E5EFF6")
    _draw_box(ax, (3.55, 0.0, 1.45, 4.0), "#FBEEDC")
    ax.text(1.5, 3.75, "stays private", ha="center", va="center", weight="bold")
    ax.text(4.275, 3.75, "published", ha="center", va="center", weight="bold")
    inside = {
        (0.15, 2.95, 2.7, 0.5): "table",
        (0.15, 1.75, 2.7, 0.85): "fit: scores without\nnoise, not kept",
        (0.15, 0.15, 2.7, 1.25): "not covered:\nrows from transform,\nmodels, test scores",
    }
    outside = {
        (3.67, 2.4, 1.21, 0.85): "names of\ncolumns",
        (3.67, 1.38, 1.21, 0.85): "noisy\nscores",
        (3.67, 0.15, 1.21, 1.05): "privacy\ncard:\nε spent",
    }
    for place, text in {**inside, **outside}.items():
        _draw_box(ax, place, "white")
        ax.text(place[0] + place[2] / 2, place[1] + place[3] / 2, text, ha="center", va="center", fontsize=12)
    arrow = {"arrowstyle": "-|>", "linewidth": 2, "color": BLACK, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 16}
    ax.annotate("", (1.5, 2.6), (1.5, 2.95), arrowprops=arrow)
    ax.annotate("", (3.6, 2.18), (2.85, 2.18), arrowprops=arrow)
    ax.axvline(3.275, color=VERMILION, linestyle="dashed", linewidth=2)
    on_line = {"ha": "center", "fontsize": 11, "bbox": {"facecolor": "white", "linewidth": 0, "pad": 2}}
    ax.text(3.275, 2.3, "+ noise", va="bottom", **on_line)
    ax.text(3.275, 0.9, "trust boundary", va="center", rotation=90, **on_line)
    ax.set(xlim=(-0.03, 5.03), ylim=(-0.03, 4.03))
    ax.set_axis_off()
    figure.savefig(path)


def _draw_box(ax, place, color):
    x, y, width, height = place
    style = {"boxstyle": "round,pad=0,rounding_size=0.08", "facecolor": color, "edgecolor": "none", "linewidth": 0}
    ax.add_patch(FancyBboxPatch((x, y), width, height, **style))


# --- A guess about one person -----------------------------------------------------------------------------------------


def max_share_right(epsilon):
    """The largest possible share of right guesses between two equally likely answers."""
    return 1 / (1 + np.exp(-np.asarray(epsilon, dtype=float)))


def draw_guess(path):
    """The largest share of right guesses, against epsilon."""
    figure = Figure(figsize=(WIDTH, 3.6))
    ax = figure.subplots()
    epsilons = np.linspace(0, 5, 201)
    ax.plot(epsilons, max_share_right(epsilons), color=BLUE, linewidth=2.2)
    ax.axhline(0.5, color=GREY, linestyle="dotted")
    ax.text(5, 0.49, "tossing a coin", ha="right", va="top", color=GREY)
    for epsilon in (0.1, 0.5, 1, 5):
        share = float(max_share_right(epsilon))
        ax.plot([epsilon], [share], "o", color=VERMILION, markersize=8)
        side = {"ha": "right", "xytext": (-4, -20)} if epsilon == 5 else {"ha": "left", "xytext": (9, -3)}
        ax.annotate(f"ε = {epsilon:g}: {share:.0%}", (epsilon, share), textcoords="offset points", **side)
    ax.set(xlabel="ε", ylabel="share of right guesses, at most", xlim=(-0.1, 5.15), ylim=(0.4, 1.02))
    ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    figure.savefig(path)


# --- An attack --------------------------------------------------------------------------------------------------------


def draw_attack(rows, path):
    """How often the attack guessed right, with 95% intervals, below the bound of the guarantee.

    Parameters
    ----------
    rows : list of dict
        Rows of benchmarks/results/attack.csv.
    path : Path
    """
    figure = Figure(figsize=(WIDTH, 3.2))
    ax = figure.subplots()
    epsilon = float(rows[0]["epsilon"])
    labels = {"SelectKBest": "SelectKBest\nno privacy", "PrivateSelectKBest": f"PrivateSelectKBest\nε = {epsilon:g}"}
    for place, (row, color, marker) in enumerate(zip(rows, (VERMILION, BLUE), "so", strict=True)):
        right, n = int(row["right"]), int(row["tables"])
        lower, upper = binomtest(right, n).proportion_ci(0.95, method="exact")
        share = right / n
        ax.errorbar(share, place, xerr=[[share - lower], [upper - share]], fmt=marker, color=color, capsize=5, ms=9)
        ax.annotate(
            f"{100 * share:.3g}%", (share, place), xytext=(0, 12), textcoords="offset points", ha="center", color=color
        )
    bound = float(max_share_right(epsilon))
    ax.axvline(bound, color=BLACK, linestyle="dashed")
    ax.text(bound + 0.01, 0.42, f"at ε = {epsilon:g}, no attack\nis right more often:\n{bound:.0%}", va="center")
    ax.axvline(0.5, color=GREY, linestyle="dotted")
    ax.text(0.51, -0.45, "a coin", color=GREY, va="center")
    ax.set_yticks(range(len(rows)), [labels[row["selector"]] for row in rows])
    ax.set(xlabel="share of right guesses", xlim=(0.45, 1.02), ylim=(1.6, -0.65))
    ax.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    figure.savefig(path)


def main(argv=None):
    """Draw all four."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_output(parser, IMAGES, what="folder")
    options = parser.parse_args(argv)
    paths = [options.output / f"{name}.png" for name in ("neighbours", "trust", "guess", "attack")]
    refuse_to_overwrite(parser, options, paths)
    with ATTACK.open(encoding="utf-8", newline="") as file:
        attacked = list(csv.DictReader(file))
    neighbours, trust, guess, attack = paths
    with legible():
        draw_neighbours(neighbours)
        draw_trust(trust)
        draw_guess(guess)
        draw_attack(attacked, attack)


if __name__ == "__main__":
    main()
