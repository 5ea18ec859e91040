"""Which grids for MTVr: share of five true features of 100 found, for several families, as by PrivateSelectKBest.

    python -m benchmarks.mtv_family numbers classes shapes [--tables 4]

numbers  the choice benchmark's relationships (benchmarks/selection/relationships.py); also with ranges of the features
         that are a hundred times too wide, and the time of a score at n = 1,000 and 10,000, in microseconds.
classes  the same relationships with y cut into 2, 3, 5, 10 or 20 classes: in order; in an order of its own for each
         feature, as of nominal classes; or each feature tells one class from the rest.
shapes   relationships that are no functions, circle to checkerboard, one column each; MICr beside it.

The families of the package were chosen with tables of other seeds: the tables here are for reporting only.
"""

import argparse
import time
from dataclasses import replace
from functools import partial

import numpy as np

from benchmarks.selection.relationships import N_TRUE, NAMES, R2_OF_TRUE, draw_given_target, make_pool
from benchmarks.selection.ways import SUPPORT, choose
from benchmarks.store import seed_of
from skdpmic.datasets import relationship
from skdpmic.privacy.budgets import budget_of
from skdpmic.privacy.mechanisms import grid_sensitivity
from skdpmic.privacy.top_k import OneShotTopK
from skdpmic.statistics.mic import mic_r
from skdpmic.statistics.mic.defaults import default_B, default_c
from skdpmic.statistics.mic.sensitivity import mic_r_sensitivity
from skdpmic.statistics.mtv import mtv_r
from skdpmic.statistics.mtv.counts import ROUNDING_ERROR
from skdpmic.statistics.mtv.defaults import resolve_mtv
from skdpmic.statistics.mtv.family import Family, Side, class_family, n_intervals, numeric_family
from skdpmic.statistics.mtv.sensitivity import mtv_r_sensitivity

UNIT, WIDE = (0.0, 1.0), (-33.0, 67.0)
D, N_TRIALS = 100, 400
N_NOISE = D - N_TRUE
FIRST = 20  # number of the first table; those before it were looked at while the families were chosen


def found(values, n_true, epsilon, seed, n, sensitivity=mtv_r_sensitivity):
    """How often each of the true features, which come first, is found when it is one of five: (n_true,)."""
    random = np.random.default_rng(seed)
    true = np.argsort(random.random((N_TRIALS, n_true)), axis=1)[:, :N_TRUE]
    columns = np.hstack([true, np.tile(np.arange(n_true, n_true + N_NOISE), (N_TRIALS, 1))])
    steps = grid_sensitivity(sensitivity(n), ROUNDING_ERROR)
    scale = OneShotTopK.for_budget(budget_of(epsilon), N_TRUE, steps).noise_scale
    chosen = choose(values[columns], N_TRUE, SUPPORT, scale, random)
    is_found = (chosen[:, :, None] == np.arange(N_TRUE)).any(axis=1)
    return np.array([is_found[true == i].mean() for i in range(n_true)])


def mean_found(made, score, cells):
    """The share of true features that are found, for each n and epsilon of `cells`."""
    values = {n: [score(X, y) for X, y, _ in tables] for n, tables in made.items()}
    return [
        np.mean(
            [
                found(of_table, len(NAMES), epsilon, seed, n).mean()
                for of_table, (*_, seed) in zip(values[n], made[n], strict=True)
            ]
        )
        for n, epsilon in cells
    ]


def with_noise(true, random):
    """The true features, and permuted ones after them: (n_features, n_samples)."""
    return np.array([*true, *(random.permutation(true[j % len(true)]) for j in range(N_NOISE))])


def print_row(name, shares, times=()):
    cells = [*(f"{share:.3f}" for share in shares), *(f"{time:.0f}" for time in times)]
    print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def print_head(columns):
    print("\n| grids | " + " | ".join(columns) + " |")
    print("| --- |" + " ---: |" * len(columns))


# --- Numeric targets ------------------------------------------------------------------------------------------------

CELLS = ((300, 1.0), (1000, 0.3), (1000, 1.0), (3000, 0.1), (3000, 0.3), (10_000, 0.03), (10_000, 0.1))
DEFAULT = numeric_family(*resolve_mtv("auto", "auto", 1000, 1.0))


def of_sides(keep=lambda groups: True, **changes):
    """The default family with some of its sides, changed."""
    return replace(DEFAULT, sides=tuple(side._replace(**changes) for side in DEFAULT.sides if keep(side.groups)))


