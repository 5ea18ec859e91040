"""The published algorithms' test statistics. They are flawed: one record can move the conditional ones from end to end.

Strata in which a column is constant are left out, with their weight. A single record that breaks the constancy brings
the whole stratum into the denominator, so no sensitivity of order 1/sqrt(n) holds (``docs/theory/corrections.md``).
Even without this flaw, 6/sqrt(n), from which the published noise is computed, is not a bound.

The statistics follow Definition 6 of the supplement, and the authors' program in what is left out. Everything is
computed from cell counts, which gives the same numbers as pairs of records.
"""

import math
from functools import cached_property

import numpy as np
from scipy.stats import norm


class Records:
    """A table of codes, stored as its distinct rows and their counts.

    Parameters
    ----------
    rows : int64 ndarray of shape (n_rows, n_columns)
    counts : int64 ndarray of shape (n_rows,)
    sizes : sequence of int
        Number of labels of each column.
    """

    def __init__(self, rows, counts, sizes):
        self.rows, self.counts, self.sizes = rows, counts, tuple(sizes)
        self._known = {}

    @cached_property
    def n(self):
        return int(self.counts.sum())

    @property
    def n_columns(self):
        return len(self.sizes)

    def subsample(self, share, rng):
        """This share of the records, drawn without replacement."""
        counts = rng.multivariate_hypergeometric(self.counts, int(self.n * share), method="marginals")
        return Records(self.rows[counts > 0], counts[counts > 0], self.sizes)

    def known(self, statistic, i, j, given):
        """A statistic of columns i and j given others, symmetric in i and j, computed once."""
        key = statistic, min(i, j), max(i, j), given
        if key not in self._known:
            self._known[key] = statistic(self, *key[1:])
        return self._known[key]

    def table(self, i, j, given):
        """Counts of columns i and j in each non-empty stratum of the others: shape (n_strata, size_i, size_j)."""
        stratum = np.zeros(len(self.rows), dtype=np.int64)
        for k in given:
            stratum = stratum * self.sizes[k] + self.rows[:, k]
        n_strata = math.prod(self.sizes[k] for k in given)
        if n_strata > len(self.rows):
            kept, stratum = np.unique(stratum, return_inverse=True)
            n_strata = len(kept)
        shape = n_strata, self.sizes[i], self.sizes[j]
        cells = (stratum * shape[1] + self.rows[:, i]) * shape[2] + self.rows[:, j]
        counts = np.bincount(cells, self.counts, math.prod(shape)).reshape(shape)
        return counts[counts.any(axis=(1, 2))]


def kendall_z(tables):
    """Definition 6 as implemented: z over the strata with more than two records and no constant column."""
    tables, n = _varying_strata(tables)
    tau = _concordance(tables) / (n * (n - 1) / 2)
    return _combined(tau, 9 * n * (n - 1) / (4 * n + 10))


def one_sided_p_value(z):
    """In [0, 1/2]; NaN if no stratum is left."""
    return math.erfc(abs(z) / math.sqrt(2)) / 2


def kendall_p_value(records, i, j, given):
    """p-value of columns i and j given others."""
    return one_sided_p_value(kendall_z(records.table(i, j, given)))


def assumed_sensitivity(n):
    """Sensitivity of a p-value, assuming that z had one of 6/sqrt(n)."""
    return norm.cdf(6 / math.sqrt(n)) - 0.5


def g_statistic(tables):
    """2 sum n log(n n_stratum / (n_row n_column))."""
    x, y = tables.sum(axis=2, keepdims=True), tables.sum(axis=1, keepdims=True)
    expected = x * y / tables.sum(axis=(1, 2), keepdims=True)
    ratio = np.divide(tables, expected, out=np.ones_like(expected), where=tables > 0)
    return 2 * np.sum(tables * np.log(ratio))


def _varying_strata(tables):
    several = [(tables.sum(axis=axis) > 0).sum(axis=1) > 1 for axis in (2, 1)]
    kept = tables[several[0] & several[1] & (tables.sum(axis=(1, 2)) > 2)].astype(float)
    return kept, kept.sum(axis=(1, 2))


def _concordance(tables):
    """Concordant minus discordant pairs in each stratum."""
    before = np.zeros_like(tables)  # records above (by the first column): those to the left minus those to the right
    above = tables.cumsum(axis=1)[:, :-1]
    left = above.cumsum(axis=2)
    before[:, 1:] = 2 * left - above - left[:, :, -1:]
    return (tables * before).sum(axis=(1, 2))


def _combined(values, weights):
    return (weights * values).sum() / math.sqrt(weights.sum()) if len(values) else math.nan
