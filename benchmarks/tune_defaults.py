"""Make and check MICr's table defaults_miller_madow.csv: B and c for each n, epsilon and kind of target.

    python -m benchmarks.tune_defaults choose check

choose  makes the table: the cheapest B and c with nearly the least error, on samples of seed 0.
check   the error of the automatic choice beside the least of the grid, on samples of seed 2, also between the n and the
        epsilon of the table; makes defaults_miller_madow.csv in benchmarks/results, and its picture in docs/images.

It takes half an hour on one core. Commit 2a2d595 also has the program for MICr without a correction. The noise-free
MICr of every sample at all B and c of the grid is kept in --cache, one file per repetition, and an interrupted run
resumes from there. `--quick` takes a minute: few n, distributions and repetitions. Existing files are replaced only
with --overwrite; otherwise, give a run its own --table, --results and --images.

The error is the weighted sum of Lazarsfeld, Johnson and Adeniran (ICML 2022), Appendix E.2.3: the mean unsigned error
of the private score against MIC*, over distributions, weighted so that all values of MIC* count alike. The noise is not
drawn, because the mean over it has a closed form.
"""

import argparse
import math
from collections import defaultdict
from functools import cache
from itertools import product
from pathlib import Path
from unittest import mock

import numpy as np
from scipy.special import entr, ndtr
from tqdm import tqdm

from benchmarks.output import refuse_to_overwrite, write_csv
from benchmarks.population import best_information
from benchmarks.style import BLUE, GREEN, ORANGE, PURPLE, VERMILION, WIDTH, legible
from skdpmic.datasets import load_mic_star, relationship
from skdpmic.statistics.mic import mic_r
from skdpmic.statistics.mic.mic_r import (
    ClassTargetScorer,
    NumericTargetScorer,
    closed_plan,
    continuous_plan,
    discrete_plan,
    needed_grids,
)
from skdpmic.statistics.mic.statistic import TABLES, default_B, default_c
from skdpmic.statistics.sensitivity import mic_r_sensitivity

ROOT = Path(__file__).resolve().parents[1]
MM = "miller-madow"
UNIT = (0.0, 1.0)

# How often the 189 distributions are sampled: one seed to choose, and another to check, also at n between those of the
# table. Seed 1 was used more than once while the table was made, so it is not used again.
CHOICE, CHECK = 0, 2
REPETITIONS = {
    CHOICE: {25: 3, 50: 3, 100: 3, 250: 3, 500: 3, 1000: 2, 4000: 3, 10_000: 2, 30_000: 1, 100_000: 1},
    CHECK: {35: 2, 100: 2, 350: 2, 1000: 2, 2500: 1, 5000: 2, 10_000: 1, 60_000: 1},
}
EPSILONS = (0.001, 0.01, 0.1, 1.0, 10.0)
CHECKED = tuple(10 ** (i / 2) for i in range(-6, 3))  # also between those of the table
KINDS = (0, 2, 3, 5, 10)  # classes of the target; 0 stands for a continuous one
KEYS = sorted(load_mic_star())
SLACK = 0.005  # how close to the best counts as best
KEEP = 0.05  # and for the setting of a larger epsilon

# B is the square of the most merged parts: between squares, only the fixed parts grow.
B_GRID = tuple(k * k for k in (*range(2, 17), 18, 20, 22, 24, 28))
C_GRID = (2, 3, 4, 5, 6, 8, 10, 12)
C_OF_CLASSES = (1, 2, 3, 5, 8)
PARTS_GRID = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48)  # B / n_classes, merged parts of the feature against classes

# Steps that a score of n records may take, see `steps` and `time_limit`.
TIME = {1000: 160_000, 5000: 800_000, 10_000: 1_500_000, 30_000: 3_000_000}

# --- The settings and what they cost in time ----------------------------------------------------------------------


