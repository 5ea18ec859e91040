"""MICr by its definition, with the plain recursion of OptimizeAxis; no part of the package is used.

``python -m tests.golden.definitions`` prints ``mic_r.csv``.
"""

import csv
import math
import sys
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from sklearn import datasets

from tests.naive import naive_counts, naive_parts, naive_sizes

FOLDER = Path(__file__).parent
SIZES = ((12, 5), (25, 3), (40, 1), (40, 5), (60, 2), (18.5, 5))  # B, c
PAIRS = {
    "diabetes": ((2, 9), (8, 9), (0, 3), (1, 8), (4, 5)),
    "breast_cancer": ((0, 2), (0, 9), (4, 11), (6, 7), (10, 29)),
    "wine": ((0, 12), (6, 11)),
    "digits": ((21, 28), (10, 53)),
}
HEAD = ("dataset", "x", "y", "n", "x0", "x1", "y0", "y1", "B", "c", "mic_r")


@cache
def table(name):
    """The data of one of scikit-learn's tables, in the units of their source."""
    options = {"scaled": False} if name == "diabetes" else {}
    return getattr(datasets, f"load_{name}")(**options).data


def rounded_bounds(column):
    """The range of a column, a little wider, in numbers of two digits."""
    lo, hi = float(column.min()), float(column.max())
    unit = 10.0 ** math.floor(math.log10(hi - lo) - 1)
    return math.floor(lo / unit) * unit, math.ceil(hi / unit) * unit + unit


def mic_r_by_definition(x, y, *, bounds, B, c):
    """MICr of the paper's Definition 4.1, with the master sizes of its Appendix E.1."""
    best = 0.0
    for free, free_bounds, fixed, fixed_bounds in ((x, bounds[0], y, bounds[1]), (y, bounds[1], x, bounds[0])):
        for n_fixed, k_max in naive_sizes(B):
            n_master = max(2, math.floor(c * k_max))
            rows, columns = naive_parts(free, free_bounds, n_master), naive_parts(fixed, fixed_bounds, n_fixed)
            best = max(best, _largest_entry(naive_counts(rows, n_master, columns, n_fixed), k_max))
    return best


def _largest_entry(counts, k_max):
    """The largest I / log2 min(k, l) of the merges of neighbouring rows into k parts, k = 2 ... k_max."""
    below, n = np.vstack([np.zeros(len(counts[0])), np.cumsum(counts, axis=0)]), np.sum(counts)
    information = {  # in bits, times n: what the rows s ... t - 1 as one part tell
        (s, t): _n_log_n(below[t] - below[s]) - _n_log_n([(below[t] - below[s]).sum()])
        for t in range(len(below))
        for s in range(t)
    }
    of_columns = _n_log_n(below[-1]) - n * math.log2(n)
    best, largest = [information[0, t] if t else 0.0 for t in range(len(below))], 0.0
    for k in range(2, min(k_max, len(counts)) + 1):
        best = [max([best[t], *(best[s] + information[s, t] for s in range(1, t))]) for t in range(len(below))]
        largest = max(largest, (best[-1] - of_columns) / n / math.log2(min(k, len(counts[0]))))
    return largest


def _n_log_n(counts):
    return math.fsum(a * math.log2(a) for a in counts if a > 0)


def main():
    """Print the rows of ``mic_r.csv``."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(HEAD)
    for name, pairs in PAIRS.items():
        columns = table(name).T
        for (i, j), (B, c) in product(pairs, SIZES):
            bounds = rounded_bounds(columns[i]), rounded_bounds(columns[j])
            score = mic_r_by_definition(columns[i].tolist(), columns[j].tolist(), bounds=bounds, B=B, c=c)
            writer.writerow([name, i, j, len(columns[i]), *bounds[0], *bounds[1], B, c, repr(float(score))])


if __name__ == "__main__":
    main()
