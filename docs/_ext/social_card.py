"""Draw the picture that messaging apps show for a link to the site: python docs/_ext/social_card.py."""

import textwrap
import tomllib
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

DOCS = Path(__file__).parents[1]
BACKGROUND, WIDTH, HEIGHT = "#0a7d91", 1200, 630  # pixels; the background is that of logo.svg


def draw(description):
    """The card, with the records of the logo: a curve that no correlation detects, on a grid."""
    figure = plt.figure(figsize=(WIDTH / 100, HEIGHT / 100), dpi=100, facecolor=BACKGROUND)
    axes = figure.add_axes((0.6, 0.12, 0.34, 0.76), facecolor=BACKGROUND)
    x = np.linspace(0.1, 0.9, 60)
    axes.scatter(x, 4 * (x - 0.5) ** 2 + 0.2 + np.random.default_rng(0).normal(0, 0.05, x.size), s=90, color="white")
    axes.set(xlim=(0, 1), ylim=(0, 1), xticks=np.linspace(0, 1, 5), yticks=np.linspace(0, 1, 5))
    axes.grid(color="white", alpha=0.3, linewidth=1.5)
    axes.tick_params(length=0, labelbottom=False, labelleft=False)
    axes.spines[:].set_color("#ffffff4d")
    figure.text(0.06, 0.66, "skdpmic", color="white", fontsize=64, weight="bold")
    figure.text(0.06, 0.56, textwrap.fill(description, 30), color="white", fontsize=24, va="top", linespacing=1.5)
    return figure


if __name__ == "__main__":
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    draw(project["description"].split(", by")[0]).savefig(DOCS / "_static" / "social_card.png", facecolor=BACKGROUND)
