"""Whichever engine streams a table, the sketch is that of its rows, bit for bit; errors quote no values."""

import builtins
import traceback
from functools import partial

import numpy as np
import pytest

from skdpmic import BudgetLedger, DPMICScorer
from skdpmic.counting import RangeGridSketch, count_stream, streams
from tests.counting.tables import (
    TARGETS,
    N,
    bytes_of,
    counted,
    empty_sketch,
    mixed_table,
    relation,
    with_one_target,
    write_files,
)
from tests.folding import each
from tests.select_names import SelectNames

pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parquet")
    write_files(with_one_target(mixed_table()), folder)
    return folder


def dataset(folder):
    return pytest.importorskip("pyarrow.dataset").dataset(folder)


def batches_of_files(folder):
    parquet = pytest.importorskip("pyarrow.parquet")
    for path in sorted(folder.iterdir()):
        yield from parquet.ParquetFile(path).iter_batches(batch_size=50)


ENGINES = {
    "DuckDB": lambda folder: relation(f"from '{folder}/*.parquet'"),
    "Polars": lambda folder: polars.read_parquet(folder / "*.parquet"),
    "Polars, lazy": lambda folder: polars.scan_parquet(folder / "*.parquet"),
    "pyarrow, a dataset": dataset,
    "pyarrow, a scanner": lambda folder: dataset(folder).scanner(batch_size=33),
    "pyarrow, a reader": lambda folder: dataset(folder).scanner().to_reader(),
    "pyarrow, a table": lambda folder: dataset(folder).to_table(),
    "pyarrow, a batch": lambda folder: dataset(folder).to_table().combine_chunks().to_batches()[0],
    "pyarrow, batches of files": batches_of_files,
    "pandas": lambda folder: dataset(folder).to_table().to_pandas(),
    "pandas on Arrow": lambda folder: dataset(folder).to_table().to_pandas(types_mapper=pandas.ArrowDtype),
    "pandas, chunks": lambda folder: (table.to_pandas() for table in map(_table_of, batches_of_files(folder))),
    "of several kinds": lambda folder: [
        dataset(folder).to_table()[:10],
        polars.read_parquet(folder / "*.parquet")[10:],
    ],
}


def _table_of(batch):
    return pyarrow.Table.from_batches([batch])


@pytest.mark.few
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rows", [40, 2**17])
@pytest.mark.combinations
def test_every_engine_gives_the_same_bytes(engine, rows, folder, monkeypatch):
    """DuckDB, Polars and pyarrow; PySpark and Ray are in ``test_clusters.py``."""
    monkeypatch.setattr(streams, "_ROWS", rows)
    empty = empty_sketch()
    sketch = count_stream(empty, ENGINES[engine](folder), target="cost")
    assert bytes_of(sketch) == counted(mixed_table())
    assert sketch.n_samples == N
    assert empty == empty_sketch()
    assert empty.n_samples == 0


BY_ENGINE = {
    "DuckDB": lambda frame: relation("from t", t=frame.to_arrow()),
    "Polars": lambda frame: frame.lazy(),
    "pyarrow": lambda frame: frame.to_arrow().to_reader(),
    "Polars by Arrow": lambda frame: by_arrow(frame),
    "pandas": lambda frame: frame.to_pandas(),
    "pandas on Arrow": lambda frame: frame.to_arrow().to_pandas(types_mapper=pandas.ArrowDtype),
}


@pytest.mark.parametrize("engine", BY_ENGINE)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.combinations
def test_targets_of_every_kind_are_counted(target, engine):
    frame = mixed_table()
    sketch = count_stream(empty_sketch(target), BY_ENGINE[engine](with_one_target(frame, target)), target=target)
    assert bytes_of(sketch) == counted(frame, target)


TEXT = {
    "of DuckDB": lambda frame: relation(
        "select s::enum('a', 'b', 'z') as s, y::enum('no', 'yes') as y from t", t=frame
    ),
    "dictionaries": lambda frame: frame.set_column(0, "s", frame["s"].dictionary_encode()),
    "of Polars": lambda frame: polars.from_arrow(frame).cast({"s": polars.Enum(["z", "b", "a"])}),
    "of Polars by Arrow": lambda frame: by_arrow(
        polars.from_arrow(frame).cast({"s": polars.Categorical, "y": polars.Categorical})
    ),
    "views": lambda frame: by_arrow(polars.from_arrow(frame)),
    "of pandas": lambda frame: frame.to_pandas().astype({"s": "category", "y": "category"}),
    "large": lambda frame: frame.cast(pyarrow.schema({"s": pyarrow.large_string(), "y": pyarrow.large_string()})),
}


def by_arrow(frame):
    """A Polars dataframe in the form in which other libraries read it."""
    if not hasattr(frame, "__arrow_c_stream__"):
        pytest.skip("this version of Polars lacks the Arrow protocol")
    return pyarrow.RecordBatchReader.from_stream(frame)


