"""User code that type checkers must accept, and lines that they must reject: mypy reports an ignore without an error.

Nothing here is run.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline

import skdpmic as dp
from skdpmic import plotting
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation
from skdpmic.counting import RangeGridSketch, count_stream
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer

X, y = np.zeros((10, 3)), np.zeros(10)
PAIR = ((0, 1), (0.0, 1.0))


def estimators(ledger: dp.BudgetLedger, frame: Any) -> None:
    assert_type(dp.DPMICSelector(3, epsilon=0.5, bounds=(0, 1), target_bounds=(0, 1)).fit(X, y), dp.DPMICSelector)
    assert_type(
        dp.DPMICScorer(bounds=(X.min(axis=0), X.max(axis=0)), classes=["a", "b"]).fit(frame, frame["y"]), dp.DPMICScorer
    )
    bounds = {"age": (0, 120), "income": (0, 1e6, "log"), "since": np.array([0.0, 1.0, 5.0])}
    selector = dp.DPMICSelector(
        "all", bounds=bounds, categories={"city": ["Rome", "Bari"]}, target_bounds=dp.private_bounds(y, epsilon=1)
    )
    for statistic in ("mic_r", "kendall"):
        dp.DPMICScorer(statistic=statistic, delta=1e-6, mechanism="gaussian", ledger=ledger, n_jobs=-1, random_state=0)
    assert_type(selector.fit(frame, [1, 2, 3], groups=["me", "you", "me"]).scores_interval(0.9)[0], NDArray[np.float64])
    assert_type(dp.DPMICScorer(mechanism="k-norm").scores_interval(simultaneous=True)[1], NDArray[np.float64])
    assert_type(selector.partial_fit(X, y).publish(), dp.DPMICSelector)
    assert_type(selector.empty_sketch(1000, feature_names=["a"]), RangeGridSketch)
    assert_type(selector.plan(1000, 3).sought, str)
    make_pipeline(SelectKBest(dp.DPMICScorer(epsilon=1)), dp.PrivateSelectKBest(k=2)).fit(X, y)
    dp.PrivateGridSearch(selector, {"k": [1, 2]}, n_subsets=5, scoring="accuracy").fit(X, y).score(X, y)
    assert_type(PrivateCorrelation(1.0, categories={0: ["low", "high"]}).fit(X), PrivateCorrelation)
    alice = RandomizedResponse(0.5, {"age": (0, 120)}, categories={"city": ["Rome", "Bari"]}, ledger=ledger).fit(frame)
    bob = TwoPartyScorer("mtv_r", classes=["a", "b"], epsilon=1.0).fit(alice.to_arrow(alice.transform(frame)), y)
    assert_type(bob.fit(Path("reports.feather"), y), TwoPartyScorer)
    assert_type(bob.scores_interval(0.9), tuple[NDArray[np.float64], NDArray[np.float64]])
    graph = PrivatePC(1.0, 1e-6, categories={0: ["no", "yes"]}, alpha=0.05, max_order=2)
    assert_type(graph.fit(X).p_value(0, "age", given=[2]), float)
    graph.fit(frame, groups=[1, 2]).markov_blanket("age").tolist()
    assert_type(dp.search_cost(selector, cv=5).epsilon, float)

    dp.DPMICSelector("most")  # type: ignore[arg-type]
    dp.DPMICSelector(epsilon="1")  # type: ignore[arg-type]
    dp.DPMICSelector(bounds=1.0)  # type: ignore[arg-type]
    dp.DPMICSelector(mechanism="geometric")  # type: ignore[arg-type]
    dp.PrivateSelectKBest()  # type: ignore[call-arg]
    dp.DPMICSelector(eps=1.0)  # type: ignore[call-arg]
    dp.DPMICScorer(ledger="ledger.db")  # type: ignore[arg-type]
    dp.DPMICScorer().partial_fit(X, y, n_expected="many")  # type: ignore[arg-type]
    dp.DPMICScorer().fit_sketch(X)  # type: ignore[arg-type]
    PrivateCorrelation(delta="small")  # type: ignore[arg-type]
    TwoPartyScorer(statistic="kendall")  # type: ignore[arg-type]
    PrivatePC(max_order="all")  # type: ignore[arg-type]
    graph.markov_blanket(0.5)  # type: ignore[arg-type]


def functions(ledger: dp.BudgetLedger) -> None:
    assert_type(dp.mic_r(X[:, 0], y.tolist(), bounds=PAIR, correction="miller-madow"), float)
    assert_type(dp.mtv_r(X[:, 0], y, bounds=PAIR), float)
    assert_type(dp.mic_e(y, y, B=0.5), float)
    assert_type(dp.private_score(y, y, epsilon=1, bounds=PAIR, B=100, ledger=ledger), float)
    assert_type(dp.private_score(y, y.tolist(), epsilon=np.float64(1), mechanism="geometric", bounds=PAIR), float)
    assert_type(dp.private_score(y, y, statistic="kendall", epsilon=1), float)
    assert_type(dp.dp_mic_classif(X, y, epsilon=1, bounds=(0, 1), classes=[0, 1]), NDArray[np.float64])
    assert_type(dp.characteristic_matrix(y, y).gmic(), float)
    dp.mic_pairs(X, statistic="mic_r", bounds=(0, 1), n_jobs=2)
    scored: Callable[..., float] = dp.private_score
    scored(y, y)

    dp.mic_r(y, y)  # type: ignore[call-arg]
    dp.mic_r(y, y, bounds=PAIR, master="fine")  # type: ignore[arg-type]
    dp.private_score(y, y, bounds=PAIR)  # type: ignore[call-arg]
    dp.private_score(y, y, epsilon=1, mechanism="gaussian")  # type: ignore[arg-type]
    dp.dp_mic_classif(X, y, epsilon=1)  # type: ignore[call-arg]


def codebooks(frame: Any) -> None:
    codebook = dp.Codebook({"age": (0, 120), "sex": ["f", "m"], "bp_*": (0, 300)}, groups="patient")
    assert_type(codebook.target("sex", features=["age"]), dict[str, Any])
    dp.PrivateSelectKBest(3, epsilon=1, **codebook.target("sex", frame)).fit(**codebook.records(frame, "sex"))
    assert_type(dp.PublicEncoder(**codebook.features(["age"]), encoding="ordinal").fit(frame), dp.PublicEncoder)
    assert_type(dp.Codebook.template(frame), str)

    dp.Codebook(["age"])  # type: ignore[arg-type]
    dp.PublicEncoder("data")  # type: ignore[call-arg]
    dp.private_summary(frame, codebook)  # type: ignore[call-arg]


def budgets_plans_and_sketches(frame: Any) -> None:
    ledger = dp.BudgetLedger(Path("ledger.db"), epsilon=3)
    assert_type(ledger.spent(), tuple[float, float])
    assert_type(dp.BudgetLedger.open("ledger.db").entries()[0].epsilon, float)
    assert_type(ledger.for_purpose("report").entries()[0].purpose, str | None)
    with ledger.spend("synthetic table", 0.4, 1e-6, by="OpenDP AIM", rho=0.01) as cost:
        assert_type(cost, tuple[float, float])
    plan = dp.plan_release(n_samples=1000, n_features=3, error=0.1)
    assert_type([row.statistic for row in plan], list[str])
    sketch = RangeGridSketch(bounds=(0, 1), target_bounds=(0, 1), B=100, n_features=3)
    assert_type(sketch.update(frame, y).merge(sketch.empty()), RangeGridSketch)
    assert_type(dp.counting.merge_all([sketch, RangeGridSketch.load("sketch")]), RangeGridSketch)
    assert_type(count_stream(sketch, frame, target="y", n_jobs=2).to_bytes(), bytes)
    assert_type(RangeGridSketch.from_bytes(memoryview(b"")), RangeGridSketch)
    assert_type(dp.__version__, str)

    dp.BudgetLedger("ledger.db")  # type: ignore[call-arg]
    ledger.for_purpose(None)  # type: ignore[arg-type]
    ledger.spend(0.4)  # type: ignore[call-arg, arg-type]
    print(ledger.budget)  # type: ignore[attr-defined]
    dp.plan_release(1000)  # type: ignore[call-arg]
    RangeGridSketch(bounds=(0, 1))  # type: ignore[call-arg]
    count_stream(sketch, frame)  # type: ignore[call-arg]
    print(dp.mic)  # type: ignore[attr-defined]


def cards(scorer: dp.DPMICScorer, ledger: dp.BudgetLedger) -> None:
    card = dp.release_card(scorer, ledger=ledger)
    assert_type(card.to_json() + card.to_html(), str)
    card.write("card.html")

    dp.release_card(scorer, ledger="ledger.db")  # type: ignore[arg-type]


def plots(scorer: dp.DPMICScorer, ledger: dp.BudgetLedger) -> None:
    assert_type(plotting.ScoresDisplay.from_estimator(scorer, confidence=0.9, max_features=5), plotting.ScoresDisplay)
    assert_type(plotting.GapsDisplay.from_estimator(dp.PrivateSelectKBest(2), max_features=5), plotting.GapsDisplay)
    assert_type(plotting.PlanDisplay.from_plan(n_features=20, k=5, epsilons=[0.1, 1]), plotting.PlanDisplay)
    assert_type(plotting.LedgerDisplay.from_ledger(ledger), plotting.LedgerDisplay)
    assert_type(plotting.GraphDisplay.from_estimator(PrivatePC()), plotting.GraphDisplay)
    summary = dp.private_summary([], dp.Codebook({"age": (0, 120)}), epsilon=1, ledger=ledger)
    assert_type(summary.suspicious, list[str])
    assert_type(plotting.SummaryDisplay.from_summary(summary, max_columns=5), plotting.SummaryDisplay)

    plotting.ScoresDisplay.from_estimator(scorer, ax="left")  # type: ignore[arg-type]
    plotting.LedgerDisplay.from_ledger("ledger.db")  # type: ignore[arg-type]
    plotting.PlanDisplay.from_plan(k=5)  # type: ignore[call-arg]
