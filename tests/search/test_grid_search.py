"""Private choice of parameters: one record moves one subset, and so the choice is epsilon-DP."""

import contextlib
import math
import random
import time
import warnings
from fractions import Fraction
from functools import cache, partial
from itertools import product

import narwhals.stable.v2 as nw
import numpy as np
import pandas
import pytest
import sklearn
from joblib import parallel_config
from packaging.version import Version
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier, is_regressor
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingRegressor, RandomForestRegressor, VotingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import check_random_state

from skdpmic import (
    BudgetError,
    BudgetLedger,
    DPMICScorer,
    DPMICSelector,
    PrivacyLeakWarning,
    PrivateAdditiveRegressor,
    PrivateGridSearch,
    PrivateSelectKBest,
    dp_mic_classif,
    dp_mic_regression,
    search_cost,
)
from skdpmic.privacy import mechanisms
from skdpmic.privacy.composition import Cost, exact
from skdpmic.privacy.noise import entropy_source
from skdpmic.search import grid_search as trials_module
from skdpmic.search.grid_search import MEAN_ERROR, assign_subsets, mean_over_subsets, mechanism_of_choice
from skdpmic.search.nested import UNKNOWN, as_estimator, for_a_subset
from tests.privacy.test_top_k import law
from tests.tables import UNIT, refused

unknown = pytest.mark.filterwarnings("ignore:the choice is private if:UserWarning")
seeded = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")
ARROW_IS_SPLIT = Version(sklearn.__version__) >= Version("1.7")  # older ones pick no rows of Arrow tables
TWICE = [{}, {}]  # a grid for any estimator


def table(n=240):
    rng = np.random.default_rng(0)
    X = rng.random((n, 3))
    return X, (2 * X[:, 1] - 1) ** 2


# --- One record, one subset -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n, n_subsets, test_size", [(8, 2, 0.25), (241, 15, 0.25), (100, 25, 0.9), (100, 3, 0.01)])
def test_subsets_are_disjoint_and_hold_every_row(n, n_subsets, test_size):
    subsets = assign_subsets(n, n_subsets, test_size, entropy_source())
    assert len(subsets) == n_subsets
    assert sorted(np.concatenate([np.concatenate(subset) for subset in subsets])) == list(range(n))
    assert all(len(rows) >= 2 for subset in subsets for rows in subset)
    assert abs(len(subsets[0][1]) - test_size * n / n_subsets) <= 2


def scores_of(search, X, y, monkeypatch):
    """The raw scores that a fit works with, of shape (n_candidates, n_subsets)."""
    seen = []

    def spy(scores, bounds):
        seen.append(scores.copy())
        return mean_over_subsets(scores, bounds)

    with monkeypatch.context() as patch:
        patch.setattr(trials_module, "mean_over_subsets", spy)
        search.fit(X, y)
    return seen[0]


def assert_a_record_moves_one_subset_only(monkeypatch):
    # How many random numbers a forest draws depends on its data, and must not affect other subsets.
    pipeline = make_pipeline(
        SelectKBest(DPMICScorer(epsilon=math.inf, **UNIT), k=2), RandomForestRegressor(n_estimators=2)
    )
    search = PrivateGridSearch(pipeline, {"selectkbest__k": [1, 2, 3]}, n_subsets=6, refit=False, random_state=0)
    X, y = table()
    here = scores_of(search, X, y, monkeypatch)
    again = scores_of(search, X, y, monkeypatch)
    np.testing.assert_array_equal(here, again)
    for row in (0, 100, 239):
        X_other, y_other = X.copy(), y.copy()
        X_other[row], y_other[row] = 1 - X[row], 1000.0
        there = scores_of(search, X_other, y_other, monkeypatch)
        assert (here != there).any(axis=0).sum() == 1
        moved = np.abs(
            mechanisms.to_grid(mean_over_subsets(here, (0, 1))) - mechanisms.to_grid(mean_over_subsets(there, (0, 1)))
        )
        assert 0 < max(moved) <= mechanisms.grid_sensitivity(Fraction(1, 6), MEAN_ERROR) <= math.ceil(2**30 / 6) + 1


@pytest.mark.slow
@seeded
def test_a_record_moves_the_scores_of_one_subset_only(monkeypatch):
    assert_a_record_moves_one_subset_only(monkeypatch)


def draw_with_numpy(n_draws):
    return np.random.uniform(size=n_draws)[-1]


def draw_with_scikit_learn(n_draws):
    return check_random_state(None).normal(size=n_draws)[-1]


def draw_with_python(n_draws):
    return [random.random() for _ in range(n_draws)][-1]


DRAWS = [draw_with_numpy, draw_with_scikit_learn, draw_with_python]


