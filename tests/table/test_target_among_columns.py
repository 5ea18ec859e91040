"""A target that is also a column of the table is refused before the charge, by everything that takes both."""

import random

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skdpmic import (
    BudgetLedger,
    Codebook,
    DPMICScorer,
    DPMICSelector,
    PrivateAdditiveClassifier,
    PrivateGridSearch,
    PrivateSelectKBest,
    private_evaluation,
)
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer
from tests.search.test_grid_search import ARROW_IS_SPLIT

N, NAMES = 400, ["age", "risk", "years"]
PUBLIC = {"bounds": (0, 2), "classes": [0, 1]}
VALUES = np.random.default_rng(0).integers(0, 2, size=(N, 3))
FRAME = pandas.DataFrame(VALUES, columns=NAMES)
TABLES = {
    "pandas": FRAME,
    "Polars": polars.DataFrame(VALUES, schema=NAMES),
    "lazy": polars.DataFrame(VALUES, schema=NAMES).lazy(),
    "Arrow": pyarrow.Table.from_pandas(FRAME),
}
COLUMNS = {
    "pandas": lambda name: FRAME[name],
    "pandas, one column": lambda name: FRAME[[name]],
    "Polars": lambda name: TABLES["Polars"][name],
    "Polars, one column": lambda name: TABLES["Polars"].select(name),
    "Arrow, one column": lambda name: TABLES["Arrow"].select([name]),
}


def with_rows_to_pick(data):
    """What a search takes: a table in memory whose rows scikit-learn picks."""
    if isinstance(data, pyarrow.Table) and not ARROW_IS_SPLIT:
        return data.to_pandas()
    return data.collect() if hasattr(data, "collect") else data


def search(ledger, X, y):
    estimator = make_pipeline(PrivateSelectKBest(1, epsilon=1.0, ledger=ledger, **PUBLIC), LogisticRegression())
    searched = PrivateGridSearch(estimator, {"logisticregression__C": [1, 2]}, epsilon=1.0, ledger=ledger)
    searched.fit(with_rows_to_pick(X), with_rows_to_pick(y))


def evaluate(ledger, X, y):
    model = LogisticRegression().fit(FRAME, VALUES[:, 0])
    private_evaluation(model, X, y, epsilon=1.0, model_is_public=True, ledger=ledger)


def counted(ledger, X, y):
    scorer = DPMICScorer(epsilon=1.0, ledger=ledger, B=9, c=2, **PUBLIC)
    scorer.partial_fit(X.collect() if hasattr(X, "collect") else X, y).publish()


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


def test_a_codebook_lists_no_target_among_the_features():
    codebook = Codebook({name: [0, 1] for name in NAMES})
    for ask in (
        lambda: codebook.target("risk", ["age", "risk"]),
        lambda: codebook.features(["risk"], target="risk"),
        lambda: codebook.records(FRAME, "risk", ["risk", "age"]),
    ):
        with pytest.raises(ValueError, match="features must not hold the target 'risk', which would predict itself"):
            ask()
    assert list(codebook.records(FRAME, "risk")["X"].columns) == ["age", "years"]