def settings(n, n_classes):
    """All (B, c) of the grid for a target with that many classes."""
    many = n >= 30_000  # small ones are never best here, and each takes a pass over the records
    if n_classes:
        parts = [size for size in PARTS_GRID if size * n_classes <= 4 * n and (not many or size >= 12)]
        grid = [(max(size * n_classes, 4), c) for size, c in product(parts, C_OF_CLASSES) if not many or c >= 3]
    else:
        grid = [(B, c) for B, c in product(B_GRID, C_GRID) if B <= n and (not many or (B >= 100 and c >= 3))]
    return [setting for setting in grid if steps(*setting, n_classes) <= 2 * time_limit(n)]


def steps(B, c, n_classes=0, correction=MM):
    """Look-ups of OptimizeAxis and the overhead of each grid, counted in look-ups of about 1 ns."""
    if n_classes:  # one orientation, and more merged parts than fixed ones
        n_fixed, n_master, k_max = discrete_plan(B, c, n_classes)[0].tolist()
        return n_master**2 * (n_fixed + k_max) / 2 + 10_000
    plan = closed_plan(B, c, "reduced") if correction else needed_grids(continuous_plan(B, c, "reduced"))
    n_fixed, n_master, k_max = plan.T
    once = (k_max == 2) & (correction is not None)  # two parts take one look at each cut
    return float((np.where(once, n_master, n_master**2) * n_fixed + 10_000).sum())


def time_limit(n):
    """Steps for at most 1/27 of the time of scikit-learn's mutual information, but no fewer than at 1,000 records."""
    return math.exp(np.interp(math.log(n), np.log([*TIME]), np.log([*TIME.values()])))


def affordable(n, n_classes):
    """Which settings of the grid are within the time limit: a boolean array."""
    return np.array([steps(*setting, n_classes) <= time_limit(n) for setting in settings(n, n_classes)])


# --- Discrete targets: y cut into classes --------------------------------------------------------------------------


def distribution_function(mixture, axis, values):
    """P(coordinate <= v) in each component of the mixture, restricted to the unit square: (n_components, n_values)."""
    means = mixture.points[:, axis, np.newaxis]
    start, end = ndtr(-means / mixture.sigma), ndtr((1 - means) / mixture.sigma)
    return (ndtr((np.asarray(values) - means) / mixture.sigma) - start) / (end - start)


def component_shares(mixture):
    """Weights of the components after the restriction to the unit square."""
    inside = ndtr((1 - mixture.points) / mixture.sigma) - ndtr(-mixture.points / mixture.sigma)
    return inside.prod(axis=1) / inside.prod(axis=1).sum()


def quantiles(mixture, axis, size):
    """Inner edges of the partition of an axis into `size` parts of equal mass."""
    values = np.linspace(0, 1, 5001)
    below = component_shares(mixture) @ distribution_function(mixture, axis, values)
    return np.interp(np.arange(1, size) / size, below, values)


@cache
def classes(key, n_classes):
    """Inner edges of the classes of y: of equal width for every other distribution, of equal mass for the others."""
    if KEYS.index(key) % 2:
        return np.arange(1, n_classes) / n_classes
    return quantiles(relationship(*key), 1, n_classes)


def mutual_information(joint):
    """In bits."""
    return (entr(joint.sum(axis=0)).sum() + entr(joint.sum(axis=1)).sum() - entr(joint).sum()) / math.log(2)


@cache
def population_value(key, n_classes):
    """The limit of MICr: MIC*, or the same with the classes of y as the fixed axis."""
    if n_classes == 0:
        return load_mic_star()[key]
    mixture = relationship(*key)
    x, y = (
        np.diff(distribution_function(mixture, axis, np.concatenate([[0], edges, [1]])), axis=1)
        for axis, edges in ((0, quantiles(mixture, 0, 260)), (1, classes(key, n_classes)))
    )
    joint = (component_shares(mixture)[:, np.newaxis] * x).T @ y
    fewer_parts = np.arange(2, n_classes)
    entries = [mutual_information(joint) / math.log2(n_classes)]
    if n_classes == 3:  # each class against the others, too
        entries.extend(
            mutual_information(np.c_[joint[:, j], np.delete(joint, j, axis=1).sum(axis=1)]) for j in range(3)
        )
    if len(fewer_parts):
        entries.extend(best_information(joint, n_classes - 1) / np.log2(fewer_parts))
    return float(np.clip(max(entries), 0, 1))


