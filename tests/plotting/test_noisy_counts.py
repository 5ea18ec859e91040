"""Noisy tables are drawn at their place, and hatched exactly where counts are within the noise."""

import numpy as np
import pandas
import pytest
from scipy import stats
from sklearn.base import BaseEstimator

from skdpmic import DPMICScorer
from skdpmic.plotting import NoisyCountsDisplay
from skdpmic.table.facts import PublicFacts


class Fitted(BaseEstimator):
    """What the display reads of a fitted estimator."""

    def __init__(self, bounds=(0, 1), target_bounds="data", classes=None):
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.classes = classes

    def fit(self, names=None):
        self.noisy_counts_ = np.arange(2 * 4 * 3).reshape(2, 4, 3)
        self.noise_scale_, self.n_features_in_ = 2.0, 2
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        facts = PublicFacts(self.bounds, target_bounds=self.target_bounds, classes=self.classes)
        self._described = facts.describe(2, names)
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
    with pytest.raises(ValueError, match="feature must be an int from 0 to 1"):
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
@pytest.mark.combinations
def test_a_cell_is_hatched_if_noise_alone_makes_so_much_of_nothing(pyplot, scale, confidence):
    """The reach is that of the law, of P(noise = m) proportional to exp(-|m| / scale), summed term by term."""
    counts = np.arange(300).reshape(15, 20)
    display = NoisyCountsDisplay(counts, noise_scale=scale, confidence=confidence).plot()
    law = np.exp(-np.abs(np.arange(-5000, 5001)) / scale)
    within = np.array([law[5000 - q : 5001 + q].sum() / law.sum() for q in range(300)])
    reach = int(np.argmax(within >= confidence))
    assert hatched(display) == [(i, j) for i, j in np.ndindex(15, 20) if counts[i, j] <= reach]
    (text,) = display.figure_.legends[0].get_texts()
    assert text.get_text() == f"within the noise: at most {reach} records with {100 * confidence:g}% confidence"


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


# --- Every kind of bounds -------------------------------------------------------------------------------------------

DAY = np.datetime64("2024-01-01")
# What bounds say, how many of its parts are below some values, of 12, and what is written at some places.
SIDES = {
    "range": ((0, 60), {5: 1, 30: 6}, []),
    "log": ((0, 999, "log"), {0: 0, 999: 12}, ["0", "10", "100", "999"]),
    "log of both signs": ((-999, 999, "log"), {0: 6}, ["-999", "-10", "0", "10", "999"]),
    "knots": ([0, 1, 10, 100], {1: 4, 10: 8}, ["0", "1", "10", "100"]),
    "dates": ((DAY, np.datetime64("2024-12-31")), {DAY: 0, np.datetime64("2024-07-01T12"): 5.99}, ["2024", "Jul"]),
    "knots of dates": (
        [DAY, np.datetime64("2024-02-01"), np.datetime64("2025-02-01")],
        {np.datetime64("2024-02-01"): 6},
        ["2024-01-01", "2024-02-01", "2025-02-01"],
    ),
    "durations": ((np.timedelta64(0, "h"), np.timedelta64(36, "h")), {np.timedelta64(18, "h"): 6}, ["0", "10", "30"]),
}


def in_order_of_values(values, bounds):
    """Values and bounds as numbers, of dates those of matplotlib, of durations hours."""
    if isinstance(bounds[0], np.datetime64):
        from matplotlib.dates import date2num

        return date2num(values)
    return np.asarray(values) / np.timedelta64(1, "h") if isinstance(bounds[0], np.timedelta64) else np.asarray(values)


def written_at(axis):
    axis.figure.canvas.draw()
    return dict(
        zip(
            [text.get_text().replace("\N{MINUS SIGN}", "-") for text in axis.get_ticklabels()],
            axis.get_ticklocs(),
            strict=True,
        )
    )


