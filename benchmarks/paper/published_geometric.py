"""MICr-Geom as published (Mechanism 3 of the paper), fast enough for its experiments. NOT epsilon-DP.

Every master grid gets fresh noise at the whole epsilon, so what is spent grows with the number of grids
(``docs/theory/geometric.md``). Written from the paper's description, with the master partitions of its Appendix E.1.
"""

from functools import lru_cache

import numpy as np

from skdpmic.mic.jit import jit
from skdpmic.mic.optimize_axis import entropy_table, largest_entry, segments_of
from skdpmic.mic.partitions import equipartitions, parts_of, range_axis
from skdpmic.mic.statistics import continuous_plan


def published_scores(pair, epsilon, B, c, runs, seed):
    """Outputs of `runs` runs: shape (runs,). An infinite epsilon gives MICr."""
    plan, partitions, table = _public(B, c, pair.n)
    x, y = (
        range_axis(np.ascontiguousarray(values, dtype=np.float64), float(lo), float(hi), partitions)
        for values, (lo, hi) in zip((pair.x, pair.y), pair.bounds, strict=True)
    )
    return _runs(x, y, plan, table, float(np.exp(-epsilon / 2)), runs, seed)


@lru_cache(maxsize=4)
def _public(B, c, n):
    plan = continuous_plan(B, c, "reduced")
    largest_total = n * (plan[:, 0] * plan[:, 1]).max()  # every noisy count is at most n
    return plan, equipartitions(plan[:, :2]), entropy_table(int(largest_total))


@jit
def _runs(x, y, plan, table, rho, runs, seed):
    np.random.seed(seed)
    largest = np.zeros(runs)
    for n_fixed, n_master, k_max in plan:
        for free, fixed in ((x, y), (y, x)):
            counts = _counts(free, fixed, n_master, n_fixed)
            for run in range(runs):
                below = _noisy_below(counts, len(x.cells), rho)
                if below[-1, -1] > 0:
                    segments = segments_of(below, np.arange(n_fixed + 1), table)
                    largest[run] = max(largest[run], largest_entry(segments, n_fixed, k_max, table))
    return largest


@jit
def _counts(free, fixed, n_master, n_fixed):
    row, column = _part_of_cell(fixed, n_fixed), _part_of_cell(free, n_master)
    counts = np.zeros((n_fixed, n_master), dtype=np.int64)
    for i in range(len(free.cells)):
        counts[row[fixed.cells[i]], column[free.cells[i]]] += 1
    return counts


@jit
def _part_of_cell(axis, size):
    first_cell = parts_of(axis, size)
    part = np.zeros(len(axis.n_before) - 1, dtype=np.int64)
    for i in range(size):
        part[first_cell[i] : first_cell[i + 1]] = i
    return part


@jit
def _noisy_below(counts, n, rho):
    """Truncated geometric noise on every count, then the sums below every corner, as OptimizeAxis wants them."""
    below = np.zeros((len(counts) + 1, counts.shape[1] + 1), dtype=np.uint32)
    for u in range(len(counts)):
        in_row = np.uint32(0)
        for t in range(counts.shape[1]):
            in_row += np.uint32(min(max(counts[u, t] + _two_sided_geometric(rho), 0), n))
            below[u + 1, t + 1] = below[u, t + 1] + in_row
    return below


@jit
def _two_sided_geometric(rho):
    """P(z) = (1 - rho) / (1 + rho) rho^|z|."""
    at_zero = (1 - rho) / (1 + rho)
    u = np.random.random()
    if u < at_zero:
        return 0
    sign = 1 if np.random.random() < 0.5 else -1
    return sign * (1 + int(np.log(1 - np.random.random()) / np.log(rho)))
