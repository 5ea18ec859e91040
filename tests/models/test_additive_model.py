"""Additive models fitted to tables of people: mixed columns, errors before the charge, and what a model keeps."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from skdpmic import (
    BudgetLedger,
    PrivateAdditiveClassifier,
    PrivateAdditiveRegressor,
    release_card,
)
from skdpmic._utils import private_estimator as uncached
from skdpmic.models import model_releases as scorecard_noise
from skdpmic.models import model_releases as two_way
from skdpmic.models import parts as target_window
from skdpmic.models.model_releases import CHANGE_OF_NUMBERS, TwoWayNoise
from skdpmic.privacy.composition import rho_for
from tests.labels_of_y import TakesLabelsOfY

N = 2000
PUBLIC = {
    "bounds": {
        "age": (18, 90),
        "income": (1, 1e6, "log"),
        "seen": (pd.Timestamp("2020-01-01"), pd.Timestamp("2023-01-01")),
    },
    "categories": {"sex": ["f", "m"], "smokes": [False, True]},
}
CLASSES = ["no", "yes"]
DELTAS = [1e-6, 0.0]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.uniform(18, 90, N),
            "sex": rng.choice(np.array(["f", "m", "x", None], dtype=object), N),
            "income": np.exp(rng.normal(10, 1, N)),
            "seen": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, N), unit="D"),
            "smokes": rng.random(N) < 0.3,
        }
    )
    X.loc[::7, "age"] = np.nan
    signal = np.where(X["age"] > 50, 1.0, -1.0) + 1.5 * (X["sex"] == "f") - 2.0 * X["age"].isna()
    return X, np.where(signal + rng.normal(size=N) > 0, "yes", "no"), signal.to_numpy()


@pytest.mark.parametrize("delta", DELTAS)
def test_a_mixed_table_needs_no_preparation_and_missing_and_other_have_effects(table, delta):
    X, y, signal = table
    model = PrivateAdditiveClassifier(3.0, delta, **PUBLIC, classes=CLASSES).fit(X, y)
    assert model.score(X, y) > 0.75
    assert model.classes_.tolist() == CLASSES
    effects = model.to_frame().set_index(["feature", "part"])["effect"]
    assert effects["age", "missing"] < 0 < effects["age", "81 to 90"]
    assert effects["sex", "f"] > effects["sex", "other"]
    regressor = PrivateAdditiveRegressor(3.0, delta, **PUBLIC, target_bounds=(-5, 5)).fit(X, signal)
    assert regressor.score(X, signal) > 0.6


@pytest.mark.parametrize("delta", DELTAS)
def test_a_prediction_depends_only_on_its_own_row_and_the_model(table, delta):
    X, y, _ = table
    model = PrivateAdditiveClassifier(1.0, delta, **PUBLIC, classes=CLASSES).fit(X, y)
    whole = model.decision_function(X[:9])
    alone = [model.decision_function(X[i : i + 1])[0] for i in range(9)]
    np.testing.assert_array_equal(whole, alone)
    np.testing.assert_array_equal(model.predict(X[:9]), np.where(whole > 0, "yes", "no"))
    shares = model.predict_proba(X[:9])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert ((shares[:, 1] > 0.5) == (whole > 0)).all()


@pytest.mark.parametrize(
    "axis, y",
    [
        ((1, 1e6, "log"), np.exp),
        ((-5, 0, 5), lambda signal: signal),
        ((pd.Timestamp("2020-01-01"), pd.Timestamp("2021-01-01")),
         lambda signal: pd.Timestamp("2020-07-01") + pd.to_timedelta(signal * 20, unit="D")),
    ],
)  # fmt: skip
def test_a_numeric_target_is_predicted_in_its_own_units_and_within_its_bounds(table, axis, y):
    X, _, signal = table
    target = pd.Series(y(signal))
    model = PrivateAdditiveRegressor(3.0, **PUBLIC, target_bounds=axis).fit(X, target)
    predicted = pd.Series(model.predict(X))
    assert predicted.dtype.kind == target.dtype.kind
    assert predicted.between(axis[0], axis[-1] if axis[-1] != "log" else axis[1]).all()
    assert predicted.corr(target, method="spearman") > 0.7 if predicted.dtype.kind == "f" else predicted.nunique() > 5


def test_public_numbers_decide_between_two_way_tables_and_a_scorecard_by_their_noise(table):
    X, y, _ = table
    wide = {"bounds": (0, 1), "classes": CLASSES}
    noise = TwoWayNoise.for_budget(rho_for(1.0, 1e-6), 12, CHANGE_OF_NUMBERS).noise_scale
    for n, kind in ((math.ceil(3 * noise), "two-way"), (math.floor(3 * noise), "scorecard")):
        numbers = np.random.default_rng(0).uniform(size=(n, 12))
        assert PrivateAdditiveClassifier(1.0, **wide).fit(numbers, np.resize(CLASSES, n)).kind_ == kind
    regressor = PrivateAdditiveRegressor(1.0, bounds=(0, 1), target_bounds=(0, 1))
    assert [regressor.plan(n, 1)[0].statistic for n in (610, 618)] == ["scorecard", "two-way"]
    assert PrivateAdditiveClassifier(1.0, 0.0, **PUBLIC, classes=CLASSES).fit(X, y).kind_ == "scorecard"


# --- Public errors and warnings --------------------------------------------------------------------------------------


REFUSED = {
    "epsilon": ({"epsilon": 0}, "epsilon must be a number > 0"),
    "delta": ({"delta": 1}, "delta must be a number in"),
    "no classes": ({"classes": None}, r"classes must hold all labels .* classes=\['no', 'yes'\], got None"),
    "another class": ({"classes": ["no", "maybe"]}, "y must hold only labels that are in classes"),
    "many classes": ({"classes": ["yes", "no", *"abcdefghi"]}, "classes must hold at most 10"),
    "no bounds": ({"bounds": {"age": (0, 1)}}, "bounds must have an entry for every feature"),
    "many parts": (
        {"categories": PUBLIC["categories"] | {"sex": [f"{i}" for i in range(4001)]}},
        "at most 4,000 parts",
    ),
    "groups": ({"max_rows_per_group": 2}, "groups must identify the person"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_invalid_arguments_are_refused_before_the_charge_and_change_nothing(table, name, tmp_path):
    X, y, _ = table
    changed, message = REFUSED[name]
    ledger = BudgetLedger(tmp_path / "ledger.json", epsilon=10, delta=1e-3)
    model = PrivateAdditiveClassifier(1.0, **PUBLIC, classes=CLASSES, ledger=ledger).fit(X, y)
    before, spent = pickle.dumps(model.coef_), ledger.spent()
    with pytest.raises(ValueError, match=message):
        model.set_params(**changed).fit(X, y)
    assert pickle.dumps(model.coef_) == before
    assert ledger.spent() == spent


@pytest.mark.filterwarnings("error")
def test_a_weak_signal_is_warned_about_before_the_charge(table, tmp_path):
    X, y, signal = table
    ledger = BudgetLedger(tmp_path / "budget.db", 9.0, delta=0.5)
    with pytest.raises(UserWarning, match="noise will exceed the signal of a typical table"):
        PrivateAdditiveRegressor(0.01, 0.0, **PUBLIC, target_bounds=(-5, 5), ledger=ledger).fit(X, signal)
    with pytest.raises(UserWarning, match="noise will exceed the signal of a typical table"):
        PrivateAdditiveClassifier(0.01, 0.0, **PUBLIC, classes=CLASSES, ledger=ledger).fit(X, y)
    with pytest.raises(UserWarning, match="above 1 / n"):
        PrivateAdditiveClassifier(1.0, 0.1, **PUBLIC, classes=CLASSES, ledger=ledger).fit(X, y)
    assert ledger.entries() == []


# --- People ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", DELTAS)
def test_people_with_several_rows_need_more_noise_and_are_protected_as_a_whole(table, delta):
    X, y, _ = table
    groups = np.arange(N) // 4
    one = PrivateAdditiveClassifier(5.0, delta, **PUBLIC, classes=CLASSES).fit(X, y)
    model = clone(one).set_params(max_rows_per_group=4).fit(X, y, groups=groups)
    assert model.n_groups_ == N // 4
    assert model.noise_scale_ == pytest.approx(4 * one.noise_scale_, rel=0.01)
    assert "500 people" in release_card(model).fields["statement"]


# --- What a model keeps ----------------------------------------------------------------------------------------------


CLASSIFIER = PrivateAdditiveClassifier(2.0, categories={0: [0, 1], 1: [0, 1]}, classes=[0, 1])
REGRESSOR = PrivateAdditiveRegressor(2.0, bounds=(0, 1), target_bounds=(0, 3))
OF_LOGARITHMS = PrivateAdditiveRegressor(2.0, bounds=(0, 1), target_bounds=(0, 3, "log"))


def fit_with_fixed_release(model, table, monkeypatch):
    """A fit with the same release for any table: the model, the exact statistics that it computed, and its pickle."""
    exact, rng = [], np.random.default_rng(0)

    def replacement(given, like):
        exact.append(np.concatenate([np.ravel(part) for part in given]))
        return [rng.integers(0, 900, np.shape(part)) for part in like]

    with monkeypatch.context() as patch:
        patch.setattr(uncached, "fresh_nonce", lambda: b"nonce")
        patch.setattr(two_way, "with_gaussian_noise", lambda tables, *_: replacement(tables, tables))
        kind = scorecard_noise.ScorecardNoise
        patch.setattr(kind, "_added", lambda self, counts, *_: replacement([counts], [counts])[0])
        patch.setattr(kind, "choose", lambda self, losses, *_: (exact.append(losses), 3)[1])
        patch.setattr(target_window, "medians", lambda positions, *_: (exact.append(positions), [700, 900, 999])[1])
        model = clone(model).fit(*table)
        return model, np.concatenate(exact), pickle.dumps(model)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("model", [CLASSIFIER, REGRESSOR, OF_LOGARITHMS], ids=["classes", "numbers", "logarithms"])
def test_equal_releases_leave_equal_estimators(model, delta, monkeypatch):
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (300, 2)), rng.integers(0, 2, 300)
    other = X.copy()
    other[7] = 1 - X[7]
    model = clone(model).set_params(delta=delta)
    other_y = y.copy()
    other_y[7] = 1 - y[7]
    model, exact, pickled = fit_with_fixed_release(model, (X, y), monkeypatch)
    _, exact_of_other, pickled_of_other = fit_with_fixed_release(model, (other, other_y), monkeypatch)
    assert (exact != exact_of_other).any()
    assert pickled == pickled_of_other
    np.testing.assert_array_equal(pickle.loads(pickled).predict(X), model.predict(X))


# --- With other estimators -------------------------------------------------------------------------------------------


def test_a_plan_states_the_noise_of_a_fit_before_there_is_a_table(table):
    X, y, _ = table
    for delta in DELTAS:
        model = PrivateAdditiveClassifier(1.0, delta, **PUBLIC, classes=CLASSES)
        row = model.plan(N, 5)[0]
        model.fit(X, y)
        assert (row.statistic, row.mechanism, row.noise_scale) == (
            model.kind_, model._entry.mechanism, model.noise_scale_,
        )  # fmt: skip
        assert (row.epsilon, row.delta) == model.privacy_spent_
        assert type(row.error) is float  # and not of numpy, whose repr would fill the screen


@pytest.mark.filterwarnings("ignore:noise will exceed the signal")
@pytest.mark.parametrize("delta", DELTAS)
def test_no_part_is_named_or_said_to_have_records_if_its_count_is_within_the_noise(delta):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.uniform(0, 40, N), "sex": rng.choice(["f", "m"], N)})
    public = {"bounds": {"age": (0, 80)}, "categories": {"sex": ["f", "m", "never"]}, "classes": [0, 1, 2]}
    held = {"f", "m", "0 to 10", "10 to 20", "20 to 30", "30 to 40"}
    n_wrong = 0
    for _ in range(30):
        model = PrivateAdditiveClassifier(2.0, delta, **public).fit(X, rng.integers(0, 3, N))
        frame = model.to_frame()
        assert (frame["count"] >= 0).all()
        said = set(frame.loc[frame["has_records"], "part"])
        assert said >= held
        assert {cell for column in model._shown().columns[2:4] for cell in column.cells} <= said
        n_wrong += said != held
    assert n_wrong <= 4  # of 30, each with a probability of 2.5%: alpha = 0.001


class Classifier(TakesLabelsOfY, PrivateAdditiveClassifier):
    pass


CHECKED = [
    Classifier(bounds=(-10, 10)),
    PrivateAdditiveRegressor(bounds=(-10, 10), target_bounds=(-300, 300), delta=0.0, n_jobs=2),
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(CHECKED)
def test_additive_models_pass_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("n_classes", [2, 3, pytest.param(10, marks=pytest.mark.slow)])
def test_scores_are_the_sum_of_the_effects_and_the_intercept(delta, n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (1000, 2)), rng.integers(0, n_classes, 1000)
    public = {"categories": {0: [0, 1, 2], 1: [0, 1, 2]}, "classes": list(range(n_classes))}
    model = PrivateAdditiveClassifier(5.0, delta, **public).fit(X, y)
    rows = 1 if n_classes == 2 else n_classes
    assert model.coef_.shape == model.coef_noise_scale_.shape == (rows, 10)
    expected = model.intercept_ + model.coef_[:, [2]].ravel() + model.coef_[:, [5 + 1]].ravel()
    np.testing.assert_allclose(np.atleast_1d(model.decision_function([[2, 1]])[0]), expected)
