"""MICr-Geom as published, for comparison: NOT epsilon-differentially private (``docs/theory/geometric.md``).

Mechanism 3 of Lazarsfeld, Johnson and Adeniran (ICML 2022), written from its description, with the reduced master
partitions of its Appendix E.1. Every master grid gets fresh noise at the full epsilon, so the budget that is really
spent grows with the number of grids. The noise is drawn in floating point, which is fast.
"""

from functools import lru_cache

import numpy as np

from skdpmic._utils.jit import jit, leaf
from skdpmic.statistics.grids import equal_parts
from skdpmic.statistics.mic.mic_r import continuous_plan
from skdpmic.statistics.mic.optimize_axis import Tables, entropy_table, grids_of, largest_entry


def published_scores_not_dp(x, y, bounds, epsilon, B, c, runs, seed):
    """Outputs of several runs. Each of their tables alone is epsilon-DP; together they are not.

    Parameters
    ----------
    x, y : float64 ndarray of shape (n_samples,)
    bounds : ((x_lo, x_hi), (y_lo, y_hi))
    epsilon : float
        Budget of each table. If it is infinite, the scores are MICr.
    B : float, at least 4
    c : float, above 0
    runs : int
    seed : int, below 2**32

    Returns
    -------
    ndarray of shape (runs,)
    """
    plan, table = _public(B, c, len(x))
    return _runs((x, y), bounds, plan, table, float(np.exp(-epsilon / 2)), runs, seed)


@lru_cache(maxsize=4)
def _public(B, c, n):
    plan = continuous_plan(B, c, "reduced")  # all grids, including those that MICr skips
    largest_total = n * (plan[:, 0] * plan[:, 1]).max()  # every noisy count is at most n
    return plan, entropy_table(int(largest_total))


def _runs(columns, bounds, plan, table, rho, runs, seed):
    _seed(seed)
    largest = np.zeros(runs)
    for grid in plan:
        n_fixed, n_master, _ = grid
        grids = grids_of(grid[np.newaxis])
        master, fixed = (np.arange(size + 1, dtype=np.uint32).reshape(1, -1) for size in (n_master, n_fixed))
        for free in (0, 1):
            fixed_parts = equal_parts(columns[1 - free], bounds[1 - free], n_fixed)
            parts = fixed_parts * n_master + equal_parts(columns[free], bounds[free], n_master)
            counts = np.bincount(parts, minlength=n_fixed * n_master).reshape(n_fixed, n_master)
            for run in range(runs):
                below = _noisy_below(counts, len(parts), rho)
                if below[-1, -1] > 0:
                    tables = Tables(below.T.ravel(), np.array([[0, n_fixed + 1]], dtype=np.uint64), master, fixed)
                    entry = largest_entry([(tables, grids.rows)], grids.most, table, int(below[-1, -1]))
                    largest[run] = max(largest[run], min(entry, 1.0))
    return largest


@jit
def _seed(seed):
    np.random.seed(seed)


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


@leaf
def _two_sided_geometric(rho):
    """P(z) = (1 - rho) / (1 + rho) rho^|z|."""
    at_zero = (1 - rho) / (1 + rho)
    u = np.random.random()
    if u < at_zero:
        return 0
    sign = 1 if np.random.random() < 0.5 else -1
    return sign * (1 + int(np.log(1 - np.random.random()) / np.log(rho)))