@each("text", TEXT)
def test_text_in_every_layout_is_counted(text):
    labels = np.random.default_rng(0).choice(["a", "b", "z", None], 90).tolist()
    frame = pyarrow.table({"s": labels, "y": ["yes", "no", "no"] * 30})
    empty = RangeGridSketch(categories={"s": ["a", "b"]}, feature_names=["s"], classes=["no", "yes"], B=8)
    expected = empty.empty().update(frame.select(["s"]), frame["y"].to_pylist())
    assert count_stream(empty, TEXT[text](frame), target="y") == expected
    assert expected.n_samples == 90


def test_a_stream_without_rows_gives_a_sketch_without_records():
    frame = with_one_target(mixed_table())
    for nothing in ([], iter(()), frame[:0], frame[:0].to_arrow(), frame[:0].to_arrow().to_reader(), [frame[:0]] * 3):
        assert count_stream(empty_sketch(), nothing, target="cost") == empty_sketch()


@pytest.mark.parametrize("estimator", [DPMICScorer, partial(SelectNames, k=1)])
@pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")
def test_a_stream_publishes_the_same_as_fit_and_only_publishing_is_charged(estimator, tmp_path):
    rng = np.random.default_rng(0)
    frame = polars.DataFrame({"a": rng.random(300), "b": rng.random(300)}).with_columns(y=polars.col("b") ** 2)
    public = {"bounds": {"a": (0, 1), "b": (0, 1)}, "target_bounds": (0, 1)}
    ledger = BudgetLedger(tmp_path / "ledger.db", 1.0)
    streamed = estimator(epsilon=1, random_state=0, ledger=ledger, **public)
    sketch = count_stream(streamed.empty_sketch(300), frame.lazy(), target="y")
    assert ledger.entries() == []
    streamed.fit_sketch(sketch)
    assert ledger.spent() == (1.0, 0.0)
    fitted = estimator(epsilon=1, random_state=0, **public).fit(frame[["a", "b"]], frame["y"])
    for name in vars(fitted):
        if name.endswith("_"):
            np.testing.assert_array_equal(getattr(streamed, name), getattr(fitted, name))


# --- Batches ----------------------------------------------------------------------------------------------------------


def columns(n):
    return {"x": np.random.default_rng(n).random(n), "y": np.linspace(0, 1, n)}


def test_small_batches_are_counted_together_and_large_ones_are_split(monkeypatch):
    monkeypatch.setattr(streams, "_ROWS", 100)
    counted_at_once = []
    count_into = streams.count_into
    monkeypatch.setattr(
        streams, "count_into", lambda *some, **more: (counted_at_once.append(len(some[2])), count_into(*some, **more))
    )
    empty = RangeGridSketch(bounds={"x": (0, 1)}, target_bounds=(0, 1), B=8)
    for table_of in (pyarrow.table, polars.DataFrame, pandas.DataFrame):
        counted_at_once.clear()
        sketch = count_stream(empty, [table_of(columns(n)) for n in (*[30] * 10, 250, 1)], target="y")
        assert counted_at_once == [120, 120, 104, 104, 102, 1]
        assert sketch.n_samples == 551


# --- What is refused --------------------------------------------------------------------------------------------------


def small(**changes):
    return pyarrow.table({"a": [0.1, 0.2, 0.3], "b": ["u", "v", "u"], "y": [0.0, 0.5, 1.0]} | changes)


def small_sketch():
    return RangeGridSketch(bounds={"a": (0, 1)}, categories={"b": ["u", "v"]}, target_bounds=(0, 1), B=8)


SECRET = "patient 8675309"
REFUSED = {
    "a column is missing": (lambda: small().drop_columns(["a"]), r"got none named \['a'\]\.$"),
    "another column": (lambda: small(c=[1, 2, 3]), r"got additional ones named \['c'\]\.$"),
    "another name": (
        lambda: small().rename_columns(["a", "z", "y"]),
        r"got none named \['b'\] and additional ones named \['z'\]\.$",
    ),
    "no target": (lambda: small().drop_columns(["y"]), r"got none named \['y'\]\.$"),
    "two of one name": (
        lambda: small().append_column("a", small()["a"]),
        r"must have distinct column names, got several named \['a'\]",
    ),
    "text": (lambda: small(a=[SECRET, "x", "y"]), r"got text in \['a'\], which must be numbers"),
    "numbers": (lambda: small(b=[8675309.0, 1, 2]), r"got numbers in \['b'\], which must be text"),
    "lists": (lambda: small(a=[[8675309], [1], [2]]), r"got other values in \['a'\], which must be numbers"),
    "infinity": (lambda: small(a=[8675309, np.inf, 0]), "Input column 'a' of X contains infinity"),
    "no value in the target": (lambda: small(y=[8675309, None, 0]), "Input y contains NaN"),
    "NaN in the target": (lambda: small(y=[8675309, np.nan, 0]), "Input y contains NaN"),
    "text in the target": (lambda: small(y=[SECRET, "", ""]), "y must hold real numbers, .* got text"),
    "a later batch": (lambda: [small(), small(y=[8675309, np.nan, 0])], "Input y contains NaN"),
    "a later schema": (lambda: [small(), small(c=[8675309, 1, 2])], r"got additional ones named \['c'\]\.$"),
}


