"""Rank statistics straight from their definitions, in exact fractions: O(n^2), O(n^3).

Two of them take records; the other two, which need an order, take values whose ties are averaged over all orders.
"""

from fractions import Fraction
from itertools import permutations, product


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


def orders(values):
    """All strict ranks, from 0, of values with ties: equal values in every order."""
    groups = [[i for i, v in enumerate(values) if v == value] for value in sorted(set(values))]
    for chosen in product(*map(permutations, groups)):
        ascending = [record for group in chosen for record in group]
        yield [ascending.index(i) for i in range(len(values))]


def _over_orders(x, y):
    pairs = list(product(orders(x), orders(y)))
    return pairs, Fraction(1, len(pairs))


def naive_xi(x, y):
    """The mean of Chatterjee's xi of y given x over all orders of ties, not clamped."""
    n, (pairs, weight) = len(x), _over_orders(x, y)
    variation = sum(abs(s[r.index(i + 1)] - s[r.index(i)]) for r, s in pairs for i in range(n - 1)) * weight
    return 1 - 3 * variation / (n**2 - 1)


def naive_chatterjee(x, y):
    """The larger of both directions, in [0, 1]."""
    return max(naive_xi(x, y), naive_xi(y, x), Fraction(0))


def naive_squared_distance_correlation(x, y):
    """The square of Hoeffding's Phi of the mean counts over all orders of ties."""
    in_order = list(range(len(x)))
    return _squared_norm(x, y) / _squared_norm(in_order, in_order)


def _squared_norm(x, y):
    n, (pairs, weight) = len(x), _over_orders(x, y)
    return sum(
        (sum(a < i and b < j for r, s in pairs for a, b in zip(r, s, strict=True)) * weight - Fraction(i * j, n)) ** 2
        for i in range(1, n)
        for j in range(1, n)
    )


def naive_conditional_tau(x, y, strata):
    """The sum of (n_z - 1) tau_z over strata, divided by n; a single record contributes 0."""
    parts = [(len(a) - 1) * naive_tau(a, b) for a, b in _strata(x, y, strata) if len(a) > 1]
    return sum(parts, start=Fraction(0)) / len(x)


def _strata(x, y, strata):
    for stratum in set(strata):
        records = [i for i, z in enumerate(strata) if z == stratum]
        yield [x[i] for i in records], [y[i] for i in records]
