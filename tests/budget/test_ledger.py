"""The ledger: no noise without a charge, and no charge beyond the limit."""

import contextlib
import math
import pickle
import time
from datetime import datetime, timedelta

import numpy as np
import pytest
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
from skdpmic.privacy.composition import rho_for
from skdpmic.statistics.mic import noisy_tables as geometric
from skdpmic.table.records import TableRecords
from tests.budget.test_ledger_file import files_up_to
from tests.select_names import SelectNames
from tests.tables import UNIT, refused, uniform

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


@pytest.mark.slow
def test_limits_must_agree_with_an_existing_ledger(place):
    ledger = BudgetLedger(place, 1.0, 1e-6)
    assert BudgetLedger(place, 1, delta=1e-6, composition="zcdp") == ledger
    for change in ({"epsilon": 2.0}, {"delta": 0.0}, {"composition": "basic"}, {"max_rows_per_person": 1}):
        with pytest.raises(ValueError, match=r"\(1.0, 1e-06, 'zcdp', None\), got .*BudgetLedger.open"):
            BudgetLedger(place, **{"epsilon": 1.0, "delta": 1e-6} | change)
    assert (BudgetLedger.open(place), BudgetLedger.open(place).limits) == (ledger, ledger.limits)


LIMITS = (
    ({"epsilon": 0}, "epsilon must be a number > 0"),
    ({"epsilon": math.inf}, "epsilon must be finite"),
    ({"epsilon": 1, "delta": 1}, r"delta must be a number in \[0, 1\)"),
    ({"epsilon": 1, "composition": "best"}, "composition must be 'auto', 'basic' or 'zcdp', got 'best'"),
    ({"epsilon": 1, "composition": "zcdp"}, "needs delta > 0"),
    ({"epsilon": 1, "max_rows_per_person": 0}, "max_rows_per_person must be None or an int from 1"),
)
CHARGES = (
    ({"epsilon": -1}, "epsilon must be a number > 0"),
    ({"epsilon": 1, "delta": -1}, "delta must be"),
    ({"epsilon": 1, "rho": math.nan}, "rho must be a number"),
    ({"epsilon": 1, "rho": 0.0}, "rho must be None or a number > 0"),
    ({"epsilon": 1, "delta": 1e-9}, "rho must be given for a cost with delta > 0"),
)


def test_bad_limits_are_refused(path):
    for arguments, phrase in LIMITS:
        with refused(ValueError, phrase):
            BudgetLedger(path, **arguments)
    assert not path.exists()


def test_bad_charges_are_refused(place):
    ledger = BudgetLedger(place, 9.0, 1e-6)
    for arguments, phrase in CHARGES:
        with refused(ValueError, phrase, ledger):
            ledger.charge("x", **arguments)


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

OF_CLASSES = {"epsilon": 0.5, "bounds": (0, 1), "classes": [0, 1]}
OF_PAIR = {"epsilon": 0.5, "bounds": ((0, 1), (0, 1))}
PAIR = uniform()[0][:, 0], uniform()[1]


def scorer(ledger=None, **parameters):
    return DPMICScorer(**{"epsilon": 0.5, "ledger": ledger, **UNIT} | parameters)


def counted():
    return scorer().empty_sketch(60, n_features=3).update(*uniform())


