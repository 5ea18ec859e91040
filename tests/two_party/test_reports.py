"""Reports between the parties: genuine ones survive a round trip, and forged ones are refused."""

import json
import math

import numpy as np
import pytest

from skdpmic.table.domains import Knots, Labels, LogRange, Range
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer
from skdpmic.two_party import reports as module
from skdpmic.two_party import reports as reports_module
from skdpmic.two_party.reports import ReportedColumn, ReportsDescription, description_from_json, open_reports
from tests.folding import each

pyarrow = pytest.importorskip("pyarrow", reason="reports are tables of Arrow")
feather = pytest.importorskip("pyarrow.feather")

N = 60
KEY = b"skdpmic.reports"


def read_reports(reports):
    with open_reports(reports) as opened:
        return opened.read()


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
    feather.write_feather(arrow, tmp_path / "reports.feather")
    with pyarrow.ipc.new_file(tmp_path / "reports.arrow", arrow.schema) as file:
        file.write_table(arrow)
    expected = read_reports(arrow)
    for name in ("reports.feather", "reports.arrow"):
        for path in (tmp_path / name, str(tmp_path / name)):
            found = read_reports(path)
            assert found.description == expected.description
            np.testing.assert_array_equal(found.parts, expected.parts)
        y = np.linspace(0, 1, N)
        of_file, of_table = (TwoPartyScorer().fit(reports, y) for reports in (tmp_path / name, arrow))
        assert of_file.scores_.tolist() == of_table.scores_.tolist()


DOMAINS = [
    Range(0.0, 1.0),
    Range(-1.0, 1e300, "dates"),
    LogRange(-5.0, 7.0),
    Knots((0.0, 1.0, 5.0)),
    Labels(("a", "b")),
    Labels((1.0, 2.5, 3.0)),
]


@pytest.mark.parametrize("epsilon", [0.3, 5.0, math.inf])
def test_every_description_survives_a_round_trip(epsilon):
    columns = tuple(
        ReportedColumn(f"x{j}", domain, None if isinstance(domain, Labels) else 5, j % 2 == 0)
        for j, domain in enumerate(DOMAINS)
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
LABELS = {**COLUMN, "described": ["Labels", ["a", "b"]], "equal_parts": None}
SECRET = "a text of the file"
TEXTS = ["", "null", "[]", "3", "{", "\x80", "[" * 100_000, '{"version": 1, "version": 1}', '{"version": NaN}']
FORGED_FIELDS = {  # forged values of each field
    "version": [2, "1", True],
    "mechanism": [SECRET, None],
    "epsilon": [0, 0.0, -1.0, 1e-200, SECRET, True, "1.0", 10**400],
    "columns_per_record": [0, 2, 1.0, True],
    "columns": [[], {"0": COLUMN}, [COLUMN, COLUMN], [None], [{**COLUMN, "more": 1}]],
    "more": [SECRET],
}
BAD_RANGES = [["Range", 1.0, 0.0, "numbers"], ["Range", 0.0, 1.0, "order"], ["Range", "0", "1", "numbers"]]
BAD_LABELS = [["Labels", ["a", "a"]], ["Labels", ["a", 1.0]], LABELS["described"]]
OTHERS = [None, SECRET, [], ["Order"], ["Range", 0.0, 1.0], ["Knots", [0.0], "numbers"], ["os.system", "ls"]]
FORGED_COLUMN_FIELDS = {
    "name": [3, None],
    "equal_parts": [0, 1, 256, 2**16, 10**9, 10**40, 4.0, None, True, SECRET],
    "missing": [1, SECRET],
    "described": [*BAD_RANGES, *BAD_LABELS, *OTHERS],
}


def check_refused(text):
    """The text is refused without being quoted."""
    with pytest.raises(ValueError, match=r"reports must have a description of version 1, as .* got another or a da"):
        description_from_json(text)


@each("text", TEXTS)
def test_text_that_is_not_a_description_is_refused(text):
    check_refused(text)


@each("field", FORGED_FIELDS)
def test_forged_descriptions_are_refused(field):
    for value in FORGED_FIELDS[field]:
        check_refused(json.dumps({**GOOD, field: value}))


@each("field", FORGED_COLUMN_FIELDS)
def test_forged_columns_are_refused(field):
    for value in FORGED_COLUMN_FIELDS[field]:
        check_refused(json.dumps({**GOOD, "columns": [COLUMN, {**COLUMN, "name": "y", field: value}]}))


def test_columns_with_more_labels_than_reports_can_have_are_refused():
    labels = [{**LABELS, "described": ["Labels", [str(i) for i in range(n)]]} for n in (254, 255)]
    assert description_from_json(json.dumps({**GOOD, "columns": labels[:1]})).columns[0].n_parts == 256
    check_refused(json.dumps({**GOOD, "columns": labels[1:]}))


def test_numbers_that_overflow_to_infinity_are_refused():
    check_refused(json.dumps(GOOD).replace('"epsilon": 1.0', '"epsilon": 1e999'))
    check_refused(json.dumps(GOOD).replace("0.0, 1.0", "0.0, 1e999"))


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
    with pytest.raises(ValueError, match=r"at most 256 parts per column.*got 257 in column 'x0'"):
        alice.fit(X.astype(str).astype(object))
    for name, message in (
        ("MOST_COLUMNS", "2 columns, got 3"),
        ("MOST_PARTS_IN_ALL", "got 15"),
        ("MOST_BYTES", "byte"),
    ):
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


def test_files_of_very_many_records_are_refused_before_they_are_read(tmp_path, monkeypatch):
    """Billions of equal numbers may fit in a small file."""
    table, path = reports_table([0] * 1000), tmp_path / "reports.arrow"
    feather.write_feather(table, path)
    monkeypatch.setattr(reports_module, "_MOST_VALUES", 999)
    with pytest.raises(ValueError, match="at most 999 values, got 1000 records of 1 columns"):
        TwoPartyScorer().fit(path, np.arange(1000))


@each("content", [b"", b"PAR1", b"PAR1 and more, PAR1", b"ARROW1", b"ARROW1 ..", b"\x80\x04K\x01."])
def test_files_of_other_kinds_are_refused(content, tmp_path):
    (tmp_path / "reports").write_bytes(content)
    with pytest.raises(ValueError, match=r"must be an? (readable )?Arrow"):
        TwoPartyScorer().fit(tmp_path / "reports", [1, 2, 3, 4])


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
