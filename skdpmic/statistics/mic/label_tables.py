"""MICr of a nominal feature: its labels in two groups, and its tables against classes. No merge depends on the data.

For up to 16 codes or classes, all groupings in two are used; for more, a public selection. So the two parts into which
a numeric feature would be merged are included, for any numbering of the labels. With too many labels, the classes are
in two groups instead, which gives about the same information.
"""

import math
from functools import lru_cache
from itertools import product

import numpy as np

from skdpmic._utils.jit import jit
from skdpmic.statistics.grids import cuts, parities
from skdpmic.statistics.mic.merges import groupings_of_classes, groupings_of_labels
from skdpmic.table.domains import Nominal

MOST_ROWS = 16  # for which all groupings in two are used, 2**15,
MOST_COLUMNS = 64  # against this many columns, in a few milliseconds
_MOST_PARTS = 48  # equal parts of a numeric target


def n_columns_of(B):
    """Equal parts of a numeric target, for a maximum grid size B: fewer than allowed, because the best is biased."""
    return int(min(max(B // 5, 2), _MOST_PARTS))


def labels_in_two(n_labels, n_columns, chance=0.0):
    """The codes of a nominal feature in two groups, against classes or equal parts of a target.

    Parameters
    ----------
    n_labels, n_columns : int
    chance : float, default=0.0
        As in :func:`skdpmic.statistics.mic.optimize_axis.largest_entry`.
    """
    return InTwoGroups(Nominal(n_labels).n_parts, n_columns, chance * degrees_in_two(n_labels, n_columns))


def classes_in_two(n_labels, n_classes, chance=0.0):
    """The classes of a target in two groups, against the codes of a nominal feature; parameters as above."""
    return InTwoGroups(n_classes, Nominal(n_labels).n_parts, chance * degrees_in_two(n_classes, n_labels))


def degrees_in_two(n_rows, n_columns):
    """Degrees of freedom for the bias correction of the best grouping in two; two rows have only one grouping.

    Measured: the mean of the best of all groupings, if rows and columns are independent and uniform.
    """
    return (math.sqrt(n_columns - 1) + 2 / 3 * math.sqrt(max(min(n_rows, MOST_ROWS - 2) - 2, 0))) ** 2


class InTwoGroups:
    """The grids of rows in two groups against all columns.

    The largest entry of a fixed family of grids, with two parts on a side each and one public offset
    (``docs/theory/nominal_missing.md``); a search that may miss it would not be as private.

    Parameters
    ----------
    n_rows, n_columns : int
    offset : float
        Amount subtracted from n I, in bits.
    """

    def __init__(self, n_rows, n_columns, offset):
        self.shape = n_rows, n_columns
        self.has_all = n_rows <= MOST_ROWS and n_columns <= MOST_COLUMNS
        self.offset = offset

    @property
    def n_groupings(self):
        """Number of groupings of the rows."""
        n_rows = self.shape[0]
        return 2 ** (n_rows - 1) - 1 if self.has_all else n_rows + len(_public_groupings(n_rows))

    @property
    def plan(self):
        """The table, as a plan of one grid."""
        return np.array([[self.shape[1], self.shape[1], 2]])

    def count(self, rows, columns):
        """Number of records in each row and column: int64, of `shape`."""
        cells = rows.astype(np.int64) * self.shape[1] + columns
        return np.bincount(cells, minlength=math.prod(self.shape)).reshape(self.shape)

    def largest_entry(self, counts, table):
        """The largest I - o, in [0, 1]."""
        g, n = table.g, len(table.g) - 1
        of_columns = counts.sum(axis=0)
        counts, of_columns = counts[:, of_columns > 0], of_columns[of_columns > 0]
        if self.has_all:
            counts = np.ascontiguousarray(counts[counts.any(axis=1)])
            of_cells = _largest_of_all(counts, of_columns, g, np.zeros(len(of_columns), dtype=np.int64))
        else:
            first = np.concatenate([counts, _public_groupings(len(counts)) @ counts])
            in_first = first.sum(axis=1)
            of_groups = g[in_first] + g[n - in_first]
            of_cells = (g[first].sum(axis=1) + g[of_columns - first].sum(axis=1) - of_groups).max()
        n_mi = of_cells - g[of_columns].sum() + g[n]
        entry = (n_mi - self.offset * table.scale) / (table.scale * n)
        return float(min(max(entry, 0.0), 1.0))


@lru_cache(maxsize=64)
def _public_groupings(n_rows):
    """The groupings besides each row against the rest: (n_groupings, n_rows), 1 in one of the groups."""
    return np.array([*cuts(n_rows), *parities(n_rows)], dtype=np.int64)


@jit
def _largest_of_all(counts, of_columns, g, first):
    """The largest sum of g over the cells minus that over the two groups, over all groupings of the rows.

    Parameters
    ----------
    counts : int64 ndarray of shape (n_rows, n_columns)
    of_columns : int64 ndarray of shape (n_columns,)
    g : int64 ndarray
        That of `EntropyTable`.
    first : int64 ndarray of shape (n_columns,)
        Workspace of zeros: the records of the first group.
    """
    n_rows, n_columns = counts.shape
    in_all = of_columns.sum()
    largest = np.int64(0)  # all rows in one group
    for j in range(n_columns):
        largest += g[of_columns[j]]
    largest -= g[in_all]
    in_first = np.int64(0)
    # In Gray code order, one row moves each time. The last row stays, because the order of the groups is irrelevant.
    for step in range(1, 1 << max(n_rows - 1, 0)):
        row = 0
        while (step >> row) & 1 == 0:
            row += 1
        joins = (step >> (row + 1)) & 1 == 0
        sum_ = np.int64(0)
        for j in range(n_columns):
            here = first[j] + counts[row, j] if joins else first[j] - counts[row, j]
            in_first += here - first[j]
            first[j] = here
            sum_ += g[here] + g[of_columns[j] - here]
        sum_ -= g[in_first] + g[in_all - in_first]
        largest = max(largest, sum_)
    return largest


class LabelTables:
    """The grids of a nominal feature against classes: each grouping of its codes with each of the classes.

    Also its codes in two groups against all classes; unless these are all groupings, also the classes against all
    codes.

    Parameters
    ----------
    n_labels, n_classes : int
    chance : float, default=0.0
        As in :func:`skdpmic.statistics.mic.optimize_axis.largest_entry`.
    """

    def __init__(self, n_labels, n_classes, chance=0.0):
        self._labels_in_two = labels_in_two(n_labels, n_classes, chance)
        self._classes_in_two = classes_in_two(n_labels, n_classes, chance)
        self.shape, self.count = self._labels_in_two.shape, self._labels_in_two.count
        self._chance = chance
        self._label_groupings, self._class_groupings = groupings_of_labels(n_labels), groupings_of_classes(n_classes)

    @property
    def in_two(self):
        """The labels in two groups; unless these are all groupings, also the classes."""
        return [self._labels_in_two] if self._labels_in_two.has_all else [self._labels_in_two, self._classes_in_two]

    @property
    def plan(self):
        """The largest table, as a plan of one grid."""
        return np.array([[*self.shape, self.shape[1]]])

    def largest_entry(self, counts, table):
        """The largest (I - o) / log2 of the smaller number of parts, in [0, 1]."""
        joined = [(_joined(counts, grouping.groups), grouping.degrees) for grouping in self._label_groupings]
        entries = [
            self._entry(_joined(rows.T, grouping.groups), degrees * grouping.degrees, table)
            for (rows, degrees), grouping in product(joined, self._class_groupings)
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
    """The rows of a table summed in groups."""
    joined = np.zeros((max(groups) + 1, counts.shape[1]), dtype=np.int64)
    np.add.at(joined, np.array(groups), counts)
    return joined
