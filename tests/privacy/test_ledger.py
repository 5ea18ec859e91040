"""The ledger: no noise without a charge, no charge past the limit, whatever dies and whoever races."""

import contextlib
import math
import multiprocessing
import os
import pickle
import random
import sqlite3
import threading
import time
from datetime import datetime, timedelta
from fractions import Fraction

import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import norm
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline

from skdpmic import (
    BudgetError,
    BudgetLedger,
    DPMICScorer,
    DPMICSelector,
    dp_mic_classif,
    dp_mic_regression,
    mic_e_laplace,
    mic_r_geometric,
    mic_r_laplace,
)
from skdpmic import base as estimators
from skdpmic.privacy import geometric, mechanisms, top_k
from skdpmic.privacy import ledger as ledger_module
from skdpmic.privacy.composition import delta_of, epsilon_of, rho_for
from skdpmic.privacy.filters import BasicFilter, Cost, ZCDPFilter

PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1)}


def table(n=60, d=3):
    rng = np.random.default_rng(0)
    return rng.random((n, d)), rng.random(n)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget.db"


# --- Sums ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon, times, limit", [(0.1, 10, 1.0), (0.7, 10, 7.0), (1e-3, 1000, 1.0), (0.3, 3, 0.9)])
def test_costs_add_up_as_the_decimals_that_they_are_written_as(epsilon, times, limit):
    basic = BasicFilter(limit, 0.0)
    full = [Cost(epsilon, count=times)]
    assert basic.accepts(full)
    assert not basic.accepts([*full, Cost(1e-300)])
    assert basic.spent(full) == (limit, 0.0)
    assert basic.remaining(full) == (0.0, 0.0)


def test_the_noise_reads_epsilon_as_the_ledger_does():
    # One step of sensitivity at scale s costs 1 / s: ten fits at 0.1 cost 1 exactly, not 1 + 5e-17.
    for epsilon in (0.1, 0.7, 1 / 3, 1e-3):
        assert Fraction(1, mechanisms.scale_for_budget(epsilon, 1)) <= Fraction(repr(epsilon))
    assert mechanisms.scale_for_budget(0.1, 10**30) == 10**31


def test_reported_numbers_err_on_the_safe_side():
    rng = np.random.default_rng(0)
    for _ in range(200):
        costs = [Cost(float(e), count=int(c)) for e, c in zip(rng.random(5), rng.integers(1, 9, 5), strict=True)]
        exact = sum(Fraction(repr(cost.epsilon)) * cost.count for cost in costs)
        limit = BasicFilter(50.0, 0.0)
        assert exact <= Fraction(repr(limit.spent(costs)[0])) <= exact * (1 + Fraction(1, 10**15))
        assert limit.accepts([*costs, Cost(limit.remaining(costs)[0])])


def test_deltas_add_up_too():
    basic = BasicFilter(10.0, 1e-6)
    assert basic.accepts([Cost(1.0, 5e-7, count=2)])
    assert not basic.accepts([Cost(1.0, 5e-7, count=2), Cost(1.0, 1e-30)])
    assert basic.accepts([Cost(1.0, 5e-7, count=2), Cost(1.0)])
    assert basic.spent([Cost(1.0, 5e-7, count=2)]) == (2.0, 1e-6)


@pytest.mark.parametrize("epsilon, delta", [(1.0, 1e-6), (5.0, 1e-9), (0.1, 1e-3)])
def test_zcdp_accepts_gaussian_noise_up_to_rho_and_pure_costs_up_to_epsilon(epsilon, delta):
    limit = ZCDPFilter(epsilon, delta)
    rho = rho_for(epsilon, delta)
    assert limit.accepts([Cost(epsilon, delta, rho)])
    assert limit.accepts([Cost(9 * epsilon, delta, rho / 64, count=64)])
    assert not limit.accepts([Cost(epsilon, delta, rho / 64, count=65)])
    assert limit.accepts([Cost(epsilon / 4, count=4)])
    assert not limit.accepts([Cost(epsilon / 4, count=4), Cost(1e-6, 1e-9, 1e-12)])  # neither way holds both
    small = float(Fraction(math.sqrt(rho / 32)))  # 16 pure costs of rho / 64 each: past epsilon, within rho
    assert limit.accepts([Cost(small, count=16), Cost(epsilon, delta, rho / 2)])


