"""A ledger entry says who spent the budget, what was released, by which mechanism and for what purpose."""

import pickle

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
from skdpmic.privacy.composition import rho_for
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer

N, D, DELTA = 80, 20, 1e-6
RNG = np.random.default_rng(0)
X, Y = RNG.random((N, D)), RNG.random(N)
X_PAIR = X[:, 0]
PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1)}
WITHIN = {"bounds": ((0, 1), (0, 1))}
RHO = rho_for(0.5, DELTA)
SPLIT = 0.5**2 / 2 / D  # with epsilon split evenly over the features; half as much for tables
RHO_OF_NAMES = pytest.approx((9 + 17**2) / 400 / 8)  # a learnt target, and one draw for all names
RHO_OF_JOINT_NAMES = pytest.approx((9 + 17**2 * (0.9**2 / 2 + 0.1**2)) / 400 / 8)  # two choices and a number
ON_TARGET = {  # the epsilon spent on it
    "a selector's scores": 0.075,
    "names": 0.075,
    "names, where delta does not help": 0.075,
    "names, all of them": 0.075,
    "names one by one": 0.075,
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget.db"


@pytest.fixture
def ledger(path):
    return BudgetLedger(path, 2.0, 1e-5)


def fit_selector(ledger, k, delta=0.0, kind=PrivateSelectKBest, **parameters):
    kind(k, statistic="mtv_r", epsilon=0.5, delta=delta, ledger=ledger, **parameters, **PUBLIC).fit(X, Y)


def score_pair(ledger, statistic, **parameters):
    private_score(X_PAIR, Y, statistic=statistic, epsilon=0.5, ledger=ledger, **parameters)


def fit_scorer(ledger, **parameters):
    return DPMICScorer(epsilon=0.5, ledger=ledger, **parameters, **PUBLIC).fit(X, Y)


def fit_people(ledger):
    DPMICScorer(epsilon=0.5, max_rows_per_group=2, ledger=ledger, **PUBLIC).fit(X, Y, groups=np.arange(N) // 2)


def reported(ledger=None, **parameters):
    alice = RandomizedResponse(epsilon=0.5, bounds=(0, 1), ledger=ledger, **parameters).fit(X)
    return alice.to_arrow(alice.transform(X))


def fit_two_parties(ledger):
    reports = reported(columns_per_record=4)
    TwoPartyScorer("mtv_r", target_bounds=(0, 1), epsilon=0.5, ledger=ledger).fit(reports, Y)


def search(ledger):
    PrivateGridSearch(Ridge(), {"alpha": [1, 2]}, epsilon=0.5, n_subsets=5, ledger=ledger).fit(X, Y)


# What is released, and the expected (what, delta, n, d, rho, statistic, release, mechanism, k) of its entry.
RELEASES = {
    "scores": (fit_scorer, ("DPMICScorer", 0.0, N, D, SPLIT, "mic_r", "scores", "laplace", None)),
    "Gaussian scores": (
        lambda ledger: fit_scorer(ledger, mechanism="gaussian", delta=DELTA, statistic="kendall"),
        ("DPMICScorer", DELTA, N, D, RHO, "kendall", "scores", "gaussian", None),
    ),
    "scores with noise in a cube": (
        lambda ledger: fit_scorer(ledger, mechanism="k-norm"),
        ("DPMICScorer", 0.0, N, D, None, "mic_r", "scores", "k-norm", None),
    ),
    "noisy tables": (
        lambda ledger: fit_scorer(ledger, mechanism="geometric"),
        ("DPMICScorer", 0.0, N, D, SPLIT / 2, "mic_r", "tables", "geometric", None),
    ),
    "people": (fit_people, ("DPMICScorer", 0.0, N // 2, D, SPLIT, "mic_r", "scores", "laplace", None)),
    "a score function": (
        lambda ledger: dp_mic_regression(X, Y, epsilon=0.5, ledger=ledger, **PUBLIC),
        ("DPMICScorer", 0.0, N, D, SPLIT, "mic_r", "scores", "laplace", None),
    ),
    "chunks": (
        lambda ledger: DPMICScorer(epsilon=0.5, B=8, ledger=ledger, **PUBLIC).partial_fit(X, Y).publish(),
        ("DPMICScorer", 0.0, N, D, SPLIT, "mic_r", "scores", "laplace", None),
    ),
    "a selector's scores": (
        lambda ledger: fit_selector(ledger, 3, kind=DPMICSelector),
        ("DPMICSelector", 0.0, N, D, pytest.approx((9 + 17**2 / D) / 400 / 8), "mtv_r", "scores", "laplace", None),
    ),
    "names": (
        lambda ledger: fit_selector(ledger, 3),
        ("PrivateSelectKBest", 0.0, N, D, RHO_OF_NAMES, "mtv_r", "names", "one-shot", 3),
    ),
    "names, where delta does not help": (
        lambda ledger: fit_selector(ledger, 1, DELTA),
        ("PrivateSelectKBest", 0.0, N, D, RHO_OF_NAMES, "mtv_r", "names", "one-shot", 1),
    ),
    "names, all of them": (
        lambda ledger: fit_selector(ledger, "all", DELTA),
        ("PrivateSelectKBest", 0.0, N, D, RHO_OF_NAMES, "mtv_r", "names", "k-norm", D),
    ),
    "names one by one": (
        lambda ledger: fit_selector(ledger, 2, criterion="joint"),
        ("PrivateSelectKBest", 0.0, N, D, RHO_OF_JOINT_NAMES, "mtv_r", "names", "permute-and-flip", 2),
    ),
    "correlations": (
        lambda ledger: PrivateCorrelation(epsilon=0.5, delta=DELTA, ledger=ledger).fit(X),
        ("PrivateCorrelation", DELTA, N, D, RHO, "kendall", "matrix", "gaussian", None),
    ),
    "a graph of numbers": (
        lambda ledger: PrivatePC(epsilon=0.5, delta=DELTA, ledger=ledger).fit(X),
        ("PrivatePC", DELTA, N, D, RHO, "kendall", "matrix", "gaussian", None),
    ),
    "a graph of labels": (
        lambda ledger: PrivatePC(epsilon=0.5, delta=DELTA, ledger=ledger).fit(X > 0.5),
        ("PrivatePC", DELTA, N, D, RHO, None, "tables", "gaussian", None),
    ),
    "reports": (
        lambda ledger: reported(ledger, columns_per_record=4),
        ("RandomizedResponse", 0.0, N, D, 0.5**2 / 2 / 4, None, "reports", "randomized-response", None),
    ),
    "scores of reports": (
        fit_two_parties,
        ("TwoPartyScorer", 0.0, N, D, 0.5**2 / 2 / 8, "mtv_r", "tables", "geometric", None),
    ),
    "parameters": (search, ("PrivateGridSearch", 0.0, N, None, None, None, "choice", "one-shot", None)),
    "ranges": (
        lambda ledger: private_bounds(np.tile(X_PAIR, 2), epsilon=0.5, ledger=ledger),
        ("private_bounds", 0.0, 2 * N, 1, pytest.approx(0.5**2 / 8), None, "bounds", "exponential", None),
    ),
    "MICr of a pair": (
        lambda ledger: score_pair(ledger, "mic_r", **WITHIN),
        ("private_score", 0.0, N, 1, None, "mic_r", "scores", "laplace", None),
    ),
    "counts of a pair": (
        lambda ledger: score_pair(ledger, "mic_r", mechanism="geometric", **WITHIN),
        ("private_score", 0.0, N, 1, 0.5**2 / 4, "mic_r", "tables", "geometric", None),
    ),
    "MICe of a pair": (
        lambda ledger: score_pair(ledger, "mic_e"),
        ("private_score", 0.0, N, 1, None, "mic_e", "scores", "laplace", None),
    ),
}


@pytest.mark.filterwarnings("ignore:noise will exceed the signal")
@pytest.mark.parametrize("name", RELEASES)
def test_an_entry_says_what_was_released(name, ledger):
    release, (what, delta, *numbers_and_names) = RELEASES[name]
    release(ledger.for_purpose("a report"))
    n, d, rho, statistic, released, mechanism, k = numbers_and_names
    expected = LedgerEntry(
        what, 0.5, delta, rho, "record", n, d, k, statistic, released, mechanism, ON_TARGET.get(name)
    )
    if name == "people":
        expected = expected._replace(unit="person", rows_per_person=2)
    if name == "reports":
        expected = expected._replace(model="local")
    if name == "scores of reports":
        expected = expected._replace(covers="the target")
    assert ledger.entries()[0]._replace(when="") == expected._replace(purpose="a report")


@pytest.mark.parametrize(
    "entry, text",
    [
        (LedgerEntry("mean age", 0.5, n=100, d=1), "mean age"),
        (LedgerEntry("mean age", 0.5, purpose="report"), "report: mean age"),
        (
            LedgerEntry(
                "Sel", 0.5, d=12_000, k=5, statistic="mtv_r", release="names", mechanism="one-shot", purpose="report"
            ),
            "report: Sel, mtv_r, names of 5 of 12,000, one-shot",
        ),
        (LedgerEntry("Search", 0.5, n=9, release="choice", mechanism="one-shot"), "Search, choice, one-shot"),
        (LedgerEntry("own", 0.5, d=3, release="histograms"), "own, histograms of 3"),
    ],
)
def test_entries_are_readable(entry, text):
    assert str(entry) == text


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


@pytest.mark.parametrize("purpose", [None, 7, b"report", ["report"], "", " \n"])
def test_a_purpose_that_is_not_text_is_refused(ledger, purpose):
    with pytest.raises(ValueError, match="purpose must be a non-blank str, got "):
        ledger.for_purpose(purpose)
