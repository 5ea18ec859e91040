"""Level and power of p-values: python -m benchmarks.significance --output FOLDER.

It makes two tables; the kept ones are in benchmarks/results.

significance_level.csv: for tables of one feature that is independent of the target, the share whose p-value is at most
0.05, by statistic, number of records, kind of ties and epsilon of the score (Laplace noise). The promise is at most
0.05.

significance_discoveries.csv: for tables of 50 features, 10 of which are related to the target in five shapes, what the
Benjamini-Hochberg procedure at 0.1 makes of the p-values with Gaussian noise, epsilon = 1 and delta = 1e-6 for all
scores together: the mean share of false discoveries, its standard error, and the share found of the 10; beside it, what
it makes of p-values that ignore the noise.

The noise is drawn in floating point from the distribution of the exact noise; there is nothing to protect here.
"""

import argparse
import math
from itertools import product
from pathlib import Path

import numpy as np
from scipy import stats

from benchmarks.output import add_output, refuse_to_overwrite, write_csv
from skdpmic.privacy.composition import budget_of
from skdpmic.privacy.mechanisms import GaussianMechanism, LaplaceMechanism
from skdpmic.statistics.registry import STATISTICS, statistic_named
from skdpmic.table.domains import Nominal
from skdpmic.table.records import Shape
from skdpmic.table.values import ClassTarget, NumericTarget

RESULTS = Path(__file__).parent / "results"
UNIT = (0.0, 1.0)
SAMPLES, EPSILONS, LEVEL, N_TABLES = (20, 100, 1000), (0.1, 1.0, 10.0, math.inf), 0.05, 2000


# --- Tables of independent columns ------------------------------------------------------------------------------------


def uniform(rng, n):
    return rng.random(n)


def five_values(rng, n):
    return (rng.integers(5, size=n) + 0.5) / 5


def clump(rng, n):
    """Most values are equal."""
    return np.where(rng.random(n) < 0.6, 0.3, rng.random(n))


def rare(rng, n):
    return (rng.random(n) < 0.1) * 0.8 + 0.1


def even(rng, n):
    return rng.integers(2, size=n) * 0.8 + 0.1


def missing(rng, n):
    return np.where(rng.random(n) < 0.3, np.nan, rng.random(n))


def labels(rng, n):
    return rng.choice(6, size=n, p=(0.4, 0.3, 0.2, 0.05, 0.04, 0.01)).astype(np.uint32)


TIES = {
    "none": (uniform, uniform),
    "five values": (five_values, five_values),
    "clumps": (clump, clump),
    "rare values": (rare, rare),
    "two values": (uniform, even),
}
KINDS = TIES | {"missing values": (missing, uniform), "labels": (labels, uniform), "labels and classes": (labels, even)}
TESTED = [name for name, statistic in STATISTICS.items() if statistic.has_p_values]


def null_scores(measure, kind, n, n_tables, rng):
    """Noise-free scores of tables of this kind, and the scale of the feature."""
    draw_x, draw_y = KINDS[kind]
    scale = Nominal(4) if draw_x is labels else UNIT
    scores = np.empty(n_tables)
    for i in range(n_tables):
        y = draw_y(rng, n)
        target = ClassTarget((y > 0.5).astype(int), 2) if measure.n_classes else NumericTarget(y, UNIT)
        scores[i] = measure.scorer(target, None).score(draw_x(rng, n), scale)
    return scores, scale


def shares_below(statistic, kind, n, epsilons, n_tables, rng, level=LEVEL):
    """The share of p-values at or below the level, for each epsilon of the score."""
    n_classes = 2 if kind == "labels and classes" else None
    scores, shares = {}, []
    for epsilon in epsilons:
        measure = statistic_named(statistic, "miller-madow").measure("auto", "auto", n, epsilon, n_classes)
        if measure not in scores:
            scores[measure] = null_scores(measure, kind, n, n_tables, rng)
        raw, scale = scores[measure]
        mechanism = LaplaceMechanism.for_budget(budget_of(epsilon), 1, measure.steps(Shape(n, [scale])))
        law = measure.null_law(n, scale)
        shares.append((law.p_values(released(raw, mechanism, rng), mechanism.law) <= level).mean())
    return shares


