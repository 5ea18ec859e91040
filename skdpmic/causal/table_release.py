"""The release of `PrivatePC` if there are labels or ranges: counts of the columns, then tables of their parts."""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np

from skdpmic.causal.pc import adjacent_columns, find_skeleton, sets_between
from skdpmic.causal.table_tests import Counted, Merged, TableTests
from skdpmic.correlation.private_correlation import warn_about_excessive_noise
from skdpmic.privacy.composition import budget_of
from skdpmic.release.path import UnscoredRelease, counts_of_sets, tables_squared_sensitivity, with_gaussian_noise
from skdpmic.statistics.grids import parts_and_missing
from skdpmic.table.domains import Nominal, parts_at_most

# --- The plan --------------------------------------------------------------------------------------------------------


_MOST_TRIPLES = 560  # those of 16 columns; with more columns, tables of three are released on request of the algorithm
_MAX_FOR_FOURS = 11  # columns of labels, for which tables of four have hardly more noise than tables of three
_SHARE_OF_BLANKS = Fraction(1, 40)  # share of the budget for the number of records with blanks
COUNTS, TABLES, ASKED, BLANKS = range(4)  # stages: what is counted in each
MOST_CELLS = 2_000_000  # of all tables together, to limit memory and time with many labels


@dataclass(frozen=True)
class TablePlan:
    """Stages of a release, and the noise of each.

    The first stage is the counts of each single column, which determine the parts that have records; the second, if
    `counts_blanks`, is the number of records that have a blank, which is a label that is not public or a missing value
    without its own part; the third is the tables of all sets of `columns_per_table` columns; the last, if `asks`,
    is the tables of the three columns that the algorithm requests.

    Parameters
    ----------
    rho : Fraction or float
        Budget of zero-concentrated privacy for all stages; infinite for no noise.
    n_parts : tuple of int
        Number of parts of each column in the first stage.
    n : int
        Number of records, which is public.
    rows_per_group : int
    max_order : int
        Maximum number of columns that a test conditions on.
    numbers : frozenset of int, default=frozenset()
        Numeric columns, which usually end up with more parts than columns of labels.
    """

    rho: Fraction | float
    n_parts: tuple
    n: int
    rows_per_group: int
    max_order: int
    numbers: frozenset = frozenset()

    name = "gaussian"

    @classmethod
    def for_budget(cls, epsilon, delta, n_parts, n, rows_per_group, max_order, numbers=frozenset()):
        """The plan with budget (epsilon, delta)."""
        return cls(budget_of(epsilon, delta).rho, tuple(n_parts), n, rows_per_group, max_order, numbers)

    @property
    def n_columns(self):
        """Number of columns."""
        return len(self.n_parts)

    @property
    def columns_per_table(self):
        """Number of columns per table: one more than tests condition on, if these tables are not too many."""
        if self.max_order >= 3 and not self.numbers and self.n_columns <= _MAX_FOR_FOURS and self._is_possible(4):
            return 4
        few = math.comb(self.n_columns, 3) <= _MOST_TRIPLES
        return 3 if self._needs_three and few and self._is_possible(3) else 2

    def _is_possible(self, n_columns):
        """Whether there are sets of this many columns, and their tables have few cells in total."""
        cells = [1] + [0] * n_columns  # of all sets of 0, 1, ... of the columns so far
        for column, n_parts in enumerate(self.n_parts):
            size = min(n_parts, MOST_VALUES + 1) if column in self.numbers else n_parts
            cells = [cells[0], *(more + size * fewer for fewer, more in pairwise(cells))]
        return 0 < cells[-1] <= MOST_CELLS

    @property
    def asks(self):
        """Whether budget is reserved for tables of three columns that the algorithm requests."""
        return self._needs_three and self.columns_per_table == 2

    @property
    def counts_blanks(self):
        """Whether tests are given columns of labels, in which blanks may hide a cause."""
        return self.max_order >= 1 and self.n_columns >= 3 and len(self.numbers) < self.n_columns

    @property
    def _needs_three(self):
        return self.max_order >= 2 and self.n_columns >= 3

    @property
    def n_tables(self):
        """Number of tables of all sets of columns."""
        return math.comb(self.n_columns, self.columns_per_table)

    @property
    def shares(self):
        """Shares of rho for the counts, the tables of all sets, the requested tables, and the number of blanks.

        Counts have about as much noise as tables; the rest is halved if tables may be requested.
        """
        of_blanks = _SHARE_OF_BLANKS if self.counts_blanks else Fraction(0)
        of_counts = (1 - of_blanks) * min(Fraction(1, 2), Fraction(self.n_columns, self.n_columns + self.n_tables))
        of_tables = (1 - of_blanks - of_counts) / (2 if self.asks else 1)
        return of_counts, of_tables, 1 - of_blanks - of_counts - of_tables, of_blanks

    def variance(self, stage, n_tables):
        """The smallest integer variance of noise at which this many tables cost at most the share of their stage."""
        if self.rho == math.inf:
            return 0
        squared = tables_squared_sensitivity(n_tables, self.rows_per_group)
        return math.ceil(squared / (2 * self.shares[stage] * self.rho))

    @property
    def noise_scale(self):
        """Standard deviation of the noise on a count in the tables of all sets of columns, in records."""
        return math.sqrt(self.variance(TABLES, self.n_tables))

    def tests(self, tables, noise_scales, counts, parts, blanks):
        """The tests of independence from all that was released."""
        merged = merged_labels(counts, parts, self.n, noise_scales[1] ** 2)
        n_blanks = None if blanks is None else records_in(blanks, np.array([False, True]), self.n, noise_scales[0] ** 2)
        return TableTests(tables, noise_scales, self.n, self.rows_per_group, self.numbers, merged, n_blanks)


