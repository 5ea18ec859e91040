"""Any object with the Arrow protocol is read like a dataframe: whole, once, with the types of its schema."""

import math
from importlib import import_module

import narwhals
import numpy as np
import polars
import pytest

from skdpmic import BudgetLedger, DPMICScorer, DPMICSelector, PrivateSelectKBest
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation
from skdpmic.counting import RangeGridSketch
from skdpmic.table import frames
from tests.counting.tables import PUBLIC, TARGETS, mixed_table, relation
from tests.folding import each
from tests.table.arrow_columns import Stream
from tests.table.arrow_columns import pa as pyarrow


class Array:
    """An object with only the Arrow array protocol."""

    def __init__(self, data):
        self._data = data

    def __arrow_c_array__(self, requested_schema=None):
        return self._data.__arrow_c_array__(requested_schema)


def polars_stream(table):
    frame = polars.from_arrow(table)
    if not hasattr(frame, "__arrow_c_stream__"):
        pytest.skip("this version of Polars lacks the Arrow protocol")
    return Stream(frame)


TABLES = {
    "DuckDB": lambda table: relation("from t", t=table),
    "table": lambda table: table,
    "batch": lambda table: table.combine_chunks().to_batches()[0],
    "reader": lambda table: table.to_reader(max_chunksize=100),
    "stream": Stream,
    "of Polars": polars_stream,
}
COLUMNS = TABLES | {
    "chunks": lambda table: table.column(0),
    "array": lambda table: table.column(0).combine_chunks(),
    "stream of chunks": lambda table: Stream(table.column(0)),
    "protocol of arrays": lambda table: Array(table.column(0).combine_chunks()),
    "dictionary": lambda table: Stream(table.column(0).dictionary_encode()),
    "LazyFrame": lambda table: polars.from_arrow(table).lazy(),
    "pandas": lambda table: table.to_pandas(),
}
MIXED = mixed_table()
FEATURES = [*PUBLIC["bounds"], *PUBLIC["categories"]]


def results(estimator):
    return {name: np.asarray(value).tolist() for name, value in vars(estimator).items() if name.endswith("_")}


@pytest.mark.few
@pytest.mark.parametrize("target", TARGETS)
def test_every_kind_of_target_is_read(target):
    scorer = DPMICScorer(epsilon=math.inf, **PUBLIC, **TARGETS[target])
    expected = results(scorer.fit(MIXED[FEATURES], MIXED[target]))
    for source in COLUMNS.values():
        assert results(scorer.fit(MIXED[FEATURES], source(MIXED[[target]].to_arrow()))) == expected


def test_sums_and_enums_of_engines_are_read():
    x = np.linspace(0, 1, 200)
    table = pyarrow.table({"x": x, "i": (x > 0.3).astype(int), "s": np.where(x > 0.3, "yes", "no")})
    expected = DPMICScorer(epsilon=math.inf, bounds=(0, 1), classes=[0, 1]).fit(x[:, None], table["i"]).scores_
    for query in ("i::hugeint", "i::decimal(5, 2)", "i::double", "s::enum('yes', 'no', 'never')"):
        classes = ["no", "yes"] if "enum" in query else [0, 1]
        scorer = DPMICScorer(epsilon=math.inf, bounds=(0, 1), classes=classes)
        assert (scorer.fit(x[:, None], relation(f"select {query} from t", t=table)).scores_ == expected).all()


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
@pytest.mark.parametrize("source", TABLES)
def test_every_argument_of_fit_may_come_from_one_engine(source):
    read = TABLES[source]
    for fit in list(FITS)[list(TABLES).index(source) % 3 :: 3]:
        estimator, beside = FITS[fit]
        arrays = {name: column.column(0).to_numpy() for name, column in beside.items()}
        expected = results(estimator.fit(NUMBERS, **arrays))
        assert (
            results(estimator.fit(read(NUMBERS), **{name: read(column) for name, column in beside.items()})) == expected
        )
        assert expected["feature_names_in_"] == ["a", "b", "c"]


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


def test_a_lazy_frame_may_be_fitted_beside_streams():
    public = {"bounds": (0, 1), "target_bounds": (0, 1), "target_shares": (0.5, 0.5)}
    scorer = DPMICScorer(statistic="mtv_r", epsilon=math.inf, max_weight=1.0, **public)
    expected = scorer.fit(NUMBERS, Y, sample_weight=WEIGHTS).scores_.tolist()
    lazy = polars.from_arrow(NUMBERS).lazy()
    assert scorer.fit(lazy, Y.to_reader(), sample_weight=Stream(WEIGHTS)).scores_.tolist() == expected


# --- Transform --------------------------------------------------------------------------------------------------------


