"""The ledger: no noise without a charge, and no charge beyond the limit."""

import contextlib
import math
import pickle
import time
from datetime import datetime, timedelta
from fractions import Fraction

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skdpmic import (
    BudgetError,
    BudgetLedger,
    DPMICScorer,
    DPMICSelector,
    dp_mic_classif,
    dp_mic_regression,
    private_score,
)
from skdpmic.budget.ledger_entry import LedgerEntry
from skdpmic.privacy import mechanisms, top_k
from skdpmic.privacy.composition import epsilon_of, rho_for
from skdpmic.release import path as path_of_a_release
from skdpmic.release.path import run
from skdpmic.statistics.mic import noisy_tables as geometric
from skdpmic.table.records import TableRecords
from tests.budget.test_ledger_file import files_up_to
from tests.select_names import SelectNames

PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1)}


def table(n=60, d=3):
    rng = np.random.default_rng(0)
    return rng.random((n, d)), rng.random(n)


def pair():
    X, y = table()
    return X[:, 0], y


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget.db"


# --- Limits and charges -------------------------------------------------------------------------------------------


def test_an_entry_says_what_was_charged_when_and_for_how_many(place):
    ledger = BudgetLedger(place, 1.0)
    ledger.charge_entry(LedgerEntry("a count", 0.25, n=np.int64(60), d=3))
    (entry,) = BudgetLedger(place, 1.0).entries()
    assert entry._replace(when="") == LedgerEntry("a count", 0.25, n=60, d=3)
    when = datetime.fromisoformat(entry.when)
    assert when.utcoffset() == timedelta(0)
    assert abs(when.timestamp() - time.time()) < 60
    assert ledger.spent() == (0.25, 0.0)
    assert ledger.remaining() == (0.75, 0.0)


def test_a_refused_charge_changes_nothing_and_says_how_much_is_left(path):
    ledger = BudgetLedger(path, 1.0)
    ledger.charge("first", 0.75)
    before = path.read_bytes()
    with pytest.raises(BudgetError, match=r"cost of \(epsilon, delta\) = \(0.5, 0.0\) .*\(0.75, 0.0\) of \(1.0, 0.0\)"):
        ledger.charge("second", 0.5)
    with pytest.raises(BudgetError):
        ledger.charge("without privacy", math.inf)
    with pytest.raises(BudgetError):
        ledger.charge("approximate", 0.1, 1e-9)
    assert path.read_bytes() == before
    ledger.charge("third", 0.25)


def test_costs_of_equal_epsilon_are_not_merged_if_delta_or_rho_differs(path, tmp_path):
    basic = BudgetLedger(path, 1.0, 1e-6, composition="basic")
    for delta in (1e-8, 3e-7, 0.0, 3e-7):
        basic.charge("x", 0.125, delta)
    assert basic.spent() == (0.5, 6.1e-7)
    with pytest.raises(BudgetError):
        basic.charge("x", 0.125, 4e-7)

    zcdp = BudgetLedger(tmp_path / "zcdp.db", 1.0, 1e-6)
    limit = rho_for(1.0, 1e-6)
    for share in (0.125, 0.25, 0.125):
        zcdp.charge("x", 0.125, 1e-7, rho=share * limit)
    assert zcdp.spent() == (epsilon_of(0.5 * limit, 1e-6), 1e-6)
    with pytest.raises(BudgetError):
        zcdp.charge("x", 0.125, 1e-7, rho=0.625 * limit)
    zcdp.charge("x", 0.125, 1e-7, rho=0.5 * limit)


