"""For every kind of search, search_cost states what a ledger is charged, and privacy_spent_ agrees with its entries."""

import random
import warnings
from fractions import Fraction
from functools import partial
from itertools import count

import numpy as np
import pandas
import pytest
from scipy import stats
from sklearn.compose import ColumnTransformer
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, KFold, RandomizedSearchCV, cross_validate
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures
from sklearn.svm import SVR

from skdpmic import (
    BudgetLedger,
    DPMICScorer,
    DPMICSelector,
    PrivateGridSearch,
    PrivateSelectKBest,
    dp_mic_regression,
    search_cost,
)
from skdpmic.privacy.composition import Cost, exact, round_up
from tests.tables import UNIT, uniform

N, D = 64, 3
SHARES = [0.5, 0.5]
CV = KFold(2)


# --- Private steps, with the values that a search may try ----------------------------------------------------------


def names_step(draw):
    """A step that publishes names; only its release knows how many parts it has, and whether it uses its delta."""
    mtv_r, k = draw.random() < 0.6, draw.choice([1, 2, "all"])
    step = PrivateSelectKBest(
        k,
        statistic="mtv_r" if mtv_r else "kendall",
        epsilon=draw.choice([0.1, 0.3]),
        delta=draw.choice([0.0, 1e-4, 0.05]),
        criterion=draw.choice(["single", "joint"] if mtv_r else ["single"]),
        keep=draw.choice([[], [0]]) if k != 2 else [],
        **UNIT,
    )
    tried = {"k": [1, k], "epsilon": [0.1, 0.2], "delta": [0.0, 0.05]} | ({"keep": [[], [1]]} if k != 2 else {})
    if mtv_r:
        tried |= {"target_shares": [None, SHARES], "criterion": ["single", "joint"], "statistic": ["mtv_r"]}
    else:
        tried |= {"statistic": ["kendall", "mtv_r"]}
    return step, tried


def scores_step(draw):
    """A step that publishes scores, in one part per feature, in a single part, or with Gaussian noise."""
    mechanism = draw.choice(["laplace", "k-norm", "gaussian"])
    kind = DPMICSelector if draw.random() < 0.5 else DPMICScorer
    delta = 1e-5 if mechanism == "gaussian" else 0.0
    step = kind(epsilon=draw.choice([0.1, 0.3]), mechanism=mechanism, delta=delta, statistic="mtv_r", **UNIT)
    tried = {"epsilon": [0.1, 0.2], "statistic": ["mtv_r", "kendall"], "target_shares": [None]}
    if mechanism == "gaussian":
        tried |= {"delta": [1e-5, 1e-4]}
    else:
        tried |= {"mechanism": ["laplace", "k-norm"]}
    if kind is DPMICSelector:
        return step, tried
    return SelectKBest(step, k=1), {f"score_func__{name}": values for name, values in tried.items()}


def function_step(draw):
    ways = [partial(dp_mic_regression, epsilon=epsilon, statistic="mtv_r", **UNIT) for epsilon in (0.1, 0.3)]
    return SelectKBest(draw.choice(ways), k=1), {"score_func": ways}


def drawn_grid(draw, step, tried, path, is_random):
    """A grid of some of the parameters, as lists or as distributions."""
    grid = {}
    for name in draw.sample(sorted(tried), min(len(tried), 2)):
        grid[f"{path}{name}"] = tried[name]
    if draw.random() < 0.5:
        grid["model__alpha"] = stats.uniform(0, 1) if is_random and draw.random() < 0.5 else [0.1, 1.0]
    return grid


def place_step(draw, step):
    """A pipeline with the step, the path of the step's parameters, and whether its number of columns is known."""
    where = draw.choice(["first", "columns", "union", "polynomials"])
    model = ("model", Ridge())
    if where == "first":
        return Pipeline([("select", step), model]), "select__", True
    if where == "columns":
        columns = ColumnTransformer([("select", step, [0, 1, 2])], remainder="passthrough")
        return Pipeline([("columns", columns), model]), "columns__select__", True
    if where == "union":
        union = FeatureUnion([("select", step), ("all", PolynomialFeatures(1))])
        return Pipeline([("union", union), model]), "union__select__", True
    return Pipeline([("more", PolynomialFeatures(1)), ("select", step), model]), "more", False


