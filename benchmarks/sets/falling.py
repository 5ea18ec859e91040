"""How fast scores fall on public tables: python -m benchmarks.sets.falling --output FILE.

It takes five minutes. The kept file, ``skdpmic/planning/scores_on_tables.csv``, is the public assumption behind `found`
of a plan. It is made from the tables of :mod:`benchmarks.sets.other_tables`, not from those on which promises are
compared with what is found. For each statistic, noise-free scores are described by their shape, the mean over tables of
the scores divided by the largest one, and by five equally likely sizes of the largest one. "strong", "typical" and
"weak" are the third of the tables where noise does the least harm, all of them, and the third where it does the most.
Finally, all sizes are multiplied by one factor, such that the share found that follows from them matches, on average
over noise of all scales, that of the tables themselves.

For joint choices, the features to find are those chosen without noise. What features add has no single shape; it is
given the shape of single scores, with sizes fitted to choices with noise.
"""

import argparse
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy import stats
from scipy.optimize import minimize_scalar

from benchmarks.output import add_output, refuse_to_overwrite, write_csv
from benchmarks.sets.other_tables import OTHER_TABLES
from benchmarks.sets.ways import best
from benchmarks.store import completed
from skdpmic import DPMICSelector
from skdpmic.planning.chances import JOINT, PLACES, SIGNALS, TABLE, share_of

STATISTICS = ("mtv_r", "mic_r", "kendall")
NOISES = np.geomspace(0.001, 0.5, 14)
JOINT_NOISES = np.geomspace(0.0005, 0.05, 12)  # those of the fits
N_SIZES = 5
_N_DRAWS = 400
_EPSILONS = (0.3, 1.0, 3.0, 10.0, 30.0)
_FITS = 8
_FOLDER = Path(__file__).parent / "results" / "raw"

load = lru_cache(lambda name: OTHER_TABLES[name]())


def scores(table, statistic):
    """Noise-free scores of all columns as they are compared, in descending order; None if the table has none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the lack of privacy
        selector = DPMICSelector("all", statistic=statistic, epsilon=np.inf, **table.features, **table.target)
        try:
            fitted = selector.fit(table.X, table.y)
        except ValueError:  # classes without an order
            return None
    return np.sort(np.maximum(fitted.scores_ - fitted.null_scores_, 0))[::-1]


def found(scores, k):
    """The share of the best k that is found with one-sided exponential noise, for each scale."""
    random = np.random.default_rng(0)
    noisy = (scores + noise * random.exponential(size=(_N_DRAWS, len(scores))) for noise in NOISES)
    return np.array([np.mean(np.argsort(-each, axis=1)[:, :k] < k) for each in noisy])


def found_jointly(names):
    """The share of the noise-free joint choice that is found, for each scale of noise: an array for each table."""
    todo = [{"table": name, "epsilon": epsilon} for name in names for epsilon in _EPSILONS]
    without_noise = lru_cache(lambda name: set(_chosen(load(name), np.inf, 0)[0]))

    def find(configuration, seed):
        name, epsilon = configuration.values()
        fits = [_chosen(load(name), epsilon, seed % 2**30 + i) for i in range(_FITS)]
        return {
            "found": np.mean([len(without_noise(name) & set(chosen)) / len(chosen) for chosen, _ in fits]),
            "noise": fits[0][1],
        }

    rows = completed(_FOLDER / "found_jointly.csv", todo, find, "joint")
    of = {name: sorted((row["noise"], row["found"]) for row in rows if row["table"] == name) for name in names}
    return {
        name: np.interp(np.log(JOINT_NOISES), np.log([n for n, _ in of[name]]), [f for _, f in of[name]]) for name in of
    }


def _chosen(table, epsilon, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the seed, and about noise that exceeds the signal
        fitted = best(table, epsilon, seed, criterion="joint").fit(table.X, table.y)
    return np.flatnonzero(fitted.get_support()), fitted.noise_scale_


def shape_of(scores):
    """Scores at PLACES, from the first (0) to the last (1), divided by the largest."""
    own = (np.arange(len(scores)) + 0.5) / len(scores)
    return np.interp(PLACES, own, scores) / scores[0]


def fitted_sizes(sizes, shape, tables, noises, share):
    """The sizes times the factor with which the stated shares fit best, by least squares.

    Parameters
    ----------
    tables : sequence of (d, k)
    noises, share : ndarrays
        The scales of the noise, and the share found, on average over the tables.
    """

    def error(log_factor):
        of = np.exp(log_factor) * sizes
        stated = [[share_of(of, shape, d, k, stats.expon(scale=noise)) for noise in noises] for d, k in tables]
        return np.sum((np.mean(stated, axis=0) - share) ** 2)

    return np.exp(minimize_scalar(error, bounds=(-4, 1), method="bounded", options={"xatol": 0.02}).x) * sizes


def rows(statistics=STATISTICS):
    """Rows of the table: statistic, signal, sizes, shape."""
    for statistic in statistics:
        known = {name: scores(load(name), statistic) for name in OTHER_TABLES}
        known = {name: of for name, of in known.items() if of is not None}
        yield from _rows_of(statistic, known, NOISES, {name: found(of, load(name).k) for name, of in known.items()})
        if statistic == "mtv_r":
            yield from _rows_of(JOINT, known, JOINT_NOISES, found_jointly(known))


def _rows_of(statistic, known, noises, shares):
    by_ease = sorted(known, key=lambda name: -shares[name].mean())
    third = len(by_ease) // 3
    for signal, names in zip(SIGNALS, (by_ease[:third], by_ease, by_ease[-third:]), strict=True):
        shape = np.mean([shape_of(known[name]) for name in names], axis=0)
        sizes = np.quantile([known[name][0] for name in names], (np.arange(N_SIZES) + 0.5) / N_SIZES)
        tables = [(len(known[name]), load(name).k) for name in names]
        share = np.mean([shares[name] for name in names], axis=0)
        yield statistic, signal, fitted_sizes(sizes, shape, tables, noises, share), shape


def main(argv=None):
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_output(parser, TABLE)
    options = parser.parse_args(argv)
    refuse_to_overwrite(parser, options)
    head = [*(f"size {i}" for i in range(1, N_SIZES + 1)), *(f"at {place:g}" for place in PLACES)]
    shown = (
        [statistic, signal, *(f"{number:.4g}" for number in (*sizes, *shape))]
        for statistic, signal, sizes, shape in rows()
    )
    write_csv(options.output, [["statistic", "signal", *head], *shown])


if __name__ == "__main__":
    main()
