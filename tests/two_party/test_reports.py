"""Reports between the parties: what is written is read again, and what somebody made up is refused."""

import json
import math

import numpy as np
import pytest

from skdpmic.table.axes import Knots, Labels, LogRange, Range
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer
from skdpmic.two_party.reports import ReportedColumn, ReportsDescription, description_from_json, read_reports
from tests.folding import each

pyarrow = pytest.importorskip("pyarrow", reason="reports are tables of Arrow")
parquet = pytest.importorskip("pyarrow.parquet")

N = 60
KEY = b"skdpmic.reports"


@pytest.fixture
def table():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    return pandas.DataFrame(
        {
            "age": np.where(rng.random(N) < 0.1, np.nan, rng.random(N) * 90),
            "income": rng.lognormal(size=N),
            "city": rng.choice(["Rome", "Bari", "Pisa"], N),
            "since": pandas.to_datetime("2020-01-01") + pandas.to_timedelta(rng.integers(900, size=N), unit="D"),
        }
    )


def public(pandas):
    dates = (pandas.Timestamp("2020-01-01"), pandas.Timestamp("2023-01-01"))
    return {
        "bounds": {"age": (0, 90), "income": (0, 100, "log"), "since": dates},
        "categories": {"city": ["Rome", "Bari"]},
    }


@pytest.fixture
def sent(table):
    pandas = pytest.importorskip("pandas")
    alice = RandomizedResponse(epsilon=6.0, **public(pandas)).fit(table)
    return alice, alice.to_arrow(alice.transform(table))


def test_arrow_holds_small_whole_numbers_and_null_where_nothing_is_reported(sent, table):
    alice, arrow = sent
    assert arrow.column_names == list(table.columns)
    assert {str(kind) for kind in arrow.schema.types} == {"uint8"}
    assert sum(column.null_count for column in arrow.columns) == N * (4 - alice.columns_per_record_)
    reports = read_reports(arrow)
    assert reports.description == alice._description
    assert reports.description.epsilon_per_column == 3
    assert [column.n_parts for column in reports.description.columns] == alice.n_parts_.tolist() == [9, 9, 4, 9]


def test_parquet_and_arrow_files_hold_the_same(sent, tmp_path):
    _, arrow = sent
    parquet.write_table(arrow, tmp_path / "reports.parquet")
    with pyarrow.ipc.new_file(tmp_path / "reports.arrow", arrow.schema) as file:
        file.write_table(arrow)
    expected = read_reports(arrow)
    for name in ("reports.parquet", "reports.arrow"):
        for path in (tmp_path / name, str(tmp_path / name)):
            found = read_reports(path)
            assert found.description == expected.description
            np.testing.assert_array_equal(found.parts, expected.parts)
        y = np.linspace(0, 1, N)
        of_file, of_table = (TwoPartyScorer().fit(reports, y) for reports in (tmp_path / name, arrow))
        assert of_file.scores_.tolist() == of_table.scores_.tolist()


AXES = [
    Range(0.0, 1.0),
    Range(-1.0, 1e300, "dates"),
    LogRange(-5.0, 7.0),
    Knots((0.0, 1.0, 5.0)),
    Labels(("a", "b")),
    Labels((1.0, 2.5, 3.0)),
]


@pytest.mark.parametrize("epsilon", [0.3, 5.0, math.inf])
def test_every_description_is_read_as_it_was_written(epsilon):
    columns = tuple(
        ReportedColumn(f"x{j}", axis, None if isinstance(axis, Labels) else 5, j % 2 == 0)
        for j, axis in enumerate(AXES)
    )
    description = ReportsDescription(epsilon, 3, columns)
    text = description.to_json()
    assert description_from_json(text) == description
    assert json.loads(text)["version"] == 1