@pytest.mark.few
@pytest.mark.parametrize("side", ["x", "y"])
@pytest.mark.parametrize("kind", SIDES)
@pytest.mark.combinations
def test_each_kind_of_bounds_is_drawn_in_its_own_units(pyplot, kind, side):
    bounds, _, texts = SIDES[kind]
    display = NoisyCountsDisplay(
        np.arange(144).reshape(12, 12), **{"feature_bounds" if side == "x" else "target_bounds": bounds}, noise_scale=2
    ).plot()
    written = written_at(getattr(display.ax_, f"{side}axis"))
    assert set(texts) <= set(written), written
    assert list(written.values()) == sorted(written.values())


def test_numbers_are_written_where_the_parts_have_them(pyplot):
    """A value lies as far along a side as the share of parts that hold less."""
    for kind in ("log", "log of both signs", "knots"):
        bounds, below, _ = SIDES[kind]
        display = NoisyCountsDisplay(np.zeros((12, 2)), feature_bounds=bounds).plot()
        left, right = display.ax_.get_xlim()
        places = {float(text): place for text, place in written_at(display.ax_.xaxis).items()}
        for value, n_below in below.items():
            assert (places[value] - left) / (right - left) * 12 == pytest.approx(n_below)
    # sign(x) ln(1 + |x|), so 99 is two thirds of the way from 0 to 999
    display = NoisyCountsDisplay(np.zeros((12, 2)), feature_bounds=(0, 999, "log")).plot()
    right, places = display.ax_.get_xlim()[1], written_at(display.ax_.xaxis)
    assert places["10"] / right == pytest.approx(np.log(11) / np.log(1000))


def test_a_range_of_dates_or_durations_is_drawn_in_days_and_hours(pyplot):
    for kind in ("dates", "durations"):
        bounds, below, _ = SIDES[kind]
        display = NoisyCountsDisplay(np.zeros((12, 2)), feature_name="stay", feature_bounds=bounds).plot()
        left, right = in_order_of_values(list(bounds), bounds)
        assert display.ax_.get_xlim() == pytest.approx((left, right))
        for value, n_below in below.items():
            (place,) = in_order_of_values([value], bounds)
            assert (place - left) / (right - left) * 12 == pytest.approx(n_below, abs=0.1)
    assert display.ax_.get_xlabel() == "stay (hours)"


