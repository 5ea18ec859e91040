"""Distances between graphs count edges; the F1 score ignores their direction."""

import pytest

from benchmarks.causal.graph_measures import skeleton_f1, structural_hamming_distance
from tests.causal.test_cpdag import marks_of


def line(i, j):
    return (i, j), (j, i)


def test_the_distance_counts_each_pair_of_columns_with_different_edges_once():
    a = marks_of(4, (0, 1), *line(1, 2), (2, 3))
    for b, distance in (
        (a, 0),
        (marks_of(4, (1, 0), *line(1, 2), (2, 3)), 1),  # turned
        (marks_of(4, *line(0, 1), *line(1, 2), (2, 3)), 1),
        (marks_of(4, *line(1, 2), (2, 3)), 1),
        (marks_of(4), 3),
        (marks_of(4, (0, 2), (1, 2)), 4),
    ):
        assert structural_hamming_distance(a, b) == structural_hamming_distance(b, a) == distance


def test_the_f1_score_ignores_the_direction_of_edges():
    a = marks_of(4, (0, 1), *line(1, 2), (2, 3))
    assert skeleton_f1(a, a.T) == 1
    assert skeleton_f1(a, marks_of(4, (1, 0), (0, 3))) == pytest.approx(2 * 1 / (3 + 2))
    assert skeleton_f1(a, marks_of(4)) == 0
    assert skeleton_f1(marks_of(4), marks_of(4)) == 1
