"""All Kendall sums of a table equal those of plain loops over pairs of records."""

from itertools import combinations

import numpy as np
import pytest

from skdpmic.correlation.private_correlation import concordances
from skdpmic.statistics.ranks import mid_ranks


def sign(difference):
    return (difference > 0) - (difference < 0)


def sums_by_plain_loops(columns):
    return [
        sum(sign(x[a] - x[b]) * sign(y[a] - y[b]) for a, b in combinations(range(len(x)), 2))
        for i, x in enumerate(columns)
        for y in columns[i:]
    ]


def table(n, rng):
    """Columns of every kind: distinct values, two or three values, nearly all tied, constant, or with infinities."""
    return [
        rng.normal(size=n),
        rng.integers(2, size=n).astype(float),
        rng.integers(3, size=n) - 1.5,
        (np.arange(n) == n // 2).astype(float),
        np.full(n, 7.0),
        np.where(rng.random(n) < 0.3, -np.inf, rng.normal(size=n)),
        np.arange(n, 0.0, -1.0),
    ]


@pytest.mark.parametrize("n", [2, 3, 4, 7, 30])
def test_the_sums_equal_those_of_plain_loops(n):
    columns = table(n, np.random.default_rng(n))
    found = concordances([mid_ranks(column) for column in columns])
    assert found.dtype == np.int64
    assert found.tolist() == sums_by_plain_loops([column.tolist() for column in columns])
