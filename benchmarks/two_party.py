"""Two parties, the published protocol, and a trusted curator: python -m benchmarks.two_party [--picture].

It measures what benchmarks/results/two_party.csv lacks; --picture draws docs/images/two_parties.png from it. For each
relationship, number of records and epsilon, over tables with independent noise:

- ours: RandomizedResponse at epsilon, then TwoPartyScorer, against the distance correlation of the population;
- ours, published: the same, with the target also published at epsilon;
- PNC as printed: equation 4 with one block, sigma of Theorem 4 at delta = 1e-6, epsilon for each of its two releases,
  against the square of the distance correlation, which is what it estimates, and clamped to [0, 1] in its favour;
- curator: a private score of ranks, against the same without noise; measured at commit 64ec2246, which had it;
- no privacy: the sample's distance correlation against that of the population.

Relationships on which the numbers of parts were chosen are not among these.
"""

import argparse
import math
import warnings
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.output import add_output, refuse_to_overwrite
from benchmarks.published_pnc import squared_correlation, u_statistic
from benchmarks.store import completed, seed_of
from benchmarks.style import BLUE, GREEN, GREY, ORANGE, VERMILION, WIDTH, legible
from skdpmic import PrivacyLeakWarning
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer
from skdpmic.two_party.distance_correlation import (
    Numbers,
    distance_covariance,
    distance_variance,
    part_centres,
)

FILE = Path(__file__).parent / "results" / "two_party.csv"
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "two_parties.png"
SIZES, DELTA = (500, 2000, 10_000, 50_000), 1e-6
EPSILONS = {"line": (0.5, 1.0, 5.0), "parabola": (0.5, 1.0, 5.0)}  # only 1 for the others
N_TABLES = {500: 50, 2000: 50, 10_000: 30, 50_000: 8}
STYLES = {
    "PNC as printed": (VERMILION, "s", "dashed"),
    "ours, published": (ORANGE, "v", "dashdot"),
    "ours": (BLUE, "o", "solid"),
    "no privacy": (GREY, "x", "dotted"),
    "curator": (GREEN, "^", "solid"),
}


def line(rng, n):
    x = rng.random(n)
    return x, x + 0.25 * rng.standard_normal(n)


def parabola(rng, n):
    x = rng.random(n)
    return x, (2 * x - 1) ** 2 + 0.12 * rng.standard_normal(n)


def circle(rng, n):
    angle = 2 * np.pi * rng.random(n)
    return (1 + np.cos(angle)) / 2, np.sin(angle) + 0.1 * rng.standard_normal(n)


def exponential(rng, n):
    x = rng.random(n)
    return x, np.exp(3 * x) / 10 + 0.3 * rng.standard_normal(n)


def stairs(rng, n):
    x = rng.random(n)
    return x, np.floor(3 * x) / 3 + 0.15 * rng.standard_normal(n)


def independent(rng, n):
    return rng.random(n), 0.5 * rng.standard_normal(n)


RELATIONSHIPS = {kind.__name__: kind for kind in (line, parabola, circle, exponential, stairs, independent)}
BOUNDS, TARGET_BOUNDS = (0, 1), (-1.5, 3)


def correlation(x, y):
    """The distance correlation of a sample, unbiased before the root."""
    product = u_statistic(x, x) * u_statistic(y, y)
    return math.sqrt(max(u_statistic(x, y) / math.sqrt(product), 0.0))


@lru_cache
def population(kind, n=40_000, n_parts=200):
    """The distance correlation of the population, to two digits: that of many records, with x in many parts."""
    if kind == "independent":
        return 0.0
    squares, rng = [], np.random.default_rng(0)
    for _ in range(10):
        x, y = RELATIONSHIPS[kind](rng, n)
        parts, target, ones = np.minimum((n_parts * x).astype(int), n_parts - 1), Numbers(y), np.ones(n)
        centres = part_centres(n_parts)
        covariance = distance_covariance(parts, target, ones, np.abs(centres[:, np.newaxis] - centres)).value
        own, spread = (distance_variance(column, ones).value for column in (Numbers(centres[parts]), target))
        squares.append(covariance / math.sqrt(own * spread))
    return math.sqrt(np.mean(squares))


