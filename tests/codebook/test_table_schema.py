"""A Table Schema says of columns what it can, and of others nothing is made up."""

import copy
import datetime
import json
import sys
import warnings

import pytest

from skdpmic import Codebook
from tests.folding import each

pytest.importorskip("frictionless")


def read(fields, **more):
    """The columns, and which were left out."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        codebook = Codebook.from_table_schema({"fields": fields, **more})
    return codebook.columns, [str(warning.message) for warning in caught]


def entry_of(**field):
    columns, told = read([{"name": "x", **field}])
    assert not told
    return columns["x"]


def limits(lower, upper):
    return {"minimum": lower, "maximum": upper}


@each(
    "field, entry",
    [
        ({"type": "integer", "constraints": limits(0, 110)}, (0, 110)),
        ({"type": "number", "constraints": limits("0.5", "300")}, (0.5, 300)),
        ({"type": "number", "decimalChar": ",", "constraints": limits("0,5", "300")}, (0.5, 300)),
        ({"type": "year", "constraints": limits(1900, 2025)}, (1900, 2025)),
        (
            {"type": "date", "constraints": limits("2020-01-01", "2025-12-31")},
            (datetime.date(2020, 1, 1), datetime.date(2025, 12, 31)),
        ),
        (
            {"type": "date", "format": "%d.%m.%Y", "constraints": limits("01.02.2020", "31.12.2025")},
            (datetime.date(2020, 2, 1), datetime.date(2025, 12, 31)),
        ),
        (
            {"type": "datetime", "constraints": limits("2020-01-01T00:00:00Z", "2020-01-01T12:30:00Z")},
            (datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1, 12, 30)),
        ),
        ({"type": "string", "constraints": {"enum": ["f", "m"]}}, ["f", "m"]),
        ({"type": "integer", "constraints": {"enum": [2, 1]}}, [2, 1]),
        ({"type": "integer", "constraints": {"enum": ["2", "1"], **limits(0, 9)}}, [2, 1]),
        ({"type": "number", "constraints": {"enum": ["0.5", "1.5"]}}, [0.5, 1.5]),
        ({"type": "year", "constraints": {"enum": [2020, 2021]}}, [2020, 2021]),
        ({"type": "string", "categories": ["low", "high"]}, ["low", "high"]),
        ({"type": "integer", "categories": [{"value": 1, "label": "low"}, {"value": 2, "label": "high"}]}, [1, 2]),
        ({"type": "boolean"}, "boolean"),
        ({"type": "boolean", "constraints": {"enum": [True]}}, "boolean"),
        ({"type": "string", "constraints": {"unique": True}}, "identifier"),
        ({"type": "any", "rdfType": "http://schema.org/identifier"}, "identifier"),
        ({"type": "any", "rdfType": "http://example.org/terms#identifier"}, "identifier"),
    ],
)
def test_a_field_says_what_its_column_can_be(field, entry):
    assert entry_of(**field) == Codebook({"x": entry}).columns["x"]


def test_a_description_is_taken_or_else_the_title_and_a_unit_if_there_is_one():
    field = {"type": "integer", "constraints": limits(0, 110), "title": "Age"}
    assert (entry_of(**field).description, entry_of(**field).unit) == ("Age", None)
    assert entry_of(**field, description="Age at entry").description == "Age at entry"
    assert entry_of(**field, unit="years").unit == "years"
    assert entry_of(**field, unit={"name": "years"}).unit is None


ENOUGH = {"name": "y", "type": "boolean"}


@each(
    "field",
    [
        {"type": "integer"},
        {"type": "number", "constraints": {"minimum": 0}},
        {"type": "number", "constraints": {"maximum": 0, "required": True}},
        {"type": "date"},
        {"type": "string"},
        {"type": "string", "constraints": {"maxLength": 3}},
        {"type": "string", "constraints": {"enum": ["one"]}},
        {"type": "string", "constraints": {"unique": False}},
        {"type": "date", "constraints": {"enum": ["2020-01-01", "2020-01-02"]}},
        {"type": "duration"},
        {"type": "time", "constraints": limits("08:00:00", "12:00:00")},
        {"type": "geopoint"},
        {"type": "any"},
        {},
    ],
)
def test_a_column_of_which_the_schema_does_not_say_enough_is_left_out_and_listed(field):
    columns, told = read([{"name": "x", **field}, ENOUGH, {"name": "z", **field}])
    assert list(columns) == ["y"]
    assert told == [
        "columns that the schema does not describe sufficiently are left out: ['x', 'z']. Numbers and dates need a "
        "minimum and a maximum, text needs an enum."
    ]


def test_the_warning_is_about_the_line_that_reads_the_schema():
    with pytest.warns(UserWarning, match="left out") as caught:
        Codebook.from_table_schema({"fields": [ENOUGH, {"name": "x"}]})
    assert caught[0].filename == __file__


def test_only_a_key_of_one_column_identifies_by_itself():
    age, year = ({"name": name, "type": "integer", "constraints": limits(0, 3000)} for name in ("age", "year"))
    assert read([age, year], primaryKey="age")[0]["age"].kind == "identifier"
    assert {entry.kind for entry in read([age, year], primaryKey=["age", "year"])[0].values()} == {"number"}
    assert {entry.kind for entry in read([age, year])[0].values()} == {"number"}


def test_a_code_of_missing_values_is_no_label():
    field = {"name": "sex", "type": "string", "constraints": {"enum": ["f", "m", "NA"]}}
    assert read([field], missingValues=["", "NA"])[0]["sex"].labels == ("f", "m")
    assert read([field])[0]["sex"].labels == ("f", "m", "NA")


DESCRIPTOR = {
    "title": "Patients",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "age", "type": "integer", "description": "in years", "constraints": limits(0, 110)},
        {"name": "born", "type": "date", "constraints": limits("1900-01-01", "2025-12-31")},
        {"name": "sex", "type": "string", "constraints": {"enum": ["f", "m"]}},
    ],
    "primaryKey": ["id"],
}
YAML = """
title: Patients
primaryKey: id
fields:
  - {name: id, type: string}
  - {name: age, type: integer, description: in years, constraints: {minimum: 0, maximum: 110}}
  - {name: born, type: date, constraints: {minimum: 1900-01-01, maximum: 2025-12-31}}
  - {name: sex, type: string, constraints: {enum: [f, m]}}
