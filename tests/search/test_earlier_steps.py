"""Steps before a private step are refused if they copy rows, and named if they learn from all rows, at any depth."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, PolynomialFeatures, StandardScaler

from skdpmic import (
    DPMICScorer,
    PrivacyLeakWarning,
    PrivateGridSearch,
    PrivateSelectKBest,
    PublicEncoder,
    release_card,
    search_cost,
)
from tests.tables import UNIT, uniform

CV = KFold(2)


class Copies(BaseEstimator):
    """A sampler as in imbalanced-learn: it copies the first row a hundred times."""

    def fit_resample(self, X, y):
        rows = np.concatenate([np.zeros(100, dtype=int), np.arange(len(X))])
        return X[rows], y[rows]


class PipelineOfSamplers(Pipeline):
    """A pipeline as in imbalanced-learn: its samplers change the rows in `fit`."""

    def fit(self, X, y=None, **params):
        for _, step in self.steps[:-1]:
            X, y = step.fit_resample(X, y) if hasattr(step, "fit_resample") else (step.fit_transform(X, y), y)
        self.steps[-1][1].fit(X, y)
        return self

    def _validate_steps(self):
        pass


class Centred(TransformerMixin, BaseEstimator):
    """A user's own step: it is unknown whether it treats each row independently."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X - X.mean(axis=0)


def selector():
    return PrivateSelectKBest(1, epsilon=1.0, **UNIT)


def after(*steps):
    return PipelineOfSamplers([*((f"s{i}", step) for i, step in enumerate(steps)), ("select", selector())])


WITH_COPIES = {
    "a pipeline": (after(Copies()), "s0 (Copies)"),
    "a nested pipeline": (Pipeline([("pre", after(Copies())), ("model", Ridge())]), "pre__s0 (Copies)"),
    "an earlier pipeline": (make_pipeline(Pipeline([("over", Copies()), ("s", Normalizer())]), selector()),
                            "pipeline__over (Copies)"),
    "columns": (make_pipeline(Copies(), ColumnTransformer([("one", selector(), [0, 1])])), "copies (Copies)"),
    "a score function": (make_pipeline(Copies(), SelectKBest(DPMICScorer(**UNIT))), "copies (Copies)"),
    "a union": (make_pipeline(Copies(), FeatureUnion([("one", selector())]), Ridge()), "copies (Copies)"),
}  # fmt: skip


@pytest.mark.parametrize("estimator, name", WITH_COPIES.values(), ids=WITH_COPIES)
def test_pipelines_that_copy_rows_before_a_private_step_are_not_priced(estimator, name):
    for cv in (None, CV):
        with pytest.raises(ValueError, match="estimator must have no step that resamples rows") as caught:
            search_cost(estimator, cv=cv)
        assert name in str(caught.value)


def test_a_search_over_a_sampler_is_not_priced():
    plain = Pipeline([("pre", "passthrough"), ("select", selector()), ("model", Ridge())])
    for kind, grid in ((GridSearchCV, "param_grid"), (RandomizedSearchCV, "param_distributions")):
        search = kind(plain, **{grid: {"pre": ["passthrough", Copies()]}}, cv=CV)
        with pytest.raises(ValueError, match=r"resamples rows before a private step, got pre \(Copies\)"):
            search_cost(search)
    assert search_cost(GridSearchCV(plain, {"pre": ["passthrough"]}, cv=CV)).earlier == ()


def test_a_private_search_refuses_to_refit_on_copied_rows_before_anything_is_charged(ledger):
    pipeline = after(Copies())
    pipeline.steps.append(("model", Ridge()))
    search = PrivateGridSearch(pipeline, {"model__alpha": [1.0, 1.0]}, epsilon=1.0, n_subsets=2, ledger=ledger)
    before = vars(search).copy()
    with pytest.raises(ValueError, match=r"resamples rows before a private step, got s0 \(Copies\)"):
        search.fit(*uniform(60))
    assert ledger.entries() == []
    assert vars(search) == before


LEARNING = {
    "a scaler": (make_pipeline(StandardScaler(), selector()), ("standardscaler",)),
    "two": (make_pipeline(SimpleImputer(), Normalizer(), StandardScaler(), selector()),
            ("simpleimputer", "standardscaler")),
    "one's own": (make_pipeline(Centred(), selector()), ("centred",)),
    "a column": (make_pipeline(ColumnTransformer([("s", StandardScaler(), [0])]), selector()),
                 ("columntransformer__s",)),
    "the rest": (make_pipeline(ColumnTransformer([], remainder=StandardScaler()), selector()),
                 ("columntransformer__remainder",)),
    "a choice": (make_pipeline(SelectKBest(k=1), selector()), ("selectkbest",)),
    "a target": (TransformedTargetRegressor(make_pipeline(selector(), Ridge()), transformer=StandardScaler()),
                 ("transformer",)),
}  # fmt: skip


@pytest.mark.parametrize("estimator, names", LEARNING.values(), ids=LEARNING)
def test_steps_that_may_learn_before_a_private_one_are_named_and_warned_about(estimator, names):
    with pytest.warns(PrivacyLeakWarning, match="may learn from all rows before a private step") as caught:
        cost = search_cost(estimator)
    assert caught[0].filename == __file__
    assert cost.earlier == names
    assert all(name in str(caught[0].message) for name in names)
    assert f"earlier={names}" in repr(cost)


BY_ROW = [
    FunctionTransformer(np.log1p),
    Normalizer(),
    PolynomialFeatures(),
    PublicEncoder(bounds=(0, 1)),
    "passthrough",
    PrivateSelectKBest(2, epsilon=0.5, **UNIT),
    SelectKBest(DPMICScorer(epsilon=0.5, **UNIT), k=2),
    FeatureUnion([("a", Normalizer()), ("b", "passthrough")]),
]


@pytest.mark.parametrize("step", BY_ROW)
def test_steps_that_transform_each_row_independently_cause_no_warning(step):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert search_cost(make_pipeline(step if isinstance(step, str) else clone(step), selector())).earlier == ()


def test_the_summary_and_the_card_of_a_private_search_name_earlier_steps():
    pipeline = Pipeline([("scale", StandardScaler()), ("select", selector()), ("model", Ridge())])
    search = PrivateGridSearch(pipeline, {"model__alpha": [1.0, 1.0]}, epsilon=1.0, n_subsets=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.warns(PrivacyLeakWarning, match=r"scale \(StandardScaler\) may learn from all rows") as caught:
            search.fit(*uniform(60))
        assert [warning.filename for warning in caught if "may learn" in str(warning.message)] == [__file__]
        note = "the refit: scale (StandardScaler) may learn from all rows before a private step"
        assert note in search._repr_html_()
        assert note in release_card(search).to_json()
        assert f"Not covered by the guarantee: {note}; other models" in release_card(search).fields["statement"]
        again = search.set_params(refit=False).fit(*uniform(60))  # the choice is private whatever its fits do
    assert "may learn" not in again._repr_html_()
