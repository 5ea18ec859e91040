"""A fit whose noise will exceed the signal says so before it is paid for, from public numbers only."""

import doctest
import math
import re
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import skdpmic
from skdpmic import BudgetLedger, DPMICScorer, DPMICSelector
from skdpmic.planning import plan
from skdpmic.search import grid_search as search
from skdpmic.selection import scorer, selector
from tests.folding import each
from tests.select_names import SelectNames

PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1)}


def table(n=40, d=8, seed=0):
    X = np.random.default_rng(seed).random((n, d))
    return X, X[:, 0]


DROWNED = [
    DPMICScorer(**PUBLIC),
    DPMICScorer(**PUBLIC, mechanism="gaussian", delta=1e-6),
    DPMICScorer(**PUBLIC, mechanism="k-norm", epsilon=0.5),
    DPMICScorer(**PUBLIC, mechanism="geometric", epsilon=0.1),
    DPMICScorer(statistic="kendall", epsilon=0.5),
    DPMICSelector(3, **PUBLIC, epsilon=0.5),
    SelectNames(3, **PUBLIC, epsilon=0.3),
    SelectNames(3, **PUBLIC, epsilon=0.05, delta=0.01),
    DPMICSelector(k="all", **PUBLIC, epsilon=0.1),
    DPMICSelector(3, **PUBLIC, statistic="mtv_r", threshold=0.3, epsilon=0.5),
]
IS_HEARD = [
    DPMICScorer(**PUBLIC, epsilon=10.0),
    DPMICScorer(**PUBLIC, mechanism="gaussian", delta=1e-6, epsilon=20.0),
    DPMICScorer(**PUBLIC, mechanism="k-norm", epsilon=5.0),
    DPMICScorer(**PUBLIC, mechanism="geometric", epsilon=10.0),
    DPMICScorer(statistic="kendall", epsilon=5.0),
    SelectNames(3, **PUBLIC, epsilon=2.0),
    DPMICSelector(k="all", **PUBLIC, epsilon=10.0),
    *(DPMICScorer(**PUBLIC, epsilon=math.inf, mechanism=mechanism) for mechanism in ("laplace", "geometric")),
    SelectNames(3, **PUBLIC, epsilon=math.inf),
]


@pytest.mark.parametrize("estimator", DROWNED, ids=repr)
def test_a_warning_comes_before_the_charge(estimator, tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", 10.0, delta=0.5)
    estimator = type(estimator)(**(estimator.get_params() | {"ledger": ledger}))
    before = vars(estimator).copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="noise will exceed the signal: with n_samples=40, n_features=8 and"):
            estimator.fit(*table())
    assert ledger.entries() == []
    assert vars(estimator) == before


@each("estimator", IS_HEARD)
def test_no_warning_where_a_perfect_score_is_heard(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator.fit(*table())


def drowning(call):
    """The warning of a call that noise will exceed the signal, its only one."""
    with pytest.warns(UserWarning, match="noise will exceed the signal") as caught:
        call()
    (warning,) = caught
    assert warning.filename == __file__
    return str(warning.message)


WAYS_TO_PUBLISH = {
    "fit": lambda scorer, X, y: scorer.fit(X, y),
    "publish": lambda scorer, X, y: scorer.partial_fit(X, y, n_expected=40).publish(),
    "fit_sketch": lambda scorer, X, y: scorer.fit_sketch(scorer.empty_sketch(40, n_features=8).update(X, y)),
}


@pytest.mark.parametrize("way", WAYS_TO_PUBLISH)
def test_every_way_to_publish_warns_before_the_charge(way, tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", 10.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="noise will exceed the signal"):
            WAYS_TO_PUBLISH[way](DPMICScorer(**PUBLIC, ledger=ledger), *table())
    assert ledger.entries() == []


def test_a_budget_may_be_a_fraction():
    exact = drowning(lambda: DPMICScorer(**PUBLIC | {"epsilon": Fraction(1, 4)}).fit(*table()))
    assert "epsilon=0.25" in exact


def test_every_way_to_publish_warns_in_the_same_words():
    messages = {drowning(lambda call=call: call(DPMICScorer(**PUBLIC), *table())) for call in WAYS_TO_PUBLISH.values()}
    (message,) = messages
    assert "skdpmic.plan_release" in message


@pytest.mark.slow
def test_the_examples_of_the_package_are_heard():
    readme = (Path(skdpmic.__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        exec(code, {})
        for module in (scorer, selector, search, plan):
            assert doctest.testmod(module).failed == 0


def test_the_warning_does_not_depend_on_the_data():
    messages = {
        drowning(lambda X=X, y=y: DPMICScorer(**PUBLIC).fit(X, y)) for X, y in (table(), (table()[0] * 0, table()[1]))
    }
    assert len(messages) == 1


@pytest.mark.slow
@pytest.mark.parametrize("redundancy", [0.0, 1.0])
def test_the_chance_that_is_stated_is_that_of_the_fit(redundancy):
    # Kendall's score of a feature that is the target is 1, that of one without variance 0. 1,500 fits: a standard
    # error of 0.013.
    X, y = table(n=40, d=6)
    X[:, 1:] = 0.5
    estimator = SelectNames(2, statistic="kendall", epsilon=0.3, redundancy=redundancy)
    message = drowning(lambda: estimator.fit(X, y))
    stated = float(message.partition("scores of 0 with probability ")[2].partition(",")[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        missed = [not estimator.fit(X, y).get_support()[0] for _ in range(1500)]
    assert np.mean(missed) == pytest.approx(stated, abs=4 * 0.013 + 0.005)
    assert "is not among the best 2 of features with scores of 0" in message
    assert "and 0.67 if features are chosen at random" in message