@each("source", TABLES)
def test_a_stream_is_transformed_into_a_frame_of_the_library_that_read_it(source):
    table = MIXED[["age", "town", "born"]].to_arrow()
    public = {"bounds": {name: PUBLIC["bounds"][name] for name in ("age", "born")}, "target_bounds": (0, 1)}
    public["categories"] = {"town": PUBLIC["categories"]["town"]}
    selector = DPMICSelector(2, epsilon=math.inf, **public).fit(table, MIXED["cost"])
    transformed = selector.transform(TABLES[source](table))
    assert isinstance(transformed, pyarrow.Table)
    assert transformed.to_pydict() == table.select(selector.get_feature_names_out().tolist()).to_pydict()
    selector_of_numbers = DPMICSelector(1, epsilon=math.inf, bounds=(0, 1), target_bounds=(0, 1)).fit(NUMBERS, Y)
    assert selector_of_numbers.transform(TABLES[source](NUMBERS)).equals(NUMBERS.select(["b"]))


def without(libraries):
    def import_others(name):
        if name in libraries:
            raise ImportError(name)
        return import_module(name)

    return import_others


def test_types_come_from_the_schema_whichever_library_reads_it():
    """The schema declares booleans even where all of them are missing."""
    table = pyarrow.table({"town": ["a", "b", "b"] * 100, "smokes": pyarrow.nulls(N, pyarrow.bool_())})
    public = {"categories": {"town": ["a", "b"]}, "target_bounds": (0, 1)}
    for source, missing, kind in ((Stream, (), pyarrow.Table), (polars_stream, ("pyarrow",), polars.DataFrame)):
        X, y = source(table), source(Y)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(frames, "import_module", without(missing))
            chosen = DPMICSelector("all", **public).fit(X, y).transform(X)
        assert isinstance(chosen, kind)
        assert chosen.shape == (N, 2)


def test_without_a_library_that_reads_streams_the_error_names_those_that_do(monkeypatch):
    monkeypatch.setattr(frames, "import_module", without(("pyarrow", "polars")))
    scorer = DPMICScorer(bounds=(0, 1), target_bounds=(0, 1))
    with pytest.raises(
        ImportError, match=r"^X is an Arrow stream, which requires pyarrow or Polars: pip install pyarrow"
    ):
        scorer.fit(Stream(NUMBERS), np.zeros(N))
    with pytest.raises(ImportError, match=r"^y is an Arrow stream, which requires pyarrow or Polars"):
        scorer.fit(np.zeros((N, 3)), Stream(Y))


# --- Refusals ---------------------------------------------------------------------------------------------------------


class SparkFrame:
    schema = "as of PySpark before 4.3"

    def __getitem__(self, name):
        raise KeyError(name)


class RayDataset:
    def schema(self):
        return "as of Ray Data"

    def __iter__(self):
        raise TypeError

    def __len__(self):
        raise AttributeError


UNREADABLE = {
    "dataset": lambda table: pytest.importorskip("pyarrow.dataset").dataset(table),
    "scanner": lambda table: pytest.importorskip("pyarrow.dataset").dataset(table).scanner(),
    "of narwhals": lambda table: narwhals.from_native(relation("from t", t=table)),
    "of Spark": lambda table: SparkFrame(),
    "of Ray": lambda table: RayDataset(),
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
        (DPMICSelector(1, **public).partial_fit, "X", {"X": NUMBERS, "y": Y}),
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


@each("source", [source for source in TABLES if source != "batch"])
def test_a_table_of_several_columns_is_not_a_column(source):
    two = TABLES[source](NUMBERS.select(["a", "b"]))
    with pytest.raises(ValueError, match=rf"^y should be a 1d array, got an array of shape \({N}, 2\) instead"):
        DPMICScorer(bounds=(0, 1), target_bounds=(0, 1)).fit(NUMBERS, two)


def test_duplicate_names_in_a_stream_are_refused():
    twice = pyarrow.Table.from_arrays([NUMBERS["a"], NUMBERS["b"]], names=["a", "a"])
    with pytest.raises(ValueError, match=r"X must have distinct column names, got several named \['a'\]"):
        DPMICScorer(bounds=(0, 1), target_bounds=(0, 1)).fit(Stream(twice), Y)


def test_missing_values_in_a_target_are_refused_in_every_layout():
    y = pyarrow.table({"y": pyarrow.array([None, *range(N - 1)], pyarrow.int64())})
    for source in COLUMNS.values():
        with pytest.raises(ValueError, match="Input y contains NaN"):
            DPMICScorer(bounds=(0, 1), target_bounds=(0, N)).fit(NUMBERS, source(y))
