"""The picture of a noisy table shows the released counts, at their place."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from skdpmic.plotting import NoisyCountsDisplay


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


class Fitted(BaseEstimator):
    """What the display reads of a fitted estimator."""

    def __init__(self, bounds=(0, 1), target_bounds=None, classes=None):
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.classes = classes

    def fit(self, names=None):
        self.noisy_counts_ = np.arange(2 * 4 * 3).reshape(2, 4, 3)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        return self


def test_the_picture_holds_the_released_counts_at_their_place(pyplot):
    estimator = Fitted(bounds=(np.array([0, 10]), np.array([1, 50])), target_bounds=(-2, 2)).fit()
    display = NoisyCountsDisplay.from_estimator(estimator, 1)
    np.testing.assert_array_equal(display.image_.get_array(), estimator.noisy_counts_[1].T)
    assert tuple(display.image_.get_extent()) == (10, 50, -2, 2)
    assert display.ax_.get_xlabel() == "feature 1"


def test_features_are_found_by_name_and_classes_label_the_rows(pyplot):
    estimator = Fitted(bounds={"age": (0, 90), "pay": (0, 5)}, classes=["no", "yes", "maybe"]).fit(["pay", "age"])
    display = NoisyCountsDisplay.from_estimator(estimator, "age", cmap="magma")
    assert tuple(display.image_.get_extent())[:2] == (0, 90)
    assert display.image_.get_cmap().name == "magma"
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["maybe", "no", "yes"]


def test_it_draws_on_given_axes_and_without_public_numbers(pyplot):
    _, ax = pyplot.subplots()
    with pytest.raises(ValueError, match="must be in"):
        NoisyCountsDisplay.from_estimator(Fitted(bounds="data").fit(), 2)
    display = NoisyCountsDisplay.from_estimator(Fitted(bounds="data", target_bounds="data").fit(), 0, ax=ax)
    assert display.ax_ is ax
    assert tuple(display.image_.get_extent()) == (0, 4, -0.5, 2.5)


def test_an_estimator_without_noisy_counts_is_refused():
    other = Fitted()
    other.scores_ = np.zeros(2)
    with pytest.raises(ValueError, match="mechanism='geometric'"):
        NoisyCountsDisplay.from_estimator(other, 0)


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="feature must be a name"):
        NoisyCountsDisplay.from_estimator(Fitted().fit(["a", "b"]), "c")


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", SimpleNamespace())
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        NoisyCountsDisplay(np.zeros((2, 2))).plot()
