"""Noisy tables of counts decomposed into interactions, and joint distributions fitted to them.

A table of several columns is a sum of one part for each subset of these columns: the interaction of the subset beyond
its own subsets, which sums to 0 along each of its columns. Noise of equal variance on all cells is independent between
parts, because these are orthogonal. So the estimates of a part from several tables are averaged, and the noise on
anything linear in tables has a closed-form variance (``docs/theory/private_pc.md``).
"""

import math
from functools import cache
from itertools import combinations, product

import numpy as np
from scipy.linalg import helmert


class Interactions:
    """The interactions of each set of columns contained in a noisy table.

    Parameters
    ----------
    tables : dict of tuple of int to ndarray
        Counts with independent noise: for each increasing tuple of columns, an array with one axis per column.
    variances : dict of int to float
        Variance of the noise on a count, in squared records, by the number of columns of a table. All above 0, or all
        0.
    n : int
        Number of records, which is public.

    Attributes
    ----------
    variance : dict of tuple of int to float
        For each set, the variance of the noise on a cell of its table before its sums are subtracted. The noise on the
        interaction is noise of this variance on all cells, projected on the tables that sum to 0 along each axis.
    """

    def __init__(self, tables, variances, n):
        self.n = n
        self.sizes = {}
        for columns, table in tables.items():
            self.sizes |= dict(zip(columns, table.shape, strict=True))
        sums, weights = {}, {}
        for columns, table in tables.items():
            for subset in subsets(columns):
                others = tuple(axis for axis, column in enumerate(columns) if column not in subset)
                weight = 1 / ((variances[len(columns)] or 1.0) * math.prod(table.shape[axis] for axis in others))
                sums[subset] = sums.get(subset, 0.0) + weight * centred(table.sum(axis=others))
                weights[subset] = weights.get(subset, 0.0) + weight
        self._parts = {subset: total / weights[subset] for subset, total in sums.items()}
        has_noise = any(variances[len(columns)] > 0 for columns in tables)
        self.variance = {subset: 1 / weight if has_noise else 0.0 for subset, weight in weights.items()}

    def knows(self, columns):
        """Whether a table contains all of these columns, in increasing order."""
        return columns in self._parts

    def n_cells(self, columns):
        """The number of cells of a table of these columns."""
        return math.prod(self.sizes[column] for column in columns)

    def table(self, columns):
        """The least-squares table of these columns (in increasing order), without unknown interactions."""
        sizes = [self.sizes[column] for column in columns]
        total = np.full(sizes, self.n / math.prod(sizes))
        for subset in filter(self.knows, subsets(columns)):
            kept = [size if column in subset else 1 for column, size in zip(columns, sizes, strict=True)]
            total += self._parts[subset].reshape(kept) * math.prod(kept) / total.size
        return total

    def cell_variance(self, columns):
        """The mean variance of the noise on a cell of :meth:`table`."""
        n_cells, total = self.n_cells(columns), 0.0
        for subset in filter(self.knows, subsets(columns)):
            sizes = [self.sizes[column] for column in subset]
            of_cell = math.prod(1 - 1 / size for size in sizes)
            total += of_cell * self.variance[subset] * (math.prod(sizes) / n_cells) ** 2
        return total

    def noise_of(self, weights):
        """Covariance of the noise on weighted sums of tables.

        Parameters
        ----------
        weights : list of (tuple of int, ndarray of shape (n_sums, ...))
            Columns in any order, and the weights of the cells of their table in each sum.

        Returns
        -------
        ndarray of shape (n_sums, n_sums)
        """
        if not any(self.variance.values()):
            return np.zeros((len(weights[0][1]),) * 2)
        of_subset = {}
        for columns, each in weights:
            for column in columns:  # each axis in turn, in a basis of the constant vector and those that sum to 0
                each = np.tensordot(each, _basis(self.sizes[column]), (1, 1))
            for subset in subsets(columns):
                in_order = tuple(sorted(subset))
                if self.knows(in_order):
                    kept = each[:, *(slice(1, None) if column in subset else 0 for column in columns)]
                    kept = kept.transpose(0, *(1 + subset.index(column) for column in in_order))
                    mean = (kept / math.sqrt(self.n_cells(columns) / self.n_cells(subset))).reshape(len(kept), -1)
                    of_subset[in_order] = of_subset.get(in_order, 0.0) + mean
        return sum(self.variance[subset] * (each @ each.T) for subset, each in of_subset.items())

    def noise_in_strata(self, i, j, given, off_i, off_j):
        """Covariance of the noise on the covariances of columns i and j in each stratum of others.

        Parameters
        ----------
        i, j : int
        given : tuple of int
        off_i, off_j : ndarrays of shape (n_parts - 1, n_strata)
            The mean of the indicator of each part of i, and of j, over its parts, minus that over the records.

        Returns
        -------
        ndarray of shape (n_strata, n_entries, n_entries)
        """
        total = 0.0
        ways = (self._ways(column, off) for column, off in ((i, off_i), (j, off_j)))
        for (of_i, left), (of_j, right) in product(*ways):
            total = total + self._in_a_stratum((*of_i, *of_j), given) * np.einsum("xus,yvs->sxyuv", left, right)
        return total.reshape(len(total), *(len(off_i) * len(off_j),) * 2)

    def _ways(self, column, off):
        """Products of indicators, averaged over a column, and centred along it."""
        varying = (np.eye(len(off)) - 1 / self.sizes[column])[..., None]
        return ((), off[:, None] * off), ((column,), np.repeat(varying, off.shape[1], axis=2))

    def _in_a_stratum(self, columns, given):
        """The variance of the noise on the interactions of these columns that is in each stratum."""
        total = 0.0
        for subset in ((), *subsets(given)):
            known = tuple(sorted((*columns, *subset)))
            if self.knows(known):
                others = math.prod(self.sizes[column] for column in given if column not in subset)
                total += self.variance[known] * math.prod(1 - 1 / self.sizes[column] for column in subset) / others**2
        return total


