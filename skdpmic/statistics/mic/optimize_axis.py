"""OptimizeAxis: the best merges of a master partition against a fixed partition, for all sizes at once.

For a table of counts a_ij with row sums r_i, column sums c_j and total n, and g(a) = a log2 a,

    n I = sum g(a_ij) - sum g(r_i) - sum g(c_j) + g(n).

When neighbouring rows are merged, only the first two sums change, and they are additive over the merged
rows. The best merge into k parts is therefore an optimal segmentation, found by dynamic programming over
the last cut: ``best_k(t) = max over s < t of best_{k-1}(s) + weight(s, t)``
(OptimizeAxis of Reshef et al. 2011, Supporting Online Material, Section 3).

Upper bounds are computed first, at a fraction of the cost. The weight of a segment never decreases when the segment is
cut in two: a finer partition never loses information. So the value of the best merge into k parts is at most what it
would be if every segment except the first and the last were cut once more for free, at the border of the block of
master parts in which it ends. Weights are then only needed between borders and master edges, not between all pairs of
edges. With all master parts in a single block nothing is cut for free, and the values are exact. Bounds are raised by
more than any rounding error, so a score does not depend on what is skipped.

Even for independent variables, a grid of k by l parts has a mean information of (k - 1)(l - 1) / (2 n ln 2) bits, if n
is large (Miller and Madow 1955). This bias can be subtracted from entries.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from skdpmic._utils.jit import jit, leaf
from skdpmic.table.domains import Nominal

# --- g(a) in integers -----------------------------------------------------------------------------------------


class EntropyTable(NamedTuple):
    """g(a) = a log2 a, as integers in units of ``1 / scale``.

    Integers make every sum exact, so a score does not depend on the order of summation. All sums of n I together
    stay below 2**62.
    """

    g: np.ndarray  # (n + 1,) int64
    g_pairs: np.ndarray  # int64, g(a) + g(b) at a * step + b, for small a and b
    step: int
    scale: float  # a power of two


_AT_ONCE = 2**16


@lru_cache(maxsize=4)
def entropy_table(n):
    """The table for totals up to n; the last few are cached, because they depend on n only."""
    if n >= 2**32:  # counts are uint32, and would overflow
        raise ValueError(f"scores can be computed for at most {2**32 - 1:,} records, got n_samples={n:,}.")
    g = np.empty(n + 1, dtype=np.int64)
    for first in range(0, n + 1, _AT_ONCE):  # floats for all would need several times the memory of the table
        counts = np.arange(first, min(first + _AT_ONCE, n + 1), dtype=np.float64)
        counts = np.maximum(counts, 1.0)  # g(0) = 0 = g(1)
        g[first : first + _AT_ONCE] = np.rint(counts * np.log2(counts) * _scale(n))
    n_small = 1 << min(8, n.bit_length())  # 2**16 pairs still fit in the L1 and L2 caches,
    step = n_small + 8  # where rows a power of two apart would crowd into a few places
    small = np.zeros(step, dtype=np.int64)
    small[: min(n + 1, n_small)] = g[:n_small]
    return EntropyTable(g, np.add.outer(small[:n_small], small).ravel(), step, _scale(n))


def rounding_error(n, plan):
    """Bound on the error of a computed MICr, for n records and the grids of `plan`.

    The error of a table entry is at most 2**-49 g(a) + 1 / (2 scale). A score sums at most 2 n_cells + 3 of them,
    whose exact values sum to at most 4 g(n), and divides by n and a logarithm >= 1; the conversion to float and the
    divisions lose at most 2**-49 more of a value <= 1. The proof is in ``docs/theory/rounding.md``.
    """
    n_cells = (plan[:, 0] * plan[:, 2]).max()
    return 2.0**-49 * (4 * math.log2(n) + 1) + (2 * n_cells + 3) / (2 * _scale(n) * n)


def _scale(n):
    return 2.0 ** (61 - math.ceil(math.log2(4 * n * math.log2(n) + 4)))


# --- What to merge --------------------------------------------------------------------------------------------


class Grids(NamedTuple):
    """The grids to search. Everything is public except, for MICe, the numbers of parts left by ties."""

    rows: np.ndarray  # uint64 (n_grids, 8), with the columns below
    most: tuple  # ints: maximum parts of the fixed axis, of the master partition, and after merging; and n_grids


# Columns of Grids.rows:
# N_FIXED   parts of the fixed axis
# N_MASTER  parts of the master partition
# K_MAX     maximum number of merged parts
# BLOCK     master parts in a block of the upper bounds; N_MASTER for none
# TABLE     the table in which the records are counted: its row of Tables.places
# CUTS      the starts of the master parts in it: the row of Tables.cuts
# BORDERS   the starts of the fixed parts in it: the row of Tables.borders
# DEGREES   degrees of freedom of the fixed axis for the bias correction: at most its parts minus 1
N_FIXED, N_MASTER, K_MAX, BLOCK, TABLE, CUTS, BORDERS, DEGREES = range(8)

MILLER_MADOW = 1 / (2 * math.log(2))  # mean bias of n I, in bits, for each of the (k - 1)(l - 1) degrees of freedom

_SLACK = np.uint64(2**14)  # units of the table by which bounds are raised, see docs/theory/rounding.md
_FEW_PARTS = 12  # of a master partition, for which bounds cost as much as they save


def grids_of(plan, table=0, cuts=0, borders=0, degrees=None):
    """The grids of a plan, whose columns are N_FIXED, N_MASTER and K_MAX; with their rows of `Tables`."""
    rows = np.empty((len(plan), 8), dtype=np.uint64)
    rows[:, : K_MAX + 1] = plan
    # Bounds save nothing if there is only one grid.
    rows[:, BLOCK] = [_block_of(n_master) if len(plan) > 1 else n_master for n_master in plan[:, N_MASTER].tolist()]
    rows[:, TABLE], rows[:, CUTS], rows[:, BORDERS] = table, cuts, borders
    rows[:, DEGREES] = plan[:, N_FIXED] - 1 if degrees is None else degrees
    return Grids(rows, (*plan.max(axis=0).tolist(), len(plan)))


def with_one_more(grids, side):
    """Grids with an additional part of the side N_FIXED or N_MASTER, without a bias correction for it."""
    rows = grids.rows.copy()
    if side == N_MASTER:
        rows[:, BLOCK] += rows[:, BLOCK] == rows[:, N_MASTER]
    rows[:, side] += np.uint64(1)
    return Grids(rows, tuple(size + (i == side) for i, size in enumerate(grids.most)))


def _block_of(n_master):
    # The bounds cost about m**2 / (2 block) + m block / 2 weights; larger blocks make them sharper.
    return n_master if n_master <= _FEW_PARTS else int(1.2 * math.sqrt(n_master))


class Tables(NamedTuple):
    """Tables of counts of the records, each for several grids. Raw data; not private."""

    below: np.ndarray
    """uint32, the tables one after the other: ``below[start + t * height + u]`` counts the records in the first t cells
    of the axis to be merged and the first u cells of the fixed axis. One pair of columns comes after the other."""
    places: np.ndarray  # uint64 (n_tables, 2), start and height of each table
    cuts: np.ndarray  # uint32 (n, at least n_master + 1), first cell of each master part, and number of cells
    borders: np.ndarray  # uint32 (n, at least n_fixed + 1), of each fixed part


def one_table(below, borders):
    """A single table of counts below each corner, whose rows are master parts; fixed parts begin at `borders`."""
    cuts = np.arange(len(below), dtype=np.uint32).reshape(1, -1)
    places = np.array([[0, below.shape[1]]], dtype=np.uint64)
    return Tables(below.ravel().astype(np.uint32), places, cuts, borders.astype(np.uint32))


def largest_entry(counted, most, table, total, chance=0.0):
    """The largest entry (I - o) / log2 min(k, n_fixed) of all merges on several grids of one pair of columns, or 0."""
    return float(largest_entries(counted, 1, most, table, total, chance)[0])


def largest_entries(counted, n_pairs, most, table, total, chance=0.0):
    """The largest entry of each of several pairs: ndarray of shape (n_pairs,). By rounding, one may be just above 1.

    Parameters
    ----------
    counted : iterable of (Tables, ndarray)
        Tables with their rows of `Grids`. Each one only searches for values above the largest found before.
    n_pairs : int
    most : tuple
        That of `Grids`.
    table : EntropyTable
        Table for totals of at least `total`.
    total : int
        Number of records in each table.
    chance : float, default=0.0
        Amount subtracted from n I for each of the (k - 1)(n_fixed - 1) degrees of freedom, in bits; DEGREES may be
        fewer.
    """
    largest = np.zeros(n_pairs)
    units, room = _units(table, total, most), _room(most)
    for (below, *tables), rows in counted:
        below = below.reshape(n_pairs, -1)
        _optimize_axis(largest, below, *tables, rows, *table[:3], chance * table.scale, units, *room)
    return largest


def entries(tables, grids, table, total):
    """The entries I / log2 min(k, n_fixed) of the best merges into k = 0, 1, ... parts: (n_grids, k_max + 1).

    Entries for 0 and 1 parts are 0, as are those of grids with a single part.
    """
    rows = grids.rows.copy()
    rows[:, BLOCK] = rows[:, N_MASTER]
    units, room = _units(table, total, grids.most), _room(grids.most)
    n_mi = room[-1]
    n_mi[:], n_mi[:, :2] = _UNKNOWN, 0
    _optimize_axis(np.zeros(1), tables.below[np.newaxis], *tables[1:], rows, *table[:3], 0.0, units, *room)
    n_mi = n_mi[: len(rows)]
    k = np.arange(n_mi.shape[1])
    known = np.maximum.accumulate(np.where(n_mi == _UNKNOWN, 0, k), axis=1)  # no further parts have records
    n_mi = np.take_along_axis(n_mi, known, axis=1)
    n_parts = np.minimum(k, rows[:, N_FIXED, np.newaxis].astype(np.int64))
    return np.minimum(n_mi / units[np.maximum(n_parts, 2)], 1.0)


_UNKNOWN = np.iinfo(np.int64).min


_LOG2 = np.array([0.0] + [math.log2(k) for k in range(1, 2**12)])


def _units(table, total, most):
    """The divisor of n I for an entry, by the smaller number of parts."""
    k_max = most[K_MAX]
    log2 = _LOG2[: k_max + 1] if k_max < len(_LOG2) else np.array([0.0] + [math.log2(k) for k in range(1, k_max + 1)])
    return log2 * (table.scale * total)


def _room(most):
    """The last arguments of `_optimize_axis`: workspaces."""
    n_fixed, n_master, k_max, n_grids = most
    return (
        np.empty(n_master + 1, dtype=np.uint64),
        np.empty(n_fixed + 2, dtype=np.uint64),
        np.empty((n_master + 1) * (n_fixed + 1), dtype=np.uint32),
        np.empty((k_max + 1, n_master + 1), dtype=np.int64),
        np.empty((n_grids, k_max + 1), dtype=np.int64),
    )


# --- The kernel -----------------------------------------------------------------------------------------------
#
# Indices are unsigned, because numba needs an additional check for negative ones. Arguments are flat, because passing
# NamedTuples of arrays takes about 2 microseconds each, in calls of about 20.


@jit
def _optimize_axis(
    found, of_pairs, places, cuts, borders, grids, g, g_pairs, step, chance, units, starts, ends, columns, best, n_mi
):
    """Replace what was `found` by the largest entry where that is larger.

    Parameters
    ----------
    found : float64 ndarray of shape (n_pairs,)
    of_pairs : uint32 ndarray of shape (n_pairs, n_corners)
        ``Tables.below`` of each pair of columns.
    places, cuts, borders
        Of `Tables`.
    grids : uint64 ndarray
        ``Grids.rows``.
    g, g_pairs, step
        Of `EntropyTable`.
    chance : float
        Of `largest_entry`, in units of the table.
    units : ndarray of shape (largest k_max + 1,)
    starts, ends, columns, best, n_mi
        Workspaces. A grid with m used master parts and n_columns used columns uses

        - ``starts[t]``: where master part t begins in `below`,
        - ``ends[j]``: the row of the table where column j begins,
        - ``columns[j * row + t]``: the records of the first t master parts in column j, or in a pair of columns, and in
          all of them; a row is no longer than it must be, so that few lines of memory are read,
        - ``best[k, t]``: the largest weight of the first t master parts in at most k segments; for k = 0, the weight of
          the segment from t on, up to where the search has come; for the last k, up to the end,
        - ``n_mi[grid, k]``: for the last pair, n I of the best merge into k parts, for each k that it was needed for.
    """
    one, two = np.uint64(1), np.uint64(2)
    for number in range(np.uint64(len(found) * len(grids))):
        pair, grid = number // np.uint64(len(grids)), number % np.uint64(len(grids))
        largest, below = found[pair], of_pairs[pair]
        start, height = places[grids[grid, TABLE], 0], places[grids[grid, TABLE], 1]

        # Parts without records have no effect, and are left out.
        row, last, m = grids[grid, CUTS], height - one, np.uint64(0)
        starts[0] = start
        for t in range(one, grids[grid, N_MASTER] + one):
            at = start + cuts[row, t] * height
            if below[at + last] > below[starts[m] + last]:
                m += one
                starts[m] = at
        row, n_columns, largest_column = grids[grid, BORDERS], np.uint64(0), np.int64(0)
        ends[0] = 0
        constant = np.int64(0)  # g(n) - sum of g over the columns, the same for all merges
        for j in range(one, grids[grid, N_FIXED] + one):
            in_column = np.int64(below[starts[m] + borders[row, j]] - below[starts[m] + ends[n_columns]])
            if in_column > 0:
                n_columns += one
                ends[n_columns] = borders[row, j]
                constant -= g[in_column]
                largest_column = max(largest_column, in_column)
        if m < two or n_columns < two:
            continue
        constant += g[below[starts[m] + last]]
        offset = chance * np.float64(grids[grid, DEGREES])  # subtracted for each merged part except one

        # Two columns of small counts a, b are taken as one, of a * step + b: half as many look-ups, of g(a) + g(b).
        # Counts do not fall with t, so subtracting such numbers subtracts both counts.
        values, in_pairs, width = g, np.uint64(0), n_columns
        if largest_column < len(g_pairs) // step:
            values, in_pairs, width = g_pairs, one, (n_columns + one) >> one
            ends[n_columns + one] = ends[n_columns]  # a last column without a partner is paired with an empty one

        # Two parts.
        k_max = grids[grid, K_MAX] if grids[grid, K_MAX] < m else m
        unsigned_step = np.uint64(step)
        two_parts = cut_once(columns, best, below, starts, ends, m, width, in_pairs, unsigned_step, values, g, k_max)
        largest = max(largest, (constant + two_parts - offset) / units[2])
        n_mi[grid, 2] = constant + two_parts
        for k in range(two, k_max):
            best[k, 1] = best[1, 1]

        # More parts: first the bounds and then, if one is above `largest`, the best merges, in a single block. Bounds
        # save nothing if the largest value found is below the bias of a free cut of each segment.
        k, block = k_max, grids[grid, BLOCK] if grids[grid, BLOCK] < m else m
        if largest * units[k] < offset * np.float64(k - two):
            block = m
        while k > two:
            merge(best, columns, m, width, values, g, k, block)
            while k > two:
                sum_ = best[k - one, 1] + best[k_max, 1]
                for s in range(two, m):
                    sum_ = max(sum_, best[k - one, s] + best[k_max, s])
                if block < m:
                    sum_ += np.int64(_SLACK + np.uint64(4) * grids[grid, N_FIXED] * k_max)
                entry = constant + sum_ - offset * np.float64(k - one)
                entry /= units[k if k < grids[grid, N_FIXED] else grids[grid, N_FIXED]]
                if block == m:
                    largest = max(largest, entry)
                    n_mi[grid, k] = constant + sum_
                elif entry > largest:
                    break
                k -= one
            block = m
        found[pair] = largest


@leaf
def cut_once(columns, best, below, starts, ends, m, width, in_pairs, step, values, g, k_max):
    """Fill in ``columns``, ``best[1]`` and, for the weights of all parts from t on, ``best[k_max]``.

    Returns the largest weight of two segments: the first starts where all begin, the other ends where all do.
    """
    one = np.uint64(1)
    row = m + one
    in_all = columns[width * row : (width + one) * row]
    for t in range(row):
        in_all[t] = below[starts[t] + ends[width << in_pairs]]
    for t in range(one, m):
        best[1, t], best[k_max, t] = -g[in_all[t]], -g[in_all[m] - in_all[t]]
    best[1, m] = -g[in_all[m]]
    for j in range(width):
        # Of a pair, the first column ends in the middle; a single column begins there.
        left, middle = ends[j << in_pairs], ends[(j << in_pairs) + in_pairs]
        right, counts = ends[(j + one) << in_pairs], columns[j * row : (j + one) * row]
        for t in range(row):
            at = starts[t]
            counts[t] = (below[at + middle] - below[at + left]) * step + (below[at + right] - below[at + middle])
        for t in range(one, m):
            best[1, t] += values[counts[t]]
            best[k_max, t] += values[counts[m] - counts[t]]
        best[1, m] += values[counts[m]]
    largest = best[1, m]
    for t in range(one, m):
        largest = max(largest, best[1, t] + best[k_max, t])
    return largest


@leaf
def merge(best, columns, m, width, values, g, k_max, block):
    """Fill in ``best[k, t]`` for 1 < k < k_max and 1 < t < m; it is exact if there is one block, else a bound."""
    zero, one, two, three = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)
    border, row = zero, m + one
    for t in range(two, m):
        if t > border + block:
            border += block
        is_inside = border > 0 and t < border + block
        first = border if is_inside else one

        # weight(s, t) = sum_j g(a_j) - g(sum_j a_j) of the part made of the master parts s ... t - 1
        total = columns[width * row + t]
        for s in range(first, t):
            best[0, s] = -g[total - columns[width * row + s]]
        j = zero
        while j + two < width:
            after, after_2 = (j + one) * row, (j + two) * row
            here, here_1, here_2 = columns[j * row + t], columns[after + t], columns[after_2 + t]
            for s in range(first, t):
                of_two = values[here - columns[j * row + s]] + values[here_1 - columns[after + s]]
                best[0, s] += of_two + values[here_2 - columns[after_2 + s]]
            j += three
        while j < width:
            here = columns[j * row + t]
            for s in range(first, t):
                best[0, s] += values[here - columns[j * row + s]]
            j += one

        # best[k, t] = max over s of best[k - 1, s] + weight(s, t), and where a cut at the border is free, also
        # best[k, border] + weight(border, t).
        weight = best[0, first]
        k = two
        while k + two < k_max:
            here, here_1 = best[k - one, first] + weight, best[k, first] + weight
            here_2 = best[k + one, first] + weight
            for s in range(first + one, t):
                here = max(here, best[k - one, s] + best[0, s])
                here_1 = max(here_1, best[k, s] + best[0, s])
                here_2 = max(here_2, best[k + one, s] + best[0, s])
            best[k, t], best[k + one, t], best[k + two, t] = here, here_1, here_2
            k += three
        while k < k_max:
            here = best[k - one, first] + weight
            for s in range(first + one, t):
                here = max(here, best[k - one, s] + best[0, s])
            best[k, t] = here
            k += one
        if is_inside:
            for k in range(two, k_max):
                best[k, t] = max(best[k, t], best[k, border] + weight)


# --- Groups of labels or classes -------------------------------------------------------------------------------------


class Grouping(NamedTuple):
    """Codes in groups, which are the parts of a fixed axis."""

    groups: tuple  # of int: the group 0, 1, ... of each code; the last code is in the last group
    degrees: int  # of freedom, for the bias correction

    @property
    def n_groups(self):
        """Number of groups."""
        return max(self.groups) + 1


def groupings_of_classes(n_classes):
    """All classes apart; for three classes, also each against the other two (``docs/theory/closed_family.md``)."""
    apart = Grouping(tuple(range(n_classes)), n_classes - 1)
    return _with_each_of_three(apart, n_classes)


def groupings_of_labels(n_labels):
    """All codes of a nominal feature apart; and the labels, with other and missing values joined to the last.

    If one of these has three groups, also each of them against the other two; without these, one record could change
    a score by a quarter more (``docs/theory/nominal_missing.md``).
    """
    n_parts = Nominal(n_labels).n_parts
    apart = _with_each_of_three(Grouping(tuple(range(n_parts)), n_labels - 1), n_labels)
    if n_labels == 1:
        return apart
    joined = Grouping(tuple(min(code, n_labels - 1) for code in range(n_parts)), n_labels - 1)
    return apart + _with_each_of_three(joined, n_labels)


def _with_each_of_three(grouping, n_labels):
    """The grouping and, if it has three groups, each of them against the other two."""
    if grouping.n_groups != 3:
        return [grouping]
    last = grouping.groups[-1]
    divisions = [tuple(int((group == one) == (last == one)) for group in grouping.groups) for one in range(3)]
    # A side without public labels is usually empty, and then has no bias.
    return [grouping, *(Grouping(division, len(set(division[:n_labels])) - 1) for division in divisions)]
