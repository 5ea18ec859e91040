"""Rank statistics, each a score in [0, 1]: Kendall, Chatterjee, and distance correlation of ranks.

All sums are exact integers. Only the last division or root is rounded: down, to a multiple of 2**-53. So rounding a
score down to a coarser grid gives the *exact* score rounded down to that grid (``docs/theory/ranks.md``).

Values are first converted to ranks, for a target once for all features: :func:`mid_ranks` for Kendall, which
treats equal values as equal; :func:`strict_ranks` for Chatterjee and distance correlation, which need an order. At
most ``MAX_RECORDS`` records are allowed: their square, which bounds all numbers in kernels, fits in 62 bits.
"""

import math

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
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    return (2 * np.cumsum(sizes) - sizes)[group]


def keys_of_feature(keys, number):
    """The keys that order equal values of one feature: those of the records, mixed with the number of the feature.

    They are effectively independent between features. With the same keys for all features, the scores of features with
    ties would be correlated, even if the features are independent.

    Parameters
    ----------
    keys : uint64 ndarray of shape (n_samples,)
        Random keys of the records.
    number : int
        Number of the feature, from 0.

    Returns
    -------
    uint64 ndarray of shape (n_samples,)

    References
    ----------
    .. [1] G. L. Steele, D. Lea and C. H. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014, whose
       last step this is.
    """
    mixed = keys + np.uint64((number + 1) * _GOLDEN % 2**64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


_GOLDEN = 0x9E3779B97F4A7C15  # 2**64 over the golden ratio


def strict_ranks(values, keys, number=None):
    """The distinct rank of each value, from 0.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        Finite.
    keys : ndarray of shape (n_samples,)
        Keys that order equal values; equal keys are ordered by position. They must not depend on the data, nor be those
        of another column: two constant columns would have the same ranks.
    number : int, default=None
        Number of one of several features, each with its own order; the keys are then those of `keys_of_feature`.

    Returns
    -------
    ranks : int64 ndarray of shape (n_samples,)
        A permutation of 0 ... n_samples - 1.
    """
    order = np.argsort(values)
    ascending = values[order]
    if (ascending[1:] == ascending[:-1]).any():
        order = np.lexsort((keys if number is None else keys_of_feature(keys, number), values))
    return _reordered(np.arange(len(order), dtype=np.int64), order)


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


def chatterjee(x_ranks, y_ranks):
    """Chatterjee's xi, the larger of both directions: 1 - 3 sum |r_{i+1} - r_i| / (n^2 - 1), clipped at 0.

    r_1, r_2, ... are the ranks of one variable, the records in ascending order of the other.

    Parameters
    ----------
    x_ranks, y_ranks : int64 ndarrays of shape (n_samples,)
        From `strict_ranks`, of at least 2 records.

    Returns
    -------
    float
        In [0, 1], rounded down to a multiple of 2**-53.

    References
    ----------
    .. [1] S. Chatterjee, "A New Coefficient of Correlation", Journal of the American Statistical Association 2021.
    """
    n = len(x_ranks)
    variation = min(_variation(x_ranks, y_ranks), _variation(y_ranks, x_ranks))
    return quotient(max(n**2 - 1 - 3 * variation, 0), n**2 - 1)


def distance_correlation(x_ranks, y_ranks):
    """Distance correlation of ranks, which equals their Hoeffding's Phi.

    With N_ij the number of records of x-rank <= i and y-rank <= j, counted from 1, it is the root of ``sum (N_ij -
    i j / n)^2 / sum (min(i, j) - i j / n)^2``, over all i, j < n. The sums are the squared distance covariance of the
    ranks and their squared distance variance, as V-statistics, times n^2 / 4.

    Parameters
    ----------
    x_ranks, y_ranks : int64 ndarrays of shape (n_samples,)
        From `strict_ranks`, of at least 2 records.

    Returns
    -------
    float
        In [0, 1], rounded down to a multiple of 2**-53.

    References
    ----------
    .. [1] G. J. Székely, M. L. Rizzo and N. K. Bakirov, "Measuring and Testing Dependence by Correlation of
       Distances", Annals of Statistics 2007.
    """
    n = len(x_ranks)
    y_in_order = _reordered(y_ranks, x_ranks)
    rank = np.arange(n, dtype=np.uint64)
    to_all = rank * (rank + 1) // 2 + (n - 1 - rank) * (n - rank) // 2  # the sum of its distances to all ranks
    y_to_all = to_all[y_in_order]
    y_to_earlier = np.empty(n, dtype=np.int64)
    _fill_distances_to_earlier(y_in_order, np.zeros((2, n + 1), dtype=np.int64), y_to_earlier)
    y_to_earlier = y_to_earlier.view(np.uint64)

    # With a_ij and b_ij the distances of two records in x and in y: sum a_ij b_ij, sum a_i. b_i., and a.. = b..
    of_pairs = 4 * exact_dot(rank, y_to_earlier) - 2 * exact_dot(rank, y_to_all)
    of_rows = exact_dot(to_all, y_to_all)
    of_all = n * (n**2 - 1) // 3
    covariance = n**2 * of_pairs - 2 * n * of_rows + of_all**2
    return root_of_quotient(45 * covariance, n**2 * (n**2 - 1) * (2 * n**2 + 7))


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
def _fill_distances_to_earlier(ranks, trees, distances):
    """For each entry of a permutation of 0 ... n - 1, the sum of its distances to those before it.

    `trees` is a workspace of zeros: the number of previous entries, and their sum.
    """
    total = 0
    for i in range(len(ranks)):
        rank = ranks[i]
        n_below, total_below = _sum_below(trees, _COUNTS, rank), _sum_below(trees, _SUMS, rank)
        distances[i] = rank * n_below - total_below + (total - total_below) - rank * (i - n_below)
        _add(trees, _COUNTS, rank, np.int64(1))
        _add(trees, _SUMS, rank, rank)
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


def _variation(x_ranks, y_ranks):
    """The sum of |r_{i+1} - r_i| of the ranks in y, the records in ascending order of x."""
    return int(np.abs(np.diff(_reordered(y_ranks, x_ranks))).sum())


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