@pytest.mark.parametrize("k", [1, 3, 20])
def test_what_zcdp_says_is_spent_and_left_is_what_it_accepts(k):
    limit = ZCDPFilter(2.0, 1e-6)
    costs = [Cost(0.3, 1e-6, rho_for(0.3, 1e-6), count=k)]
    epsilon, delta = limit.spent(costs)
    assert delta == 1e-6
    assert delta_of(rho_for(0.3, 1e-6) * k, epsilon) <= 1e-6 * (1 + 1e-9)
    assert epsilon < 0.3 * k or k == 1
    epsilon, delta = limit.remaining(costs)
    assert limit.accepts([*costs, Cost(epsilon, delta, rho_for(epsilon, delta))])
    more = epsilon * (1 + 1e-9)
    assert not limit.accepts([*costs, Cost(more, delta, rho_for(more, delta))])


def test_zcdp_says_the_smaller_total_of_pure_costs():
    limit = ZCDPFilter(3.0, 1e-6)
    assert limit.spent([]) == (0.0, 0.0)
    assert limit.remaining([]) == (3.0, 1e-6)
    assert limit.spent([Cost(1.0)]) == (1.0, 0.0)
    assert limit.remaining([Cost(1.0)]) == (2.0, 0.0)  # as rho, 0.5 is past the limit
    many = [Cost(0.01, count=200)]
    assert limit.spent(many) == (epsilon_of(0.01, 1e-6), 1e-6)
    assert limit.spent(many)[0] < 0.8


def test_for_gaussian_noise_rho_never_adds_up_to_more_than_epsilon_and_delta_do():
    rng = np.random.default_rng(0)
    for _ in range(100):
        epsilons, deltas = 10 ** rng.uniform(-2, 1, size=4), 10 ** rng.uniform(-12, -2, size=4)
        rho = sum(map(rho_for, epsilons, deltas))
        assert delta_of(rho, epsilons.sum()) <= deltas.sum()


def test_the_counterexample_to_taking_the_better_of_both_sums_while_looking_at_results():
    epsilon, delta = 5.0, 1e-6
    p, q = 100 * delta, 99 * delta  # of a published 1 on two neighbours
    rho_bit = math.log(p / q) ** 2 / 2
    assert p - q <= delta
    randomised_response = Cost(epsilon)
    bit, gaussian = Cost(1e-9, delta, rho_bit), Cost(1.0, delta, rho_for(epsilon, delta) - rho_bit - 1e-12)
    assert BasicFilter(epsilon + 1e-9, delta).accepts([bit, randomised_response])  # after a 1
    assert ZCDPFilter(epsilon, delta).accepts([bit, gaussian])  # after a 0
    assert not ZCDPFilter(epsilon, delta).accepts([bit, randomised_response])  # so it does not take the better of both

    after_1 = 1 / (1 + math.exp(-epsilon)) * (p - q)
    left = epsilon - math.log((1 - p) / (1 - q))
    half = math.sqrt(2 * gaussian.rho) / 2
    after_0 = (1 - p) * (norm.cdf(half - left / (2 * half)) - math.exp(left) * norm.cdf(-half - left / (2 * half)))
    assert after_1 + after_0 > 1.15 * delta


# --- The file -----------------------------------------------------------------------------------------------------


def test_a_charge_is_written_with_what_when_and_for_how_many(path):
    ledger = BudgetLedger(path, 1.0)
    ledger.charge("a count", 0.25, n=np.int64(60), d=3)
    (entry,) = BudgetLedger(path, 1.0).entries()
    assert entry._replace(when=None) == ("a count", None, 0.25, 0.0, 60, 3, None)
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


def test_limits_of_an_existing_file_must_agree(path):
    ledger = BudgetLedger(path, 1.0, 1e-6)
    assert BudgetLedger(path, 1, delta=1e-6, composition="zcdp") == ledger
    for limits in ((2.0, 1e-6), (1.0,), (1.0, 1e-6, "basic")):
        with pytest.raises(ValueError, match=r"\(1.0, 1e-06, 'zcdp'\), got .*BudgetLedger.open"):
            BudgetLedger(path, *limits[:2], composition=limits[2] if len(limits) > 2 else "auto")
    opened = BudgetLedger.open(path)
    assert vars(opened) == vars(ledger)