@pytest.mark.slow
def test_limits_must_agree_with_an_existing_ledger(place):
    ledger = BudgetLedger(place, 1.0, 1e-6)
    assert BudgetLedger(place, 1, delta=1e-6, composition="zcdp") == ledger
    for limits in (
        {"epsilon": 2.0, "delta": 1e-6},
        {"epsilon": 1.0},
        {"epsilon": 1.0, "delta": 1e-6, "composition": "basic"},
        {"epsilon": 1.0, "delta": 1e-6, "max_rows_per_person": 1},
    ):
        with pytest.raises(ValueError, match=r"\(1.0, 1e-06, 'zcdp', None\), got .*BudgetLedger.open"):
            BudgetLedger(place, **limits)
    opened = BudgetLedger.open(place)
    assert vars(opened) == vars(ledger)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"epsilon": 0}, "epsilon must be a number > 0"),
        ({"epsilon": math.inf}, "epsilon must be finite"),
        ({"epsilon": 1, "delta": 1}, r"delta must be a number in \[0, 1\)"),
        ({"epsilon": 1, "composition": "best"}, "composition must be 'auto', 'basic' or 'zcdp', got 'best'"),
        ({"epsilon": 1, "composition": "zcdp"}, "needs delta > 0"),
        ({"epsilon": 1, "max_rows_per_person": 0}, "max_rows_per_person must be None or an int from 1"),
    ],
)
def test_bad_limits_are_refused(path, arguments, message):
    with pytest.raises(ValueError, match=message):
        BudgetLedger(path, **arguments)
    assert not path.exists()


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"epsilon": -1}, "epsilon must be a number > 0"),
        ({"epsilon": 1, "delta": -1}, "delta must be"),
        ({"epsilon": 1, "rho": math.nan}, "rho must be a number"),
        ({"epsilon": 1, "rho": 0.0}, "rho must be None or a number > 0"),
        ({"epsilon": 1, "delta": 1e-9}, "rho must be given for a cost with delta > 0"),
    ],
)
def test_bad_charges_are_refused(place, arguments, message):
    ledger = BudgetLedger(place, 9.0, 1e-6)
    with pytest.raises(ValueError, match=message):
        ledger.charge("x", **arguments)
    assert ledger.entries() == []


