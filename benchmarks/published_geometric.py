"""MICr-Geom as published, to compare with: NOT epsilon-differentially private (``docs/theory/geometric.md``).

Mechanism 3 of Lazarsfeld, Johnson and Adeniran (ICML 2022), written from its description, with the reduced master
partitions of its Appendix E.1. Every master grid gets fresh noise at the whole epsilon, so the budget that is really
spent grows with the number of grids.
"""

import numpy as np

from skdpmic.mic.statistics import continuous_plan
from skdpmic.mic.tables import mic_of_class_table
from skdpmic.privacy.geometric import GeometricMechanism, TableCounter, parts_of_range


def published_masters(B, c):
    """Shapes (master parts of x, master parts of y) of the tables that get noise, in both orientations."""
    shapes = [(int(n_master), int(n_fixed)) for n_fixed, n_master, _ in continuous_plan(B, c, "reduced")]
    return shapes + [shape[::-1] for shape in shapes]


def mic_r_geometric_published_not_dp(x, y, epsilon, bounds, B, c, source):
    """The published score. Each of its tables alone is epsilon-DP; together they are not.

    Parameters
    ----------
    x, y : ndarray of shape (n_samples,)
    epsilon : float
        Budget of each table.
    bounds : ((x_lo, x_hi), (y_lo, y_hi))
    B : float, at least 4
    c : float, above 0
    source : callable
        From ``skdpmic.privacy.noise.entropy_source``.
    """
    mechanism = GeometricMechanism.for_budget(epsilon, 1)
    largest = 0.0
    for free, fixed in (((x, bounds[0]), (y, bounds[1])), ((y, bounds[1]), (x, bounds[0]))):
        for n_fixed, n_master, k_max in continuous_plan(B, c, "reduced"):
            counter = TableCounter(parts_of_range(*fixed, n_fixed), n_fixed, n_master)
            noisy = mechanism.release(counter.count(*free), len(x), source)
            if noisy.any():
                largest = max(largest, mic_of_class_table(noisy, n_fixed * k_max))
    return float(np.clip(largest, 0, 1))