def drawn_search(draw):
    """A search, cross-validation or fit; options for search_cost; whether the cost is exact; how to run it."""
    step, tried = draw.choice([names_step, names_step, names_step, scores_step, function_step])(draw)
    estimator, path, is_exact = place_step(draw, step)
    path = path if is_exact else "select__"
    kinds = [
        GridSearchCV,
        GridSearchCV,
        RandomizedSearchCV,
        RandomizedSearchCV,
        PrivateGridSearch,
        cross_validate,
        None,
    ]
    kind = draw.choice(kinds)
    if kind is None:
        return estimator, {}, is_exact, lambda estimator, X, y: estimator.fit(X, y)
    if kind is cross_validate:
        run = partial(cross_validate, cv=CV, error_score="raise")
        return estimator, {"cv": CV}, is_exact, lambda estimator, X, y: run(estimator, X, y)
    is_random = kind is RandomizedSearchCV
    grid = drawn_grid(draw, step, tried, path, is_random)
    if kind is PrivateGridSearch:
        return kind(estimator, grid, epsilon=0.5, n_subsets=2), None, is_exact, fitted
    refit = draw.random() < 0.5
    options = {"cv": CV, "refit": refit, "error_score": "raise"}
    options |= {"n_iter": 2, "random_state": 0} if kind is RandomizedSearchCV else {}
    is_exact = is_exact and kind is GridSearchCV and not refit
    return kind(estimator, grid, **options), {}, is_exact, fitted


def fitted(search, X, y):
    return search.fit(X, y)


# --- Stated and charged costs ---------------------------------------------------------------------------------------


def with_ledger(estimator, ledger):
    """The estimator, with this ledger in every private step."""
    given = estimator.get_params()
    for name, value in given.items():
        if isinstance(value, partial):
            estimator.set_params(**{name: partial(value, ledger=ledger)})
    return estimator.set_params(**{name: ledger for name in given if name.rpartition("__")[2] == "ledger"})


def in_zcdp(entries):
    return sum((Cost(entry.epsilon, entry.delta, entry.rho).in_zcdp for entry in entries), Fraction(0))


def assert_charged_as_stated(draw, folder):
    search, options, is_exact, run = drawn_search(draw)
    grid = getattr(search, "param_grid", getattr(search, "param_distributions", {}))
    composition = draw.choice(["basic", "zcdp"])
    ledger = BudgetLedger(folder, 1000.0, 0.999, composition=composition)
    for name, values in grid.items():
        if name.endswith("score_func"):
            grid[name] = [partial(value, ledger=ledger) for value in values]
    X, y = uniform(N)
    if options is None:
        run(with_ledger(search, ledger), X, y)
        epsilon, delta = search.privacy_spent_
        entries = ledger.entries()
        stated, exactly = (exact(epsilon), exact(delta)), exact_totals(entries)
        assert exactly[0] <= stated[0] <= exactly[0] * (1 + Fraction(1, 10**12)), search
        assert (exactly[1] == stated[1]) if is_exact else (exactly[1] <= stated[1]), search
        return
    cost = search_cost(search, n_samples=N, n_features=D, **options)
    run(with_ledger(search, ledger), X, y)
    entries = ledger.entries()
    epsilon, delta = exact_totals(entries)
    charged = (exact(cost.charged_epsilon), exact(cost.charged_delta), Fraction(cost.charged_rho))
    assert all(stated >= was for stated, was in zip(charged, (epsilon, delta, in_zcdp(entries)), strict=True)), search
    assert cost.n_fits >= len(entries)
    if is_exact:
        assert cost.n_fits == len(entries)
        assert (cost.charged_epsilon, cost.charged_delta) == (round_up(epsilon), round_up(delta)), search
        assert cost.charged_rho == round_up(in_zcdp(entries), Fraction), search
        if composition == "basic":
            assert ledger.spent() == (cost.charged_epsilon, cost.charged_delta)


def exact_totals(entries):
    return sum(exact(entry.epsilon) for entry in entries), sum(exact(entry.delta) for entry in entries)


def try_searches(seed, n_searches, folder):
    draw, number = random.Random(seed), count()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(n_searches):
            assert_charged_as_stated(draw, folder / f"{next(number)}.db")


@pytest.mark.slow
def test_the_stated_cost_of_a_search_is_what_its_ledger_is_charged(tmp_path):
    try_searches(0, 100, tmp_path)


# --- Any nesting: priced at no less than what is charged, or refused --------------------------------------------------


def any_step(draw, depth, ledger):
    """A step that may hold private ones at any depth: in pipelines, unions, and what a search may set."""
    if depth == 0 or draw.random() < 0.3:
        scorer = DPMICScorer(statistic="kendall", epsilon=draw.choice([0.5, 1.0]), ledger=ledger)
        return draw.choice(["passthrough", scorer])
    inside = [("a", any_step(draw, depth - 1, ledger)), ("b", any_step(draw, depth - 1, ledger))]
    return draw.choice([Pipeline, FeatureUnion])(inside)


