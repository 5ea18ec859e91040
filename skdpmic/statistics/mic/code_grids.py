"""Grids of a numeric column (merged) against the codes of classes or labels (the fixed axis)."""

import math
from functools import cached_property, lru_cache

import numpy as np

from skdpmic.statistics.grids import equal_parts, equipartitions, finest_merge
from skdpmic.statistics.mic import cell_counts
from skdpmic.statistics.mic.label_tables import labels_in_two, n_columns_of
from skdpmic.statistics.mic.merges import groupings_of_classes, groupings_of_labels
from skdpmic.statistics.mic.optimize_axis import N_MASTER

# --- Which grids ----------------------------------------------------------------------------------------------


def discrete_plan(B, c, n_classes):
    """The grids of MICr against a discrete target, whose classes are the fixed axis.

    One grid; for three classes, also each against the other two, without which one record could change the score by a
    quarter more (``docs/theory/closed_family.md``). Columns as in :func:`skdpmic.statistics.mic.mic_r.continuous_plan`.
    """
    return _plan(groupings_of_classes(n_classes), c, finest_merge(B, n_classes))


def nominal_plan(B, c, n_labels):
    """The grids of a numeric target (merged) against a nominal feature; columns as in `discrete_plan`."""
    return _plan(_needed_groupings(B, n_labels), c, _finest_merge_against(B, n_labels))


def _plan(groupings, c, k_max):
    # Below two master parts there is no grid, and the score would always be 0.
    n_master = max(int(c * k_max), 2)
    return np.array([(grouping.n_groups, n_master, k_max) for grouping in _by_table(groupings)], dtype=np.int64)


def _finest_merge_against(B, n_labels):
    return max(min(int(B // n_labels), math.isqrt(int(B))), 2)


def _needed_groupings(B, n_labels):
    """The groupings that can have the largest entry.

    If there are at least as many labels as merged parts, kappa is the number of merged parts, whether other and missing
    are separate or joined to a label; separate, they never have less information, at the same correction. With up to
    three labels, there may be divisions in two.
    """
    groupings = groupings_of_labels(n_labels)
    return groupings if n_labels <= 3 or n_labels < _finest_merge_against(B, n_labels) else groupings[:1]


# --- Columns located in cells ---------------------------------------------------------------------------------


class CodeGrids(cell_counts.RangePlacer):
    """The grids of numeric columns against codes; from `class_grids` or `nominal_grids`."""

    def __init__(self, codes, *public):
        super().__init__(*public)
        self.codes = codes

    def place_codes(self, codes):
        """Codes as a column."""
        return cell_counts.PlacedColumn(codes.astype(np.uint32), None, self.codes)


def class_grids(n_classes, B, c):
    """The grids of a numeric feature against classes."""
    return CodeGrids(*_public(tuple(groupings_of_classes(n_classes)), c, finest_merge(B, n_classes)))


def nominal_grids(n_labels, B, c):
    """The grids of a numeric target against a nominal feature."""
    return CodeGrids(*_public(tuple(_needed_groupings(B, n_labels)), c, _finest_merge_against(B, n_labels)))


@lru_cache(maxsize=64)
def _public(groupings, c, k_max):
    """The cells of codes, the plan, the master partition, the groups and the edges; cached, because they are public."""
    plan, (codes, ends) = _plan(groupings, c, k_max), _cells_of_codes(groupings)
    degrees = [grouping.degrees for grouping in _by_table(groupings)]
    groups = cell_counts.groups_by_missing(cell_counts.groups_ending(plan, ends, degrees))
    partitions = equipartitions(plan[:, N_MASTER])
    edges = cell_counts.edges_of(plan[:, N_MASTER], groups.complete.of_grid, partitions.sizes)
    return codes, plan, partitions, groups, edges


class AgainstLabels:
    """A numeric target, located in the grids of each kind of nominal feature. Raw data; not private.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
    bounds : pair of floats
    B : float, at least 4
    c : float, above 0
    chance : float
        As in :func:`skdpmic.statistics.mic.optimize_axis.largest_entry`.
    """

    def __init__(self, values, bounds, B, c, chance):
        self._values, self._bounds, self._sizes, self._chance = values, bounds, (B, c), chance
        self._n_columns = n_columns_of(B)
        self._placed = {}

    @cached_property
    def columns(self):
        """The equal part of each value, for grids with labels in two groups."""
        return equal_parts(self._values, self._bounds, self._n_columns)

    def labels_in_two(self, domain):
        """The grids with labels in two groups."""
        return labels_in_two(domain.n_labels, self._n_columns, self._chance)

    def placed(self, domain):
        """The grids against features with this domain, and the target as a column."""
        if domain not in self._placed:
            grids = nominal_grids(domain.n_labels, *self._sizes)
            self._placed[domain] = grids, grids.place(self._values, self._bounds)
        return self._placed[domain]


def _by_table(groupings):
    """Groupings ordered by table: those with groups of neighbouring codes share one; each of the others has its own."""
    return sorted(groupings, key=lambda grouping: not _are_neighbours(grouping.groups))


def _are_neighbours(groups):
    return list(groups) == sorted(groups)


def _cells_of_codes(groupings):
    """The cells of codes in all tables, and the number of grids before the end of each table."""
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