NUMERIC = {
    "default": DEFAULT,
    "default, half the master parts": replace(DEFAULT, n_master=304),
    "default, twice the master parts": replace(DEFAULT, n_master=1216),
    **{f"default, k <= {k}": of_sides(k_max=k) for k in (4, 8, 12, 24)},
    **{f"default, penalty {penalty}": replace(DEFAULT, penalty=penalty) for penalty in (0.0, 0.5, 1.0)},
    "default, intervals do not count": of_sides(size=2.0),
    "cuts only": of_sides(lambda groups: n_intervals(groups) == 2),
    "cuts, middle, every other quarter": of_sides(
        lambda groups: n_intervals(groups) == 2 or groups in ((0, 0, 1, 1, 1, 1, 0, 0), (0, 0, 1, 1, 0, 0, 1, 1))
    ),
    "one cut in the middle": of_sides(lambda groups: sum(groups[:4]) == 0 and sum(groups) == 4),
}


def scores(target, X, bounds=UNIT):
    return np.array([target.score(x, bounds) for x in X])


def in_both_orientations(X, y, family):
    """The larger score of x with y, and of y with x."""
    target = mtv_r.NumericTargetScorer(y, UNIT, family)
    return np.array([max(target.score(x, UNIT), mtv_r.NumericTargetScorer(x, UNIT, family).score(y, UNIT)) for x in X])


def microseconds(family, X, y, n):
    """Median time of a score of n records."""
    target, times = mtv_r.NumericTargetScorer(y[:n], UNIT, family), []
    for x in X[:, :n]:
        start = time.perf_counter()
        target.score(x, UNIT)
        times.append((time.perf_counter() - start) * 1e6)
    return np.median(times)


def numeric_table(n, table):
    seed = seed_of(("mtv families", n, table))
    pool = make_pool(n, seed, N_NOISE)
    return np.ascontiguousarray(pool.X.T), pool.y, seed


def against(family, bounds=UNIT):
    """What scores features of these bounds against y."""
    return lambda X, y: scores(mtv_r.NumericTargetScorer(y, UNIT, family), X, bounds)


def numbers(tables):
    made = {n: [numeric_table(n, FIRST + table) for table in range(tables)] for n in sorted(dict(CELLS))}
    print_head([*(f"n = {n:,}, ε = {epsilon}" for n, epsilon in CELLS), "too wide", "µs at 1,000", "at 10,000"])
    for name, family in NUMERIC.items():
        wide = mean_found({3000: made[3000]}, against(family, WIDE), [(3000, 0.3)])
        timed = [microseconds(family, *made[10_000][0][:2], n) for n in (1000, 10_000)]
        print_row(name, [*mean_found(made, against(family), CELLS), *wide], timed)
    both = partial(in_both_orientations, family=DEFAULT)
    print_row("default, both orientations", mean_found(made, both, CELLS))


# --- Classes --------------------------------------------------------------------------------------------------------

CLASS_CELLS = ((300, 1.0), (1000, 0.3), (1000, 1.0), (3000, 0.1), (3000, 0.3), (10_000, 0.03), (10_000, 0.1))
KINDS = ("in order", "nominal", "one class")


def class_table(n, n_classes, kind, table):
    """X of shape (n_features, n_samples), class numbers, and a seed; classes are alike in every other table."""
    seed = seed_of(("mtv classes", n, n_classes, kind, table))
    random = np.random.default_rng(seed)
    shares = random.dirichlet(np.full(n_classes, 3.0)) * 0.8 + 0.2 / n_classes if table % 2 else np.ones(n_classes)
    ends = np.cumsum(shares / shares.sum())
    y = random.random(n)
    codes = np.searchsorted(ends[:-1], y, side="right")
    within = y - np.concatenate([[0], ends])[codes]
    true = []
    for name in NAMES:
        if kind == "nominal":
            order = random.permutation(n_classes)
            starts = np.empty(n_classes)
            starts[order] = np.concatenate([[0], np.cumsum(np.diff(ends, prepend=0)[order])[:-1]])
            y = starts[codes] + within
        elif kind == "one class":
            y = (random.random(n) + (codes == random.integers(n_classes))) / 2
        true.append(draw_given_target(relationship(name, random.choice(R2_OF_TRUE)), y, random))
    return with_noise(true, random), codes, seed


