"""Noisy tables are drawn at their place, and hatched exactly where counts are within the noise."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator

from skdpmic import DPMICScorer
from skdpmic.plotting import NoisyCountsDisplay


class Fitted(BaseEstimator):
    """What the display reads of a fitted estimator."""

    def __init__(self, bounds=(0, 1), target_bounds=None, classes=None):
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.classes = classes

    def fit(self, names=None):
        self.noisy_counts_ = np.arange(2 * 4 * 3).reshape(2, 4, 3)
        self.noise_scale_ = 2.0
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


# --- What is within the noise ---------------------------------------------------------------------------------------


def hatched(display):
    """Numbers of the cells that are hatched, by where they lie in the picture."""
    left, right, bottom, top = display.image_.get_extent()
    corner, size = np.array([left, bottom]), np.array([right - left, top - bottom]) / np.shape(display.noisy_counts)
    lowest = [path.vertices.min(axis=0) for path in display.hatch_.get_paths()]
    return [tuple(np.round((vertex - corner) / size).astype(int).tolist()) for vertex in lowest]


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("scale", [0.4, 3.0, 41.5])
def test_a_cell_is_hatched_if_noise_alone_makes_so_much_of_nothing(pyplot, scale, confidence):
    """The reach is that of the law, of P(noise = m) proportional to exp(-|m| / scale), summed term by term."""
    counts = np.arange(300).reshape(15, 20)
    display = NoisyCountsDisplay(counts, noise_scale=scale, confidence=confidence).plot()
    law = np.exp(-np.abs(np.arange(-5000, 5001)) / scale)
    within = np.array([law[5000 - q : 5001 + q].sum() / law.sum() for q in range(300)])
    reach = int(np.argmax(within >= confidence))
    assert hatched(display) == [(i, j) for i, j in np.ndindex(15, 20) if counts[i, j] <= reach]
    (text,) = display.figure_.legends[0].get_texts()
    assert text.get_text() == f"within the noise: {100 * confidence:g} % of it is at most {reach} records"


def test_cells_are_hatched_where_they_lie_on_the_axes_of_the_feature_and_the_target(pyplot):
    counts = np.array([[0, 50], [60, 70], [80, 1]])
    options = {"feature_bounds": (10, 40), "target_bounds": (-1, 1), "noise_scale": 1.0}
    display = NoisyCountsDisplay(counts, **options).plot()
    corners = sorted(tuple(np.ptp(path.vertices, axis=0)) for path in display.hatch_.get_paths())
    assert corners == [(10, 1), (10, 1)]
    first, last = (path.vertices.min(axis=0).tolist() for path in display.hatch_.get_paths())
    assert (first, last) == ([10, -1], [30, 0])
    assert display.ax_.get_xlim() == (10, 40)


def test_noise_alone_is_hatched_as_often_as_is_said(pyplot):
    """Cells far off a diagonal are empty: 97.5 % of the noise in them is below the reach; p-values of 1e-6 fail."""
    X, y = np.linspace(0, 1, 100)[:, None].repeat(8, axis=1), np.linspace(0, 1, 100)
    scorer = DPMICScorer(epsilon=2, mechanism="geometric", bounds=(0, 1), target_bounds=(0, 1), B=36, c=3).fit(X, y)
    n_parts, n_target_parts = scorer.noisy_counts_.shape[1:]
    share_of_x, share_of_y = (np.arange(n) / (n - 1) for n in (n_parts, n_target_parts))
    is_empty = np.abs(share_of_x[:, None] - share_of_y) > 0.4
    n_hatched = 0
    for j in range(8):
        display = NoisyCountsDisplay.from_estimator(scorer, j)
        n_hatched += sum(is_empty[cell] for cell in hatched(display))
    n_empty = 8 * is_empty.sum()
    assert n_empty > 500
    # With this scale the noise, an integer, stays below the reach with a probability of 97.5 to 99 %.
    assert stats.binomtest(n_hatched, n_empty, 0.975, alternative="less").pvalue > 1e-6
    assert stats.binomtest(n_hatched, n_empty, 0.99, alternative="greater").pvalue > 1e-6


def test_without_noise_nothing_is_hatched(pyplot):
    X = np.random.default_rng(0).random((100, 1))
    public = {"mechanism": "geometric", "bounds": (0, 1), "target_bounds": (0, 1)}
    for scale in (None, 0, 0.0):
        display = NoisyCountsDisplay(np.zeros((2, 3)), noise_scale=scale).plot()
        assert display.hatch_ is None
        assert not display.figure_.legends
    assert NoisyCountsDisplay.from_estimator(DPMICScorer(epsilon=np.inf, **public).fit(X, X[:, 0]), 0).hatch_ is None


def test_names_are_drawn_as_they_are(pyplot):
    display = NoisyCountsDisplay(np.zeros((2, 3)), feature_name="$a_{$ Größe", classes=["$x^$", "b", "c"]).plot()
    display.figure_.canvas.draw()
    assert display.ax_.get_xlabel() == r"\$a_{\$ Größe"


@pytest.mark.parametrize("confidence", [0, 1, "high"])
def test_a_confidence_outside_is_refused(confidence):
    with pytest.raises(ValueError, match=r"confidence must be a number in \(0, 1\)"):
        NoisyCountsDisplay.from_estimator(Fitted().fit(), 0, confidence=confidence)
