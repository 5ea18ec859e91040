"""All two-way tables of a categorical table: how many records have each two codes, for each two columns.

And their release by Gaussian noise (``docs/theory/private_pc.md``).
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skdpmic._utils.jit import jit
from skdpmic._utils.progress import SILENT
from skdpmic.budget.filters import Cost
from skdpmic.privacy.composition import rho_for
from skdpmic.privacy.mechanisms import gaussian_quantile
from skdpmic.privacy.noise import discrete_gaussian

_SHORT = 50_000  # records: threads take longer to hand the interpreter's lock over than to count them
_MOST = 2**62  # what an int64 holds; noise of a budget that is next to nothing may be larger


def two_way_counts(columns, sizes, n_jobs=None, progress=SILENT):
    """Records in each cell of the tables of all pairs of columns, one table after another.

    Parameters
    ----------
    columns : list of n_columns uint32 ndarrays of shape (n_samples,)
        Codes 0 ... size - 1 of each.
    sizes : list of n_columns int
        How many codes each column may have.
    n_jobs : int, default=None
    progress : Progress, default=SILENT

    Returns
    -------
    int64 ndarray of shape (n_cells,)
        Tables in the order of ``np.triu_indices(n_columns, 1)``, each row by row, as :func:`as_tables` cuts them.
    """
    rows = range(len(columns) - 1)
    if effective_n_jobs(n_jobs) == 1 or len(columns[0]) < _SHORT:
        counts = (_of_row(columns, sizes, i) for i in rows)
    else:
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as=progress.return_as)
        counts = parallel(delayed(_of_row)(columns, sizes, i) for i in rows)
    n_pairs = len(columns) * (len(columns) - 1) // 2
    return np.concatenate(
        [table for row in progress.track(counts, n_pairs, "pairs of columns", size=len) for table in row]
    )


def as_tables(cells, sizes):
    """The tables that lie one after another in an array: of each pair (i, j), i < j, one of shape sizes[i], sizes[j].

    Parameters
    ----------
    cells : ndarray of shape (n_cells,)
    sizes : list of n_columns int

    Returns
    -------
    dict of (int, int) to ndarray
    """
    pairs = [(i, j) for i in range(len(sizes)) for j in range(i + 1, len(sizes))]
    ends = np.cumsum([sizes[i] * sizes[j] for i, j in pairs])
    parts = np.split(cells, ends[:-1])
    return {(i, j): part.reshape(sizes[i], sizes[j]) for (i, j), part in zip(pairs, parts, strict=True)}


def _of_row(columns, sizes, i):
    return [_counted(columns[i], columns[j], sizes[i], sizes[j]) for j in range(i + 1, len(columns))]


def _counted(x, y, n_rows, n_columns):
    counts = np.zeros(n_rows * n_columns, dtype=np.int64)
    _count(x, y, n_columns, counts)
    return counts


@jit
def _count(x, y, n_columns, counts):
    """Add each record to its cell; codes were checked when the table was read."""
    for k in range(len(x)):
        counts[x[k] * n_columns + y[k]] += 1


def two_way_squared_sensitivity(n_columns, rows_per_group=1):
    """Square of the L2 sensitivity of all two-way tables together: p (p - 1) for p columns, m^2 p (p - 1) for m rows.

    A record is in one cell of each of the p (p - 1) / 2 tables, and the one that replaces it in another, if all of its
    values are other ones. Attained.

    Parameters
    ----------
    n_columns : int, at least 2
    rows_per_group : int, default=1
        Records of each person, all of which are replaced.

    Returns
    -------
    int
        Exact, in records.
    """
    return rows_per_group**2 * n_columns * (n_columns - 1)


@dataclass(frozen=True)
class NoisyTwoWayTables:
    """Independent noise on all counts, which are integers, so that nothing is rounded.

    Parameters
    ----------
    variance : int
        Of the noise on a count, in squared records; 0 for none. The noise is small, so its standard deviation need not
        be a whole number: rounded up, it would be some per cent larger.
    sizes : tuple of int
        How many parts each column has.
    n : int
        Number of records, which is public.
    """

    variance: int
    sizes: tuple
    n: int

    name = "gaussian"

    @classmethod
    def for_budget(cls, epsilon, delta, sizes, n, rows_per_group=1):
        """The mechanism that releases the tables of columns with so many parts, with budget (epsilon, delta)."""
        squared_sensitivity, rho = two_way_squared_sensitivity(len(sizes), rows_per_group), rho_for(epsilon, delta)
        variance = 0 if rho == math.inf else math.ceil(squared_sensitivity / (2 * Fraction(rho)))
        return cls(variance, tuple(sizes), n)

    @property
    def noise_scale(self):
        """Standard deviation of the noise on a count, in records."""
        return math.sqrt(self.variance)

    def release(self, counts, random_bytes):
        """Counts with noise, not clamped to [0, n]: an int64 ndarray of the shape of `counts`."""
        if self.variance == 0:
            return counts.copy()
        noisy = counts.astype(object) + discrete_gaussian(self.variance, len(counts), random_bytes)
        return np.clip(noisy, -_MOST, _MOST).astype(np.int64)

    def margin(self, confidence):
        """How far a count with noise lies from the one without, with at least this confidence."""
        return float(gaussian_quantile(self.noise_scale, confidence)) if self.variance else 0.0


@dataclass(frozen=True)
class TwoWayTablesRelease:
    """A release, as those in `release/kinds.py`, that publishes the tables of each two of the nominal columns."""

    epsilon: float
    delta: float

    publishes = "tables"
    k = None

    @property
    def cost(self):
        """What the ledger is charged."""
        return Cost.concentrated(self.epsilon, self.delta)

    def mechanism(self, measure, shape):
        """The noise."""
        sizes = [scale.n_parts for scale in shape.scales]
        return NoisyTwoWayTables.for_budget(self.epsilon, self.delta, sizes, shape.n_samples, shape.rows_per_group)

    def draw(self, records, measure, mechanism, n_jobs, random_bytes):
        """What is published of the records."""
        columns = records.map_features(_codes, n_jobs)
        counts = two_way_counts(columns, mechanism.sizes, n_jobs, records.progress)
        return {
            "noisy_tables_": as_tables(mechanism.release(counts, random_bytes), mechanism.sizes),
            "noise_scale_": mechanism.noise_scale,
        }


def _codes(column, scale):
    return column