# --- Scores without noise ------------------------------------------------------------------------------------------


def scores_of_sample(key, n, seed, repetition, chosen):
    """MICr of one sample at the settings chosen for each kind of target: n_classes -> array of shape (n_settings,)."""
    entropy = np.random.SeedSequence([seed, n, repetition, KEYS.index(key)])
    x, y = relationship(*key).sample(n, np.random.RandomState(entropy.generate_state(4))).T.copy()
    return {
        n_classes: np.array([target(key, y, n_classes, *setting).score(x, UNIT) for setting in chosen[n_classes]])
        for n_classes in chosen
    }


def target(key, y, n_classes, B, c):
    if n_classes == 0:
        return NumericTargetScorer(y, UNIT, B, c, correction=MM)
    return ClassTargetScorer(np.searchsorted(classes(key, n_classes), y, side="right"), n_classes, B, c, MM)


def score(options, n, seed, repetition, bar):
    """Scores of one sample of each distribution, from the cache or into it: n_classes -> (n_keys, n_settings)."""
    path = options.cache / f"seed{seed}-n{n}-{repetition}.npz"
    if not path.exists():
        chosen = {n_classes: settings(n, n_classes) for n_classes in KINDS}
        rows = []
        for key in options.keys:
            rows.append(scores_of_sample(key, n, seed, repetition, chosen))
            bar.update()
        unfinished = path.with_suffix(".part.npz")
        np.savez(unfinished, **{str(n_classes): np.array([row[n_classes] for row in rows]) for n_classes in KINDS})
        unfinished.replace(path)
    with np.load(path) as stored:
        return {n_classes: stored[str(n_classes)] for n_classes in KINDS}


def score_all(options, seed):
    """(n, n_classes) -> scores, shape (n_repetitions, n_keys, n_settings)."""
    options.cache.mkdir(parents=True, exist_ok=True)
    tasks = [(n, repetition) for n, count in options.repetitions[seed].items() for repetition in range(count)]
    found = defaultdict(list)
    with tqdm(total=len(tasks) * len(options.keys), desc=f"samples of seed {seed}", disable=None) as bar:
        for done, (n, repetition) in enumerate(tasks, start=1):
            for n_classes, table in score(options, n, seed, repetition, bar).items():
                found[n, n_classes].append(table)
            bar.update(done * len(options.keys) - bar.n)
    return {cell: np.array(tables) for cell, tables in found.items()}


# --- The error, averaged over the noise ----------------------------------------------------------------------------


def unsigned_error(scores, truth, sensitivity, epsilon, noise="laplace"):
    """Mean of abs(clip(score + noise, 0, 1) - truth) over the noise.

    With G the integral of the noise's distribution function F from minus infinity: the unsigned error is the
    integral of P(released <= t) = F(t - s) over t < truth and of P(released > t) = F(s - t) over t > truth.
    The Gaussian noise has the same standard deviation as the Laplace noise of scale sensitivity / epsilon.
    """
    scale = np.asarray(sensitivity) / epsilon
    if noise == "laplace":

        def G(u):
            return np.maximum(u, 0) + scale / 2 * np.exp(-np.abs(u) / scale)
    else:
        scale = scale * math.sqrt(2)

        def G(u):
            return u * ndtr(u / scale) + scale * np.exp(-((u / scale) ** 2) / 2) / math.sqrt(2 * math.pi)

    return G(truth - scores) - G(-scores) + G(scores - truth) - G(scores - 1)


def weights(truth, lo=0.0, hi=1.0):
    """Share of [lo, hi] that each value represents: up to the midpoints between neighbours."""
    order = np.argsort(truth, kind="stable")
    ordered = truth[order]
    edges = np.concatenate([[lo], (ordered[1:] + ordered[:-1]) / 2, [hi]])
    shares = np.empty_like(truth)
    shares[order] = np.diff(edges) / (hi - lo)
    return shares


