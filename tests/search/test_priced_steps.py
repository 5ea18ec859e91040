"""search_cost names the steps that it prices, and those that it cannot price."""

import warnings
from functools import partial

import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import HuberRegressor, Ridge, SGDRegressor
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVR, LinearSVR

from skdpmic import (
    DPMICScorer,
    PrivateAdditiveRegressor,
    PrivateSelectKBest,
    PublicEncoder,
    dp_mic_regression,
    search_cost,
)
from tests.folding import each
from tests.tables import UNIT

CV = KFold(5, shuffle=True)


class PrivateNB(GaussianNB):
    """As in diffprivlib: a scikit-learn class with a budget."""

    __module__ = "diffprivlib.models.naive_bayes"

    def __init__(self, *, epsilon=1.0, bounds=None, priors=None, var_smoothing=1e-9, accountant=None):
        super().__init__(priors=priors, var_smoothing=var_smoothing)
        self.epsilon, self.bounds, self.accountant = epsilon, bounds, accountant


class AccountedForest(ClassifierMixin, BaseEstimator):
    __module__ = "another.forest"

    def __init__(self, accountant=None):
        self.accountant = accountant

    def fit(self, X, y):
        return self


class WiderSVR(SVR):
    """A user's own class, with scikit-learn's epsilon."""


def selector(**parameters):
    return PrivateSelectKBest(1, epsilon=0.1, **UNIT | parameters)


def pipeline(model):
    return Pipeline([("select", selector()), ("model", model)])


@each("cv, n_fits", [(None, 1), (CV, 5)])
def test_a_step_of_another_library_is_named_in_a_warning_and_the_others_are_priced(cv, n_fits):
    with pytest.warns(UserWarning, match=r"cannot price model \(PrivateNB of diffprivlib\)") as caught:
        cost = search_cost(pipeline(PrivateNB()), cv=cv)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert (cost.priced, cost.not_priced) == (("select",), ("model",))
    assert (cost.n_fits, cost.charged_epsilon) == (n_fits, 0.1 * n_fits)
    assert "not_priced=('model',)" in repr(cost)


@each(
    "model",
    [
        *[SVR(), LinearSVR(), HuberRegressor(), SGDRegressor(), MLPRegressor(), WiderSVR(), Ridge(), GaussianNB()],
        *[make_pipeline(StandardScaler(), SVR()), PublicEncoder(bounds=(0, 1)), "passthrough", None],
        ColumnTransformer([("scale", StandardScaler(), [0])]),
        FunctionTransformer(partial("a".replace, "a")),  # a function without a module
    ],
)
def test_ordinary_steps_raise_no_false_alarm(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cost = search_cost(pipeline(model), cv=CV)
    assert (cost.priced, cost.not_priced) == (("select",), ())
    assert "not_priced" not in repr(cost)


def a_private_score(X, y, epsilon):
    return X[0]


@pytest.mark.filterwarnings("ignore:search_cost cannot price")
def test_steps_are_named_at_any_depth():
    inside = ColumnTransformer([("one", make_pipeline(AccountedForest()), [0]), ("two", selector(), [1])])
    cost = search_cost(Pipeline([("columns", inside), ("best", SelectKBest(partial(a_private_score, epsilon=1)))]))
    assert cost.priced == ("columns__two",)
    assert cost.not_priced == ("columns__one__accountedforest", "best__score_func")
    scorer, function = DPMICScorer(**UNIT), partial(dp_mic_regression, epsilon=1, **UNIT)
    assert search_cost(make_pipeline(SelectKBest(scorer), SelectKBest(function))).priced == (
        "selectkbest-1__score_func",
        "selectkbest-2__score_func",
    )


@each(
    "kind, options",
    [
        (GridSearchCV, {}),
        (RandomizedSearchCV, {"n_iter": 2}),
    ],
)
def test_a_search_names_the_steps_of_all_its_candidates(kind, options):
    grid = {"model": [Ridge(), make_pipeline(PrivateNB())], "select__k": [1, 2]}
    with pytest.warns(UserWarning, match=r"cannot price model__privatenb \(PrivateNB"):
        cost = search_cost(kind(pipeline(Ridge()), grid, cv=CV, **options))
    assert (cost.priced, cost.not_priced) == (("select",), ("model__privatenb",))


def test_a_price_names_what_a_pipeline_must_be_passed():
    selector = PrivateSelectKBest(2, max_weight=1.0, max_rows_per_group=2, **UNIT)
    pipeline = Pipeline([("select", selector), ("model", PrivateAdditiveRegressor(max_rows_per_group=2, **UNIT))])
    cost = search_cost(pipeline)
    assert cost.fit_arguments == ("select__groups", "select__sample_weight", "model__groups")
    assert "fit_arguments=('select__groups'," in " ".join(repr(cost).split())
    with config_context(enable_metadata_routing=True):
        assert search_cost(pipeline).fit_arguments == ("groups", "sample_weight")
    assert search_cost(selector.set_params(max_weight=None)).fit_arguments == ("groups",)
