"""Bars show the released gaps, and are filled if noise alone is unlikely to explain them."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skdpmic import DPMICScorer, PrivateSelectKBest
from skdpmic._utils.texts import in_short
from skdpmic.plotting import GapsDisplay
from skdpmic.plotting.figures import CHOSEN
from tests.plotting.shown import labels, legend

colors = pytest.importorskip("matplotlib.colors")
PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1)}


def fitted(k=3, n_features=6, **parameters):
    X = np.random.default_rng(0).random((400, n_features))
    return PrivateSelectKBest(k, **PUBLIC | {"criterion": "single"} | parameters).fit(X, X[:, 0])


def test_bars_are_the_released_gaps_between_the_features_in_their_order(pyplot):
    fit = fitted(epsilon=20.0)
    display = GapsDisplay.from_estimator(fit)
    np.testing.assert_array_equal([bar.get_width() for bar in display.bars_], fit.gaps_)
    np.testing.assert_allclose([bar.get_y() + bar.get_height() / 2 for bar in display.bars_], [0.5, 1.5])
    assert labels(display) == [f"feature {j}" for j in np.argsort(fit.ranking_, kind="stable")[:3]]
    assert display.ax_.get_title() == "mtv_r, ε = 20"


def test_gaps_beyond_the_noise_are_filled_and_the_legend_states_the_noise(pyplot):
    fit = fitted(epsilon=20.0)
    fit.gaps_ = np.array([10, 1]) * fit.noise_scale_  # possible values
    display = GapsDisplay.from_estimator(fit, confidence=0.95)
    margin = display.noise_margin
    assert margin == pytest.approx(fit.noise_scale_ * np.log(20), rel=1e-3)
    is_clear = [bar.get_facecolor() == colors.to_rgba(CHOSEN) for bar in display.bars_]
    assert is_clear == (fit.gaps_ > margin).tolist() == [True, False]
    assert legend(display) == [f"noise: at most {in_short(margin)} with 95% confidence", "clear", "may be noise"]
    assert GapsDisplay.from_estimator(fit, confidence=0.5).noise_margin < margin / 2


def test_without_noise_nothing_is_shaded(pyplot):
    display = GapsDisplay.from_estimator(fitted(epsilon=np.inf))
    assert display.noise_ is None
    assert legend(display) == []


def test_one_feature_has_no_gap_and_only_the_best_of_many_are_shown(pyplot):
    alone = GapsDisplay.from_estimator(fitted(1))
    assert (len(alone.bars_), len(labels(alone))) == (0, 1)
    some = GapsDisplay.from_estimator(fitted(10, 30), max_features=4)
    assert (len(some.bars_), len(labels(some))) == (3, 4)
    assert labels(GapsDisplay([0.1, 0.2]).plot()) == ["place 1", "place 2", "place 3"]
    alone.figure_.canvas.draw()


def test_estimators_without_gaps_are_refused(pyplot):
    with pytest.raises(NotFittedError):
        GapsDisplay.from_estimator(PrivateSelectKBest(2))
    scorer = DPMICScorer(**PUBLIC).fit(np.random.default_rng(0).random((50, 2)), np.linspace(0, 1, 50))
    for estimator in (fitted(criterion="joint", epsilon=100), fitted("all", 30, delta=0.01), scorer):
        with pytest.raises(
            AttributeError, match="GapsDisplay requires released gaps, which PrivateSelectKBest publishes"
        ):
            GapsDisplay.from_estimator(estimator)
    with pytest.raises(ValueError, match="confidence"):
        GapsDisplay.from_estimator(fitted(), confidence=1.0)
    with pytest.raises(ValueError, match="max_features"):
        GapsDisplay.from_estimator(fitted(), max_features=0)
