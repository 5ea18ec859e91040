"""p-values of a release, `fdr`, and scorers as score functions of scikit-learn's selectors."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest

from benchmarks import significance
from skdpmic import DPMICScorer, DPMICSelector
from skdpmic.privacy.mechanisms import GRID, CubeLaw
from tests.tables import UNIT

N, D, TRUE = 1000, 8, [1, 4]
ANY_STATISTIC = pytest.mark.parametrize("statistic", significance.TESTED)


@pytest.fixture(scope="module")
def table():
    """Two features are the target plus some noise; the others are independent of it."""
    rng = np.random.default_rng(0)
    X, y = rng.random((N, D)), rng.random(N)
    X[:, TRUE] = np.clip(y[:, np.newaxis] + 0.02 * rng.standard_normal((N, 2)), 0, 1)
    return X, y


@ANY_STATISTIC
def test_p_values_follow_from_the_scores_and_public_numbers_alone(statistic, table):
    """Even if the estimator's parameters change afterwards, or it is pickled."""
    scorer = DPMICScorer(statistic=statistic, epsilon=20.0, **UNIT).fit(*table)
    p_values = scorer.p_values().tolist()
    changed = {"statistic": "kendall", "B": 9, "c": 1, "correction": None, "mechanism": "gaussian", "delta": 0.1}
    scorer.set_params(**changed, epsilon=0.1, max_rows_per_group=3, bounds=(0, 9))
    assert scorer.p_values().tolist() == p_values
    assert pickle.loads(pickle.dumps(scorer)).p_values().tolist() == p_values
    scorer.scores_ = scorer.scores_[::-1].copy()
    assert scorer.p_values().tolist() == p_values[::-1]
    assert not hasattr(clone(scorer), "_public_for_p_values")


@pytest.mark.few
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian", "k-norm"])
@ANY_STATISTIC
def test_p_values_account_for_the_noise(statistic, mechanism, table):
    """With noise a hundred times stronger, the p-value of a score is large, and close to the tail of that noise."""
    delta = {"delta": 1e-6} if mechanism == "gaussian" else {}
    scorer = DPMICScorer(statistic=statistic, mechanism=mechanism, epsilon=200.0, **delta, **UNIT).fit(*table)
    sharp = scorer.p_values()
    scorer._noise = replace(scorer._noise, scale=round(0.5 / GRID))
    scorer.scores_ = np.full(D, 0.9)
    noise = {"laplace": stats.laplace(scale=0.5), "gaussian": stats.norm(scale=0.5), "k-norm": CubeLaw(D, 0.5)}
    assert sharp[TRUE].max() < 1e-3
    p_values = scorer.p_values()
    assert (p_values >= 0.9 * noise[mechanism].sf(0.9)).all()
    assert (p_values <= 1.1 * noise[mechanism].sf(0.9 - 0.3)).all()


def test_p_values_of_several_kinds_of_features_are_those_of_each_kind():
    rng = np.random.default_rng(0)
    X, y = rng.integers(3, size=(500, 4)).astype(float), rng.random(500)
    public = {"bounds": {0: (0, 2), 2: (0, 2)}, "categories": {1: [0, 1, 2], 3: [0, 1, 2]}, "target_bounds": (0, 1)}
    for statistic in ("mic_r", "mtv_r"):
        scorer = DPMICScorer(statistic=statistic, epsilon=math.inf, **public).fit(X, y)
        scorer.noise_scale_, scorer.scores_ = 0.05, np.full(4, 0.3)
        p_values = scorer.p_values()
        assert p_values[0] == p_values[2] != p_values[1] == p_values[3]


