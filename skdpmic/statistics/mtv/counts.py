"""Counts for all grids of MTVr at once; they are additive, so chunks of a table can be counted separately.

For each column of the target, count the records in each master part of the feature, then those with a missing value;
for a nominal feature, the records with each code. MTVr is computed from these counts. A weighted record counts as its
weight, an integer number of units, so n records count as at most ``n * units``.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from skdpmic._utils.jit import jit, leaf, uses_numpy
from skdpmic.statistics.grids import equal_parts, parts_of_each
from skdpmic.statistics.mtv.family import UNITS
from skdpmic.table.domains import Nominal

_UNMERGED = 0.53  # chance variation of an unmerged table, relative to that of the best merge
_CLEARLY = 1 - 2.0**-10  # a factor further from 1 than any rounding error

ROUNDING_ERROR = 2.0**-49  # bound on the distance of a score from its exact value: docs/theory/mtv_r.md

# --- Counting -------------------------------------------------------------------------------------------------------


class Placed(NamedTuple):
    """Column and weight of each record of a target. Raw data; not private."""

    columns: np.ndarray  # uint32 (n_samples,)
    weights: np.ndarray | None  # uint32 (n_samples,); None without weights


class TargetCounts:
    """Counts of features with a target, and scores from them. Holds public numbers only.

    Parameters
    ----------
    family : Family
    target_bounds : pair of floats, default=None
        Range of a numeric target; None for class numbers, with one column of the family for each class.
    units : int, default=1
        Largest weight of a record, in units; 1 without weights.
    """

    def __init__(self, family, target_bounds=None, units=1):
        self._family, self._target_bounds, self.units = family, target_bounds, units

    def n_tables(self, domain):
        """Number of times each record is counted in the counts of a feature."""
        return 1

    def place(self, y, weights=None):
        """The column of each value, or class number, of the target."""
        if self._target_bounds is None:
            return Placed(y.astype(np.uint32), weights)
        return Placed(equal_parts(y, self._target_bounds, self._family.n_columns), weights)

    def count(self, x, domain, placed):
        """Counts of the feature `x` with a placed target: a flat uint32 array; equal domains give equal lengths."""
        return self.tables([x], [domain], placed).ravel()

    def tables(self, X, domains, placed):
        """Counts of several features of the same kind: uint32 (n_features, n_columns, n_parts), missing values last.

        Parameters
        ----------
        X : sequence of ndarrays of shape (n_samples,)
        domains : sequence of pairs of floats, or of Nominal
        placed : Placed
            The target.
        """
        if isinstance(domains[0], Nominal):
            parts, n_parts = np.array(X), domains[0].n_parts
        else:
            parts, n_parts = parts_of_each(X, domains, self._family.n_master)[0], self._family.n_master + 1
        return tables_of(placed, self._family.n_columns, parts, n_parts)

    def of_target(self, counts):
        """Number of records in each column of the target, from the counts of a feature."""
        return counts.reshape(self._family.n_columns, -1).sum(axis=1, dtype=np.int64)


def tables_of(placed, n_columns, parts, n_parts):
    """Counts of records by the feature, and their columns and parts: uint32 (n_features, n_columns, n_parts)."""
    counts, (columns, weights) = np.zeros((len(parts), n_columns * n_parts), dtype=np.uint32), placed
    if uses_numpy():
        for f, part in enumerate(parts):
            counts[f] += np.bincount(columns * np.uint32(n_parts) + part, weights, counts.shape[1]).astype(np.uint32)
    else:
        _add_records(counts, columns, np.ones_like(columns) if weights is None else weights, parts, n_parts)
    return counts.reshape(len(parts), n_columns, n_parts)


@jit
def _add_records(counts, columns, weights, parts, n_parts):
    """Add each record to the counts of each feature f, as its weight."""
    width = np.uint32(n_parts)
    for f in range(len(parts)):
        for i in range(len(columns)):
            counts[f, columns[i] * width + parts[f, i]] += weights[i]


# --- Scores ---------------------------------------------------------------------------------------------------------


class CountsScorer:
    """Scores from counts of n records on the grids of a family. Holds public numbers only.

    Parameters
    ----------
    n : int, at least 2
    family : Family
    units : int, default=1
        Largest weight of a record, in units, which are then also the units of counts.
    """

    rounding_error = ROUNDING_ERROR

    def __init__(self, n, family, units=1):
        most = MOST_RECORDS // units
        if n > most:
            with_weights = " with weights" if units > 1 else ""
            raise ValueError(f"scores can be computed for at most {most:,} records{with_weights}, got n_samples={n:,}.")
        self._most = n * units  # largest possible total weight
        self._n, self._family = n, family
        self._coarsest = family.penalty * np.sqrt((min(side.size for side in family.sides) - 1) / n)
        self._apart = [side for side in family.sides if side.n_groups > 2]
        self._bisections = [side for side in family.sides if side.n_groups == 2]
        self._sizes = np.array([side.size for side in self._bisections])
        self._errors = np.array([family.offset_of_error(side) for side in self._bisections])
        self._normalisers = np.array([family.normaliser(side, 2) for side in self._bisections])
        self._limits = np.array([family.most_cost(side) for side in self._bisections], dtype=np.int64)
        # The walk against the group with fewer columns is faster to sum; that against the other differs in its sign.
        groups = np.array([side.groups for side in self._bisections], dtype=np.int64).reshape(-1, family.n_columns)
        one = (2 * groups.sum(axis=1) <= family.n_columns).astype(int)
        self._groups = (groups == one[:, np.newaxis]).astype(np.int64)
        known = [(s.margins[i], UNITS) if s.margins else (0, 0) for s, i in zip(self._bisections, one, strict=True)]
        self._margins = np.array(known, dtype=np.int64).reshape(-1, 2)

    def _by_chance(self, weight, size):
        """Variation by chance with cuts of this weight, above that of the coarsest grid."""
        return self._family.penalty * np.sqrt(weight * (size - 1) / self._n) - self._coarsest

    def _constants(self, total):
        """Factor for path lengths, offset for each cost and smallest useful gain, for records of weight `total`.

        A gain is half of the length that two more cuts, of which one has the full cost, must add to a path to outweigh
        their offset.
        """
        cost, nu, cuts = np.arange(self._limits.max() + 1), self._normalisers[:, np.newaxis], self._family.cuts
        offsets = self._by_chance(np.maximum(cost / cuts.per_unit, 1), self._sizes[:, np.newaxis])
        offsets = (offsets + self._errors[:, np.newaxis]) / nu  # which is the same for any parts
        units = np.where(self._margins[:, 1:] > 0, UNITS, total)
        per_length = 1 / (2 * self._most * units * nu)
        of_two = cuts.other + min(cuts.costs, default=cuts.other)
        gains = (offsets[:, of_two:] - offsets[:, :-of_two]).min(axis=1, initial=np.inf)
        least = np.where(gains < np.inf, _CLEARLY * gains / (2 * per_length[:, 0]), 0)
        return per_length, np.where(cost <= self._limits[:, np.newaxis], offsets, np.inf), least.astype(np.int64)

    def _per_length(self, side, k, total):
        units = total if side.margins is None else UNITS
        return 1 / (2 * self._most * units * self._family.normaliser(side, k))

    def offsets(self, side, cost):
        """Offset subtracted from the total variation of a merge by cuts of these costs; infinite beyond the limit."""
        offset = self._by_chance(np.maximum(cost / self._family.cuts.per_unit, 1), side.size)
        offset = offset + self._family.offset_of_error(side)
        return np.where(cost <= self._family.most_cost(side), offset, np.inf)

    def score(self, counts, domain):
        """MTVr from the flat uint32 counts of a feature: the largest (TV - o) / nu of all grids, clipped to [0, 1]."""
        return self.of_tables(counts.reshape(1, self._family.n_columns, -1), domain)[0]

    def of_tables(self, tables, domain):
        """MTVr of features of one kind from their uint32 tables of counts: a list.

        In those of numeric features, the last part holds missing values, which are tried both after and before all
        others.
        """
        if isinstance(domain, Nominal):
            return [self.of_cells(table, domain.n_labels) for table in tables.astype(np.int64)]
        scores, some_missing = self.of_rows(tables), tables[:, :, -1].any(axis=1)
        if some_missing.any():
            cuts = self._family.cuts.with_missing_first(self._family.n_master)
            before = self.of_rows(np.roll(tables[some_missing], 1, axis=2), cuts)
            scores[some_missing] = np.maximum(scores[some_missing], before)
        return scores.tolist()

    def of_rows(self, tables, cuts=None):
        """MTVr of several features from counts of ordered parts, with neighbouring parts merged.

        Parameters
        ----------
        tables : uint32 ndarray of shape (n_features, n_columns, n_parts)
        cuts : Cuts, default=None
            What cuts cost; None if missing values, if any, are last.

        Returns
        -------
        ndarray of shape (n_features,)
        """
        largest, total, cuts = np.zeros(len(tables)), int(tables[0].sum(dtype=np.int64)), cuts or self._family.cuts
        if total == 0:
            return largest
        counts, n_used, points = running_counts(tables, cuts.edges)
        if self._bisections:
            per_length, offsets, least = self._constants(total)
            lines = self._groups, self._margins, offsets.shape[1] - 1, least
            lengths = longest_on_lines(counts, n_used, points, cuts, *lines)
            largest = np.maximum(largest, (lengths * per_length - offsets).max(axis=(1, 2)))
        for side in self._apart:
            margins = _known_shares(side)
            per_length, nu = self._per_length(side, 2, total), self._family.normaliser(side, 2)
            offsets = self.offsets(side, np.arange(cuts.other + 1)) / nu
            for f, n in enumerate((n_used + 1).tolist()):
                of_feature = counts[f, : len(margins) * n + n].reshape(-1, n)
                lengths = longest_of_one_cut(of_feature, margins, points[f], cuts)
                largest[f] = max(largest[f], (lengths * per_length - offsets).max())
        return np.minimum(largest, 1.0)

    def of_cells(self, table, n_labels):
        """MTVr with one part per code, from an int64 table (n_columns, n_codes).

        Only a merge into two parts, whose nu is smaller, can score higher; with two labels, it is also tried.
        """
        of_code, total, largest = table.sum(axis=0), int(table.sum()), 0.0
        if total == 0:
            return 0.0
        if self._bisections:
            lengths = 2 * np.abs(_steps(self._groups @ table, *self._margins.T, of_code)).sum(axis=1)
            by_chance = _UNMERGED * self._by_chance(max(n_labels - 1, 1), self._sizes)
            offsets = (by_chance + self._errors) / self._normalisers
            largest = max(largest, float((lengths * self._constants(total)[0][:, 0] - offsets).max()))
        for side in self._apart:
            margins = _known_shares(side)
            of_two = [np.c_[table[:, 0], table[:, 1:].sum(axis=1)]] if n_labels == 2 else []
            for rows in (table, *of_two):
                length = np.abs(_steps(rows, margins, margins.sum(), rows.sum(axis=0))).sum()
                k = rows.shape[1]
                offset = self.offset_of_labels(n_labels, side) / self._family.normaliser(side, k)
                largest = max(largest, float(length * self._per_length(side, k, total) - offset))
        return min(largest, 1.0)

    def offset_of_labels(self, n_labels, side):
        """Offset subtracted from the total variation of a nominal feature with one part per code."""
        size = side.size if side.n_groups == 2 else side.n_groups
        return _UNMERGED * self._by_chance(max(n_labels - 1, 1), size) + self._family.offset_of_error(side)


def _steps(in_groups, margins, units, of_code):
    """Step of the walk for each code, against each group, with the group's known share or that of the table."""
    is_known = margins > 0
    margins = np.where(is_known, margins, in_groups.sum(axis=1))
    units = np.where(is_known, units, of_code.sum())
    return units[:, np.newaxis] * in_groups - np.outer(margins, of_code)


