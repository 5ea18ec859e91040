"""A codebook template depends on names and types alone: no value of the table is read."""

import datetime
import tomllib

import numpy as np
import pandas
import polars
import pytest

from skdpmic import Codebook
from tests.counting.tables import relation
from tests.folding import each

pyarrow = pytest.importorskip("pyarrow")
pyarrow_dataset = pytest.importorskip("pyarrow.dataset")

MOMENT = datetime.datetime(2020, 1, 1, 12)


def columns_of(frame):
    return tomllib.loads(Codebook.template(frame))["columns"]


def kinds_of(frame):
    return {name: fields["type"] for name, fields in columns_of(frame).items()}


# --- Contents ---------------------------------------------------------------------------------------------------------

PANDAS = pandas.DataFrame(
    {
        "number": [1.0, 2.0],
        "nullable": pandas.array([1, None], dtype="Int64"),
        "date": [MOMENT, MOMENT],
        "zoned": pandas.to_datetime([MOMENT, MOMENT]).tz_localize("UTC"),
        "duration": [MOMENT - MOMENT] * 2,
        "text": ["a", "b"],
        "objects": np.array(["a", 1], dtype=object),
        "categorical": pandas.Categorical(["a", "b"]),
        "ordered": pandas.Categorical(["a", "b"], categories=["a", "b"], ordered=True),
        "boolean": [True, False],
        "gaps": pandas.array([True, None], dtype="boolean"),
        "arrow": pandas.array(["a", "b"], dtype="string[pyarrow]"),
    }
)
POLARS = polars.DataFrame(
    {
        "number": [1.0, 2.0],
        "decimal": polars.Series([1, 2], dtype=polars.Decimal(10, 2)),
        "date": [MOMENT.date(), None],
        "moment": [MOMENT, None],
        "duration": [MOMENT - MOMENT, None],
        "text": ["a", "b"],
        "categorical": polars.Series(["a", "b"], dtype=polars.Categorical),
        "enum": polars.Series(["b", None], dtype=polars.Enum(["c", "b", "a"])),
        "empty": polars.Series([None, None], dtype=polars.Enum([])),
        "boolean": [True, None],
        "time": [MOMENT.time(), None],
        "list": [[1], [2]],
        "nothing": [None, None],
    }
)


def test_the_type_of_a_column_decides_what_must_be_filled_in():
    kinds = ["number"] * 2 + ["date"] * 2 + ["duration"] + ["labels"] * 4 + ["boolean"] * 2 + ["labels"]
    assert kinds_of(PANDAS) == dict(zip(PANDAS, kinds, strict=True))
    kinds = ["number"] * 2 + ["date"] * 2 + ["duration"] + ["labels"] * 4 + ["boolean"] + ["text"] * 3
    assert kinds_of(POLARS) == dict(zip(POLARS.columns, kinds, strict=True))
    assert kinds_of(polars.DataFrame({"x": polars.Series([object()], dtype=polars.Object)})) == {"x": "labels"}
    blanks = {
        "number": {"range": []},
        "date": {"range": []},
        "duration": {"range": [], "unit": "days"},
        "text": {"labels": []},
        "boolean": {},
    }
    columns = columns_of(PANDAS)
    for name, blank in blanks.items():
        assert {key: columns[name][key] for key in columns[name] if key not in ("type", "description")} == blank
        assert columns[name]["description"] == ""


def test_labels_declared_in_a_type_are_filled_in_and_those_that_may_come_from_the_data_are_not():
    assert columns_of(POLARS)["enum"]["labels"] == ["c", "b", "a"]
    assert columns_of(POLARS.lazy())["enum"]["labels"] == ["c", "b", "a"]
    for name in ("categorical", "empty"):
        assert columns_of(POLARS)[name]["labels"] == []
    for name in ("categorical", "ordered"):
        assert columns_of(PANDAS)[name]["labels"] == []
        assert columns_of(pyarrow.Table.from_pandas(PANDAS[[name]]))[name]["labels"] == []
    assert columns_of(relation("select 'a'::ENUM('a', 'b') as x"))["x"]["labels"] == []


# --- Values are not read ----------------------------------------------------------------------------------------------


class Unreadable:
    """A value that raises an error when it is read."""

    def _raise(self, *_):
        raise AssertionError("a value was read")

    __eq__ = __hash__ = __repr__ = __str__ = __bool__ = __float__ = __len__ = __iter__ = _raise


CONTENTS = [[None] * 3, ["a", "b", "c"], [1, True, MOMENT], [[1], {}, ()], [Unreadable()] * 3]


@each("contents", CONTENTS)
def test_values_of_an_object_column_make_no_difference(contents):
    frame = pandas.DataFrame({"x": pandas.Series(contents, dtype=object), "y": [1.0, 2.0, 3.0]})
    empty = pandas.DataFrame({"x": pandas.Series([], dtype=object), "y": pandas.Series([], dtype=float)})
    assert Codebook.template(frame) == Codebook.template(empty)


def test_dask_computes_nothing():
    dask = pytest.importorskip("dask.dataframe")
    frame = dask.from_pandas(pandas.DataFrame({"x": [1.0, 2.0]}), npartitions=1)
    unreadable = frame.map_partitions(lambda _: 1 / 0, meta={"x": float})
    assert kinds_of(unreadable) == {"x": "number"}
    with pytest.raises(TypeError, match="frame must be a dataframe"):
        Codebook.template(unreadable.to_dask_array())


class OnlyProtocol:
    """An object with only the Arrow protocol, whose batches cannot be read."""

    def __init__(self, schema):
        self._schema = schema

    def __arrow_c_stream__(self, requested_schema=None):
        batches = (1 / 0 for _ in range(1))
        return pyarrow.RecordBatchReader.from_batches(self._schema, batches).__arrow_c_stream__(requested_schema)


def test_only_the_schema_of_a_stream_is_read():
    schema = pyarrow.schema({"x": pyarrow.int64(), "y": pyarrow.string(), "z": pyarrow.duration("s")})
    kinds = {"x": "number", "y": "labels", "z": "duration"}
    assert kinds_of(schema) == kinds_of(OnlyProtocol(schema)) == kinds
    assert kinds_of(pyarrow_dataset.dataset(schema.empty_table())) == kinds
    reader = schema.empty_table().to_reader()
    assert kinds_of(reader) == kinds
    assert reader.read_all().schema == schema  # the stream can still be read


# --- Invalid tables ---------------------------------------------------------------------------------------------------


@each("frame", [np.zeros((2, 2)), "age", 5, None, {"x": [1]}, pandas.Series([1]), polars.Series([1])])
def test_anything_that_is_not_a_table_is_refused(frame):
    with pytest.raises(TypeError, match="frame must be a dataframe or a list of column names"):
        Codebook.template(frame)


# --- From the template to the estimator -------------------------------------------------------------------------------
