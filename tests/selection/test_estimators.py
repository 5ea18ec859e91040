"""The estimators do what their docstrings say, inside ordinary scikit-learn code."""

import math
import pickle
import re
from copy import copy
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone

from skdpmic import DPMICScorer, DPMICSelector, PrivacyLeakWarning, PrivateSelectKBest, private_score
from skdpmic.privacy.composition import rho_for
from skdpmic.privacy.mechanisms import GRID, GaussianMechanism
from skdpmic.statistics.mic.mic_r import ClassTargetScorer
from skdpmic.statistics.mic.noisy_tables import TableScorer
from skdpmic.statistics.mic.statistic import default_B
from skdpmic.statistics.registry import STATISTICS
from skdpmic.statistics.sensitivity import mic_r_sensitivity
from tests.select_names import SelectNames

seeded = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")

N, D = 400, 6


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.random((N, D))
    return X, np.clip((2 * X[:, 2] - 1) ** 2 + 0.1 * rng.standard_normal(N), 0, 1)


PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1)}
corrected_B = partial(default_B, correction="miller-madow")


# --- Scores ---------------------------------------------------------------------------------------------------


def test_infinite_epsilon_gives_exactly_the_discrete_scores_without_privacy(table):
    X, y = table
    codes = np.digitize(y, [0.2, 0.5])
    labels = np.array(["high", "low", "mid"])[[1, 2, 0]][codes]
    public = {"bounds": (0, 1), "classes": ["low", "mid", "high"]}
    for correction in (None, "miller-madow"):
        scorer = DPMICScorer(epsilon=math.inf, B=40, c=5, correction=correction, **public).fit(X, labels)
        target = ClassTargetScorer(np.searchsorted(["high", "low", "mid"], labels), 3, 40.0, 5, correction)
        assert scorer.scores_.tolist() == [target.score(x, (0, 1)) for x in X.T]
    assert scorer.ranking_[2] == 1


@seeded
def test_private_score_equals_the_scorer_with_one_feature(table):
    X, y = table
    alike = [{"statistic": name} for name, kind in STATISTICS.items() if not kind.spends_on_target(None)]
    for which in (*alike, {"mechanism": "geometric"}):
        public = {"epsilon": 1, "random_state": 5, **which}
        alone = private_score(X[:, 2], y, bounds=((0, 1), (0, 1)), **public)
        assert alone == DPMICScorer(**public, **PUBLIC).fit(X[:, [2]], y).scores_[0]


def test_transform_of_the_scorer_weights_features_by_their_scores(table):
    X, y = table
    scorer = DPMICScorer(**PUBLIC).fit(X, y)
    np.testing.assert_array_equal(scorer.transform(X), X * scorer.scores_)
    assert scorer.transform(X.astype(np.float32)).dtype == np.float32


# --- With delta ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [{"target_bounds": (0, 1)}, {"classes": [0, 1, 2]}])
def test_geometric_scores_are_computed_from_the_noisy_tables_alone(table, target):
    X, y = table
    discrete = "classes" in target
    y = np.digitize(y, [0.2, 0.5]) if discrete else y
    scorer = DPMICScorer(mechanism="geometric", bounds=(0, 1), epsilon=30, **target).fit(X, y)
    assert scorer.noise_scale_ == 2 * D / 30
    assert scorer.noisy_counts_.shape == (
        D,
        scorer.noisy_counts_.shape[1],
        3 if discrete else scorer.noisy_counts_.shape[1],
    )
    again = TableScorer(N, Fraction(2 * D, 30), scorer.B_, discrete)
    assert scorer.scores_.tolist() == [again.score(counts) for counts in scorer.noisy_counts_]
    assert scorer.ranking_[2] == 1
    with pytest.raises(AttributeError, match="noise with a known distribution"):
        scorer.scores_interval()


@seeded
def test_gaussian_intervals_depend_on_public_numbers_alone(table):
    scorer = DPMICScorer(delta=1e-5, epsilon=30, mechanism="gaussian", random_state=0, **PUBLIC).fit(*table)
    expected = GaussianMechanism(round(scorer.noise_scale_ / GRID)).interval(scorer.scores_, 0.9)
    copy = pickle.loads(pickle.dumps(scorer)).set_params(mechanism="laplace", delta=0.0)  # parameters of the next fit
    np.testing.assert_array_equal(copy.scores_interval(0.9), expected)
    assert (expected[1] - expected[0]).max() < 0.5


@pytest.mark.parametrize("k, delta, name", [(2, 1e-6, "one-shot"), (2, 0.4, "exponential"), ("all", 1e-3, "k-norm")])
def test_with_delta_names_get_the_mechanism_with_the_least_noise(table, k, delta, name):
    selector = SelectNames(k=k, delta=delta, **PUBLIC).fit(*table)
    assert selector.mechanism_ == name
    k = D if k == "all" else k
    scales = {
        "one-shot": 2 * k,
        "exponential": math.sqrt(k / (2 * rho_for(1, delta))),
        "k-norm": math.sqrt((D + 1) * (D + 2) / 3),
    }
    assert selector.noise_scale_ == pytest.approx(mic_r_sensitivity(N) * scales[name], rel=1e-5)
    sd = scales[name] * (math.pi / math.sqrt(6) if name == "exponential" else 1)
    assert selector.epsilon_per_feature_ == pytest.approx(1 / sd)
    assert selector.privacy_spent_ == (1.0, delta if name == "exponential" else 0.0)
    assert not hasattr(selector, "scores_")
    assert selector.get_support().sum() == k