@pytest.mark.few
@pytest.mark.parametrize(
    "bounds",
    [
        (0, 1e-300),
        (-8e307, 8e307),
        (1e15, 1e15 + 2),
        (0, 1e-300, "log"),
        (1e15, 1e15 + 2, "log"),
        (-8e307, 8e307, "log"),
        [1e300, 2e300, 1e301],
        (np.datetime64("-5000-01-01"), np.datetime64("20000-01-01")),
        (np.datetime64(-(2**62), "D"), np.datetime64(2**62, "D")),
        (np.datetime64("2020-01-01T00:00:00.000000"), np.datetime64("2020-01-01T00:00:00.000002")),
        (np.timedelta64(0, "as"), np.timedelta64(2, "as")),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_bounds_of_any_size_are_drawn(pyplot, bounds):
    display = NoisyCountsDisplay(np.arange(20).reshape(5, 4), feature_bounds=bounds, target_bounds=bounds).plot()
    display.figure_.canvas.draw()
    for ends in (display.ax_.get_xlim(), display.ax_.get_ylim()):
        assert ends[0] < ends[1]
        assert np.isfinite(ends).all()


def mixed_table():
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {
            "age": rng.uniform(0, 100, 300),
            "income": rng.lognormal(10, 1, 300),
            "score": rng.uniform(0, 100, 300),
            "admitted": pandas.Timestamp("2024-01-01") + pandas.to_timedelta(rng.integers(0, 365, 300), unit="D"),
            "stay": pandas.to_timedelta(rng.integers(1, 48, 300), unit="h"),
        }
    )
    bounds = {
        "age": (0, 100),
        "income": (0, 10**6, "log"),
        "score": [0, 20, 50, 100],
        "admitted": (pandas.Timestamp("2024-01-01"), pandas.Timestamp("2025-01-01")),
        "stay": (pandas.Timedelta(0), pandas.Timedelta(hours=48)),
    }
    return frame, bounds


TARGETS = {
    "range": ("age", {"target_bounds": (0, 100)}),
    "log": ("income", {"target_bounds": (0, 10**6, "log")}),
    "knots": ("score", {"target_bounds": [0, 20, 50, 100]}),
    "dates": ("admitted", {"target_bounds": (pandas.Timestamp("2024-01-01"), pandas.Timestamp("2025-01-01"))}),
    "classes": ("stay", {"classes": [False, True]}),
}


@pytest.mark.few
@pytest.mark.parametrize("target", TARGETS)
def test_what_was_fitted_can_be_drawn_whatever_its_bounds(pyplot, target):
    frame, bounds = mixed_table()
    name, public = TARGETS[target]
    y = frame[name] if target != "classes" else frame[name] > pandas.Timedelta(hours=10)
    scorer = DPMICScorer(epsilon=10, mechanism="geometric", bounds=bounds, **public, B=12, c=2).fit(frame, y)
    for feature in frame.columns if target == "range" else frame.columns[-1:]:
        display = NoisyCountsDisplay.from_estimator(scorer, feature)
        display.figure_.canvas.draw()
        assert display.ax_.get_xlabel().startswith(feature)
    assert {float(text) for text in written_at(display.ax_.xaxis)} >= {0, 1, 2}  # days
    expected = {"log": "10", "knots": "50", "classes": "True", "dates": "2024", "range": "40"}[target]
    assert expected in {text.replace("\n", "") for text in written_at(display.ax_.yaxis)}


def test_the_axes_are_those_of_the_fit_whatever_is_set_later(pyplot):
    X = np.random.default_rng(0).random((100, 2))
    public = {"bounds": (0, 9, "log"), "target_bounds": (0, 99, "log")}
    scorer = DPMICScorer(epsilon=5, mechanism="geometric", B=12, c=2, **public).fit(X, X[:, 0])
    scorer.set_params(bounds="nonsense", target_bounds=None)
    display = NoisyCountsDisplay.from_estimator(scorer, 1)
    assert {"0", "9"} <= written_at(display.ax_.xaxis).keys()
    assert {"0", "99"} <= written_at(display.ax_.yaxis).keys()


def test_the_axes_of_a_sketch_are_drawn_where_the_estimator_does_not_have_them(pyplot):
    X = np.random.default_rng(0).random((100, 2))
    options = {"epsilon": 5, "mechanism": "geometric"}
    sketch = DPMICScorer(bounds=(0, 9, "log"), classes=["no", "yes"], B=12, c=2, **options).empty_sketch(
        100, n_features=2
    )
    sketch.update(X, np.where(X[:, 0] > 0.5, "yes", "no"))
    display = NoisyCountsDisplay.from_estimator(DPMICScorer(**options).fit_sketch(sketch), 0)
    assert {"0", "9"} <= written_at(display.ax_.xaxis).keys()
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["no", "yes"]


@pytest.mark.filterwarnings("ignore::skdpmic._utils.errors.PrivacyLeakWarning")
def test_a_range_that_was_read_from_the_data_is_not_kept(pyplot):
    X = np.random.default_rng(0).random((100, 2))
    public = {"bounds": "data", "target_bounds": "data"}
    scorer = DPMICScorer(epsilon=5, mechanism="geometric", B=12, c=2, **public).fit(X, X[:, 0])
    display = NoisyCountsDisplay.from_estimator(scorer, 0)
    n_parts = scorer.noisy_counts_.shape[1]
    assert tuple(display.image_.get_extent()) == (0, n_parts, -0.5, n_parts - 0.5)


def test_bounds_that_cannot_be_are_refused_before_anything_is_drawn(pyplot):
    with pytest.raises(ValueError, match="feature_bounds must be"):
        NoisyCountsDisplay(np.zeros((2, 3)), feature_bounds=(1, 0)).plot()
    assert not pyplot.get_fignums()
