"""Without noise, figures equal those of scikit-learn, and sampling errors are those of samples."""

import math

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, brier_score_loss, mean_absolute_error, r2_score, roc_auc_score, roc_curve

from skdpmic import private_evaluation
from skdpmic.models import evaluation

pytestmark = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose predictions are given in X."""

    def __init__(self, n_classes=2):
        self.n_classes = n_classes

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    @property
    def classes_(self):
        return np.arange(self.n_classes)

    def predict_proba(self, X):
        return np.column_stack([1 - X, X]) if self.n_classes == 2 else X

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


class GivenNumbers(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return X[:, 0]


def binary_data(n, rate=0.3, seed=0):
    rng = np.random.default_rng(seed)
    p = 1 / (1 + np.exp(-(1.5 * rng.normal(size=n) + math.log(rate / (1 - rate)))))
    return p[:, None], (rng.random(n) < p).astype(int)


def numeric_data(n, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    return x[:, None], np.clip(x + noise * rng.normal(size=n), 0, 1)


def evaluated(X, y, epsilon=math.inf, model=None, **options):
    return private_evaluation(model or Given(), X, y, epsilon=epsilon, model_is_public=True, **options)


def rounded(p, n_bins):
    edges = np.sin(np.linspace(0, np.pi / 2, n_bins + 1)) ** 2
    middles = (edges[1:] + edges[:-1]) / 2
    return middles[np.clip(np.searchsorted(edges, p, side="right") - 1, 0, n_bins - 1)]


def test_without_noise_figures_of_two_classes_equal_those_of_scikit_learn_for_rounded_predictions():
    X, y = binary_data(500)
    result, p = evaluated(X, y, n_bins=12), rounded(X[:, 0], 12)
    figures = result.figures
    assert figures["roc_auc"].value == pytest.approx(roc_auc_score(y, p))
    assert figures["accuracy"].value == pytest.approx(accuracy_score(y, p > 0.5))
    assert figures["brier_score"].value == pytest.approx(brier_score_loss(y, p))
    assert all(figure.lower == pytest.approx(figure.upper, abs=3e-4) for figure in figures.values())
    fpr, tpr = result.roc_curve()
    expected = roc_curve(y, p, drop_intermediate=False)
    points = np.column_stack([fpr, tpr])
    assert all(np.isclose(points, point).all(axis=1).any() for point in np.column_stack(expected[:2]))


def test_without_noise_figures_of_several_classes_equal_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.dirichlet([1, 1, 2], size=800)
    y = np.array([rng.choice(3, p=p) for p in X])
    figures = evaluated(X, y, model=Given(3), n_bins=1000).figures
    assert figures["roc_auc"].value == pytest.approx(roc_auc_score(y, X, multi_class="ovr"), abs=1e-3)
    assert figures["roc_auc of 2"].value == pytest.approx(roc_auc_score(y == 2, X[:, 2]), abs=1e-3)
    assert figures["accuracy"].value == pytest.approx(accuracy_score(y, X.argmax(axis=1)))
    brier = np.square(X - np.eye(3)[y]).sum(axis=1).mean()
    assert figures["brier_score"].value == pytest.approx(brier, abs=2e-3)


class AtAThreshold(Given):
    """A classifier that predicts another class than the most probable one, and whose classes are in any order."""

    def __init__(self, classes=(0, 1)):
        self.classes = classes

    @property
    def classes_(self):
        return np.array(self.classes)

    def predict_proba(self, X):
        return X

    def predict(self, X):
        return self.classes_[np.argmin(X / np.arange(1, len(self.classes) + 1), axis=1)]


def test_figures_are_those_of_predict_and_of_classes_in_the_order_of_the_model():
    """Random orders of 2 to 6 classes, numbers or text, of a model that predicts an improbable class."""
    rng = np.random.default_rng(0)
    for n_classes in (2, 2, 2, 3, 6):
        labels = rng.permutation([list(range(-1, n_classes - 1)), list("abcdef"[:n_classes])][rng.integers(2)])
        X = rng.dirichlet(np.ones(n_classes), size=150)
        y = np.array([rng.choice(labels, p=p) for p in X])
        model = AtAThreshold(labels.tolist())
        figures = evaluated(X, y, model=model, n_bins=1000).figures
        assert figures["accuracy"].value == pytest.approx(accuracy_score(y, model.predict(X)))
        for label, of_label in zip(labels, X.T, strict=True):
            if n_classes > 2 or label == max(labels):
                area = figures["roc_auc" if n_classes == 2 else f"roc_auc of {label}"]
                assert area.value == pytest.approx(roc_auc_score(y == label, of_label), abs=5e-3)


def test_without_noise_figures_of_a_regressor_equal_those_of_scikit_learn():
    X, y = numeric_data(500)
    figures = evaluated(5 * X - 1, 5 * y - 1, model=GivenNumbers(), target_bounds=(-1, 4)).figures
    assert figures["r2"].value == pytest.approx(r2_score(y, X), abs=1e-3)
    assert figures["mean_absolute_error"].value == pytest.approx(mean_absolute_error(5 * y, 5 * X), abs=1e-3)


def test_sampling_errors_match_the_deviation_of_samples():
    """200 samples of 1,000 people: the mean estimate is within 20% of their standard deviation."""
    samples = [evaluate_sample(seed) for seed in range(200)]
    for name in ("roc_auc", "accuracy", "brier_score"):
        values, errors = zip(*[(s[name].value, s[name].sampling_error) for s in samples], strict=True)
        assert np.mean(errors) == pytest.approx(np.std(values), rel=0.2)


def evaluate_sample(seed):
    X, y = binary_data(1000, seed=seed)
    release = evaluation._ClassRelease.for_budget(Given(), math.inf, None, 16, 1000, 1000)
    predictions = np.hstack([1 - X, X]), (X[:, 0] > 0.5).astype(int)
    figures, *_ = release.draw(release.records(predictions, y, 1000), None)
    return figures
