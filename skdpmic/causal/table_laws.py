"""Joint distributions of several columns that fit noisy tables: positive, with consistent margins."""

import math

import numpy as np

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

    def n_cells(self, columns):
        """The number of probabilities."""
        return math.prod(self._interactions.sizes[column] for column in columns)

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
            return np.full([known.sizes[column] for column in columns], 1 / self.n_cells(columns))
        floor = max(_FLOOR * math.sqrt(known.cell_variance(columns)), _LEAST)
        return np.maximum(known.table(columns), floor) / known.n


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