FITS = {
    "scorer": lambda ledger: scorer(ledger).fit(*uniform()),
    "selector": lambda ledger: DPMICSelector(k=1, epsilon=0.5, ledger=ledger, **UNIT).fit(*uniform()),
    "support": lambda ledger: SelectNames(k=1, epsilon=0.5, ledger=ledger, **UNIT).fit(*uniform()),
    "regression": lambda ledger: dp_mic_regression(*uniform(), epsilon=0.5, ledger=ledger, **UNIT),
    "classif": lambda ledger: dp_mic_classif(uniform()[0], uniform()[1] > 0.5, ledger=ledger, **OF_CLASSES),
    "counts": lambda ledger: scorer(ledger, mechanism="geometric").fit(*uniform()),
    "chunks": lambda ledger: scorer(ledger, B=8).partial_fit(*uniform()).publish(),
    "sketch": lambda ledger: DPMICScorer(epsilon=0.5, ledger=ledger).fit_sketch(counted()),
    "pair": lambda ledger: private_score(*PAIR, ledger=ledger, **OF_PAIR),
    "pair of counts": lambda ledger: private_score(*PAIR, mechanism="geometric", ledger=ledger, **OF_PAIR),
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


@pytest.mark.parametrize("name", FITS)
def test_a_full_ledger_refuses_before_any_noise_is_drawn(path, name, monkeypatch):
    ledger = BudgetLedger(path, 0.5)
    FITS[name](ledger)
    with broken_noise(monkeypatch), refused(BudgetError, "does not fit", ledger):
        FITS[name](ledger)


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
    scorer = DPMICScorer(epsilon=0.7, ledger=BudgetLedger(path, 1.0), **UNIT).fit(*uniform())
    before = vars(scorer).copy()
    monkeypatch.setattr(TableRecords, "map_features", None)
    with pytest.raises(BudgetError):
        scorer.fit(*uniform(d=4))
    assert vars(scorer) == before


@pytest.mark.filterwarnings("error::UserWarning")  # of k = 10 with 3 features
def test_refused_parameters_are_not_charged(path):
    ledger = BudgetLedger(path, 1.0)
    for bad in ({"random_state": -1}, {"n_jobs": 0}, {"k": 10}, {"B": 3}, {"bounds": None}):
        selector = DPMICSelector(k=1, ledger=ledger, B=8, **UNIT).partial_fit(*uniform()).set_params(**bad)
        for release in (selector.publish, lambda selector=selector: selector.fit(*uniform())):
            with refused((ValueError, UserWarning), "must|greater|noise will exceed", ledger):
                release()


def test_gaussian_noise_is_charged_by_its_rho(path, monkeypatch):
    ledger = BudgetLedger(path, 1.0, 1e-6)
    scorer = DPMICScorer(epsilon=0.25, delta=1e-6, mechanism="gaussian", ledger=ledger, **UNIT).fit(*uniform())
    (entry,) = ledger.entries()
    assert (entry.epsilon, entry.delta, entry.rho) == (0.25, 1e-6, rho_for(0.25, 1e-6))
    n_fits = math.floor(rho_for(1.0, 1e-6) / entry.rho)
    assert n_fits > 8  # basic composition allows only one
    for _ in range(n_fits - 1):
        scorer.fit(*uniform())
    with monkeypatch.context() as patch:
        patch.setattr(mechanisms, "discrete_gaussian", None)
        with pytest.raises(BudgetError):
            scorer.fit(*uniform())
    assert len(ledger.entries()) == n_fits
    assert ledger.spent()[0] <= 1.0


@pytest.mark.parametrize("k, name, delta", [(1, "one-shot", 0.0), (60, "exponential", 1e-6)])
def test_a_support_release_that_needs_no_delta_is_charged_none(path, k, name, delta):
    ledger = BudgetLedger(path, 9.0, 1e-6)
    selector = SelectNames(k, epsilon=0.5, delta=1e-6, ledger=ledger, **UNIT)
    selector.fit(*uniform(d=70))
    (entry,) = ledger.entries()
    assert selector.mechanism_ == name
    assert (entry.epsilon, entry.delta, entry.rho) == (0.5, delta, rho_for(0.5, delta) if delta else None)
    assert selector.privacy_spent_ == (0.5, delta)


# --- Inside scikit-learn ------------------------------------------------------------------------------------------


def test_a_grid_search_that_runs_out_of_budget_warns_and_its_refit_raises(path):
    ledger = BudgetLedger(path, 0.5)
    pipeline = make_pipeline(DPMICSelector(k=1, epsilon=0.1, ledger=ledger, **UNIT), LinearRegression())
    search = GridSearchCV(pipeline, {"dpmicselector__B": [8, 9]}, cv=4)
    with (
        pytest.warns(FitFailedWarning, match="BudgetError"),
        pytest.warns(UserWarning, match=r"test scores are non-finite: \[.* nan\]"),
        pytest.raises(BudgetError),  # from the refit
    ):
        search.fit(*uniform())
    assert ledger.spent() == (0.5, 0.0)
    with pytest.raises(BudgetError):
        GridSearchCV(pipeline, {"dpmicselector__B": [8, 9]}, cv=4, error_score="raise").fit(*uniform())


# --- Mechanisms of other libraries --------------------------------------------------------------------------------


@pytest.fixture
def basic(path):
    return BudgetLedger(path, 1.0, 1e-6, composition="basic")


def test_the_charge_is_on_disk_before_the_with_block_runs(basic):
    with basic.spend("synthetic table", 0.4, 1e-7, by="OpenDP AIM") as cost:
        (entry,) = BudgetLedger.open(basic.path).entries()
        assert cost == (entry.epsilon, entry.delta) == (0.4, 1e-7)
    assert str(entry) == "synthetic table: OpenDP AIM"
    assert len(basic.entries()) == 1


def test_a_block_that_fails_keeps_its_charge_and_its_error(basic):
    with pytest.raises(KeyboardInterrupt), basic.spend("model", 0.25):
        raise KeyboardInterrupt
    assert basic.spent() == (0.25, 0.0)


def test_a_block_that_exceeds_the_budget_does_not_run(basic):
    for cost in ((1.25, 0.0), (0.5, 2e-6)):
        with pytest.raises(BudgetError), basic.spend("too much", *cost):
            pytest.fail("it ran")
    assert basic.entries() == []


def test_a_charge_pays_for_one_block(basic):
    paid = basic.spend("model", 0.25)
    with paid:
        pass
    with pytest.raises(RuntimeError, match="one block only"), paid:
        pytest.fail("it ran twice")
    assert basic.spent() == (0.25, 0.0)


def test_a_call_without_a_block_is_charged_too(basic):
    """A forgotten `with` must not give a free release."""
    basic.spend("model", 0.25)
    assert basic.spent() == (0.25, 0.0)


def test_the_purpose_of_the_ledger_precedes_that_of_the_block(basic):
    with basic.for_purpose("annual report").spend("model", 0.25):
        pass
    assert str(basic.entries()[0]) == "annual report, model: another library"
    assert basic.purpose is None


def test_invalid_arguments_are_refused_and_cost_nothing(basic):
    for arguments, phrase in {
        ("", 0.1): "purpose must be a non-blank str",
        (None, 0.1): "purpose must be a non-blank str",
        ("model", 0): "epsilon must be",
        ("model", 0.1, 1.0): "delta must be",
    }.items():
        with refused(ValueError, phrase, basic), basic.spend(*arguments):
            pytest.fail("it ran")
    with refused(ValueError, "by must be", basic):
        basic.spend("model", 0.1, by=" ")


# --- A table of entries ------------------------------------------------------------------------------------------


def test_the_frame_of_a_ledger_has_every_entry_and_the_total_after_it(ledger):
    pytest.importorskip("pandas", reason="it makes a dataframe")
    assert ledger.to_frame().shape == (0, 20)
    scorer(ledger.for_purpose("a")).fit(*uniform())
    ledger.for_purpose("b").charge("c", 0.25, rho=0.25**2 / 2)
    frame = ledger.to_frame()
    assert set(frame.columns) == {*LedgerEntry._fields, "spent_epsilon", "spent_delta"}
    assert frame[["what", "purpose", "epsilon"]].values.tolist() == [["DPMICScorer", "a", 0.5], ["c", "b", 0.25]]
    assert frame["when"].tolist() == [entry.when for entry in ledger.entries()]
    assert frame["spent_epsilon"].iloc[-1] == ledger.spent()[0]
