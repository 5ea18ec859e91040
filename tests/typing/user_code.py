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

import skdpmic
from skdpmic import (
    BudgetLedger,
    Codebook,
    DPMICScorer,
    DPMICSelector,
    PrivateGridSearch,
    PrivateSelectKBest,
    PublicEncoder,
    characteristic_matrix,
    dp_mic_classif,
    mic_e,
    mic_pairs,
    mic_r,
    mtv_r,
    plan_release,
    private_bounds,
    private_score,
    private_summary,
    release_card,
    search_cost,
)
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation
from skdpmic.counting import RangeGridSketch, count_stream
from skdpmic.plotting import (
    GapsDisplay,
    GraphDisplay,
    LedgerDisplay,
    PlanDisplay,
    ScoresDisplay,
    SummaryDisplay,
)
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer

X, y = np.zeros((10, 3)), np.zeros(10)
PAIR = ((0, 1), (0.0, 1.0))


def estimators(ledger: BudgetLedger, frame: Any) -> None:
    assert_type(DPMICSelector(3, epsilon=0.5, bounds=(0, 1), target_bounds=(0, 1)).fit(X, y), DPMICSelector)
    assert_type(
        DPMICScorer(bounds=(X.min(axis=0), X.max(axis=0)), classes=["a", "b"]).fit(frame, frame["y"]), DPMICScorer
    )
    bounds = {"age": (0, 120), "income": (0, 1e6, "log"), "since": np.array([0.0, 1.0, 5.0])}
    selector = DPMICSelector(
        "all", bounds=bounds, categories={"city": ["Rome", "Bari"]}, target_bounds=private_bounds(y, epsilon=1)
    )
    for statistic in ("mic_r", "kendall"):
        DPMICScorer(statistic=statistic, delta=1e-6, mechanism="gaussian", ledger=ledger, n_jobs=-1, random_state=0)
    assert_type(selector.fit(frame, [1, 2, 3], groups=["me", "you", "me"]).scores_interval(0.9)[0], NDArray[np.float64])
    assert_type(DPMICScorer(mechanism="k-norm").scores_interval(simultaneous=True)[1], NDArray[np.float64])
    assert_type(selector.partial_fit(X, y).publish(), DPMICSelector)
    assert_type(selector.empty_sketch(1000, feature_names=["a"]), RangeGridSketch)
    assert_type(selector.plan(1000, 3).sought, str)
    make_pipeline(SelectKBest(DPMICScorer(epsilon=1)), PrivateSelectKBest(k=2)).fit(X, y)
    PrivateGridSearch(selector, {"k": [1, 2]}, n_subsets=5, scoring="accuracy").fit(X, y).score(X, y)
    assert_type(PrivateCorrelation(1.0, categories={0: ["low", "high"]}).fit(X), PrivateCorrelation)
    alice = RandomizedResponse(0.5, {"age": (0, 120)}, categories={"city": ["Rome", "Bari"]}, ledger=ledger).fit(frame)
    bob = TwoPartyScorer("mtv_r", classes=["a", "b"], epsilon=1.0).fit(alice.to_arrow(alice.transform(frame)), y)
    assert_type(bob.fit(Path("reports.feather"), y), TwoPartyScorer)
    assert_type(bob.scores_interval(0.9), tuple[NDArray[np.float64], NDArray[np.float64]])
    graph = PrivatePC(1.0, 1e-6, categories={0: ["no", "yes"]}, alpha=0.05, max_order=2)
    assert_type(graph.fit(X).p_value(0, "age", given=[2]), float)
    graph.fit(frame, groups=[1, 2]).markov_blanket("age").tolist()
    assert_type(search_cost(selector, cv=5).epsilon, float)

    DPMICSelector("most")  # type: ignore[arg-type]
    DPMICSelector(3, "mic_r")  # type: ignore[call-arg]
    DPMICSelector(epsilon="1")  # type: ignore[arg-type]
    DPMICSelector(bounds=1.0)  # type: ignore[arg-type]
    DPMICSelector(mechanism="geometric")  # type: ignore[arg-type]
    PrivateSelectKBest()  # type: ignore[call-arg]
    DPMICSelector(eps=1.0)  # type: ignore[call-arg]
    DPMICScorer(mechanism="exponential")  # type: ignore[arg-type]
    DPMICScorer(ledger="ledger.db")  # type: ignore[arg-type]
    DPMICScorer().partial_fit(X, y, n_expected="many")  # type: ignore[arg-type]
    DPMICScorer().fit_sketch(X)  # type: ignore[arg-type]
    PrivateCorrelation(delta="small")  # type: ignore[arg-type]
    TwoPartyScorer(statistic="kendall")  # type: ignore[arg-type]
    PrivatePC(max_order="all")  # type: ignore[arg-type]
    graph.markov_blanket(0.5)  # type: ignore[arg-type]


