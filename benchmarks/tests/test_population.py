"""MIC* equals its definition: brute force over merges, with probabilities by numerical integration."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import brentq

from benchmarks.population import mic_star
from tests.folding import each
from tests.naive import naive_largest_entry

UNIT = ((0.0, 1.0), (0.0, 1.0))
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(60)
SMALL = {"n_master": 26, "n_fixed": 36}  # quick, also when not compiled
LINE = np.column_stack([np.linspace(0, 1, 100)] * 2)


def naive_mic_star(centers, sigma, weights, bounds, n_master, n_fixed):
    def density(x, y):
        return sum(
            w * np.exp(-((x - a) ** 2 + (y - b) ** 2) / (2 * sigma**2))
            for (a, b), w in zip(centers, weights, strict=True)
        )

    def mass(x_lo, x_hi, y_lo, y_hi):
        x = x_lo + (x_hi - x_lo) * (NODES + 1) / 2
        y = y_lo + (y_hi - y_lo) * (NODES + 1) / 2
        return NODE_WEIGHTS @ density(x[:, None], y) @ NODE_WEIGHTS * (x_hi - x_lo) * (y_hi - y_lo) / 4

    def edges(axis, size):
        lo, hi = bounds[axis]
        below = (lambda t: mass(lo, t, *bounds[1])) if axis == 0 else (lambda t: mass(*bounds[0], lo, t))
        return [lo, *(brentq(lambda t, i=i: below(t) - i / size * below(hi), lo, hi) for i in range(1, size)), hi]

    best = 0.0
    for free in (0, 1):
        x_edges, y_edges = edges(0, n_fixed if free else n_master), edges(1, n_master if free else n_fixed)
        table = np.array([[mass(*x_part, *y_part) for y_part in pairwise(y_edges)] for x_part in pairwise(x_edges)])
        best = max(best, naive_largest_entry((table.T if free else table).tolist(), n_master))
    return best


@pytest.mark.parametrize("n_master, n_fixed", [(2, 2), (7, 2), (4, 7), (6, 9)])
@pytest.mark.parametrize("bounds", [UNIT, ((-0.5, 1.2), (0.2, 0.9))])
@pytest.mark.parametrize("sigma", [0.1, 0.3])
@pytest.mark.combinations
def test_equals_the_definition_by_brute_force(n_master, n_fixed, bounds, sigma):
    rng = np.random.default_rng(n_master)
    centers, weights = rng.uniform(-0.1, 1.1, size=(5, 2)), rng.random(5)
    expected = naive_mic_star(centers, sigma, weights, bounds, n_master, n_fixed)
    value = mic_star(centers, sigma, weights=weights, bounds=bounds, n_master=n_master, n_fixed=n_fixed)
    assert value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "centers, sigma",
    [
        ([[0.3, 0.8]], 0.2),  # one component
        ([[x, y] for x in (0.1, 0.5, 0.6) for y in (0.2, 0.9)], 0.05),  # a product of two mixtures
        (LINE, 1e4),  # nearly uniform on the square
    ],
)
def test_zero_for_independent_variables(centers, sigma):
    assert mic_star(centers, sigma, **SMALL) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("shape", [lambda x: x, lambda x: 1 - x, lambda x: x**3, lambda x: 4 * (x - 0.5) ** 2])
def test_one_for_a_noiseless_relationship(shape):
    x = (np.arange(100) + 0.5) / 100
    assert mic_star(np.column_stack([x, shape(x)]), sigma=1e-9, **SMALL) == pytest.approx(1, abs=0.02)


def test_does_not_depend_on_the_order_or_units_of_the_axes():
    centers = np.column_stack([np.linspace(0, 1, 20), np.linspace(0, 1, 20) ** 2])
    value = mic_star(centers, 0.1, **SMALL)
    assert mic_star(centers[:, ::-1], 0.1, **SMALL) == pytest.approx(value, abs=1e-12)
    wide = mic_star(10 * centers - 3, 1.0, bounds=((-3, 7), (-3, 7)), **SMALL)
    assert wide == pytest.approx(value, abs=1e-9)


def test_a_component_without_mass_changes_nothing():
    value = mic_star(LINE, 0.1, **SMALL)
    for stray, weight in (([0.5, 0.1], 0.0), ([300.0, 0.5], 1.0)):
        weights = np.append(np.ones(len(LINE)), weight)
        assert mic_star([*LINE, stray], 0.1, weights=weights, **SMALL) == pytest.approx(value, abs=1e-12)


@pytest.mark.slow
def test_larger_master_partitions_hardly_matter():
    centers = np.column_stack([LINE[:, 0], 0.5 + 0.4 * np.sin(16 * np.pi * LINE[:, 0])])
    for sigma in (0.005, 0.05):
        value = mic_star(centers, sigma)
        assert mic_star(centers, sigma, n_master=520, n_fixed=720) == pytest.approx(value, abs=0.003)


@each("arguments, message", [({"sigma": 0.0}, "sigma"), ({"weights": [1.0]}, "weights"), ({"n_fixed": 1}, "n_fixed")])
def test_refuses_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        mic_star(**{"centers": [[0.2, 0.3], [0.6, 0.7]], "sigma": 0.1} | arguments)
