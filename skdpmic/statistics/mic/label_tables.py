"""MICr of a nominal feature and classes: nothing is merged by the data, so the grids are a few public tables."""

import math
from itertools import product

import numpy as np

from skdpmic.statistics.mic.in_two_groups import classes_in_two, labels_in_two
from skdpmic.table.nominal import groupings_of_classes, groupings_of_labels


class LabelTables:
    """The grids of a nominal feature against classes: each grouping of its codes with each of the classes.

    And its codes in two groups against all classes; unless these are all groupings, the classes against all codes, too.

    Parameters
    ----------
    n_labels, n_classes : int
    chance : float, default=0.0
        As of :func:`skdpmic.statistics.mic.optimize_axis.largest_entry`.
    """

    def __init__(self, n_labels, n_classes, chance=0.0):
        self._labels_in_two = labels_in_two(n_labels, n_classes, chance)
        self._classes_in_two = classes_in_two(n_labels, n_classes, chance)
        self.shape, self.count = self._labels_in_two.shape, self._labels_in_two.count
        self._chance = chance
        self._of_labels, self._of_classes = groupings_of_labels(n_labels), groupings_of_classes(n_classes)

    @property
    def in_two(self):
        """The labels in two groups; unless these are all groupings, the classes, too."""
        return [self._labels_in_two] if self._labels_in_two.has_all else [self._labels_in_two, self._classes_in_two]

    @property
    def plan(self):
        """The largest table, as a plan of one grid."""
        return np.array([[*self.shape, self.shape[1]]])

    def largest_entry(self, counts, table):
        """The largest (I - o) / log2 of the smaller number of parts, in [0, 1]."""
        joined = [(_joined(counts, grouping.groups), grouping.degrees) for grouping in self._of_labels]
        entries = [
            self._entry(_joined(rows.T, grouping.groups), degrees * grouping.degrees, table)
            for (rows, degrees), grouping in product(joined, self._of_classes)
        ]
        entries.append(self._labels_in_two.largest_entry(counts, table))
        if not self._labels_in_two.has_all:
            entries.append(self._classes_in_two.largest_entry(counts.T, table))
        return min(max(entries), 1.0)

    def _entry(self, cells, degrees, table):
        g, n = table.g, len(table.g) - 1
        n_mi = g[cells].sum() - g[cells.sum(axis=0)].sum() - g[cells.sum(axis=1)].sum() + g[n]
        offset = self._chance * table.scale * degrees
        return max((n_mi - offset) / (math.log2(min(cells.shape)) * (table.scale * n)), 0.0)


def _joined(counts, groups):
    """The rows of a table added up in groups."""
    joined = np.zeros((max(groups) + 1, counts.shape[1]), dtype=np.int64)
    np.add.at(joined, np.array(groups), counts)
    return joined
