"""Two parties, the published protocol, and a trusted curator: python -m benchmarks.two_party [--picture].

It measures what benchmarks/results/two_party.csv lacks; --picture draws docs/images/two_parties.png from it. For each
relationship, number of records and epsilon, over tables with independent noise:

- ours: RandomizedResponse at epsilon, then TwoPartyScorer, against the distance correlation of the population;
- ours, published: the same, with the target also published at epsilon;
- PNC as printed: equation 4 with one block, sigma of Theorem 4 at delta = 1e-6, epsilon for each of its two releases,
  against the square of the distance correlation, which is what it estimates, and clamped to [0, 1] in its favour;
- curator: private_score of ranks, against the same without noise;
- no privacy: the sample's distance correlation against that of the population.

Relationships on which the numbers of parts were chosen are not among these.
"""

import argparse
import csv
import math
import warnings
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
from tqdm import tqdm

from benchmarks.output import add_output, refuse_to_overwrite
from benchmarks.published_pnc import squared_correlation, u_statistic
from benchmarks.store import seed_of
from benchmarks.style import BLUE, GREEN, GREY, ORANGE, VERMILION, WIDTH, legible
from skdpmic import PrivacyLeakWarning, private_score
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
NAMES = ("relationship", "n", "epsilon", "method", "truth", "mean", "mean_error", "standard_error", "n_tables")
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


def errors(kind, n, epsilon, truth, rng):
    """The estimate of each method for one table, and the truth."""
    x, y = RELATIONSHIPS[kind](rng, n)
    sent = reports_of(x, epsilon)
    yield "ours", TwoPartyScorer().fit(sent, y).scores_[0], truth
    publisher = TwoPartyScorer(target_bounds=TARGET_BOUNDS, epsilon=epsilon)
    yield "ours, published", publisher.fit(sent, y).scores_[0], truth
    yield "PNC as printed", np.clip(squared_correlation(x, y, epsilon, DELTA, rng), 0.0, 1.0), truth**2
    yield "no privacy", correlation(x, y), truth
    exact = private_score(x, y, statistic="distance_correlation", epsilon=math.inf)
    yield "curator", private_score(x, y, statistic="distance_correlation", epsilon=epsilon), exact


def configurations():
    """Relationships, numbers of records and epsilon, with those in the picture first."""
    pairs = list(product(RELATIONSHIPS, SIZES))
    first = [(kind, n, 1.0) for kind, n in pairs]
    return first + [(kind, n, epsilon) for kind, n in pairs for epsilon in EPSILONS.get(kind, ()) if epsilon != 1]


def main(argv=None):
    """Measure what the file lacks, or draw what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", action="store_true", help="draw the picture from the file")
    add_output(parser, PICTURE, "picture")
    given = parser.parse_args(argv)
    warnings.simplefilter("ignore", PrivacyLeakWarning)
    if given.picture:
        refuse_to_overwrite(parser, given)
        return draw(list(csv.DictReader(FILE.open())), given.output)
    done = list(csv.DictReader(FILE.open())) if FILE.exists() else []
    done = {(row["relationship"], int(row["n"]), float(row["epsilon"])) for row in done}
    with FILE.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not done:
            writer.writerow(NAMES)
        for kind, n, epsilon in tqdm([one for one in configurations() if one not in done]):
            truth_of_all = population(kind)
            rng = np.random.default_rng(seed_of(("two_party", kind, n, epsilon)))
            found = {}
            for _ in range(N_TABLES[n]):
                for method, value, truth in errors(kind, n, epsilon, truth_of_all, rng):
                    found.setdefault(method, []).append((value, abs(value - truth), truth))
            for method, of_tables in found.items():
                value, error, truth = np.mean(of_tables, axis=0)
                se = np.std([error for _, error, _ in of_tables]) / math.sqrt(len(of_tables))
                numbers = [f"{number:.4f}" for number in (truth, value, error, se)]
                writer.writerow([kind, n, epsilon, method, *numbers, len(of_tables)])
            file.flush()
    return None


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
        chosen = [r for r in rows if (r["relationship"], r["method"], float(r["epsilon"])) == (kind, method, 1.0)]
        n, error, se = (np.array([float(r[name]) for r in chosen]) for name in ("n", "mean_error", "standard_error"))
        style = {"color": color, "marker": marker, "linestyle": line, "markersize": 4, "capsize": 2, "linewidth": 1.4}
        ax.errorbar(n, error, 2 * se, label={"curator": "trusted curator (ranks)"}.get(method, method), **style)
    truth = next(float(r["truth"]) for r in rows if r["relationship"] == kind and r["method"] == "ours")
    ax.set(title=f"{kind} ({truth:.2f})", xscale="log", yscale="log")
    ax.set_xticks([1000, 10_000], ["1,000", "10,000"])
    ax.minorticks_off()
    ax.grid(alpha=0.3)


if __name__ == "__main__":
    main()