class DrawsByTheData(Ridge):
    """Draws from a generator that all fits share, a number of times that depends on the data."""

    def __init__(self, draw=draw_with_numpy, alpha=1.0):
        super().__init__(alpha)
        self.draw = draw

    def fit(self, X, y):
        self.offset = self.draw(1 + int(np.sum(y))) / 10
        time.sleep(0.002)  # time for other threads to draw
        return super().fit(X, y)

    def predict(self, X):
        return super().predict(X) + self.offset + self.draw(3) / 10


def scores_of_draws(y, draw, monkeypatch, **parameters):
    search = PrivateGridSearch(DrawsByTheData(draw), {"alpha": [1, 9]}, n_subsets=6, refit=False, random_state=0)
    np.random.seed(0)  # as in many notebooks; unseeded, no test could show that the draws of other subsets shift
    random.seed(0)
    return scores_of(search.set_params(**parameters), table()[0], y, monkeypatch)


def n_subsets_moved_by_a_record(draw, monkeypatch):
    y = table()[1]
    other = y.copy()
    other[0] += 5
    here, there = (scores_of_draws(target, draw, monkeypatch) for target in (y, other))
    return (here != there).any(axis=0).sum()


@pytest.mark.few
@seeded
@unknown
@pytest.mark.parametrize("draw", DRAWS)
def test_a_record_does_not_reach_other_subsets_through_a_global_generator(draw, monkeypatch):
    assert n_subsets_moved_by_a_record(draw, monkeypatch) == 1
    monkeypatch.setattr(trials_module, "generators_seeded", contextlib.nullcontext)
    assert n_subsets_moved_by_a_record(draw, monkeypatch) > 1


@seeded
@unknown
@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_fits_in_threads_and_processes_draw_the_same_numbers_as_in_sequence(backend, draw, monkeypatch):
    y = table()[1]
    expected = scores_of_draws(y, draw, monkeypatch)
    with parallel_config(backend=backend, n_jobs=3):
        np.testing.assert_array_equal(scores_of_draws(y, draw, monkeypatch), expected)


@pytest.mark.few
@unknown
@pytest.mark.parametrize("everything_fails", [False, True])
def test_fits_leave_the_global_generators_unchanged(everything_fails):
    class FailsLate(DrawsByTheData):
        def predict(self, X):
            super().predict(X)
            raise RuntimeError

    def drawn_after(fit):
        np.random.seed(1)
        random.seed(1)
        np.random.normal()  # keeps a second number for the next call
        fit()
        return np.random.normal(size=3).tolist(), random.random()

    def fit():
        kind = FailsLate if everything_fails else DrawsByTheData
        with pytest.raises(ValueError) if everything_fails else contextlib.nullcontext():
            PrivateGridSearch(kind(), {"alpha": [1, 9]}, refit=False).fit(*table())

    assert drawn_after(fit) == drawn_after(lambda: None)
    ours = np.random.get_bit_generator()
    np.random.set_bit_generator(np.random.PCG64(0))
    try:
        here, state = np.random.get_bit_generator(), np.random.get_bit_generator().state
        fit()
        assert np.random.get_bit_generator() is here
        assert here.state == state
    finally:
        np.random.set_bit_generator(ours)


def test_an_unknown_estimator_is_named_before_anything_is_charged(ledger):
    grid = {"select": [pipeline()["select"], "passthrough"], "model": [Ridge(), DrawsByTheData(), FailsOn()]}
    search = PrivateGridSearch(pipeline(), grid, n_subsets=3, ledger=ledger)
    with pytest.warns(
        UserWarning, match=r"private only if the fits of DrawsByTheData, FailsOn depend on nothing"
    ) as caught:
        search.fit(*table())
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "noise will exceed the signal")
        search.set_params(param_grid={"model": [Ridge(), RandomForestRegressor(2)]}).fit(*table())
        with pytest.raises(UserWarning, match="depend on nothing but their own rows"):
            search.set_params(param_grid=grid).fit(*table())
    assert len(ledger.entries()) == 2


@pytest.mark.parametrize("bounds", [(0, 1), (-3, 0.5), (-1e6, 0)])
def test_scores_are_clipped_and_failures_get_the_lowest_score(bounds):
    low, high = bounds
    scores = np.array([[low, high], [low - 9, high + 9], [np.nan, high], [-np.inf, np.inf], [(low + high) / 2] * 2])
    np.testing.assert_allclose(mean_over_subsets(scores, bounds), 0.5, rtol=1e-12)


# --- The choice ---------------------------------------------------------------------------------------------------

STEPS = 12  # of a grid coarse enough to enumerate
N_SUBSETS = 3


@cache
def choice_distribution(steps, scale):
    return law(steps, 1, scale)


