"""The public parts of each column of a table: eight of equal width in a range, or the labels; other, and missing."""

import numpy as np

from skdpmic.statistics.grids import parts_and_missing
from skdpmic.table.domains import Labels, Nominal
from skdpmic.table.part_names import MISSING, beside, names_of_labels, names_of_ranges

N_CUT = 8  # parts of a range, besides the part of missing values


def n_parts_of(domain):
    """Number of parts of a column with this encoded domain."""
    return domain.n_parts if isinstance(domain, Nominal) else N_CUT + 1


def codes_of(column, domain):
    """The part of each value of a column with this encoded domain, each separately: an int64 ndarray."""
    codes = column if isinstance(domain, Nominal) else parts_and_missing(column, domain, N_CUT)[0]
    return np.asarray(codes, dtype=np.int64)


def offsets_of(sizes):
    """The number of the first part of each column among the parts of all columns, and their total."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def sums_of_effects(columns, effects, intercept, offsets):
    """The sum of the effects of each row, with the intercept: (n_samples, n_targets); each row separately."""
    scores = np.tile(np.atleast_1d(intercept), (len(columns[0]), 1))
    for codes, first in zip(columns, offsets[:-1], strict=True):
        scores += effects[first + codes]
    return scores


def names_of_parts(domain):
    """A text for each part of a column with this public domain."""
    if isinstance(domain, Labels):
        labels = names_of_labels(domain.labels)
        return labels + beside(labels)
    return [*names_of_ranges(ends_of_parts(domain)), MISSING]


def ends_of_parts(domain):
    """The ends of the parts of a range, as numbers, dates or durations; None for labels."""
    if isinstance(domain, Labels):
        return None
    lower, upper = domain.encoded
    return np.array([domain.decode(lower + j * (upper - lower) / N_CUT) for j in range(N_CUT + 1)])
