"""Whichever engine streams a table, the sketch is that of its rows, bit for bit; errors quote no values."""

import traceback

import pytest

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
    "Polars by Arrow": lambda frame: pyarrow.RecordBatchReader.from_stream(frame),
    "pandas": lambda frame: frame.to_pandas(),
    "pandas on Arrow": lambda frame: frame.to_arrow().to_pandas(types_mapper=pandas.ArrowDtype),
}


@pytest.mark.parametrize("engine", BY_ENGINE)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.combinations
def test_targets_of_every_kind_are_counted(target, engine):
    frame = mixed_table()
    if engine == "Polars by Arrow" and not hasattr(frame, "__arrow_c_stream__"):
        pytest.skip("this version of Polars lacks some types")
    sketch = count_stream(empty_sketch(target), BY_ENGINE[engine](with_one_target(frame, target)), target=target)
    assert bytes_of(sketch) == counted(frame, target)


# --- What is refused --------------------------------------------------------------------------------------------------


def small(**changes):
    return pyarrow.table({"a": [0.1, 0.2, 0.3], "b": ["u", "v", "u"], "y": [0.0, 0.5, 1.0]} | changes)


def small_sketch():
    return RangeGridSketch(bounds={"a": (0, 1)}, categories={"b": ["u", "v"]}, target_bounds=(0, 1), B=8)


SECRET = "patient 8675309"
REFUSED = {
    "another name": (
        lambda: small().rename_columns(["a", "z", "y"]),
        r"got none named \['b'\] and additional ones named \['z'\]\.$",
    ),
    "text": (lambda: small(a=[SECRET, "x", "y"]), r"got text in \['a'\], which must be numbers"),
    "no value in the target": (lambda: small(y=[8675309, None, 0]), "Input y contains NaN"),
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