"""
EXPECTED = Codebook(
    {
        "id": "identifier",
        "age": {"range": [0, 110], "description": "in years"},
        "born": (datetime.date(1900, 1, 1), datetime.date(2025, 12, 31)),
        "sex": ["f", "m"],
    },
    title="Patients",
)


def test_a_file_and_its_contents_give_the_same_codebook(tmp_path):
    (tmp_path / "schema.json").write_text(json.dumps(DESCRIPTOR), encoding="utf-8")
    (tmp_path / "schema.yaml").write_text(YAML, encoding="utf-8")
    given = copy.deepcopy(DESCRIPTOR)
    for source in (given, tmp_path / "schema.json", str(tmp_path / "schema.yaml")):
        codebook = Codebook.from_table_schema(source)
        assert codebook == EXPECTED
        assert Codebook.parse(codebook.to_toml()) == EXPECTED
    assert given == DESCRIPTOR


@each(
    "descriptor",
    [
        {},
        {"fields": 3},
        {"fields": [{"type": "integer"}]},
        {"fields": [{"name": "x", "type": "nonsense"}]},
        {"fields": [ENOUGH, ENOUGH]},
        {"resources": []},
    ],
)
def test_what_is_no_schema_is_refused(descriptor):
    with pytest.raises(ValueError, match="source must be a Table Schema, got: "):
        Codebook.from_table_schema(descriptor)


@each("source", [5, [1], None])
def test_what_is_neither_a_path_nor_a_dict_is_refused(source):
    with pytest.raises(TypeError, match=f"source must be a path or a dict, got {type(source).__name__}"):
        Codebook.from_table_schema(source)


def test_a_file_that_is_no_schema_is_named(tmp_path):
    path = tmp_path / "schema.json"
    path.write_text("{nonsense", encoding="utf-8")
    with pytest.raises(ValueError, match=r"schema\.json must be a Table Schema, got: "):
        Codebook.from_table_schema(path)
    for missing in (tmp_path / "other.json", "https://localhost/schema.json"):
        with pytest.raises(FileNotFoundError):
            Codebook.from_table_schema(missing)


@each(
    "field, told",
    [
        ({"type": "integer", "constraints": limits(3, 1)}, "lower < upper"),
        ({"type": "integer", "constraints": limits("low", 1)}, "without quotes, got .'low', 1."),
        ({"type": "date", "constraints": limits("01.01.2020", "2021-01-01")}, "without quotes"),
        ({"type": "string", "constraints": {"enum": ["a", "a"]}}, "distinct labels|Table Schema"),
    ],
)
def test_what_a_column_cannot_have_is_refused_and_the_column_named(field, told):
    with pytest.raises(ValueError, match=told) as caught:
        Codebook.from_table_schema({"fields": [{"name": "x", **field}]})
    assert "column 'x' of source" in str(caught.value) or "Table Schema" in str(caught.value)


def test_a_schema_that_says_nothing_of_any_column_is_refused():
    with pytest.raises(ValueError, match=r"possible values of at least one column, .* none in 2 fields"):
        Codebook.from_table_schema({"fields": [{"name": "x"}, {"name": "y", "type": "number"}]})


def test_without_the_library_it_is_said_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "frictionless", None)
    with pytest.raises(ImportError, match=r"pip install skdpmic\[table-schema\]"):
        Codebook.from_table_schema(DESCRIPTOR)
