"""For any budget and size, a release is either drawn or refused before it is charged, and nothing overflows."""

import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

from skdpmic import (
    BudgetLedger,
    Codebook,
    DPMICScorer,
    DPMICSelector,
    PrivateAdditiveClassifier,
    PrivateAdditiveRegressor,
    PrivateGridSearch,
    PrivateSelectKBest,
    private_bounds,
    private_score,
    private_summary,
)
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer

PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1)}
CLASSED = {"bounds": (0, 1), "classes": [0, 1]}
RANKS = ("kendall",)
EPSILONS = (1e-100, 1e-60, 1e-25, 1e-16, 1e-6, 1.0, 30.0, 746.0, 1430.0, 1e5, 1e16, 1e40, 1e100, 1e155, 1e200, 1e300)
DELTAS = (0.0, 1e-300, 1e-12, 0.1, 0.9)
SIZES = ((4, 1), (4, 3), (60, 3))


def table(n, d):
    X = np.random.RandomState(0).random_sample((n, d))
    return X, X[:, 0].copy()


def labelled(n, d):
    X, y = table(n, d)
    return X, (y > 0.5).astype(int)


def estimator(kind, has_classes=False, takes_delta=False, needs_delta=False, **parameters):
    """A function that fits the estimator, with a delta if it takes one."""

    def release(n, d, budget, ledger):
        given = dict(parameters)
        if takes_delta:
            given["delta"] = max(budget[1], 1e-6) if needs_delta and budget[1] == 0 else budget[1]
        public = CLASSED if has_classes else PUBLIC
        fitted = kind(epsilon=budget[0], ledger=ledger, **public, **given).fit(
            *(labelled if has_classes else table)(n, d)
        )
        getattr(fitted, "scores_interval", lambda: None)() if given.get("mechanism") != "geometric" else None

    return release


def matrix_release(kind, categories=False, takes_y=False):
    def release(n, d, budget, ledger):
        X, y = table(n, max(d, 2))
        given = {"epsilon": budget[0], "delta": budget[1] or 1e-6, "ledger": ledger}
        given |= {"categories": {j: [0, 1, 2] for j in range(max(d, 2))}} if categories else {}
        given |= {"k": 1} if takes_y else {}
        kind(**given).fit((3 * X).astype(int) if categories else X, *([y] if takes_y else []))

    return release


def pair(statistic, mechanism="laplace"):
    def release(n, d, budget, ledger):
        x = table(n, 1)[1]
        given = {"epsilon": budget[0], "ledger": ledger, "bounds": ((0, 1), (0, 1))}
        private_score(x, x**2, statistic=statistic, mechanism=mechanism, **given)

    return release


def selection_with_kept_feature(n, d, budget, ledger):
    keep = [0] if d > 1 else []
    PrivateSelectKBest(1, keep=keep, epsilon=budget[0], delta=budget[1], ledger=ledger, **PUBLIC).fit(*table(n, d))