# --- Selection -----------------------------------------------------------------------------------------------------


@seeded
def test_threshold_keeps_the_scores_that_reach_it(table):
    selector = DPMICSelector(threshold=0.4, epsilon=100, random_state=0, **PUBLIC).fit(*table)
    np.testing.assert_array_equal(selector.get_support(), selector.scores_ >= 0.4)
    assert 0 < selector.get_support().sum() < D
    selector.set_params(threshold=float(selector.scores_[0]))
    assert selector.get_support()[0]


def test_a_release_of_names_never_grows_after_fit(table):
    selector = SelectNames(k=2, **PUBLIC).fit(*table)
    assert selector.get_support().sum() == 2
    for k in (3, D, "all"):
        with pytest.raises(ValueError, match="k must be at most 2"):
            selector.set_params(k=k).get_support()
    assert selector.set_params(k=1).get_support().sum() == 1


def test_k_above_the_number_of_features_warns_where_scores_are_published(table):
    selector = DPMICSelector(k=D + 1, **PUBLIC)
    with pytest.warns(UserWarning, match=f"k={D + 1} is greater than n_features={D}. All the features"):
        selector.fit(*table)
    assert selector.get_support().all()
    with pytest.warns(UserWarning, match=f"k={D} is equal to n_features={D}.*pays for the scores only"):
        selector.set_params(k=D).fit(*table)


@pytest.mark.parametrize("criterion", ["single", "joint", "auto"])
def test_a_choice_of_all_names_is_refused_and_costs_nothing(table, criterion, ledger):
    X, y = table
    selector = PrivateSelectKBest(k=1, criterion=criterion, ledger=ledger, **PUBLIC)
    for d, k, keep in [(D, D, []), (D, D + 5, []), (1, 1, []), (1, "all", []), (3, 2, [0]), (2, "all", [1])]:
        selector.set_params(k=k, keep=keep)
        asked = (
            partial(selector.fit, X[:, :d], y),
            partial(selector.plan, 100, d),
        )
        for ask in asked:
            with pytest.raises(
                ValueError, match=f"k must be less than .*n_features={d - len(keep)}.*would be chosen, at"
            ):
                ask()
    assert ledger.entries() == []
    assert selector.set_params(k="all", keep=[0]).fit(X, y).n_ranked_ == D - 1


ODD = [0, -1, 1.5, None, True, "some", [1], math.nan, math.inf]


@pytest.mark.parametrize("odd", ODD)
def test_a_parameter_that_changes_after_a_fit_is_checked_as_before_it(table, odd):
    """What fit refuses, the support and the frame refuse, in the same words; the display goes on."""
    scores = DPMICSelector(k=2, epsilon=5, **PUBLIC).fit(*table)
    for selector, name in [
        (PrivateSelectKBest(k=2, epsilon=5, **PUBLIC).fit(*table), "k"),
        (PrivateSelectKBest(k=2, epsilon=5, **PUBLIC).fit(*table), "keep"),
        *[(copy(scores), name) for name in ("k", "threshold", "fdr")],
    ]:
        selector.set_params(**{name: odd})
        try:
            clone(selector).fit(*table)
        except ValueError as error:
            for ask in (selector.get_support, selector.to_frame, lambda: selector.transform(table[0])):  # noqa: B023
                with pytest.raises(ValueError, match=f"^{re.escape(str(error))}$"):
                    ask()
            assert name in selector._repr_html_()


# --- Bounds and targets --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [DPMICScorer, DPMICSelector])
def test_every_fit_that_leaks_warns_where_the_user_called_it(table, estimator):
    X, y = table
    leaking = estimator(**PUBLIC, random_state=0)
    for _ in range(2):
        with pytest.warns(PrivacyLeakWarning) as caught:
            leaking.fit(np.c_[X, X], np.round(y))
        assert caught[0].filename == __file__


# --- Inside scikit-learn ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@seeded
@pytest.mark.parametrize(
    "estimator",
    [
        DPMICScorer,
        pytest.param(partial(DPMICSelector, k=2), marks=pytest.mark.slow),
        pytest.param(partial(DPMICScorer, mechanism="geometric"), marks=pytest.mark.slow),
    ],
)
def test_n_jobs_does_not_change_the_result(table, estimator, monkeypatch):
    monkeypatch.setattr("skdpmic.table.records._SHORT", 0)
    X, y = table
    one = estimator(random_state=0, **PUBLIC).fit(X, y)
    for n_jobs in (2, 3, -1):
        other = estimator(random_state=0, n_jobs=n_jobs, **PUBLIC).fit(X, y)
        assert other.scores_.tolist() == one.scores_.tolist()
        assert other.ranking_.tolist() == one.ranking_.tolist()
    with parallel_config(backend="loky", n_jobs=2):
        assert estimator(random_state=0, **PUBLIC).fit(X, y).scores_.tolist() == one.scores_.tolist()


def test_unseeded_fits_differ(table):
    scorer = DPMICScorer(**PUBLIC)
    assert scorer.fit(*table).scores_.tolist() != scorer.fit(*table).scores_.tolist()


def test_calling_a_scorer_returns_a_copy_of_its_scores(table):
    scorer = DPMICScorer(**PUBLIC)
    scores, p_values = scorer(*table)
    assert p_values.tolist() == scorer.p_values().tolist()
    scores[:] = 7
    assert scorer.scores_.max() <= 1
