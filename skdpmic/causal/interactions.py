"""Tables of counts taken apart into interactions, whose noises are independent of one another.

A table of some columns is a sum of one part for each set of these columns: what the set does beyond its subsets, which
sums to 0 along each of its columns. Noise of one variance on all cells stays independent from part to part, as these
are orthogonal. So what several tables say of one set is averaged, and the noise on anything that is linear in tables
has a variance in closed form (``docs/theory/private_pc.md``).
"""

import math
from itertools import combinations

import numpy as np


class Interactions:
    """What noisy tables say of each set of columns that is in one of them.

    Parameters
    ----------
    tables : dict of tuple of int to ndarray
        Counts with independent noise: of each increasing tuple of columns, an array with an axis for each.
    variances : dict of int to float
        Of the noise on a count, in squared records, by the number of columns of a table. All above 0, or all 0.
    n : int
        Number of records, which is public.

    Attributes
    ----------
    variance : dict of tuple of int to float
        Of each set: that of the noise on a cell of its table, before its sums are taken off. The noise on
        the interaction is noise of this variance on all cells, projected on what sums to 0 along each axis.
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
        """Whether a table had all of these columns, increasing."""
        return columns in self._parts

    def table(self, columns):
        """The table of these columns, increasing, of least squares; without interactions that no table tells of."""
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
        """Covariance of what the noise adds to sums of tables with weights.

        Parameters
        ----------
        weights : list of (tuple of int, ndarray of shape (n_sums, ...))
            Columns in any order, and the weights of the cells of their table, in each sum.

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
    """All subsets of some columns but the empty one, in their order."""
    return [subset for size in range(1, len(columns) + 1) for subset in combinations(columns, size)]


def centred(table, first=0):
    """What is left of a table when the mean along each axis from the first on is taken off."""
    for axis in range(first, table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table