def _known_shares(side):
    """The known share of each group; zeros for the shares of the table."""
    return np.array(side.margins or [0] * side.n_groups, dtype=np.int64)


counts_scorer = lru_cache(maxsize=32)(CountsScorer)  # all features of a table share it


class TargetScorer:
    """A target, ready to be scored against many features. Raw data; not private.

    Parameters
    ----------
    counts : TargetCounts or PairCounts
    scorer : CountsScorer or PairScorer
        Scores features from these counts.
    *target : ndarrays of shape (n_samples,)
        The arguments of ``counts.place``.
    """

    def __init__(self, counts, scorer, *target):
        self._counts, self._scorer, self._placed = counts, scorer, counts.place(*target)

    def score(self, x, domain):
        """The score of the feature `x`, in [0, 1]."""
        return self.score_block([x], [domain])[0]

    def score_block(self, X, domains):
        """The scores of several features, as a list; numeric features are scored together."""
        labels = [[j] for j, domain in enumerate(domains) if isinstance(domain, Nominal)]
        numbers = [j for j, domain in enumerate(domains) if not isinstance(domain, Nominal)]
        scores = {}
        for block in [numbers, *labels] if numbers else labels:
            columns = X if len(block) == len(domains) else [X[j] for j in block]
            of_block = [domains[j] for j in block]
            tables = self._counts.tables(columns, of_block, self._placed)
            scores |= zip(block, self._scorer.of_tables(tables, of_block[0]), strict=True)
        return [scores[j] for j in range(len(domains))]


