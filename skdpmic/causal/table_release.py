"""Tables of labels and of numbers in parts, released in stages with Gaussian noise (``docs/theory/private_pc.md``)."""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from skdpmic.budget.filters import Cost
from skdpmic.causal.label_parts import N_CELLS, counts_of_sets, parts_of_columns
from skdpmic.causal.pc import adjacent_columns, find_skeleton, sets_between
from skdpmic.causal.table_plan import MOST_CELLS, TablePlan
from skdpmic.causal.table_tests import TableTests
from skdpmic.correlation.kendall_release import warn_that_noise_drowns
from skdpmic.privacy.noise import clamped, discrete_gaussian
from skdpmic.statistics.grids.partitions import parts_and_missing
from skdpmic.table.domains import Nominal

_DROWNS = 9.0  # standard deviations of the noise on the counts of a column; a part needs three of them


@dataclass(frozen=True)
class TablesRelease:
    """A release, like those in `release/kinds.py`, of tables of counts of the columns.

    Each stage depends on the records only through its own noisy tables and the earlier releases. So the costs are
    additive, whichever tables are requested.
    """

    epsilon: float
    delta: float
    alpha: float
    max_order: int

    publishes = "tables"
    statistic = None
    k = None
    epsilon_of_target = 0

    @property
    def cost(self):
        """The charge of the ledger."""
        return Cost.concentrated(self.epsilon, self.delta)

    def mechanism(self, measure, shape):
        """The plan of the stages."""
        n_parts = [domain.n_parts if isinstance(domain, Nominal) else N_CELLS + 1 for domain in shape.domains]
        public = n_parts, shape.n_samples, shape.rows_per_group, self.max_order, columns_of_numbers(shape.domains)
        return TablePlan.for_budget(self.epsilon, self.delta, *public)

    def warn_about_noise(self, mechanism, shape):
        """Warn if no part of a column can be told from noise."""
        scale = math.sqrt(mechanism.count_variance())
        if _DROWNS * scale > shape.n_samples:
            advice = (
                "It falls as epsilon grows and as n_features falls, and matters less as n_samples grows; "
                "noise_scale_for computes it."
            )
            of_tables = mechanism.noise_scale
            warn_that_noise_drowns("each count of a table", of_tables, self.epsilon, shape, advice)

    def draw(self, records, measure, mechanism, n_jobs, random_bytes):
        """The published attributes."""
        plan = mechanism
        columns = [np.asarray(column, dtype=np.int64) for column in records.map_features(_codes, n_jobs)]

        def release(codes, sizes, sets, variance):
            tables = counts_of_sets(codes, sizes, sets, n_jobs, records.progress)
            return dict(zip(sets, noisy_tables(tables, variance, random_bytes), strict=True))

        singles = [(j,) for j in range(plan.n_columns)]
        counts = [*release(columns, plan.n_parts, singles, plan.count_variance()).values()]
        scales = {1: math.sqrt(plan.count_variance()), plan.columns_per_table: plan.noise_scale}
        parts = parts_of_columns(counts, scales[1], plan.numbers)
        sizes = [int(of_column.max()) + 1 for of_column in parts]
        codes = [of_column[column] for of_column, column in zip(parts, columns, strict=True)]
        all_sets = list(combinations(range(plan.n_columns), plan.columns_per_table))
        tables = release(codes, sizes, all_sets, plan.table_variance())
        if plan.asks:
            tests = TableTests(tables, scales, plan.n, plan.rows_per_group, plan.numbers)
            asked = of_few_cells(triples_asked_for(plan.n_columns, tests.p_value, self.alpha), sizes)
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
    """The sets of columns whose tables are needed by tests given two columns, for edges left after tests given one.

    A test of i and j given s and t needs the tables of i, s, t and of j, s, t.
    """
    skeleton = find_skeleton(n_columns, p_value, alpha, max_order=1).edges
    adjacent, edges = adjacent_columns(skeleton), np.argwhere(np.triu(skeleton)).tolist()
    given = [(column, pair) for i, j in edges for pair in sets_between(adjacent, i, j, 2) for column in (i, j)]
    return sorted({tuple(sorted((column, *pair))) for column, pair in given})


def of_few_cells(sets, sizes):
    """The sets of columns with the smallest tables, up to ``MOST_CELLS`` in total; in the given order."""
    cells = np.array([math.prod(sizes[column] for column in each) for each in sets], dtype=np.int64)
    smallest = np.argsort(cells, kind="stable")
    return [sets[place] for place in np.sort(smallest[np.cumsum(cells[smallest]) <= MOST_CELLS])]


def columns_of_numbers(domains):
    """Indices of the columns whose domain is a range."""
    return frozenset(j for j, domain in enumerate(domains) if not isinstance(domain, Nominal))


def noisy_tables(tables, variance, random_bytes):
    """Tables with independent discrete Gaussian noise on every count, including those of 0; not clamped."""
    if variance == 0 or not tables:
        return tables
    ends = np.cumsum([table.size for table in tables])
    flat = np.concatenate([table.ravel() for table in tables])
    noisy = clamped(flat + discrete_gaussian(variance, len(flat), random_bytes))
    return [part.reshape(table.shape) for part, table in zip(np.split(noisy, ends[:-1]), tables, strict=True)]


def _codes(column, domain):
    """The code of each record: that of its label, or of its cell in a numeric range."""
    return column if isinstance(domain, Nominal) else parts_and_missing(column, domain, N_CELLS)[0]