GOOD = {
    "version": 1,
    "mechanism": "m-ary randomised response",
    "epsilon": 1.0,
    "columns_per_record": 1,
    "columns": [{"name": "x", "described": ["Range", 0.0, 1.0, "numbers"], "equal_parts": 4, "missing": True}],
}
COLUMN = GOOD["columns"][0]
BAD = [
    "",
    "null",
    "[]",
    "{",
    "\x80",
    "[" * 100_000,
    *[
        {**GOOD, **change}
        for change in (
            {"version": 2},
            {"version": "1"},
            {"epsilon": 0},
            {"epsilon": -1.0},
            {"epsilon": "1"},
            {"epsilon": True},
            {"epsilon": float("nan")},
            {"epsilon": float("inf")},
            {"columns_per_record": 0},
            {"columns_per_record": 2},
            {"columns_per_record": 1.0},
            {"columns": []},
            {"columns": None},
            {"columns": [COLUMN, COLUMN]},
        )
    ],
    *[
        {**GOOD, "columns": [{**COLUMN, **change}]}
        for change in (
            {"name": 3},
            {"equal_parts": 1},
            {"equal_parts": 2**16},
            {"equal_parts": 10**9},
            {"equal_parts": None},
            {"equal_parts": True},
            {"missing": 1},
            {"described": None},
            {"described": ["Order"]},
            {"described": ["Range", 1.0, 0.0, "numbers"]},
            {"described": ["Range", 0.0, float("inf"), "numbers"]},
            {"described": ["Range", 0.0, 1.0, "order"]},
            {"described": ["Labels", ["a", "a"]], "equal_parts": None},
            {"described": ["Labels", ["a", "b"]]},
            {"described": ["os.system", "ls"]},
        )
    ],
    {key: value for key, value in GOOD.items() if key != "epsilon"},
]


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_descriptions_that_nobody_wrote_are_refused(text):
    with pytest.raises(ValueError, match="reports must have a description of version 1") as caught:
        description_from_json(text if isinstance(text, str) else json.dumps(text))
    assert caught.value.__cause__ is None


def test_the_good_one_is_taken():
    assert description_from_json(json.dumps(GOOD)).columns[0].n_parts == 5


def made_up(values, kind=None, names=("x",), **change):
    arrays = [pyarrow.array(values, type=kind)] * len(names)
    metadata = {KEY: json.dumps({**GOOD, **change}).encode()}
    return pyarrow.table(arrays, names=list(names)).replace_schema_metadata(metadata)


@each(
    "reports, message",
    [
        (made_up([0, 5, 1, 2]), r"in 0 \.\.\. 4"),
        (made_up([0, -1, 1, 2]), r"in 0 \.\.\. 4"),
        (made_up([0.0, 1.0, 1.0, 2.0]), "whole numbers, got double"),
        (made_up(["0", "1", "2", "3"]), "whole numbers, got string"),
        (made_up([0, None, 1, 2]), r"1 column\(s\) for each record"),
        (made_up([0, 1, 1, 2], names=("y",)), "the columns that their description names"),
        (made_up([0, 1, 1, 2], names=("x", "x")), "the columns that their description names"),
        (made_up([0, 1, 1]), "3 sample"),
        (made_up([0, 1, 1, 2]).replace_schema_metadata({}), "description in their metadata"),
        (made_up([0, 1, 1, 2]).replace_schema_metadata({KEY: b"\xff\xfe"}), "description of version 1"),
        (made_up([0, 1, 1, 2], version=2), "description of version 1"),
    ],
)
def test_reports_that_nobody_made_are_refused_and_quote_nothing(reports, message):
    scorer = TwoPartyScorer()
    with pytest.raises(ValueError, match=message):
        scorer.fit(reports, np.arange(len(reports)))
    assert not hasattr(scorer, "scores_")


def test_whole_numbers_of_any_size_are_read():
    assert read_reports(made_up([0, 4, 1, 2], kind=pyarrow.int64())).parts[0].tolist() == [0, 4, 1, 2]
    assert read_reports(made_up([0, 4, 1, 2], kind=pyarrow.uint64())).parts[0].tolist() == [0, 4, 1, 2]


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1 and more, PAR1", b"ARROW1", b"ARROW1 ..", b"\x80\x04K\x01."])
def test_files_of_other_kinds_are_refused(content, tmp_path):
    (tmp_path / "reports").write_bytes(content)
    with pytest.raises(ValueError, match="must be a Parquet or Arrow file"):
        TwoPartyScorer().fit(tmp_path / "reports", [1, 2, 3, 4])


def test_other_things_are_refused(tmp_path):
    for other in (np.zeros((4, 1)), None, {"x": [1]}, b"reports"):
        with pytest.raises(TypeError, match=r"reports must be a pyarrow\.Table"):
            TwoPartyScorer().fit(other, [1, 2, 3, 4])
    with pytest.raises(FileNotFoundError):
        TwoPartyScorer().fit(tmp_path / "none.parquet", [1, 2, 3, 4])


def test_only_reports_are_made_a_table_of():
    X = np.random.default_rng(0).random((10, 2))
    alice = RandomizedResponse(bounds=(0, 1)).fit(X)
    reports = alice.transform(X)
    assert alice.to_arrow(reports).num_rows == 10
    for other in (X, reports[:, :1], np.zeros((10, 2)), reports + 5, reports[0]):
        with pytest.raises(ValueError, match="reports must be"):
            alice.to_arrow(other)
