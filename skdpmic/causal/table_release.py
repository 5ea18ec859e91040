"""The release of all two-way tables of a categorical table, with noise."""

from dataclasses import dataclass

from skdpmic.budget.filters import Cost
from skdpmic.causal.table_noise import NoisyTwoWayTables
from skdpmic.causal.two_way_tables import as_tables, two_way_counts


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
