"""Bars show the released scores; intervals and shading show the released noise."""

from itertools import pairwise

import numpy as np
import pandas
import pytest
from sklearn.exceptions import NotFittedError

from skdpmic import DPMICScorer, DPMICSelector, PrivateSelectKBest
from skdpmic._utils.texts import in_short
from skdpmic.plotting import ScoresDisplay
from skdpmic.plotting.figures import CHOSEN
from tests.plotting.shown import labels, legend

colors = pytest.importorskip("matplotlib.colors")

PUBLIC = {"statistic": "mtv_r", "bounds": (0, 1), "target_bounds": (0, 1)}

DEFAULTS = {DPMICScorer: {}, DPMICSelector: {"k": 3}}


def data(n_features=6, n=400):
    X = np.random.default_rng(0).random((n, n_features))
    return X, X[:, 0]


def fitted(estimator=DPMICScorer, n_features=6, **parameters):
    return estimator(**PUBLIC | DEFAULTS.get(estimator, {}) | parameters).fit(*data(n_features))


def widths(display):
    return [bar.get_width() for bar in display.bars_]


def ends_of_intervals(display):
    _, _, (lines,) = display.intervals_
    return np.array([segment[:, 0] for segment in lines.get_segments()])


MECHANISMS = {"laplace": {}, "gaussian": {"mechanism": "gaussian", "delta": 1e-6}, "k-norm": {"mechanism": "k-norm"}}


@pytest.mark.parametrize("confidence", [0.5, 0.95])
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("estimator", [DPMICScorer, DPMICSelector])
@pytest.mark.combinations
def test_bars_are_the_released_scores_best_first_with_their_intervals(pyplot, estimator, mechanism, confidence):
    fit = fitted(estimator, epsilon=20.0, **MECHANISMS[mechanism])
    display = ScoresDisplay.from_estimator(fit, confidence=confidence)
    order = np.argsort(fit.ranking_)
    np.testing.assert_array_equal(widths(display), fit.scores_[order])
    np.testing.assert_allclose([bar.get_y() + bar.get_height() / 2 for bar in display.bars_], range(6))
    np.testing.assert_allclose(ends_of_intervals(display), np.transpose(fit.scores_interval(confidence))[order])
    assert labels(display) == [f"feature {j}" for j in order]
    assert display.ax_.yaxis_inverted()
    assert display.figure_ is display.ax_.figure


@pytest.mark.parametrize("confidence", [0.5, 0.95])
@pytest.mark.parametrize("mechanism", MECHANISMS)
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


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_intervals_and_noise_can_be_simultaneous_for_all_features(pyplot, mechanism):
    fit = fitted(epsilon=20.0, **MECHANISMS[mechanism])
    display = ScoresDisplay.from_estimator(fit, simultaneous=True)
    expected = np.transpose(fit.scores_interval(simultaneous=True))[np.argsort(fit.ranking_)]
    np.testing.assert_allclose(ends_of_intervals(display), expected)
    assert display.noise_margin > ScoresDisplay.from_estimator(fit).noise_margin
    assert legend(display)[0].endswith("with 95% confidence (all)")
    learnt = "\nat the released target_shares_ and target_cut_"
    assert f"95% interval for all noise-free scores{learnt}" in legend(display)


def test_the_title_shows_the_statistic_and_the_cost_of_the_fit(pyplot):
    fit = fitted(epsilon=5.0, mechanism="gaussian", delta=1e-6)
    fit.set_params(statistic="kendall", epsilon=9.0, delta=0.1)
    assert ScoresDisplay.from_estimator(fit).ax_.get_title() == "mtv_r, ε = 5, δ = 1e-06"


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


def test_a_scorer_chooses_nothing(pyplot):
    display = ScoresDisplay.from_estimator(fitted())
    assert not any(bar.get_facecolor()[3] for bar in display.bars_)
    assert not {"chosen", "not chosen"} & set(legend(display))


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


def test_the_axis_ends_at_the_largest_possible_score(pyplot):
    intervals = ([0.9, 0.1], [1.0, 0.3])
    assert ScoresDisplay([0.98, 0.2], intervals=intervals).plot().ax_.get_xlim()[1] == 1


def test_names_of_any_kind_are_drawn_on_one_line(pyplot):
    names = ["$a_{$ and $", "Größe", "two\nlines", "a name that no phone is wide enough for", "<script>", "%s"]
    X, y = data()
    display = ScoresDisplay.from_estimator(DPMICScorer(**PUBLIC).fit(pandas.DataFrame(X, columns=names), y))
    display.figure_.canvas.draw()  # as a formula, the first would be an error
    assert set(labels(display)) == {
        r"\$a_{\$ and \$",
        "Größe",
        "two lines",
        "a name that no phone is…",
        "<script>",
        "%s",
    }


