"""Estimators of scikit-learn that number the labels for what is inside them are refused where they can be seen."""

import contextlib
import functools
import inspect
import random

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import all_estimators

from skdpmic import (
    PrivateAdditiveClassifier,
    PrivateGridSearch,
    PrivateSelectKBest,
    dp_mic_classif,
    private_evaluation,
    release_card,
    search_cost,
)
from skdpmic._utils.private_estimator import _NUMBER_LABELS

LABELS = ["no", "perhaps", "yes"]
X = np.random.default_rng(0).random((90, 3))
Y = np.array(LABELS)[np.random.default_rng(1).integers(3, size=90)]
PUBLIC = {"bounds": (0, 1), "classes": LABELS}
PARAMETERS = ("estimator", "estimators", "steps", "classifier", "base_estimator")
KINDS = dict(all_estimators())


class Spy(ClassifierMixin, BaseEstimator):
    """A classifier that notes the labels it is fitted to."""

    seen = set()  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.seen.update(np.unique(y).tolist())
        self.classes_ = np.unique(y)
        return self

    def partial_fit(self, X, y, classes=None):
        return self.fit(X, y)

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


def around(kind, inner):
    """An estimator of this kind with another one inside; None if it takes none."""
    asked = inspect.signature(KINDS[kind].__init__).parameters
    name = next((name for name in PARAMETERS if name in asked), None)
    if name is None:
        return None
    grids = {grid: {} for grid in ("param_grid", "param_distributions") if grid in asked}
    return KINDS[kind](**{name: [("inner", inner)] if name in ("estimators", "steps") else inner}, **grids)


@pytest.mark.filterwarnings("ignore")
def test_all_estimators_of_scikit_learn_that_number_labels_are_known():
    with sklearn.config_context(enable_metadata_routing=False):
        numbering = set()
        for kind in KINDS:
            Spy.seen.clear()
            with contextlib.suppress(ValueError, TypeError, AttributeError, IndexError):  # it takes no such estimator
                around(kind, Spy()).fit(X, Y)
            if not set(LABELS).issuperset(Spy.seen):
                numbering.add(kind)
    assert numbering == _NUMBER_LABELS


@pytest.mark.parametrize("kind", sorted(_NUMBER_LABELS))
def test_a_private_estimator_inside_is_refused_by_search_cost_evaluation_and_card(kind):
    rng = random.Random(kind)
    score = functools.partial(dp_mic_classif, epsilon=1.0, bounds=(0, 1), classes=LABELS)
    inner = rng.choice(
        [
            PrivateAdditiveClassifier(1.0, **PUBLIC),
            make_pipeline(PrivateSelectKBest(1, epsilon=1.0, **PUBLIC), LogisticRegression()),
            make_pipeline(SelectKBest(score, k=1), LogisticRegression()),
        ]
    )
    wrapper = around(kind, inner)
    fitted = around(kind, LogisticRegression()).fit(X, Y)  # fitted to what it is given, then changed: it is only asked
    fitted.set_params(**{name: getattr(wrapper, name) for name in PARAMETERS if hasattr(wrapper, name)})
    for whole in (wrapper, make_pipeline("passthrough", wrapper)):
        searched = PrivateGridSearch(clone(whole), [{}, {}], epsilon=1.0)
        for ask in (lambda whole=whole: search_cost(whole), lambda searched=searched: searched.fit(X, Y)):
            with pytest.raises(ValueError, match=f"{kind} numbers the labels that occur before it fits the private"):
                ask()
    with pytest.raises(ValueError, match=f"model must be fitted to the labels of the table: {kind} numbers"):
        private_evaluation(fitted, X, Y, epsilon=1.0)
    with pytest.warns(UserWarning, match=f"{kind} numbers the labels"), pytest.raises((TypeError, ValueError)):
        private_evaluation(fitted, X[:3], Y[:3], epsilon=1.0, model_is_public=True)
    with pytest.raises(TypeError, match=f"{kind} numbers the labels"):
        release_card(fitted)
