"""Reports between the parties: genuine ones survive a round trip, and forged ones are refused."""

import json
import math
import os
import random
from pathlib import Path

import numpy as np
import pytest

from skdpmic.table.domains import Knots, Labels, LogRange, Range
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer
from skdpmic.two_party import reports as module
from skdpmic.two_party.reports import ReportedColumn, ReportsDescription, description_from_json, open_reports
from tests.folding import each

pyarrow = pytest.importorskip("pyarrow", reason="reports are tables of Arrow")
feather = pytest.importorskip("pyarrow.feather")

N = 60
KEY = b"skdpmic.reports"


def read_reports(reports):
    return open_reports(reports).read()


@pytest.fixture
def sent():
    """A party with columns of every kind, and its reports."""
    pandas, rng = pytest.importorskip("pandas"), np.random.default_rng(0)
    first, last = pandas.to_datetime(["2020-01-01", "2023-01-01"])
    table = pandas.DataFrame(
        {
            "age": np.where(rng.random(N) < 0.1, np.nan, rng.random(N) * 90),
            "income": rng.lognormal(size=N),
            "city": rng.choice(["Rome", "Bari", "Pisa"], N),
            "since": first + pandas.to_timedelta(rng.integers(900, size=N), unit="D"),
        }
    )
    bounds = {"age": (0, 90), "income": (0, 100, "log"), "since": (first, last)}
    alice = RandomizedResponse(6.0, bounds, categories={"city": ["Rome", "Bari"]}).fit(table)
    return alice, alice.to_arrow(alice.transform(table))


def test_arrow_reports_are_small_integers_and_null_where_nothing_is_reported(sent):
    alice, arrow = sent
    assert arrow.column_names == ["age", "income", "city", "since"]
    assert {str(kind) for kind in arrow.schema.types} == {"uint8"}
    assert sum(column.null_count for column in arrow.columns) == N * (4 - alice.columns_per_record_)
    reports = read_reports(arrow)
    assert reports.description == alice._description
    assert reports.description.epsilon_per_column == 3
    assert [column.n_parts for column in reports.description.columns] == alice.n_parts_.tolist() == [9, 9, 4, 9]


def test_files_hold_the_same_reports(sent, tmp_path):
    _, arrow = sent
    feather.write_feather(arrow, tmp_path / "reports.feather", compression="uncompressed")
    found, expected, y = read_reports(str(tmp_path / "reports.feather")), read_reports(arrow), np.linspace(0, 1, N)
    assert found.description == expected.description
    np.testing.assert_array_equal(found.parts, expected.parts)
    of_file, of_table = (TwoPartyScorer().fit(reports, y) for reports in (tmp_path / "reports.feather", arrow))
    assert of_file.scores_.tolist() == of_table.scores_.tolist()


RANGES = [Range(0.0, 1.0), Range(-1.0, 1e300, "dates"), LogRange(-5.0, 7.0), Knots((0.0, 1.0, 5.0))]


@pytest.mark.parametrize("epsilon", [0.3, math.inf])
def test_every_description_survives_a_round_trip(epsilon):
    described = [(domain, 5) for domain in RANGES] + [(Labels(("a", "b")), None), (Labels((1.0, 2.5)), None)]
    columns = tuple(ReportedColumn(f"x{j}", *each, j % 2 == 0) for j, each in enumerate(described))
    description = ReportsDescription(epsilon, 3, columns)
    assert description_from_json(description.to_json()) == description


GOOD = {
    "version": 1,
    "mechanism": "m-ary randomised response",
    "epsilon": 1.0,
    "columns_per_record": 1,
    "columns": [{"name": "x", "described": ["Range", 0.0, 1.0, "numbers"], "equal_parts": 4, "missing": True}],
}
COLUMN = GOOD["columns"][0]
LABELS = {**COLUMN, "described": ["Labels", ["a", "b"]], "equal_parts": None}
FORGED = [*json.loads(Path(__file__).with_name("forged.json").read_text("utf-8")), "[" * 100_000]


def check_refused(text):
    """The text is refused without being quoted."""
    with pytest.raises(ValueError, match=r"reports must have a description of version 1, as .* got another or a da"):
        description_from_json(text)


def test_forged_descriptions_are_refused():
    for text in FORGED:
        check_refused(text)


def test_columns_with_more_labels_than_reports_can_have_are_refused():
    labels = [{**LABELS, "described": ["Labels", [str(i) for i in range(n)]]} for n in (254, 255)]
    assert description_from_json(json.dumps({**GOOD, "columns": labels[:1]})).columns[0].n_parts == 256
    check_refused(json.dumps({**GOOD, "columns": labels[1:]}))


def test_descriptions_that_would_need_much_memory_are_refused(monkeypatch):
    with pytest.raises(ValueError, match="a description of at most 8388608 bytes, got 8388609"):
        description_from_json(" " * (2**23 + 1))
    columns = [{**COLUMN, "name": str(j), "equal_parts": 255} for j in range(2049)]
    with pytest.raises(ValueError, match="at most 524288 parts in all columns together, got 524544"):
        description_from_json(json.dumps({**GOOD, "columns": columns}))
    assert len(description_from_json(json.dumps({**GOOD, "columns": columns[:2048]})).columns) == 2048


def test_writers_of_reports_are_held_to_the_same_limits(monkeypatch):
    X, labels = np.zeros((5, 3)), list(map(str, range(255)))
    alice = RandomizedResponse(categories={0: labels}, bounds={1: (0, 1), 2: (0, 1)})
    with pytest.raises(ValueError, match=r"at most 256 parts in a column.*got 257"):
        alice.fit(X.astype(str).astype(object))
    limits = {"MOST_COLUMNS": "2 columns, got 3", "MOST_PARTS_IN_ALL": "got 15", "MOST_BYTES": "2 bytes"}
    for name, message in limits.items():
        with monkeypatch.context() as patched:
            patched.setattr(module, name, 2)
            with pytest.raises(ValueError, match=message):
                RandomizedResponse(bounds=(0, 1)).fit(X)