def test_a_file_that_is_no_ledger_is_refused_and_left_alone(tmp_path):
    ledger = BudgetLedger(tmp_path / "good", 10.0)
    for _ in range(100):
        ledger.charge("something to make the file longer", 0.1)
    good = (tmp_path / "good").read_bytes()
    with contextlib.closing(sqlite3.connect(tmp_path / "foreign")) as connection:
        connection.execute("CREATE TABLE limits (epsilon)")
    bad = {
        "empty": b"",
        "text": b"epsilon = 1",
        "noise": random.Random(0).randbytes(8192),
        "foreign": (tmp_path / "foreign").read_bytes(),
        "cut": good[: len(good) // 2],
        "overwritten": good[:4096] + bytes(len(good) - 4096),
    }
    for name, content in bad.items():
        (tmp_path / name).write_bytes(content)
        for make in (lambda path: BudgetLedger(path, 10.0), BudgetLedger.open):
            with pytest.raises(ValueError, match=f"{name}' is not a privacy ledger"):
                make(tmp_path / name)
        assert (tmp_path / name).read_bytes() == content


def test_a_ledger_of_another_format_is_refused(path):
    BudgetLedger(path, 1.0)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 7")
    with pytest.raises(ValueError, match="has format 7, and this version of skdpmic reads 1"):
        BudgetLedger(path, 1.0)


def test_a_ledger_that_vanished_is_an_error_not_a_new_budget(path):
    ledger = BudgetLedger(path, 1.0)
    path.unlink()
    for use in (ledger.spent, ledger.remaining, ledger.entries, lambda: ledger.charge("x", 0.1)):
        with pytest.raises(OSError, match="cannot be used"):
            use()
    with pytest.raises(OSError, match="cannot be used"):
        BudgetLedger.open(path)
    assert "unknown" in repr(ledger)
    assert not path.exists()


def test_a_ledger_replaced_by_one_with_other_limits_is_refused(path):
    ledger = BudgetLedger(path, 1.0)
    path.unlink()
    BudgetLedger(path, 100.0)
    with pytest.raises(ValueError, match="limits"):
        ledger.charge("x", 0.1)


def test_a_lock_that_is_never_released_is_an_error(path, monkeypatch):
    monkeypatch.setattr(ledger_module, "_WAIT", 0.05)
    ledger = BudgetLedger(path, 1.0)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(OSError, match="database is locked"):
            ledger.charge("x", 0.1)
    ledger.charge("x", 0.1)
    assert len(ledger.entries()) == 1


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"epsilon": 0}, "epsilon must be a number > 0"),
        ({"epsilon": math.inf}, "epsilon must be finite"),
        ({"epsilon": 1, "delta": 1}, r"delta must be a number in \[0, 1\)"),
        ({"epsilon": 1, "composition": "best"}, "composition must be 'auto', 'basic' or 'zcdp', got 'best'"),
        ({"epsilon": 1, "composition": "zcdp"}, "needs delta > 0"),
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
        ({"epsilon": 1, "rho": math.nan}, "rho must be None or a number >= 0"),
        ({"epsilon": 1, "delta": 1e-9}, "rho must be given for a cost with delta > 0"),
    ],
)
def test_bad_charges_are_refused(path, arguments, message):
    ledger = BudgetLedger(path, 9.0, 1e-6)
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
    with ledger as same:
        assert same is ledger
    assert repr(ledger) == f"BudgetLedger('{path}', epsilon=1.0, delta=0.0, spent=(0.25, 0.0))"


# --- Charged before noise is drawn --------------------------------------------------------------------------------

FITS = {
    "scorer": lambda ledger: DPMICScorer(epsilon=0.5, ledger=ledger, **PUBLIC).fit(*table()),
    "selector": lambda ledger: DPMICSelector(k=1, epsilon=0.5, ledger=ledger, **PUBLIC).fit(*table()),
    "support": lambda ledger: DPMICSelector(k=1, epsilon=0.5, release="support", ledger=ledger, **PUBLIC).fit(*table()),
    "regression": lambda ledger: dp_mic_regression(*table(), epsilon=0.5, ledger=ledger, **PUBLIC),
    "classif": lambda ledger: dp_mic_classif(
        table()[0], table()[1] > 0.5, epsilon=0.5, ledger=ledger, bounds=(0, 1), classes=[0, 1]
    ),
    "counts": lambda ledger: DPMICScorer(epsilon=0.5, mechanism="geometric", ledger=ledger, **PUBLIC).fit(*table()),
    "chunks": lambda ledger: DPMICScorer(epsilon=0.5, ledger=ledger, B=8, **PUBLIC).partial_fit(*table()).publish(),
    "sketch": lambda ledger: DPMICScorer(epsilon=0.5, ledger=ledger).fit_sketch(
        DPMICScorer(**PUBLIC).empty_sketch(60, n_features=3).update(*table())
    ),
    "pair of counts": lambda ledger: mic_r_geometric(
        table()[0][:, 0], table()[1], epsilon=0.5, bounds=((0, 1), (0, 1)), ledger=ledger
    ),
    "pair": lambda ledger: mic_r_laplace(
        table()[0][:, 0], table()[1], epsilon=0.5, bounds=((0, 1), (0, 1)), ledger=ledger
    ),
    "pair of ranks": lambda ledger: mic_e_laplace(table()[0][:, 0], table()[1], epsilon=0.5, ledger=ledger),
}


