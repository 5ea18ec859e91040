"""Before a search, search_cost states what its fits will cost and what its ledger will be charged."""

import math
import warnings
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy import stats
from sklearn.base import OneToOneFeatureMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePOut,
    PredefinedSplit,
    RandomizedSearchCV,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    check_cv,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import Pipeline, make_pipeline, make_union
from sklearn.preprocessing import StandardScaler, TargetEncoder
from sklearn.utils import all_estimators

from skdpmic import (
    BudgetLedger,
    DPMICScorer,
    DPMICSelector,
    PrivacyLeakWarning,
    PrivateGridSearch,
    PrivateSelectKBest,
    dp_mic_regression,
    search_cost,
)
from skdpmic.privacy.composition import Cost, epsilon_of, exact, round_up
from skdpmic.search import nested
from tests.tables import UNIT, uniform

N = 60


def pipeline(kind=DPMICSelector, **parameters):
    selector = kind(**{"k": 1, "epsilon": 0.1} | UNIT | parameters)
    return Pipeline([("select", selector), ("model", Ridge())])


GRID = {"select__B": [8, 9, 10], "model__alpha": [0.1, 1, 10, 100]}  # 12 candidates


def test_twelve_candidates_and_five_folds_cost_what_the_theory_says():
    for cv in (5, None, KFold(5, shuffle=True)):
        cost = search_cost(GridSearchCV(pipeline(epsilon=1.0), GRID, cv=cv))
        assert (cost.epsilon, cost.delta) == (12 * 4 * 1.0 + 1.0, 0.0)
        assert (cost.n_fits, cost.charged_epsilon, cost.charged_delta) == (61, 61.0, 0.0)
    cost = search_cost(GridSearchCV(pipeline(epsilon=1.0), GRID, cv=5, refit=False))
    assert (cost.epsilon, cost.n_fits, cost.charged_epsilon) == (48.0, 60, 60.0)


def test_a_varying_epsilon_is_summed_and_the_refit_counted_at_the_largest():
    grid = {"select__epsilon": [0.1, 0.2, 0.7], "select__k": [1, 2]}
    cost = search_cost(GridSearchCV(pipeline(), grid, cv=3))
    assert cost.epsilon == 2 * 1.0 * 2 + 0.7
    assert cost.charged_epsilon == 2 * 1.0 * 3 + 0.7
    assert cost.n_fits == 6 * 3 + 1


def test_every_private_estimator_in_the_pipeline_counts():
    scorer = DPMICScorer(epsilon=0.2, **UNIT)
    nested = make_pipeline(
        ColumnTransformer([("one", make_pipeline(DPMICSelector(epsilon=0.1)), [0, 1]), ("rest", "passthrough", [2])]),
        make_union(SelectKBest(scorer), SelectKBest(partial(dp_mic_regression, epsilon=0.4, **UNIT))),
        Ridge(),
    )
    cost = search_cost(GridSearchCV(nested, {"ridge__alpha": [1, 2]}, cv=2))
    assert cost.epsilon == float(Fraction(7, 10) * 3)
    assert cost.n_fits == 3 * (2 * 2 + 1)
    grid = {"featureunion__selectkbest-1__score_func__epsilon": [1.2]}
    assert search_cost(GridSearchCV(nested, grid, cv=2)).epsilon == 1.7 * 2


def private_search(**parameters):
    grid = {"select__epsilon": [0.1, 0.3], "model__alpha": [1, 2]}
    return PrivateGridSearch(pipeline(), **{"param_grid": grid, "epsilon": 0.5, "n_subsets": 2} | parameters)


WITHOUT_PRIVATE_STEPS = {"estimator": Ridge(), "param_grid": {"alpha": [1, 2]}}
AROUND_A_SEARCH = {  # and what the pipeline costs, with a refit and without
    "alone": (lambda search: Pipeline([("search", search)]), 0.8, 0.5),
    "later": (lambda search: Pipeline([("k", DPMICSelector(2, epsilon=0.2, **UNIT)), ("search", search)]), 1.0, 0.7),
    "only": (lambda search: Pipeline([("search", search.set_params(**WITHOUT_PRIVATE_STEPS))]), 0.5, 0.5),
}


