"""p-values of Kendall with known or learnt shares of two classes: their power and their level."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from benchmarks import significance
from skdpmic import BudgetLedger, DPMICScorer, DPMICSelector, PrivateSelectKBest, dp_mic_classif

CLASSES = {"classes": [0, 1]}


def rare_class(n=2000, share=0.05, effect=0.5, d=4, seed=0):
    """A table with a rare class, which affects only the first feature."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < share * n).astype(int)
    X = rng.normal(size=(n, d))
    X[:, 0] += effect * y
    return X, y


# --- Past defects -----------------------------------------------------------------------------------------------------


def test_without_noise_or_ties_the_p_value_is_that_of_mann_and_whitney():
    """Within 5 standard errors of 9,999 simulations; the tie-free distribution gives .28, Mann and Whitney 2e-4."""
    X, y = rare_class(effect=0.2)
    scorer = DPMICScorer(statistic="kendall", epsilon=math.inf, **CLASSES).fit(X, y)
    expected = np.array([stats.mannwhitneyu(x[y == 1], x[y == 0]).pvalue for x in X.T])
    assert (np.abs(scorer.p_values() - expected) <= 5 * np.sqrt(expected / 9999) + 2e-4).all()


@pytest.mark.slow
@pytest.mark.parametrize(("target", "less"), [("numbers", 0.1), ("half", 0.1), ("5% class", 0.1)])
def test_without_noise_nearly_as_many_features_are_found_as_by_the_usual_test(target, less):
    """12 tables of 2,000 records with 10 real features of 100: on average, at most .1 less, and at least half."""
    for effect in significance.EFFECTS[target]:
        found = significance.found_without_noise("kendall", target, effect, 12, np.random.default_rng(3))
        mine, false, usual = found.mean(axis=0)
        assert mine >= usual - less
        assert mine >= 0.5
        assert false <= 0.1 + 2 * found[:, 1].std(ddof=1) / math.sqrt(12)


@pytest.mark.few
@pytest.mark.parametrize("target", ["numbers, features of 3%", "half, features of 3%"])
def test_p_values_find_no_features_with_rare_values_as_the_guide_says(target):
    """4 tables with the weaker effect. If this improves, update docs/choose/significance.md."""
    effect = significance.EFFECTS[target][0]
    found = significance.found_without_noise("kendall", target, effect, 4, np.random.default_rng(0))
    assert found[:, 0].mean() < 0.05


# --- Learnt and public shares -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_learnt_shares_cost_15_per_cent_and_make_p_values_smaller(tmp_path):
    X, y = rare_class(20_000, effect=0.3)
    ledger = BudgetLedger(tmp_path / "budget.db", 100.0)
    given = {"statistic": "kendall", "epsilon": 5.0, "ledger": ledger, **CLASSES}
    plain = DPMICScorer(**given).fit(X, y)
    learnt = DPMICScorer(target_shares="learn", **given).fit(X, y)
    assert not hasattr(plain, "target_shares_")
    assert learnt.noise_scale_ == pytest.approx(plain.noise_scale_ / 0.85, rel=1e-3)
    assert plain.privacy_spent_ == learnt.privacy_spent_ == (5.0, 0.0)
    assert [entry.epsilon_of_target for entry in ledger.entries()] == [None, 0.75]
    lower, upper = learnt.target_shares_interval(0.999999)
    assert lower[1] <= y.mean() <= upper[1]
    assert plain.scores_[0] == pytest.approx(learnt.scores_[0], abs=20 * learnt.noise_scale_)
    assert learnt.p_values()[0] <= 2e-4 < plain.p_values()[0]


def test_public_shares_cost_nothing_and_work_as_well():
    X, y = rare_class(20_000, effect=0.3)
    for shares, classes in (([0.95, 0.05], [0, 1]), ([0.05, 0.95], [1, 0])):
        known = DPMICScorer(statistic="kendall", epsilon=5.0, target_shares=shares, classes=classes).fit(X, y)
        plain = DPMICScorer(statistic="kendall", epsilon=5.0, **CLASSES).fit(X, y)
        assert known.noise_scale_ == plain.noise_scale_
        assert known.target_shares_.tolist() == [0.95, 0.05]
        assert known.p_values()[0] <= 2e-4 < plain.p_values()[0]


