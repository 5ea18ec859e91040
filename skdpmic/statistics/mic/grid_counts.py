"""Mergeable counts on all grids of MICr at once: those of a table are the sum of those of its pieces.

All grids with one master partition are computed from one table: the common cells of their fixed partitions, by the
master parts. MICr needs only the tables of all master partitions. Tables of a numeric feature always have cells for
missing values, after all others; a nominal feature is counted code by code, with a numeric target in its master parts
and, in a second table, in the parts for grids with labels in two groups.
"""

import math
from itertools import chain

import numpy as np

from skdpmic._utils.jit import jit
from skdpmic.statistics.mic.cell_counts import count, empty_tables, missing_first
from skdpmic.statistics.mic.code_grids import AgainstLabels, class_grids
from skdpmic.statistics.mic.label_tables import LabelTables
from skdpmic.statistics.mic.mic_r import RangeGrids, chance_of
from skdpmic.statistics.mic.optimize_axis import CUTS, N_FIXED, N_MASTER, TABLE, Tables, largest_entry
from skdpmic.table.domains import Nominal

_NO_VALUES = np.empty(0)


class ContinuousGrids:
    """The grids of a feature with a numeric target, in both orientations.

    Parameters
    ----------
    target_bounds : pair of floats
    B : float, at least 4
    c : float, above 0
    correction : None or "miller-madow", default=None
    """

    def __init__(self, target_bounds, B, c, correction=None):
        self._grids = RangeGrids(B, c, correction=correction)
        self._sizes = {"B": B, "c": c}
        self._correction = correction
        self._target_bounds = target_bounds
        self._target = self._grids.place(_NO_VALUES, target_bounds)
        self._chance = chance_of(correction)
        self._against_labels = self._labels_of(_NO_VALUES)
        groups = self._grids.groups
        self._ways = _Way(groups.merged, missing_is_last=True), _Way(groups.fixed)

    def n_tables(self, domain):
        """Number of times each record is counted in the counts of a feature with this domain."""
        return 2 if isinstance(domain, Nominal) else 2 * len(self._grids.groups.complete.numbers)

    def place(self, y):
        """The target values `y`, prepared for counting with features."""
        grids = RangeGrids(**self._sizes, n=len(y), correction=self._correction)
        return grids, grids.place(y, self._target_bounds), self._labels_of(y)

    def _labels_of(self, y):
        return AgainstLabels(y, self._target_bounds, **self._sizes, chance=self._chance)

    def count(self, x, domain, target):
        """Counts of the feature `x` with a prepared target: a flat uint32 array, as long as the domain needs."""
        grids, y, against_labels = target
        if isinstance(domain, Nominal):
            grids, y = against_labels.placed(domain)
            apart = _counts(y, grids.place_codes(x), grids.groups.complete, only_first=True)
            in_two = against_labels.labels_in_two(domain).count(x, against_labels.columns)
            return np.concatenate([apart, in_two.ravel().astype(np.uint32)])
        x = grids.place(x, domain, may_miss=True)
        return np.concatenate([_counts(x, y, grids.groups.merged), _counts(y, x, grids.groups.fixed)])

    def score(self, counts, domain, table):
        """MICr from the counts of a feature: equal to that from the records, bit for bit."""
        if isinstance(domain, Nominal):
            grids, _ = self._against_labels.placed(domain)
            in_two = self._against_labels.labels_in_two(domain)
            apart, columns = np.split(counts, [-math.prod(in_two.shape)])
            counted = _Way(grids.groups.complete).counted(_with_joined(apart, grids.codes), grids.codes)
            of_two = in_two.largest_entry(columns.astype(np.int64).reshape(in_two.shape), table)
            return max(_largest_of(counted, grids.groups.most, table, self._chance), of_two)
        fixed = self._grids.place(_NO_VALUES, domain, may_miss=True).fixed
        merged_here, merged_there = self._ways
        n_here = merged_here.n_counts(self._target.fixed)
        counted = chain(
            merged_here.counted(counts[:n_here], self._target.fixed), merged_there.counted(counts[n_here:], fixed)
        )
        return _largest_of(counted, self._grids.groups.most, table, self._chance)


class DiscreteGrids:
    """The grids of a feature with a target of class numbers; methods as in :class:`ContinuousGrids`.

    Parameters
    ----------
    n_classes : int
    B : float, at least 4
    c : float, above 0
    correction : None or "miller-madow", default=None
    """

    def __init__(self, n_classes, B, c, correction=None):
        self._n_classes = n_classes
        self._grids = class_grids(n_classes, B, c)
        self._chance = chance_of(correction)
        self._way = _Way(self._grids.groups.merged, missing_is_last=True)

    def n_tables(self, domain):
        """Number of times each record is counted in the counts of a feature with this domain."""
        return 1  # in a table from which those for three classes, or for labels, are summed

    def place(self, codes):
        """The class numbers of the target, prepared for counting with features."""
        return self._grids.place_codes(codes)

    def count(self, x, domain, target):
        """Counts of the feature `x` with a prepared target: a flat uint32 array."""
        if isinstance(domain, Nominal):
            return self._label_tables(domain).count(x, target.cells).ravel().astype(np.uint32)
        x = self._grids.place(x, domain, may_miss=True)
        return _counts(x, target, self._grids.groups.merged, only_first=True)

    def score(self, counts, domain, table):
        """MICr from the counts of a feature: equal to that from the records, bit for bit."""
        if isinstance(domain, Nominal):
            tables = self._label_tables(domain)
            return tables.largest_entry(counts.astype(np.int64).reshape(tables.shape), table)
        counted = self._way.counted(_with_joined(counts, self._grids.codes), self._grids.codes)
        return _largest_of(counted, self._grids.groups.most, table, self._chance)

    def _label_tables(self, domain):
        return LabelTables(domain.n_labels, self._n_classes, self._chance)


