"""The law of noise for counts in cells, up to grid steps: of one, or several added up (``docs/theory/summary.md``).

Given how large a column's noise is, which is the sum of its positive parts, these are the parts of a stick that is
broken at random; how many there are has a law of its own.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.integrate import simpson
from scipy.optimize import brentq
from scipy.special import betainc, gammaincc, gammaln

_N_NODES = 4001


def tail_of_cells(z, n_cells, n_moves, n_together=1):
    """A bound on how likely the noise on some cells of one column, added up, is above z: exact for one cell.

    Parameters
    ----------
    z : float, above 0
        In units of the scale.
    n_cells : int, at least 2
        Cells of the column.
    n_moves : int
        The cells of all columns, less one for each.
    n_together : int, default=1
        How many cells are added up; their positive parts are, which is no less.

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
    """Sizes above z of the noise on a column, and their density; there are other columns unless d is n_moves."""
    d = n_cells - 1
    sizes = np.linspace(z, max(z, n_moves) + 12 * math.sqrt(n_moves + 1) + 40, _N_NODES)
    rest = n_moves + 1 - d
    with np.errstate(divide="ignore"):  # far above, where nothing is left
        logs = (d - 1) * np.log(sizes) + np.log(gammaincc(rest, sizes)) + gammaln(rest) - gammaln(n_moves + 1)
    return sizes, d * np.exp(logs)


def _share_above(share, among, n_positive):
    """How likely some parts of a broken stick are together above a share of it, in (0, 1]."""
    if among == n_positive:
        return np.ones_like(share)
    return betainc(n_positive - among, among, 1 - np.minimum(share, 1.0))


@lru_cache(maxsize=1024)
def reach_of_cells(tail, n_cells, n_moves, n_together=1):
    """The z at which :func:`tail_of_cells` is `tail`, in (0, 1/2)."""
    furthest = n_moves + 12 * math.sqrt(n_moves + 1) + 40 - math.log(tail)
    return brentq(lambda z: tail_of_cells(z, n_cells, n_moves, n_together) - tail, 1e-6, furthest, xtol=1e-9)
