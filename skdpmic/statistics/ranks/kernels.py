"""Rank statistics, each a score in [0, 1]: Kendall, Chatterjee, and distance correlation of ranks.

All sums are exact integers. Only the last division or root is rounded: down, to a multiple of 2**-53. So rounding a
score down to a coarser grid gives the *exact* score rounded down to that grid (``docs/theory/ranks.md``).

Values are first converted to ranks, for a target once for all features. Equal values share their mean rank. Chatterjee
and distance correlation need an order, and are averaged over all orders of equal values: so a score depends on nothing
but the values. At most ``MAX_RECORDS`` records are allowed: their square, which bounds all numbers in kernels, fits in
62 bits.
"""

import math
import operator
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from skdpmic._utils.jit import jit, leaf

MAX_RECORDS = 2**31 - 1

# --- Ranks ------------------------------------------------------------------------------------------------------


def check_n_records(n):
    """Raise if sums over this many records could overflow in kernels."""
    if n > MAX_RECORDS:
        raise ValueError(f"scores can be computed for at most {MAX_RECORDS:,} records, got n_samples={n:,}.")


def mid_ranks(values):
    """Twice the mid-rank of each value, minus 1: the number of values below it, plus the number of values not above it.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        Finite.

    Returns
    -------
    ranks : int64 ndarray of shape (n_samples,)
        In 1 ... 2 n_samples - 1, with mean n_samples.
    """
    ranks = ranks_of(values)
    return ranks.mid[ranks.group]


# --- Scores -----------------------------------------------------------------------------------------------------


def kendall(x_ranks, y_ranks):
    """Kendall's |tau-a|: concordant minus discordant pairs, over all pairs; a pair tied in x or y counts 0.

    Parameters
    ----------
    x_ranks, y_ranks : int64 ndarrays of shape (n_samples,)
        From `mid_ranks`, of at least 2 records.

    Returns
    -------
    float
        In [0, 1], rounded down to a multiple of 2**-53.
    """
    n = len(x_ranks)
    return quotient(2 * abs(concordance(x_ranks, y_ranks)), n * (n - 1))


def chatterjee(x, y):
    """Chatterjee's xi, the larger of both directions: 1 - 3 sum |r_{i+1} - r_i| / (n^2 - 1), clipped at 0.

    r_1, r_2, ... are the ranks of one variable, the records in ascending order of the other. The sum is its mean over
    all orders of equal values, in both variables.

    Parameters
    ----------
    x, y : Ranks
        Of at least 2 records.

    Returns
    -------
    float
        In [0, 1], rounded down to a multiple of 2**-53.

    References
    ----------
    .. [1] S. Chatterjee, "A New Coefficient of Correlation", Journal of the American Statistical Association 2021.
    """
    n = len(x.group)
    score = max(1 - min(_variation(x, y), _variation(y, x)) * 3 / (n**2 - 1), Fraction(0))
    return quotient(score.numerator, score.denominator)


def distance_correlation(x, y):
    """Distance correlation of ranks, which equals their Hoeffding's Phi.

    With N_ij the number of records of x-rank <= i and y-rank <= j, counted from 1, it is the root of ``sum (N_ij -
    i j / n)^2 / sum (min(i, j) - i j / n)^2``, over all i, j < n. N_ij is its mean over all orders of equal values.

    Parameters
    ----------
    x, y : Ranks
        Of at least 2 records.

    Returns
    -------
    float
        In [0, 1], rounded down to a multiple of 2**-53.

    References
    ----------
    .. [1] G. J. Székely, M. L. Rizzo and N. K. Bakirov, "Measuring and Testing Dependence by Correlation of
       Distances", Annals of Statistics 2007.
    """
    # With a_ij and b_ij the doubled distances of two records in x and in y: sum a_ij b_ij, sum a_i. b_i., a.. = b..
    n = len(x.group)
    of_all = Fraction(2 * n * (n**2 - 1), 3)
    covariance = n**2 * _sum_over_pairs(x, y) - 2 * n * _sum_over_rows(x, y) + of_all**2
    squared = 45 * covariance / (4 * n**2 * (n**2 - 1) * (2 * n**2 + 7))
    return root_of_quotient(squared.numerator, squared.denominator)