_LEAST_RECORDS = 9.0  # standard deviations of the noise on the counts of a column; a part needs three of them


# --- The release -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TablesRelease(UnscoredRelease):
    """A release of tables of counts of the columns.

    Each stage depends on the records only through its own noisy tables and the earlier releases. So the costs are
    additive, whichever tables are requested.
    """

    alpha: float
    max_order: int

    publishes = "tables"
    statistic = None

    def mechanism(self, shape):
        """The plan of the stages."""
        n_parts = [_n_codes(domain) for domain in shape.domains]
        numbers = frozenset(j for j, domain in enumerate(shape.domains) if not isinstance(domain, Nominal))
        public = n_parts, shape.n_samples, shape.rows_per_group, self.max_order, numbers
        return TablePlan.for_budget(self.epsilon, self.delta, *public)

    def warn_about_noise(self, mechanism, shape):
        """Warn if no part of a column can be distinguished from noise."""
        scale = math.sqrt(mechanism.variance(COUNTS, mechanism.n_columns))
        if _LEAST_RECORDS * scale > shape.n_samples:
            advice = (
                "It falls as epsilon grows and as n_features falls, and matters less as n_samples grows; "
                "noise_scale_for computes it."
            )
            warn_about_excessive_noise("each count of a table", mechanism.noise_scale, self.epsilon, shape, advice)

    def draw(self, records, plan, n_jobs, random_bytes):
        """The published attributes."""
        columns = [np.asarray(column, dtype=np.int64) for column in records.map_features(_codes, n_jobs)]
        scales = {}  # of the noise, by the number of columns of a table; 0 for the number of blanks

        def release(stage, codes, sizes, sets):
            tables = counts_of_sets(codes, sizes, sets, n_jobs, records.progress)
            variance = plan.variance(stage, len(sets))
            scales[0 if stage == BLANKS else len(sets[0])] = math.sqrt(variance)
            return dict(zip(sets, with_gaussian_noise(tables, variance, random_bytes), strict=True))

        counts = [*release(COUNTS, columns, plan.n_parts, [(j,) for j in range(plan.n_columns)]).values()]
        parts = [
            (parts_of_cells if j in plan.numbers else parts_of_labels)(of_column, scales[1])
            for j, of_column in enumerate(counts)
        ]
        sizes = [int(of_column.max()) + 1 for of_column in parts]
        blanks = None
        if plan.counts_blanks:
            has_blank = np.zeros(len(columns[0]), dtype=np.int64)
            for j in set(range(plan.n_columns)) - plan.numbers:
                has_blank |= merged_blanks(counts[j], parts[j])[columns[j]]
            (blanks,) = release(BLANKS, [has_blank], [2], [(0,)]).values()
        codes = [of_column[column] for of_column, column in zip(parts, columns, strict=True)]
        all_sets = list(combinations(range(plan.n_columns), plan.columns_per_table))
        tables = release(TABLES, codes, sizes, all_sets)
        if plan.asks:
            test = plan.tests(tables, scales, counts, parts, blanks).test
            asked = smallest_tables(triples_asked_for(plan.n_columns, test, self.alpha), sizes)
            if asked:
                tables |= release(ASKED, codes, sizes, asked)
        return {
            "noisy_counts_": counts,
            "parts_": parts,
            "noisy_blanks_": blanks,
            "noisy_tables_": tables,
            "noise_scale_": plan.noise_scale,
            "noise_scales_": scales,
        }


def triples_asked_for(n_columns, test, alpha):
    """The sets of columns whose tables are needed by tests given two columns, for edges left after tests given one.

    A test of i and j given s and t needs the tables of i, s, t and of j, s, t.
    """
    skeleton, *_ = find_skeleton(n_columns, test, alpha, max_order=1)
    adjacent, edges = adjacent_columns(skeleton), np.argwhere(np.triu(skeleton)).tolist()
    given = [(column, pair) for i, j in edges for pair in sets_between(adjacent, i, j, 2) for column in (i, j)]
    return sorted({tuple(sorted((column, *pair))) for column, pair in given})


