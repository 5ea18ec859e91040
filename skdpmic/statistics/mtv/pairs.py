"""Joint scores of two features and a target: MTVr on public grids of both features (``docs/theory/joint.md``).

One feature is cut into strata, which are equal parts of its range or its labels, and the other is merged within each
stratum. The longest path sees one long row of parts, stratum after stratum. Every other stratum is reversed, so that
neighbouring parts are similar at the ends of strata. Each feature forms the strata in turn. If a feature has labels,
the grid of all unmerged cells is also used.
"""

from dataclasses import replace
from itertools import product
from math import fsum

import numpy as np

from skdpmic.statistics.grids import parts_of_each
from skdpmic.statistics.mtv.counts import Placed, TargetCounts, tables_of
from skdpmic.table.domains import Nominal

_PARTS = 48  # equal parts of a feature's range
_STRATA = (2, 3, 4, 6, 8, 12)  # numbers of strata of one feature; each divides _PARTS
_COARSE = (2, 4)  # numbers of strata for grids of unmerged cells
_MOST_LABELS = 200  # codes kept apart, to limit the counts of a pair; neighbours are joined beyond
_MOST_STRATA = 30  # codes of a feature used as strata
_MOST_PIECES = 32
_PENALTY_FACTOR = 1 / 2  # fraction of the penalty of one feature


def families_of_pairs(family, n_classes):
    """The families of grids for two features; the joint score is the mean of their scores.

    For three or more classes, there is one family for each class against the rest. A maximum over classes would ignore
    the second feature if the first one determines a class.

    Parameters
    ----------
    family : Family
        Grids for one feature.
    n_classes : int or None

    Returns
    -------
    list of Family
    """
    penalty = family.penalty * _PENALTY_FACTOR
    sides = [side._replace(k_max=_MOST_PIECES) for side in family.sides if side.n_groups == 2]
    if n_classes is None or n_classes == 2:
        return [replace(family, sides=tuple(sides), penalty=penalty, by_place=False)]
    alone = [side for side in sides if sum(side.groups) in (1, n_classes - 1)]
    return [replace(family, sides=(side,), penalty=penalty, by_place=False) for side in alone]


def pair_codes(x, domain):
    """The part of each value in joint scores, as a code of `pair_labels`: uint8."""
    return _part_of_each([x], [domain])[0].astype(np.uint8)


def pair_labels(domain):
    """The domain of the codes of a feature, whose parts are those of the feature itself."""
    return Nominal(_n_parts(domain) - 2)


class PairCounts(TargetCounts):
    """Joint counts of features with a given feature and a target. Holds public numbers only.

    Parameters
    ----------
    domain : pair of floats or Nominal
        Scale of the given feature.
    family, target_bounds, units
        As in `TargetCounts`.
    """

    def __init__(self, domain, family, target_bounds=None, units=1):
        super().__init__(family, target_bounds, units)
        self.domain = domain

    def place(self, y, weights=None, given=None):
        """Assign records to cells: the column of the target and the part of the given feature."""
        placed = super().place(y, weights)
        if given is None:  # there are no records
            return placed
        parts = placed.columns * np.uint32(_n_parts(self.domain)) + _part_of_each([given], [self.domain])[0]
        return Placed(parts, placed.weights)

    def tables(self, X, domains, placed):
        """Counts of several features of the same kind: uint32 (n_features, n_columns, n_given, n_parts)."""
        n_columns, n_given, n_parts = self._family.n_columns, _n_parts(self.domain), _n_parts(domains[0])
        tables = tables_of(placed, n_columns * n_given, _part_of_each(X, domains), n_parts)
        return tables.reshape(len(X), n_columns, n_given, n_parts)


