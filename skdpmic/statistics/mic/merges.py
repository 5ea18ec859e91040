"""The best merges of the master parts of one grid into 2, 3, ... parts: the inner loops of OptimizeAxis.

Names and arrays are those of ``_optimize_axis`` in ``optimize_axis.py``. Innermost loops run over contiguous memory,
and handle several columns, or numbers of parts, at once, so that shared values are read once.
"""

from typing import NamedTuple

import numpy as np

from skdpmic._utils.jit import leaf
from skdpmic.table.domains import Nominal


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
