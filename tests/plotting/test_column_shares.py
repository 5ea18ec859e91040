"""Bars and lines show the released shares with their intervals, and suspicious columns are marked."""

import pickle

import numpy as np
import pytest

from skdpmic import Codebook, private_summary
from skdpmic.plotting import SummaryDisplay
from skdpmic.plotting.figures import CHOSEN, LIMIT, label_of
from tests.plotting.shown import labels, legend

pd = pytest.importorskip("pandas")
colors = pytest.importorskip("matplotlib.colors")
pytestmark = pytest.mark.filterwarnings("ignore:random_state")
ANSWERS = [f"answer {j}" for j in range(26)]
DAY, LAST = pd.Timestamp("2001-01-01"), pd.Timestamp("2001-12-31")
KINDS = {
    "number": (0, 110),
    "log": (1, 1e7, "log"),
    "knots": (0, 5, 20, 100),
    "date": (DAY, LAST),
    "date knots": (DAY, pd.Timestamp("2001-03-01"), LAST),
    "time": (DAY, DAY + pd.Timedelta("12h")),
    "duration": (pd.Timedelta(0), pd.Timedelta("8h")),
    "label": ["never", "sometimes", "always"],
    "many": ANSWERS,
    "some": ["a", "b", "c", "d", "e"],
    "boolean": "boolean",
}


def table(n=2000):
    rng = np.random.default_rng(0)
    part = rng.random(n)
    columns = {
        "number": 110 * part,
        "log": np.exp(16 * part),
        "knots": 90 * part,
        "date": DAY + pd.to_timedelta(364 * part, "D"),
        "date knots": DAY + pd.to_timedelta(364 * part, "D"),
        "time": DAY + pd.to_timedelta(12 * part, "h"),
        "duration": pd.to_timedelta(8 * part, "h"),
        "label": rng.choice(KINDS["label"], n),
        "many": rng.choice(ANSWERS, n),
        "some": rng.choice(KINDS["some"], n),
        "boolean": part < 0.3,
    }
    return pd.DataFrame(columns)


def summarise(codebook=KINDS, n=2000, **options):
    frame = table(n)
    return private_summary(frame[list(codebook)], Codebook(codebook), **{"epsilon": 1, "random_state": 0} | options)


def texts(display):
    return [text.get_text() for text in display.ax_.texts]


def test_bars_are_the_released_shares_side_by_side(pyplot):
    summary = summarise()
    display = SummaryDisplay.from_summary(summary)
    assert labels(display) == list(KINDS)
    assert all(drawn is column for drawn, column in zip(display.columns_, summary.columns, strict=True))
    for column, bars, flags in zip(summary.columns, display.bars_, display.flags_, strict=True):
        np.testing.assert_allclose([bar.get_height() for bar in bars], column.parts, atol=1e-12)
        np.testing.assert_allclose([bar.get_height() for bar in flags], column.flags, atol=1e-12)
        np.testing.assert_allclose(sum(bar.get_width() for bar in bars), 1)
        assert all(bar.get_x() > 1 for bar in flags)
    number, label = (display.bars_[list(KINDS).index(kind)] for kind in ("number", "label"))
    np.testing.assert_allclose([bar.get_width() for bar in number], [0.02, 0.08, *[0.1] * 9])
    np.testing.assert_allclose([bar.get_width() for bar in label], [1 / 3] * 3)
    assert display.ax_.get_title() == "2,000 records, ε = 1"


def test_lines_are_the_intervals_of_the_released_frame(pyplot):
    summary = summarise()
    display = SummaryDisplay.from_summary(summary)
    bars = [bar for row in zip(display.bars_, display.flags_, strict=True) for kind in row for bar in kind]
    lines = np.array(display.intervals_.get_segments())
    frame = summary.to_frame()
    parts_first = frame.assign(place=frame["column"].map(list(KINDS).index), is_flag=frame["kind"] == "flag")
    parts_first = parts_first.sort_values(["place", "is_flag"], kind="stable")
    floors = [bar.get_y() for bar in bars]
    np.testing.assert_allclose(lines[:, 0, 1] - floors, parts_first["lower"], atol=1e-12)
    np.testing.assert_allclose(lines[:, 1, 1] - floors, parts_first["upper"], atol=1e-12)
    np.testing.assert_allclose(lines[:, 0, 0], [bar.get_x() + bar.get_width() / 2 for bar in bars])
    widest = max(max(column.flag_margin, column.part_margin) for column in summary.columns)
    assert f"simultaneous 95% intervals, ± {widest:.0%}" in legend(display)


def test_rows_and_what_is_drawn_in_them_do_not_overlap(pyplot):
    display = SummaryDisplay.from_summary(summarise())
    floors = [bars[0].get_y() for bars in display.bars_]
    tops = np.array(display.intervals_.get_segments())[:, 1, 1]
    of_row = np.split(tops, np.cumsum([sum(column.cells.sizes) - 2 for column in display.columns_])[:-1])
    for top, floor_above in zip(of_row[1:], floors, strict=False):
        assert top.max() < floor_above
    lowest, highest = display.ax_.get_ylim()
    assert lowest < floors[-1]
    assert tops.max() < highest


def test_suspicious_columns_come_first_in_another_colour_and_with_a_mark(pyplot):
    summary = summarise(KINDS | {"label": ["Never", "Sometimes", "Always"], "number": (0, 55)})
    assert [column.name for column in summary.columns if column.suspicious] == ["number", "label"]
    display = SummaryDisplay.from_summary(summary)
    assert labels(display)[:3] == ["! number", "! label", "log"]
    for place, (tick, *drawn) in enumerate(
        zip(display.ax_.yaxis.get_major_ticks(), display.bars_, display.flags_, strict=True)
    ):
        is_suspicious = place < 2
        assert tick.label1.get_fontweight() == ("bold" if is_suspicious else "normal")
        colour = colors.to_rgba(LIMIT if is_suspicious else CHOSEN)
        assert {bar.get_facecolor() for bars in drawn for bar in bars} == {colour}
    assert {"suspicious: bold, with !", "nothing suspicious"} < set(legend(display))
    assert legend(SummaryDisplay.from_summary(summarise()))[-1] == "nothing suspicious"