MOST_RECORDS = 2**31 - 1  # a path is at most 2 u n long with u <= n; this must stay below 2**63


def running_counts(tables, edges=()):
    """Cumulative counts over the non-empty master parts, for each column and then for all columns, starting at 0.

    Parameters
    ----------
    tables : uint32 ndarray of shape (n_features, n_columns, n_master)
    edges : sequence of int, default=()
        Master parts before which a cut is cheaper.

    Returns
    -------
    counts : int64 ndarray of shape (n_features, (n_columns + 1) * (n_master + 1))
        The first ``(n_columns + 1) * (n_used + 1)`` entries of each row are counts; the rest are undefined.
    n_used : int64 ndarray of shape (n_features,)
        Number of non-empty master parts of each feature.
    points : int64 ndarray of shape (n_features, n_edges)
        Number of these before each edge.
    """
    n_features, n_columns, n_master = tables.shape
    counts = np.empty((n_features, (n_columns + 1) * (n_master + 1)), dtype=np.int64)
    n_used, points = np.zeros(n_features, dtype=np.int64), np.zeros((n_features, len(edges)), dtype=np.int64)
    edges = np.array(edges, dtype=np.int64)
    if not uses_numpy():
        buffers = np.empty(n_master, dtype=np.int64), np.empty(n_master, dtype=np.uint64)
        _run(tables, edges, *buffers, counts, n_used, points)
        return counts, n_used, points
    for f, table in enumerate(tables):
        (parts,) = table.any(axis=0).nonzero()
        running = np.zeros((n_columns + 1, len(parts) + 1), dtype=np.int64)
        np.cumsum(table[:, parts], axis=1, out=running[:-1, 1:])
        running[-1] = running[:-1].sum(axis=0)
        counts[f, : running.size], n_used[f] = running.ravel(), len(parts)
        points[f] = np.searchsorted(parts, edges)
    return counts, n_used, points


