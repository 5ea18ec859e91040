"""Grids of a numeric column, which is merged, against the codes of classes or of labels, which are the fixed axis."""

import math
from functools import cached_property, lru_cache

import numpy as np

from skdpmic.statistics.grids.limits import finest_merge
from skdpmic.statistics.grids.partitions import equal_parts, equipartitions
from skdpmic.statistics.mic import cell_counts
from skdpmic.statistics.mic.label_tables import labels_in_two, n_columns_of
from skdpmic.statistics.mic.optimize_axis import N_MASTER
from skdpmic.table.nominal import groupings_of_classes, groupings_of_labels

# --- Which grids ----------------------------------------------------------------------------------------------


def discrete_plan(B, c, n_classes):
    """The grids of MICr against a discrete target, whose classes are the fixed axis.

    One grid; but of three classes each against the other two, too, without which one record could change the score
    by a quarter more (``docs/theory/closed_family.md``). Columns as of
    :func:`skdpmic.statistics.mic.mic_r.continuous_plan`.
    """
    return _plan(groupings_of_classes(n_classes), c, finest_merge(B, n_classes))


def nominal_plan(B, c, n_labels):
    """The grids of a numeric target, which is merged, against a nominal feature; columns as of `discrete_plan`."""
    return _plan(_needed_groupings(B, n_labels), c, _finest_merge_against(B, n_labels))


def _plan(groupings, c, k_max):
    # Below two master parts there is no grid, and the score would be 0 whatever the data.
    n_master = max(int(c * k_max), 2)
    return np.array([(grouping.n_groups, n_master, k_max) for grouping in _by_table(groupings)], dtype=np.int64)


def _finest_merge_against(B, n_labels):
    return max(min(int(B // n_labels), math.isqrt(int(B))), 2)


def _needed_groupings(B, n_labels):
    """Those that can hold the largest entry.

    With as many labels as merged parts, kappa is the number of merged parts, whether other and missing are apart or
    joined to a label; apart, they never tell less, and nothing more is taken off. Up to three labels, there may be
    divisions in two.
    """
    groupings = groupings_of_labels(n_labels)
    return groupings if n_labels <= 3 or n_labels < _finest_merge_against(B, n_labels) else groupings[:1]


# --- Columns placed into cells --------------------------------------------------------------------------------


class CodeGrids(cell_counts.RangePlacer):
    """The grids of numeric columns against codes; from `class_grids` or `nominal_grids`."""

    def __init__(self, public):
        self.plan, self.codes, self.groups, self._partitions, self._edges = public

    def _sides(self, cells):
        return cells, None

    def place_codes(self, codes):
        """Codes as a column."""
        return cell_counts.Column(codes.astype(np.uint32), None, self.codes)


def class_grids(n_classes, B, c):
    """The grids of a numeric feature against classes."""
    return CodeGrids(_of_classes(n_classes, B, c))


def nominal_grids(n_labels, B, c):
    """The grids of a numeric target against a nominal feature."""
    return CodeGrids(_of_labels(n_labels, B, c))


@lru_cache(maxsize=64)
def _of_classes(n_classes, B, c):
    return _public(discrete_plan(B, c, n_classes), groupings_of_classes(n_classes))


@lru_cache(maxsize=64)
def _of_labels(n_labels, B, c):
    return _public(nominal_plan(B, c, n_labels), _needed_groupings(B, n_labels))


def _public(plan, groupings):
    """The plan, the cells of codes, the groups, the master partition and its edges; kept, as they are public."""
    codes, ends = _cells_of_codes(groupings)
    degrees = [grouping.degrees for grouping in _by_table(groupings)]
    groups = cell_counts.groups_by_missing(cell_counts.groups_ending(plan, ends, degrees))
    partitions = equipartitions(plan[:, N_MASTER])
    edges = cell_counts.edges_of(plan[:, N_MASTER], groups.complete.of_grid, partitions.sizes)
    return plan, codes, groups, partitions, edges


class AgainstLabels:
    """A numeric target, placed into the grids of each kind of nominal feature. As sensitive as the target itself.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
    bounds : pair of floats
    B : float, at least 4
    c : float, above 0
    chance : float
        As of :func:`skdpmic.statistics.mic.optimize_axis.largest_entry`.
    """

    def __init__(self, values, bounds, B, c, chance):
        self._values, self._bounds, self._sizes, self._chance = values, bounds, (B, c), chance
        self._n_columns = n_columns_of(B)
        self._placed = {}

    @cached_property
    def columns(self):
        """The equal part of each value against which labels are in two groups."""
        return equal_parts(self._values, self._bounds, self._n_columns)

    def labels_in_two(self, scale):
        """The grids of the labels in two groups."""
        return labels_in_two(scale.n_labels, self._n_columns, self._chance)

    def placed(self, scale):
        """The grids against features of that scale, and the target as a column."""
        if scale not in self._placed:
            grids = nominal_grids(scale.n_labels, *self._sizes)
            self._placed[scale] = grids, grids.place(self._values, self._bounds)
        return self._placed[scale]


def _by_table(groupings):
    """First those whose groups are neighbouring codes: one table serves all. Each other one has a table of its own."""
    return sorted(groupings, key=lambda grouping: not _are_neighbours(grouping.groups))


def _are_neighbours(groups):
    return list(groups) == sorted(groups)


def _cells_of_codes(groupings):
    """The cells of codes as all tables see them, and after how many grids each table ends."""
    groupings = _by_table(groupings)
    n_codes, n_first = len(groupings[0].groups), sum(_are_neighbours(grouping.groups) for grouping in groupings)
    common = np.array([np.arange(n_codes), *(grouping.groups for grouping in groupings[n_first:])]) + 1
    starts = np.zeros((len(groupings), max(grouping.n_groups for grouping in groupings) + 1))
    for row, grouping in zip(starts, groupings, strict=True):
        neighbours = grouping.groups if _are_neighbours(grouping.groups) else range(grouping.n_groups)
        row[: grouping.n_groups] = np.searchsorted(neighbours, np.arange(grouping.n_groups))
        row[grouping.n_groups] = len(neighbours)
    cells = cell_counts.Cells(common.astype(np.uint32), starts.astype(np.uint32), common[:, -1] + 1)
    return cells, np.arange(n_first, len(groupings) + 1)
