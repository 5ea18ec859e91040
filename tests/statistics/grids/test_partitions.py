"""Cells and parts match their definition, edges included."""

import numpy as np
import pytest

from skdpmic.statistics.grids import equal_parts, equipartitions, locate_each, refine
from tests.naive import naive_parts

BOUNDS = [(0.0, 1.0), (-3.7, 11.3), (1e9, 1e9 + 1), (-1e-300, 3e-300), (0.1, 0.1000001), (-1e308, 5e307)]


def locate(values, edges, lo, hi):
    cells, _ = locate_each([values], [0], np.append(edges, np.nan)[np.newaxis], np.array([[lo, hi]]))
    return cells[0]


@pytest.mark.parametrize("bounds", BOUNDS)
def test_parts_match_the_definition_on_and_around_every_edge(bounds):
    lo, hi = bounds
    sizes = np.array([2, 3, 5, 6, 7, 12, 15])
    edges = np.array([lo + i * ((hi - lo) / size) for size in sizes for i in range(size + 1)])
    far_out = np.array([lo - (hi / 2 - lo / 2), hi + (hi / 2 - lo / 2), -1.7e308, 1.7e308])
    inside = lo + np.random.default_rng(0).random(50) * (hi - lo)
    values = np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf), far_out, inside])
    edges, first_cell = refine(*bounds, equipartitions(sizes))
    cells = locate(values, edges, *bounds)
    for row, size in enumerate(sizes):
        parts = np.searchsorted(first_cell[row, 1:size], cells, side="right")
        assert parts.tolist() == naive_parts(values, bounds, size) == equal_parts(values, bounds, size).tolist()
        assert first_cell[row, size] == len(edges) + 1


@pytest.mark.parametrize("bounds", BOUNDS)
def test_locate_equals_searchsorted(bounds):
    edges, _ = refine(*bounds, equipartitions([2, 9, 10, 75]))
    assert (np.diff(edges) > 0).all()
    values = bounds[0] + np.random.default_rng(0).random(200) * (bounds[1] - bounds[0])
    values = np.concatenate([values, edges])
    np.testing.assert_array_equal(locate(values, edges, *bounds), np.searchsorted(edges, values, side="right"))


@pytest.mark.parametrize("bounds", [(0.0, 5e-324), (0.0, 1e-310), (-1e-308, 1e-308), (1.0, 1.0 + 2.0**-52), (0.0, 1.0)])
def test_no_value_is_looked_up_outside_the_bucket_table(bounds):
    # At lo, 0 * infinity is NaN in the narrowest ranges, and scikit-learn's assume_finite lets NaN values in.
    edges, _ = refine(*bounds, equipartitions([2, 3, 4]))
    values = np.array([*bounds, -1.0, 0.5, 2.0, -1e308, 1e308])
    np.testing.assert_array_equal(locate(values, edges, *bounds), np.searchsorted(edges, values, side="right"))
    assert locate(np.array([np.nan]), edges, *bounds)[0] == len(edges) + 1