def selection_from_people(n, d, budget, ledger):
    selector = PrivateSelectKBest(1, epsilon=budget[0], max_rows_per_group=2, ledger=ledger, **PUBLIC)
    selector.fit(*table(2 * n, d), groups=np.arange(2 * n) // 2)


def weighted_scores(n, d, budget, ledger):
    scorer = DPMICScorer(statistic="mtv_r", epsilon=budget[0], max_weight=3.0, ledger=ledger, **PUBLIC)
    scorer.fit(*table(n, d), sample_weight=np.ones(n))


def bounds(n, d, budget, ledger):
    private_bounds(table(n, d)[0], epsilon=budget[0], ledger=ledger)


def bounds_of_dates(n, d, budget, ledger):
    seconds = (table(n, d)[0] * 1e9).astype(int)
    frame = pd.DataFrame({f"c{j}": pd.to_datetime(seconds[:, j], unit="s") for j in range(d)})
    private_bounds(frame, epsilon=budget[0], ledger=ledger)


def summary(n, d, budget, ledger):
    frame = pd.DataFrame(table(n, d)[0], columns=[f"c{j}" for j in range(d)]).assign(town=["a", "b"] * (n // 2))
    codebook = Codebook({f"c{j}": (0, 1) for j in range(d)} | {"town": ["a", "b"]})
    private_summary(frame, codebook, epsilon=budget[0], delta=budget[1], ledger=ledger)


def search(n, d, budget, ledger):
    PrivateGridSearch(Ridge(), {"alpha": [1, 2]}, epsilon=budget[0], ledger=ledger).fit(*table(max(n, 8), d))


def response(n, d, budget, ledger=None):
    X, _ = table(n, d)
    alice = RandomizedResponse(epsilon=budget[0], bounds=(0, 1), ledger=ledger).fit(X)
    return alice.to_arrow(alice.transform(X))


def two_parties(statistic, reports_epsilon=None, is_published=True, **shares):
    def release(n, d, budget, ledger):
        reports = response(n, d, (reports_epsilon or budget[0],))
        target = {"classes": [0, 1]} if shares else {"target_bounds": (0, 1)}
        paid = {"epsilon": budget[0], "ledger": ledger} if is_published else {}
        bob = TwoPartyScorer(statistic=statistic, **target, **paid, **shares)
        bob.fit(reports, (labelled if shares else table)(n, d)[1])
        if statistic == "distance_correlation":
            assert all(np.isfinite(end).all() for end in bob.scores_interval())

    return release


GAUSSIAN = {"takes_delta": True, "needs_delta": True, "mechanism": "gaussian"}
RELEASES = {
    "model of numbers": estimator(PrivateAdditiveRegressor, takes_delta=True),
    "model of classes": estimator(PrivateAdditiveClassifier, has_classes=True, takes_delta=True),
    **{f"laplace, {name}": estimator(DPMICScorer, statistic=name) for name in ("mic_r", "mtv_r", *RANKS)},
    **{f"k-norm, {name}": estimator(DPMICScorer, statistic=name, mechanism="k-norm") for name in ("mic_r", "kendall")},
    **{f"gaussian, {name}": estimator(DPMICScorer, statistic=name, **GAUSSIAN) for name in ("mic_r", "mtv_r")},
    "tables": estimator(DPMICScorer, mechanism="geometric"),
    **{f"classes, {name}": estimator(DPMICScorer, has_classes=True, statistic=name) for name in ("mic_r", "mtv_r")},
    "known shares": estimator(DPMICScorer, has_classes=True, statistic="mtv_r", target_shares=[0.5, 0.5]),
    "selector": estimator(DPMICSelector, k=1),
    "discoveries": estimator(DPMICSelector, fdr=0.1),
    **{
        f"{k} names, {criterion}": estimator(PrivateSelectKBest, takes_delta=True, k=k, criterion=criterion)
        for k, criterion in itertools.product((1, "all"), ("single", "joint", "auto"))
    },
    "names by MIC": estimator(PrivateSelectKBest, takes_delta=True, k=1, statistic="mic_r"),
    "names beside kept ones": selection_with_kept_feature,
    "names for people": selection_from_people,
    "weights": weighted_scores,
    **{f"pair, {name}": pair(name) for name in ("mic_r", "mtv_r", "mic_e", *RANKS)},
    "pair, tables": pair("mic_r", "geometric"),
    "bounds": bounds,
    "bounds of dates": bounds_of_dates,
    "summary": summary,
    "search": search,
    "correlations": matrix_release(PrivateCorrelation),
    "causes of numbers": matrix_release(PrivatePC),
    "causes of labels": matrix_release(PrivatePC, categories=True),
    "reports": response,
    **{f"two parties, {name}": two_parties(name, 1.0) for name in ("distance_correlation", "mtv_r", "mic_r")},
    **{f"two parties with reports, {name}": two_parties(name) for name in ("distance_correlation", "mtv_r", "mic_r")},
    "two parties, nothing published": two_parties("distance_correlation", is_published=False),
    "two parties, known shares": two_parties("mtv_r", target_shares=[0.5, 0.5]),
}


def assert_drawn_or_refused(release, sizes_and_budgets, folder):
    """Each release returns a result, or raises before the charge; numpy never warns."""
    ledger = BudgetLedger(folder / "ledger.db", 1e303, 0.999, composition="basic")
    for size, budget in sizes_and_budgets:
        before = len(ledger.entries())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            try:
                release(*size, budget, ledger)
            except ValueError:
                assert len(ledger.entries()) == before


QUICK = ("two parties", "bounds", "reports", "search", "gaussian, mtv_r", "all names, joint", "correlations")


@pytest.mark.few
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (not name.startswith(QUICK))) for name in RELEASES]
)
def test_a_release_with_an_extreme_budget_is_drawn_or_refused_before_it_is_charged(name, tmp_path):
    budgets = [(1e-100, 0.0), (1e-100, 0.1), (1430.0, 0.1), (1e300, 1e-300)]
    ends = list(zip([(4, 1), (60, 3), (60, 3), (4, 3)], budgets, strict=True))
    assert_drawn_or_refused(RELEASES[name], ends, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", RELEASES)
def test_a_release_of_any_budget_and_size_is_drawn_or_refused_before_it_is_charged(name, tmp_path):
    has_delta = "names" in name or name.startswith(("gaussian", "summary", "correlations", "causes"))
    draw, deltas = np.random.default_rng(0), (DELTAS[1:4] if has_delta else DELTAS[:1])
    budgets = [(epsilon, deltas[draw.integers(len(deltas))]) for epsilon in EPSILONS]
    assert_drawn_or_refused(RELEASES[name], [(SIZES[draw.integers(3)], budget) for budget in budgets], tmp_path)


def test_the_distance_correlation_of_a_noisy_table_of_many_records_matches_that_of_the_records():
    """The fourth power of 55,109 records does not fit in an int64."""
    rng = np.random.default_rng(0)
    n = 60_000
    X = rng.uniform(size=(n, 1))
    y = (X[:, 0] + 0.25 * rng.normal(size=n)).clip(-1, 2)
    alice = RandomizedResponse(epsilon=math.inf, bounds=(0, 1)).fit(X)
    sent = alice.to_arrow(alice.transform(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        noisy = TwoPartyScorer(epsilon=1000.0, target_bounds=(-1, 2)).fit(sent, y)
    of_records = TwoPartyScorer(target_bounds=(-1, 2)).fit(sent, y)
    assert noisy.scores_[0] == pytest.approx(of_records.scores_[0], abs=0.01)
