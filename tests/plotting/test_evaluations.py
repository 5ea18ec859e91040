"""The plots show the released curve and the released shares, and name the class."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from skdpmic import private_evaluation
from skdpmic.plotting import EvaluationDisplay

X = np.random.default_rng(0).normal(size=(800, 2))
Y = np.array(["low", "mid", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]


def evaluated(y, kind=LogisticRegression, **options):
    return private_evaluation(kind().fit(X, y), X, y, epsilon=5.0, model_is_public=True, **options)


def test_the_curve_matches_the_evaluation(pyplot):
    evaluation = evaluated(Y == "low")
    display = EvaluationDisplay.from_evaluation(evaluation)
    np.testing.assert_array_equal(display.line_.get_xydata(), np.column_stack(evaluation.roc_curve()))
    assert display.ax_.get_title().startswith("ROC AUC")


def test_the_points_match_the_calibration_of_a_class(pyplot):
    evaluation = evaluated(Y)
    ax = pyplot.figure().add_subplot()
    display = EvaluationDisplay.from_evaluation(evaluation, kind="calibration", label="high", ax=ax)
    parts = evaluation.calibration("high")
    np.testing.assert_array_equal(display.line_.get_ydata(), [part.observed for part in parts])
    np.testing.assert_array_equal(display.lower, [part.lower for part in parts])
    assert display.ax_ is ax
    assert ax.get_title().endswith(", high")


def test_a_calibration_that_noise_hides_has_no_points(pyplot):
    evaluation = private_evaluation(
        LogisticRegression().fit(X, Y == "low"), X, Y == "low", epsilon=0.001, model_is_public=True
    )
    assert evaluation.calibration() == []
    display = EvaluationDisplay.from_evaluation(evaluation, kind="calibration")
    assert len(display.line_.get_xdata()) == 0


def test_what_cannot_be_plotted_is_refused(pyplot):
    with pytest.raises(ValueError, match="label must be one of"):
        EvaluationDisplay.from_evaluation(evaluated(Y))
    with pytest.raises(ValueError, match="kind must be"):
        EvaluationDisplay.from_evaluation(evaluated(Y), kind="bars")
    with pytest.raises(ValueError, match="without curves"):
        EvaluationDisplay.from_evaluation(evaluated(X[:, 0], LinearRegression, target_bounds=(-3, 3)))
