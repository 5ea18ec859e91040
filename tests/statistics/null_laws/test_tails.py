"""Bounds on the tails of a fixed table with independent rows and columns, compared with exact tails of few records."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import optimize
from scipy.special import gammaln, xlogy

from skdpmic.statistics.null_laws import (
    log_division_tail,
    log_information_tail,
    log_variation_tail,
)

MARGINS = [(0.5, 0.5), (0.1, 0.9), (0.01, 0.99), (1 / 3, 1 / 3, 1 / 3), (0.05, 0.15, 0.8), (0.02, 0.02, 0.96)]
CASES = [(p, q, n) for p, q in product(MARGINS, MARGINS) for n in (5, 13 if len(p) + len(q) < 6 else 7)]


def all_tables(n, n_rows, n_columns):
    """Every table of n records, of shape (n_tables, n_rows, n_columns)."""

    def tables(n, n_cells):
        if n_cells == 1:
            return [[n]]
        return [[here, *rest] for here in range(n + 1) for rest in tables(n - here, n_cells - 1)]

    return np.array(tables(n, n_rows * n_columns)).reshape(-1, n_rows, n_columns)


def probabilities(tables, p, q):
    n = tables[0].sum()
    log = gammaln(n + 1) - gammaln(tables + 1).sum(axis=(1, 2)) + (tables * np.log(np.outer(p, q))).sum(axis=(1, 2))
    return np.exp(log)


def information(tables):
    """n I in nats."""
    n = tables[0].sum()
    of = [xlogy(part, part / n) for part in (tables, tables.sum(axis=1), tables.sum(axis=2))]
    return of[0].sum(axis=(1, 2)) - of[1].sum(axis=1) - of[2].sum(axis=1)


def variation(tables):
    shares = tables / tables[0].sum()
    independent = shares.sum(axis=2, keepdims=True) * shares.sum(axis=1, keepdims=True)
    return np.abs(shares - independent).sum(axis=(1, 2)) / 2


def exact_tail(values, probability):
    """The values in ascending order, and the probability that each is reached."""
    order = np.argsort(values)
    return values[order], np.cumsum(probability[order][::-1])[::-1]


@pytest.mark.few
@pytest.mark.parametrize(("p", "q", "n"), CASES)
def test_no_exact_tail_exceeds_its_bound(p, q, n):
    tables = all_tables(n, len(p), len(q))
    probability = probabilities(tables, p, q)
    assert math.isclose(probability.sum(), 1.0, rel_tol=1e-9)
    t, exact = exact_tail(information(tables) - 1e-9, probability)
    assert (exact <= np.exp(log_information_tail(t, len(p), len(q))) * (1 + 1e-9)).all()
    tv, exact = exact_tail(variation(tables) - 1e-12, probability)
    assert (exact <= np.exp(log_variation_tail(tv, n, len(p), len(q))) * (1 + 1e-9)).all()
    shares = tables / n
    of_cell = shares[:, 0, 0] - shares[:, 0].sum(axis=1) * shares[:, :, 0].sum(axis=1)
    for sign in (1, -1):
        excess, exact = exact_tail(2 * sign * of_cell, probability)
        positive = excess > 0
        assert (exact[positive] <= np.exp(log_division_tail(excess[positive], n)) * (1 + 1e-9)).all()


@pytest.mark.parametrize(("n_rows", "n_columns", "degrees"), [(2, 2, 2), (2, 3, 3), (3, 2, 3), (3, 5, 10), (5, 3, 10)])
def test_the_information_tail_is_the_chernoff_bound_of_a_sum_of_exponential_variables(n_rows, n_columns, degrees):
    """The number of variables is the larger number of parts times the smaller one less 1."""
    for t in (degrees + 0.5, 2.0 * degrees, 10.0 * degrees):
        best = optimize.minimize_scalar(
            lambda power, t=t: -power * t - degrees * math.log1p(-power), bounds=(0, 1), method="bounded"
        )
        np.testing.assert_allclose(log_information_tail(t, n_rows, n_columns), best.fun, atol=1e-5)
    assert log_information_tail(degrees / 2, n_rows, n_columns) == 0


def test_the_variation_tail_is_the_least_of_its_three_bounds():
    n = 100
    tv = np.linspace(0.01, 0.9, 50)
    for n_rows, n_columns in ((2, 2), (2, 40), (40, 2), (3, 3), (30, 30)):
        fewer, more = min(n_rows, n_columns), max(n_rows, n_columns)
        mean = math.sqrt((fewer - 1) * (more - 1) / n) / 2
        bounds = [np.zeros(50), log_information_tail(2 * n * tv**2, fewer, more)]
        bounds.append(-(2 if fewer == 2 else 0.5) * n * np.maximum(tv - mean, 0) ** 2)
        if fewer == 2:
            bounds.append(math.log(2**more - 2) - 2 * n * tv**2)
        np.testing.assert_allclose(log_variation_tail(tv, n, n_rows, n_columns), np.min(bounds, axis=0))