def weighted_sums(scores, keys, n, epsilon, n_classes, noise="laplace"):
    """The error of each setting: (n_settings,), from scores of shape (n_repetitions, n_keys, n_settings)."""
    truth = np.array([population_value(key, n_classes) for key in keys])
    errors = unsigned_error(scores, truth[:, np.newaxis], mic_r_sensitivity(n), epsilon, noise)
    # With classes, no value is near 1: on [0, 1], a single distribution would stand for a fifth.
    span = (truth.min(), truth.max()) if n_classes else (0.0, 1.0)
    return weights(truth, *span) @ errors.mean(axis=0)


# --- The table ------------------------------------------------------------------------------------------------------


def choose(scores, keys, n, n_classes, least_B=0):
    """B and c for each epsilon: epsilon -> (B, c); no B below `least_B`.

    A smaller epsilon keeps the setting of a larger one as long as it is nearly the best: where noise exceeds all
    differences, the setting remains one that is good without noise.
    """
    grid, fit = settings(n, n_classes), affordable(n, n_classes)
    fit &= np.array([B >= least_B for B, _ in grid])
    chosen, kept = {}, None
    for epsilon in sorted(EPSILONS, reverse=True):
        errors = weighted_sums(scores, keys, n, epsilon, n_classes)
        least = errors[fit].min()
        if kept is None or errors[kept] > (1 + KEEP) * least:
            near = np.flatnonzero(fit & (errors <= (1 + SLACK) * least))
            kept = min(near, key=lambda i: steps(*grid[i], n_classes))
        chosen[epsilon] = grid[kept]
    return chosen


def write_table(options):
    found = score_all(options, CHOICE)
    chosen = {}
    for (n, n_classes), scores in sorted(found.items()):  # more records never get coarser grids
        fewer = [max(B for B, _ in chosen[key].values()) for key in chosen if key[0] == n_classes]
        chosen[n_classes, n] = choose(scores, options.keys, n, n_classes, max(fewer, default=0))
    cells = product(KINDS, EPSILONS, options.repetitions[CHOICE])
    rows = ([n_classes, epsilon, n, *chosen[n_classes, n][epsilon]] for n_classes, epsilon, n in cells)
    write_csv(options.table, [["n_classes", "epsilon", "n", "B", "c"], *rows])


# --- What the automatic choice costs ---------------------------------------------------------------------------------


def automatic(n, epsilon, n_classes, correction=MM):
    return tuple(default(n, epsilon, n_classes or None, correction) for default in (default_B, default_c))


def check(options):
    """Errors on fresh samples, one row for each kind of target, n, epsilon and noise: a list of dicts."""
    rows = []
    found = score_all(options, CHECK)
    for n, count in tqdm(options.repetitions[CHECK].items(), desc="automatic", disable=None):
        chosen = {kind: [automatic(n, epsilon, kind) for epsilon in CHECKED] for kind in KINDS}
        grids = {kind: settings(n, kind) for kind in KINDS}
        others = {kind: sorted(set(chosen[kind]) - set(grids[kind])) for kind in KINDS}
        fresh = [score_settings(options, n, repetition, others) for repetition in range(count)]
        for n_classes in KINDS:
            scores = np.concatenate([found[n, n_classes], np.array([table[n_classes] for table in fresh])], axis=2)
            at = [[*grids[n_classes], *others[n_classes]].index(setting) for setting in chosen[n_classes]]
            fit = affordable(n, n_classes)
            for noise in ("laplace", "gaussian"):
                both = scores[:, :, at], found[n, n_classes]
                rows.extend(compare(*both, fit, options.keys, n, n_classes, chosen[n_classes], noise))
    return rows


def score_settings(options, n, repetition, chosen):
    """Scores of one sample of each distribution, with the checking seed, at settings that need not be on the grid."""
    if not any(chosen.values()):
        return {n_classes: np.empty((len(options.keys), 0)) for n_classes in KINDS}
    rows = [scores_of_sample(key, n, CHECK, repetition, chosen) for key in options.keys]
    return {n_classes: np.array([row[n_classes] for row in rows]) for n_classes in KINDS}