def test_flags_are_labelled_with_their_share_if_it_exceeds_the_noise(pyplot):
    display = SummaryDisplay.from_summary(summarise({"number": (0, 55), "label": ["never", "often"]}, epsilon=np.inf))
    missing, below, above = display.columns_[0].flags
    assert (missing, below) == (0, 0)
    other = display.columns_[1].flags[1]
    assert [text for text in texts(display) if "%" in text] == [f"{above:.0%}", f"{other:.0%}"]
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["missing", "below", "above\nor other"]
    alone = SummaryDisplay.from_summary(summarise({"label": ["never", "sometimes", "always"]}, epsilon=np.inf))
    assert [label.get_text() for label in alone.ax_.get_xticklabels()] == ["missing", "other"]
    assert not [text for text in texts(alone) if "%" in text]


@pytest.mark.few
@pytest.mark.parametrize(
    "kind, shown",
    [
        ("number", ["0", "", "110"]),
        ("log", ["1", "(log)", "10000000"]),
        ("knots", ["0", "(knots)", "100"]),
        ("date", ["2001-01-01", "", "2001-12-31"]),
        ("time", ["2001-01-01", "", "12:00:00"]),
        ("duration", ["0:00:00", "", "8:00:00"]),
        ("label", ["never", "sometim…", "always"]),
        ("many", ["answer 0", "…", "answer …"]),
        ("date knots", ["2001-01-01", "…", "2001-12-31"]),
        ("some", ["a", "(5 labels)", "e"]),
        ("boolean", ["0", "1"]),
    ],
)
def test_each_kind_of_column_shows_its_ends_or_its_labels_below(pyplot, kind, shown):
    display = SummaryDisplay.from_summary(summarise({kind: KINDS[kind]}, epsilon=np.inf))
    assert texts(display) == shown
    display.figure_.canvas.draw()


@pytest.mark.slow
def test_only_some_of_many_columns_are_shown_and_the_title_says_so(pyplot):
    frame = pd.DataFrame(np.random.default_rng(0).random((500, 30)), columns=[f"item {j}" for j in range(30)])
    frame["item 29"] += 5
    summary = private_summary(frame, Codebook({"item *": (0, 1)}), epsilon=50, random_state=0)
    display = SummaryDisplay.from_summary(summary)
    assert labels(display) == ["! item 29", *(f"item {j}" for j in range(19))]
    assert display.ax_.get_title().endswith("\n20 of 30 columns, suspicious first")
    assert len(SummaryDisplay.from_summary(summary, max_columns=3).bars_) == 3
    assert len(display.plot(max_columns=30).bars_) == 30
    assert "\n" not in display.ax_.get_title()


def test_without_noise_there_are_no_intervals(pyplot):
    display = SummaryDisplay.from_summary(summarise(epsilon=np.inf))
    assert display.intervals_ is None
    assert not [text for text in legend(display) if "intervals" in text]


@pytest.mark.slow
def test_given_axes_are_used_and_have_the_legend_below_them(pyplot):
    figure, (left, right) = pyplot.subplots(1, 2, layout="constrained")
    display = SummaryDisplay.from_summary(summarise(), ax=right)
    assert display.ax_ is right
    assert display.figure_ is figure
    assert not figure.legends
    figure.canvas.draw()
    assert right.get_legend().get_window_extent().y1 <= right.get_window_extent().y0
    assert display.plot(left).ax_ is left


def test_text_is_readable_on_a_dark_page(pyplot):
    with pyplot.style.context("dark_background"):
        display = SummaryDisplay.from_summary(summarise())
        assert all(colors.same_color(text.get_color(), "white") for text in display.ax_.texts)
        assert colors.same_color(display.intervals_.get_color()[0][:3], "white")


def test_names_are_on_one_line_and_short(pyplot):
    name = "what people\nsaid of $ and so on"
    summary = private_summary(pd.DataFrame({name: np.arange(100)}), Codebook({name: (0, 100)}), epsilon=50)
    display = SummaryDisplay.from_summary(summary)
    assert labels(display) == [label_of(name, 20)]
    assert "\n" not in labels(display)[0]
    display.figure_.canvas.draw()


def test_a_display_keeps_only_what_was_released(pyplot):
    """No value of the table is in a pickle of the display."""
    frame = pd.DataFrame({"number": np.full(500, 0.123456789), "label": "a secret label"})
    summary = private_summary(frame, Codebook({"number": (0, 1), "label": ["public", "known"]}), epsilon=1)
    display = SummaryDisplay.from_summary(summary)
    assert all(a is b for a, b in zip(display.columns, summary.columns, strict=True))
    kept = pickle.dumps(display)
    assert b"public" in kept
    assert b"secret" not in kept
    assert np.float64(0.123456789).tobytes() not in kept


def test_what_cannot_be_drawn_is_refused(pyplot):
    with pytest.raises(TypeError, match="summary must be a PrivateSummary, got DataFrame"):
        SummaryDisplay.from_summary(summarise().to_frame())
    with pytest.raises(ValueError, match="max_columns must be an int >= 1, got 0"):
        SummaryDisplay.from_summary(summarise(), max_columns=0)
    assert not pyplot.get_fignums()
