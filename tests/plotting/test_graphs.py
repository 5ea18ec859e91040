"""Directed edges are arrows, undirected ones are lines, and both show how certain they are."""

from functools import partial

import numpy as np
import pandas
import pytest
from sklearn.exceptions import NotFittedError

from benchmarks.causal.graph_measures import cpdag_of
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation
from skdpmic.plotting import GraphDisplay
from skdpmic.plotting.figures import CHOSEN
from skdpmic.plotting.graphs import layout
from tests.causal.networks import NETWORKS
from tests.causal.oracle import random_dag
from tests.plotting.shown import legend

colors = pytest.importorskip("matplotlib.colors")

NAMES = ["rain", "sprinkler", "wet", "slippery", "season"]
MARKS = np.zeros((5, 5), dtype=bool)
MARKS[[0, 1, 2, 4, 3], [2, 2, 3, 3, 4]] = True  # 3 - 4 is a line
P_VALUES = np.full((5, 5), 1e-9)
P_VALUES[1, 2] = P_VALUES[2, 1] = 1e-5
P_VALUES[3, 4] = P_VALUES[4, 3] = 0.009


def test_every_edge_is_drawn_once_and_arrows_have_heads(pyplot):
    display = GraphDisplay(MARKS, feature_names=NAMES).plot()
    assert sorted(display.edges_) == [(0, 2), (1, 2), (2, 3), (3, 4)]
    assert [node.get_text() for node in display.nodes_] == NAMES
    for (i, j), edge in display.edges_.items():
        assert edge.xy == display.nodes_[j].get_position()  # where the head is
        assert edge.xyann == display.nodes_[i].get_position()
        is_line = (i, j) == (3, 4)
        style = type(edge.arrow_patch.get_arrowstyle()).__name__
        assert style == ("Curve" if is_line else "CurveFilledB")
        assert colors.same_color(edge.arrow_patch.get_edgecolor(), "black" if is_line else CHOSEN)
    assert legend(display) == ["cause to effect", "direction not known"]


def test_more_certain_edges_are_thicker_and_the_least_certain_are_dashed(pyplot):
    edges = GraphDisplay(MARKS, p_values=P_VALUES, alpha=0.01).plot().edges_
    widths = {pair: edge.arrow_patch.get_linewidth() for pair, edge in edges.items()}
    dashed = {pair: edge.arrow_patch.get_linestyle() not in ("solid", "-") for pair, edge in edges.items()}
    assert widths[0, 2] == widths[2, 3] > widths[1, 2] == widths[3, 4]
    assert [dashed[pair] for pair in ((0, 2), (2, 3), (1, 2), (3, 4))] == [False, False, False, True]


def test_the_legend_describes_only_what_is_drawn(pyplot):
    display = GraphDisplay(MARKS, p_values=P_VALUES, alpha=0.01).plot()
    expected = [f"p ≤ {p} in all tests" for p in ("1e-06", "0.0001", "0.01")]
    assert legend(display) == ["cause to effect", "direction not known", *expected]
    lines = GraphDisplay(MARKS & MARKS.T, p_values=P_VALUES, alpha=0.05).plot()
    assert legend(lines) == ["direction not known", "p ≤ 0.05 in all tests"]
    for p in (0.06, np.nan):  # above alpha, or without a p-value
        lines = GraphDisplay(MARKS & MARKS.T, p_values=np.full((5, 5), p), alpha=0.05).plot()
        assert legend(lines) == ["direction not known", "a test is no evidence"]
    assert legend(GraphDisplay(np.zeros((3, 3))).plot()) == []


def record_path(drawn, pair, patch, renderer):
    drawn[pair] = patch.get_transform().transform_path(patch.get_path()).vertices


@pytest.mark.few
@pytest.mark.parametrize("is_new", [True, False])
def test_edges_end_at_the_boxes_of_names(pyplot, is_new):
    """Also in a figure that is saved at a higher resolution than it was drawn."""
    display = GraphDisplay(MARKS, feature_names=NAMES).plot(None if is_new else pyplot.subplots()[1])
    figure, drawn = display.figure_, {}
    for pair, edge in display.edges_.items():
        edge.arrow_patch.draw = partial(record_path, drawn, pair, edge.arrow_patch)
    for dpi in (figure.dpi, 2.5 * figure.dpi):
        figure.set_dpi(dpi)
        figure.canvas.draw()
        assert drawn.keys() == display.edges_.keys()
        for (i, j), path in drawn.items():
            for node in (i, j):
                box = display.nodes_[node].get_bbox_patch().get_window_extent()
                apart = np.maximum([box.x0, box.y0] - path, path - [box.x1, box.y1]).max(axis=1)
                assert abs(apart.min()) < 0.05 * dpi  # the nearest point of the arrow is at the edge of the box


def test_the_graph_is_that_of_the_estimator_at_its_current_alpha(pyplot):
    X = np.random.default_rng(0).normal(size=(20_000, 4))
    X[:, 2] += X[:, 0] + X[:, 1]
    X[:, 3] += X[:, 2]
    private = PrivatePC(alpha=1e-5).fit(pandas.DataFrame(X, columns=NAMES[:4]))
    display = GraphDisplay.from_estimator(private)
    assert sorted(display.edges_) == [(0, 2), (1, 2), (2, 3)]
    assert [node.get_text() for node in display.nodes_] == NAMES[:4]
    assert display.ax_.get_title() == "ε = 1, δ = 1e-06, alpha = 1e-05"
    np.testing.assert_array_equal(display.p_values, private.p_values_)
    display = GraphDisplay.from_estimator(private.set_params(max_order=0, alpha=1e-4))
    assert len(display.edges_) == 5
    assert display.ax_.get_title().endswith("alpha = 0.0001")
    _, ax = pyplot.subplots()
    assert GraphDisplay.from_estimator(private, ax=ax).ax_ is ax


def test_estimators_without_a_graph_are_refused():
    with pytest.raises(NotFittedError):
        GraphDisplay.from_estimator(PrivatePC())
    X = np.random.default_rng(0).normal(size=(500, 2))
    with pytest.raises(AttributeError, match="GraphDisplay requires a graph, as in PrivatePC, got PrivateCorr"):
        GraphDisplay.from_estimator(PrivateCorrelation().fit(X))


# --- Positions of nodes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NETWORKS)
def test_nodes_of_networks_are_apart_and_nearly_all_arrows_point_down(name):
    _, dag = NETWORKS[name]
    places = layout(dag)
    assert (places >= 0).all()
    assert (places <= 1).all()
    apart = np.linalg.norm(places[:, None] - places, axis=2) + np.eye(len(places))
    assert apart.min() > 1 / len(places)
    assert np.mean([places[i, 1] > places[j, 1] for i, j in np.argwhere(dag)]) > 0.9
    adjacent = (dag | dag.T)[np.triu_indices(len(dag), 1)]
    lengths = apart[np.triu_indices(len(dag), 1)]
    assert lengths[adjacent].mean() < 0.8 * lengths[~adjacent].mean()


@pytest.mark.parametrize("n_nodes", [1, 2, 3, 30])
def test_graphs_of_any_size_without_edges_have_distinct_positions(n_nodes):
    places = layout(np.zeros((n_nodes, n_nodes), dtype=bool))
    assert np.isfinite(places).all()
    assert len(np.unique(places.round(6), axis=0)) == n_nodes


def test_the_same_graph_has_the_same_positions():
    dag = cpdag_of(random_dag(np.random.default_rng(0), 9, 0.3))
    np.testing.assert_array_equal(layout(dag), layout(dag.copy()))
