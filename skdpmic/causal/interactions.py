"""Decomposition of tables of counts into interactions, whose noise is independent.

A table of several columns is a sum of one part for each subset of these columns: the interaction of the subset beyond
its own subsets, which sums to 0 along each of its columns. Noise of equal variance on all cells is independent between
parts, because these are orthogonal. So the estimates of a part from several tables are averaged, and the noise on
anything linear in tables has a closed-form variance (``docs/theory/private_pc.md``).
"""

import math
from itertools import combinations

import numpy as np


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
        n_cells = math.prod(self.sizes[column] for column in columns)
        total = 0.0
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
        of_subset = {}
        for columns, each in weights:
            for subset in subsets(columns):
                mean = each.mean(axis=tuple(1 + axis for axis, column in enumerate(columns) if column not in subset))
                in_order = tuple(sorted(subset))
                if self.knows(in_order):
                    mean = mean.transpose(0, *(1 + subset.index(column) for column in in_order))
                    of_subset[in_order] = of_subset.get(in_order, 0.0) + mean
        n_sums = len(weights[0][1])
        total = np.zeros((n_sums, n_sums))
        for subset, each in of_subset.items():
            flat = centred(each, first=1).reshape(n_sums, -1)
            total += self.variance[subset] * (flat @ flat.T)
        return total


def subsets(columns):
    """All nonempty subsets of some columns, in order."""
    return [subset for size in range(1, len(columns) + 1) for subset in combinations(columns, size)]


def centred(table, first=0):
    """A table minus its means along each axis, starting from axis `first`."""
    for axis in range(first, table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table
