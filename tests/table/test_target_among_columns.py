"""A target that is also a column of the table is refused before the charge, by everything that takes both."""

import random

import numpy as np
import pandas
import polars
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skdpmic import (
    BudgetLedger,
    DPMICScorer,
    DPMICSelector,
    PrivateAdditiveClassifier,
    PrivateGridSearch,
    PrivateSelectKBest,
    private_evaluation,
)
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer

N, NAMES = 400, ["age", "risk", "years"]
PUBLIC = {"bounds": (0, 2), "classes": [0, 1]}
VALUES = np.random.default_rng(0).integers(0, 2, size=(N, 3))
FRAME = pandas.DataFrame(VALUES, columns=NAMES)
TABLES = {
    "pandas": FRAME,
    "Polars": polars.DataFrame(VALUES, schema=NAMES),
}
COLUMNS = {
    "pandas": lambda name: FRAME[name],
    "pandas, one column": lambda name: FRAME[[name]],
    "Polars": lambda name: TABLES["Polars"][name],
}


def search(ledger, X, y):
    estimator = make_pipeline(PrivateSelectKBest(1, epsilon=1.0, ledger=ledger, **PUBLIC), LogisticRegression())
    searched = PrivateGridSearch(estimator, {"logisticregression__C": [1, 2]}, epsilon=1.0, ledger=ledger)
    searched.fit(X, y)


def evaluate(ledger, X, y):
    model = LogisticRegression().fit(FRAME, VALUES[:, 0])
    private_evaluation(model, X, y, epsilon=1.0, model_is_public=True, ledger=ledger)


def counted(ledger, X, y):
    scorer = DPMICScorer(epsilon=1.0, ledger=ledger, B=9, c=2, **PUBLIC)
    scorer.partial_fit(X, y).publish()


def of_two_parties(ledger, X, y):
    alice = RandomizedResponse(4.0, bounds=dict.fromkeys(NAMES, (0, 2))).fit(FRAME)
    reports = alice.to_arrow(alice.transform(FRAME))
    TwoPartyScorer(epsilon=1.0, ledger=ledger, classes=[0, 1]).fit(reports, y)


USES = {
    "selector of names": lambda ledger, X, y: PrivateSelectKBest(1, epsilon=1.0, ledger=ledger, **PUBLIC).fit(X, y),
    "selector": lambda ledger, X, y: DPMICSelector(1, epsilon=1.0, ledger=ledger, **PUBLIC).fit(X, y),
    "scorer": lambda ledger, X, y: DPMICScorer(epsilon=1.0, ledger=ledger, **PUBLIC).fit(X, y),
    "counts": counted,
    "model": lambda ledger, X, y: PrivateAdditiveClassifier(1.0, ledger=ledger, **PUBLIC).fit(X, y),
    "evaluation": evaluate,
    "search": search,
    "two parties": of_two_parties,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("use", USES)
def test_a_target_with_the_name_of_a_column_is_refused_before_the_charge(use, tmp_path):
    ledger, rng = BudgetLedger(tmp_path / "ledger.db", epsilon=100.0, delta=0.01), random.Random(use)
    for _ in range(3):
        X, y, name = rng.choice([*TABLES.values()]), COLUMNS[rng.choice([*COLUMNS])], rng.choice(NAMES)
        with pytest.raises(ValueError, match=f"y must not be a column of X, .* got '{name}' in both: leave it out"):
            USES[use](ledger, X, y(name))
    assert ledger.spent() == (0.0, 0.0)
    USES[use](ledger, FRAME, FRAME["risk"].rename("target"))
    assert ledger.spent()[0] > 0