def smallest_tables(sets, sizes):
    """The sets of columns with the smallest tables, up to ``MOST_CELLS`` in total; in the given order."""
    cells = np.array([math.prod(sizes[column] for column in each) for each in sets], dtype=np.int64)
    smallest = np.argsort(cells, kind="stable")
    return [sets[place] for place in np.sort(smallest[np.cumsum(cells[smallest]) <= MOST_CELLS])]


def _codes(column, domain):
    """The code of each record: that of its label, or of its cell in a numeric range, or of its integers."""
    return column if isinstance(domain, Nominal) else parts_and_missing(column, domain, _n_codes(domain) - 1)[0]


def _n_codes(domain):
    return domain.n_parts if isinstance(domain, Nominal) else parts_at_most(N_CELLS, domain) + 1


# --- Parts of the columns --------------------------------------------------------------------------------------------


N_CELLS = 64  # of equal width, in the public range of a number
MOST_PARTS = 6  # of a number, besides missing values
MOST_VALUES = 8  # distinct values of a number, each of which becomes a part
_CLEAR, _FEW = 3.0, 5.0  # smallest part: this many standard deviations of its noise, and this many records


def parts_of_labels(counts, noise_scale):
    """The part of each label: labels without evidence of records share the part of the most frequent label.

    Parameters
    ----------
    counts : ndarray of shape (n_labels,)
        Noisy counts.
    noise_scale : float

    Returns
    -------
    int64 ndarray of shape (n_labels,)
        Numbers of parts, 0, 1, ..., each with at least one label.
    """
    most = int(np.argmax(counts))
    counts_alone = counts >= max(_FEW, _CLEAR * noise_scale)
    counts_alone[most] = True
    parts = np.cumsum(counts_alone) - 1
    return np.where(counts_alone, parts, parts[most])


_N_BLANKS = 2  # the last cells of a column of labels: other labels, and missing values


def merged_labels(counts, parts, n, variance):
    """For each column, the labels that joined the part of the most frequent one, by noisy counts of this variance."""
    found = {}
    for j, (of_column, of_labels) in enumerate(zip(counts, parts, strict=True)):
        joined = _joined(of_column, of_labels)
        if joined.any():
            part = int(of_labels[joined][0])
            found[j] = Merged(part, records_in(of_column, joined, n, variance), bool(joined[:-_N_BLANKS].any()))
    return found


def merged_blanks(counts, parts):
    """Whether each label of a column is a blank that joined the part of the most frequent one."""
    joined = _joined(counts, parts)
    joined[:-_N_BLANKS] = False
    return joined


def _joined(counts, parts):
    most = np.argmax(counts)
    return (parts == parts[most]) & (np.arange(len(parts)) != most)


def records_in(counts, chosen, n, variance):
    """How many of n records are in the chosen cells, by noisy counts of all cells, whose sum is known."""
    share = float(chosen.mean())
    estimate = counts[chosen].sum() + share * (n - counts.sum())
    return Counted(float(estimate), variance * len(counts) * share * (1 - share))


def parts_of_cells(counts, noise_scale):
    """The part of each cell of a number, and of missing values, which come last: parts of nearly equal size.

    There are as many parts as the noise allows, at most ``MOST_PARTS``; or, for a number that evidently has few
    values, one part per value. Missing values without records are in the largest part.

    Parameters
    ----------
    counts : ndarray of shape (n_cells + 1,)
        Noisy counts.
    noise_scale : float

    Returns
    -------
    int64 ndarray of shape (n_cells + 1,)
        As in :func:`parts_of_labels`.
    """
    clear = counts >= max(_FEW, _CLEAR * noise_scale)
    spread = _CLEAR * noise_scale * np.sqrt(len(counts) - 1)
    if clear[:-1].sum() <= MOST_VALUES and counts[~clear].sum() <= _FEW + spread:
        return parts_of_labels(counts, noise_scale)
    within = np.maximum(counts[:-1], 0.0)
    least = max(_FEW, spread)
    n_parts = int(np.clip(within.sum() // least, 1, MOST_PARTS))
    parts = _cut(within, within.sum() / n_parts)
    if clear[-1]:
        return np.append(parts, parts.max() + 1)
    return np.append(parts, np.argmax(np.bincount(parts, weights=within)))


def _cut(counts, wanted):
    """The part of each cell, from the first on: a part ends where its size is nearest to the requested one.

    The last part needs only half as many.
    """
    parts, in_part = [0], counts[0]
    for count in counts[1:]:
        ends = in_part + count / 2 > wanted and in_part >= wanted / 2
        parts.append(parts[-1] + ends)
        in_part = count if ends else in_part + count
    parts = np.array(parts)
    return np.minimum(parts, max(parts[-1] - 1, 0)) if in_part < wanted / 2 else parts
