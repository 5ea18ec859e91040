"""Curves show what `plan_release` states, with a mark where a release becomes usable."""

import numpy as np
import pytest

from skdpmic import plan_release
from skdpmic.plotting import PlanDisplay
from tests.plotting.shown import legend
from tests.select_names import SelectNames

SIZES = [200, 1000, 5000]


def planned(release, statistic, **public):
    rows = [row for row in plan_release(**public) if (row.release, row.statistic) == (release, statistic)]
    return min(rows, key=lambda row: (row.n_samples, row.error))


@pytest.mark.slow
@pytest.mark.parametrize("show", ["error", "found"])
@pytest.mark.parametrize(
    "release, k, public",
    [
        ("names", 3, {}),
        ("scores", 3, {}),
        ("scores", 3, {"delta": 1e-6}),
        ("names", 3, {"n_classes": 2}),
    ],
)
@pytest.mark.combinations
def test_each_curve_matches_the_plan(pyplot, release, k, public, show):
    public = public | {"n_features": 40, "k": k}
    options = {"statistic": "mtv_r", "epsilons": (0.1, 2), "n_samples": SIZES, "release": release, "show": show}
    display = PlanDisplay.from_plan(**public, **options)
    for line, epsilon in zip(display.lines_, (0.1, 2), strict=True):
        rows = [planned(release, "mtv_r", n_samples=n, epsilon=epsilon, **public) for n in SIZES]
        np.testing.assert_array_equal(line.get_xdata(), SIZES)
        np.testing.assert_array_equal(line.get_ydata(), [getattr(row, show) for row in rows])


@pytest.mark.slow
def test_a_curve_matches_the_noise_of_a_fit(pyplot):
    display = PlanDisplay.from_plan(n_features=2, k=1, statistic="kendall", epsilons=[1], n_samples=[50])
    X = np.random.default_rng(0).random((50, 2))
    selector = SelectNames(k=1, statistic="kendall").fit(X, X[:, 0])
    row = planned("names", "kendall", n_samples=50, epsilon=1, n_features=2, k=1)
    assert row.noise_scale == selector.noise_scale_
    assert display.values.tolist() == [[row.error]]


@pytest.mark.slow
@pytest.mark.parametrize("usable", [None, 0.02])
def test_a_mark_shows_where_the_error_becomes_usable(pyplot, usable):
    options = {"epsilons": (0.1, 1), "n_samples": [100, 100_000], "usable": usable}
    display = PlanDisplay.from_plan(n_features=20, k=5, statistic="mtv_r", **options)
    error = usable or 0.1
    enough = [planned("names", "mtv_r", error=error, epsilon=e, n_features=20, k=5).n_samples for e in (0.1, 1)]
    assert display.enough == enough
    assert [mark.get_xydata()[0].tolist() for mark in display.enough_] == [[n, error] for n in enough]
    assert [f"ε = {e}: usable from n = {n:,}" for e, n in zip((0.1, 1), enough, strict=True)] == [
        text for text in legend(display) if text.startswith("ε")
    ]
    assert display.usable_.get_extents().transformed(display.ax_.transData.inverted()).y1 == pytest.approx(error)


def test_the_error_axis_ends_at_1_the_range_of_a_score(pyplot):
    display = PlanDisplay.from_plan(n_features=20, k=5, statistic="mtv_r", epsilons=(0.01,), n_samples=[10, 1000])
    assert display.values.max() > 1
    assert display.ax_.get_ylim()[1] == 1


def test_a_mark_shows_where_enough_is_found(pyplot):
    display = PlanDisplay.from_plan(
        n_features=100, k=5, statistic="mtv_r", epsilons=(0.001, 30), n_samples=SIZES, show="found"
    )
    never, first = display.values
    assert never.max() < 0.9
    assert display.enough == [None, SIZES[int(np.argmax(first >= 0.9))]]
    assert display.enough_[0] is None
    assert "ε = 0.001" in legend(display)
    assert "found by a random choice" in legend(display)
    assert display.at_random == 0.05
    y0, y1 = display.usable_.get_extents().transformed(display.ax_.transData.inverted()).intervaly
    assert y0 == pytest.approx(0.9)
    assert y1 >= 1


def test_curves_differ_by_more_than_colour(pyplot):
    display = PlanDisplay.from_plan(n_features=5, statistic="kendall", epsilons=(0.1, 0.3, 1, 3), n_samples=SIZES)
    for style in ("get_linestyle", "get_marker", "get_color"):
        assert len({getattr(line, style)() for line in display.lines_}) == 4


@pytest.mark.slow
def test_defaults_match_a_selector_and_range_from_a_hundred_to_a_million_records(pyplot):
    display = PlanDisplay.from_plan(n_features=5, k=2, epsilons=[1])
    assert display.title == "mtv_r, best 2 of 5 features"
    assert (display.n_samples.min(), display.n_samples.max(), len(display.n_samples)) == (100, 1_000_000, 25)
    assert PlanDisplay.from_plan(n_features=5, statistic="kendall").title == "kendall, scores of 5 features"


def test_people_are_planned_for_and_unavailable_curves_are_refused(pyplot):
    groups = {"statistic": "mtv_r", "epsilons": [1], "n_samples": SIZES, "n_features": 5}
    display = PlanDisplay.from_plan(**groups, max_rows_per_group=3)
    assert (display.values[0] >= PlanDisplay.from_plan(**groups).values[0]).all()
    assert PlanDisplay.from_plan(**groups, max_rows_per_group=3, show="found", k=2).values[0].max() > 0.5
    with pytest.raises(ValueError, match=r"show='error' is not available .* statistic='kendall', n_classes=3"):
        PlanDisplay.from_plan(**groups | {"statistic": "kendall"}, n_classes=3)


def test_the_display_is_drawn_on_given_axes_and_again(pyplot):
    _, (left, right) = pyplot.subplots(1, 2)
    display = PlanDisplay.from_plan(n_features=5, statistic="kendall", epsilons=[1], n_samples=SIZES, ax=left)
    assert display.ax_ is left
    assert left.get_legend() is not None
    assert display.plot(right) is display
    assert display.ax_ is right


@pytest.mark.parametrize(
    "options, message",
    [
        ({"statistic": "pearson"}, "statistic must be one of 'mic_r', .*got 'pearson'"),
        ({"release": "all"}, "release must be 'scores' or 'names', got 'all'"),
        ({"release": "names"}, "k must be given"),
        ({"show": "found"}, "k must be given"),
        ({"show": "noise"}, "show must be 'error' or 'found', got 'noise'"),
        ({"usable": 0}, r"usable must be a number in \[1e-06, 1\], got 0"),
        ({"epsilons": 1}, "epsilons must be a sequence of numbers > 0, got 1"),
        ({"epsilons": []}, "epsilons must be a sequence"),
        ({"epsilons": [1, -1]}, "epsilon must be a number > 0"),
        ({"epsilons": [np.inf]}, "epsilon must be finite"),
        ({"n_samples": [100.5]}, "n_samples must be a sequence of ints >= 4"),
        ({"n_samples": [3]}, "n_samples must be an int >= 4, got 3"),
        ({"n_features": 0}, "n_features must be an int >= 1, got 0"),
        ({"delta": 2}, "delta must be a number"),
        ({"k": 6}, "k must be at most n_features=5, got 6"),
    ],
)
def test_what_cannot_be_planned_is_refused(pyplot, options, message):
    with pytest.raises(ValueError, match=message):
        PlanDisplay.from_plan(**{"n_features": 5, "epsilons": [1], "n_samples": SIZES} | options)
    assert not pyplot.get_fignums()
