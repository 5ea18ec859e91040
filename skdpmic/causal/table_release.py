"""All two-way tables of a categorical table in one release, by Gaussian noise (``docs/theory/private_pc.md``)."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from skdpmic.budget.filters import Cost
from skdpmic.causal.two_way_tables import as_tables, two_way_counts
from skdpmic.privacy.composition import rho_for
from skdpmic.privacy.mechanisms import gaussian_quantile
from skdpmic.privacy.noise import discrete_gaussian

_MOST = 2**62  # what an int64 holds; noise of a budget that is next to nothing may be larger


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
