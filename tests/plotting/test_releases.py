"""Bars show the released shares, scores and gaps; intervals and shading show the released noise."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from skdpmic import Codebook, DPMICScorer, DPMICSelector, PrivateSelectKBest, private_summary
from skdpmic._utils.texts import in_short
from skdpmic.plotting import GapsDisplay, ScoresDisplay, SummaryDisplay
from skdpmic.plotting.figures import CHOSEN, LIMIT, label_of
from tests.plotting.shown import assert_readable, labels, legend
from tests.tables import UNIT, refused

colors = pytest.importorskip("matplotlib.colors")
pytestmark = pytest.mark.filterwarnings("ignore:random_state")

PUBLIC = {"statistic": "mtv_r", "bounds": (0, 1), "target_bounds": (0, 1)}


def data(n_features=6, n=400):
    X = np.random.default_rng(0).random((n, n_features))
    return X, X[:, 0]


def fitted(estimator=DPMICScorer, n_features=6, **parameters):
    return estimator(**PUBLIC | parameters).fit(*data(n_features))


def widths(display):
    return [bar.get_width() for bar in display.bars_]


def ends_of_intervals(display):
    return np.array([segment[:, 0] for segment in display.intervals_.get_segments()])


MECHANISMS = {"laplace": {}, "gaussian": {"mechanism": "gaussian", "delta": 1e-6}, "k-norm": {"mechanism": "k-norm"}}


@pytest.mark.parametrize("confidence, mechanism", [(0.5, "laplace"), (0.95, "gaussian"), (0.95, "k-norm")])
def test_bars_are_the_released_scores_best_first_with_their_intervals(pyplot, mechanism, confidence):
    fit = fitted(epsilon=20.0, **MECHANISMS[mechanism])
    display = ScoresDisplay.from_estimator(fit, confidence=confidence)
    order = np.argsort(fit.ranking_)
    np.testing.assert_array_equal(widths(display), fit.scores_[order])
    np.testing.assert_allclose([bar.get_y() + bar.get_height() / 2 for bar in display.bars_], range(6))
    np.testing.assert_allclose(ends_of_intervals(display), np.transpose(fit.scores_interval(confidence))[order])
    assert labels(display) == [f"feature {j}" for j in order]
    assert display.ax_.yaxis_inverted()
    assert display.ax_.get_title().startswith("mtv_r, ε = 20")


@pytest.mark.parametrize("confidence", [0.5, 0.95])
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.combinations
def test_the_noise_is_shaded_up_to_its_quantile(pyplot, mechanism, confidence):
    """Up to a quantile of the noise distribution, except for rounding scores to a billionth."""
    fit = fitted(epsilon=5.0, **MECHANISMS[mechanism])
    display = ScoresDisplay.from_estimator(fit, confidence=confidence)
    law = fit._mechanism_of_scores("test").law
    left, right = display.noise_.get_extents().transformed(display.ax_.transData.inverted()).intervalx
    assert 2 * law.sf(right) == pytest.approx(1 - confidence, rel=1e-5)
    assert left == pytest.approx(-right)
    assert (
        legend(display)[0] == f"noise: at most ±{in_short(display.noise_margin)} with {100 * confidence:g}% confidence"
    )
    assert f"{fit.noise_scale_:.2g}" in display.ax_.get_xlabel()


def test_intervals_and_noise_can_be_simultaneous_for_all_features(pyplot):
    fit = fitted(epsilon=20.0)
    display = ScoresDisplay.from_estimator(fit, simultaneous=True)
    expected = np.transpose(fit.scores_interval(simultaneous=True))[np.argsort(fit.ranking_)]
    np.testing.assert_allclose(ends_of_intervals(display), expected)
    assert display.noise_margin > ScoresDisplay.from_estimator(fit).noise_margin
    assert legend(display)[0].endswith("with 95% confidence (all)")
    learnt = "\nat the released target_shares_ and target_cut_"
    assert f"95% interval for all noise-free scores{learnt}" in legend(display)


def test_chosen_features_differ_in_fill_and_font_weight_not_in_colour_alone(pyplot):
    selector = fitted(DPMICSelector, epsilon=50.0, k=2)
    display = ScoresDisplay.from_estimator(selector)
    chosen = selector.get_support()[np.argsort(selector.ranking_)]
    assert chosen.tolist() == [True, True, False, False, False, False]
    assert [bar.get_facecolor()[3] for bar in display.bars_] == [1, 1, 0, 0, 0, 0]  # hollow
    assert all(colors.same_color(bar.get_facecolor(), CHOSEN) for bar in display.bars_[:2])
    weights = [label.get_fontweight() for label in display.ax_.get_yticklabels()]
    assert weights == ["bold", "bold", "normal", "normal", "normal", "normal"]
    assert {"chosen", "not chosen"} <= set(legend(display))
    selector.set_params(k=1)  # costs nothing
    assert [bar.get_facecolor()[3] for bar in ScoresDisplay.from_estimator(selector).bars_] == [1, 0, 0, 0, 0, 0]


@pytest.mark.few
@pytest.mark.parametrize("n_features, max_features", [(1, 20), (20, 20), (21, 20), (500, 20), (500, 3)])
def test_the_best_are_shown_and_the_others_counted(pyplot, n_features, max_features):
    selector = fitted(DPMICSelector, n_features, k=min(5, n_features), statistic="kendall", epsilon=3.0)
    display = ScoresDisplay.from_estimator(selector, max_features=max_features)
    n_shown, order = min(n_features, max_features), np.argsort(selector.ranking_)
    np.testing.assert_array_equal(widths(display), selector.scores_[order[:n_shown]])
    expected = [f"feature {j}" for j in order[:n_shown]]
    if n_features > n_shown:
        rest = selector.get_support()[order[n_shown:]].sum()
        expected.append(f"and {n_features - n_shown} more" + (f", {rest} of them chosen" if rest else ""))
    assert labels(display) == expected
    bottom, top = display.ax_.get_ylim()
    assert top < 0 <= len(expected) - 1 < bottom
    display.figure_.canvas.draw()
    texts = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
    assert min(text.x0 for text in texts) >= 0  # nothing is cut off
    assert all(above.y0 > below.y0 for above, below in pairwise(texts))


def test_scores_below_0_are_drawn_as_they_are(pyplot):
    scores, intervals = [0.3, -0.2, 0.0], ([0.2, -0.3, -0.1], [0.4, -0.1, 0.1])
    display = ScoresDisplay(scores, intervals=intervals, noise_margin=0.1).plot()
    assert widths(display) == [0.3, 0.0, -0.2]
    left, right = display.ax_.get_xlim()
    assert left < -0.3
    assert right > 0.4
    np.testing.assert_allclose(ends_of_intervals(display), [[0.2, 0.4], [-0.1, 0.1], [-0.3, -0.1]])
    assert ScoresDisplay([0.0, 0.0]).plot().ax_.get_xlim()[1] > 0
    intervals = ([0.9, 0.1], [1.0, 0.3])  # 1 is the largest score there is
    assert ScoresDisplay([0.98, 0.2], intervals=intervals).plot().ax_.get_xlim()[1] == 1


def scorer_of_kinds(**parameters):
    X, y = data(2)
    frame = pd.DataFrame({"number": X[:, 0], "label": np.where(X[:, 1] > 0.5, "a", "b")})
    public = PUBLIC | {"statistic": "mic_r", "bounds": {"number": (0, 1)}, "categories": {"label": ["a", "b"]}}
    return DPMICScorer(**public | parameters).fit(frame, y)


def test_if_columns_differ_in_kind_bars_and_intervals_show_the_score_above_chance(pyplot):
    scorer = scorer_of_kinds(epsilon=100.0)
    chance, order = scorer.null_scores_, np.argsort(scorer.ranking_)
    assert len(set(chance)) == 2
    display = ScoresDisplay.from_estimator(scorer)
    np.testing.assert_allclose(widths(display), np.clip(scorer.scores_ - chance, 0, 1 - chance.max())[order])
    ends = np.clip(np.array(scorer.scores_interval()) - chance, 0, 1 - chance.max())
    np.testing.assert_allclose(ends_of_intervals(display), ends.T[order])
    null_score = "null score: mean score of an\nunrelated column of this kind"
    assert null_score in legend(display)
    assert null_score not in legend(ScoresDisplay.from_estimator(fitted()))
    assert display.ax_.get_xlabel().startswith("score minus null score (noise scale ")
    display.figure_.canvas.draw()
    box, figure = display.figure_.legends[0].get_window_extent(), display.figure_.bbox
    assert 0 <= box.x0 < box.x1 <= figure.x1


@pytest.mark.parametrize("seed", range(5))
def test_no_bar_is_longer_than_one_above_it_after_chance_is_subtracted(pyplot, seed):
    """Features are ranked before their scores are clamped, and many clamped scores are 0 or 1."""
    rng = np.random.default_rng(seed)
    unclamped, chance = rng.uniform(-0.5, 1.5, 12), rng.choice([0.01, 0.05], 12)
    ranking = 1 + np.argsort(np.argsort(chance - unclamped))
    display = ScoresDisplay(np.clip(unclamped, 0, 1), ranking=ranking, null_scores=chance).plot()
    assert labels(display) == [f"feature {j}" for j in np.argsort(ranking)]
    assert np.all(np.diff(widths(display)) <= 0)
    assert min(widths(display)) == 0


def test_there_are_no_intervals_for_noise_on_counts_or_without_noise(pyplot):
    geometric = fitted(statistic="mic_r", mechanism="geometric")
    display = ScoresDisplay.from_estimator(geometric)
    assert display.intervals_ is None
    assert display.noise_ is None
    assert display.ax_.get_xlabel() == "score (noise scale 12 on counts)"
    exact = ScoresDisplay.from_estimator(fitted(epsilon=np.inf))
    assert exact.intervals_ is None
    assert (exact.ax_.get_xlabel(), exact.ax_.get_title()) == ("score (without noise)", "mtv_r, ε = ∞")


# --- Gaps -----------------------------------------------------------------------------------------------------------


def names_of(k=3, n_features=6, **parameters):
    X = np.random.default_rng(0).random((400, n_features))
    return PrivateSelectKBest(k, **UNIT | {"criterion": "single"} | parameters).fit(X, X[:, 0])


def test_bars_are_the_released_gaps_between_the_features_in_their_order(pyplot):
    fit = names_of(epsilon=20.0)
    display = GapsDisplay.from_estimator(fit)
    np.testing.assert_array_equal([bar.get_width() for bar in display.bars_], fit.gaps_)
    np.testing.assert_allclose([bar.get_y() + bar.get_height() / 2 for bar in display.bars_], [0.5, 1.5])
    assert labels(display) == [f"feature {j}" for j in np.argsort(fit.ranking_, kind="stable")[:3]]
    assert display.ax_.get_title() == "mtv_r, ε = 20"


def test_gaps_beyond_the_noise_are_filled_and_the_legend_states_the_noise(pyplot):
    fit = names_of(epsilon=20.0)
    fit.gaps_ = np.array([10, 1]) * fit.noise_scale_  # possible values
    display = GapsDisplay.from_estimator(fit, confidence=0.95)
    margin = display.noise_margin
    assert margin == pytest.approx(fit.noise_scale_ * np.log(20), rel=1e-3)
    is_clear = [bar.get_facecolor() == colors.to_rgba(CHOSEN) for bar in display.bars_]
    assert is_clear == (fit.gaps_ > margin).tolist() == [True, False]
    assert legend(display) == [f"noise: at most {in_short(margin)} with 95% confidence", "clear", "may be noise"]
    assert GapsDisplay.from_estimator(fit, confidence=0.5).noise_margin < margin / 2


def test_one_feature_has_no_gap_and_only_the_best_of_many_are_shown(pyplot):
    alone = GapsDisplay.from_estimator(names_of(1, epsilon=np.inf))
    assert (len(alone.bars_), len(labels(alone)), alone.noise_, legend(alone)) == (0, 1, None, [])
    some = GapsDisplay([0.1] * 9).plot(max_features=4)
    assert (len(some.bars_), labels(some)) == (3, ["place 1", "place 2", "place 3", "place 4"])
    alone.figure_.canvas.draw()


# --- Summaries ------------------------------------------------------------------------------------------------------


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
    bars = [bar for row in zip(display.flags_, display.bars_, strict=True) for kind in row for bar in kind]
    lines, frame = np.array(display.intervals_.get_segments()), summary.to_frame()
    floors = [bar.get_y() for bar in bars]
    np.testing.assert_allclose(lines[:, 0, 1] - floors, frame["lower"], atol=1e-12)
    np.testing.assert_allclose(lines[:, 1, 1] - floors, frame["upper"], atol=1e-12)
    np.testing.assert_allclose(lines[:, 0, 0], [bar.get_x() + bar.get_width() / 2 for bar in bars])
    widest = max(max(column.flag_margin, column.part_margin) for column in summary.columns)
    explained = f"where bars may end without noise: ± {widest:.1%}\nor less, with 95% confidence for all"
    assert legend(display) == [explained, "height of 50% of the records", "nothing to check"]


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
    assert {"check this column: bold, with !", "nothing to check"} < set(legend(display))
    assert legend(SummaryDisplay.from_summary(summarise()))[-1] == "nothing to check"
    assert_readable(display)


def test_flags_are_labelled_with_their_share_if_it_exceeds_the_noise(pyplot):
    display = SummaryDisplay.from_summary(summarise({"number": (0, 55), "label": ["never", "often"]}, epsilon=np.inf))
    missing, below, above = display.columns_[0].flags
    assert (missing, below) == (0, 0)
    other = display.columns_[1].flags[1]
    assert [text for text in texts(display) if "%" in text] == [f"{above:.1%}", f"{other:.1%}"]
    flags = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert flags == ["missing", "below\nrange", "above\nrange\nor other"]
    assert display.intervals_ is None
    assert not [text for text in legend(display) if "without noise" in text]


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
        ("many", ["answer 0", "…", "answer 25"]),
        ("date knots", ["2001-01-01", "…", "2001-12-31"]),
        ("some", ["a", "(5 labels)", "e"]),
        ("boolean", ["0", "1"]),
    ],
)
def test_each_kind_of_column_shows_its_ends_or_its_labels_below(pyplot, kind, shown):
    display = SummaryDisplay.from_summary(summarise({kind: KINDS[kind]}, epsilon=np.inf))
    assert texts(display) == shown
    display.figure_.canvas.draw()


@pytest.mark.parametrize(
    "integers, shown", [(range(121), ["0", "(integers)", "120"]), (range(1, 5), ["1", "2", "3", "4"])]
)
def test_integers_show_their_ends_or_if_few_each_below(pyplot, integers, shown):
    frame = pd.DataFrame({"x": np.tile(list(integers), 40)})
    display = SummaryDisplay.from_summary(private_summary(frame, Codebook({"x": integers}), epsilon=np.inf))
    assert texts(display) == shown
    assert len(display.bars_[0]) == min(len(integers), 11)


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


# --- All three --------------------------------------------------------------------------------------------------------


def test_names_of_any_kind_are_drawn_on_one_line(pyplot):
    names = ["$a_{$ and $", "Größe", "two\nlines", "a name that no phone is wide enough for", "<script>", "%s"]
    X, y = data()
    display = ScoresDisplay.from_estimator(DPMICScorer(**PUBLIC).fit(pd.DataFrame(X, columns=names), y))
    assert set(labels(display)) == {label_of(name) for name in names}
    display.figure_.canvas.draw()  # as a formula, the first would be an error
    summary = private_summary(pd.DataFrame(X, columns=names), Codebook({"*": (0, 1)}), epsilon=50)
    display = SummaryDisplay.from_summary(summary)
    assert labels(display) == [label_of(name, 20) for name in names]
    display.figure_.canvas.draw()


def test_text_is_readable_on_a_dark_page(pyplot):
    with pyplot.style.context("dark_background"):
        display, summary = ScoresDisplay.from_estimator(fitted()), SummaryDisplay.from_summary(summarise())
        drawn = [display.bars_[0].get_edgecolor(), display.intervals_.get_color()[0]]
        drawn += [text.get_color() for text in summary.ax_.texts] + [summary.intervals_.get_color()[0][:3]]
        assert all(colors.same_color(color, "white") for color in drawn)


@pytest.mark.parametrize(
    "show, made, options, error, message",
    [
        (ScoresDisplay.from_estimator, fitted, {"max_features": 0}, ValueError, "max_features must be an int >= 1"),
        (ScoresDisplay.from_estimator, fitted, {"max_features": True}, ValueError, "max_features must be an int >= 1"),
        (ScoresDisplay.from_estimator, fitted, {"confidence": 1}, ValueError, r"confidence must be .* in \(0, 1\)"),
        (ScoresDisplay.from_estimator, names_of, {}, AttributeError, "ScoresDisplay requires released scores, which"),
        (ScoresDisplay.from_estimator, DPMICScorer, {}, NotFittedError, "not fitted"),
        (GapsDisplay.from_estimator, fitted, {}, AttributeError, "GapsDisplay requires released gaps, which PrivateS"),
        (GapsDisplay.from_estimator, lambda: PrivateSelectKBest(2), {}, NotFittedError, "not fitted"),
        (GapsDisplay.from_estimator, names_of, {"confidence": 1.0}, ValueError, "confidence must be a number"),
        (GapsDisplay.from_estimator, names_of, {"max_features": 0}, ValueError, "max_features must be an int >= 1"),
        (SummaryDisplay.from_summary, pd.DataFrame, {}, TypeError, "summary must be a PrivateSummary, got DataFrame"),
        (SummaryDisplay.from_summary, summarise, {"max_columns": 0}, ValueError, "max_columns must be an int >= 1"),
    ],
)
def test_what_cannot_be_drawn_is_refused(pyplot, show, made, options, error, message):
    released = made()
    with refused(error, message):
        show(released, **options)
    assert not pyplot.get_fignums()
