"""Time of MIC scores and of scikit-learn's mutual information, as ratios within one run.

    python benchmarks/speed.py --output FILE       # measure, print and write a CSV file
    python benchmarks/speed.py --report            # print the kept result, benchmarks/results/speed.csv
    python benchmarks/speed.py --picture --output FILE

Everything runs in one thread. MICr and MTVr have the estimators' defaults: automatic B and c for epsilon = 1 per
feature and, for MICr, a correction for chance. Without correction, MICr is the paper's, with its own automatic B and c.
MICe has B = 0.6 and c = 15. Every figure is a median over rounds, each of which times all candidates in turn, so that
drift in the machine's speed affects all of them.
"""

import argparse
import csv
import os
import platform
import sys
import time
from functools import partial
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # so that a kernel has one module name in numba's cache
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import numba
import numpy as np
import sklearn
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from tqdm import tqdm

from benchmarks.output import add_output, refuse_to_overwrite, table, write_csv
from benchmarks.style import BLUE, ORANGE, WIDTH, legible
from skdpmic import mic_e
from skdpmic.privacy.noise import discrete_laplace, entropy_source
from skdpmic.statistics.mic.mic_r import ClassTargetScorer, NumericTargetScorer
from skdpmic.statistics.mic.statistic import default_B, default_c
from skdpmic.statistics.mtv.counts import TargetCounts, TargetScorer, counts_scorer
from skdpmic.statistics.mtv.family import class_family, numeric_family, resolve_mtv

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "benchmarks" / "results" / "speed.csv"
UNIT = (0.0, 1.0)
FEATURES = {1000: 50, 5000: 50, 10_000: 50, 100_000: 10, 1_000_000: 2}  # fewer where scikit-learn takes minutes
SLOWEST_MIC_E = 10_000


def mic_r_regression(X, y, correction="miller-madow"):
    sizes = (default(len(y), 1.0, correction=correction) for default in (default_B, default_c))
    target = NumericTargetScorer(y, UNIT, *sizes, correction=correction)
    return [target.score(x, UNIT) for x in X.T]


def mic_r_classif(X, codes, correction="miller-madow"):
    sizes = (default(len(codes), 1.0, 5, correction) for default in (default_B, default_c))
    target = ClassTargetScorer(codes, 5, *sizes, correction=correction)
    return [target.score(x, UNIT) for x in X.T]


def mtv_r_regression(X, y):
    family = numeric_family(*resolve_mtv("auto", "auto", len(y)))
    target = TargetScorer(TargetCounts(family, UNIT), counts_scorer(len(y), family), y)
    return [target.score(x, UNIT) for x in X.T]


def mtv_r_classif(X, codes):
    family = class_family(*resolve_mtv("auto", "auto", len(codes), 5), 5)
    target = TargetScorer(TargetCounts(family), counts_scorer(len(codes), family), codes)
    return [target.score(x, UNIT) for x in X.T]


def mic_e_each(X, y):
    return [mic_e(x, y) for x in X.T]


@numba.njit
def _histogram2d(x, y, n_bins):
    counts = np.zeros((n_bins, n_bins), dtype=np.int64)
    for i in range(len(x)):
        counts[min(int(x[i] * n_bins), n_bins - 1), min(int(y[i] * n_bins), n_bins - 1)] += 1
    return counts


def histogram2d_each(X, y):
    """One plain pass over every feature and the target."""
    return [_histogram2d(np.ascontiguousarray(x), y, 12) for x in X.T]


def candidates(y, codes):
    """What is timed: name -> (function, the target to call it with)."""
    functions = {
        "MICr": (mic_r_regression, y),
        "MICr, uncorrected": (partial(mic_r_regression, correction=None), y),
        "MICr, 5 classes": (mic_r_classif, codes),
        "MTVr": (mtv_r_regression, y),
        "MTVr, 5 classes": (mtv_r_classif, codes),
        "histogram2d": (histogram2d_each, y),
        "mutual_info_regression": (mutual_info_regression, y),
        "mutual_info_classif": (mutual_info_classif, codes),
    }
    if len(y) <= SLOWEST_MIC_E:
        functions["MICe"] = mic_e_each, y
    return functions


