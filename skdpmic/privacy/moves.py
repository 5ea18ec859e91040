"""Exact noise for counts in the cells of several columns at once (``docs/theory/summary.md``).

A changed record moves from one cell to another in each column, so the counts of a column change by at most one move.
The noise is calibrated to that: it is a vector z of integers for each column, with sum 0 and size N(z), the sum of its
positive parts, and ``P(z_1, z_2, ...)`` is proportional to ``exp(-max N(z_j) / scale)``.
"""

import math
from bisect import bisect_right
from collections import Counter
from functools import lru_cache
from itertools import accumulate, pairwise

import numpy as np
from scipy.integrate import simpson
from scipy.optimize import brentq
from scipy.special import betainc, gammaincc, gammaln

from skdpmic.privacy.noise import geometric, uniform_below


def n_within(n_cells, size):
    """The number of integer vectors with sum 0 and at most this size (Conway and Sloane 1997, lattice A_d).

    Parameters
    ----------
    n_cells : int, at least 2
    size : int, at least -1

    Returns
    -------
    int
        ``sum(comb(d, k)**2 comb(size + d - k, d) for k = 0 ... d)``, with d the number of cells less one.
    """
    d = n_cells - 1
    return sum(math.comb(d, k) ** 2 * math.comb(size + d - k, d) for k in range(min(d, size) + 1))


def n_of_signs(n_cells, size):
    """The numbers of these vectors with exactly this size, above 0, by their number of positive cells, from 1 on."""
    return [
        math.comb(n_cells, i) * math.comb(size - 1, i - 1) * math.comb(size + n_cells - i - 1, n_cells - i - 1)
        for i in range(1, n_cells)
    ]


def discrete_moves(n_cells, scale, random_bytes):
    """Noise for the counts of several columns.

    The distribution is a mixture, over a radius r, of uniform distributions on all vectors with sizes up to r.

    Parameters
    ----------
    n_cells : list of int
        Number of cells of each column, at least 2.
    scale : int or Fraction, above 0
    random_bytes : callable
        From :func:`skdpmic.privacy.noise.entropy_source`.

    Returns
    -------
    list of ndarrays of shape (n_cells_j,)
        Python integers.
    """
    radius = _radius(n_cells, scale, random_bytes)
    return [_uniform_within(m, radius, random_bytes) for m in n_cells]


def _radius(n_cells, scale, random_bytes):
    """An integer r >= 0 with ``P(r)`` proportional to ``exp(-r / scale)`` times the number of vectors within r.

    The sum g of D + 1 geometric numbers, D the sum of all d, has P(g) proportional to (g + 1) ... (g + D) exp(-g /
    scale). It is kept with the quotient of the two, which is at most 1: each comb(g + d - k, d) is at most
    comb(g + d, d), and the sum of comb(d, k)**2 is comb(2 d, d).
    """
    degrees = [m - 1 for m in n_cells]
    largest = math.prod(math.comb(2 * d, d) for d in degrees)
    factorials = math.prod(map(math.factorial, degrees))
    while True:
        radius = sum(geometric(scale, sum(degrees) + 1, random_bytes).tolist())
        n_vectors = math.prod(n_within(m, radius) ** count for m, count in Counter(n_cells).items())
        bound = largest * math.perm(radius + sum(degrees), sum(degrees))
        if uniform_below(bound, 1, random_bytes)[0] < n_vectors * factorials:
            return radius


def _uniform_within(n_cells, radius, random_bytes):
    """A uniformly random integer vector with sum 0 and at most this size."""
    place = int(uniform_below(n_within(n_cells, radius), 1, random_bytes)[0])
    size = _first(lambda size: n_within(n_cells, size) > place, radius)
    moves = np.zeros(n_cells, dtype=object)
    if size == 0:
        return moves
    ends = list(accumulate(n_of_signs(n_cells, size)))  # a choice by weight
    n_positive = 1 + bisect_right(ends, int(uniform_below(ends[-1], 1, random_bytes)[0]))
    is_positive = np.zeros(n_cells, dtype=bool)
    is_positive[_subset(n_cells, n_positive, random_bytes)] = True
    n_others = n_cells - n_positive
    moves[is_positive] = _parts(size, n_positive, random_bytes)
    # Parts that may be 0 are the positive parts of a larger number, minus one each.
    moves[~is_positive] = [1 - part for part in _parts(size + n_others, n_others, random_bytes)]
    return moves


def _first(holds, highest):
    """The smallest of 0 ... highest for which the monotonic condition holds."""
    low, high = 0, highest
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _parts(total, n_parts, random_bytes):
    """A uniformly random composition of a number into this many positive parts."""
    cuts = sorted(_subset(total - 1, n_parts - 1, random_bytes))
    ends = [0, *(cut + 1 for cut in cuts), total]
    return [after - before for before, after in pairwise(ends)]


def _subset(n, size, random_bytes):
    """A uniformly random subset of this size of 0 ... n - 1 (Floyd's algorithm)."""
    chosen: set[int] = set()
    for last in range(n - size, n):
        one = int(uniform_below(last + 1, 1, random_bytes)[0])
        chosen.add(last if one in chosen else one)
    return list(chosen)


# --- The distribution of the noise on counts -------------------------------------------------------------------------
#
# The distribution of noise on counts, up to grid steps: of one, or a sum of several (``docs/theory/summary.md``).
#
# Given the size of a column's noise, the sum of its positive parts, these parts are those of a stick broken at
# random; their number is also random.


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
        Number of cells in the sum; the positive parts are summed, which gives an upper bound.

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