# --- Their sums -------------------------------------------------------------------------------------------------


def concordance(x_ranks, y_ranks):
    """Concordant minus discordant pairs of records, an int; for a column and itself, the number of untied pairs.

    Parameters
    ----------
    x_ranks, y_ranks : int64 ndarrays of shape (n_samples,)
        From `mid_ranks`.
    """
    # Halved mid-ranks of different values are still different, and below n.
    room = np.zeros((5, len(x_ranks) + 1), dtype=np.int64)
    return int(_concordance(x_ranks >> 1, y_ranks >> 1, room))


# Rows of the workspace of `_concordance`, and of the trees of `_fill_distances_to_earlier`. Arguments of leaves have
# numpy types, because numba would compile them separately for each int.
_TREE, _EQUAL, _FIRST, _FREE, _Y_IN_ORDER = np.arange(5)
_COUNTS, _SUMS = np.arange(2)


@jit
def _concordance(x_ranks, y_ranks, room):
    """Concordant minus discordant pairs of records, from ranks in 0 ... n - 1 that are equal for equal values."""
    n = len(x_ranks)
    for rank in x_ranks:
        room[_FIRST, rank + 1] += 1
    for rank in range(n):  # number of records with a lower rank in x
        room[_FIRST, rank + 1] += room[_FIRST, rank]
        room[_FREE, rank] = room[_FIRST, rank]
    for i in range(n):
        room[_Y_IN_ORDER, room[_FREE, x_ranks[i]]] = y_ranks[i]
        room[_FREE, x_ranks[i]] += 1

    concordance = 0
    for rank in range(n):  # the tree contains ranks in y of the previous records
        start, end = room[_FIRST, rank], room[_FIRST, rank + 1]
        for i in range(start, end):
            y_rank = room[_Y_IN_ORDER, i]
            below = _sum_below(room, _TREE, y_rank)
            concordance += below - (start - below - room[_EQUAL, y_rank])
        for i in range(start, end):
            _add(room, _TREE, room[_Y_IN_ORDER, i], np.int64(1))
            room[_EQUAL, room[_Y_IN_ORDER, i]] += 1
    return concordance


@jit
def _fill_distances_to_earlier(groups, mid, trees, distances):
    """For each record, the sum of the distances of its mid-rank to those before it.

    `trees` is a workspace of zeros: the number of previous records in each group, and the sum of their mid-ranks.
    """
    total = 0
    for i in range(len(groups)):
        group = groups[i]
        rank = mid[group]
        n_below, total_below = _sum_below(trees, _COUNTS, group), _sum_below(trees, _SUMS, group)
        distances[i] = rank * n_below - total_below + (total - total_below) - rank * (i - n_below)
        _add(trees, _COUNTS, group, np.int64(1))
        _add(trees, _SUMS, group, rank)
        total += rank


@leaf
def _add(trees, tree, place, amount):
    """Add `amount` to entry `place` of a Fenwick tree: node k holds the sum of the entries k - (k & -k) ... k - 1."""
    node = place + 1
    while node < trees.shape[1]:
        trees[tree, node] += amount
        node += node & -node


@leaf
def _sum_below(trees, tree, place):
    """The sum of the entries 0 ... place - 1 of a Fenwick tree."""
    total = 0
    node = place
    while node > 0:
        total += trees[tree, node]
        node -= node & -node
    return total


def _to_all(ranks):
    """The sum of the doubled distances of a record of each group to the mid-ranks of all, as uint64."""
    n, sizes = np.uint64(ranks.sizes.sum()), ranks.sizes.astype(np.uint64)
    below = np.cumsum(sizes) - sizes
    return 2 * below * (below + sizes) + n * n - (2 * below + sizes) * n  # what wraps is within range in the end