@pytest.mark.parametrize("rows", [1, 3])
def test_the_count_of_a_class_has_noise_for_all_rows_of_a_person(rows):
    X, y = rare_class(600, share=0.3)
    given = {"statistic": "kendall", "epsilon": 2.0, "target_shares": "learn", "max_rows_per_group": rows, **CLASSES}
    learnt = DPMICScorer(**given).fit(X, y, groups=np.arange(600) // 3)
    assert learnt._target_shares.scale == rows / (Fraction(3, 20) * 2)
    assert learnt._target_shares.n == 200 * rows


def test_fdr_with_class_shares_uses_benjamini_and_hochberg():
    """Because the error of a learnt count does not affect scores, except through its cost."""
    X, y = rare_class(20_000, effect=0.3, d=6)
    for shares in ("learn", [0.95, 0.05], None):
        selector = DPMICSelector(fdr=0.2, statistic="kendall", epsilon=5.0, target_shares=shares, **CLASSES).fit(X, y)
        selector.scores_ = np.linspace(0.0, 0.02, 6)
        by_bh = stats.false_discovery_control(selector.p_values()) <= 0.2
        assert selector.get_support().tolist() == by_bh.tolist()


def test_fdr_with_mtv_r_and_learnt_shares_uses_benjamini_and_yekutieli():
    X, y = rare_class(2000)
    selector = DPMICSelector(fdr=0.2, epsilon=50.0, statistic="mtv_r", bounds=(-4, 4), **CLASSES).fit(X, y)
    assert selector._null_model.measure.has_common_error
    selector.scores_ = np.linspace(0.1, 0.35, 4)
    by_by = stats.false_discovery_control(selector.p_values(), method="by") <= 0.2
    assert selector.get_support().tolist() == by_by.tolist()


def test_a_seed_gives_the_same_scores_whether_shares_are_public_or_not():
    X, y = rare_class()
    given = {"statistic": "kendall", "epsilon": 3.0, "random_state": 1, **CLASSES}
    with pytest.warns(UserWarning, match="random_state"):
        plain, known = (DPMICScorer(target_shares=s, **given).fit(X, y).scores_ for s in (None, [0.9, 0.1]))
    assert plain.tolist() == known.tolist()


WRONG = [
    ({"statistic": "kendall", "target_shares": "learn"}, "target_shares must be None with statistic='kendall'"),
    ({"statistic": "chatterjee", "target_shares": "learn", **CLASSES}, "target_shares must be None with statistic="),
    ({"statistic": "kendall", "target_shares": "some", **CLASSES}, "target_shares must be 2 numbers above 0"),
    ({"statistic": "kendall", "target_shares": [0.2, 0.7], **CLASSES}, "target_shares must be 2 numbers above 0"),
    ({"statistic": "mtv_r", "bounds": (0, 1), "target_shares": "learn", **CLASSES}, "target_shares must be 2 numbers"),
]


@pytest.mark.parametrize(("given", "message"), WRONG)
def test_shares_that_do_not_describe_two_classes_are_refused_before_the_charge(given, message, tmp_path):
    X, y = rare_class()
    ledger = BudgetLedger(tmp_path / "budget.db", 1.0)
    with pytest.raises(ValueError, match=message):
        DPMICScorer(ledger=ledger, **given).fit(X, y)
    assert not ledger.entries()


def test_names_have_no_p_values_and_so_no_use_for_shares():
    X, y = rare_class()
    with pytest.raises(ValueError, match="target_shares must be None with statistic='kendall'"):
        PrivateSelectKBest(k=1, statistic="kendall", target_shares=[0.9, 0.1], **CLASSES).fit(X, y)


def test_functions_take_shares_too():
    X, y = rare_class()
    scores = dp_mic_classif(X, y, epsilon=1.0, statistic="kendall", target_shares="learn", **CLASSES)
    assert scores.shape == (4,)


# --- What may be known about ties -------------------------------------------------------------------------------------


def test_only_without_noise_do_p_values_use_which_features_have_no_ties():
    X, y = rare_class()
    X[:, 1] = X[:, 1].round(1)
    numbers, rounded, untied = X[:, 2] + X[:, 3], X[:, 1], [True, False, True, True]
    for target, classes, expected in ((y, CLASSES, untied), (numbers, {}, untied), (rounded, {}, [False] * 4)):
        exact = DPMICScorer(statistic="kendall", epsilon=math.inf, **classes).fit(X, target)
        assert exact._null_model.is_untied.tolist() == expected
        noisy = DPMICScorer(statistic="kendall", epsilon=1e9, **classes).fit(X, target)
        assert not noisy._null_model.is_untied.any()
        assert not hasattr(noisy, "target_shares_")


# --- The level --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", significance.OF_CLASSES)
def test_the_level_is_kept_with_learnt_shares(kind):
    """1,000 tables of 100 records for each epsilon: at most 5% plus three standard errors."""
    shares = significance.shares_below("kendall", kind, 100, (0.1, 1.0, 10.0, math.inf), 1000, np.random.default_rng(0))
    assert max(shares) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 1000)


def test_the_level_is_attained_without_noise():
    """Of 1,000 features without ties, 5% have p-values of .05 or less, within four standard errors."""
    X, y = rare_class(400, effect=0.0, d=1000, seed=5)
    p_values = DPMICScorer(statistic="kendall", epsilon=math.inf, **CLASSES).fit(X, y).p_values()
    assert abs((p_values <= 0.05).mean() - 0.05) < 4 * math.sqrt(0.05 * 0.95 / 1000)