class PairScorer:
    """Joint scores of features and a given feature, from their counts. Holds public numbers only.

    Parameters
    ----------
    scorers : list of CountsScorer
        Scorers of the families of :func:`families_of_pairs`.
    given : pair of floats or Nominal
        Scale of the given feature.
    """

    def __init__(self, scorers, given):
        self._scorers, self._given = scorers, given

    def score(self, counts, domain):
        """The joint score from the flat uint32 counts of a feature."""
        return self.of_tables(counts.reshape(1, -1, _n_parts(self._given), _n_parts(domain)), domain)[0]

    def of_tables(self, tables, domain):
        """Joint scores of features of one kind from their tables: each family's maximum over its grids, averaged.

        Parameters
        ----------
        tables : uint32 ndarray of shape (n_features, n_columns, n_given, n_parts)
        domain : pair of floats or Nominal
            Scale of these features.

        Returns
        -------
        list of float
            Scores in [0, 1].
        """
        largest = np.zeros((len(self._scorers), len(tables)))
        turned = tables.transpose(0, 1, 3, 2)  # the two features exchanged
        for here, there, of_both in ((domain, self._given, tables), (self._given, domain, turned)):
            for rows in _in_rows(of_both, here, there):
                largest = np.maximum(largest, [scorer.of_rows(rows) for scorer in self._scorers])
        for f, table in enumerate(tables.astype(np.int64)):
            for cells, n_labels in _in_cells(table, (self._given, domain)):
                of_cells = [scorer.of_cells(cells.reshape(len(table), -1), n_labels) for scorer in self._scorers]
                largest[:, f] = np.maximum(largest[:, f], of_cells)
        return [fsum(of_each) / len(of_each) for of_each in largest.T]  # fsum rounds once: docs/theory/joint.md


# --- Parts and strata -----------------------------------------------------------------------------------------------


def _n_parts(domain):
    """Number of parts of a feature, including those for missing values and other labels."""
    return min(domain.n_parts, _MOST_LABELS) if isinstance(domain, Nominal) else _PARTS + 1


def _part_of_each(X, domains):
    """The part of each value, with missing values in the last part: uint32 (n_features, n_samples)."""
    if not isinstance(domains[0], Nominal):
        return parts_of_each(X, domains, _PARTS)[0].astype(np.uint32)
    n_parts = [domain.n_parts for domain in domains]
    return np.array([x if n <= _MOST_LABELS else x * _MOST_LABELS // n for x, n in zip(X, n_parts, strict=True)])


def _in_rows(tables, merged, strata):
    """The tables as rows of parts of the last axis, for each division of the axis before it into strata.

    Labels are not merged within strata. But if labels form the strata, neighbouring labels can be joined. So they can
    also be joined without the other feature, or else an uninformative numeric feature would seem to add information.
    """
    if isinstance(merged, Nominal) or isinstance(strata, Nominal):
        yield _row(tables.sum(axis=2, keepdims=True, dtype=np.uint32))
    if isinstance(merged, Nominal):
        return
    if not isinstance(strata, Nominal):
        yield from (_row(_cut(tables, n_strata)) for n_strata in _STRATA)
    elif tables.shape[2] <= _MOST_STRATA:
        yield _row(tables)


def _cut(tables, n_strata, axis=2):
    """Join equal parts along an axis into strata; the last part, for missing values, stays apart."""
    starts = np.append(np.arange(n_strata) * (_PARTS // n_strata), _PARTS)
    return np.add.reduceat(tables, starts, axis=axis, dtype=np.uint32)


def _row(tables):
    """Strata in a row, every other one reversed: uint32 (n_features, n_columns, n_strata * n_parts)."""
    rows = tables.copy()
    rows[:, :, 1::2] = tables[:, :, 1::2, ::-1]
    return rows.reshape(*tables.shape[:2], -1)


def _in_cells(table, domains):
    """Unmerged cells of a table (n_columns, n_given, n_parts) with labels on an axis, and their possible number."""
    axes = [axis for axis, domain in enumerate(domains, 1) if isinstance(domain, Nominal)]
    for axis in axes:
        yield table.sum(axis=3 - axis), _n_labels(domains[axis - 1])
    if len(axes) == 2:
        yield table, _n_labels(domains[0]) * _n_labels(domains[1])
        return
    for axis, n_strata in product(axes, _COARSE):
        yield _cut(table, n_strata, axis=3 - axis), _n_labels(domains[axis - 1]) * n_strata


def _n_labels(domain):
    return min(domain.n_labels, _MOST_LABELS)