def _sum_over_rows(x, y):
    """The sum of a_k. b_k. over all records; the distances in :func:`_sum_over_pairs`."""
    x_to_all, y_to_all = (3 * _to_all(ranks) + 2 * (ranks.sizes.astype(np.uint64) ** 2 - 1) for ranks in (x, y))
    return Fraction(exact_dot(x_to_all[x.group], y_to_all[y.group]), 9)


def _sum_over_pairs(x, y):
    """The sum of a_kl b_kl over all pairs of records, with each record also paired with itself.

    A distance is the mean of doubled ranks if the ties of the two records are ordered independently of one another:
    that of their mid-ranks, and if both are in one group, `_within`.
    """
    order, to_earlier = np.argsort(x.group), np.empty(len(x.group), dtype=np.int64)
    groups = y.group[order]
    _fill_distances_to_earlier(groups, y.mid, np.zeros((2, len(y.sizes) + 1), dtype=np.int64), to_earlier)
    in_order = x.mid[x.group[order]].astype(np.uint64)
    of_mid_ranks = 4 * exact_dot(in_order, to_earlier.view(np.uint64)) - 2 * exact_dot(in_order, _to_all(y)[groups])
    if x.is_untied and y.is_untied:
        return Fraction(of_mid_ranks)
    cells = crossed(x.group, y)
    of_x = weighted_sum(_within, distances_within(cells, y), x.sizes)
    of_y = weighted_sum(_within, distances_within(crossed(y.group, x), x), y.sizes)
    of_both = weighted_sum(_within, cells.counts**2, x.sizes[cells.label], y.sizes[cells.group])
    return of_mid_ranks + 2 * of_x + 2 * of_y + of_both


def _within(size):
    """The mean distance of two doubled ranks, each uniform in a group of this size."""
    return Fraction(2 * (size**2 - 1), 3 * size)