def reports_table(values, kind=None, names=("x",), **change):
    arrays = [pyarrow.array(values, type=kind)] * len(names)
    metadata = {KEY: json.dumps({**GOOD, **change}).encode()}
    return pyarrow.table(arrays, names=list(names)).replace_schema_metadata(metadata)


@each(
    "reports, message",
    [
        (reports_table([0, 5, 1, 2]), r"in 0 \.\.\. 4"),
        (reports_table([0, -1, 1, 2]), r"in 0 \.\.\. 4"),
        (reports_table([0.0, 1.0, 1.0, 2.0]), "integers, got double"),
        (reports_table([0, None, 1, 2]), r"1 column\(s\) for each record"),
        (reports_table([0, 1, 1, 2], names=("x", "x")), "the columns of their description"),
        (reports_table([0, None, None, None], epsilon=-1.0), "description of version 1"),
        (reports_table([0, 1, 1]), "3 sample"),
        (reports_table([0, 1, 1, 2]).replace_schema_metadata({}), "description in their metadata"),
        (reports_table([0, 1, 1, 2], version=2), "description of version 1"),
    ],
)
def test_forged_reports_are_refused_and_not_quoted(reports, message):
    scorer = TwoPartyScorer()
    with pytest.raises(ValueError, match=message):
        scorer.fit(reports, np.arange(len(reports)))
    assert not hasattr(scorer, "scores_")


def write(table, path, compression=None, rows=None):
    options = pyarrow.ipc.IpcWriteOptions(compression=compression)
    with pyarrow.ipc.new_file(path, table.schema, options=options) as file:
        file.write_table(table, rows)
    return path


@each("rows", [None, 7])
@each("kind", [pyarrow.uint8(), pyarrow.int64()])
def test_intact_files_are_read_whatever_their_batches(rows, kind, tmp_path):
    values = [i % 5 for i in range(60)]
    opened = open_reports(write(reports_table(values, kind), tmp_path / "reports", rows=rows))
    assert opened.n_samples == 60
    assert opened.read().parts[0].tolist() == values


def test_files_that_may_need_more_memory_than_disk_are_refused(tmp_path):
    table = reports_table([0, 1, 2, 3])
    coded = table.set_column(0, "x", table.column(0).dictionary_encode())
    for of_file, compression in ((table, "lz4"), (table, "zstd"), (coded, None)):
        with pytest.raises(ValueError, match="must be integers without compression"):
            TwoPartyScorer().fit(write(of_file, tmp_path / "reports", compression), np.arange(4))


def test_files_of_very_many_records_are_refused_before_they_are_read(tmp_path, monkeypatch):
    path = write(reports_table([0] * 1000), tmp_path / "reports")
    monkeypatch.setattr(module, "_MOST_VALUES", 999)
    with pytest.raises(ValueError, match="at most 999 values, got 1000 records of 1 columns"):
        TwoPartyScorer().fit(path, np.arange(1000))


@each("content", [b"", b"PAR1", b"PAR1 and more, PAR1", b"ARROW1", b"ARROW1 ..", b"\x80\x04K\x01."])
def test_files_of_other_kinds_are_refused(content, tmp_path):
    (tmp_path / "reports").write_bytes(content)
    with pytest.raises(ValueError, match="must be a readable Arrow"):
        TwoPartyScorer().fit(tmp_path / "reports", [1, 2, 3, 4])


@pytest.mark.skipif(os.name == "nt", reason="requires POSIX")
def test_anything_but_a_regular_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "reports")
    with pytest.raises(OSError, match="must be a regular file, got a pipe"):
        TwoPartyScorer().fit(tmp_path / "reports", np.arange(4))


@pytest.mark.parametrize("n, seed", [(60, 0), pytest.param(600, 1, marks=pytest.mark.slow)])
def test_damaged_files_are_refused_with_a_value_error(n, seed, tmp_path):
    rng, errors = random.Random(seed), []
    whole = write(reports_table([i % 5 for i in range(60)]), tmp_path / "whole", rows=30).read_bytes()
    for _ in range(n):
        content = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            content[rng.randrange(len(content))] = rng.choice([0, 1, 127, 128, 255, rng.randrange(256)])
        (tmp_path / "damaged").write_bytes(content[: rng.choice([len(content), rng.randrange(len(content))])])
        try:
            read_reports(tmp_path / "damaged")
        except ValueError as error:
            errors.append(error)
    assert n / 3 < len(errors) < n
    assert {error.__context__ for error in errors} == {None}  # which could quote the content


def test_other_types_are_refused(tmp_path):
    for other in (np.zeros((4, 1)), None, {"x": [1]}, b"reports"):
        with pytest.raises(TypeError, match=r"reports must be a pyarrow\.Table"):
            TwoPartyScorer().fit(other, [1, 2, 3, 4])
    with pytest.raises(FileNotFoundError):
        TwoPartyScorer().fit(tmp_path / "none.arrow", [1, 2, 3, 4])


def test_only_reports_are_turned_into_a_table():
    X = np.random.default_rng(0).random((10, 2))
    alice = RandomizedResponse(bounds=(0, 1)).fit(X)
    reports = alice.transform(X)
    assert alice.to_arrow(reports).num_rows == 10
    for other in (X, reports[:, :1], np.zeros((10, 2)), reports + 5, reports[0]):
        with pytest.raises(ValueError, match="reports must be"):
            alice.to_arrow(other)
