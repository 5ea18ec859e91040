"""Sums over the groups of equal values, of which rank statistics are means over all orders (``docs/theory/ranks.md``).

All are exact integers, or fractions of which only the last quotient is rounded.
"""

import math
import operator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

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