def scorer_of_kinds(**parameters):
    X, y = data(2)
    frame = pandas.DataFrame({"number": X[:, 0], "label": np.where(X[:, 1] > 0.5, "a", "b")})
    public = PUBLIC | {"statistic": "mic_r", "bounds": {"number": (0, 1)}, "categories": {"label": ["a", "b"]}}
    return DPMICScorer(**public | parameters).fit(frame, y)


NULL_SCORE = "null score: mean score of an\nunrelated column of this kind"


def test_if_columns_differ_in_kind_bars_and_intervals_show_the_score_above_chance(pyplot):
    scorer = scorer_of_kinds(epsilon=100.0)
    chance, order = scorer.null_scores_, np.argsort(scorer.ranking_)
    assert len(set(chance)) == 2
    display = ScoresDisplay.from_estimator(scorer)
    np.testing.assert_allclose(widths(display), np.clip(scorer.scores_ - chance, 0, 1 - chance.max())[order])
    ends = np.clip(np.array(scorer.scores_interval()) - chance, 0, 1 - chance.max())
    np.testing.assert_allclose(ends_of_intervals(display), ends.T[order])
    assert NULL_SCORE in legend(display)
    assert display.ax_.get_xlabel().startswith("score minus null score (noise scale ")


def test_if_all_columns_are_of_one_kind_nothing_is_subtracted(pyplot):
    display = ScoresDisplay.from_estimator(fitted())
    assert NULL_SCORE not in legend(display)
    assert display.ax_.get_xlabel().startswith("score (noise scale ")


@pytest.mark.parametrize("seed", range(20))
def test_no_bar_is_longer_than_one_above_it_after_chance_is_subtracted(pyplot, seed):
    """Features are ranked before their scores are clamped, and many clamped scores are 0 or 1."""
    rng = np.random.default_rng(seed)
    unclamped, chance = rng.uniform(-0.5, 1.5, 12), rng.choice([0.01, 0.05], 12)
    ranking = 1 + np.argsort(np.argsort(chance - unclamped))
    display = ScoresDisplay(np.clip(unclamped, 0, 1), ranking=ranking, null_scores=chance).plot()
    assert labels(display) == [f"feature {j}" for j in np.argsort(ranking)]
    assert np.all(np.diff(widths(display)) <= 0)
    assert min(widths(display)) == 0


def test_the_whole_legend_is_inside_the_figure(pyplot):
    display = ScoresDisplay.from_estimator(scorer_of_kinds(), max_features=1)
    display.figure_.canvas.draw()
    box, figure = display.figure_.legends[0].get_window_extent(), display.figure_.bbox
    assert box.x0 >= 0
    assert box.x1 <= figure.x1


def test_there_are_no_intervals_for_noise_on_counts_or_without_noise(pyplot):
    geometric = fitted(statistic="mic_r", mechanism="geometric")
    display = ScoresDisplay.from_estimator(geometric)
    assert display.intervals_ is None
    assert display.noise_ is None
    assert display.ax_.get_xlabel() == "score (from noisy counts, noise scale 12)"
    exact = ScoresDisplay.from_estimator(fitted(epsilon=np.inf))
    assert exact.intervals_ is None
    assert (exact.ax_.get_xlabel(), exact.ax_.get_title()) == ("score (without noise)", "mtv_r, ε = ∞")


def test_the_display_is_drawn_on_given_axes(pyplot):
    figure, (left, right) = pyplot.subplots(1, 2)
    display = ScoresDisplay.from_estimator(fitted(), ax=right)
    assert display.ax_ is right
    assert display.figure_ is figure
    assert right.get_legend() is not None
    assert not figure.legends
    assert display.plot(left) is display
    assert display.ax_ is left


def test_text_is_readable_on_a_dark_page(pyplot):
    with pyplot.style.context("dark_background"):
        display = ScoresDisplay.from_estimator(fitted())
        assert colors.same_color(display.bars_[0].get_edgecolor(), "white")
        assert colors.same_color(display.intervals_[2][0].get_color()[0], "white")


def test_a_release_without_scores_is_refused(pyplot):
    with pytest.raises(AttributeError, match=r"ScoresDisplay requires released scores, which DPMICScorer and"):
        ScoresDisplay.from_estimator(fitted(PrivateSelectKBest, k=2))
    with pytest.raises(NotFittedError):
        ScoresDisplay.from_estimator(DPMICScorer(**PUBLIC))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"max_features": 0}, "max_features must be an int >= 1, got 0"),
        ({"max_features": True}, "max_features must be an int >= 1, got True"),
        ({"confidence": 1}, r"confidence must be a number in \(0, 1\), got 1"),
    ],
)
def test_what_cannot_be_drawn_is_refused(pyplot, options, message):
    with pytest.raises(ValueError, match=message):
        ScoresDisplay.from_estimator(fitted(), **options)
    assert not pyplot.get_fignums()
