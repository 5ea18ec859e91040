"""Caches never return an old release: fitting an unchanged table draws new noise."""

import copy
import pickle
from functools import partial

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Ridge
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline

from skdpmic import (
    BudgetLedger,
    DPMICScorer,
    DPMICSelector,
    PrivateGridSearch,
    dp_mic_regression,
    private_score,
    search_cost,
)
from skdpmic._utils.never_cached import never_cached
from skdpmic.search.nested import cost_of_fit, is_private
from tests.folding import each
from tests.public import NAMES
from tests.select_names import SelectNames

N, D = 60, 3
X = np.random.default_rng(0).random((N, D))
Y = X[:, 1] ** 2
PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1), "B": 9, "c": 2}
FUNCTIONS = [public for public in NAMES.values() if isinstance(public, never_cached)]


@pytest.fixture
def ledger(tmp_path):
    return BudgetLedger(tmp_path / "ledger", epsilon=100.0)


@pytest.fixture
def memory(tmp_path):
    return joblib.Memory(tmp_path / "cache", verbose=0)


def selector(ledger):
    return DPMICSelector(k=1, epsilon=1.0, ledger=ledger, **PUBLIC)


def function(ledger):
    return partial(dp_mic_regression, epsilon=1.0, ledger=ledger, **PUBLIC)


PRIVATE_STEPS = {
    "a selector": selector,
    "names": lambda ledger: SelectNames(1, epsilon=1.0, ledger=ledger, **PUBLIC),
    "a function": lambda ledger: SelectKBest(function(ledger), k=1),
    "in a union": lambda ledger: FeatureUnion([("chosen", selector(ledger)), ("all", "passthrough")]),
    "deep down": lambda ledger: FeatureUnion([("a", ColumnTransformer([("b", selector(ledger), [0, 1])]))]),
}


@pytest.mark.few
@pytest.mark.parametrize("make", PRIVATE_STEPS.values(), ids=PRIVATE_STEPS)
def test_a_pipeline_with_memory_fits_its_private_step_each_time(make, memory, ledger):
    pipeline = Pipeline([("private", make(ledger)), ("model", Ridge())], memory=memory)
    for n_fits in (1, 2, 3):
        pipeline.fit(X, Y)
        assert ledger.spent() == (float(n_fits), 0.0)


def release(estimator, X, y):
    """A cached function that is given an estimator, at any depth."""
    while isinstance(estimator, list | dict):
        estimator = estimator[0]
    return estimator.fit(X, y)


def call(estimator, X, y):
    return estimator(X, y)


def call_method(fit, X, y):
    return fit(X, y)


HIDDEN = {
    "itself": (release, lambda estimator: estimator),
    "in a dict": (release, lambda estimator: {0: [estimator]}),
    "its method": (call_method, lambda estimator: estimator.fit),
    "a model around it": (release, lambda estimator: make_pipeline(estimator, Ridge())),
}


@pytest.mark.parametrize("is_fitted", [False, True], ids=["new", "fitted"])
@pytest.mark.parametrize("function, hide", HIDDEN.values(), ids=HIDDEN)
@pytest.mark.parametrize("kind", [DPMICScorer, partial(DPMICSelector, k=1)], ids=["scorer", "selector"])
@pytest.mark.combinations
def test_a_cached_function_fits_the_estimator_that_it_is_given_each_time(
    kind, function, hide, is_fitted, memory, ledger
):
    kept, estimator = memory.cache(function), kind(epsilon=1.0, ledger=ledger, **PUBLIC)
    if is_fitted:
        estimator.fit(X, Y)
    before = ledger.spent()[0]
    for n_fits in (1, 2, 3):
        kept(hide(copy.deepcopy(estimator)), X, Y)
        assert ledger.spent() == (before + n_fits, 0.0)


def test_a_cached_function_calls_the_private_function_that_it_is_given_each_time(memory, ledger):
    kept = memory.cache(call)
    private = partial(private_score, epsilon=1.0, ledger=ledger, bounds=((0, 1), (0, 1)))
    for released in (private, partial(private, statistic="kendall"), function(ledger)):
        table = X if released.func is dp_mic_regression else X[:, 1]
        before = ledger.spent()[0]
        kept(released, table, Y)
        kept(released, table, Y)
        assert ledger.spent() == (before + 2, 0.0)


# --- What the nonce does not change ----------------------------------------------------------------------------------

ESTIMATORS = [
    lambda: DPMICScorer(**PUBLIC),
    lambda: DPMICScorer(**PUBLIC).fit(X, Y),
    lambda: DPMICSelector(k=1, **PUBLIC).fit(X, Y),
    lambda: PrivateGridSearch(Ridge(), {"alpha": [0.1, 1.0]}).fit(X, Y),
]


def saved_and_loaded(estimator, tmp_path):
    joblib.dump(estimator, tmp_path / "estimator")
    return joblib.load(tmp_path / "estimator")


@pytest.mark.parametrize("make", ESTIMATORS, ids=["new", "scorer", "selector", "search"])
def test_copies_have_the_same_attributes_and_no_others(make, tmp_path):
    estimator = make()
    ways = [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e)), lambda e: saved_and_loaded(e, tmp_path)]
    for way in (*ways, lambda e: ways[2](ways[2](e))):
        other = way(estimator)
        assert vars(other).keys() == vars(estimator).keys()
        assert repr(vars(other)) == repr(vars(estimator))
        assert repr(other) == repr(estimator)
    assert repr(clone(estimator).get_params()) == repr(estimator.get_params())


@each("make", [*ESTIMATORS, *(lambda function=function: function for function in FUNCTIONS)])
def test_no_two_estimators_have_the_same_hash(make):
    private = make()
    assert len({joblib.hash(private) for _ in range(20)}) == 20
    assert len({joblib.hash([1, {"a": (private,)}]) for _ in range(20)}) == 20


def test_private_functions_are_still_recognised_by_search_cost():
    private = partial(dp_mic_regression, epsilon=0.5, **PUBLIC)
    for seen in (private, pickle.loads(pickle.dumps(private)), copy.deepcopy(private)):
        assert is_private(seen)
        assert cost_of_fit(SelectKBest(seen)).epsilon == 0.5
    assert not is_private(partial(np.mean, axis=0))
    assert "does not save fits of private steps" in " ".join(search_cost.__doc__.split())