def released(scores, mechanism, rng):
    """Scores with a mechanism's noise, clamped."""
    if mechanism.law is None:
        return scores
    return np.clip(scores + mechanism.law.rvs(scores.shape, random_state=rng), 0.0, 1.0)


# --- Discoveries ------------------------------------------------------------------------------------------------------

D, N_TRUE, Q = 50, 10, 0.1
SHAPES = (
    lambda y: y,
    lambda y: 4 * (y - 0.5) ** 2,
    lambda y: (np.sin(4 * np.pi * y) + 1) / 2,
    lambda y: np.abs(2 * y - 1) < 0.5,
    lambda y: np.minimum(2 * y, 1),
)


def table(rng, n):
    """X and y: the first 10 features have five shapes of y, two each, with noise; the others are independent of y."""
    y, X = rng.random(n), rng.random((n, D))
    for j in range(N_TRUE):
        X[:, j] = np.clip(SHAPES[j % len(SHAPES)](y) * 0.8 + 0.1 + 0.15 * rng.standard_normal(n), 0, 1)
    return X, y


def discoveries(statistic, n, n_tables, rng, epsilon=1.0, delta=1e-6):
    """For each table: shares of false and of true discoveries, first accounting for the noise, then ignoring it."""
    per_score = GaussianMechanism.epsilon_per_score(budget_of(epsilon, delta), D)
    measure = statistic_named(statistic, "miller-madow").measure("auto", "auto", n, per_score, None)
    mechanism = GaussianMechanism.for_budget(budget_of(epsilon, delta), D, measure.steps(Shape(n, [UNIT] * D)))
    law, found = measure.null_law(n, UNIT), []
    for _ in range(n_tables):
        X, y = table(rng, n)
        scorer = measure.scorer(NumericTarget(y, UNIT), None)
        scores = released(np.array([scorer.score(x, UNIT) for x in np.ascontiguousarray(X.T)]), mechanism, rng)
        for noise in (mechanism.law, None):
            kept = stats.false_discovery_control(law.p_values(scores, noise)) <= Q
            found += [kept[N_TRUE:].sum() / max(kept.sum(), 1), kept[:N_TRUE].mean()]
    return np.reshape(found, (n_tables, 4))


# --- All tables -----------------------------------------------------------------------------------------------------


def level_rows():
    """The shares of p-values at or below the level."""
    yield ["statistic", "n", "ties", *(f"epsilon={epsilon:g}" for epsilon in EPSILONS)]
    for statistic, n, kind in product(TESTED, SAMPLES, KINDS):
        shares = shares_below(statistic, kind, n, EPSILONS, N_TABLES, np.random.default_rng(0))
        yield [statistic, n, kind, *(f"{share:.4f}" for share in shares)]


def discovery_rows():
    """False discoveries with noise, and what is found."""
    yield ["statistic", "n", "tables", "false", "standard_error", "found", "false_if_noise_is_forgotten"]
    for n, statistic in product((500, 2000, 10_000), TESTED):
        n_tables = 200 if n < 10_000 else 50
        found = discoveries(statistic, n, n_tables, np.random.default_rng(0))
        mean, error = found.mean(axis=0), found[:, 0].std(ddof=1) / math.sqrt(n_tables)
        numbers = [mean[0], error, mean[1], mean[2]]
        yield [statistic, n, n_tables, *(f"{number:.3f}" for number in numbers)]


FILES = {
    "significance_level.csv": level_rows,
    "significance_discoveries.csv": discovery_rows,
}


def main(argv=None):
    """Write both tables, each once it is complete."""
    from tqdm import tqdm

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_output(parser, RESULTS, "folder")
    options = parser.parse_args(argv)
    refuse_to_overwrite(parser, options, [options.output / name for name in FILES])
    options.output.mkdir(parents=True, exist_ok=True)
    for name, rows in FILES.items():
        write_csv(options.output / name, tqdm(rows(), desc=name))


if __name__ == "__main__":
    main()
