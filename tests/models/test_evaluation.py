"""What a private evaluation accepts and refuses, what it charges, and what its result keeps."""

import copy
import math
import pickle

import numpy as np
import pandas
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from skdpmic import (
    BudgetError,
    BudgetLedger,
    PrivacyLeakWarning,
    PrivateAdditiveClassifier,
    PrivateAdditiveRegressor,
    PrivateSelectKBest,
    private_evaluation,
    release_card,
)
from skdpmic.models.evaluation import predicted_by, why_not_private
from tests.folding import each

N = 400
RNG = np.random.default_rng(0)
X = RNG.random((N, 2))
Y = (X[:, 0] + RNG.normal(0, 0.3, N) > 0.5).astype(int)
MODEL = LogisticRegression().fit(X, Y)
REGRESSOR = LinearRegression().fit(X, X[:, 0])
PUBLIC = {"model_is_public": True}


def evaluate(model=MODEL, y=Y, rows=X, **options):
    return private_evaluation(model, rows, y, **({"epsilon": 1.0} | PUBLIC | options))


# --- Whether the model is private ------------------------------------------------------------------------------------


def our_step(subpackage, entry=None):
    kind = type("Step", (BaseEstimator,), {"__module__": f"skdpmic.{subpackage}.x", "_entry": entry})
    kind.fit = kind.transform = lambda self, X, y=None: self
    return kind()


def test_a_model_not_known_to_be_private_is_refused_before_any_data_is_read():
    for model in (MODEL, make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)):
        with pytest.raises(ValueError, match=r"known to be private.*model_is_public=True"):
            private_evaluation(model, None, None, epsilon=1)


def test_a_model_of_this_package_whose_guarantee_is_broken_is_not_private():
    with pytest.warns(PrivacyLeakWarning):
        selector = PrivateSelectKBest(1, epsilon=1, bounds=(0, 1), classes=[0, 1], random_state=0).fit(X, Y)
    assert "random_state" in why_not_private(make_pipeline(selector, our_step("models")))
    assert "epsilon" in why_not_private(our_step("models", selector._entry._replace(epsilon=math.inf, broken_by="")))


def test_models_of_this_package_predict_each_record_the_same_alone_and_among_others():
    """To the last bit, with labels, missing values and one record that would change all others if it could."""
    frame = pandas.DataFrame(X, columns=["a", "b"]).assign(c=np.where(X[:, 1] > 0.5, "x", "y"))
    frame.loc[::7, "a"] = np.nan
    frame.loc[11, "b"] = 1e12
    public = {"bounds": {"a": (0, 1), "b": (0, 1)}, "categories": {"c": ["x", "y"]}}
    classes, numbers = {"classes": [0, 1]}, {"target_bounds": (0, 1)}
    models = [
        PrivateAdditiveClassifier(1.0, **public, **classes).fit(frame, Y),
        PrivateAdditiveClassifier(1.0, 0.0, **public, **classes).fit(frame, Y),
        PrivateAdditiveRegressor(1.0, **public, **numbers).fit(frame, X[:, 1]),
        make_pipeline(
            PrivateSelectKBest(2, epsilon=1, **public, **classes).set_output(transform="pandas"),
            PrivateAdditiveClassifier(1.0, **public, **classes),
        ).fit(frame, Y),
    ]
    for model in models:
        assert why_not_private(model) == ""
        together = predicted_by(model, frame)
        alone = zip(*(predicted_by(model, frame[i : i + 1]) for i in range(10)), strict=True)
        for all_records, single in zip(together, alone, strict=True):
            np.testing.assert_array_equal(all_records[:10], np.concatenate(single))
    assert evaluate(models[0], rows=frame, model_is_public=False).privacy_spent == (1.0, 0.0)
    assert evaluate(models[2], X[:, 1], frame, model_is_public=False).figures["r2"].upper <= 1  # with the model's range


class Standardizing(ClassifierMixin, BaseEstimator):
    """A classifier whose predictions depend on all records of one call."""

    classes_ = np.array([0, 1])

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict_proba(self, X):
        p = np.asarray(X)[:, 0]
        p = (p - p.min()) / max(np.ptp(p), 1e-9)
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return self.predict_proba(X)[:, 1] > 0.5


@each("rows", [X, pandas.DataFrame(X, index=np.arange(N) * 7.0), X.tolist()])
def test_no_prediction_depends_on_another_record(rows):
    others = X.copy()
    others[1:] = 0
    changed = predicted_by(Standardizing(), type(rows)(others) if not isinstance(rows, np.ndarray | list) else others)
    assert (predicted_by(Standardizing(), rows)[0][0] == changed[0][0]).all()


