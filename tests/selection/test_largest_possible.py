"""Scores of classes do not reach 1: their share of the largest possible score, and thresholds relative to it."""

import numpy as np
import pytest

from skdpmic import DPMICScorer, DPMICSelector, PrivateSelectKBest

N, SHARE = 4000, 0.045
RARE = {"epsilon": 20, "statistic": "mtv_r", "bounds": (0, 1), "classes": [False, True]}
NOT_KNOWN = "threshold must be a number, because the largest possible score is not known"


@pytest.fixture(scope="module")
def rare():
    """Noise, a perfect predictor of a rare class, and a predictor of half of it."""
    rng = np.random.default_rng(0)
    y = np.arange(N) < SHARE * N
    half = y & (np.arange(N) % 2 == 0)
    return np.column_stack([rng.uniform(size=N), 0.2 + 0.6 * y, 0.2 + 0.6 * half]), y


def test_a_perfect_predictor_of_a_rare_class_reaches_the_largest_possible_score(rare):
    frame = DPMICScorer(**RARE).fit(*rare).to_frame().set_index("feature")
    assert frame.score[1] == pytest.approx(2 * SHARE, abs=0.01)
    assert frame.of_possible[[1, 2]].tolist() == pytest.approx([1, 0.5], abs=0.1)
    assert frame.of_possible[0] < 0.2


def test_the_interval_of_a_share_is_that_of_the_score_over_the_largest_possible_score(rare):
    scorer = DPMICScorer(**RARE | {"epsilon": 1}).fit(*rare)
    frame, largest = scorer.to_frame(), scorer.largest_possible_score_
    for of_possible, of_score in {"": "score", "_lower": "lower", "_upper": "upper"}.items():
        expected = np.minimum(frame[of_score] / largest, 1)
        np.testing.assert_allclose(frame[f"of_possible{of_possible}"], expected)


@pytest.mark.parametrize(
    "asked",
    [
        {"target_shares": [1 - SHARE, SHARE]},
        {"statistic": "kendall", "target_shares": [1 - SHARE, SHARE]},
        {"statistic": "mic_r", "target_shares": [1 - SHARE, SHARE]},
    ],
    ids=str,
)
def test_given_or_learnt_shares_determine_the_largest_possible_score(rare, asked):
    scorer = DPMICScorer(**RARE | asked).fit(*rare)
    assert scorer.largest_possible_score_ == pytest.approx(scorer.scores_[1], abs=0.03)
    assert scorer.scores_[1] == pytest.approx(0.26 if asked.get("statistic") == "mic_r" else 2 * SHARE, abs=0.03)


def test_shares_that_have_no_use_are_refused(rare):
    numbers = {"statistic": "kendall", "classes": None, "target_bounds": (0, 1)}
    for asked in (numbers, {"statistic": "mic_r", "mechanism": "geometric"}):
        with pytest.raises(ValueError, match="target_shares must be None with statistic="):
            DPMICScorer(**RARE | asked, target_shares=[1 - SHARE, SHARE]).fit(*rare)
    with pytest.raises(ValueError, match="target_shares must be None with statistic='kendall'"):
        PrivateSelectKBest(k=1, **RARE | {"statistic": "kendall"}, target_shares=[0.9, 0.1]).fit(*rare)
    for wrong in ("learn", [0.2, 0.7]):
        with pytest.raises(ValueError, match="target_shares must be 2 numbers above 0"):
            DPMICScorer(**RARE | {"statistic": "kendall"}, target_shares=wrong).fit(*rare)


def test_false_discoveries_are_controlled_where_shares_only_explain_scores(rare):
    asked = RARE | {"statistic": "mic_r", "target_shares": [1 - SHARE, SHARE]}
    assert DPMICSelector(**asked, fdr=0.1).fit(*rare).get_support()[1]


def test_with_weights_the_mean_weight_is_a_factor(rare):
    weighted = DPMICScorer(**RARE, max_weight=4).fit(*rare, sample_weight=np.ones(N))
    assert weighted.largest_possible_score_ == pytest.approx(2 * SHARE / 4, abs=0.005)
    assert weighted.to_frame().of_possible[0] == pytest.approx(1, abs=0.1)


NOTHING_KNOWN = [
    {"statistic": "mic_r"},
    {"statistic": "kendall"},
    {"classes": [False, True, 2, 3, 4]},
    {"classes": None, "target_bounds": (0, 1)},
    {"target_shares": [1 - SHARE, SHARE], "max_weight": 1},
]


@pytest.mark.parametrize("asked", NOTHING_KNOWN, ids=str)
def test_without_known_class_shares_no_largest_score_is_stated_or_usable_as_a_threshold(rare, asked, ledger):
    weights = {"sample_weight": np.ones(N)} if "max_weight" in asked else {}
    scorer = DPMICScorer(**RARE | asked).fit(*rare, **weights)
    assert not hasattr(scorer, "largest_possible_score_")
    assert "of_possible" not in scorer._result_columns()
    assert "possible" not in scorer._release_as_html()
    selector = DPMICSelector(**RARE | asked, threshold="0.5*possible", ledger=ledger)
    with pytest.raises(ValueError, match=NOT_KNOWN):
        selector.fit(*rare, **weights)
    assert ledger.spent() == (0, 0)
    selector.set_params(threshold=0.0).fit(*rare, **weights).set_params(threshold="0.5*possible")
    with pytest.raises(ValueError, match="threshold must be a number after this fit"):
        selector.get_support()


def test_a_threshold_relative_to_the_largest_possible_score_keeps_what_reaches_it(rare):
    selector = DPMICSelector(**RARE, threshold="0.75*possible").fit(*rare)
    assert selector.get_support(indices=True).tolist() == [1]
    assert selector.set_params(threshold="0.25 * possible").get_support(indices=True).tolist() == [1, 2]


@pytest.mark.parametrize(
    "threshold", ["possible", "2*possible", "-0.5*possible", "nan*possible", "0.5*mean", "0.5", ""]
)
def test_other_text_is_refused_as_a_threshold(rare, threshold):
    with pytest.raises(ValueError, match=r"threshold must be None, a number in \[0, 1\], or a share of the largest"):
        DPMICSelector(**RARE, threshold=threshold).fit(*rare)


def test_a_threshold_that_keeps_nothing_warns_with_the_largest_score_and_the_largest_possible(rare):
    selector = DPMICSelector(**RARE, threshold=0.2)
    with pytest.warns(UserWarning, match=r"no feature is kept by threshold=0.2: .* of 0\.0\d+ possible") as caught:
        selector.fit(*rare)
    assert f"the largest released score is {selector.scores_.max():.3g}," in str(caught[0].message)
    assert selector.set_params(threshold="0.5*possible").get_support().any()


@pytest.mark.filterwarnings("error:no feature is kept")
def test_the_release_is_kept_if_the_warning_that_nothing_is_kept_is_an_error(rare):
    selector = DPMICSelector(**RARE, threshold=0.2)
    with pytest.raises(UserWarning, match="no feature is kept"):
        selector.fit(*rare)
    assert selector.ranking_[1] == 1


def test_if_noise_hides_the_shares_no_share_of_the_largest_possible_score_is_stated(rare):
    drowned = DPMICSelector(**RARE | {"epsilon": 1e-6, "mechanism": "k-norm"}, threshold="0.5*possible")
    with pytest.warns(UserWarning, match="of 0 possible"):
        drowned.fit(*rare)
    assert drowned.largest_possible_score_ == 0
    assert drowned.to_frame()[["of_possible", "of_possible_lower", "of_possible_upper"]].isna().all(axis=None)
    assert not drowned.get_support().any()
