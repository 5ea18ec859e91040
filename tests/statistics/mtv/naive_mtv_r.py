"""MTVr by its definition, in exact fractions: every merge of every grid is tried."""

import math
from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np

from skdpmic.statistics.mtv.counts import TargetCounts, TargetScorer, counts_scorer
from tests.privacy.searches import joined


def numeric_scorer(y, bounds, family):
    """The package's scorer of features against a numeric target."""
    return TargetScorer(TargetCounts(family, bounds), counts_scorer(len(y), family), y)


def class_scorer(codes, family):
    """The package's scorer of features against classes."""
    return TargetScorer(TargetCounts(family), counts_scorer(len(codes), family), codes)


def naive_mtv_r(x, y, x_bounds, y_bounds, family):
    """The score of two lists of numbers; NaN in x is a missing value."""
    master = [naive_part(value, *x_bounds, family.n_master) for value in x]
    columns = [naive_part(value, *y_bounds, family.n_columns) for value in y]
    return naive_score(master, columns, family)


def naive_part(value, lo, hi, n_parts):
    """The equal part of [lo, hi] that holds the value; values outside fall into the outer parts; n_parts if NaN."""
    width = (hi - lo) / n_parts
    return n_parts if value != value else sum(lo + i * width <= value for i in range(1, n_parts))


def naive_score(master, columns, family, units=1, n=None):
    """The largest (TV - o) / nu, clipped to [0, 1], from the master part and the column of each record.

    Missing values are a master part, once after all others and once before them. A record with a weight, of at most
    `units`, occurs that many times; n is then the number of records, and TV is relative to the largest total weight.
    """
    n = len(master) if n is None else n
    missing_first = [(part + 1) % (family.n_master + 1) for part in master]
    return max(
        naive_score_of_merges(parts, columns, family, n * units, n, weight_of=weights)
        for parts, weights in zip((master, missing_first), naive_weights(family), strict=True)
    )


