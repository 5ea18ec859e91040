"""The 21 relationships: their graphs, their noise, their samples and their MIC*."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.stats import binom, norm

from skdpmic import mic_r
from skdpmic.datasets import (
    R2_LEVELS,
    RELATIONSHIPS,
    GaussianMixture,
    load_mic_star,
    make_relationship,
    relationship,
)
from skdpmic.datasets.relationships import generating_points

UNIT = ((0.0, 1.0), (0.0, 1.0))
ALL_KEYS = list(product(RELATIONSHIPS, R2_LEVELS))

# --- Graphs -------------------------------------------------------------------------------------------------------


@pytest.mark.few
@pytest.mark.parametrize("name", RELATIONSHIPS)
def test_generating_points_are_evenly_spaced_on_the_visible_graph(name):
    function, points = RELATIONSHIPS[name], generating_points(name)
    assert points.shape == (100, 2)
    assert points.min() >= 0
    assert points.max() <= 1
    np.testing.assert_array_equal(points[:, 1], function(points[:, 0]))

    lengths = [visible_length(function, *ends) for ends in pairwise(points[:, 0])]
    np.testing.assert_allclose(lengths, np.mean(lengths), rtol=0.02)
    rest = visible_length(function, 0, points[0, 0]) + visible_length(function, points[-1, 0], 1)
    assert rest < 0.02 * np.mean(lengths)


def visible_length(function, start, end):
    x = np.linspace(start, end, 5_000)
    y = function(x)
    visible = (y[1:] >= 0) & (y[1:] <= 1) & (y[:-1] >= 0) & (y[:-1] <= 1)
    return np.hypot(np.diff(x), np.diff(y))[visible].sum()


# --- Samples ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RELATIONSHIPS)
@pytest.mark.parametrize("r2", [None, 0.1, 0.9])
@pytest.mark.combinations
def test_samples_lie_in_the_unit_square(name, r2):
    x, y = make_relationship(name, n_samples=1000, r2=r2, random_state=0)
    assert x.shape == y.shape == (1000,)
    assert min(x.min(), y.min()) >= 0
    assert max(x.max(), y.max()) <= 1
    if r2 is None:
        np.testing.assert_array_equal(y, RELATIONSHIPS[name](x))


@pytest.mark.parametrize("r2", [None, 0.5])
def test_random_state_fixes_the_sample(r2):
    first, second, other = (make_relationship("F8", n_samples=50, r2=r2, random_state=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)


def test_sample_follows_the_restricted_mixture():
    """alpha = 1e-6 over 4 cells, n = 100,000."""
    points, sigma, n = np.array([[0.0, 0.1], [0.9, 0.6], [0.5, 1.0]]), 0.3, 100_000
    sample = GaussianMixture(points, sigma).sample(n, random_state=0)

    def mass(x_hi, y_hi):
        per_axis = norm.cdf(([x_hi, y_hi] - points) / sigma) - norm.cdf(-points / sigma)
        return per_axis.prod(axis=1).sum()

    for x_hi, y_hi in [(0.5, 0.5), (1, 0.3), (0.2, 1), (0.8, 0.9)]:
        count = np.sum((sample[:, 0] <= x_hi) & (sample[:, 1] <= y_hi))
        lo, hi = binom.interval(1 - 1e-6 / 4, n, mass(x_hi, y_hi) / mass(1, 1))
        assert lo <= count <= hi


@pytest.mark.slow
def test_samples_have_the_r2_of_their_level():
    """alpha = 1e-6 over the 189 distributions, n = 20,000 each; the standard error of r by its influence function."""
    z = norm.isf(1e-6 / 189 / 2)
    for name, r2 in ALL_KEYS:
        x, y = make_relationship(name, n_samples=20_000, r2=r2, random_state=0)
        u, v = ((a - a.mean()) / a.std() for a in (RELATIONSHIPS[name](x), y))
        r = np.mean(u * v)
        error = np.std(u * v - r * (u**2 + v**2) / 2) / np.sqrt(len(x))
        assert abs(r - np.sqrt(r2)) < z * error, (name, r2)


# --- MIC* ---------------------------------------------------------------------------------------------------------


def test_every_distribution_has_its_value():
    assert list(load_mic_star()) == ALL_KEYS
    assert all(0 < value <= 1 for value in load_mic_star().values())


@pytest.mark.parametrize("name, r2", [("F4", 0.9), ("F8", 0.5), ("F12", 0.5), ("F13", 0.9), ("F17", 0.3), ("F20", 0.5)])
def test_mic_r_of_a_large_sample_is_near_mic_star(name, r2):
    """n = 200,000; the difference is mostly due to the coarser grids of MICr."""
    x, y = make_relationship(name, n_samples=200_000, r2=r2, random_state=0)
    assert mic_r(x, y, bounds=UNIT, B=400, c=5) == pytest.approx(load_mic_star()[name, r2], abs=0.005)


# --- Bad input ----------------------------------------------------------------------------------------------------


def test_an_unknown_name_and_another_level_are_refused_but_not_a_rounding_error():
    for r2 in (None, 0.5):
        with pytest.raises(ValueError, match="name must be"):
            make_relationship("F22", r2=r2)
    for level in (0.0, 1.0, 0.55, np.nan):
        with pytest.raises(ValueError, match="r2 must be one of"):
            relationship("F12", level)
    assert relationship("F12", 0.1 + 0.2).sigma == relationship("F12", 0.3).sigma