def worst_log_ratio(epsilon, n_moved, monkeypatch, values=(0, 0.5, 1)):
    """The largest log ratio, over scores in `values` of two candidates, if a record moves `n_moved` of the subsets."""
    monkeypatch.setattr(mechanisms, "_STEPS", STEPS)
    scale = mechanism_of_choice(epsilon, N_SUBSETS).scale

    def distribution_of(scores):
        means = mean_over_subsets(np.array(scores).reshape(2, N_SUBSETS), (0, 1))
        return choice_distribution(tuple(map(int, mechanisms.to_grid(means))), scale)

    worst = 0.0
    for scores in product(values, repeat=2 * N_SUBSETS):
        for moved in product(values, repeat=2 * n_moved):
            other = np.array(scores).reshape(2, N_SUBSETS)
            other[:, :n_moved] = np.array(moved).reshape(2, n_moved)
            here, there = distribution_of(scores), distribution_of(other)
            worst = max(worst, *(abs(math.log(here[i] / there[i])) for i in here))
    return worst


@pytest.mark.parametrize("epsilon", [1.0, pytest.param(2.0, marks=pytest.mark.slow)])
def test_the_choice_is_epsilon_private_and_not_much_less(epsilon, monkeypatch):
    worst = worst_log_ratio(epsilon, 1, monkeypatch)
    assert epsilon / 2 < worst <= epsilon * (1 + 1e-9)


def test_a_record_in_two_subsets_would_be_caught(monkeypatch):
    assert worst_log_ratio(2.0, 2, monkeypatch, values=(0, 1)) > 2.0


# --- What users get -----------------------------------------------------------------------------------------------


def pipeline(**parameters):
    selector = PrivateSelectKBest(**{"k": 1, "epsilon": 2.0, "statistic": "mic_r"} | UNIT | parameters)
    return Pipeline([("select", selector), ("model", KNeighborsRegressor(3))])


GRID = {"select": [pipeline()["select"], "passthrough"], "model__n_neighbors": [3, 12]}


def test_choice_and_refit_are_charged_and_nothing_else(ledger):
    grid = {"select__epsilon": [0.5, 0.7], "select__k": [1, 2]}
    search = PrivateGridSearch(pipeline(ledger=ledger), grid, epsilon=0.1, ledger=ledger).fit(*table())
    choice, refit = ledger.entries()
    assert (str(choice), choice.epsilon, choice.n) == ("PrivateGridSearch, choice, one-shot", 0.1, 240)
    assert (refit.epsilon, refit.n) == (search.best_params_["select__epsilon"], 240)
    assert search.privacy_spent_ == ledger.spent()
    assert search.best_estimator_["select"].ledger is search.estimator["select"].ledger is ledger
    search.set_params(refit=False).fit(*table())
    assert not hasattr(search, "best_estimator_")
    assert search.privacy_spent_ == (0.1, 0.0)
    assert {name for name in vars(search) if name.endswith("_")} == {
        *("best_index_", "best_params_", "noise_scale_", "n_subsets_", "privacy_spent_"),
    }


def test_privacy_spent_is_never_below_the_exact_sum():
    for k in range(1, 12):
        choice, refit = k / 7, math.pi / k  # sums with more digits than a float: half of them would be rounded down
        search = PrivateGridSearch(pipeline(epsilon=refit), {"select__k": [1, 1]}, epsilon=choice, n_subsets=2)
        spent, delta = search.fit(*table()).privacy_spent_
        assert delta == 0.0
        assert exact(math.nextafter(spent, 0)) < exact(choice) + exact(refit) <= exact(spent)


def test_a_ledger_on_the_private_steps_alone_warns_before_anything_is_drawn(ledger, monkeypatch):
    scorer = partial(dp_mic_regression, epsilon=0.25, ledger=ledger, **UNIT)
    for step in (DPMICSelector(k=1, ledger=ledger, **UNIT), SelectKBest(scorer, k=1)):
        search = PrivateGridSearch(pipeline(), {"select": ["passthrough", step]}, n_subsets=3)
        with pytest.warns(UserWarning, match="ledger is None, so the cost of the choice, epsilon=1.0, is") as caught:
            search.fit(*table())
        assert caught[0].filename == __file__
        with monkeypatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "noise will exceed the signal")
            search.set_params(ledger=ledger).fit(*table())
            patch.setattr(trials_module, "assign_subsets", None)
            with pytest.raises(UserWarning, match="ledger is None"):
                search.set_params(ledger=None).fit(*table())


