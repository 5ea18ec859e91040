"""Slow, readable twins of the kernels: the definitions, by brute force over all merges."""

import math
from itertools import combinations, pairwise, product


def naive_mic_r(x, y, *, bounds, B, c, master="reduced", correction=None):
    """MICr of Definition 4.1 (master="full") or of Appendix E.1 ("reduced"), with an optional correction for chance.

    NaN is a missing value and has its own part: after all others and, on the merged axis, also before them.
    """
    x_bounds, y_bounds = bounds
    sizes = naive_sizes(B) if correction is None else naive_closed_sizes(B)
    best = 0.0
    for free, free_bounds, fixed, fixed_bounds in ((x, x_bounds, y, y_bounds), (y, y_bounds, x, x_bounds)):
        for n_fixed, k_max in sizes:
            finest = k_max if correction is None else max(k for _, k in sizes)
            n_master = max(2, math.floor(c * (finest if master == "reduced" else n_fixed)))
            rows, columns = naive_parts(free, free_bounds, n_master), naive_parts(fixed, fixed_bounds, n_fixed)
            counts = naive_counts(rows, n_master + 1, columns, n_fixed + 1)
            best = max(best, naive_with_missing_at_both_ends(counts, k_max, correction, n_fixed - 1))
    return best


def naive_with_missing_at_both_ends(counts, k_max, correction, degrees):
    """The largest entry with the last row, of missing values, where it is or before all others."""
    return max(naive_largest_entry(table, k_max, correction, degrees) for table in (counts, [counts[-1], *counts[:-1]]))


def naive_sizes(B):
    """The number of parts of the fixed axis, and the largest number of merged parts, of every grid."""
    return [(n_fixed, min(n_fixed, math.floor(B / n_fixed))) for n_fixed in range(2, math.floor(B / 2) + 1)]


def naive_closed_sizes(B):
    """The same with a correction: the root of B, half of it, a quarter and so on, rounded up, if at least 4; and 2."""
    root = max(k for k in range(2, math.floor(B)) if k * k <= B)
    merged = {2, root, *(half for i in range(1, 20) if (half := math.ceil(root / 2**i)) >= 4)}
    return [(math.floor(B / k), k) for k in merged]


def naive_mic_r_discrete(x, codes, *, bounds, n_classes, B, c, correction=None):
    """MICr of a feature and a discrete target: the classes are the fixed axis; of three, also each against the rest."""
    k_max = max(math.floor(B / n_classes), 2)
    n_master = max(2, math.floor(c * k_max))
    rows = naive_parts(x, bounds, n_master)
    return max(
        naive_with_missing_at_both_ends(
            naive_counts(rows, n_master + 1, [groups[code] for code in codes], max(groups) + 1),
            k_max,
            correction,
            degrees,
        )
        for groups, degrees in naive_groupings_of_classes(n_classes)
    )


def naive_mic_r_nominal(codes, y, *, bounds, n_labels, B, c, correction=None):
    """MICr of a nominal feature and a numeric target: the labels are the fixed axis, the target is merged.

    Or the labels are in two groups, and the target is in equal parts.
    """
    k_max = max(2, min(math.floor(B / n_labels), max(k for k in range(2, math.floor(B)) if k * k <= B)))
    n_master = max(2, math.floor(c * k_max))
    rows = naive_parts(y, bounds, n_master)
    n_equal = min(max(math.floor(B / 5), 2), 48)
    in_two = naive_codes_in_two_groups(codes, naive_parts(y, bounds, n_equal), n_labels, n_equal, correction)
    return max(
        in_two,
        *(
            naive_largest_entry(
                naive_counts(rows, n_master, [groups[code] for code in codes], max(groups) + 1),
                k_max,
                correction,
                degrees,
            )
            for groups, degrees in naive_groupings_of_labels(n_labels)
        ),
    )


