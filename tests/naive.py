"""Slow, readable twins of the kernels: the definitions, by brute force over all merges."""

import math
from itertools import combinations, pairwise


def naive_mic_r(x, y, *, bounds, B, c, master="reduced"):
    """MICr of Definition 4.1 (master="full") or of Appendix E.1 ("reduced")."""
    x_bounds, y_bounds = bounds
    best = 0.0
    for free, free_bounds, fixed, fixed_bounds in ((x, x_bounds, y, y_bounds), (y, y_bounds, x, x_bounds)):
        for n_fixed in range(2, math.floor(B / 2) + 1):
            k_max = min(n_fixed, math.floor(B / n_fixed))
            n_master = max(2, math.floor(c * (k_max if master == "reduced" else n_fixed)))
            counts = naive_counts(
                naive_parts(free, free_bounds, n_master), n_master, naive_parts(fixed, fixed_bounds, n_fixed), n_fixed
            )
            best = max(best, naive_largest_entry(counts, k_max))
    return best


def naive_mic_r_discrete(x, codes, *, bounds, n_classes, B, c):
    """MICr of a feature and a discrete target: the classes are the fixed axis."""
    k_max = max(math.floor(B / n_classes), 2)
    n_master = max(2, math.floor(c * k_max))
    return naive_largest_entry(naive_counts(naive_parts(x, bounds, n_master), n_master, codes, n_classes), k_max)


def naive_parts(values, bounds, size):
    """Part i holds lo + i*w <= v < lo + (i+1)*w; the outer parts take what is clipped."""
    lo, hi = bounds
    width = (hi - lo) / size
    return [sum(1 for i in range(1, size) if lo + i * width <= v) for v in values]


def naive_counts(rows, n_rows, columns, n_columns):
    """The table of counts as a list of rows."""
    counts = [[0] * n_columns for _ in range(n_rows)]
    for row, column in zip(rows, columns, strict=True):
        counts[row][column] += 1
    return counts


def naive_largest_entry(counts, k_max):
    """Largest I / log2 min(k, l) over all merges of neighbouring rows into k <= k_max parts."""
    n_rows, n_columns = len(counts), len(counts[0])
    best = 0.0
    for k in range(2, min(k_max, n_rows) + 1):
        for cuts in combinations(range(1, n_rows), k - 1):
            edges = [0, *cuts, n_rows]
            merged = [
                [sum(counts[row][column] for row in range(start, end)) for column in range(n_columns)]
                for start, end in pairwise(edges)
            ]
            best = max(best, naive_mutual_information(merged) / math.log2(min(k, n_columns)))
    return best


def naive_mutual_information(counts):
    """I in bits: sum of p log2 (p / (p_row p_column))."""
    n = sum(map(sum, counts))
    row_totals = [sum(row) for row in counts]
    column_totals = [sum(column) for column in zip(*counts, strict=True)]
    return sum(
        a / n * math.log2(a * n / (row_totals[i] * column_totals[j]))
        for i, row in enumerate(counts)
        for j, a in enumerate(row)
        if a > 0
    )