def test_a_refit_that_cannot_be_paid_is_refused_before_the_choice_is_charged(tmp_path):
    """Whichever candidate would be chosen, from whichever ledger; what is paid for is chosen and fitted."""
    X, y = table()
    model = PrivateAdditiveRegressor(2.0, **UNIT)
    for delta, enough in ((0, False), (1e-6, True)):
        ledger = BudgetLedger(tmp_path / f"{delta}.db", 3.0, delta, composition="basic")
        options = {"ledger": ledger, "n_subsets": 10, "score_bounds": (-9, 1)}
        unpaid = [{"epsilon": [1.0, 2.5]}, {"ledger": [None, BudgetLedger(tmp_path / "little.db", 1.9, 1e-6)]}]
        for grid in unpaid + [{"delta": [1e-6, 1e-7]}] * (not enough):
            with refused(BudgetError, "counts the choice as spent, which is not made", ledger):
                PrivateGridSearch(clone(model).set_params(ledger=ledger), grid, **options).fit(X, y)
        grid = {"epsilon": [1.0, 2.0], "delta": [1e-6 if enough else 0]}
        PrivateGridSearch(clone(model).set_params(ledger=ledger), grid, **options).fit(X, y)
        assert len(ledger.entries()) == 2


@pytest.mark.slow
def test_names_after_an_unknown_step_are_not_refused_for_more_than_they_cost(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", 3.0, 1e-5)  # in zCDP, less than its epsilon
    steps = [PrivateSelectKBest(1, epsilon=0.1, delta=1e-6, **UNIT), PrivateAdditiveRegressor(2.9, **UNIT)]
    model = make_pipeline(*(step.set_params(ledger=ledger) for step in steps))
    options = {"epsilon": 0.1, "n_subsets": 10, "ledger": ledger, "score_bounds": (-9, 1)}
    PrivateGridSearch(model, {"privateselectkbest__k": [1, 2]}, **options).fit(*table())
    assert len(ledger.entries()) == 3


def test_a_charged_choice_survives_a_failing_refit(tmp_path):
    ledger, full = BudgetLedger(tmp_path / "budget.db", 3.0), BudgetLedger(tmp_path / "full.db", 2.0)

    def spent_meanwhile(*_):
        full.charge("elsewhere", 0.001)
        return 0.5

    search = PrivateGridSearch(pipeline(), {"model__n_neighbors": [3, 3]}, ledger=ledger).fit(*table())
    search.set_params(estimator__select__ledger=full, param_grid={"model__n_neighbors": [5, 5]}, n_subsets=10)
    search.set_params(scoring=spent_meanwhile)
    with pytest.raises(BudgetError):
        search.fit(*table())
    assert [entry.release for entry in ledger.entries()] == ["choice"] * 2
    assert (search.best_params_, search.n_subsets_) == ({"model__n_neighbors": 5}, 10)
    assert search.noise_scale_ == pytest.approx(2 / 10, rel=1e-6)
    assert search.privacy_spent_ == (1.0, 0.0)
    assert not {"best_estimator_", "n_features_in_"} & set(vars(search))
    with pytest.raises(NotFittedError):
        search.predict(table()[0])


BUDGETS = [
    DPMICSelector(k=2, epsilon=0.5, mechanism="laplace", statistic="mtv_r", **UNIT),
    DPMICSelector(k=2, epsilon=0.5, mechanism="gaussian", delta=1e-6, statistic="kendall"),
    PrivateSelectKBest(2, epsilon=0.5, **UNIT),
    SelectKBest(partial(dp_mic_regression, epsilon=0.5, statistic="mtv_r", **UNIT), k=1),
    PrivateAdditiveRegressor(epsilon=0.5, delta=1e-6, **UNIT),
]


@pytest.mark.slow
def test_names_chosen_with_delta_are_tried_with_no_less_noise_and_at_most_half_as_much_more():
    """At a larger epsilon, names may come from another mechanism, whose noise is at most 2/3 as large."""
    draw, ratios = random.Random(0), []
    for i in range(40):
        k, among, factor = draw.choice([3, 10, 30]), draw.choice([31, 200]), draw.choice([4, 12.5, 70, 300])
        step = PrivateSelectKBest(k, epsilon=10 ** draw.uniform(-2, 1), delta=10 ** draw.uniform(-9, -2), **UNIT)
        step.set_params(criterion=draw.choice(["single", "single", "joint"]))
        if i == 0:  # the cube has less noise at a larger epsilon
            k, among, factor = 30, 31, 4
            step.set_params(k=k, epsilon=0.026, delta=2e-7, criterion="single")
        for width in (among, UNKNOWN):
            trial = for_a_subset(step, width, 1000, factor * 1000)
            now, tried = (each._plan().release(among, None, None).epsilon_per_feature for each in (step, trial))
            ratios.append(factor * now / tried)
    assert min(ratios) >= 1 - 1e-9
    assert max(ratios[::2]) <= 1.51
    assert max(ratios) <= 9


def noise_of(estimator, n):
    """The error of the noise in the plan of the private estimator in this step, for this many rows."""
    scorer = as_estimator(getattr(estimator, "score_func", estimator))
    return scorer.plan(n, 3).rows[0].error


@pytest.mark.few
@pytest.mark.parametrize("step", BUDGETS)
def test_what_is_tried_on_some_rows_is_as_noisy_as_what_is_fitted_on_all(step, monkeypatch):
    tried, cross_validate = [], trials_module.cross_validate

    def spy(trial, X, y, cv, **parameters):
        tried.append((trial[0], len(cv[0][0])))
        return cross_validate(trial, X, y, cv=cv, **parameters)

    monkeypatch.setattr(trials_module, "cross_validate", spy)
    whole = Pipeline([("step", step)])
    X, y = table(250)
    PrivateGridSearch(whole, TWICE, scoring=lambda *_: 0.5, n_subsets=7, refit=False).fit(X, y)
    assert {n for _, n in tried} == {26, 27}
    for trial, n in tried[:2] + tried[-2:]:
        assert noise_of(trial, n) == pytest.approx(noise_of(step, len(X)), rel=1e-3)


def test_a_table_that_is_not_in_memory_is_refused_with_the_line_to_write(ledger):
    polars, _ = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    X, y = table()
    frame = polars.DataFrame(X, schema=list("abc"))
    tables = [frame.lazy(), iter(X), (row for row in X), frame.to_arrow().to_reader()]
    tables.append(pytest.importorskip("dask.array").from_array(X, chunks=50))
    for given in tables:
        for arguments in ((given, y), (X, given)):
            with refused(TypeError, r"must be in memory inside PrivateGridSearch.*convert it first, as by", ledger):
                PrivateGridSearch(pipeline(), TWICE, ledger=ledger).fit(*arguments)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_model_of_columns_by_name_is_searched_in_every_dataframe(library, ledger):
    pytest.importorskip(library)
    X, y = table()
    frame = nw.from_dict(dict(zip("abc", X.T, strict=True)), backend=library).to_native()

    def search(*names):
        model = PrivateAdditiveRegressor(1.0, bounds=dict.fromkeys(names, (0, 1)), target_bounds=(0, 1), ledger=ledger)
        return PrivateGridSearch(model, {"epsilon": [1.0, 2.0]}, n_subsets=4, ledger=ledger, score_bounds=(-9, 1))

    if library == "pyarrow" and not ARROW_IS_SPLIT:
        with refused(TypeError, r"convert it first, as by X.collect\(\).* X.to_pandas\(\)", ledger):
            search("a", "b", "c").fit(frame, y)
        return
    with refused(ValueError, r"got none for \['c'\]", ledger):
        search("a", "b").fit(frame, y)
    assert search("a", "b", "c").fit(frame, y).predict(frame).shape == y.shape


class Unprintable(RuntimeError):
    """An error of another library: its message holds data, and cannot be read."""

    def __str__(self):
        raise AssertionError


class FailsOn(ClassifierMixin, BaseEstimator):
    """Fails on tables that contain a value."""

    def __init__(self, value=0.0, everywhere=False):
        self.value = value
        self.everywhere = everywhere

    def fit(self, X, y):
        if self.everywhere or (X == self.value).any():
            raise Unprintable(X)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[-1])