def compare(automatic_scores, grid_scores, fit, keys, n, n_classes, chosen, noise):
    for i, epsilon in enumerate(CHECKED):
        error = weighted_sums(automatic_scores, keys, n, epsilon, n_classes, noise)[i]
        errors = weighted_sums(grid_scores, keys, n, epsilon, n_classes, noise)
        least, unlimited = errors[fit].min(), errors.min()
        yield {
            "noise": noise,
            "n_classes": n_classes,
            "n": n,
            "epsilon": f"{epsilon:.4g}",
            "B": f"{chosen[i][0]:.1f}",
            "c": f"{chosen[i][1]:.2f}",
            "error": f"{error:.5f}",
            "least": f"{least:.5f}",
            "excess": f"{error / least - 1:.4f}",
            "least_unlimited": f"{unlimited:.5f}",
        }


def write_check(options, rows):
    write_csv(options.results / TABLES[MM], [rows[0], *(row.values() for row in rows)])
    worst = max(rows, key=lambda row: float(row["excess"]))
    print(f"largest excess over the least error of the grid: {float(worst['excess']):.1%}, at {worst}")
    plot(rows, picture_of_check(options))


def plot(rows, path):
    """The error against n: automatic, and the least of the grid."""
    from matplotlib.figure import Figure

    epsilons = ("0.001", "0.01", "0.1", "1", "10")
    with legible(**{"axes.titlesize": 12, "legend.fontsize": 11}):
        figure = Figure(figsize=(WIDTH, 7.4))
        panels = figure.subplots(2, 1, sharex=True, sharey=True)
        for panel, n_classes, title in zip(panels, (0, 5), ("continuous target", "5 classes"), strict=True):
            for color, marker, epsilon in zip((BLUE, ORANGE, GREEN, VERMILION, PURPLE), "osD^v", epsilons, strict=True):
                kind = "laplace", n_classes, epsilon
                cells = [row for row in rows if (row["noise"], row["n_classes"], row["epsilon"]) == kind]
                n = [row["n"] for row in cells]
                panel.plot(n, [float(row["error"]) for row in cells], color=color, label=f"ε = {epsilon} a column")
                panel.plot(n, [float(row["least"]) for row in cells], marker, color=color, markersize=4)
            panel.set(title=title, xscale="log", yscale="log", ylabel="mean unsigned error")
        panels[-1].set_xlabel("rows")
        figure.suptitle("lines: automatic B and c; points: the best B and c")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
        figure.savefig(path)


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", nargs="+", choices=["choose", "check"])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--cache", type=Path, default=ROOT / "benchmarks" / "cache" / "defaults")
    parser.add_argument("--table", type=Path, help="where to write the table, if not into the package")
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks" / "results")
    parser.add_argument("--images", type=Path, default=ROOT / "docs" / "images")
    parser.add_argument("--overwrite", action="store_true", help="replace existing results")
    options = parser.parse_args(argv)
    options.keys, options.repetitions = KEYS, REPETITIONS
    options.table = options.table or ROOT / "skdpmic" / "statistics" / "mic" / TABLES[MM]
    if options.quick:
        options.keys = KEYS[::25]  # no two of them have the same level of r2
        options.repetitions = {CHOICE: {250: 1, 500: 1}, CHECK: {250: 1, 500: 1}}
        options.cache = options.cache / "quick"
    refuse_to_overwrite(parser, options, files(options))
    return options


def files(options):
    """What the steps write."""
    written = {"choose": [options.table], "check": [options.results / TABLES[MM], picture_of_check(options)]}
    return [path for step in options.step for path in written.get(step, [])]


def picture_of_check(options):
    return options.images / Path(TABLES[MM]).with_suffix(".png")


def main(argv=None):
    options = parse(argv)
    all_grids = cache(mic_r.continuous_grids.__wrapped__)  # for more settings than the package keeps
    with mock.patch.object(mic_r, "continuous_grids", all_grids):
        if "choose" in options.step:
            write_table(options)
        if "check" in options.step:
            write_check(options, check(options))


if __name__ == "__main__":
    main()
