"""Curves and points show the released effects, and the band shows the noise."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from skdpmic import PrivateAdditiveClassifier, PrivateAdditiveRegressor, PrivateSelectKBest
from skdpmic.plotting import EffectsDisplay
from tests.plotting.shown import legend

pytest.importorskip("matplotlib")


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


@pytest.mark.parametrize("name, first", [("age", 0), ("seen", 13)])
def test_effects_of_a_range_are_a_curve_with_a_point_for_missing_values_if_there_are_any(model, name, first, pyplot):
    display = EffectsDisplay.from_estimator(model, name)
    effects = model.coef_[0, first : first + 9]
    np.testing.assert_array_equal(display.curve_.get_ydata(), [*effects[:8], effects[7]])
    assert (display.points_ is None) == (name == "age")
    if name == "seen":
        np.testing.assert_array_equal(display.points_.get_ydata(), effects[8:])
    np.testing.assert_allclose(display.margins, 1.96 * model.coef_noise_scale_[0, first : first + 9], rtol=1e-3)
    assert display.ax_.get_xlabel() == name
    assert display.ax_.get_title() == "effect on probability of yes, ε = 3, δ = 1e-06"
    assert sorted(legend(display)) == ["missing values"] * (name == "seen") + ["noise, 95%"]


def test_bins_of_a_log_range_have_equal_widths_and_labelled_ends(pyplot):
    display = EffectsDisplay([0.1, 0.2, 0.3, 0.0], edges=[0.0, 9.0, 99.0, 999.0], column="income").plot()
    np.testing.assert_array_equal(display.curve_.get_xdata(), range(4))
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["0", "9", "99", "999"]


def test_effects_of_labels_are_points_where_there_are_records(model, pyplot):
    display = EffectsDisplay.from_estimator(model, "town", confidence=0.5)
    np.testing.assert_array_equal(display.points_.get_ydata(), [*model.coef_[0, 9:11], np.nan, np.nan])
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["a", "b", "other", "missing"]
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
        with pytest.raises(ValueError, match="target must be one of the classes"):
            EffectsDisplay.from_estimator(model, 0, target=target)


def test_invalid_arguments_are_refused(model):
    with pytest.raises(ValueError, match="feature must be a column of the fitted table"):
        EffectsDisplay.from_estimator(model, "height")
    with pytest.raises(ValueError, match="target must be None unless there are more than two classes"):
        EffectsDisplay.from_estimator(model, "age", target="yes")
    with pytest.raises(ValueError, match="confidence must be a number"):
        EffectsDisplay.from_estimator(model, "age", confidence=1)
    with pytest.raises(TypeError, match="estimator must be an additive model"):
        EffectsDisplay.from_estimator(PrivateSelectKBest(1), "age")
    with pytest.raises(NotFittedError):
        EffectsDisplay.from_estimator(PrivateAdditiveRegressor(), "age")