@seeded
def test_a_candidate_that_fails_in_a_subset_has_the_lowest_score_there(monkeypatch, recwarn):
    X = table()[0]
    search = PrivateGridSearch(FailsOn(), {"value": [X[7, 0], 2.0]}, n_subsets=6, refit=False, random_state=3)
    scores = scores_of(search, X, np.ones(240, dtype=int), monkeypatch)
    assert np.isnan(scores).sum() == np.isnan(scores[0]).sum() == 1
    failing = PrivateGridSearch(FailsOn(), {"everywhere": [True, False]}, n_subsets=6, refit=False, random_state=3)
    scores = scores_of(failing, X, np.ones(240, dtype=int), monkeypatch)
    assert np.isnan(scores[0]).all()
    assert (scores[1] == 1).all()
    messages = [str(warning.message) for warning in recwarn if warning.category is not PrivacyLeakWarning]
    assert all(message.startswith("the choice is private only if the fits of FailsOn") for message in messages)


def no_score_where_a_value_is_large(estimator, X, y):
    return None if (X[:, 0] > 1).any() else 1.0


@seeded
@pytest.mark.parametrize("n_jobs", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_a_score_that_is_not_a_number_fails_only_in_its_subset(n_jobs, monkeypatch):
    X, y = table()
    subsets = assign_subsets(240, 6, 0.25, entropy_source(3))
    X[subsets[2][1][0], 0] = 2.0
    search = PrivateGridSearch(
        Ridge(), TWICE, n_subsets=6, scoring=no_score_where_a_value_is_large, refit=False, random_state=3, n_jobs=n_jobs
    )
    np.testing.assert_array_equal(scores_of(search, X, y, monkeypatch), [[1, 1, np.nan, 1, 1, 1]] * 2)


@unknown
def test_when_everything_fails_the_error_quotes_no_data():
    X, y = table()
    X[:, 0] = 0.8675309
    search = PrivateGridSearch(FailsOn(), {"everywhere": [True, True]})
    with pytest.raises(ValueError, match="no candidate could be fitted and scored in any of the subsets") as caught:
        search.fit(X, y > 0.5)
    assert "8675" not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert not hasattr(search, "n_subsets_")
    with pytest.raises(ValueError, match=r"subsets of the data\. Input X contains NaN"):
        PrivateGridSearch(Ridge(), TWICE).fit(X * np.nan, y)


def test_a_scikit_learn_message_that_quotes_values_is_not_passed_on():
    names = np.array([[f"patient {i}"] for i in range(240)], dtype=object)
    search = PrivateGridSearch(make_pipeline(OneHotEncoder(), Ridge()), {"ridge__alpha": [1, 2]})
    with pytest.raises(ValueError, match=r"subsets of the data\. Fit the estimator by itself") as caught:
        search.fit(names, table()[1])  # OneHotEncoder: "Found unknown categories ['patient 9', ...] in column 0"
    assert "patient" not in str(caught.value)


# --- Refused before the charge ------------------------------------------------------------------------------------

GOOD = {"epsilon": 0.5} | UNIT
PARAMETERS = [
    ({"epsilon": 0}, "epsilon must be a number > 0"),
    ({"n_subsets": 1}, r"n_subsets must be 'auto' or an int in \[2, n_samples // 4\] = \[2, 60\]"),
    ({"n_subsets": 61}, "n_subsets must be"),
    ({"n_subsets": 2.5}, "n_subsets must be"),
    ({"score_bounds": (1, 0)}, "score_bounds must be finite with lower < upper"),
    ({"score_bounds": (-math.inf, 0)}, "score_bounds must be finite"),
    ({"test_size": 1}, r"test_size must be a number in \(0, 1\)"),
    ({"scoring": ["r2"]}, "scoring must be a single score"),
    ({"scoring": "no such"}, "no such"),
    ({"ledger": "budget.db"}, "ledger must be a BudgetLedger or None"),
    ({"n_subsets": 48}, "n_subsets and test_size must leave 4 rows .*, which leave 3 of 240 samples"),
    ({"n_subsets": 40, "test_size": 0.5}, ".*, which leave 3 of 240 samples"),
]
GRIDS = [
    ([], r"param_grid must be a dict, or a list of at least one dict, got \[\]"),
    (iter(TWICE), "param_grid must be a dict or a list of dicts, got a list_iterator"),
    ({"model__n_neighbors": [1]}, "two candidates or more, got .* nothing would be chosen, at a cost of epsilon"),
    ([{}], "two candidates or more"),
    ({"model__n_neighbors": []}, "(?i)parameter grid for parameter 'model__n_neighbors'"),
    ([{"model__n_neighbors": [1]}, {"alfa": [1]}], "Invalid parameter 'alfa'"),
    ({"model__alfa": [1.0]}, "Invalid parameter 'alfa' for estimator KNeighborsRegressor"),
    ({"model": [Ridge(), Ridge(-1.0)]}, "'alpha' parameter of Ridge must be a float in the range .* Got -1.0"),
    ({"model__n_neighbors": [1, "many"]}, "The 'n_neighbors' parameter of KNeighborsRegressor must be .* Got 'many'"),
    ({"model": [RandomForestRegressor(10**9, max_depth=0)]}, "The 'max_depth' parameter of RandomForestRegressor"),
    ({"model": [make_pipeline(StandardScaler(), Ridge(-1.0))]}, "The 'alpha' parameter of Ridge"),
    ({"model": [BaggingRegressor(Ridge(-1.0))]}, "The 'alpha' parameter of Ridge"),
    ({"model": [TransformedTargetRegressor(Ridge(tol=-1))]}, "The 'tol' parameter of Ridge"),
    ({"select": [SelectKBest(DPMICScorer(**UNIT), k=-1)]}, "The 'k' parameter of SelectKBest must be .* Got -1"),
    ({"select": [SelectKBest(partial(dp_mic_regression, **GOOD), k=1.5)]}, "The 'k' parameter of SelectKB"),
    ({"select": [FeatureUnion([("a", DPMICSelector(1, **UNIT)), ("b", PCA(-2))])]}, "'n_components' parameter of PCA"),
    ({"select": [ColumnTransformer([("a", StandardScaler(with_mean="no"), [0])])]}, "The 'with_mean' parameter of St"),
    ({"select__k": [1, 0]}, "k must be an int >= 1 or 'all'"),
    ({"select__max_rows_per_group": [None, 2]}, "max_rows_per_group must be None inside PrivateGridSearch, got 2"),
    ({"select": [PrivateSelectKBest(1, max_weight=2.0, **UNIT)]}, "max_weight must be None inside PrivateGridSearch"),
    ({"select": [SelectKBest(partial(dp_mic_classif, epsilon=1, bounds=(0, 1)))]}, r"missing a required .*classes"),
]
CHANGES = [
    ({"bounds": None}, "bounds must have an entry for every feature"),
    ({"bounds": (1, 0)}, "bounds must be finite with lower < upper"),
    ({"bounds": (np.zeros(2), np.ones(2))}, r"shape \(n_features,\) = \(3,\), got \(array"),
    ({"bounds": ([0] * 3, [1, 0, 1])}, "bounds of feature 1 must be finite with lower < upper"),
    ({"target_bounds": None}, "exactly one of target_bounds .* must be given, got neither"),
    ({"target_bounds": (1, 1)}, "target_bounds must be finite with lower < upper"),
    ({"target_bounds": None, "classes": [1]}, "classes must be a list or array of at least 2 distinct labels"),
    ({"epsilon": "high"}, "epsilon must be a number > 0"),
    ({"mechanism": "exponential"}, "mechanism must be 'laplace'"),
    ({"n_jobs": 0}, "n_jobs must be None or an int other than 0"),
    ({"B": 2}, "B must be a number >= 4"),
    ({"B": 2000}, "B must be at most"),
    ({"c": 0}, "c must be a number > 0"),
]


def with_wrong_step(change):
    """Grids with a wrong private step, at several places."""
    wrong = DPMICSelector(k=1, **GOOD | change)
    yield {"select": [DPMICSelector(**GOOD), wrong]}
    yield {"select": [SelectKBest(DPMICScorer(**GOOD | change))]}
    yield {"select": [SelectKBest(partial(dp_mic_regression, **GOOD | change))]}
    yield [{"select": [DPMICSelector(**GOOD)]} | {f"select__{name}": [value] for name, value in change.items()}]
    yield {"select": ["passthrough", Pipeline([("nothing", None), ("union", FeatureUnion([("select", wrong)]))])]}
    yield {"select": [make_pipeline(StandardScaler(), wrong)]}
    yield {"select": [ColumnTransformer([("all", wrong, [0, 1, 2])])]}


@pytest.mark.parametrize(
    "options, grid, phrase",
    [
        *((options, {"model__n_neighbors": [3, 12]}, phrase) for options, phrase in PARAMETERS),
        *(({}, grid, phrase) for grid, phrase in GRIDS),
        *(({}, grid, phrase) for change, phrase in CHANGES for grid in with_wrong_step(change)),
    ],
)
def test_what_public_facts_show_is_refused_before_the_charge(options, grid, phrase, ledger):
    search = PrivateGridSearch(pipeline(), grid, **{"ledger": ledger} | options)
    before, state = vars(search).copy(), np.random.get_state()[1].tolist()
    with refused((ValueError, TypeError), phrase, ledger):
        search.fit(*table())
    assert vars(search) == before
    assert np.random.get_state()[1].tolist() == state


@pytest.mark.parametrize("where", ["first", "nested", "scaled", "function", "columns"])
def test_bounds_by_name_that_do_not_fit_the_table_are_refused_before_the_charge(where, ledger):
    X, y = table()
    X = pandas.DataFrame(X, columns=["age", "height", "weight"])
    public = {"epsilon": 0.5, "bounds": {"age": (0, 1)}, "target_bounds": (0, 1)}
    wrong = {
        "first": DPMICSelector(k=1, **public),
        "nested": Pipeline([("nothing", None), ("union", FeatureUnion([("select", DPMICSelector(k=1, **public))]))]),
        "scaled": make_pipeline(StandardScaler(), DPMICSelector(k=1, **public)),
        "function": SelectKBest(partial(dp_mic_regression, **public), k=1),
        "columns": ColumnTransformer([("all", DPMICSelector(k=1, **public), list(X.columns))]),
    }[where]
    search = PrivateGridSearch(pipeline(), {"select": ["passthrough", wrong]}, ledger=ledger)
    if where == "scaled":  # it is unknown here whether the scaler's output has names
        search.set_params(refit=False).fit(X, y)  # noise may choose a candidate that cannot be fitted
        return
    phrase = r"bounds must have an entry for every feature .*, got none for \['height', 'weight'\]"
    if where == "function":
        phrase = "bounds is a dict by feature name, but X has no feature names"  # SelectKBest passes an array
    with refused(ValueError, phrase, ledger):
        search.fit(X, y)


@pytest.mark.parametrize(
    "is_frame, columns",
    [
        *[(False, columns) for columns in ([3], 3, np.array([0, 5]), ["height"], "height")],
        *[(True, columns) for columns in ([0, -4], ["height", "shoes"], "shoes", np.array(["shoes"]))],
    ],
)
def test_columns_that_are_not_in_the_table_are_refused_before_the_charge(is_frame, columns, ledger):
    X, y = table()
    X = pandas.DataFrame(X, columns=["age", "height", "weight"]) if is_frame else X
    for step in (DPMICSelector(k=1, **UNIT), StandardScaler()):
        steps = make_pipeline(ColumnTransformer([("some", step, columns)]), Ridge())
        with refused(ValueError, "columns of the transformer 'some' must be in the table, got ", ledger):
            PrivateGridSearch(steps, TWICE, ledger=ledger).fit(X, y)


@pytest.mark.parametrize(
    "classes, phrase",
    [([2, 3], "y must hold only labels that are in classes"), (["a", "b"], "classes and y must hold labels of one t")],
)
def test_data_that_do_not_suit_a_private_estimator_are_refused_before_the_charge(classes, phrase, ledger):
    X, y = table()
    model = pipeline(target_bounds=None, classes=classes)
    with refused(ValueError, phrase, ledger):
        PrivateGridSearch(model, {"model__n_neighbors": [3, 12]}, ledger=ledger).fit(X, (y > 0.5).astype(int))


class CountedFits(Ridge):
    """Not part of scikit-learn, so what its fit does is unknown."""

    n_fits = 0

    def fit(self, X, y):
        type(self).n_fits += 1
        return super().fit(X, y)


@unknown
@pytest.mark.parametrize("within", [lambda model: model, lambda model: VotingRegressor([("one", model)])])
def test_checking_ordinary_steps_fits_no_unknown_estimator(within):
    CountedFits.n_fits = 0
    PrivateGridSearch(within(CountedFits()), TWICE, n_subsets=3, epsilon=5.0).fit(*table())
    assert CountedFits.n_fits == 2 * 3 + 1


def test_eight_records_are_necessary_and_sufficient():
    for n in (0, 2, 7):
        with pytest.raises(ValueError, match=rf"with {n} sample\(s\) while a minimum of 8 is required by PrivateGrid"):
            PrivateGridSearch(Ridge(), TWICE).fit(*table(n))
    assert [PrivateGridSearch(Ridge(), TWICE).fit(*table(n)).n_subsets_ for n in (8, 9, 11, 12, 16)] == [2, 2, 2, 3, 4]


def test_infinite_epsilon_chooses_the_best_and_a_seed_warns():
    search = PrivateGridSearch(Ridge(), {"alpha": [1, 1e9]}, epsilon=math.inf, random_state=0)
    with pytest.warns(PrivacyLeakWarning) as caught:
        search.fit(table()[0], table()[0][:, 0])
    assert caught[0].filename == __file__
    assert search.best_index_ == 0
    assert search.privacy_spent_ == (math.inf, 0.0)


def test_a_private_search_behaves_like_other_meta_estimators():
    search = PrivateGridSearch(LogisticRegression(), {"C": [0.1, 10]}, n_subsets=5)
    assert is_classifier(search)
    assert is_regressor(PrivateGridSearch(Ridge(), TWICE))
    assert hasattr(search, "predict_proba")
    assert not hasattr(PrivateGridSearch(Ridge(), TWICE), "predict_proba")
    assert clone(search.set_params(estimator__tol=0.5)).get_params()["estimator__tol"] == 0.5
    X, y = table()
    search.fit(X, np.where(X[:, 0] > 0.5, "yes", "no"))
    assert search.classes_.tolist() == ["no", "yes"]
    assert search.predict_proba(X).shape == (240, 2)
    named = PrivateGridSearch(Ridge(), TWICE, n_subsets=5).fit(pandas.DataFrame(X, columns=list("abc")), y)
    assert named.feature_names_in_.tolist() == ["a", "b", "c"]
    assert named.score(pandas.DataFrame(X, columns=list("abc")), y) <= 1


@pytest.mark.parametrize("refit", [True, False])
def test_the_price_of_a_private_search_is_what_it_spends(refit, tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", 10.0, 0.1)
    grid = {"select__epsilon": [0.5, 0.7], "model__n_neighbors": [1, 2]}
    search = PrivateGridSearch(pipeline(), grid, epsilon=0.1, n_subsets=4, refit=refit, ledger=ledger)
    cost = search_cost(search, n_features=3)
    search.set_params(estimator__select__ledger=ledger).fit(*table())
    spent = 0.1 + refit * search.best_params_["select__epsilon"]
    assert search.privacy_spent_ == (pytest.approx(spent), 0.0)
    assert cost.epsilon == cost.charged_epsilon == (0.8 if refit else 0.1)
    assert cost.n_fits == len(ledger.entries()) == 1 + refit
    assert cost.priced == ("PrivateGridSearch", "select")
    entries = [Cost(entry.epsilon, entry.delta, entry.rho) for entry in ledger.entries()]
    assert Fraction(cost.charged_rho) >= sum(entry.in_zcdp for entry in entries)
    assert search_cost(search, cv=4).epsilon == pytest.approx(3 * cost.epsilon)