def _variation(x, y):
    """The sum of |r_{i+1} - r_i| of the ranks in y, the records in ascending order of x: its mean over orders of ties.

    In a group of x, each of size - 1 neighbours is a random pair; so is each pair of neighbours of two groups.
    """
    if x.is_untied and y.is_untied:
        return Fraction(int(np.abs(np.diff(_reordered(y.group, x.group))).sum()))
    own = sixfold_gaps(x.group, y)
    across = np.zeros(len(x.sizes) - 1, dtype=own.dtype)
    for first in (0, 1):  # of two groups next to one another, less those within each
        together = sixfold_gaps((x.group + first) // 2, y)[first:]
        across[first::2] = together[: len(across[first::2])]
    across -= own[1:] + own[:-1]
    of_each = partial(Fraction, 1)
    return (2 * weighted_sum(of_each, own, x.sizes) + weighted_sum(of_each, across, x.sizes[1:], x.sizes[:-1])) / 6


def _reordered(values, places):
    reordered = np.empty_like(values)
    reordered[places] = values
    return reordered


# --- Exact arithmetic -------------------------------------------------------------------------------------------


def exact_dot(a, b):
    """The sum of the products of two uint64 arrays of less than 2**32 entries, as a Python int.

    Products of 32-bit halves fit in 64 bits; so do sums of this many halves of these.
    """
    return sum(
        _dot_of_halves(half_of_a, half_of_b) << (shift_of_a + shift_of_b)
        for half_of_a, shift_of_a in _halves(a)
        for half_of_b, shift_of_b in _halves(b)
    )


def _halves(numbers):
    low, high = numbers & _LOW, numbers >> _HALF
    return [(low, 0), (high, 32)] if high.any() else [(low, 0)]


def _dot_of_halves(a, b):
    products = a * b
    return int((products & _LOW).sum()) + (int((products >> _HALF).sum()) << 32)


_HALF, _LOW = np.uint64(32), np.uint64(2**32 - 1)


def quotient(numerator, denominator):
    """A quotient in [0, 1], rounded down to a multiple of 2**-53, which is exact as a float."""
    return (numerator << 53) // denominator * 2.0**-53


def root_of_quotient(numerator, denominator):
    """The root of a quotient in [0, 1], rounded down to a multiple of 2**-53."""
    return math.isqrt((numerator << 106) // denominator) * 2.0**-53


_FITS = 2**20  # records: sums of distances over their pairs fit in 62 bits


class Ranks(NamedTuple):
    """The groups of equal values of a column."""

    group: np.ndarray  # (n_samples,), of each record, from 0, ascending with the value
    sizes: np.ndarray  # (n_groups,), int64

    @property
    def mid(self):
        """Twice the mid-rank of each group, minus 1: the records below it, plus those not above it."""
        return 2 * np.cumsum(self.sizes) - self.sizes

    @property
    def is_untied(self):
        """Whether all values are distinct."""
        return len(self.sizes) == len(self.group)


def ranks_of(values):
    """The ranks of an ndarray of finite values."""
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    return Ranks(group, sizes)


class Crossed(NamedTuple):
    """Records with the same label and in the same group of y, in ascending order of both."""

    label: np.ndarray
    group: np.ndarray
    counts: np.ndarray

    @property
    def first(self):
        """The first cell of each label."""
        return np.flatnonzero(np.diff(self.label, prepend=-1))


def crossed(labels, y):
    """The cells of records with these labels, from 0, all in use."""
    codes, counts = np.unique(labels * len(y.sizes) + y.group, return_counts=True)
    label, group = np.divmod(codes, len(y.sizes))
    return Crossed(label, group, counts.astype(np.int64 if len(labels) <= _FITS else object))


def distances_within(cells, y):
    """The sum of the doubled distances of mid-ranks in y over all pairs of records with the same label: by label."""
    first, until = cells.first, np.cumsum(cells.counts)
    n_cells = np.diff(first, append=len(cells.label))
    ends = until[np.append(first[1:], len(until)) - 1]
    starts = np.append([0], ends[:-1])
    both_sides = 2 * until - cells.counts - np.repeat(starts + ends, n_cells)
    return np.add.reduceat(cells.counts * y.mid[cells.group] * both_sides, first)


def sixfold_gaps(labels, y):
    """Six times the mean distance of ranks in y, over all orders of ties, summed over the same pairs: by label."""
    cells = crossed(labels, y)
    of_ties = (y.sizes[cells.group] + 1) * cells.counts * (cells.counts - 1)
    return 3 * distances_within(cells, y) + np.add.reduceat(of_ties, cells.first)


def weighted_sum(weight, sums, *sizes):
    """The sum of ``sums * weight(size)``, or of the products of the weights of several sizes: a Fraction.

    Parameters
    ----------
    weight : callable
        A size to a Fraction whose denominator divides 3 times the size.
    sums : ndarray of integers of shape (n_sums,)
    *sizes : int64 ndarrays of shape (n_sums,)
        Sizes of groups.
    """
    step = max(int(of_one.max(initial=0)) for of_one in sizes) + 1
    codes, place = np.unique(sum(of_one * step**i for i, of_one in enumerate(sizes)), return_inverse=True)
    totals = np.zeros(len(codes), dtype=sums.dtype)
    np.add.at(totals, place, sums)
    sizes_of = [[code // step**i % step for i in range(len(sizes))] for code in codes.tolist()]
    unit = 3 * math.lcm(*{size for some in sizes_of for size in some})
    weights = {size: int(weight(size) * unit) for some in sizes_of for size in some}
    products = (math.prod(map(weights.get, some)) for some in sizes_of)
    return Fraction(sum(map(operator.mul, totals.tolist(), products)), unit ** len(sizes))