def functions(ledger: BudgetLedger) -> None:
    assert_type(mic_r(X[:, 0], y.tolist(), bounds=PAIR, correction="miller-madow"), float)
    assert_type(mtv_r(X[:, 0], y, bounds=PAIR), float)
    assert_type(mic_e(y, y, B=0.5), float)
    assert_type(private_score(y, y, epsilon=1, bounds=PAIR, B=100, ledger=ledger), float)
    assert_type(private_score(y, y.tolist(), epsilon=np.float64(1), mechanism="geometric", bounds=PAIR), float)
    assert_type(private_score(y, y, statistic="kendall", epsilon=1), float)
    assert_type(dp_mic_classif(X, y, epsilon=1, bounds=(0, 1), classes=[0, 1], statistic="mtv_r"), NDArray[np.float64])
    assert_type(characteristic_matrix(y, y).gmic(), float)
    mic_pairs(X, statistic="mic_r", bounds=(0, 1), n_jobs=2)
    scored: Callable[..., float] = private_score
    scored(y, y)

    mic_r(y, y)  # type: ignore[call-arg]
    mic_r(y, y, bounds=PAIR, master="fine")  # type: ignore[arg-type]
    mic_e(y, y, B="auto")  # type: ignore[arg-type]
    private_score(y, y, bounds=PAIR)  # type: ignore[call-arg]
    private_score(y, y, epsilon=None)  # type: ignore[arg-type]
    private_score(y, y, epsilon=1, mechanism="gaussian")  # type: ignore[arg-type]
    dp_mic_classif(X, y, epsilon=1)  # type: ignore[call-arg]


def codebooks(frame: Any) -> None:
    codebook = Codebook({"age": (0, 120), "sex": ["f", "m"], "bp_*": (0, 300)}, groups="patient")
    assert_type(codebook.target("sex", features=["age"]), dict[str, Any])
    PrivateSelectKBest(3, epsilon=1, **codebook.target("sex", frame)).fit(**codebook.records(frame, "sex"))
    assert_type(PublicEncoder(**codebook.features(["age"]), encoding="ordinal").fit(frame), PublicEncoder)
    assert_type(Codebook.template(frame), str)
    assert_type(Codebook.read("codebook.toml"), Codebook)

    Codebook(["age"])  # type: ignore[arg-type]
    PublicEncoder("data")  # type: ignore[call-arg]
    private_summary(frame, codebook)  # type: ignore[call-arg]


def budgets_plans_and_sketches(frame: Any) -> None:
    ledger = BudgetLedger(Path("ledger.db"), epsilon=3)
    assert_type(ledger.spent(), tuple[float, float])
    assert_type(BudgetLedger.open("ledger.db").entries()[0].epsilon, float)
    assert_type(ledger.for_purpose("report").entries()[0].purpose, str | None)
    with ledger.spend("synthetic table", 0.4, 1e-6, by="OpenDP AIM", rho=0.01) as cost:
        assert_type(cost, tuple[float, float])
    plan = plan_release(n_samples=1000, n_features=3, error=0.1)
    assert_type([row.statistic for row in plan], list[str])
    sketch = RangeGridSketch(bounds=(0, 1), target_bounds=(0, 1), B=100, n_features=3)
    assert_type(sketch.update(frame, y).merge(sketch.empty()), RangeGridSketch)
    assert_type(skdpmic.counting.merge_all([sketch, RangeGridSketch.load("sketch")]), RangeGridSketch)
    assert_type(count_stream(sketch, frame, target="y", n_jobs=2).to_bytes(), bytes)
    assert_type(RangeGridSketch.from_bytes(memoryview(b"")), RangeGridSketch)
    assert_type(skdpmic.__version__, str)

    BudgetLedger("ledger.db")  # type: ignore[call-arg]
    BudgetLedger("ledger.db", 1.0, composition="renyi")  # type: ignore[arg-type]
    ledger.for_purpose(None)  # type: ignore[arg-type]
    ledger.spend(0.4)  # type: ignore[call-arg, arg-type]
    ledger.charge(1.0)  # type: ignore[call-arg, arg-type]
    print(ledger.budget)  # type: ignore[attr-defined]
    plan_release(n_samples="many")  # type: ignore[arg-type]
    plan_release(1000)  # type: ignore[call-arg]
    RangeGridSketch(bounds=(0, 1))  # type: ignore[call-arg]
    RangeGridSketch.from_bytes("sketch")  # type: ignore[arg-type]
    count_stream(sketch, frame)  # type: ignore[call-arg]
    print(skdpmic.mic)  # type: ignore[attr-defined]


def cards(scorer: DPMICScorer, ledger: BudgetLedger) -> None:
    card = release_card(scorer, ledger=ledger)
    assert_type(card.to_json() + card.to_html(), str)
    card.write("card.html")

    release_card()  # type: ignore[call-arg]
    release_card(scorer, ledger="ledger.db")  # type: ignore[arg-type]


def plots(scorer: DPMICScorer, ledger: BudgetLedger) -> None:
    assert_type(ScoresDisplay.from_estimator(scorer, confidence=0.9, max_features=5), ScoresDisplay)
    assert_type(GapsDisplay.from_estimator(PrivateSelectKBest(2), max_features=5), GapsDisplay)
    assert_type(PlanDisplay.from_plan(n_features=20, k=5, epsilons=[0.1, 1]), PlanDisplay)
    assert_type(LedgerDisplay.from_ledger(ledger), LedgerDisplay)
    assert_type(GraphDisplay.from_estimator(PrivatePC()), GraphDisplay)
    summary = private_summary([], Codebook({"age": (0, 120)}), epsilon=1, ledger=ledger)
    assert_type(summary.suspicious, list[str])
    assert_type(SummaryDisplay.from_summary(summary, max_columns=5), SummaryDisplay)

    ScoresDisplay.from_estimator()  # type: ignore[call-arg]
    ScoresDisplay.from_estimator(scorer, ax="left")  # type: ignore[arg-type]
    LedgerDisplay.from_ledger("ledger.db")  # type: ignore[arg-type]
    PlanDisplay.from_plan(k=5)  # type: ignore[call-arg]