@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("kind", AROUND_A_SEARCH)
def test_a_private_search_in_a_pipeline_costs_its_choice_and_its_costliest_refit(kind, refit, ledger):
    """In a fit, which charges no more, in a cross-validation, and in a search."""
    around, *prices = AROUND_A_SEARCH[kind]
    model, price = around(private_search(refit=refit, ledger=ledger)), prices[not refit]
    cost = search_cost(model, n_features=3)
    assert (cost.epsilon, cost.charged_epsilon) == (price, price)
    assert search_cost(model, cv=3).epsilon == pytest.approx(2 * price)
    raised = search_cost(GridSearchCV(model, {"search__epsilon": [0.5, 1.5]}, cv=2))
    assert (raised.epsilon, raised.charged_epsilon) == pytest.approx((3 * price + 2.0, 5 * price + 3.0))
    for place in nested.private_places(model):
        model.set_params(**{f"{place.name}__ledger": ledger})
    model.fit(*uniform(200))
    assert len(ledger.entries()) == cost.n_fits
    assert price - 0.2 - 1e-9 <= ledger.spent()[0] <= price  # 0.2 less if the cheaper candidate is chosen
    entries = [Cost(entry.epsilon, entry.delta, entry.rho) for entry in ledger.entries()]
    assert Fraction(cost.charged_rho) >= sum(entry.in_zcdp for entry in entries)


def test_the_steps_of_a_private_search_in_a_pipeline_are_named_and_those_before_it_too():
    model = make_pipeline(StandardScaler(), private_search())
    with pytest.warns(PrivacyLeakWarning, match="StandardScaler"):
        cost = search_cost(model)
    assert cost.priced == ("privategridsearch", "privategridsearch__estimator__select")
    assert cost.earlier == ("standardscaler",)
    without = make_pipeline(StandardScaler(), PrivateGridSearch(Ridge(), {"alpha": [1, 2]}))
    with pytest.warns(PrivacyLeakWarning, match="StandardScaler"):
        search_cost(without)  # the choice is private itself


def test_a_private_search_inside_another_one_is_refused(ledger):
    inner = private_search(ledger=ledger)
    for estimator, grid in (
        (inner, {"epsilon": [1, 2]}),
        (make_pipeline(inner), {"privategridsearch__epsilon": [1, 2]}),
        (pipeline(), {"model": [Ridge(), inner]}),
    ):
        outer = PrivateGridSearch(estimator, grid, n_subsets=2, ledger=ledger)
        for ask in (search_cost, lambda each: search_cost(Pipeline([("s", each)])), lambda each: each.fit(*uniform())):
            with pytest.raises(ValueError, match="must hold no PrivateGridSearch inside a PrivateGridSearch"):
                ask(outer)
    assert ledger.entries() == []


WRONG = [
    (None, {}, "estimator must be an estimator or a search, got"),
    (Ridge, {}, "estimator must be an estimator or a search, got"),
    (GridSearchCV(pipeline(), GRID), {"cv": 5}, "cv must be None with a GridSearchCV, which has its own cv, got 5"),
    (BaggingRegressor(private_search()), {}, "how many times BaggingRegressor fits the private estimator"),
    (Pipeline([("s", private_search(epsilon=-1))]), {}, "epsilon must be a number > 0"),
    (Pipeline([("s", private_search(param_grid={"model__alpha": [1]}))]), {}, "must have two candidates or more"),
    (RandomizedSearchCV(private_search(), {"epsilon": stats.uniform(0.5, 1)}), {}, "epsilon is drawn from"),
    (BaggingRegressor(pipeline()), {}, "how many times BaggingRegressor fits the private estimator"),
    (HalvingGridSearchCV(pipeline(), GRID), {}, "how many times HalvingGridSearchCV fits the private estimator"),
    (SelectKBest(partial(dp_mic_regression)), {}, r"among the arguments of functools.partial\(dp_mic_regression"),
    (GridSearchCV(pipeline(), {}, cv=LeaveOneOut()), {}, r"splits of LeaveOneOut\(\) is not known. Pass n_samples"),
    (GridSearchCV(pipeline(), {}, cv=LeaveOneGroupOut()), {"n_samples": N}, r"LeaveOneGroupOut\(\) is not known"),
    (GridSearchCV(pipeline(), {}, cv=iter([])), {}, "cv must be a list of splits, not an iterator"),
    (pipeline(mechanism="none"), {"n_features": 5}, "mechanism must be"),
    (pipeline(), {"n_features": 0}, "n_features must be an int >= 1"),
    (RandomizedSearchCV(pipeline(), {"select__epsilon": stats.uniform(0.5, 1)}), {}, "select__epsilon is drawn from"),
    (RandomizedSearchCV(pipeline(), {"select": stats.expon()}), {}, "select is drawn from a distribution"),
    (pipeline(), {"n_features": 2.0}, "n_features must be an int >= 1"),
]


