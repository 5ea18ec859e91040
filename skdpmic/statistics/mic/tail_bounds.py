"""Bounds on MICr under independence, for p-values.

They are apart from :mod:`skdpmic.statistics.mic.mic_r`, because the laws of noise take long to import.
"""

import math
from functools import lru_cache, partial
from itertools import product

import numpy as np

from skdpmic.statistics.mic.mic_r import (
    LabelTables,
    chance_of,
    class_grids,
    continuous_grids,
    labels_in_two,
    n_columns_of,
    nominal_grids,
)
from skdpmic.statistics.mic.optimize_axis import (
    DEGREES,
    K_MAX,
    N_FIXED,
    N_MASTER,
    groupings_of_classes,
    groupings_of_labels,
)
from skdpmic.statistics.null_laws import NullGrids, bound_over, log_choices, log_information_tail, log_tail_of_any
from skdpmic.table.domains import UNIT, Nominal, parts_at_most

_NATS = math.log(2.0)  # per bit


@lru_cache(maxsize=64)
def mic_r_bound(n, kind, n_classes, B, c, correction):
    """Bounds on the distribution of MICr under independence.

    Parameters
    ----------
    n : int
        Number of records.
    kind : pair of floats, Whole or Nominal
        Of the feature. Numbers may be missing.
    n_classes : int or None
        Number of classes of a discrete target.
    B, c, correction
        As in :class:`skdpmic.statistics.mic.mic_r.NumericTargetScorer`.
    """
    family = _Family(n, chance_of(correction))
    if isinstance(kind, Nominal) and n_classes is not None:
        return bound_over(family.of_tables(kind.n_labels, n_classes))
    if isinstance(kind, Nominal):
        in_two = labels_in_two(kind.n_labels, n_columns_of(B), family.chance)
        rows = nominal_grids(kind.n_labels, B, c).groups.complete.rows
        return bound_over([*family.merges(rows), family.in_two(in_two)])
    may_be_fixed = n_classes is None
    groups = continuous_grids(B, c, "reduced", correction)[2] if may_be_fixed else class_grids(n_classes, B, c).groups
    rows = groups.complete.rows
    fixed = family.merges(rows, n_more_columns=1, fixed=kind) if may_be_fixed else ()
    return bound_over([*family.merges(rows, missing=1, merged=kind), *fixed])


class _Family:
    """Makes `NullGrids` for n records; their dependence is n I, in nats."""

    def __init__(self, n, chance):
        self._n, self.chance = n, chance

    def _grids(self, n_rows, n_columns, offset_in_bits, log_tail):
        return NullGrids(_NATS * self._n * np.log2(np.minimum(n_rows, n_columns)), _NATS * offset_in_bits, log_tail)

    def merges(self, rows, missing=0, n_more_columns=0, merged=UNIT, fixed=UNIT):
        """The grids of merges of master parts against fixed parts.

        Parameters
        ----------
        rows : ndarray
            Rows of :class:`skdpmic.statistics.mic.optimize_axis.Grids`.
        missing : {0, 1}, default=0
            Whether there may be an additional master part of missing values, after all others or before them.
        n_more_columns : {0, 1}, default=0
            Whether there may be an additional fixed part.
        merged, fixed : pair of floats or Whole
            Kinds of the two columns: integers are in no more parts than there are of them.
        """
        for row in rows:
            n_columns, n_master, k_max, degrees = (int(row[i]) for i in (N_FIXED, N_MASTER, K_MAX, DEGREES))
            columns = parts_at_most(n_columns, fixed) + n_more_columns
            parts = parts_at_most(n_master, merged) + missing
            of_finest = partial(log_information_tail, n_rows=parts, n_columns=columns)
            k = np.arange(2, min(k_max, parts) + 1)[:, np.newaxis]
            log_number = math.log(1 + missing) + log_choices(parts - 1, k - 1)
            of_one = partial(log_information_tail, n_rows=k, n_columns=columns)
            offset = self.chance * (k - 1) * degrees
            yield self._grids(k, n_columns, offset, log_tail_of_any(log_number, of_one, of_finest))

    def in_two(self, groups):
        """The grids of rows in two groups."""
        n_rows, n_columns = groups.shape
        of_one = partial(log_information_tail, n_rows=2, n_columns=n_columns)
        of_finest = partial(log_information_tail, n_rows=n_rows, n_columns=n_columns)
        log_tail = log_tail_of_any(math.log(groups.n_groupings), of_one, of_finest)
        return self._grids(2, n_columns, groups.offset, log_tail)

    def of_tables(self, n_labels, n_classes):
        """The grids of labels against classes."""
        for rows, columns in product(groupings_of_labels(n_labels), groupings_of_classes(n_classes)):
            size = rows.n_groups, columns.n_groups
            log_tail = partial(log_information_tail, n_rows=size[0], n_columns=size[1])
            yield self._grids(*size, self.chance * rows.degrees * columns.degrees, log_tail)
        yield from map(self.in_two, LabelTables(n_labels, n_classes, self.chance).in_two)
