"""A ledger entry says who spent the budget, what was released, by which mechanism and for what purpose."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge

from skdpmic import (
    BudgetLedger,
    DPMICScorer,
    DPMICSelector,
    PrivateGridSearch,
    PrivateSelectKBest,
    dp_mic_regression,
    private_bounds,
    private_score,
)
from skdpmic.budget.ledger_entry import LedgerEntry
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer
from tests.tables import UNIT

N, D, DELTA = 80, 20, 1e-6
RNG = np.random.default_rng(0)
X, Y = RNG.random((N, D)), RNG.random(N)
WITHIN = {"bounds": ((0, 1), (0, 1))}


@pytest.fixture
def ledger(path):
    return BudgetLedger(path, 2.0, 1e-5)


def fit_selector(ledger, k, delta=0.0, kind=PrivateSelectKBest, **parameters):
    kind(k, statistic="mtv_r", epsilon=0.5, delta=delta, ledger=ledger, **parameters, **UNIT).fit(X, Y)


def score_pair(ledger, statistic, **parameters):
    private_score(X[:, 0], Y, statistic=statistic, epsilon=0.5, ledger=ledger, **parameters)


def fit_scorer(ledger, **parameters):
    return DPMICScorer(epsilon=0.5, ledger=ledger, **parameters, **UNIT).fit(X, Y)


def fit_people(ledger):
    DPMICScorer(epsilon=0.5, max_rows_per_group=2, ledger=ledger, **UNIT).fit(X, Y, groups=np.arange(N) // 2)


def reported(ledger=None, **parameters):
    alice = RandomizedResponse(epsilon=0.5, bounds=(0, 1), ledger=ledger, **parameters).fit(X)
    return alice.to_arrow(alice.transform(X))


def fit_two_parties(ledger):
    reports = reported(columns_per_record=4)
    TwoPartyScorer("mtv_r", target_bounds=(0, 1), epsilon=0.5, ledger=ledger).fit(reports, Y)


def search(ledger):
    PrivateGridSearch(Ridge(), {"alpha": [1, 2]}, epsilon=0.5, n_subsets=5, ledger=ledger).fit(X, Y)


RELEASES = {  # the entry of each is in the file beside this one, where it is not the default
    "scores": fit_scorer,
    "Gaussian scores": lambda ledger: fit_scorer(ledger, mechanism="gaussian", delta=DELTA, statistic="kendall"),
    "scores with noise in a cube": lambda ledger: fit_scorer(ledger, mechanism="k-norm"),
    "noisy tables": lambda ledger: fit_scorer(ledger, mechanism="geometric"),
    "people": fit_people,
    "a score function": lambda ledger: dp_mic_regression(X, Y, epsilon=0.5, ledger=ledger, **UNIT),
    "chunks": lambda ledger: DPMICScorer(epsilon=0.5, B=8, ledger=ledger, **UNIT).partial_fit(X, Y).publish(),
    "a selector's scores": lambda ledger: fit_selector(ledger, 3, kind=DPMICSelector),
    "names": lambda ledger: fit_selector(ledger, 3),
    "names, where delta does not help": lambda ledger: fit_selector(ledger, 1, DELTA),
    "names, all of them": lambda ledger: fit_selector(ledger, "all", DELTA),
    "names one by one": lambda ledger: fit_selector(ledger, 2, criterion="joint"),
    "correlations": lambda ledger: PrivateCorrelation(epsilon=0.5, delta=DELTA, ledger=ledger).fit(X),
    "a graph of numbers": lambda ledger: PrivatePC(epsilon=0.5, delta=DELTA, ledger=ledger).fit(X),
    "a graph of labels": lambda ledger: PrivatePC(epsilon=0.5, delta=DELTA, ledger=ledger).fit(X > 0.5),
    "reports": lambda ledger: reported(ledger, columns_per_record=4),
    "scores of reports": fit_two_parties,
    "parameters": search,
    "ranges": lambda ledger: private_bounds(np.tile(X[:, 0], 2), epsilon=0.5, ledger=ledger),
    "MICr of a pair": lambda ledger: score_pair(ledger, "mic_r", **WITHIN),
    "counts of a pair": lambda ledger: score_pair(ledger, "mic_r", mechanism="geometric", **WITHIN),
    "MICe of a pair": lambda ledger: score_pair(ledger, "mic_e"),
}
ENTRIES = json.loads(Path(__file__).with_name("entries.json").read_text("utf-8"))


@pytest.mark.filterwarnings("ignore:noise will exceed the signal")
@pytest.mark.parametrize("name", RELEASES)
def test_an_entry_says_what_was_released(name, ledger):
    RELEASES[name](ledger.for_purpose("a report"))
    (entry,), expected = ledger.entries(), LedgerEntry(**ENTRIES[name], purpose="a report")
    assert entry._replace(when="", rho=None) == expected._replace(rho=None)
    assert entry.rho == pytest.approx(expected.rho)


def test_entries_are_readable():
    of_names = {"d": 12_000, "k": 5, "statistic": "mtv_r", "release": "names", "mechanism": "one-shot"}
    texts = {
        LedgerEntry("mean age", 0.5, n=100, d=1, purpose="report"): "report: mean age",
        LedgerEntry("Sel", 0.5, **of_names): "Sel, mtv_r, names of 5 of 12,000, one-shot",
        LedgerEntry("own", 0.5, d=3, release="histograms"): "own, histograms of 3",
    }
    assert [str(entry) for entry in texts] == list(texts.values())


# --- Purposes -------------------------------------------------------------------------------------------------------


def test_a_purpose_belongs_to_a_ledger_object_and_the_budget_is_shared(ledger):
    report, paper = ledger.for_purpose("report"), ledger.for_purpose("report").for_purpose("paper")
    for each in (report, paper, ledger):
        each.charge("x", 0.5)
    assert [entry.purpose for entry in ledger.entries()] == ["report", "paper", None]
    assert (ledger.purpose, report.purpose, paper.purpose) == (None, "report", "paper")
    assert report.spent() == ledger.spent() == (1.5, 0.0)
    assert BudgetLedger.open(ledger.path).purpose is None


def test_a_ledger_with_a_purpose_is_the_same_ledger(ledger):
    report = ledger.for_purpose("report")
    assert report == ledger
    assert hash(report) == hash(ledger)
    assert clone(DPMICScorer(ledger=report)).ledger is report
    again = pickle.loads(pickle.dumps(report))
    assert (again, again.purpose) == (report, "report")
    assert repr(report) == repr(ledger)[:-1] + ", purpose='report')"
