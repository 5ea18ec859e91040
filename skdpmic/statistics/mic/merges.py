"""The best merges of the master parts of one grid into 2, 3, ... parts: the inner loops of OptimizeAxis.

Names and arrays are those of ``_optimize_axis`` in ``optimize_axis.py``. Innermost loops run over contiguous memory,
and handle several columns, or numbers of parts, at once, so that shared values are read once.
"""

import numpy as np

from skdpmic._utils.jit import leaf


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
