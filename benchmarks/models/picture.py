"""Draw docs/images/private_model.png from results/models.csv: python -m benchmarks.models.picture --output FILE."""

import argparse

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from benchmarks.models.__main__ import EPSILONS
from benchmarks.models.report import kept, mean_auc
from benchmarks.output import ROOT, add_output, refuse_to_overwrite

PICTURE = ROOT / "docs" / "images" / "private_model.png"
CURVES = {  # colour and style, label
    "additive": ("#0072b2", "o-", "skdpmic, all columns"),
    "noisy gradients": ("#009e73", "s--", "noisy gradients"),
    "DP-EBM": ("#d55e00", "^:", "DP-EBM"),
    "diffprivlib, logistic regression": ("#666666", "v-.", "diffprivlib"),
}


def draw(path):
    """Mean ROC AUC of eight tables by total epsilon, on people whom no model has seen."""
    scores = kept()
    figure, ax = plt.subplots(figsize=(5, 3.8), layout="constrained")
    for way, (colour, style, label) in CURVES.items():
        areas = [mean_auc(scores, way, epsilon) for epsilon in EPSILONS]
        ax.plot(EPSILONS, areas, style, color=colour, linewidth=2.5, label=label)
    ax.set_xscale("log")
    ax.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
    ax.minorticks_off()
    ax.tick_params(labelsize=12)
    ax.set_xlabel("ε in total", fontsize=12)
    ax.set_ylabel("mean ROC AUC", fontsize=12)
    ax.legend(loc="lower right", fontsize=12, frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=200)


def main(argv=None):
    """Draw and save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_output(parser, PICTURE)
    options = parser.parse_args(argv)
    refuse_to_overwrite(parser, options)
    draw(options.output)


if __name__ == "__main__":
    main()