# --- What is refused --------------------------------------------------------------------------------------------------


@each(
    "options, error, text",
    [
        ({"epsilon": 0}, ValueError, "epsilon must be"),
        ({"model_is_public": "yes"}, ValueError, "model_is_public must be a bool"),
        ({"model": LogisticRegression}, TypeError, "fitted classifier or regressor"),
        ({"model": LogisticRegression()}, NotFittedError, "not fitted"),
        ({"model": StandardScaler().fit(X)}, TypeError, "fitted classifier or regressor, got StandardScaler"),
        ({"model": LinearSVC().fit(X, Y)}, TypeError, "predict_proba"),
        ({"n_bins": 5}, ValueError, "n_bins must be None or an even int"),
        ({"target_bounds": (0, 1)}, ValueError, "target_bounds must be None for a classifier"),
        ({"model": REGRESSOR, "y": X[:, 0]}, ValueError, "target_bounds must be the public range"),
        ({"model": REGRESSOR, "y": X[:, 0], "target_bounds": (0, 1), "n_bins": 4}, ValueError, "n_bins must be None"),
        ({"y": Y + 5}, ValueError, "y must hold only labels that are in model.classes_"),
        ({"y": Y[:-1]}, ValueError, "inconsistent numbers of samples"),
        ({"rows": X[:3], "y": Y[:3]}, ValueError, "minimum of 4"),
        ({"groups": np.arange(N)}, ValueError, "max_rows_per_group must be given with groups"),
        ({"max_rows_per_group": 3}, ValueError, "groups must identify"),
        ({"rows": X[:, :1]}, ValueError, "features"),
    ],
)
def test_invalid_arguments_are_refused_and_cost_nothing(options, error, text, tmp_path_factory):
    ledger = BudgetLedger(tmp_path_factory.mktemp("ledger") / "ledger", epsilon=5)
    with pytest.raises(error, match=text):
        evaluate(**options, ledger=ledger)
    assert ledger.spent() == (0.0, 0.0)


# --- What it charges --------------------------------------------------------------------------------------------------


def test_an_evaluation_charges_its_cost_and_draws_no_noise_beyond_the_limit(tmp_path):
    ledger = BudgetLedger(tmp_path / "ledger", epsilon=1)
    evaluation = evaluate(epsilon=0.75, ledger=ledger)
    (entry,) = ledger.entries()
    assert evaluation.entry._replace(when=entry.when) == entry
    assert (entry.what, entry.epsilon, entry.n, entry.unit) == ("private_evaluation", 0.75, N, "record")
    assert evaluation.privacy_spent == (0.75, 0.0)
    with pytest.raises(BudgetError):
        evaluate(epsilon=0.5, ledger=ledger)


