"""Curves, points and edges show what was released, and bands and lines how certain it is."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression

from skdpmic import PrivateAdditiveClassifier, PrivateAdditiveRegressor, PrivateSelectKBest, private_evaluation
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation
from skdpmic.plotting import EffectsDisplay, EvaluationDisplay, GraphDisplay
from skdpmic.plotting.figures import CHOSEN
from tests.plotting.shown import assert_readable, legend
from tests.tables import refused

colors = pytest.importorskip("matplotlib.colors")


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.uniform(18, 90, 600),
            "town": rng.choice(["a", "b"], 600),
            "seen": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 300, 600), unit="D"),
        }
    )
    X.loc[::2, "seen"] = pd.NaT
    bounds = {"age": (18, 90), "seen": (pd.Timestamp("2020-01-01"), pd.Timestamp("2021-01-01"))}
    return PrivateAdditiveClassifier(3.0, bounds=bounds, categories={"town": ["a", "b"]}, classes=["no", "yes"]).fit(
        X, np.where(X["age"] > 50, "yes", "no")
    )


def parts(display):
    return [label.get_text() for label in display.ax_.get_xticklabels()]


@pytest.mark.parametrize("name, first, ends", [("age", 0, ["18", "90"]), ("seen", 13, ["2020-01-01", "2021-01-01"])])
def test_effects_of_a_range_are_steps_with_a_point_for_missing_values_if_there_are_any(
    model, name, first, ends, pyplot
):
    display = EffectsDisplay.from_estimator(model, name)
    effects = model.coef_[0, first : first + 9]
    np.testing.assert_array_equal(display.curve_.get_data().values, effects[:8])
    assert [parts(display)[0], parts(display)[-1]] == ends
    assert (display.points_ is None) == (name == "age")
    if name == "seen":
        np.testing.assert_array_equal(display.points_.get_ydata(), effects[8:])
    np.testing.assert_allclose(display.margins, 1.96 * model.coef_noise_scale_[0, first : first + 9], rtol=1e-3)
    assert display.ax_.get_xlabel() == name
    assert display.ax_.get_title() == "effect on probability of yes, ε = 3, δ = 1e-06"
    assert sorted(legend(display)) == ["missing values"] * (name == "seen") + ["noise, 95%"]


def test_effects_of_labels_are_points_where_there_are_records(model, pyplot):
    display = EffectsDisplay.from_estimator(model, "town", confidence=0.5)
    np.testing.assert_array_equal(display.points_.get_ydata(), [*model.coef_[0, 9:11], np.nan, np.nan])
    assert parts(display) == ["a", "b", "other", "missing"]
    assert display.curve_ is None
    assert legend(display) == ["noise, 50%"]


@pytest.mark.filterwarnings("ignore:noise will exceed the signal")
def test_one_of_several_classes_is_shown(pyplot):
    X = np.random.default_rng(0).uniform(size=(2000, 2))
    model = PrivateAdditiveClassifier(3.0, 0.0, bounds=(0, 1), classes=[5, 6, 7]).fit(X, 5 + (X[:, 0] * 3).astype(int))
    display = EffectsDisplay.from_estimator(model, 0, target=6)
    np.testing.assert_array_equal(display.effects, [*model.coef_[1, :8], np.nan])
    assert display.ax_.get_title() == "effect on log probability of 6, ε = 3"
    for target in (None, 4):
        with refused(ValueError, r"target must be a class if .* one of \[5, 6, 7\], got"):
            EffectsDisplay.from_estimator(model, 0, target=target)


def test_invalid_columns_and_models_are_refused(model):
    show = partial(EffectsDisplay.from_estimator, model)
    with refused(ValueError, "feature must be a column of the fitted table, one of .*, got 'height'"):
        show("height")
    with refused(ValueError, r"target must be a class if .* one of \[None\], got 'yes'"):
        show("age", target="yes")
    with refused(ValueError, "confidence must be a number"):
        show("age", confidence=1)
    with refused(TypeError, "estimator must be an additive model"):
        EffectsDisplay.from_estimator(PrivateSelectKBest(1), "age")
    with pytest.raises(NotFittedError):
        EffectsDisplay.from_estimator(PrivateAdditiveRegressor(), "age")


# --- Evaluations ------------------------------------------------------------------------------------------------------

X = np.random.default_rng(0).normal(size=(800, 2))
Y = np.array(["low", "mid", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]


def evaluated(y, kind=LogisticRegression, epsilon=5.0, **options):
    return private_evaluation(kind().fit(X, y), X, y, epsilon=epsilon, model_is_public=True, **options)


def test_the_curve_and_the_points_match_the_evaluation(pyplot):
    evaluation = evaluated(Y == "low")
    display = EvaluationDisplay.from_evaluation(evaluation)
    np.testing.assert_array_equal(display.line_.get_xydata(), np.column_stack(evaluation.roc_curve()))
    assert display.ax_.get_title() == f"ROC AUC {evaluation.figures['roc_auc']}"
    evaluation = evaluated(Y)
    display = EvaluationDisplay.from_evaluation(evaluation, kind="calibration", label="high")
    observed = evaluation.calibration("high")
    np.testing.assert_array_equal(display.line_.get_ydata(), [part.observed for part in observed])
    np.testing.assert_array_equal(display.lower, [part.lower for part in observed])
    assert display.ax_.get_title() == f"ROC AUC {evaluation.figures['roc_auc of high']}, high"


def test_a_calibration_that_noise_hides_has_no_points(pyplot):
    evaluation = evaluated(Y == "low", epsilon=0.001)
    assert evaluation.calibration() == []
    display = EvaluationDisplay.from_evaluation(evaluation, kind="calibration")
    assert len(display.line_.get_xdata()) == 0


def test_what_cannot_be_plotted_is_refused(pyplot):
    of_three = evaluated(Y)
    with refused(ValueError, "label must be one of"):
        EvaluationDisplay.from_evaluation(of_three)
    with refused(ValueError, "kind must be 'roc' or 'calibration', got 'bars'"):
        EvaluationDisplay.from_evaluation(of_three, kind="bars", label="low")
    with refused(ValueError, "without curves"):
        EvaluationDisplay.from_evaluation(evaluated(X[:, 0], LinearRegression, target_bounds=(-3, 3)))


# --- Graphs -----------------------------------------------------------------------------------------------------------

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
        assert is_line or edge.xy[1] < edge.xyann[1]  # from above to below
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


@pytest.mark.parametrize("title", ["", "ε = 1"])
def test_the_title_says_so_if_all_edges_are_untested(pyplot, title):
    untested = "all edges untested: each may be there or not"
    unknown = np.full((5, 5), np.nan)
    display = GraphDisplay(MARKS, p_values=unknown, feature_names=NAMES, title=title).plot()
    assert display.ax_.get_title() == f"{title}\n{untested}".strip()
    assert_readable(display)
    one = unknown.copy()
    one[0, 2] = 0.009
    for others in ({"p_values": one}, {"p_values": P_VALUES}, {}):
        assert GraphDisplay(MARKS, title=title, **others).plot().ax_.get_title() == title
    assert GraphDisplay(np.zeros((5, 5)), p_values=unknown, title=title).plot().ax_.get_title() == title


@pytest.mark.filterwarnings("ignore:untied_fraction_")
def test_a_graph_of_columns_with_ties_is_untested(pyplot):
    X = np.random.default_rng(0).normal(size=(3000, 4)).cumsum(axis=1).round()
    private = PrivatePC(epsilon=3).fit(X)
    assert np.isnan(np.asarray(private.p_values_)[np.asarray(private.cpdag_)]).all()
    title = GraphDisplay.from_estimator(private).ax_.get_title()
    assert title.endswith("\nall edges untested: each may be there or not")


def record_path(drawn, pair, patch, renderer):
    drawn[pair] = patch.get_transform().transform_path(patch.get_path()).vertices


def test_edges_end_at_the_boxes_of_names(pyplot):
    """Also in a figure that is saved at a higher resolution than it was drawn."""
    display, drawn = GraphDisplay(MARKS, feature_names=NAMES).plot(), {}
    figure = display.figure_
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
    private = PrivatePC(alpha=1e-5).fit(pd.DataFrame(X, columns=NAMES[:4]))
    display = GraphDisplay.from_estimator(private)
    assert sorted(display.edges_) == [(0, 2), (1, 2), (2, 3)]
    assert [node.get_text() for node in display.nodes_] == NAMES[:4]
    assert display.ax_.get_title() == "ε = 1, δ = 1e-06, alpha = 1e-05"
    np.testing.assert_array_equal(display.p_values, private.p_values_)
    display = GraphDisplay.from_estimator(private.set_params(max_order=0, alpha=1e-4))
    assert len(display.edges_) == 5
    assert display.ax_.get_title().endswith("alpha = 0.0001")


def test_estimators_without_a_graph_are_refused():
    with pytest.raises(NotFittedError):
        GraphDisplay.from_estimator(PrivatePC())
    fitted = PrivateCorrelation().fit(np.random.default_rng(0).normal(size=(500, 2)))
    with refused(AttributeError, "GraphDisplay requires a graph, as in PrivatePC, got PrivateCorr"):
        GraphDisplay.from_estimator(fitted)


def test_integers_are_points_with_their_names(pyplot):
    X, y = pd.DataFrame({"health": np.arange(2000) % 5 + 1}), np.arange(2000) % 5 > 2
    model = PrivateAdditiveClassifier(5.0, bounds=range(1, 6), classes=[False, True]).fit(X, y)
    display = EffectsDisplay.from_estimator(model, "health")
    assert display.edges is None
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["1", "2", "3", "4", "5", "missing"]