def naive_mic_r_of_codes(codes, classes, *, n_labels, n_classes, correction=None):
    """MICr of a nominal feature and a discrete target, where nothing is merged."""
    chance = 0.0 if correction is None else 1 / (2 * math.log(2) * len(codes))
    best = naive_codes_in_two_groups(codes, classes, n_labels, n_classes, correction)
    if n_labels > 14 or n_classes > 64:
        counts = naive_counts(classes, n_classes, codes, n_labels + 2)  # the classes in two groups
        best = max(best, naive_rows_in_two_groups(counts, n_classes, n_labels, correction))
    for groups, degrees in naive_groupings_of_labels(n_labels):
        for groups_of_classes, other_degrees in naive_groupings_of_classes(n_classes):
            rows, columns = [groups[code] for code in codes], [groups_of_classes[one] for one in classes]
            counts = naive_counts(rows, max(groups) + 1, columns, max(groups_of_classes) + 1)
            kappa = min(max(groups), max(groups_of_classes)) + 1
            offset = degrees * other_degrees * chance
            best = max(best, (naive_mutual_information(counts) - offset) / math.log2(kappa))
    return best


def naive_codes_in_two_groups(codes, columns, n_labels, n_columns, correction=None):
    """The largest I - o, or 0, with the codes in two groups, against all columns."""
    counts = naive_counts(codes, n_labels + 2, columns, n_columns)
    return naive_rows_in_two_groups(counts, n_labels, n_columns, correction)


def naive_rows_in_two_groups(counts, n_expected_rows, n_expected_columns, correction):
    """The largest I - o, or 0; expected rows and columns exclude the codes of other labels and of missing ones."""
    chance = 0.0 if correction is None else 1 / (2 * math.log(2) * sum(map(sum, counts)))
    degrees = (math.sqrt(n_expected_columns - 1) + math.sqrt(4 / 9 * max(min(n_expected_rows, 14) - 2, 0))) ** 2
    n_columns, best = len(counts[0]), 0.0
    for groups in naive_two_groups(len(counts), n_columns):
        both = [[0] * n_columns, [0] * n_columns]
        for group, row in zip(groups, counts, strict=True):
            both[group] = [a + b for a, b in zip(both[group], row, strict=True)]
        best = max(best, naive_mutual_information(both) - degrees * chance)
    return best


