"""Draw docs/images/private_model.png from results/model.csv: python -m benchmarks.ends.picture --output FILE."""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas

from benchmarks.output import ROOT, add_output, refuse_to_overwrite

RESULTS, PICTURE = Path(__file__).parent / "results" / "model.csv", ROOT / "docs" / "images" / "private_model.png"
REGULARISED = "logistic regression, C=0.1"
CURVES = {  # model and columns, colour and style, label and where it stands
    ("logistic regression", "chosen"): ("#0072b2", "o-", "five private columns", (0.115, 0.925)),
    ("logistic regression", "all"): ("#d55e00", "s--", "all columns", (0.55, 0.765)),
    (REGULARISED, "all"): ("#666666", "^:", "all columns,\nregularisation\nchosen in hindsight", (0.3, 0.585)),
}


def draw(path):
    """Means of ten runs by total epsilon, with two standard errors, on people whom no model has seen."""
    results = pandas.read_csv(RESULTS)
    figure, ax = plt.subplots(figsize=(5, 3.8), layout="constrained")
    for (model, columns), (colour, style, label, place) in CURVES.items():
        curve = results[(results["model"] == model) & (results["columns"] == columns) & (results["epsilon"] <= 5)]
        ax.plot(curve["epsilon"], curve["auc"], style, color=colour, linewidth=2.5)
        lower, upper = curve["auc"] - 2 * curve["se"], curve["auc"] + 2 * curve["se"]
        ax.fill_between(curve["epsilon"], lower, upper, color=colour, alpha=0.2, linewidth=0)
        ax.text(*place, label, color=colour, fontsize=12, va="center")
    ax.set_xscale("log")
    ticks = (0.1, 0.25, 0.5, 1, 2, 5)
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.set_ylim(0.5, 1)
    ax.tick_params(labelsize=12)
    ax.set_xlabel("ε in total, for choice and model", fontsize=12)
    ax.set_ylabel("ROC AUC of the private model", fontsize=12)
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