@cache
def _basis(size):
    """Orthonormal vectors, the first of which is constant."""
    return helmert(size, full=True)


def subsets(columns):
    """All nonempty subsets of some columns, in order."""
    return [subset for size in range(1, len(columns) + 1) for subset in combinations(columns, size)]


def centred(table):
    """A table minus its means along each axis."""
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table


_FLOOR = 0.3  # smallest cell, in standard deviations of its noise: indistinguishable from an empty one
_LEAST = 0.01  # records in the smallest cell of tables without noise
_ROUNDS, _CLOSE = 30, 1e-7  # tolerance of the sum of all absolute changes
_TINY = 1e-300


class TableLaws:
    """The joint distribution of each set of columns, computed on first use.

    For a set contained in a table, it is that of the table, with cells bounded below by the noise level, and scaled
    until its margins are the distributions of its subsets. For any other set, it is the distribution of largest entropy
    with these margins, found by the same iterative proportional fitting: the interaction of its columns beyond its
    subsets is unknown. If no distribution has all the margins, because these are noisy, fitting ends near them.

    Parameters
    ----------
    interactions : Interactions
    """

    def __init__(self, interactions):
        self._interactions, self._laws = interactions, {}

    def of(self, columns):
        """Probabilities of these columns (in increasing order): a read-only ndarray with one axis per column."""
        if columns not in self._laws:
            self._laws[columns] = self._fitted(columns)
        return self._laws[columns]

    def of_first(self, column, others):
        """Probabilities with one column along the first axis, and others (increasing) flattened along the second."""
        columns = tuple(sorted((column, *others)))
        law = np.moveaxis(self.of(columns), columns.index(column), 0)
        return law.reshape(len(law), -1)

    def _fitted(self, columns):
        law = self._start(columns)
        if len(columns) == 1:
            return law / law.sum()
        without = [columns[:axis] + columns[axis + 1 :] for axis in range(len(columns))]
        margins = [np.expand_dims(self.of(others), axis) for axis, others in enumerate(without)]
        return fitted_to_margins(law, margins)

    def _start(self, columns):
        known = self._interactions
        if not known.knows(columns):
            return np.full([known.sizes[column] for column in columns], 1 / known.n_cells(columns))
        return np.maximum(known.table(columns), self._least(columns)) / known.n

    def _least(self, columns):
        return max(_FLOOR * math.sqrt(self._interactions.cell_variance(columns)), _LEAST)

    def share_raised(self, columns):
        """The share of cells that were raised, of a set contained in a table."""
        return float((self._interactions.table(columns) < self._least(columns)).mean())


def fitted_to_margins(law, margins):
    """A positive table scaled along each axis in turn, until the sums over each are near these margins.

    Parameters
    ----------
    law : ndarray
    margins : list of ndarray
        For each axis of `law`, the sums over it, an array with one entry along that axis.

    Returns
    -------
    ndarray
    """
    for _ in range(_ROUNDS):
        before = law
        for axis, margin in enumerate(margins):
            law = law * (margin / np.maximum(law.sum(axis=axis, keepdims=True), _TINY))
        if np.abs(law - before).sum() < _CLOSE:
            break
    return law