def naive_two_groups(n_rows, n_columns):
    """All divisions of the rows into groups 0 and 1, with the first row in group 0; of many rows, only some."""
    if n_rows <= 16 and n_columns <= 64:
        return [(0, *others) for others in product((0, 1), repeat=n_rows - 1)]
    alone = [[int(row == one) for row in range(n_rows)] for one in range(n_rows)]
    n_cut = min(n_rows, 32)
    cuts = [[int(row * n_cut // n_rows >= cut) for row in range(n_rows)] for cut in range(1, n_cut)]
    digits = range(min(5, len(bin(n_rows - 1)) - 2))
    sums = [some for k in range(1, 6) for some in combinations(digits, k)]
    parities = [[sum(row >> digit & 1 for digit in some) % 2 for row in range(n_rows)] for some in sums]
    return list(dict.fromkeys(tuple(g ^ groups[0] for g in groups) for groups in alone + cuts + parities))


def naive_groupings_of_classes(n_classes):
    """The group of each class, and the degrees of freedom of the groups."""
    groupings = [(list(range(n_classes)), n_classes - 1)]
    if n_classes == 3:
        groupings += [([1, 0, 0], 1), ([0, 1, 0], 1), ([0, 0, 1], 1)]
    return groupings


def naive_groupings_of_labels(n_labels):
    """The same for the labels, then other, then missing: all separate, or the last label joined with those two."""
    groupings = [(list(range(n_labels + 2)), n_labels - 1)]
    if n_labels == 1:  # three parts: each against the rest; one label has no degrees of freedom
        groupings += [([1, 0, 0], 0), ([0, 1, 0], 0), ([0, 0, 1], 0)]
    else:
        groupings += [([*range(n_labels), n_labels - 1, n_labels - 1], n_labels - 1)]
    if n_labels == 3:
        groupings += [([1, 0, 0, 0, 0], 1), ([0, 1, 0, 0, 0], 1), ([0, 0, 1, 1, 1], 1)]
    return groupings


def naive_parts(values, bounds, size):
    """Part i holds lo + i*w <= v < lo + (i+1)*w; clipped values are in the outer parts, NaN in one after them."""
    lo, hi = bounds
    width = (hi - lo) / size
    return [size if v != v else sum(1 for i in range(1, size) if lo + i * width <= v) for v in values]


def naive_counts(rows, n_rows, columns, n_columns):
    """The table of counts as a list of rows."""
    counts = [[0] * n_columns for _ in range(n_rows)]
    for row, column in zip(rows, columns, strict=True):
        counts[row][column] += 1
    return counts


def naive_largest_entry(counts, k_max, correction=None, degrees=None):
    """Largest (I - o) / log2 min(k, l) over all merges of neighbouring rows into k <= k_max parts; or 0.

    The columns have l - 1 degrees of freedom, or fewer.
    """
    n_rows, n_columns = len(counts), len(counts[0])
    degrees = n_columns - 1 if degrees is None else degrees
    chance = 0.0 if correction is None else 1 / (2 * math.log(2) * sum(map(sum, counts)))
    best = 0.0
    for k in range(2, min(k_max, n_rows) + 1):
        offset = (k - 1) * degrees * chance
        for merged in naive_merges(counts, k):
            best = max(best, (naive_mutual_information(merged) - offset) / math.log2(min(k, n_columns)))
    return best


def naive_merges(counts, k):
    """All tables in which neighbouring rows are merged into k rows."""
    for cuts in combinations(range(1, len(counts)), k - 1):
        edges = pairwise([0, *cuts, len(counts)])
        yield [[sum(column) for column in zip(*counts[start:end], strict=True)] for start, end in edges]


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


def naive_mic_e(x, y, *, B, c):
    """MICe with reduced master partitions made of clumps."""
    entries = naive_equicharacteristic_matrix(x, y, B=B, c=c)
    return max(entries.values())


def naive_mic_e_of_ranks(y_ranks, B, c):
    """MICe whose fixed and master partitions are equipartitions by rank; the records in ascending order of x."""

    def master(ranks, columns, size):
        return naive_equipartition(ranks, size)

    return max(naive_equicharacteristic_matrix(list(range(len(y_ranks))), y_ranks, B=B, c=c, master=master).values())


def naive_equicharacteristic_matrix(x, y, *, B, c, master=None):
    """A dict: entry (k, l) for k parts of x and l parts of y."""
    entries, master = {}, master or naive_master
    for free, fixed, x_is_free in ((x, y, True), (y, x, False)):
        for n_fixed in range(2, math.floor(B / 2) + 1):
            columns = naive_equipartition(fixed, n_fixed)
            rows = master(free, columns, max(2, math.floor(c * math.floor(B / n_fixed))))
            counts = naive_counts(rows, max(rows) + 1, columns, max(columns) + 1)
            for k in range(2, min(n_fixed, math.floor(B / n_fixed)) + 1):
                where = (k, n_fixed) if x_is_free else (n_fixed, k)
                entry = naive_entry(counts, k) if max(columns) > 0 else 0.0
                entries[where] = max(entries.get(where, 0.0), entry)
    return entries


def naive_equipartition(values, size):
    """The part of each value: EquipartitionYAxis of Reshef et al. 2011, one group of tied values after the other."""
    part_of_value = {}
    part, in_part, placed, desired = 0, 0, 0, len(values) / size
    for value in sorted(set(values)):
        n_tied = sum(1 for v in values if v == value)
        if in_part > 0 and abs(in_part + n_tied - desired) >= abs(in_part - desired):
            part, in_part = part + 1, 0
            desired = (len(values) - placed) / (size - part)
        part_of_value[value] = part
        in_part += n_tied
        placed += n_tied
    return [part_of_value[v] for v in values]


def naive_master(values, columns, size):
    """The part of each value in the equipartition of the clumps, or its clump if there are at most `size`."""
    clump_of_value = {}
    previous = None
    for value in sorted(set(values)):
        here = {column for v, column in zip(values, columns, strict=True) if v == value}
        starts_clump = len(here) > 1 or here != previous
        clump_of_value[value] = max(clump_of_value.values(), default=-1) + starts_clump
        previous = here
    clumps = [clump_of_value[v] for v in values]
    return naive_equipartition(clumps, size) if max(clumps) + 1 > size else clumps


def naive_entry(counts, k):
    """I / log2 min(k, l) of the best merge of neighbouring rows into at most k parts."""
    best = max(map(naive_mutual_information, naive_merges(counts, min(k, len(counts)))))
    return max(best, 0.0) / math.log2(min(k, len(counts[0])))
