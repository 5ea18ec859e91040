"""A new statistic, or a new mechanism, works everywhere once it is registered: no other line mentions it."""

import math

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skdpmic import (
    DPMICScorer,
    DPMICSelector,
    PrivateGridSearch,
    PrivateSelectKBest,
    plan_release,
    private_score,
    search_cost,
)
from skdpmic.privacy.mechanisms import GRID, MECHANISMS
from skdpmic.statistics.registry import STATISTICS
from tests.folding import each
from tests.tables import UNIT
from tests.toys import Agreement, Doubled

N, D = 2000, 4
X = np.random.default_rng(0).random((N, D))
Y = X[:, 2]


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(STATISTICS, Agreement.name, Agreement)
    monkeypatch.setitem(MECHANISMS, Doubled.name, Doubled)


# --- A statistic ------------------------------------------------------------------------------------------------------

TOY = {"statistic": "agreement", **UNIT}


@each("more", [{}, {"criterion": "auto"}, {"delta": 1e-9}])
def test_a_new_statistic_chooses_features_as_planned(more, ledger):
    selector = PrivateSelectKBest(2, epsilon=5.0, ledger=ledger, **TOY, **more)
    (planned, *_) = selector.plan(N, D)
    assert selector.fit(X, Y).ranking_[2] == 1
    assert (planned.statistic, planned.noise_scale) == ("agreement", selector.noise_scale_)
    assert str(ledger.entries()[-1]) == f"PrivateSelectKBest, agreement, names of 2 of 4, {selector.mechanism_}"
    classes = PrivateSelectKBest(1, statistic="agreement", bounds=(0, 1), classes=[0, 1], epsilon=5.0)
    assert classes.fit(X, (Y > 0.5).astype(int)).ranking_[2] == 1


@each("mechanism", [{}, {"mechanism": "gaussian", "delta": 1e-6}, {"mechanism": "k-norm"}])
def test_a_new_statistic_has_scores_with_noise_of_its_own_sensitivity(mechanism, ledger):
    scorer = DPMICScorer(epsilon=5.0, ledger=ledger, **TOY, **mechanism).fit(X, Y)
    lower, upper = scorer.scores_interval(1 - 1e-9)
    exact = [np.mean((X[:, j] > 0.5) == (Y > 0.5)) for j in range(D)]
    assert ((lower <= exact) & (exact <= upper)).all()
    if not mechanism:
        assert scorer.noise_scale_ == pytest.approx(D / N / 5.0, abs=D * 2 * GRID)
    with pytest.raises(AttributeError, match="p_values requires the distribution of scores of independent features"):
        scorer.p_values()
    people = DPMICScorer(epsilon=5.0, max_rows_per_group=2, **TOY).fit(X, Y, groups=np.arange(N) // 2)
    assert people.noise_scale_ == pytest.approx(D / (N // 2) / 5.0, abs=D * 2 * GRID)
    assert private_score(X[:, 2], Y, statistic="agreement", epsilon=math.inf, bounds=((0, 1), (0, 1))) == 1


def test_a_new_statistic_goes_through_searches(ledger):
    pipeline = make_pipeline(PrivateSelectKBest(1, epsilon=5.0, **TOY), Ridge())
    grid = {"privateselectkbest__statistic": ["agreement", "mtv_r"]}
    assert GridSearchCV(pipeline, grid, cv=2).fit(X, Y).best_score_ > 0.9
    assert search_cost(pipeline).epsilon == 5.0
    search = PrivateGridSearch(pipeline, grid, epsilon=5.0, n_subsets=4, ledger=ledger)
    assert search.fit(X, Y).score(X, Y) > 0.9
    assert SelectKBest(DPMICScorer(epsilon=5.0, **TOY), k=1).fit(X, Y).get_support()[2]


# --- A mechanism ------------------------------------------------------------------------------------------------------


def test_a_new_mechanism_draws_the_noise_and_provides_intervals_and_p_values(ledger):
    given = {"epsilon": 20.0, **UNIT}
    plain = DPMICScorer(**given).fit(X, Y)
    doubled = DPMICScorer(mechanism="doubled", ledger=ledger, **given).fit(X, Y)
    assert doubled.noise_scale_ == 2 * plain.noise_scale_
    assert doubled.epsilon_per_feature_ == plain.epsilon_per_feature_ / 2
    assert doubled.privacy_spent_ == (20.0, 0.0)
    doubled.set_params(mechanism="laplace")  # which does not change what was released
    margins = [np.diff(scorer.scores_interval(0.5), axis=0).max() for scorer in (plain, doubled)]
    assert margins[1] == pytest.approx(2 * margins[0], rel=0.01)
    doubled.scores_ = plain.scores_ = np.full(D, 0.2)
    assert (doubled.p_values() > plain.p_values()).all()
    assert str(ledger.entries()[0]) == "DPMICScorer, mic_r, scores of 4, doubled"
    assert "doubled noise of scale" in doubled._repr_html_()
    assert doubled.to_frame()["score"].tolist() == [0.2] * D


def test_a_new_mechanism_is_planned_searched_and_used_for_pairs():
    selector = DPMICSelector(2, statistic="mtv_r", mechanism="doubled", epsilon=50.0, **UNIT)
    own = selector.plan(N, D)[0]
    assert (own.mechanism, own.noise_scale) == ("doubled", selector.fit(X, Y).noise_scale_)
    rows = plan_release(n_samples=N, n_features=D, epsilon=1.0)
    scales = {row.mechanism: row.noise_scale for row in rows if row.statistic == "mtv_r"}
    assert scales["doubled"] == 2 * scales["laplace"]
    pipeline = make_pipeline(selector, Ridge())
    search = PrivateGridSearch(pipeline, {"dpmicselector__k": [1, 2]}, epsilon=50.0, n_subsets=4)
    assert search.fit(X, Y).best_estimator_[0].ranking_[2] == 1
    pair = {"statistic": "kendall", "mechanism": "doubled", "epsilon": 100.0}
    assert private_score(Y, Y, **pair) > 0.9


def test_a_name_that_is_not_registered_is_refused_with_those_that_are():
    with pytest.raises(ValueError, match="'laplace', 'gaussian', 'k-norm', 'doubled' or 'geometric', got 'x'"):
        DPMICScorer(mechanism="x", **UNIT).fit(X, Y)
    with pytest.raises(ValueError, match=r"statistic must be one of .*'agreement', got 'x'"):
        PrivateSelectKBest(1, statistic="x", **UNIT).fit(X, Y)