@pytest.mark.parametrize("estimator, options, phrase", WRONG)
def test_what_has_no_known_price_is_refused(estimator, options, phrase):
    with pytest.raises((TypeError, ValueError), match=phrase):
        search_cost(estimator, **options)


# --- Cross-validation and single fits -----------------------------------------------------------------------------


def scorers():
    """Private estimators in several places, each with the epsilon, delta and number of releases of one fit."""
    scorer = DPMICScorer(epsilon=0.2, **UNIT)
    yield pipeline(epsilon=0.3), (0.3, 0.0, 1)
    yield scorer, (0.2, 0.0, 1)
    yield make_pipeline(SelectKBest(scorer, k=1), DPMICSelector(k=1, epsilon=0.5, **UNIT), Ridge()), (0.7, 0.0, 2)
    yield pipeline(epsilon=1.0, mechanism="gaussian", delta=1e-6), (1.0, 1e-6, 1)


def with_ledger(estimator, ledger):
    """The estimator, with the ledger in all private steps."""
    names = [name for name in estimator.get_params() if name.rpartition("__")[2] == "ledger"]
    return estimator.set_params(**dict.fromkeys(names, ledger))


@pytest.mark.few
@pytest.mark.parametrize("estimator, fit_cost", list(scorers()))
def test_a_cross_validation_charges_a_ledger_the_stated_cost(estimator, fit_cost, tmp_path):
    epsilon, delta, n_private = fit_cost
    for i, (cv, run) in enumerate([
        (None, lambda fitted, cv: fitted.fit(*uniform(N))),
        (4, lambda fitted, cv: cross_validate(fitted, *uniform(N), cv=cv, scoring=zero_score, return_estimator=True)),
        (KFold(3, shuffle=True), lambda fitted, cv: cross_val_score(fitted, *uniform(N), cv=cv, scoring=zero_score)),
        (ShuffleSplit(2), lambda fitted, cv: cross_val_score(fitted, *uniform(N), cv=cv, scoring=zero_score)),
    ]):  # fmt: skip
        ledger = BudgetLedger(tmp_path / f"{i}.db", 100.0, delta=0.1, composition="basic")
        cost = search_cost(estimator, cv=cv)
        run(with_ledger(clone(estimator), ledger), cv)
        assert ledger.spent() == (cost.charged_epsilon, cost.charged_delta)
        assert len(ledger.entries()) == cost.n_fits
        n_fits = 1 if cv is None else check_cv(cv).get_n_splits()
        n_trainings = n_fits - 1 if isinstance(cv, int | KFold) else n_fits
        assert cost.n_fits == n_fits * n_private
        assert cost.epsilon == pytest.approx(n_trainings * epsilon)
        assert cost.delta == pytest.approx(n_trainings * delta)


def zero_score(estimator, X, y=None):
    """A score of 0 for every fitted estimator."""
    return 0.0


# --- Splits -------------------------------------------------------------------------------------------------------


def most_trainings(cv, groups=None):
    """The largest number of training sets that any record is in, counted directly."""
    X, y = np.zeros((N, 1)), np.arange(N) % 2
    return max(np.bincount(np.concatenate([train for train, _ in cv.split(X, y, groups)])))


SPLITS = [np.arange(N) % 3 != i for i in range(3)] + [np.arange(N) % 2 == 0]
SPLITTERS = [
    (4, 4, 3),
    (KFold(4), 4, 3),
    (StratifiedKFold(3), 3, 2),
    (GroupKFold(3), 3, 2),
    (RepeatedKFold(n_splits=4, n_repeats=3), 12, 9),
    (RepeatedStratifiedKFold(n_splits=4, n_repeats=3), 12, 9),
    (LeaveOneOut(), N, N - 1),
    (LeavePOut(2), math.comb(N, 2), math.comb(N, 2)),
    (PredefinedSplit(np.arange(N) % 3), 3, 3),
    (TimeSeriesSplit(4), 4, 4),
    (ShuffleSplit(4, test_size=0.1), 4, 4),
    ([(np.flatnonzero(mask), np.flatnonzero(~mask)) for mask in SPLITS], 4, 4),
    ([(mask, ~mask) for mask in SPLITS], 4, 4),
]


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
@pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")
@pytest.mark.parametrize("cv, n_splits, n_trainings", SPLITTERS)
def test_a_record_counts_once_for_each_training_set_that_it_can_be_in(cv, n_splits, n_trainings):
    cost = search_cost(GridSearchCV(pipeline(epsilon=1), {}, cv=cv, refit=False), n_samples=N)
    assert (cost.n_fits, cost.epsilon, cost.charged_epsilon) == (n_splits, n_trainings, n_splits)
    if not isinstance(cv, list):
        assert n_trainings >= most_trainings(check_cv(cv), np.arange(N) % 5)