@jit
def _run(tables, edges, in_part, parts, counts, n_used, points):
    """Fill in `counts`, row by row, `n_used` and `points`; `in_part` and `parts` are buffers."""
    n_features, n_columns, n_master = tables.shape
    for f in range(n_features):
        table, run = tables[f], counts[f]
        for t in range(n_master):
            in_part[t] = 0
        for j in range(n_columns):
            for t in range(n_master):
                in_part[t] += table[j, t]
        end = np.uint64(0)
        for t in range(np.uint64(n_master)):
            parts[end] = t
            end += np.uint64(in_part[t] > 0)  # else the next part overwrites it
        n_used[f] = end
        for t in range(end):
            for i in range(len(edges)):
                points[f, i] += np.int64(parts[t] < np.uint64(edges[i]))
        of_all = run[n_columns * (n_used[f] + 1) :]
        for t in range(end + np.uint64(1)):
            of_all[t] = 0
        for j in range(n_columns):
            of_column, column = run[j * (n_used[f] + 1) :], table[j]
            so_far = np.int64(0)
            of_column[0] = so_far
            for t in range(end):
                so_far += np.int64(column[parts[t]])
                of_column[t + np.uint64(1)] = so_far
                of_all[t + np.uint64(1)] += so_far


def longest_of_one_cut(counts, margins, points, cuts):
    """Lengths of the longest paths against all columns with at most one cut of cost 0, 1, ..., `cuts.other`: int64.

    Parameters
    ----------
    counts : ndarray of shape (n_columns + 1, n_used + 1)
        Counts of one feature from :func:`running_counts`.
    margins : ndarray of shape (n_columns,)
        The share of each column, as integers relative to their sum; zeros for the shares of the table.
    points : sequence of int
        Where the cheaper cuts are.
    cuts : Cuts
    """
    unit = margins.sum()
    if unit == 0:
        margins, unit = counts[:-1, -1], counts[-1, -1]
    walk = unit * counts[:-1]
    walk -= np.multiply.outer(margins, counts[-1])
    length = (np.abs(walk) + np.abs(walk[:, -1:] - walk)).sum(axis=0)
    lengths = np.full(cuts.other + 1, length[-1])
    for point, cost in zip(points, cuts.costs, strict=True):
        lengths[cost:] = np.maximum(lengths[cost:], length[point])
    lengths[-1] = length.max()
    return lengths