@pytest.mark.parametrize("statistic", ["mic_r", "mtv_r"])
def test_p_values_of_pieces_are_those_of_the_table(statistic, table):
    X, y = table
    whole = DPMICScorer(statistic=statistic, epsilon=math.inf, B=20, c=4, **UNIT).fit(X, y)
    sketch = clone(whole).empty_sketch(N, n_features=D).update(X, y)
    pieces = clone(whole).partial_fit(X[:600], y[:600]).partial_fit(X[600:], y[600:]).publish()
    for other in (clone(whole).fit_sketch(sketch), pieces):
        assert other.p_values().tolist() == whole.p_values().tolist()
    pieces.partial_fit(X, y)
    assert "_public_for_p_values" not in vars(pieces)


def test_if_there_are_no_p_values_the_error_says_why(table):
    X, y = table
    with pytest.raises(AttributeError, match="noise with a known distribution, and mechanism='geometric'"):
        DPMICScorer(mechanism="geometric", **UNIT).fit(X, y).p_values()
    people = np.arange(N) // 2
    with pytest.raises(
        AttributeError, match="several rows of one person are not: fit with max_rows_per_group=1, got 2"
    ):
        DPMICScorer(max_rows_per_group=2, **UNIT).fit(X, y, groups=people).p_values()
    with pytest.raises(AttributeError, match="of independent features, which is unknown for Kendall"):
        DPMICScorer(statistic="kendall").fit(X, y).p_values()