def test_splits_by_label_or_group_warn_because_a_record_moves_others():
    classifier = make_pipeline(DPMICSelector(epsilon=0.1), LogisticRegression())
    for estimator, cv in ((classifier, 2), (pipeline(), StratifiedKFold(2)), (pipeline(), GroupKFold(2))):
        for given in ({"estimator": GridSearchCV(estimator, {}, cv=cv)}, {"estimator": estimator, "cv": cv}):
            with pytest.warns(PrivacyLeakWarning, match="KFold assigns records to folds by the labels") as caught:
                search_cost(**given)
            assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search_cost(classifier)  # one fit, no split
        search_cost(classifier, cv=KFold(2, shuffle=True))
        search_cost(GridSearchCV(classifier, {}, cv=KFold(2, shuffle=True)))
        search_cost(GridSearchCV(pipeline(), {}, cv=2))


class Splits:
    """A splitter of the user's own."""

    def __init__(self, trains):
        self.trains = trains

    def get_n_splits(self, X=None, y=None, groups=None):
        return len(self.trains)

    def split(self, X, y=None, groups=None):
        return ((train, np.arange(len(X))) for train in self.trains)


BROKEN = {"at most once": [3, 7, 3], "by their positions": [0, -1], "positions": [0.5]}


@pytest.mark.parametrize("why", BROKEN)
@pytest.mark.parametrize("is_list", [True, False])
def test_a_training_set_that_holds_a_row_twice_has_no_price(why, is_list):
    """However it is given, and in whichever split; distinct rows are counted."""
    for trains in ([[0, 1], BROKEN[why]], [BROKEN[why], [0, 1]]):
        cv = [(np.array(train), [5]) for train in trains] if is_list else Splits(trains)
        for given in ({"estimator": pipeline(), "cv": cv}, {"estimator": GridSearchCV(pipeline(), {}, cv=cv)}):
            with pytest.raises(ValueError, match=why):
                search_cost(**given, n_samples=N)
    distinct = Splits([[0, 1], [0, 2]])
    assert search_cost(pipeline(), cv=distinct, n_samples=N).epsilon == 0.2
    with pytest.raises(ValueError, match="Pass n_samples"):
        search_cost(pipeline(), cv=distinct)


# --- Random searches ----------------------------------------------------------------------------------------------


def test_lists_are_sampled_without_replacement():
    search = RandomizedSearchCV(pipeline(), [{"select__B": [8, 9]}, {"select__B": [10]}], n_iter=10, cv=2)
    assert search_cost(search).n_fits == 3 * 2 + 1
    steps = {"select": ["passthrough", DPMICSelector(epsilon=0.5)], "model__alpha": [1, 2]}
    assert search_cost(RandomizedSearchCV(pipeline(), steps, n_iter=3, cv=2)).charged_epsilon == 3.5


@pytest.mark.slow
def test_stated_costs_are_the_exact_sums_rounded_up_to_the_next_float():
    # These sums have more digits than a float: without care, half of them would be rounded down.
    for k in range(1, 200):
        epsilons = [1 / 3, k / 7, math.pi / k]
        deltas = [epsilon / 1e4 for epsilon in epsilons]
        grid = [{"select__epsilon": [e], "select__delta": [d]} for e, d in zip(epsilons, deltas, strict=True)]
        cost = search_cost(GridSearchCV(pipeline(), grid, cv=3))
        for stated, of_fits, factor in [
            (cost.epsilon, epsilons, 2), (cost.delta, deltas, 2),
            (cost.charged_epsilon, epsilons, 3), (cost.charged_delta, deltas, 3),
        ]:  # fmt: skip
            total = factor * sum(map(exact, of_fits)) + exact(max(of_fits))
            assert exact(math.nextafter(stated, 0)) < total <= exact(stated)


# --- In zCDP --------------------------------------------------------------------------------------------------------


