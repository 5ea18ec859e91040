"""MTVr by its definition, in exact fractions: every merge of every grid is tried."""

import math
from fractions import Fraction
from itertools import combinations, pairwise


def naive_mtv_r(x, y, x_bounds, y_bounds, family):
    """The score of two lists of numbers."""
    master = [naive_part(value, *x_bounds, family.n_master) for value in x]
    columns = [naive_part(value, *y_bounds, family.n_columns) for value in y]
    return naive_score(master, columns, family)


def naive_part(value, lo, hi, n_parts):
    """Number of the equal part of [lo, hi] that holds the value; the outer parts take what lies outside."""
    width = (hi - lo) / n_parts
    return sum(lo + i * width <= value for i in range(1, n_parts))


def naive_score(master, columns, family):
    """The largest (TV - o) / nu, cut to [0, 1], from the master part and the column of each record."""
    n = len(master)
    best = Fraction(0)
    fewest = min(side.size for side in family.sides)
    coarsest = family.penalty * math.sqrt((fewest - 1) / n)
    for groups, k_max, size in family.sides:
        n_groups = len(set(groups))
        side = [groups[column] for column in columns]
        for k in range(2, k_max + 1):
            largest = Fraction(1, 2) if min(k, n_groups) == 2 else Fraction(3, 4)
            offset = (family.penalty * math.sqrt((k - 1) * (size - 1) / n) - coarsest) / float(largest)
            for cuts in combinations(range(1, family.n_master), min(k, family.n_master) - 1):
                merged = naive_merge(master, cuts, family.n_master)
                best = max(best, naive_total_variation(merged, side) / largest - Fraction(offset))
    return min(best, Fraction(1))


def naive_merge(parts, cuts, n_parts):
    """The merged part that each record's master part belongs to."""
    merged_part = {}
    for number, (start, end) in enumerate(pairwise([0, *cuts, n_parts])):
        merged_part |= dict.fromkeys(range(start, end), number)
    return [merged_part[part] for part in parts]


def naive_total_variation(rows, columns):
    """Half of the sum of |p_ij - p_i q_j|."""
    n = len(rows)
    total = Fraction(0)
    for row in set(rows):
        for column in set(columns):
            together = sum(r == row and c == column for r, c in zip(rows, columns, strict=True))
            apart = Fraction(rows.count(row) * columns.count(column), n)
            total += abs(Fraction(together) - apart)
    return total / (2 * n)
