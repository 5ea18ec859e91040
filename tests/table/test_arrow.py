"""Any object with the Arrow protocol is read like a dataframe: whole, once, with the types of its schema."""

import math

import narwhals
import numpy as np
import polars
import pytest

from skdpmic import BudgetLedger, DPMICScorer, DPMICSelector, PrivateSelectKBest
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation
from skdpmic.counting import RangeGridSketch
from tests.counting.tables import relation
from tests.folding import each
from tests.table.arrow_columns import Stream
from tests.table.arrow_columns import pa as pyarrow

# --- Estimators -------------------------------------------------------------------------------------------------------


N = 300
RNG = np.random.default_rng(0)
NUMBERS = pyarrow.table({"a": RNG.random(N), "b": RNG.random(N), "c": RNG.random(N)})
Y = pyarrow.table({"y": NUMBERS["b"]})
GROUPS = pyarrow.table({"person": [f"p{i}" for i in RNG.integers(0, 200, N)]})
WEIGHTS = pyarrow.table({"weight": RNG.random(N)})
SEEDED = {"epsilon": 20.0, "random_state": 0}
KNOWN = SEEDED | {"bounds": (0, 1), "target_bounds": (0, 1)}
TARGET = {"y": Y}
FITS = {
    "k best": (PrivateSelectKBest(2, **KNOWN), TARGET),
    "jointly": (PrivateSelectKBest(2, criterion="joint", **KNOWN), TARGET),
    "scores": (DPMICSelector(2, **KNOWN), TARGET),
    "scorer": (DPMICScorer(**KNOWN), TARGET),
    "ranks": (DPMICScorer(statistic="kendall", **SEEDED), TARGET),
    "people": (DPMICSelector(2, max_rows_per_group=2, **KNOWN), {"y": Y, "groups": GROUPS}),
    "weights": (PrivateSelectKBest(2, max_weight=1.0, **KNOWN), {"y": Y, "sample_weight": WEIGHTS}),
    "matrix": (PrivateCorrelation(delta=1e-6, **SEEDED), {}),
    "graph": (PrivatePC(delta=1e-6, **SEEDED), {}),
}
quiet = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning", "ignore:delta:UserWarning")


@quiet
@each("fit", FITS)
def test_a_fit_reads_each_stream_once(fit):
    estimator, beside = FITS[fit]
    X, given = Stream(NUMBERS), {name: Stream(column) for name, column in beside.items()}
    estimator.fit(X, **given)
    assert [X.n_reads, *(stream.n_reads for stream in given.values())] == [1] * (1 + len(given))


def test_chunks_may_be_readers():
    scorer = DPMICScorer(epsilon=math.inf, bounds=(0, 1), target_bounds=(0, 1))
    expected = scorer.fit(NUMBERS, Y).scores_.tolist()
    for rows in (slice(0, 100), slice(100, N)):
        scorer.partial_fit(*(table.slice(rows.start, rows.stop - rows.start).to_reader() for table in (NUMBERS, Y)), N)
    assert scorer.publish().scores_.tolist() == expected
    empty = scorer.empty_sketch(N, feature_names=["a", "b", "c"])
    assert scorer.fit_sketch(empty.update(NUMBERS.to_reader(), Y.to_reader())).scores_.tolist() == expected


# --- Refusals ---------------------------------------------------------------------------------------------------------


UNREADABLE = {
    "dataset": lambda table: pytest.importorskip("pyarrow.dataset").dataset(table),
    "scanner": lambda table: pytest.importorskip("pyarrow.dataset").dataset(table).scanner(),
    "of narwhals": lambda table: narwhals.from_native(relation("from t", t=table)),
}


def refusal(name):
    return f"^{name} must be array-like, .* or have __arrow_c_stream__, got [A-Z].*skdpmic.counting.count_stream"


@pytest.mark.filterwarnings("ignore:You passed a .*narwhals:UserWarning")
@each("unreadable", UNREADABLE)
def test_data_that_cannot_be_read_whole_is_refused_by_name_before_the_charge(unreadable, tmp_path):
    ledger, unreadable = BudgetLedger(tmp_path / "ledger", epsilon=99), UNREADABLE[unreadable]
    public = {"bounds": (0, 1), "target_bounds": (0, 1), "ledger": ledger}
    for fit, name, given in (
        (DPMICSelector(1, **public).fit, "X", {"X": NUMBERS, "y": Y}),
        (DPMICSelector(1, **public).fit, "y", {"X": NUMBERS, "y": Y}),
        (DPMICSelector(1, **public).fit, "y", {"X": polars.from_arrow(NUMBERS).lazy(), "y": Y}),
        (DPMICSelector(1, max_rows_per_group=1, **public).fit, "groups", {"X": NUMBERS, "y": Y, "groups": GROUPS}),
        (
            PrivateSelectKBest(1, max_weight=1, **public).fit,
            "sample_weight",
            {"X": NUMBERS, "y": Y, "sample_weight": WEIGHTS},
        ),
        (PrivateCorrelation(ledger=ledger).fit, "X", {"X": NUMBERS}),
        (PrivatePC(ledger=ledger).fit, "X", {"X": NUMBERS}),
        (RangeGridSketch(n_features=3, bounds=(0, 1), target_bounds=(0, 1), B=9).update, "X", {"X": NUMBERS, "y": Y}),
    ):
        with pytest.raises(TypeError, match=refusal(name)):
            fit(**given | {name: unreadable(NUMBERS if name == "X" else given[name])})
    assert ledger.entries() == []
    fitted = DPMICSelector(1, bounds=(0, 1), target_bounds=(0, 1)).fit(NUMBERS, Y)
    for method in (fitted.transform, fitted.inverse_transform):
        with pytest.raises(TypeError, match=refusal("X")):
            method(unreadable(NUMBERS))