@pytest.mark.parametrize("name", FITS)
def test_every_private_function_is_charged(path, name):
    ledger = BudgetLedger(path, 1.0)
    FITS[name](ledger)
    (entry,) = ledger.entries()
    assert (entry.epsilon, entry.delta, entry.n, entry.d) == (0.5, 0.0, 60, 1 if name.startswith("pair") else 3)


@contextlib.contextmanager
def broken_noise(monkeypatch):
    """No noise can be drawn, nor a score computed without being noticed."""

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


class ChargesLate(DPMICScorer):
    """What must not be: the charge after the release."""

    def _charge(self, cost, n_samples):
        self._late = cost, n_samples

    def _release(self, data, source):
        super()._release(data, source)
        super()._charge(*self._late)


def test_an_estimator_that_charges_late_is_caught(path, monkeypatch):
    def fit(ledger):
        ChargesLate(epsilon=0.5, ledger=ledger, **PUBLIC).fit(*table())

    with pytest.raises(AssertionError, match="noise was drawn"):
        assert_full_ledger_refuses_before_noise(fit, path, monkeypatch)


@pytest.mark.parametrize("name", FITS)
def test_a_crash_while_noise_is_drawn_loses_the_result_not_the_charge(path, name, monkeypatch):
    ledger = BudgetLedger(path, 1.0)
    with broken_noise(monkeypatch), pytest.raises(AssertionError, match="noise was drawn"):
        FITS[name](ledger)
    assert ledger.spent() == (0.5, 0.0)


def test_a_refused_fit_computes_no_score_and_leaves_the_estimator_as_it_was(path, monkeypatch):
    scorer = DPMICScorer(epsilon=0.7, ledger=BudgetLedger(path, 1.0), **PUBLIC).fit(*table())
    before = vars(scorer).copy()
    monkeypatch.setattr(estimators.Records, "each_feature", None)
    with pytest.raises(BudgetError):
        scorer.fit(*table(d=4))
    assert vars(scorer) == before


def test_invalid_data_is_not_charged(path):
    ledger = BudgetLedger(path, 1.0)
    X, y = table()
    for X_bad, parameters in ((X * np.nan, {}), (X, {"B": 3}), (X, {"c": 0}), (X, {"bounds": None})):
        with pytest.raises(ValueError):
            DPMICScorer(ledger=ledger, **PUBLIC).set_params(**parameters).fit(X_bad, y)
    assert ledger.entries() == []


@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.parametrize("bad", [{"random_state": -1}, {"random_state": "seed"}, {"n_jobs": 0}, {"k": 10}])
def test_what_is_refused_without_looking_at_the_data_is_not_charged(path, bad):
    # k = 10 of 3 features only warns, which is an error here.
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


@pytest.mark.parametrize("function", [mic_r_laplace, mic_r_geometric, mic_e_laplace])
def test_a_seed_that_is_none_is_not_charged(path, function):
    ledger, (X, y) = BudgetLedger(path, 1.0), table()
    bounds = {} if function is mic_e_laplace else {"bounds": ((0, 1), (0, 1))}
    with pytest.raises(ValueError, match="random_state must be None, an int"):
        function(X[:, 0], y, epsilon=0.5, ledger=ledger, random_state="seed", **bounds)
    assert ledger.entries() == []