def naive_weights(family):
    """The weight of each cut, by the part after it: with missing values last, and with missing values first."""
    n = family.n_master
    if not family.by_place:
        return [dict.fromkeys(range(1, n + 1), Fraction(1))] * 2
    last = dict.fromkeys(range(1, n), Fraction(2))
    last |= {cut: Fraction(3, 2) for cut in (n // 4, n - n // 4) if cut in last}
    last |= {n // 2: Fraction(1), n: Fraction(1)}
    return last, {1: last[n]} | {cut + 1: last[cut] for cut in range(1, n)}


def naive_score_of_merges(parts, columns, family, most, n, n_parts=None, weight_of=None):
    """The same with parts 0 ... n_parts - 1 in this order: the master parts and one for missing values."""
    best, n_parts = Fraction(0), n_parts or family.n_master + 1
    weight_of = weight_of or dict.fromkeys(range(1, n_parts), Fraction(1))
    heaviest = 2 if family.by_place else 1
    for side in family.sides:
        groups, shares = [side.groups[column] for column in columns], naive_shares(side)
        two_groups = len(set(side.groups)) == 2
        for n_cuts in range(heaviest * (side.k_max - 1) + 1 if two_groups else 2):
            for cuts in combinations(range(1, n_parts), n_cuts):
                weight = sum((weight_of[cut] for cut in cuts), Fraction(0))
                if weight > heaviest * (side.k_max - 1):
                    continue
                largest = naive_largest(side, n_cuts + 1, family)
                offset = naive_offset(max(weight, 1), side.size, n, family) / float(largest)
                merged = naive_merge(parts, cuts, n_parts)
                variation = naive_total_variation(merged, groups, shares) * Fraction(len(parts), most)
                best = max(best, variation / largest - Fraction(offset))
    return min(best, Fraction(1))


def naive_score_of_codes(codes, columns, n_labels, family):
    """The score of a nominal feature: all codes separate; of two labels, other and missing also joined to one."""
    best = naive_score_of_cells(codes, n_labels + 2, columns, n_labels, family)
    if n_labels == 2:
        best = max(best, naive_score_of_cells([min(code, 1) for code in codes], 2, columns, n_labels, family))
    return best


def naive_score_of_cells(cells, n_cells, columns, n_labels, family):
    """The score of `n_cells` separate cells, less the offset for `n_labels` labels."""
    best = Fraction(0)
    for side in family.sides:
        groups, shares = [side.groups[column] for column in columns], naive_shares(side)
        largest, n_groups = naive_largest(side, n_cells, family), len(set(side.groups))
        size = side.size if n_groups == 2 else n_groups
        offset = 0.53 * naive_offset(max(n_labels - 1, 1), size, len(cells), family) / float(largest)
        best = max(best, naive_total_variation(cells, groups, shares) / largest - Fraction(offset))
    return min(best, Fraction(1))


def naive_shares(side):
    """The known share of each group; None if unknown."""
    return None if side.margins is None else [Fraction(margin, sum(side.margins)) for margin in side.margins]


def naive_largest(side, k, family):
    """The normaliser: the largest 1 - t for known shares t; else nu, or twice that if another side has known shares."""
    if side.margins is not None:
        return max(1 - share for share in naive_shares(side))
    nu = Fraction(1, 2) if min(k, len(set(side.groups))) == 2 else Fraction(3, 4)
    return 2 * nu if any(other.margins is not None for other in family.sides) else nu


def naive_offset(weight, size, n, family):
    """The offset for chance, which is subtracted from TV."""
    fewest = min(side.size for side in family.sides)
    return family.penalty * math.sqrt(weight * (size - 1) / n) - family.penalty * math.sqrt((fewest - 1) / n)


def naive_merge(parts, cuts, n_parts):
    """The merged part that each record's master part belongs to."""
    merged_part = {}
    for number, (start, end) in enumerate(pairwise([0, *cuts, n_parts])):
        merged_part |= dict.fromkeys(range(start, end), number)
    return [merged_part[part] for part in parts]


def naive_total_variation(rows, groups, shares=None):
    """Half the sum of |p_ij - p_i q_j|, with known shares q_j, or with those of the records."""
    n = len(rows)
    shares = [Fraction(groups.count(group), n) for group in range(max(groups) + 1)] if shares is None else shares
    total = Fraction(0)
    for row in set(rows):
        for group, share in enumerate(shares):
            together = sum(r == row and g == group for r, g in zip(rows, groups, strict=True))
            total += abs(together - rows.count(row) * share)
    return total / (2 * n)


# --- All merges of small tables at once -----------------------------------------------------------------------------


def neighbours_joined(m):
    """All ways to cut a row of m places into two or more groups: the group 0, 1, ... of each place."""
    return [tuple(np.cumsum([0, *cut]).tolist()) for cut in product([0, 1], repeat=m - 1) if any(cut)]


def any_joined(m):
    """All ways to divide m places into two or more groups."""
    groupings = [(0,)]
    for _ in range(m - 1):
        groupings = [(*groups, group) for groups in groupings for group in range(max(groups) + 2)]
    return [groups for groups in groupings if max(groups) > 0]


def scores_of_joins(tables, joins=any_joined, most=None, shares=None, half=0.5, offsets=0.0, of_three=4 / 3):
    """The largest value over all grids of each table of counts, or of weights with a sum of at most `most`.

    Rows and columns are joined in all ways. TV, less its offset, counts 2 times for two parts and `of_three` times for
    more. If `shares` of the columns are known, that is only `half`, and TV from these shares has its own normaliser.
    """
    total, (_, n_rows, n_columns) = tables.sum(axis=(1, 2), keepdims=True), tables.shape
    most, best = total.max() if most is None else most, np.zeros(len(tables))
    grids = list(product(joins(n_rows), joins(n_columns)))
    for (rows, columns), offset in zip(grids, np.broadcast_to(offsets, len(grids)), strict=True):
        cells = joined(tables, rows, columns)
        of_row, of_column = cells.sum(axis=2, keepdims=True), cells.sum(axis=1, keepdims=True)
        own = np.abs(cells - of_row * of_column / np.maximum(total, 1)).sum(axis=(1, 2)) / (2 * most)
        weight = (2 if min(cells.shape[1:]) == 2 else of_three) * (1 if shares is None else half)
        best = np.maximum(best, own * weight - offset)
        if shares is not None:
            known = np.bincount(columns, shares) / sum(shares)
            of_known = np.abs(cells - of_row * known).sum(axis=(1, 2)) / (2 * most)
            best = np.maximum(best, of_known / (1 - known.min()))
    return np.minimum(best, 1)