@each("what", REFUSED)
def test_an_invalid_stream_is_refused_without_quoting_it(what):
    stream, message = REFUSED[what]
    empty = small_sketch()
    with pytest.raises(ValueError, match=message) as caught:
        count_stream(empty, stream(), target="y")
    assert "8675309" not in str(caught.value)
    assert empty == small_sketch()
    assert empty.n_samples == 0


FAILING = {
    "DuckDB": lambda: relation("select a::double as a, b, y from t", t=small(a=[SECRET, "0", "1"])),
    "Polars": lambda: polars.from_arrow(small(a=[SECRET, "0", "1"])).lazy().with_columns(polars.col("a").cast(float)),
    "pyarrow": lambda: pytest.importorskip("pyarrow.csv").open_csv(
        pyarrow.py_buffer(b"a,b,y\n" + b"0.5,u,0\n" * 200 + SECRET.encode() + b",u,1\n"),
        read_options=pyarrow.csv.ReadOptions(block_size=200),
    ),
}


@pytest.mark.parametrize("engine", FAILING)
def test_the_message_of_an_engine_that_fails_is_not_repeated(engine):
    """Engines quote the value that they cannot convert."""
    with pytest.raises(ValueError, match=r"^the stream could not be read: .* failed with \w+\. Its message") as caught:
        count_stream(small_sketch(), FAILING[engine](), target="y")
    assert "8675309" not in "".join(traceback.format_exception(caught.value))
    with pytest.raises(Exception, match="8675309"):  # the engine itself quotes it
        for _ in pyarrow.RecordBatchReader.from_stream(getattr(FAILING[engine](), "collect", FAILING[engine])()):
            pass


@each("stream", [pyarrow.Table.to_reader, polars.from_arrow, lambda table: [table], lambda table: table.to_pandas()])
def test_errors_quote_the_classes_but_not_an_unknown_label(stream):
    table = small(y=["well", "ill", SECRET])
    empty = RangeGridSketch(bounds={"a": (0, 1)}, categories={"b": ["u", "v"]}, classes=["well", "ill"], B=8)
    with pytest.raises(
        ValueError, match=r"that are in classes, \['ill', 'well'\], got at least one other label\.$"
    ) as caught:
        count_stream(empty, stream(table), target="y")
    assert "8675309" not in str(caught.value)


def test_errors_of_a_python_iterable_are_raised_unchanged():
    def rows():
        yield small()
        raise ConnectionError("no response")

    with pytest.raises(ConnectionError, match="no response"):
        count_stream(small_sketch(), rows(), target="y")


@each("stream", [np.zeros((3, 3)), 3, None, "abc", {"a": 1}, [1], polars.Series([1.0])])
def test_anything_that_is_not_a_stream_is_refused(stream):
    with pytest.raises(TypeError, match="stream must be a dataframe, a Polars LazyFrame, an object with __arrow_c_"):
        count_stream(small_sketch(), stream, target="y")


def test_dask_collections_are_refused_in_favour_of_fit():
    frame = pytest.importorskip("dask.dataframe").from_pandas(small().to_pandas(), npartitions=1)
    with pytest.raises(TypeError, match="got a dask collection: pass it to fit"):
        count_stream(small_sketch(), frame, target="y")


def test_arguments_are_checked():
    for target in ("a", 3, None, ["y"]):
        with pytest.raises(ValueError, match="target must be the name of a column that is not a feature of the sketch"):
            count_stream(small_sketch(), small(), target=target)
    with pytest.raises(ValueError, match="empty must have feature names, which identify the columns"):
        count_stream(RangeGridSketch(bounds=(0, 1), target_bounds=(0, 1), B=8, n_features=2), small(), target="y")
    with pytest.raises(TypeError, match="empty must be a RangeGridSketch, got DPMICScorer"):
        count_stream(DPMICScorer(), small(), target="y")


def test_without_pyarrow_dataframes_are_counted_and_arrow_streams_say_what_to_install(monkeypatch):
    frame, sketch = polars.from_arrow(small()), small_sketch()
    stream = small().to_reader()
    expected = count_stream(sketch, small(), target="y")
    import_before = builtins.__import__

    def no_pyarrow(name, *some, **more):
        if name.partition(".")[0] == "pyarrow":
            raise ImportError("No module named 'pyarrow'")
        return import_before(name, *some, **more)

    monkeypatch.setattr(builtins, "__import__", no_pyarrow)
    assert count_stream(sketch, frame, target="y") == count_stream(sketch, frame.lazy(), target="y") == expected
    with pytest.raises(ImportError, match="reading Arrow streams requires pyarrow: pip install pyarrow"):
        count_stream(sketch, stream, target="y")