# --- From tables of several master partitions to those of each, and back -------------------------------------------


def _counts(free, fixed, groups, only_first=False):
    """Counts of the cells of each master partition's table, one row per common cell of the fixed column: flat.

    For all groups and their grids, or for the first group and its grids.
    """
    numbers, rows = groups.rounds[0] if only_first else (groups.numbers, groups.grids.rows)
    tables = count(free, fixed, numbers, empty_tables(free, fixed))
    counts = np.empty(len(tables.below), dtype=np.uint32)
    is_border = np.empty(int(tables.places[numbers, 1].max()), dtype=np.bool_)
    return counts[: _fill_counts(counts, is_border, *tables, rows)].copy()


def _with_joined(counts, codes):
    """The counts of all tables against codes, from those of the first table, in which each code is a row."""
    rows = counts.reshape(codes.common.shape[1], -1)
    joined = []
    for cell, n_corners in zip(codes.common, codes.n_corners, strict=True):
        joined.append(np.zeros((n_corners - 1, rows.shape[1]), dtype=np.uint32))
        np.add.at(joined[-1], cell - np.uint32(1), rows)
    return np.concatenate([table.ravel() for table in joined])


@jit
def _fill_counts(counts, is_border, below, places, cuts, borders, grids):
    """Fill in the first of `counts`, and return their number; `is_border` is a workspace for the rows of a table."""
    one, at, first = np.uint64(1), np.uint64(0), np.uint64(0)
    while first < len(grids):
        start, height = places[grids[first, TABLE], 0], places[grids[first, TABLE], 1]
        for u in range(height):
            is_border[u] = False
        grid = first
        while grid < len(grids) and grids[grid, N_MASTER] == grids[first, N_MASTER]:
            for i in range(grids[grid, N_FIXED] + one):
                is_border[borders[grid, i]] = True
            grid += one
        lower = np.uint64(0)
        for upper in range(one, height):
            if is_border[upper]:
                for t in range(grids[first, N_MASTER]):
                    left, right = start + cuts[first, t] * height, start + cuts[first, t + one] * height
                    here = below[right + upper] - below[right + lower]
                    counts[at] = here - (below[left + upper] - below[left + lower])
                    at += one
                lower = upper
        first = grid
    return at


def _largest_of(counted, most, table, chance):
    return min(largest_entry(counted, most, table, len(table.g) - 1, chance), 1.0)


class _Way:
    """Scores counts of one axis to be merged against a fixed one; everything public is prepared.

    Parameters
    ----------
    groups : Groups
        One per master partition.
    missing_is_last : bool, default=False
        Whether the last master part holds missing values.
    """

    def __init__(self, groups, missing_is_last=False):
        self._rows = groups.grids.rows.copy()
        self._rows[:, CUTS] = 0
        self._n_parts = self._rows[np.flatnonzero(np.diff(groups.of_grid, prepend=-1)), N_MASTER].astype(np.int64)
        self._cuts = np.arange(self._n_parts.max() + 1, dtype=np.uint32).reshape(1, -1)
        self._numbers = groups.numbers
        self._missing_is_last = missing_is_last

    def n_counts(self, fixed):
        """Number of counts against fixed cells."""
        return int(np.dot(self._n_parts, fixed.n_corners - 1))

    def counted(self, counts, fixed):
        """The tables that `count` would make from the records, with their grids."""
        below = np.empty(np.dot(self._n_parts + 1, fixed.n_corners), dtype=np.uint32)
        places = np.empty((len(self._n_parts), 2), dtype=np.uint64)
        _fill_tables(counts, self._n_parts, fixed.n_corners, below, places)
        tables = Tables(below, places, self._cuts, fixed.starts)
        yield tables, self._rows
        if self._missing_is_last and below[-1] > below[-1 - fixed.n_corners[-1]]:
            yield missing_first(tables, self._numbers, self._n_parts + 1), self._rows


@jit
def _fill_tables(counts, n_parts, heights, below, places):
    """Fill in ``Tables.below`` and ``Tables.places``."""
    one, start, at = np.uint64(1), np.uint64(0), np.uint64(0)
    for table in range(len(n_parts)):
        width, height = np.uint64(n_parts[table]), np.uint64(heights[table])
        places[table, 0], places[table, 1] = start, height
        for u in range(height):
            below[start + u] = 0
        for t in range(width):
            start += height
            in_part = np.uint32(0)
            below[start] = 0
            for u in range(one, height):
                in_part += counts[at + (u - one) * width + t]
                below[start + u] = below[start - height + u] + in_part
        start += height
        at += width * (height - one)
