"""The public parts of each column of a table: eight of equal width in a range, or the labels; other, and missing."""

from itertools import pairwise

import numpy as np

from skdpmic._utils.texts import in_short
from skdpmic.statistics.grids import parts_and_missing
from skdpmic.table.domains import NUMBERS, Labels, Nominal

N_CUT = 8  # parts of a range, besides that of missing values


def n_parts_of(domain):
    """Number of parts of a column with this encoded domain."""
    return domain.n_parts if isinstance(domain, Nominal) else N_CUT + 1


def codes_of(column, domain):
    """The part of each value of a column with this encoded domain, each by itself: an int64 ndarray."""
    codes = column if isinstance(domain, Nominal) else parts_and_missing(column, domain, N_CUT)[0]
    return np.asarray(codes, dtype=np.int64)


def offsets_of(sizes):
    """The number of the first part of each column among the parts of all columns, and their total."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def names_of_parts(domain):
    """A text for each part of a column with this public domain."""
    if isinstance(domain, Labels):
        return [*map(_label, domain.labels), "other", "missing"]
    lower, upper = domain.encoded
    edges = [domain.decode(lower + j * (upper - lower) / N_CUT) for j in range(N_CUT + 1)]
    texts = [in_short(edge) if domain.of == NUMBERS else str(edge.astype("M8[s]" if edge.dtype.kind == "M" else "m8[s]"))
             for edge in edges]
    return [*(f"{low} to {high}" for low, high in pairwise(texts)), "missing"]


def _label(label):
    return label if isinstance(label, str) else in_short(label)
