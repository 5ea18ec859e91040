"""Tables of labels and of numbers in parts, released in stages with Gaussian noise (``docs/theory/private_pc.md``)."""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from skdpmic.budget.filters import Cost
from skdpmic.causal.label_counts import counts_of_sets
from skdpmic.causal.label_parts import N_CELLS, parts_of_cells, parts_of_labels
from skdpmic.causal.pc import find_skeleton, sets_between
from skdpmic.causal.table_plan import TablePlan
from skdpmic.causal.table_tests import TableTests
from skdpmic.privacy.noise import discrete_gaussian
from skdpmic.statistics.grids.partitions import parts_and_missing
from skdpmic.table.nominal import Nominal

_MOST = 2**62  # what an int64 holds; noise of a budget that is next to nothing may be larger


@dataclass(frozen=True)
class TablesRelease:
    """A release, as those in `release/kinds.py`, that publishes tables of the columns of a table.

    Each stage is told of the records by its own noisy tables only, and of what the stages before it released. So the
    costs of all add up, whatever is asked for.
    """

    epsilon: float
    delta: float
    alpha: float
    max_order: int

    publishes = "tables"
    k = None

    @property
    def cost(self):
        """What the ledger is charged."""
        return Cost.concentrated(self.epsilon, self.delta)

    def mechanism(self, measure, shape):
        """The plan of the stages."""
        are_numbers = [not isinstance(scale, Nominal) for scale in shape.scales]
        n_parts = [
            N_CELLS + 1 if is_number else scale.n_parts
            for scale, is_number in zip(shape.scales, are_numbers, strict=True)
        ]
        public = n_parts, shape.n_samples, shape.rows_per_group, self.max_order, any(are_numbers)
        return TablePlan.for_budget(self.epsilon, self.delta, *public)

    def draw(self, records, measure, mechanism, n_jobs, random_bytes):
        """What is published of the records."""
        plan, cut = mechanism, [not isinstance(scale, Nominal) for scale in records.scales]
        columns = [np.asarray(column, dtype=np.int64) for column in records.map_features(_codes, n_jobs)]

        def release(codes, sizes, sets, variance):
            tables = counts_of_sets(codes, sizes, sets, n_jobs, records.progress)
            return dict(zip(sets, with_noise(tables, variance, random_bytes), strict=True))

        singles = [(j,) for j in range(plan.n_columns)]
        counts = [*release(columns, plan.n_parts, singles, plan.count_variance()).values()]
        scales = {1: math.sqrt(plan.count_variance()), plan.columns_per_table: plan.noise_scale}
        parts = [
            (parts_of_cells if is_cut else parts_of_labels)(noisy, scales[1])
            for noisy, is_cut in zip(counts, cut, strict=True)
        ]
        sizes = [int(of_column.max()) + 1 for of_column in parts]
        codes = [of_column[column] for of_column, column in zip(parts, columns, strict=True)]
        all_sets = list(combinations(range(plan.n_columns), plan.columns_per_table))
        tables = release(codes, sizes, all_sets, plan.table_variance())
        if plan.asks:
            of_cut = frozenset(np.flatnonzero(cut).tolist())
            tests = TableTests(tables, scales, plan.n, plan.rows_per_group, of_cut)
            asked = triples_asked_for(plan.n_columns, tests.p_value, self.alpha)
            if asked:
                tables |= release(codes, sizes, asked, plan.asked_variance(len(asked)))
                scales[3] = math.sqrt(plan.asked_variance(len(asked)))
        return {
            "noisy_counts_": counts,
            "parts_": parts,
            "noisy_tables_": tables,
            "noise_scale_": plan.noise_scale,
            "noise_scales_": scales,
        }


def triples_asked_for(n_columns, p_value, alpha):
    """The columns of whose tables tests given two columns are made, of the edges that those given one leave.

    A test of i and j given s and t needs the tables of i, s, t and of j, s, t.
    """
    skeleton = find_skeleton(n_columns, p_value, alpha, max_order=1).edges
    edges = np.argwhere(np.triu(skeleton)).tolist()
    given = [(column, pair) for i, j in edges for pair in sets_between(skeleton, i, j, 2) for column in (i, j)]
    return sorted({tuple(sorted((column, *pair))) for column, pair in given})


def with_noise(tables, variance, random_bytes):
    """Tables with independent discrete Gaussian noise on every count, those of 0 included; not clamped."""
    if variance == 0 or not tables:
        return tables
    ends = np.cumsum([table.size for table in tables])
    flat = np.concatenate([table.ravel() for table in tables]).astype(object)
    noisy = np.clip(flat + discrete_gaussian(variance, len(flat), random_bytes), -_MOST, _MOST).astype(np.int64)
    return [part.reshape(table.shape) for part, table in zip(np.split(noisy, ends[:-1]), tables, strict=True)]


def _codes(column, scale):
    """The code of each record: of its label, or of its cell in the range of a number."""
    return column if isinstance(scale, Nominal) else parts_and_missing(column, scale, N_CELLS)[0]
