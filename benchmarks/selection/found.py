"""The scores behind the share found that `plan_release` states: python -m benchmarks.selection.found, ten minutes.

With names of statistics after that, those of the others are left as they are.

Writes ``skdpmic/planning/scores_without_noise.csv``: for each statistic, number of records and kind of target, the
law of the scores, without privacy, of features that depend on the target and of features that do not. They are those of
:mod:`benchmarks.selection.relationships`: a true feature is drawn from one of the 21 relationships, at an R² of 0.5 to
0.9, given a uniform target; a noise feature is a true one whose records are permuted. A target of two classes is the
same target cut in halves. The law is kept as the mean score in each of 24 shares, in ascending order.

Where a part of epsilon is spent on the target, the law depends on how much: there are rows for some values of n times
that epsilon. The noise in a share of the target moves all scores of a table; what it moves the mean of the noise
features by is taken off, as it changes no choice.
"""

import csv
import sys
from collections import defaultdict
from fractions import Fraction

import numpy as np
from tqdm import tqdm

from benchmarks.selection.relationships import NAMES, make_pool
from benchmarks.selection.ways import Scores
from skdpmic.planning import chances

STATISTICS = {
    "mic_r": "MICr, corrected",
    "mtv_r": "MTVr",
    "kendall": "Kendall",
    "spearman": "Spearman",
    "chatterjee": "Chatterjee",
    "distance_correlation": "distance correlation",
}
TABLES = {  # of each number of records, those of the tables of B among them, where scores bend
    100: 400, 170: 300, 250: 200, 500: 150, 1000: 100, 2000: 60, 4000: 40, 7000: 30, 10_000: 25, 17_000: 18,
    30_000: 12, 55_000: 8, 100_000: 6,
}  # fmt: skip
N_NOISE = 42
ON_TARGET = (7.5, 15, 30, 60, 120, 480)  # n times the epsilon of the target


def scores_of_table(n, seed, n_classes, n_noise=N_NOISE, names=tuple(STATISTICS), n_targets=8):
    """Scores of true and of noise features of one table, by statistic and what is spent on the target: two arrays."""
    pool = make_pool(n, seed, n_noise)
    if n_classes is not None:
        classes = np.minimum((pool.y * n_classes).astype(np.int64), n_classes - 1)
        pool = pool._replace(y=classes, target_bounds=None, n_classes=n_classes)
    for name in names:
        of_pool = Scores(pool, STATISTICS[name], seed, n_targets)
        for on_target in ON_TARGET if of_pool.of_target else (None,):  # no grid depends on epsilon here
            scores = np.atleast_2d(of_pool.of(1.0, None, Fraction(on_target or 1) / n))
            if on_target is not None:
                scores = scores - scores[:, len(NAMES) :].mean(axis=1, keepdims=True)
            yield (name, on_target), scores[:, : len(NAMES)].ravel(), scores[:, len(NAMES) :].ravel()


def mean_of_each_share(scores):
    """Mean of the scores in each of the shares of :data:`skdpmic.planning.chances.SHARES`, in ascending order."""
    ends = np.cumsum(chances.SHARES)
    quantiles = np.quantile(scores, (np.arange(100_000) + 0.5) / 100_000)
    return [part.mean() for part in np.split(quantiles, np.rint(ends[:-1] * 100_000).astype(int))]


def rows(n, n_classes, names):
    """Rows of the file for one number of records, one kind of target, and some statistics."""
    true, noise, n_targets = defaultdict(list), defaultdict(list), min(-(-200 // TABLES[n]), 8)
    for repeat in tqdm(range(TABLES[n]), desc=f"{n_classes} classes, {n:,} records", disable=None):
        seed = 1_000_000 * (n_classes or 1) + n + repeat
        for key, of_true, of_noise in scores_of_table(n, seed, n_classes, names=names, n_targets=n_targets):
            true[key].append(of_true)
            noise[key].append(of_noise)
    for name, on_target in true:
        for kind, scores in (("true", true[name, on_target]), ("noise", noise[name, on_target])):
            means = mean_of_each_share(np.concatenate(scores))
            yield [name, n_classes or 0, on_target or "", n, kind, *(f"{mean:.4g}" for mean in means)]


def main(names):
    """Write the rows of some statistics anew."""
    with chances.TABLE.open(encoding="utf-8") as file:
        kept = [row for row in list(csv.reader(file))[1:] if row[0] not in names]
    new = [row for n_classes in (None, 2) for n in TABLES for row in rows(n, n_classes, names)]
    places = {name: place for place, name in enumerate(STATISTICS)}
    with chances.TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["statistic", "n_classes", "on_target", "n_samples", "kind", *range(len(chances.SHARES))])
        writer.writerows(sorted(kept + new, key=lambda row: (int(row[1]), int(row[3]), places[row[0]])))


if __name__ == "__main__":
    main(sys.argv[1:] or list(STATISTICS))
