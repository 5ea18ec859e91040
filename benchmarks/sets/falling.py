"""How fast scores fall on public tables: python -m benchmarks.sets.falling --output FILE.

It takes half a minute. The kept file, ``skdpmic/planning/scores_on_tables.csv``, is the public assumption behind
`found`. It is made from the tables of :mod:`benchmarks.sets.other_tables`, not from those on which promises are
compared with what is found. For each statistic, noise-free scores are described by their shape, the mean over tables of
the scores divided by the largest one, and by five equally likely sizes of the largest one. "strong", "typical" and
"weak" are the third of the tables where noise does the least harm, all of them, and the third where it does the most.
Finally, all sizes are multiplied by one factor, such that the share found that follows from them matches, on average
over noise of all scales, that of the tables themselves.

Joint choices find about as much as choices by single scores do with the same noise.
"""

import argparse
import warnings
from functools import lru_cache

import numpy as np
from scipy import stats
from scipy.optimize import minimize_scalar

from benchmarks.output import add_output, refuse_to_overwrite, write_csv
from benchmarks.sets.other_tables import OTHER_TABLES
from skdpmic import DPMICSelector
from skdpmic.planning.chances import PLACES, SIGNALS, TABLE, above_chance, share_of

STATISTICS = ("mtv_r", "mic_r", "kendall")
NOISES = np.geomspace(0.001, 0.5, 14)
N_SIZES = 5
_N_DRAWS = 400

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
    """The share of the best k found beyond chance with one-sided exponential noise, for each scale."""
    random = np.random.default_rng(0)
    noisy = (scores + noise * random.exponential(size=(_N_DRAWS, len(scores))) for noise in NOISES)
    shares = (np.mean(np.argsort(-each, axis=1)[:, :k] < k) for each in noisy)
    return np.array([above_chance(share, k / len(scores)) for share in shares])


def shape_of(scores):
    """Scores at PLACES, from the first (0) to the last (1), divided by the largest."""
    own = (np.arange(len(scores)) + 0.5) / len(scores)
    return np.interp(PLACES, own, scores) / scores[0]


def fitted_sizes(sizes, shape, tables, share):
    """The sizes times the factor with which the stated shares fit best, by least squares.

    Parameters
    ----------
    tables : sequence of (d, k)
    share : ndarray
        The share found beyond chance at each scale of the noise, on average over the tables.
    """

    def error(log_factor):
        of = np.exp(log_factor) * sizes
        laws = [stats.expon(scale=noise) for noise in NOISES]
        stated = [[share_of(of, shape, d, k, law, tolerance=0.0) for law in laws] for d, k in tables]
        return np.sum((np.mean(stated, axis=0) - share) ** 2)

    return np.exp(minimize_scalar(error, bounds=(-4, 1), method="bounded", options={"xatol": 0.02}).x) * sizes


def rows(statistics=STATISTICS):
    """Rows of the table: statistic, signal, sizes, shape."""
    for statistic in statistics:
        known = {name: scores(load(name), statistic) for name in OTHER_TABLES}
        known = {name: of for name, of in known.items() if of is not None}
        yield from _rows_of(statistic, known)


def _rows_of(statistic, known):
    shares = {name: found(of, load(name).k) for name, of in known.items()}
    by_ease = sorted(known, key=lambda name: -shares[name].mean())
    third = len(by_ease) // 3
    for signal, names in zip(SIGNALS, (by_ease[:third], by_ease, by_ease[-third:]), strict=True):
        shape = np.mean([shape_of(known[name]) for name in names], axis=0)
        sizes = np.quantile([known[name][0] for name in names], (np.arange(N_SIZES) + 0.5) / N_SIZES)
        tables = [(len(known[name]), load(name).k) for name in names]
        share = np.mean([shares[name] for name in names], axis=0)
        yield statistic, signal, fitted_sizes(sizes, shape, tables, share), shape


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
