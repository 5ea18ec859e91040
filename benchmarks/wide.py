"""Wide tables, as in genetics: CPU time of a fit per column and step, and peak memory beside the table.

    python benchmarks/wide.py                          # 1,000 rows by 100,000 columns
    python benchmarks/wide.py --columns 20000 --fits 5

Each line is a separate process, in one thread: genotypes (0, 1, 2 as int8) and uniform numbers (float64), against two
classes and against numbers, by each selector with its defaults. Times are medians over the fits, in microseconds of CPU
time per column. Memory is the increase in peak resident size during the first fit, in percent of the table.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
import warnings
from collections import defaultdict
from functools import partial
from itertools import product
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # so that a kernel has one module name in numba's cache
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import numpy as np

from skdpmic import DPMICSelector, PrivateSelectKBest
from skdpmic.selection import scoring
from skdpmic.table.records import TableRecords

SELECTORS = {
    "PrivateSelectKBest": partial(PrivateSelectKBest, k=10, epsilon=1),
    "DPMICSelector": DPMICSelector,
    "DPMICSelector, mtv_r": partial(DPMICSelector, statistic="mtv_r"),
}
TABLES = {"genotypes": (0, 2), "uniform": (0, 1)}  # and the bounds of their columns
TARGETS = {"classes": {"classes": [0, 1]}, "numbers": {"target_bounds": (0, 1)}}
STEPS = {"reading": (scoring, "read"), "scores": (TableRecords, "scores")}


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--columns", type=int, default=100_000)
    parser.add_argument("--fits", type=int, default=3, help="number of fits whose times give the median")
    parser.add_argument(
        "--one", nargs=3, metavar=("TABLE", "TARGET", "SELECTOR"), help="only this line, in this process"
    )
    options = parser.parse_args(argv)
    if options.one:
        return print(line(options, *options.one), flush=True)
    print(f"{'µs of CPU time per column':64} fit  reading scores  noise   memory beside the table")
    for names in product(TABLES, TARGETS, SELECTORS):
        sizes = (f"--{name}={getattr(options, name)}" for name in ("rows", "columns", "fits"))
        subprocess.run([sys.executable, __file__, *sizes, "--one", *names], check=True)


def line(options, table, target, selector):
    random = np.random.default_rng(0)
    y = random.integers(2, size=options.rows) if target == "classes" else random.random(options.rows)
    X = filled(table, options.rows, options.columns, random)
    estimator = SELECTORS[selector](bounds=TABLES[table], **TARGETS[target])
    warnings.simplefilter("ignore")
    estimator.fit(X[:, :100].copy(), y)  # compiles

    before = largest_size()
    fits = [timed_fit(estimator, X, y)]
    memory = largest_size() - before
    fits += [timed_fit(estimator, X, y) for _ in range(options.fits - 1)]
    median = {step: np.median([fit[step] for fit in fits]) / options.columns * 1e6 for step in fits[0]}
    rest = median["fit"] - sum(median[step] for step in STEPS)
    times = [median["fit"], *(median[step] for step in STEPS), rest]
    name = f"{table}, {target}, {selector}"
    return f"{name:60}" + "".join(f"{t:8.1f}" for t in times) + f"{memory / 2**20:8.1f} MiB ={memory / X.nbytes:7.1%}"


def filled(table, n, d, random):
    """A table, made without a larger intermediate copy."""
    X = np.empty((n, d), dtype=np.int8 if table == "genotypes" else np.float64)
    for row in X:
        row[:] = random.binomial(2, 0.3, size=d) if table == "genotypes" else random.random(d)
    return X


def largest_size():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def timed_fit(estimator, X, y):
    """CPU seconds of the fit and of its steps."""
    seconds, kept = defaultdict(float), {}

    def timed(name, function):
        def run(*arguments, **options):
            start = time.process_time()
            try:
                return function(*arguments, **options)
            finally:
                seconds[name] += time.process_time() - start

        return run

    for name, (owner, function) in STEPS.items():
        kept[name] = getattr(owner, function)
        setattr(owner, function, timed(name, kept[name]))
    try:
        timed("fit", estimator.fit)(X, y)
    finally:
        for name, (owner, function) in STEPS.items():
            setattr(owner, function, kept[name])
    return seconds


if __name__ == "__main__":
    main()
