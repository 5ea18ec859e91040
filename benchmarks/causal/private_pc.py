"""PrivatePC on networks with known graphs: python -m benchmarks.causal.private_pc [--picture].

It measures what the result file lacks, and prints its table.

results/causal_networks.csv has, for each network, number of records, epsilon and seed, the structural Hamming distance
to the network's CPDAG, and the F1 score of the skeleton's edges. Columns are categorical, delta = 1e-6, alpha = 0.01
and max_order = 3, the defaults. At n = 100,000, epsilon is 0.1 ... 10, infinite, and what Priv-PC (2020) claims for its
best result; at other n, it is 1.

--picture draws docs/images/causal.png: both measures against epsilon and against n, with bands of
two standard errors.

The seeds of the tables are not those on which the constants of the tests were chosen.
"""

import argparse
import math
import sys
import warnings
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.causal.graph_measures import skeleton_f1, structural_hamming_distance
from benchmarks.causal.networks import network
from benchmarks.output import add_output, refuse_to_overwrite, table
from benchmarks.store import completed
from benchmarks.style import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, WIDTH, legible
from skdpmic.causal import PrivatePC

RESULTS = Path(__file__).parents[1] / "results"
IMAGE = Path(__file__).parents[2] / "docs" / "images" / "causal.png"
DELTA, N = 1e-6, 100_000
N_SEEDS = {"child": 5}  # where a fit takes seconds; 10 for the others
EPSILONS, SIZES = (0.1, 0.3, 1.0, 3.0, 10.0, math.inf), (1000, 3000, 10_000, 30_000)
CLAIMED = {"earthquake": 28.9, "cancer": 30.7, "asia": 46.0, "survey": 7.5, "sachs": 112.0, "child": 394.0}
DISTANCES = {"earthquake": 0.0, "cancer": 1.7, "asia": 4.0, "survey": 2.3, "sachs": 12.7, "child": 17.0}  # at CLAIMED


def fit(net, n, epsilon, seed):
    """PrivatePC fitted to a table drawn from the network."""
    categories = {j: list(range(size)) for j, size in enumerate(net.sizes)}
    private = PrivatePC(epsilon, DELTA, categories=categories, random_state=seed)
    return private.fit(net.sample(n, 1000 + seed))


def measures(private, cpdag):
    found = np.asarray(private.cpdag_)
    return {"distance": structural_hamming_distance(found, cpdag), "f1": skeleton_f1(found, cpdag)}


def measures_on_network(configuration, _):
    net = network(configuration["network"])
    private = fit(net, configuration["n"], configuration["epsilon"], configuration["seed"])
    return measures(private, net.cpdag)


def seeds_of(name):
    return range(N_SEEDS.get(name, 10))


def configurations():
    at = [(N, epsilon) for epsilon in EPSILONS] + [(n, 1.0) for n in SIZES]
    for name in CLAIMED:
        for (n, epsilon), seed in product([*at, (N, CLAIMED[name])], seeds_of(name)):
            yield {"network": name, "n": n, "epsilon": epsilon, "seed": seed}


def mean_and_error(rows, measure, **wanted):
    """Mean and standard error of a measure over the rows with these settings."""
    values = [row[measure] for row in rows if all(row[name] == value for name, value in wanted.items())]
    return np.mean(values), np.std(values, ddof=1) / math.sqrt(len(values))


def draw(rows, path):
    """Both measures against epsilon and against n, with bands of two standard errors."""
    from matplotlib.figure import Figure

    styles = zip((BLUE, SKY, GREEN, ORANGE, VERMILION, PURPLE), "osD^vX", strict=True)
    with legible(**{"font.size": 10, "axes.titlesize": 10, "axes.labelsize": 10, "legend.fontsize": 10}):
        figure = Figure(figsize=(WIDTH, 6.2))
        axes = figure.subplots(2, 2, sharex="col", sharey="row")
        for name, style in zip(CLAIMED, styles, strict=True):
            for row, measure in zip(axes, ("f1", "distance"), strict=True):
                _draw_network(row, rows, name, measure, style)
        for axis in axes.flat:
            axis.set_xscale("log")
            axis.grid(color="0.9")
        axes[1, 0].set_xticks([0.1, 1, 10, 20], ["0.1", "1", "10", "∞"])
        axes[1, 1].set_xticks([1000, 10_000, N], ["1,000", "10,000", f"{N:,}"])
        for axis in axes[1]:
            axis.minorticks_off()
        axes[0, 0].set(ylabel="F1 of the skeleton", ylim=(0, 1.02), title=f"{N:,} records")
        axes[0, 1].set_title("ε = 1")
        axes[1, 0].set(ylabel="structural Hamming distance", xlabel="ε", ylim=(0, None))
        axes[1, 1].set_xlabel("records")
        figure.suptitle("δ = 1e-6; bands: two standard errors", fontsize=10)
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
        figure.savefig(path)


def _draw_network(row, rows, name, measure, style):
    """A curve against epsilon, with a point for no noise, and one against n."""
    color, marker = style
    finite, sizes = [epsilon for epsilon in EPSILONS if epsilon < math.inf], [*SIZES, N]
    along_epsilon = [mean_and_error(rows, measure, network=name, n=N, epsilon=epsilon) for epsilon in finite]
    along_n = [mean_and_error(rows, measure, network=name, n=n, epsilon=1.0) for n in sizes]
    most = 1 if measure == "f1" else None
    label = f"{name} ({network(name).dag.sum()} edges)"
    for axis, x, points in zip(row, (finite, sizes), (along_epsilon, along_n), strict=True):
        mean, error = np.array(points).T
        axis.plot(x, mean, color=color, marker=marker, label=label, markersize=4)
        ends = (mean - 2 * error).clip(0), (mean + 2 * error).clip(max=most)
        axis.fill_between(x, *ends, color=color, alpha=0.15, linewidth=0)
    mean, error = mean_and_error(rows, measure, network=name, n=N, epsilon=math.inf)
    row[0].errorbar([20], [mean], [2 * error], color=color, fmt=marker, markersize=5, clip_on=False)


def report(rows):
    """The table of benchmarks/results/causal.md."""
    body = []
    for name, claimed in CLAIMED.items():
        measured_at = [("distance", 1.0), ("f1", 1.0), ("distance", math.inf), ("distance", claimed)]
        found = [mean_and_error(rows, measure, network=name, n=N, epsilon=epsilon) for measure, epsilon in measured_at]
        at_one, f1, at_infinity, at_claim = (
            f"{mean:.{digits}f} ± {error:.{digits}f}" for (mean, error), digits in zip(found, (1, 2, 1, 1), strict=True)
        )
        cells = [at_one, f1, at_infinity, f"{at_claim} ({claimed:g})", str(DISTANCES[name])]
        body.append([name, str(network(name).dag.sum()), *cells])
    heads = ["SHD at 1", "F1 at 1", "SHD at infinity", "SHD at Priv-PC's epsilon", "Priv-PC there"]
    return table(["network", "edges", *heads], body)


def measured():
    """Rows for the networks; those missing from the file are measured first."""
    return completed(RESULTS / "causal_networks.csv", list(configurations()), measures_on_network, "networks")


def main(argv=None):
    """Measure what the file lacks, and print the table; draw the picture if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", action="store_true", help="draw the picture")
    add_output(parser, IMAGE, "picture")
    options = parser.parse_args(argv)
    if options.picture:
        refuse_to_overwrite(parser, options)
    rows = measured()
    print(report(rows))
    if options.picture:
        draw(rows, options.output)


if __name__ == "__main__":
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # about seeds, and about noise that exceeds the signal
    main()