def test_copies_pickles_and_clones_are_the_same_ledger(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ledger = BudgetLedger("budget.db", 1.0)
    pickled = pickle.dumps(ledger)
    monkeypatch.chdir("/")
    copy = pickle.loads(pickled)
    copy.charge("copy", 0.25)
    assert copy == ledger
    assert hash(copy) == hash(ledger)
    assert copy != BudgetLedger(tmp_path / "other.db", 1.0)
    assert ledger.spent() == (0.25, 0.0)
    assert clone(DPMICScorer(ledger=ledger)).ledger is ledger
    assert repr(ledger) == f"BudgetLedger('{path}', epsilon=1.0, delta=0.0, spent=(0.25, 0.0), unit='record')"


# --- Charged before noise is drawn --------------------------------------------------------------------------------

FITS = {
    "scorer": lambda ledger: DPMICScorer(epsilon=0.5, ledger=ledger, **PUBLIC).fit(*table()),
    "selector": lambda ledger: DPMICSelector(k=1, epsilon=0.5, ledger=ledger, **PUBLIC).fit(*table()),
    "support": lambda ledger: SelectNames(k=1, epsilon=0.5, ledger=ledger, **PUBLIC).fit(*table()),
    "regression": lambda ledger: dp_mic_regression(*table(), epsilon=0.5, ledger=ledger, **PUBLIC),
    "classif": lambda ledger: dp_mic_classif(
        table()[0], table()[1] > 0.5, epsilon=0.5, ledger=ledger, bounds=(0, 1), classes=[0, 1]
    ),
    "counts": lambda ledger: DPMICScorer(epsilon=0.5, mechanism="geometric", ledger=ledger, **PUBLIC).fit(*table()),
    "chunks": lambda ledger: DPMICScorer(epsilon=0.5, ledger=ledger, B=8, **PUBLIC).partial_fit(*table()).publish(),
    "sketch": lambda ledger: DPMICScorer(epsilon=0.5, ledger=ledger).fit_sketch(
        DPMICScorer(**PUBLIC).empty_sketch(60, n_features=3).update(*table())
    ),
    "pair": lambda ledger: private_score(*pair(), epsilon=0.5, bounds=((0, 1), (0, 1)), ledger=ledger),
    "pair of counts": lambda ledger: private_score(
        *pair(), mechanism="geometric", epsilon=0.5, bounds=((0, 1), (0, 1)), ledger=ledger
    ),
}


@pytest.mark.parametrize("name", FITS)
def test_every_private_function_is_charged(place, name):
    ledger = BudgetLedger(place, 1.0)
    FITS[name](ledger)
    (entry,) = ledger.entries()
    assert (entry.epsilon, entry.delta, entry.n, entry.d) == (0.5, 0.0, 60, 1 if name.startswith("pair") else 3)


@contextlib.contextmanager
def broken_noise(monkeypatch):
    """Drawing noise fails, and computing a score is noticed."""

    def noise(*arguments):
        raise AssertionError("noise was drawn")

    with monkeypatch.context() as patch:
        patch.setattr(mechanisms, "discrete_laplace", noise)
        patch.setattr(top_k, "geometric", noise)
        patch.setattr(geometric, "discrete_laplace", noise)
        yield


def assert_full_ledger_refuses_before_noise(fit, path, monkeypatch):
    ledger = BudgetLedger(path, 0.5)
    fit(ledger)
    with broken_noise(monkeypatch), pytest.raises(BudgetError):
        fit(ledger)
    assert len(ledger.entries()) == 1


@pytest.mark.parametrize("name", FITS)
def test_a_full_ledger_refuses_before_any_noise_is_drawn(path, name, monkeypatch):
    assert_full_ledger_refuses_before_noise(FITS[name], path, monkeypatch)


def charges_late(entry, draw, *, ledger, **options):
    """Deliberately broken: charges after the release."""
    kept = run(entry, draw, ledger=None, **options)
    ledger.charge_entry(entry)
    return kept


def test_an_estimator_that_charges_late_is_caught(path, monkeypatch):
    monkeypatch.setattr(path_of_a_release, "run", charges_late)

    def fit(ledger):
        DPMICScorer(epsilon=0.5, ledger=ledger, **PUBLIC).fit(*table())

    with pytest.raises(AssertionError, match="noise was drawn"):
        assert_full_ledger_refuses_before_noise(fit, path, monkeypatch)


@pytest.mark.parametrize("name", FITS)
def test_no_noise_is_drawn_if_the_charge_cannot_be_written(path, name, monkeypatch):
    ledger = BudgetLedger(path, 1.0)
    FITS[name](ledger)  # so that nothing else, such as compiled code, has to be written later
    with broken_noise(monkeypatch), files_up_to(0), pytest.raises(OSError, match="cannot be used"):
        FITS[name](ledger)
    assert ledger.spent() == (0.5, 0.0)
    FITS[name](ledger)
    assert ledger.spent() == (1.0, 0.0)


def test_a_refused_fit_computes_no_score_and_leaves_the_estimator_as_it_was(path, monkeypatch):
    scorer = DPMICScorer(epsilon=0.7, ledger=BudgetLedger(path, 1.0), **PUBLIC).fit(*table())
    before = vars(scorer).copy()
    monkeypatch.setattr(TableRecords, "map_features", None)
    with pytest.raises(BudgetError):
        scorer.fit(*table(d=4))
    assert vars(scorer) == before


def test_invalid_data_is_not_charged(path):
    ledger = BudgetLedger(path, 1.0)
    X, y = table()
    for X_bad, parameters in ((X * np.inf, {}), (X, {"B": 3}), (X, {"c": 0}), (X, {"bounds": None})):
        with pytest.raises(ValueError):
            DPMICScorer(ledger=ledger, **PUBLIC).set_params(**parameters).fit(X_bad, y)
    assert ledger.entries() == []


@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.parametrize("bad", [{"random_state": -1}, {"random_state": "seed"}, {"n_jobs": 0}, {"k": 10}])
def test_refused_parameters_are_not_charged(path, bad):
    # k = 10 with 3 features only warns, and warnings are errors here.
    ledger = BudgetLedger(path, 1.0)
    selector = DPMICSelector(k=1, ledger=ledger, B=8, **PUBLIC).partial_fit(*table()).set_params(**bad)
    sketch = DPMICScorer(**PUBLIC).empty_sketch(60, n_features=3).update(*table())
    for release in (
        selector.publish,
        lambda: selector.fit(*table()),
        lambda: selector.set_params(B="auto").fit_sketch(sketch),
    ):
        with pytest.raises((ValueError, UserWarning)):
            release()
    assert ledger.entries() == []


def test_gaussian_noise_is_charged_by_its_rho(path, monkeypatch):
    ledger = BudgetLedger(path, 1.0, 1e-6)
    scorer = DPMICScorer(epsilon=0.25, delta=1e-6, mechanism="gaussian", ledger=ledger, **PUBLIC).fit(*table())
    (entry,) = ledger.entries()
    assert (entry.epsilon, entry.delta, entry.rho) == (0.25, 1e-6, rho_for(0.25, 1e-6))
    n_fits = math.floor(rho_for(1.0, 1e-6) / entry.rho)
    assert n_fits > 8  # basic composition allows only one
    for _ in range(n_fits - 1):
        scorer.fit(*table())
    with monkeypatch.context() as patch:
        patch.setattr(mechanisms, "discrete_gaussian", None)
        with pytest.raises(BudgetError):
            scorer.fit(*table())
    assert len(ledger.entries()) == n_fits
    assert ledger.spent()[0] <= 1.0
    with pytest.raises(BudgetError):
        DPMICScorer(epsilon=math.inf, delta=1e-6, mechanism="gaussian", ledger=ledger, **PUBLIC).fit(*table())


@pytest.mark.parametrize("k, name, delta", [(1, "one-shot", 0.0), (60, "exponential", 1e-6)])
def test_a_support_release_that_needs_no_delta_is_charged_none(path, k, name, delta):
    ledger = BudgetLedger(path, 9.0, 1e-6)
    selector = SelectNames(k, epsilon=0.5, delta=1e-6, ledger=ledger, **PUBLIC)
    selector.fit(*table(d=70))
    (entry,) = ledger.entries()
    assert selector.mechanism_ == name
    assert (entry.epsilon, entry.delta, entry.rho) == (0.5, delta, rho_for(0.5, delta) if delta else None)
    assert selector.privacy_spent_ == (0.5, delta)


def test_infinite_epsilon_is_refused_by_every_ledger(path):
    with pytest.raises(BudgetError):
        DPMICScorer(epsilon=math.inf, ledger=BudgetLedger(path, 1e300), **PUBLIC).fit(*table())


# --- Inside scikit-learn ------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("backend", [pytest.param("loky", marks=pytest.mark.slow), "threading"])
def test_a_grid_search_writes_an_entry_for_every_fit(path, backend):
    ledger = BudgetLedger(path, 10.0)
    pipeline = make_pipeline(DPMICSelector(k=1, ledger=ledger, **PUBLIC), LinearRegression())
    grid = {"dpmicselector__epsilon": [0.01, 0.02, 0.03], "dpmicselector__k": [1, 2], "dpmicselector__B": [8, 9]}
    with parallel_config(backend=backend, n_jobs=2):
        search = GridSearchCV(pipeline, grid, cv=5, error_score="raise").fit(*table())
    entries = ledger.entries()
    assert len(entries) == 12 * 5 + 1
    assert {entry.n for entry in entries} == {48, 60}
    best = Fraction(repr(search.best_params_["dpmicselector__epsilon"]))
    assert Fraction(repr(ledger.spent()[0])) == 4 * 5 * Fraction(6, 100) + best


def test_a_grid_search_that_runs_out_of_budget_warns_and_its_refit_raises(path):
    ledger = BudgetLedger(path, 0.5)
    pipeline = make_pipeline(DPMICSelector(k=1, epsilon=0.1, ledger=ledger, **PUBLIC), LinearRegression())
    search = GridSearchCV(pipeline, {"dpmicselector__B": [8, 9]}, cv=4)
    with (
        pytest.warns(FitFailedWarning, match="BudgetError"),
        pytest.warns(UserWarning, match=r"test scores are non-finite: \[.* nan\]"),
        pytest.raises(BudgetError),  # from the refit
    ):
        search.fit(*table())
    assert ledger.spent() == (0.5, 0.0)
    with pytest.raises(BudgetError):
        GridSearchCV(pipeline, {"dpmicselector__B": [8, 9]}, cv=4, error_score="raise").fit(*table())


def test_the_frame_of_a_ledger_has_every_entry_and_the_total_after_it(tmp_path):
    pytest.importorskip("pandas", reason="it makes a dataframe")
    basic = BudgetLedger(tmp_path / "basic.db", 10.0)
    X = np.random.default_rng(0).random((60, 3))
    DPMICScorer(epsilon=0.5, bounds=(0, 1), target_bounds=(0, 1), ledger=basic.for_purpose("a")).fit(X, X[:, 0])
    with basic.spend("b", 0.25, by="c"):
        pass
    frame, entries = basic.to_frame(), basic.entries()
    assert set(frame.columns) == {*entries[0]._fields, "spent_epsilon", "spent_delta"}
    assert frame["what"].tolist() == ["DPMICScorer", "c"]
    assert frame["purpose"].tolist() == ["a", "b"]
    assert frame["when"].tolist() == [entry.when for entry in entries]
    assert frame["epsilon"].tolist() == [0.5, 0.25]
    assert frame["spent_epsilon"].tolist() == [0.5, 0.75]
    assert (frame.loc[0, "n"], frame.loc[0, "d"], frame.loc[0, "release"]) == (60, 3, "scores")


def test_the_frame_of_an_empty_ledger_has_all_columns(tmp_path):
    pytest.importorskip("pandas", reason="it makes a dataframe")
    basic = BudgetLedger(tmp_path / "basic.db", 10.0)
    assert basic.to_frame().shape == (0, 20)