def zcdp_total(ledger):
    """The total of a ledger with composition="zcdp", rounded up."""
    rhos = [Cost(entry.epsilon, entry.delta, entry.rho).in_zcdp for entry in ledger.entries()]
    return round_up(sum(rhos, Fraction(0)), Fraction)


IN_ZCDP = {
    "an even split": DPMICSelector(1, epsilon=0.3, **UNIT),
    "Gaussian noise": DPMICSelector(1, epsilon=0.3, delta=1e-6, mechanism="gaussian", **UNIT),
    "tables": DPMICScorer(epsilon=0.3, mechanism="geometric", **UNIT),
    "names": PrivateSelectKBest(2, epsilon=0.3, **UNIT),
    "names one by one": PrivateSelectKBest("all", epsilon=0.3, criterion="joint", **UNIT),
    "names, with a delta that is used": PrivateSelectKBest("all", epsilon=0.3, delta=0.1, **UNIT),
    "a function": partial(dp_mic_regression, epsilon=0.3, **UNIT),
}


@pytest.mark.few
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", IN_ZCDP)
def test_a_zcdp_ledger_is_charged_the_stated_rho_to_the_last_digit(name, tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", 100.0, 1e-5)
    private = IN_ZCDP[name]
    if isinstance(private, partial):
        private = SelectKBest(partial(private, ledger=ledger), k=1)
    else:
        private = clone(private).set_params(ledger=ledger)
        private = SelectKBest(private, k=1) if isinstance(private, DPMICScorer) else private
    search = GridSearchCV(make_pipeline(private, Ridge()), {"ridge__alpha": [1, 2]}, cv=3, error_score="raise")
    cost = search_cost(search, n_features=3)
    search.fit(*uniform(N))
    assert len(ledger.entries()) == cost.n_fits == 7
    assert cost.charged_rho == zcdp_total(ledger)
    assert f"charged_rho={cost.charged_rho}" in repr(cost)
    of_ledger, of_rho = ledger.spent()[0], epsilon_of(cost.charged_rho, 1e-5)
    assert of_ledger == (min(of_rho, 2.1) if cost.charged_delta == 0 else of_rho)


OF_COLUMNS = {
    "numbers": [0, 2],
    "numpy numbers": list(np.array([0, -1])),
    "a mask": [True, False, True],
    "a mask of numpy": list(np.array([True, False, True])),
    "an array": np.array([True, False, True]),
    "a slice": slice(0, 2),
    "a function": lambda X: [0, 2],
    "no columns": [],
}


@pytest.mark.few
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OF_COLUMNS)
def test_a_step_for_some_columns_is_charged_at_most_the_stated_rho(name, tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", 100.0, 1e-5)
    select = ("select", DPMICSelector(1, epsilon=0.5, ledger=ledger, **UNIT), OF_COLUMNS[name])
    columns = ColumnTransformer([select], remainder="passthrough")
    cost = search_cost(columns, n_features=3)
    columns.fit(*uniform(N))
    assert cost.charged_rho == (zcdp_total(ledger) if name.endswith("numbers") else 0.125) >= zcdp_total(ledger)
    assert len(ledger.entries()) == (name != "no columns")
    search = PrivateGridSearch(columns, {"select__epsilon": [0.5, 0.5]}, n_subsets=2, scoring=lambda *_: 0.5)
    assert search.fit(*uniform(N)).privacy_spent_ == (1.5, 0.0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_release_after_a_step_that_may_add_columns_is_charged_at_most_the_stated_delta(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", 100.0, 1e-3)
    public = {"delta": 1e-6, "bounds": (-9, 9), "classes": range(8), "ledger": ledger}
    one_to_one = [kind for _, kind in all_estimators("transformer") if issubclass(kind, OneToOneFeatureMixin)]
    assert {StandardScaler, TargetEncoder}.issubset(one_to_one)  # the second has one column for each class
    for kind in one_to_one:
        steps = make_pipeline(kind(), PrivateSelectKBest("all", epsilon=0.1, criterion="joint", **public))
        cost = search_cost(steps, n_features=2)
        steps.fit(np.stack([np.arange(N) % 3, np.arange(N) % 5], axis=1), np.arange(N) % 8)
        entry = ledger.entries()[-1]
        assert cost.charged_epsilon == entry.epsilon
        assert cost.charged_delta >= entry.delta, kind
        assert Fraction(cost.charged_rho) >= Cost(entry.epsilon, entry.delta, entry.rho).in_zcdp, kind