@pytest.mark.slow
@ANY_STATISTIC
def test_with_one_row_per_person_people_are_counted(statistic, table):
    """People with two rows each, of which one is drawn: the p-values are those of half as many records."""
    X, y = table
    given = {"statistic": statistic, "epsilon": math.inf, **UNIT}
    of_people = DPMICScorer(max_rows_per_group=1, **given).fit(X, y, groups=np.arange(N) // 2)
    of_half = DPMICScorer(**given).fit(X[::2], y[::2])
    of_half.scores_ = of_people.scores_.copy()
    assert of_people.p_values().tolist() == of_half.p_values().tolist()


# --- fdr --------------------------------------------------------------------------------------------------------------


@ANY_STATISTIC
def test_fdr_keeps_what_benjamini_and_hochberg_keep(statistic, table):
    X, y = table
    selector = DPMICSelector(k=1, fdr=0.2, statistic=statistic, epsilon=30.0, **UNIT).fit(X, y)
    assert selector.get_support()[TRUE].all()
    selector.scores_ = np.linspace(0.05, 0.16, D)  # some features are in between
    for level in (0.01, 0.15, 0.2, 0.7):
        kept = selector.set_params(fdr=level).get_support()
        ascending = np.sort(selector.p_values())
        passed = np.flatnonzero(ascending <= level * np.arange(1, D + 1) / D)
        assert kept.sum() == (passed[-1] + 1 if len(passed) else 0)
        assert selector.p_values()[kept].max(initial=0.0) <= ascending[max(kept.sum() - 1, 0)]


def test_fdr_with_noise_shared_by_features_keeps_what_benjamini_and_yekutieli_keep(table):
    selector = DPMICSelector(fdr=0.2, mechanism="k-norm", epsilon=4.0, **UNIT).fit(*table)
    selector.scores_ = np.linspace(0.01, 0.16, D)  # some features are in between
    p_values, n_kept = selector.p_values(), set()
    for level in (0.01, 0.1, 0.3, 0.9):
        kept = selector.set_params(fdr=level).get_support()
        assert (kept == (stats.false_discovery_control(p_values, method="by") <= level)).all()
        n_kept.add(int(kept.sum()))
    assert (stats.false_discovery_control(p_values) <= 0.2).sum() > selector.set_params(fdr=0.2).get_support().sum()
    assert len(n_kept) > 1
    selector.set_params(mechanism="laplace")  # does not change what was released
    assert (selector.get_support() == (stats.false_discovery_control(p_values, method="by") <= 0.2)).all()


def test_fdr_with_mtv_r_and_learnt_shares_keeps_what_benjamini_and_yekutieli_keep():
    X, y = np.random.default_rng(0).normal(size=(2000, 4)), np.arange(2000) < 100
    public = {"bounds": (-4, 4), "classes": [False, True]}
    selector = DPMICSelector(fdr=0.2, epsilon=50.0, statistic="mtv_r", **public).fit(X, y)
    selector.scores_ = np.linspace(0.1, 0.35, 4)
    by_by = stats.false_discovery_control(selector.p_values(), method="by") <= 0.2
    assert selector.get_support().tolist() == by_by.tolist()


def test_fdr_costs_nothing_after_the_fit_and_k_applies_again_without_it(table, ledger):
    X, y = table
    selector = DPMICSelector(k=3, fdr=0.1, statistic="mtv_r", epsilon=9.0, ledger=ledger, **UNIT).fit(X, y)
    assert set(TRUE) <= set(selector.get_support(indices=True))
    spent = ledger.entries()
    assert selector.set_params(fdr=1e-99).get_support().sum() == 0
    assert selector.set_params(fdr=None).get_support().sum() == 3
    assert len(ledger.entries()) == len(spent) == 1


BAD_FDR = [
    ({"fdr": 0}, r"fdr must be None or a number in \(0, 1\), got 0"),
    ({"fdr": 1.0}, r"fdr must be None or a number in \(0, 1\), got 1.0"),
    ({"fdr": "some"}, "fdr must be None or a number"),
    ({"fdr": 0.1, "statistic": "kendall"}, "fdr must be None with statistic='kendall', whose scores have no p-values"),
    ({"fdr": 0.1, "threshold": 0.5}, "fdr must be None if threshold is given, got 0.1"),
    ({"fdr": 0.1, "max_rows_per_group": 2}, "fdr must be None with max_rows_per_group=2, because the rows of a person"),
]


@pytest.mark.parametrize(("given", "message"), BAD_FDR)
def test_a_bad_fdr_is_refused_before_the_charge(given, message, table, ledger):
    groups = np.arange(N) // 2 if "max_rows_per_group" in given else None
    with pytest.raises(ValueError, match=message):
        DPMICSelector(ledger=ledger, **given, **UNIT).fit(*table, groups=groups)
    assert not ledger.entries()


def test_fdr_after_a_fit_that_has_no_p_values_is_refused(table):
    groups = np.arange(N) // 2
    selector = DPMICSelector(k=2, max_rows_per_group=2, **UNIT).fit(*table, groups=groups)
    with pytest.raises(ValueError, match=r"after this fit, got 0\.1: p_values requires independent records"):
        selector.set_params(fdr=0.1, max_rows_per_group=None).get_support()
    with pytest.raises(ValueError, match="fdr must be None if threshold is given"):
        selector.set_params(threshold=0.5).get_support()


# --- Score functions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [{"mechanism": "geometric"}, {"statistic": "kendall"}])
def test_without_p_values_a_scorer_returns_scores_alone(given, table):
    scorer = DPMICScorer(epsilon=50.0, **given, **UNIT)
    selector = SelectKBest(scorer, k=2).fit(*table)
    np.testing.assert_array_equal(selector.scores_, scorer.scores_)
    assert selector.pvalues_ is None


# --- Level and false discoveries --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("n", significance.SAMPLES)
@ANY_STATISTIC
def test_the_level_is_kept_for_any_ties_and_noise(statistic, n):
    """Of 500 tables of each kind, at most 5% plus three standard errors have a p-value of 0.05 or less."""
    for kind in significance.KINDS:
        shares = significance.shares_below(statistic, kind, n, (0.1, 1.0, 10.0), 500, np.random.default_rng(0))
        assert max(shares) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 500), kind


@pytest.mark.slow
@ANY_STATISTIC
def test_false_discoveries_keep_to_the_requested_rate_and_true_ones_are_made(statistic):
    """100 tables of 2,000 records and 50 features at (1, 1e-6); p-values that ignored the noise would fail."""
    found = significance.discoveries(statistic, 2000, 100, np.random.default_rng(0))
    false, true = found[:, 0], found[:, 1]
    assert false.mean() <= 0.1 + 2 * false.std(ddof=1) / 10
    assert true.mean() > 0.3
