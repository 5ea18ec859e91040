"""Laws of several columns that fit noisy tables: positive, and of one margin each."""

import math

import numpy as np

_FLOOR = 0.3  # of a cell, in standard deviations of its noise: one that is empty cannot be told from this
_LEAST = 0.01  # records in a cell, in tables without noise
_ROUNDS, _CLOSE = 30, 1e-7  # of the sum of all absolute changes
_TINY = 1e-300


class TableLaws:
    """The law of each set of columns, made when it is first asked for.

    A set of which a table tells has the law of that table, its cells no smaller than noise lets one know, scaled until
    all of its margins are the laws of its subsets. Any other has the law of largest entropy with these margins, by the
    same iterative proportional fitting: what its columns do together beyond its subsets is not known. Where no law has
    all of the margins, as they were estimated with noise, fitting ends near to them.

    Parameters
    ----------
    interactions : Interactions
    """

    def __init__(self, interactions):
        self._interactions, self._laws = interactions, {}

    def of(self, columns):
        """Probabilities of these columns, increasing: an ndarray with an axis for each, which is not to be changed."""
        if columns not in self._laws:
            self._laws[columns] = self._fitted(columns)
        return self._laws[columns]

    def of_first(self, column, others):
        """The same of a column, along the first axis, and of others, increasing, along the second all together."""
        columns = tuple(sorted((column, *others)))
        law = np.moveaxis(self.of(columns), columns.index(column), 0)
        return law.reshape(len(law), -1)

    def n_cells(self, columns):
        """How many probabilities there are."""
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
    """A positive table scaled along each axis in turn, until the sums over each are near to these.

    Parameters
    ----------
    law : ndarray
    margins : list of ndarray
        For each axis of `law` the sums over it, an array with one entry along that axis.

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