def longest_on_lines(counts, n_used, points, cuts, bisections, margins, most, least):
    """The longest paths of several features, against several sides of two groups each.

    Parameters
    ----------
    counts, n_used, points : ndarrays
        From :func:`running_counts`.
    cuts : Cuts
        What cuts cost.
    bisections : ndarray of shape (n_sides, n_columns)
        The group of each column, 0 or 1.
    margins : ndarray of shape (n_sides, 2)
        The share of group 1 as numerator and denominator; two zeros for the share of the table.
    most : int
        The largest cost of all cuts of a path.
    least : int64 ndarray of shape (n_sides,)
        Half of the gain in length that two more cuts must bring to be useful; longer paths that gain less may be
        missed.

    Returns
    -------
    int64 ndarray of shape (n_features, n_sides, most + 1)
        The lengths for cuts that cost at most 0, 1, ..., `most`.
    """
    lengths = np.zeros((len(counts), len(bisections), most + 1), dtype=np.int64)
    costs, other = np.array(cuts.costs, dtype=np.int64), cuts.other
    if not uses_numpy():
        of_line = np.empty((3, int(n_used.max(initial=0)) + 2), dtype=np.int64)  # and room after the end of a line
        of_costs = np.empty((2, most + 1), dtype=np.int64)
        lines = bisections, margins, least, *of_line, *of_costs
        _fill_longest_on_lines(counts, n_used, points, costs, other, *lines, lengths)
        return lengths
    # The distance of two points of a line is the larger one of two differences. `low` is the longest path before a
    # point less its height there, and `high` the same plus its height, for each cost.
    for f, n_steps in enumerate(n_used + 1):
        of_columns = counts[f, : (bisections.shape[1] + 1) * n_steps].reshape(-1, n_steps)
        in_group, of_all = bisections @ of_columns[:-1], of_columns[-1]
        known = margins[:, 1:] > 0
        margin, unit = np.where(known, margins, np.c_[in_group[:, -1], np.full(len(margins), of_all[-1])]).T
        line = 2 * (unit[:, np.newaxis] * in_group - np.outer(margin, of_all))
        low, high = np.zeros((2, most + 1, *line.shape), dtype=np.int64)
        for cost in range(most + 1):
            if cost >= other:
                high[cost] = np.maximum(low[cost - other] + 2 * line, 0)
                low[cost] = np.maximum(high[cost - other] - 2 * line, 0)
            for point, less in zip(points[f], costs, strict=True):
                if cost >= less:
                    height = 2 * line[:, point]
                    high[cost, :, point] = np.maximum(high[cost, :, point], low[cost - less, :, point] + height)
                    low[cost, :, point] = np.maximum(low[cost, :, point], high[cost - less, :, point] - height)
            np.maximum.accumulate(low[cost], axis=1, out=low[cost])
            np.maximum.accumulate(high[cost], axis=1, out=high[cost])
            lengths[f, :, cost] = np.maximum(low[cost, :, -1] + line[:, -1], high[cost, :, -1] - line[:, -1])
    return lengths


