"""Kendall's tau and ranks straight from their definitions, in exact fractions: O(n^2)."""

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
