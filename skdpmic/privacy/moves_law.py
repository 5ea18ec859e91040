"""The distribution of noise on counts, up to grid steps: of one, or a sum of several (``docs/theory/summary.md``).

Given the size of a column's noise, the sum of its positive parts, these parts are those of a stick broken at random;
their number is also random.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.integrate import simpson
from scipy.optimize import brentq
from scipy.special import betainc, gammaincc, gammaln

_N_NODES = 4001


def tail_of_cells(z, n_cells, n_moves, n_together=1):
    """A bound on the probability that the sum of the noise on some cells of a column is above z; exact for one cell.

    Parameters
    ----------
    z : float, above 0
        Noise, in units of the scale.
    n_cells : int, at least 2
        Number of cells of the column.
    n_moves : int
        Number of cells of all columns, minus one for each column.
    n_together : int, default=1
        Number of cells in the sum, of which the positive parts are summed, which is no less.

    Returns
    -------
    float
    """
    sizes, density = _law_of_size(z, n_cells, n_moves)
    beyond = np.zeros_like(sizes)
    n_vectors = math.comb(2 * n_cells - 2, n_cells - 1)
    for n_positive in range(1, n_cells):
        of_signs = math.comb(n_cells, n_positive) * math.comb(n_cells - 2, n_positive - 1)
        for among in range(1, min(n_together, n_positive) + 1):
            ways = math.comb(n_together, among) * math.comb(n_cells - n_together, n_positive - among)
            likely = of_signs / n_vectors * ways / math.comb(n_cells, n_positive)
            beyond += likely * _share_above(z / sizes, among, n_positive)
    return float(simpson(beyond * density, x=sizes))


def _law_of_size(z, n_cells, n_moves):
    """Sizes above z of the noise on a column, and their density; there are other columns unless d equals n_moves."""
    d = n_cells - 1
    sizes = np.linspace(z, max(z, n_moves) + 12 * math.sqrt(n_moves + 1) + 40, _N_NODES)
    rest = n_moves + 1 - d
    with np.errstate(divide="ignore"):  # far in the tail
        logs = (d - 1) * np.log(sizes) + np.log(gammaincc(rest, sizes)) + gammaln(rest) - gammaln(n_moves + 1)
    return sizes, d * np.exp(logs)


def _share_above(share, among, n_positive):
    """The probability that the sum of some parts of a broken stick is above a share of it, in (0, 1]."""
    if among == n_positive:
        return np.ones_like(share)
    return betainc(n_positive - among, among, 1 - np.minimum(share, 1.0))


@lru_cache(maxsize=1024)
def reach_of_cells(tail, n_cells, n_moves, n_together=1):
    """The z at which :func:`tail_of_cells` is `tail`, in (0, 1/2)."""
    furthest = n_moves + 12 * math.sqrt(n_moves + 1) + 40 - math.log(tail)
    return brentq(lambda z: tail_of_cells(z, n_cells, n_moves, n_together) - tail, 1e-6, furthest, xtol=1e-9)