@jit
def _fill_longest_on_lines(
    counts, n_used, points, costs, other, bisections, margins, least, line, turns, places, low, high, lengths
):
    """Fill in `lengths`; the arrays from `line` to `high` are buffers.

    With two groups, D_1 = -D_0, so the walk is on a line. Of the points where a cut has the full cost, only turning
    points matter, peaks and valleys in turn: a path through another one is not shorter if it goes through a
    neighbouring peak or valley instead, or through neither. Each is passed once: ``low`` is the longest path so far
    less the height of the line at its last cut, ``high`` the same plus that height, for each cost of its cuts; so a
    rise to a peak adds its height to ``low``, and a fall from there begins at that plus the height once more.
    """
    n_columns, most, one = bisections.shape[1], lengths.shape[2] - 1, np.uint64(1)
    for f in range(len(counts)):
        n_steps = n_used[f] + 1
        of_all = counts[f, n_columns * n_steps :]
        for i in range(len(bisections)):
            for t in range(n_steps):
                line[t] = 0
            for j in range(n_columns):
                if bisections[i, j] == 1:
                    of_column = counts[f, j * n_steps :]
                    for t in range(n_steps):
                        line[t] += of_column[t]
            margin, scale = margins[i, 0], margins[i, 1]
            if scale == 0:
                margin, scale = line[n_steps - 1], of_all[n_steps - 1]
            for t in range(n_steps):
                line[t] = 2 * (scale * line[t] - margin * of_all[t])
            end = _keep_turning_points(line, n_steps, turns, places)
            for _ in range(2 if least[i] > 0 else 0):  # each pass leaves a third of the close pairs
                end = _drop_small_turns(turns, places, end, least[i])
            low[:], high[:] = 0, 0
            is_peak, passed = turns[1] >= turns[0], 0
            for t in range(one, end + one):
                while passed < len(costs) and points[f, passed] <= places[t]:
                    height = line[points[f, passed]]
                    _extend(high, low, 2 * height, costs[passed])
                    _extend(low, high, -2 * height, costs[passed])
                    passed += 1
                if t < end and is_peak:
                    _extend(high, low, 2 * turns[t], other)
                elif t < end:
                    _extend(low, high, -2 * turns[t], other)
                is_peak = not is_peak
            last, of_side = turns[end], lengths[f, i]
            for cost in range(most + 1):
                of_side[cost] = max(low[cost] + last, high[cost] - last)


@leaf
def _extend(after, before, twice, cost):
    """Extend the longest paths of each cost by the piece that ends at this cut; the next piece turns around."""
    from_here = after[cost:]
    for i in range(len(from_here)):
        from_here[i] = max(from_here[i], before[i] + twice)


@leaf
def _keep_turning_points(line, n_steps, turns, places):
    """Write the ends and turning points of the line, and where they are; return the last, as an unsigned integer."""
    last, before = np.uint64(1), line[1]
    turns[0], turns[1], places[0], places[1] = line[0], before, 0, 1
    rose = before >= line[0]
    for t in range(np.uint64(2), np.uint64(n_steps)):
        here = line[t]
        rises = here >= before
        last += np.uint64(rises != rose)  # else the previous point is not a turning point
        turns[last], places[last] = here, t
        before, rose = here, rises
    return last


@leaf
def _drop_small_turns(turns, places, end, least):
    """Drop pairs of turns that are too close for a longest path to turn at both; return the last of those kept.

    Their distance exceeds neither `least` nor that of either to its other neighbour. A path through both has two more
    pieces and is longer by at most twice their distance. A path through one of them is no longer than one through the
    higher peak or the lower valley next to them, unless it has a cheaper cut in between: then that is as close, and
    takes the place of the other one of the two.
    """
    last, one, two = np.uint64(1), np.uint64(1), np.uint64(2)
    turns[end + one] = turns[end]  # a step of 0 after the end, the smallest
    is_kept, before, step = True, abs(turns[one] - turns[0]), abs(turns[two] - turns[one])
    for t in range(one, end):
        here, place, after = turns[t], places[t], abs(turns[t + two] - turns[t + one])
        is_apart = (step > least) | (step > before) | (step >= after)  # from the next point
        turns[last], places[last] = here, place
        last += np.uint64(is_kept & is_apart)
        is_kept, before, step = is_apart, step, after
    turns[last], places[last] = turns[end], places[end]
    return last
