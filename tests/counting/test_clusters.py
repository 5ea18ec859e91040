"""Workers of Spark and Ray each count their rows, and the merged sketch is that of all rows, bit for bit.

Both engines really run, on this machine. They are installed wherever the slow tests run: no test is skipped there, so
a missing Java does not go unnoticed.
"""

import os
import sys

import pytest

from skdpmic.counting import RangeGridSketch, count_stream, merge_all
from tests.counting.tables import N, bytes_of, counted, empty_sketch, mixed_table, with_one_target, write_files
from tests.test_guides import run

pytestmark = [
    pytest.mark.slow,
    # The engines themselves warn about versions of other libraries.
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parquet")
    write_files(with_one_target(mixed_table()), folder)
    return folder


def merged(rows):
    return merge_all(RangeGridSketch.from_bytes(row) for row in rows)


# --- Spark ------------------------------------------------------------------------------------------------------------


def count_batches(empty):
    """The function that Spark runs on each partition: it takes an iterator of batches and yields one row."""

    def count(batches):
        import pyarrow

        sketch = count_stream(empty, batches, target="cost")
        yield pyarrow.RecordBatch.from_pydict({"sketch": [sketch.to_bytes()]})

    return count


@pytest.fixture(scope="module")
def spark():
    """Spark in its own Java process, with two workers that run this Python."""
    from pyspark.sql import SparkSession

    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "Asia/Tokyo",  # which must not move dates
    }
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = SparkSession.builder.master("local[2]").config(map=options).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def test_spark_gives_the_same_bytes_as_the_other_engines(spark, folder):
    table = spark.read.parquet(str(folder)).repartition(3)
    rows = table.mapInArrow(count_batches(empty_sketch()), "sketch binary").collect()
    assert len(rows) == 3
    assert bytes_of(merged(row.sketch for row in rows)) == counted(mixed_table())
    assert max(RangeGridSketch.from_bytes(row.sketch).n_samples for row in rows) < N


def test_an_error_on_a_spark_worker_names_the_column_and_quotes_no_value(spark):
    from pyspark.errors import PythonException

    table = spark.createDataFrame([("patient 8675309", 0.5)], ["age", "cost"])
    empty = RangeGridSketch(bounds={"age": (0, 100)}, target_bounds=(0, 1), B=8)
    with pytest.raises(PythonException, match=r"got text in \['age'\], which must be numbers") as caught:
        table.mapInArrow(count_batches(empty), "sketch binary").collect()
    assert "8675309" not in str(caught.value)


def test_the_guide_to_spark_runs(spark, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("choose/engines.md", capsys, "Describe", "DuckDB", "Spark", warn="ignore")


# --- Ray --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ray():
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


def test_ray_gives_the_same_bytes_as_the_other_engines(ray, folder):
    empty = empty_sketch()

    def count(rows):
        return {"sketch": [count_stream(empty, rows, target="cost").to_bytes()]}

    table = ray.data.read_parquet(str(folder))
    rows = table.map_batches(count, batch_format="pyarrow", batch_size=100).take_all()
    assert len(rows) > 5
    assert bytes_of(merged(row["sketch"] for row in rows)) == counted(mixed_table())
    batches = table.iter_batches(batch_format="pyarrow", batch_size=None)
    assert count_stream(empty, batches, target="cost").n_samples == N


def test_the_guide_to_ray_runs(ray, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("choose/engines.md", capsys, "Describe", "DuckDB", "Ray", warn="ignore")