def test_gaussian_noise_is_charged_by_its_rho(path, monkeypatch):
    ledger = BudgetLedger(path, 1.0, 1e-6)
    scorer = DPMICScorer(epsilon=0.25, delta=1e-6, mechanism="gaussian", ledger=ledger, **PUBLIC).fit(*table())
    (entry,) = ledger.entries()
    assert (entry.epsilon, entry.delta, entry.rho) == (0.25, 1e-6, rho_for(0.25, 1e-6))
    n_fits = math.floor(rho_for(1.0, 1e-6) / entry.rho)
    assert n_fits > 8  # basic composition allows one
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
    selector = DPMICSelector(k, epsilon=0.5, delta=1e-6, release="support", ledger=ledger, **PUBLIC)
    selector.fit(*table(d=70))
    (entry,) = ledger.entries()
    assert selector.support_mechanism_ == name
    assert (entry.epsilon, entry.delta, entry.rho) == (0.5, delta, rho_for(0.5, delta) if delta else None)
    assert selector.privacy_spent_ == (0.5, delta)


def test_infinite_epsilon_is_refused_by_every_ledger(path):
    with pytest.raises(BudgetError):
        DPMICScorer(epsilon=math.inf, ledger=BudgetLedger(path, 1e300), **PUBLIC).fit(*table())


# --- Inside scikit-learn ------------------------------------------------------------------------------------------


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


def test_cross_validation_is_charged_for_every_fit(path):
    ledger = BudgetLedger(path, 1.0)
    pipeline = make_pipeline(DPMICSelector(k=1, epsilon=0.1, ledger=ledger, **PUBLIC), LinearRegression())
    cross_validate(pipeline, *table(), cv=4, n_jobs=2, error_score="raise")
    assert [entry.n for entry in ledger.entries()] == [45] * 4
    assert ledger.spent() == (0.4, 0.0)


def test_a_grid_search_that_runs_out_of_budget_warns_and_its_refit_raises(path):
    ledger = BudgetLedger(path, 0.5)
    pipeline = make_pipeline(DPMICSelector(k=1, epsilon=0.1, ledger=ledger, **PUBLIC), LinearRegression())
    search = GridSearchCV(pipeline, {"dpmicselector__B": [8, 9]}, cv=4)
    with (
        pytest.warns(FitFailedWarning, match="BudgetError"),
        pytest.warns(UserWarning, match=r"test scores are non-finite: \[.* nan\]"),
        pytest.raises(BudgetError),  # of the refit
    ):
        search.fit(*table())
    assert ledger.spent() == (0.5, 0.0)
    with pytest.raises(BudgetError):
        GridSearchCV(pipeline, {"dpmicselector__B": [8, 9]}, cv=4, error_score="raise").fit(*table())


# --- Races and crashes --------------------------------------------------------------------------------------------


class TwoSteps(BudgetLedger):
    """What must not be: the total is read in one transaction, and the charge written in another."""

    def charge(self, what, epsilon, delta=0.0, *, rho=None, n=None, d=None):
        if not self._filter().accepts([*self._read_costs(), Cost(epsilon, delta, rho)]):
            raise BudgetError("full")
        with self._transaction("IMMEDIATE") as connection:
            connection.execute(
                "INSERT INTO entries (what, time, epsilon, delta) VALUES (?, '', ?, ?)", (what, epsilon, delta)
            )


class Deferred(BudgetLedger):
    """What must not be: the write lock is taken after the total was read, so one of two that read cannot write."""

    def _transaction(self, kind, check_limits=True):
        return super()._transaction("DEFERRED", check_limits)