def data(n, n_features):
    rng = np.random.default_rng(0)
    X = rng.random((n, n_features))
    y = np.clip((2 * X[:, 0] - 1) ** 2 + 0.1 * rng.standard_normal(n), 0, 1)
    return X, y, np.minimum((y * 5).astype(int), 4)


def seconds(function, *arguments):
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def times(n, rounds):
    """Milliseconds per feature: name -> array of shape (rounds,)."""
    X, y, codes = data(n, FEATURES[n])
    functions = candidates(y, codes)
    for name, (function, target) in functions.items():
        if not name.startswith("mutual"):
            function(X[:, :1], target)  # compiles
    rows = [
        [seconds(function, X, target) / X.shape[1] * 1e3 for function, target in functions.values()]
        for _ in tqdm(range(rounds), desc=f"n = {n}", leave=False, disable=None)
    ]
    return dict(zip(functions, np.transpose(rows), strict=True))


FIGURES = (
    ("mutual_info_regression", "MICr"),
    ("mutual_info_regression", "MICr, uncorrected"),
    ("mutual_info_regression", "MTVr"),
    ("mutual_info_classif", "MICr, 5 classes"),
    ("mutual_info_classif", "MTVr, 5 classes"),
    ("MICr", "histogram2d"),
    ("MTVr", "histogram2d"),
    ("MICe", "mutual_info_regression"),
)


def figures(measured):
    """Rows of the result file: a header, then a row for each figure, with a value for each number of rows."""
    yield ["rows", *measured]
    for name in ("MICr", "MTVr"):
        yield [f"{name}, ms", *(f"{np.median(row[name]):.2f}" for row in measured.values())]
    for slow, fast in FIGURES:
        yield [f"{slow} / {fast}", *(ratio(row.get(slow), row.get(fast)) for row in measured.values())]


def ratio(a, b):
    if a is None or b is None:
        return "--"
    value = np.median(a / b)
    return f"{value:.2f}" if value < 2 else f"{value:.1f}"


def report(rows):
    """The same in Markdown."""
    (first, *sizes), *body = rows
    return table([first, *(f"{int(n):,}" for n in sizes)], body)


def draw(rows, path):
    """How many times as long scikit-learn takes, by the number of rows."""
    from matplotlib.figure import Figure

    (_, *sizes), *figures = rows
    known, n = {name: values for name, *values in figures}, [int(size) for size in sizes]
    with legible():
        figure = Figure(figsize=(WIDTH, 4.2))
        axes = figure.subplots()
        for statistic, color in (("MTVr", BLUE), ("MICr", ORANGE)):
            for slow, classes, style in (("regression", "", "-o"), ("classif", ", 5 classes", "--s")):
                values = [float(value) for value in known[f"mutual_info_{slow} / {statistic}{classes}"]]
                axes.loglog(n, values, style, color=color, label=f"{statistic}, mutual_info_{slow}")
        axes.set(xlabel="rows", ylabel="times as fast as scikit-learn")
        axes.grid(alpha=0.3)
        figure.legend(loc="outside lower center", frameon=False)
        figure.savefig(path)


def machine():
    model = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as file:
            model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), model)
    return (
        f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}, numpy {np.__version__}, "
        f"numba {numba.__version__}, scikit-learn {sklearn.__version__}"
    )


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, nargs="+", default=list(FEATURES), choices=list(FEATURES))
    parser.add_argument("--report", action="store_true", help="print the kept result")
    parser.add_argument("--picture", action="store_true", help="draw the kept result into --output")
    add_output(parser)
    options = parser.parse_args(argv)
    if options.output:
        refuse_to_overwrite(parser, options)
    if options.report or options.picture:
        with open(RESULT, encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        return print(report(rows)) if options.report else draw(rows, options.output or parser.error("missing --output"))

    print(f"{machine()}; medians of {options.rounds} rounds, one thread, times per feature.\n")
    rows = list(figures({n: times(n, options.rounds) for n in options.rows}))
    print(report(rows))
    n_draws = 100_000
    draws = n_draws / seconds(discrete_laplace, 10**7, n_draws, entropy_source())
    print(f"\nExact discrete Laplace noise: {draws:,.0f} draws per second.")
    if options.output:
        write_csv(options.output, rows)
    return None


if __name__ == "__main__":
    main()