def class_families(n_classes):
    default = class_family(*resolve_mtv("auto", "auto", 1000, 1.0, n_classes), n_classes)
    in_two = [side for side in default.sides if side.n_groups == 2]
    places = np.arange(n_classes)
    parities = {tuple((places & mask != 0).astype(int)) for mask in 2 ** np.arange(10)}
    apart = tuple(range(n_classes))
    families = {
        "default": in_two + [side for side in default.sides if side.n_groups > 2],
        "default, without all apart": in_two,
        "all apart, k <= 32 / classes": [Side(apart, max(32 // n_classes, 2), n_classes)],
        "all apart, k <= 8": [Side(apart, 8, n_classes)],
        "one against the rest": [s for s in in_two if sum(s.groups) in (1, n_classes - 1)],
        "in order": [s for s in in_two if n_intervals(s.groups) == 2],
        "binary digits": [s for s in in_two if s.groups in parities],
        "default, groups count in full": [s._replace(size=s.n_groups) for s in default.sides],
    }
    return {name: Family(n_classes, default.n_master, tuple(sides)) for name, sides in families.items()}


def classes(tables):
    for n_classes in (2, 3, 5, 10, 20):
        for kind in KINDS[: 1 if n_classes == 2 else 3]:
            print(f"\n{n_classes} classes, {kind}")
            print_head([f"n = {n:,}, ε = {epsilon}" for n, epsilon in CLASS_CELLS])
            made = {
                n: [class_table(n, n_classes, kind, FIRST + table) for table in range(tables)]
                for n in sorted(dict(CLASS_CELLS))
            }
            for name, family in class_families(n_classes).items():

                def score(X, codes, family=family):
                    return scores(mtv_r.ClassTargetScorer(codes, family), X)

                print_row(name, mean_found(made, score, CLASS_CELLS))


# --- Shapes that are no functions -----------------------------------------------------------------------------------


def _either(random, one, other):
    return np.where(random.random(len(one)) < 0.5, one, other)


def _circle(y, random):
    half = np.sqrt(0.25 - (y - 0.5) ** 2)
    return _either(random, 0.5 - half, 0.5 + half)


def _board(y, random, size):
    row = np.minimum((y * size).astype(int), size - 1)
    n_of_colour = (size + 1 - row % 2) // 2
    column = 2 * np.floor(random.random(len(y)) * n_of_colour) + row % 2
    return (column + random.random(len(y))) / size


SHAPES = {
    "circle": _circle,
    "circle, half noise": lambda y, random: _either(random, _circle(y, random), random.random(len(y))),
    "cross": lambda y, random: _either(random, y, 1 - y),
    "two lines": lambda y, random: _either(random, 0.6 * y, 0.6 * y + 0.4),
    "line, or constant": lambda y, random: _either(random, y, np.full(len(y), 0.5)),
    **{f"board of {size}": partial(_board, size=size) for size in (2, 3, 4, 5, 6, 8, 10)},
}
SHAPE_CELLS = ((1000, 0.3), (1000, 1.0), (3000, 0.1), (3000, 0.3), (10_000, 0.1), (10_000, 1.0))
SHAPE_FAMILIES = ("default", "default, intervals do not count", "cuts only", "cuts, middle, every other quarter")


def shape_table(n, table):
    seed = seed_of(("mtv shapes", n, table))
    random = np.random.default_rng(seed)
    y = random.random(n)
    true = [np.clip(draw(y, random) + 0.05 * random.standard_normal(n), 0, 1) for draw in SHAPES.values()]
    return with_noise(true, random), y, seed


def mic_r_scores(X, y, epsilon):
    per_score = OneShotTopK.epsilon_per_score(budget_of(epsilon), N_TRUE)
    target = mic_r.NumericTargetScorer(y, UNIT, default_B(len(y), per_score), default_c(len(y), per_score))
    return scores(target, X)


def shapes(tables):
    for n, epsilon in SHAPE_CELLS:
        print(f"\nn = {n:,}, ε = {epsilon}")
        print_head([*SHAPES, "mean"])
        made = [shape_table(n, FIRST + table) for table in range(tables)]

        def row(name, score, sensitivity=mtv_r_sensitivity, made=made, n=n, epsilon=epsilon):
            each = [found(score(X, y), len(SHAPES), epsilon, seed, n, sensitivity) for X, y, seed in made]
            shares = np.mean(each, axis=0)
            print_row(name, [*shares, shares.mean()])

        for name in SHAPE_FAMILIES:
            row(name, against(NUMERIC[name]))
        row("default, both orientations", partial(in_both_orientations, family=DEFAULT))
        row("MICr", partial(mic_r_scores, epsilon=epsilon), mic_r_sensitivity)


def main(argv=None):
    experiments = {"numbers": numbers, "classes": classes, "shapes": shapes}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="+", choices=list(experiments))
    parser.add_argument("--tables", type=int, default=4, help="tables of each size")
    options = parser.parse_args(argv)
    for what in options.what:
        experiments[what](options.tables)


if __name__ == "__main__":
    main()