def test_people_with_several_rows_are_protected_as_a_whole(tmp_path):
    ledger = BudgetLedger(tmp_path / "ledger", epsilon=1, max_rows_per_person=4)
    person = np.arange(N) // 4
    evaluation = evaluate(groups=person, max_rows_per_group=2, ledger=ledger)
    (entry,) = ledger.entries()
    assert (entry.unit, entry.n, entry.rows_per_person) == ("person", N // 4, 2)
    assert evaluation.n_samples == N // 2
    assert evaluation.noise_scale == 2 * evaluate(n_bins=8).noise_scale == 4.8
    numbers = {"model": REGRESSOR, "y": X[:, 0], "target_bounds": (0, 1)}
    assert evaluate(**numbers, groups=person, max_rows_per_group=4).noise_scale == pytest.approx(
        4 * evaluate(**numbers).noise_scale
    )


def test_a_model_fitted_to_people_asks_for_people_before_the_charge(tmp_path):
    """What it knows of its unit is a parameter of the model, of a step, or of what it wraps."""
    person, ledger = np.arange(N) // 4, BudgetLedger(tmp_path / "ledger", epsilon=5)
    options = {"bounds": (0, 1), "classes": [0, 1]}
    model = PrivateAdditiveClassifier(5.0, **options, max_rows_per_group=4).fit(X, Y, groups=person)
    selector = PrivateSelectKBest(1, epsilon=5, **options, max_rows_per_group=4).fit(X, Y, groups=person)
    for each_model in (model, make_pipeline(selector, LogisticRegression().fit(selector.transform(X), Y))):
        with pytest.raises(ValueError, match=r"max_rows_per_group=4: pass groups=... and max_rows_per_group=4\."):
            evaluate(each_model, ledger=ledger)
    with pytest.raises(ValueError, match="max_rows_per_group=4"):  # as fitted, whatever the parameter is now
        evaluate(copy.copy(model).set_params(max_rows_per_group=None), ledger=ledger)
    card = release_card(evaluate(model, groups=range(N), max_rows_per_group=1, ledger=ledger), ledger=ledger)
    assert card.fields["guarantees"][0]["unit"] == "person"
    assert "for the rows drawn of each person" in card.fields["published"]["facts"][-1]["text"]


@each(
    "rows, said", [({3: np.nan}, "Input X contains NaN"), ({7: "secret"}, "could not convert string"), (1, "features")]
)
def test_errors_of_a_model_are_said_to_be_its_own_and_quote_no_value(rows, said):
    changed = X[:, :rows] if isinstance(rows, int) else X.astype(object)
    for i, value in {} if isinstance(rows, int) else rows.items():
        changed[i, 0] = value
    with pytest.raises(ValueError, match=f"^model must predict the records of X, .*{said}") as raised:
        evaluate(rows=changed)
    assert "target" not in str(raised.value)
    assert "secret" not in str(raised.value)


def test_a_model_that_predicts_several_labels_for_a_record_is_refused():
    class Stammering(LogisticRegression):
        def predict(self, X):
            return np.repeat(super().predict(X), 2 * (X[0, 0] > 0.5))

    with pytest.raises(ValueError, match="must predict one number for every record"):
        evaluate(Stammering().fit(X, Y))


def test_warnings_of_a_model_about_records_are_not_shown(recwarn):
    labels = np.array(["a", "b"])[Y][:, None]
    model = make_pipeline(OneHotEncoder(handle_unknown="warn"), LogisticRegression()).fit(labels, Y)
    evaluate(model, rows=np.where(np.arange(N)[:, None] == 5, "c", labels))
    assert not recwarn.list


def test_every_person_counts_equally_often():
    groups = np.concatenate([np.zeros(N - 9), np.arange(1, 10)])
    evaluation = evaluate(epsilon=math.inf, groups=groups, max_rows_per_group=3)
    assert sum(counts.sum() for counts in evaluation.noisy_counts.values()) == 30


def test_progress_does_not_show_the_number_of_rows_of_people(capsys):
    evaluate(verbose=2, groups=np.arange(N) // 4, max_rows_per_group=2)
    assert capsys.readouterr().out == ""
    evaluate(verbose=1)
    assert f"{N}/{N} records" in capsys.readouterr().out


# --- What a result keeps and shows ------------------------------------------------------------------------------------


def test_a_result_keeps_only_noisy_and_public_values():
    evaluation = pickle.loads(pickle.dumps(evaluate(epsilon=0.5)))
    assert set(vars(evaluation)) == {"figures", "noisy_counts", "edges", "noise_scale", "n_samples", "entry"}
    (counts,) = evaluation.noisy_counts.values()
    assert evaluation.figures["accuracy"] != evaluate(epsilon=math.inf).figures["accuracy"]
    assert counts.sum() != N


def test_a_result_is_shown_as_text_a_frame_and_html():
    numbers = evaluate(REGRESSOR, X[:, 0], target_bounds=(0, 1))
    for evaluation, names in ((evaluate(), ["ROC AUC", "accuracy", "Brier score"]), (numbers, ["R²"])):
        assert all(name in repr(evaluation) and name in evaluation._repr_html_() for name in names)
        assert evaluation.to_frame()["figure"].tolist() == list(evaluation.figures)
    with pytest.raises(ValueError, match="without curves"):
        numbers.roc_curve()
    with pytest.raises(ValueError, match="label must be one of"):
        evaluate().calibration("ill")


@each("epsilon", [1e-100, 1e-25, 1e-6, 30.0, 1e16, 1e155, 1e300])
def test_any_budget_gives_figures_in_their_range(epsilon):
    with np.errstate(all="raise"):
        for kind in ({"y": Y[:20]}, {"model": REGRESSOR, "y": X[:20, 0], "target_bounds": (0, 1)}):
            for name, figure in evaluate(epsilon=epsilon, rows=X[:20], **kind).figures.items():
                assert math.isnan(figure.value) or figure.lower <= figure.value <= figure.upper or name == "r2"
                assert figure.upper <= 1