def reports_of(x, epsilon):
    """What the party that holds x sends."""
    x = x[:, np.newaxis]
    alice = RandomizedResponse(epsilon, BOUNDS).fit(x)
    return alice.to_arrow(alice.transform(x))


def estimate(method, x, y, epsilon, truth, rng):
    """What a method makes of one table, and what it estimates."""
    if method in ("ours", "ours, published"):
        public = {} if method == "ours" else {"target_bounds": TARGET_BOUNDS, "epsilon": epsilon}
        return TwoPartyScorer(**public).fit(reports_of(x, epsilon), y).scores_[0], truth
    if method == "PNC as printed":
        return np.clip(squared_correlation(x, y, epsilon, DELTA, rng), 0.0, 1.0), truth**2
    return correlation(x, y), truth


def measure(configuration, _):
    """Means over tables, which are the same for all methods."""
    kind, n, epsilon, method = configuration.values()
    found = []
    for repeat in range(N_TABLES[n]):
        rng = np.random.default_rng(seed_of(("two_party", kind, n, epsilon, repeat)))
        value, truth = estimate(method, *RELATIONSHIPS[kind](rng, n), epsilon, population(kind), rng)
        found.append((truth, value, abs(value - truth)))
    truth, value, error = np.mean(found, axis=0)
    se = np.std([error for *_, error in found]) / math.sqrt(len(found))
    return {"truth": truth, "mean": value, "mean_error": error, "standard_error": se, "n_tables": len(found)}


def configurations():
    """All methods for each relationship, number of records and epsilon; those of the picture first."""
    pairs = list(product(RELATIONSHIPS, SIZES))
    first = [(kind, n, 1.0) for kind, n in pairs]
    others = [(kind, n, epsilon) for kind, n in pairs for epsilon in EPSILONS.get(kind, ()) if epsilon != 1]
    names = ("relationship", "n", "epsilon", "method")
    return [dict(zip(names, (*of, method), strict=True)) for of in first + others for method in STYLES]


def main(argv=None):
    """Measure what the file lacks, or draw what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", action="store_true", help="draw the picture from the file")
    add_output(parser, PICTURE, "picture")
    given = parser.parse_args(argv)
    warnings.simplefilter("ignore", PrivacyLeakWarning)
    if given.picture:
        refuse_to_overwrite(parser, given)
    rows = completed(FILE, configurations(), measure, "two parties")
    if given.picture:
        draw(rows, given.output)


def draw(rows, path):
    """Mean errors against the number of records, at epsilon = 1, with two standard errors."""
    from matplotlib.figure import Figure

    with legible(**{"font.size": 10, "axes.titlesize": 10, "legend.fontsize": 10, "axes.labelsize": 10}):
        figure = Figure(figsize=(WIDTH, 7.6))
        axes = figure.subplots(3, 2, sharex=True, sharey=True)
        for ax, kind in zip(axes.flat, RELATIONSHIPS, strict=True):
            _draw_relationship(ax, rows, kind)
        for ax in axes[-1]:
            ax.set_xlabel("records")
        figure.supylabel("mean error", fontsize=10)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
        figure.suptitle("distance correlation at ε = 1, its value in brackets\nbars: two standard errors")
        figure.savefig(path)


def _draw_relationship(ax, rows, kind):
    for method, (color, marker, line) in STYLES.items():
        chosen = [r for r in rows if (r["relationship"], r["method"], r["epsilon"]) == (kind, method, 1.0)]
        n, error, se = (np.array([r[name] for r in chosen]) for name in ("n", "mean_error", "standard_error"))
        style = {"color": color, "marker": marker, "linestyle": line, "markersize": 4, "capsize": 2, "linewidth": 1.4}
        ax.errorbar(n, error, 2 * se, label={"curator": "trusted curator (ranks)"}.get(method, method), **style)
    truth = next(r["truth"] for r in rows if r["relationship"] == kind and r["method"] == "ours")
    ax.set(title=f"{kind} ({truth:.2f})", xscale="log", yscale="log")
    ax.set_xticks([1000, 10_000], ["1,000", "10,000"])
    ax.minorticks_off()
    ax.grid(alpha=0.3)


if __name__ == "__main__":
    main()