def race_for_the_last_of_the_budget(kind, path, monkeypatch, n_threads=4):
    """Everyone decides before anyone writes, if the ledger lets them. Returns the ledger and what came of each."""
    together = threading.Barrier(n_threads)
    accepts = BasicFilter.accepts

    def slow_accepts(self, costs):
        verdict = accepts(self, costs)
        with contextlib.suppress(threading.BrokenBarrierError):
            together.wait(timeout=0.3)
        return verdict

    # SQLite's locks alone must do, as they do between processes.
    monkeypatch.setattr(ledger_module, "_inside_sqlite", contextlib.nullcontext())
    monkeypatch.setattr(BasicFilter, "accepts", slow_accepts)
    ledger, outcomes = kind(path, 1.0), []

    def charge():
        try:
            ledger.charge("last", 0.6)
            outcomes.append("charged")
        except (BudgetError, OSError) as error:
            outcomes.append(type(error).__name__)

    threads = [threading.Thread(target=charge) for _ in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ledger, sorted(outcomes)


def test_of_many_that_race_for_the_last_of_the_budget_one_gets_it(path, monkeypatch):
    ledger, outcomes = race_for_the_last_of_the_budget(BudgetLedger, path, monkeypatch)
    assert outcomes == ["BudgetError"] * 3 + ["charged"]
    assert ledger.spent() == (0.6, 0.0)


def test_the_race_catches_a_ledger_that_reads_and_writes_in_two_steps(path, monkeypatch):
    ledger, outcomes = race_for_the_last_of_the_budget(TwoSteps, path, monkeypatch)
    assert outcomes == ["charged"] * 4
    assert ledger.spent()[0] > 1


def test_the_race_catches_a_ledger_that_locks_after_reading(path, monkeypatch):
    _, outcomes = race_for_the_last_of_the_budget(Deferred, path, monkeypatch)
    assert "OSError" in outcomes


processes = pytest.mark.skipif(
    "forkserver" not in multiprocessing.get_all_start_methods(), reason="processes start slowly here"
)


@pytest.fixture
def context():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.privacy.test_ledger"])
    return context


def _make_and_charge(path, start):
    start.wait()
    ledger = BudgetLedger(path, 1.0)
    with contextlib.suppress(BudgetError):
        while True:
            ledger.charge("race", 0.1)


@processes
def test_processes_that_make_one_ledger_and_race_in_it_fill_it_exactly(path, context):
    start = context.Event()
    workers = [context.Process(target=_make_and_charge, args=(path, start)) for _ in range(4)]
    for worker in workers:
        worker.start()
    start.set()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert BudgetLedger.open(path).spent() == (1.0, 0.0)
    assert len(BudgetLedger.open(path).entries()) == 10
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_charges_the_same_ledger(path):
    ledger = BudgetLedger(path, 1.0)
    ledger.charge("parent", 0.1)
    child = multiprocessing.get_context("fork").Process(target=ledger.charge, args=("child", 0.2))
    child.start()
    child.join()
    assert [entry.what for entry in ledger.entries()] == ["parent", "child"]


def test_threads_share_a_ledger(path):
    ledger = BudgetLedger(path, 1.0)
    threads = [threading.Thread(target=ledger.charge, args=("thread", 0.1)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.spent() == (0.8, 0.0)


def _fit_when_allowed(path, permits, results):
    """A result has come out once its line is in the file."""
    ledger = BudgetLedger.open(path)
    X, y = table(n=300)
    with open(results, "ab", buffering=0) as out, contextlib.suppress(BudgetError):
        while True:
            permits.acquire()
            score = DPMICScorer(epsilon=0.1, ledger=ledger, **PUBLIC).fit(X, y).scores_[0]
            out.write(f"{score}\n".encode())


@pytest.mark.slow
@processes
def test_fits_that_are_killed_lose_results_but_never_charges(path, context, tmp_path):
    # 200 fits of 0.1 in a limit of 20, in four processes. Four fits a round are allowed; at a random moment of it a
    # process is killed and replaced. So there are 50 rounds or more, however fast the machine is.
    ledger, results, rng = BudgetLedger(path, 20.0), tmp_path / "results", random.Random(0)
    results.touch()
    permits = context.Semaphore(0)
    killed = 0

    def start():
        worker = context.Process(target=_fit_when_allowed, args=(path, permits, results))
        worker.start()
        return worker

    workers = [start() for _ in range(4)]
    while ledger.remaining()[0] > 0:
        next_kill = min(len(ledger.entries()) + rng.randrange(4), 200)
        for _ in range(4):
            permits.release()
        while len(ledger.entries()) < next_kill:
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.02))  # anywhere between a charge, its fit, its result and the next charge
        unlucky = rng.randrange(4)
        killed += workers[unlucky].is_alive()
        workers[unlucky].kill()
        workers[unlucky].join()
        came_out = len(results.read_bytes().splitlines())
        assert came_out <= len(ledger.entries()) <= 200
        workers[unlucky] = start()
    for _ in workers:
        permits.release()
    for worker in workers:
        worker.join()

    came_out = len(results.read_bytes().splitlines())
    assert BudgetLedger.open(path).spent() == (20.0, 0.0)
    assert len(ledger.entries()) == 200
    assert 0 < came_out <= 200
    assert killed >= 49  # all but perhaps the last, when the limit is reached and processes end by themselves
    with pytest.raises(BudgetError):
        ledger.charge("one more", 1e-9)