def any_search(draw, depth, ledger):
    """A model that may be a search whose grid holds steps, lists of steps or further searches."""
    model = any_search(draw, depth - 1, ledger) if depth and draw.random() < 0.3 else Ridge()
    whole = Pipeline([("s", any_step(draw, depth, ledger)), ("m", model)])
    kind = draw.choice([None, GridSearchCV, RandomizedSearchCV, HalvingGridSearchCV, PrivateGridSearch])
    values = [any_step(draw, depth, ledger) for _ in range(2)]
    if kind is None:
        return whole
    grid = {"s": draw.choice([list, tuple, as_objects])(values)}
    if draw.random() < 0.3:
        grid = {"steps": [[("s", value), ("m", Ridge())] for value in values]}
    elif draw.random() < 0.2:
        grid["m"] = [Ridge(), any_search(draw, 0, ledger)]
    elif kind is RandomizedSearchCV and draw.random() < 0.3:
        grid = {"s": EitherOf(values)}
    if kind is PrivateGridSearch:
        return kind(whole, grid, epsilon=0.25, n_subsets=2, refit=draw.random() < 0.7, ledger=ledger)
    options = {RandomizedSearchCV: {"n_iter": 2}, HalvingGridSearchCV: {"min_resources": 16}}.get(kind, {})
    return kind(whole, draw.choice([grid, [grid]]), cv=CV, error_score="raise", **options)


def as_objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


class EitherOf:
    """A distribution of estimators, which no price can look through."""

    def __init__(self, values):
        self.values = values

    def rvs(self, random_state=None):
        return self.values[0]


def charged_and_stated(search, ledger):
    """What a ledger was charged, and what was stated; None if there is no price."""
    try:
        cost = search_cost(search, n_samples=N)
    except ValueError:
        return None
    search.fit(*uniform(N))
    return sum(exact(entry.epsilon) for entry in ledger.entries()), exact(cost.charged_epsilon)


def test_any_search_charges_at_most_its_price_or_has_none(tmp_path):
    """Also if private estimators stand only in a grid, or in the grid of a search inside."""
    found = []
    for seed in range(40):
        ledger = BudgetLedger(tmp_path / f"{seed}.db", 1000.0, composition="basic")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(charged_and_stated(any_search(random.Random(seed), 2, ledger), ledger))
    priced = [pair for pair in found if pair is not None]
    assert all(charged <= stated for charged, stated in priced)
    assert sum(0 < charged == stated for charged, stated in priced) >= 10
    assert found.count(None) >= 5


# --- Examples -------------------------------------------------------------------------------------------------------


def test_a_search_over_statistics_counts_the_costliest():
    """Kendall's tau spends nothing on the target, so there is a single part."""
    pipeline = Pipeline([("select", PrivateSelectKBest(1, epsilon=1.0, **UNIT)), ("model", Ridge())])
    search = RandomizedSearchCV(pipeline, {"select__statistic": ["kendall"]}, cv=3, refit=False, n_iter=1)
    assert search_cost(search, n_features=D, n_samples=N).charged_rho == 1.5


def test_parameters_of_other_steps_are_not_enumerated_and_may_be_unbounded():
    pipeline = Pipeline([("select", PrivateSelectKBest(1, epsilon=1.0, **UNIT)), ("model", SVR())])
    drawn = {"model__epsilon": stats.expon(), "model__C": [10.0**power for power in range(50)]}
    search = RandomizedSearchCV(pipeline, drawn, n_iter=3, cv=2, refit=False)
    assert search_cost(search, n_features=D).charged_epsilon == 6.0


KEPT = [
    ([0], UNIT, None),
    ([2], UNIT, None),
    (["b"], UNIT, ["a", "b", "c"]),
    (["b"], {**UNIT, "bounds": {"a": (0, 1), "b": (0, 1), "c": (0, 1)}}, ["a", "b", "c"]),
    ([1], {**UNIT, "bounds": dict.fromkeys(range(3), (0, 1))}, None),
    ([0], {**UNIT, "bounds": {1: (0, 1), 2: (0, 1)}}, None),
]


@pytest.mark.parametrize("keep, public, columns", KEPT)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_private_search_fits_a_selector_that_keeps_features_and_states_no_unused_delta(
    keep, public, columns, is_first
):
    X, y = uniform(N)
    X = X if columns is None else pandas.DataFrame(X, columns=columns)
    select = PrivateSelectKBest(1, epsilon=1.0, delta=1e-4, keep=keep, **public)
    first = [] if is_first else [("as it is", FunctionTransformer(feature_names_out="one-to-one"))]
    pipeline = Pipeline([*first, ("select", select), ("model", Ridge())])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = PrivateGridSearch(pipeline, {"model__alpha": [1.0, 1.0]}, epsilon=0.5, n_subsets=2).fit(X, y)
    assert search.best_estimator_["select"].privacy_spent_ == (1.0, 0.0)
    assert search.privacy_spent_ == (1.5, 0.0 if is_first else 1e-4)


def test_plans_costs_and_searches_refuse_to_keep_all_features():
    select, error = PrivateSelectKBest(1, keep=[0, 1], **UNIT), "keep must leave at least one feature to choose"
    for ask in (lambda: select.plan(100, 2), lambda: search_cost(select, n_features=2), lambda: fitted(
        PrivateGridSearch(select, [{}, {}], scoring=lambda *_: 1.0), *uniform(N, 2))):  # fmt: skip
        with pytest.raises(ValueError, match=error):
            ask()
