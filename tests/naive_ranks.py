"""Rank statistics straight from their definitions, in exact fractions: O(n^2), O(n^3).

Two of them take records; the other two, which need an order, take ranks: permutations of 0 ... n - 1.
"""

from fractions import Fraction


def sign(a):
    return (a > 0) - (a < 0)


def naive_tau(x, y):
    """Kendall's tau-a."""
    n = len(x)
    pairs = [(i, j) for j in range(n) for i in range(j)]
    return Fraction(sum(sign(x[i] - x[j]) * sign(y[i] - y[j]) for i, j in pairs), len(pairs))


def naive_mid_ranks(values):
    """Ranks from 1; equal values share their mean rank."""
    ascending = sorted(values)
    places = {v: [rank for rank, w in enumerate(ascending, start=1) if w == v] for v in set(values)}
    return [Fraction(sum(places[v]), len(places[v])) for v in values]


def naive_strict_ranks(values, keys):
    """Ranks from 0; equal values are ordered by their keys, then by position."""
    records = sorted(range(len(values)), key=lambda i: (values[i], keys[i], i))
    return [records.index(i) for i in range(len(values))]


def naive_xi(x_ranks, y_ranks):
    """Chatterjee's xi of y given x, not clamped."""
    n = len(x_ranks)
    r = [y_ranks[x_ranks.index(place)] for place in range(n)]
    return 1 - Fraction(3 * sum(abs(r[i + 1] - r[i]) for i in range(n - 1)), n**2 - 1)


def naive_chatterjee(x_ranks, y_ranks):
    """The larger of both directions, in [0, 1]."""
    return max(naive_xi(x_ranks, y_ranks), naive_xi(y_ranks, x_ranks), Fraction(0))


def naive_squared_distance_correlation(x_ranks, y_ranks):
    """The square of Hoeffding's Phi."""
    return _squared_norm(x_ranks, y_ranks) / _squared_norm(x_ranks, x_ranks)


def _squared_norm(x_ranks, y_ranks):
    n = len(x_ranks)
    records = list(zip(x_ranks, y_ranks, strict=True))
    return sum(
        (sum(r < i and s < j for r, s in records) - Fraction(i * j, n)) ** 2 for i in range(1, n) for j in range(1, n)
    )


def naive_conditional_tau(x, y, strata):
    """The sum of (n_z - 1) tau_z over strata, divided by n; a single record contributes 0."""
    parts = [(len(a) - 1) * naive_tau(a, b) for a, b in _strata(x, y, strata) if len(a) > 1]
    return sum(parts, start=Fraction(0)) / len(x)


def _strata(x, y, strata):
    for stratum in set(strata):
        records = [i for i, z in enumerate(strata) if z == stratum]
        yield [x[i] for i in records], [y[i] for i in records]
