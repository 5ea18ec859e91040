"""A codebook as a file: writing and reading it is a round trip, and errors give the column and the line."""

import datetime
import re
import tomllib
from pathlib import Path

import pytest

from skdpmic import Codebook
from skdpmic.codebook import codebook as column
from skdpmic.codebook import toml_file
from tests.codebook.entries import DAY, DAYS, ENTRIES, WRONG
from tests.folding import each

NAMES = ["age", "", " ", "blood.pressure", 'the "age"', "it's", "both \"'", "back\\slash", "[age]", "a=b", "bp_*", "x?"]
NAMES += ["# no comment", "größe 日本 😀", "two\nlines", "tab\t", "\x00\x7f", "columns", "version", "type"]
NAMES += ["\u2028\x85"]  # line ends to Python, but not to TOML

# --- Writing and reading ----------------------------------------------------------------------------------------------


def round_trip(codebook):
    return Codebook.parse(codebook.to_toml())


@each("given, entry", ENTRIES)
def test_every_entry_survives_a_round_trip(given, entry):
    assert round_trip(Codebook({"x": given})).columns == {"x": entry}


def test_every_name_survives_a_round_trip():
    codebook = Codebook(dict.fromkeys(NAMES, (0, 1)))
    assert round_trip(codebook) == codebook


@each("unit", ["weeks", "days", "hours", "minutes", "seconds"])
def test_a_duration_is_a_number_of_its_unit(unit):
    text = f'version = 1\n[columns.x]\ntype = "duration"\nrange = [0, 1.5]\nunit = "{unit}"'
    codebook = Codebook.parse(text)
    assert codebook.columns["x"].bounds == (0 * DAYS, datetime.timedelta(**{unit: 1.5}))
    assert tomllib.loads(codebook.to_toml())["columns"]["x"] == tomllib.loads(text)["columns"]["x"]


def test_facts_about_the_table_survive_a_round_trip(tmp_path):
    codebook = Codebook(
        {"age": (0, 110), "bp_*": (0, 300), "sex": ["f", "m"]},
        groups=["house", "member"],
        max_rows_per_group=3,
        title="Patients",
    )
    codebook.write(tmp_path / "codebook.toml")
    read = Codebook.read(str(tmp_path / "codebook.toml"))
    assert read == codebook
    assert (read.groups, read.max_rows_per_group, read.title) == (("house", "member"), 3, "Patients")
    assert list(read.columns) == ["age", "bp_*", "sex"]
    assert round_trip(Codebook({"age": (0, 1)}, groups="person")).groups == ("person",)
    assert round_trip(Codebook({"age": (0, 1)})).max_rows_per_group is None
    blank = Codebook.parse('version = 1\ntitle = ""\ngroups = "person"\n[columns.age]\nrange = [0, 1]')
    assert (blank.title, blank.groups) == (None, ("person",))


def test_a_file_looks_as_if_written_by_hand():
    codebook = Codebook(
        {"age": {"range": [0, 110], "unit": "years"}, "born": (DAY, DAY + DAYS), "crp": (0, 1000, "log")}, title="T"
    )
    assert re.sub("^#.*\n", "", codebook.to_toml(), flags=re.M) == (
        'version = 1\ntitle = "T"\n\n'
        '[columns.age]\ntype = "number"\nrange = [0, 110]\nunit = "years"\n\n'
        '[columns.born]\ntype = "date"\nrange = [2020-01-01, 2020-01-02]\n\n'
        '[columns.crp]\ntype = "number"\nrange = [0, 1000]\nscale = "log"\n'
    )


# --- Errors -----------------------------------------------------------------------------------------------------------


def refusal(text, source="patients.toml"):
    with pytest.raises(ValueError) as caught:
        Codebook.parse(text, source)
    return str(caught.value)


def fits_in_file(entry):
    """Whether a file can hold this entry."""
    plain = (int, float, str, datetime.date, dict, list)
    values = [value for field in entry.values() for value in (field if isinstance(field, list) else [field])]
    return all(isinstance(name, str) for name in entry) and all(type(value) in plain for value in values)


@each(
    "entry, message", [(entry, message) for entry, message in WRONG if isinstance(entry, dict) and fits_in_file(entry)]
)
def test_every_mistake_is_reported_with_its_column_and_line(entry, message):
    text = Codebook({"age": (0, 1)}).to_toml() + "# x\n[columns.x]\n"
    for name, value in entry.items():
        shown = (
            [end.isoformat() if isinstance(end, datetime.date) else repr(end) for end in value]
            if isinstance(value, list)
            else None
        )
        text += f"{name} = {repr(value) if shown is None else '[' + ', '.join(shown) + ']'}\n"
    refused = refusal(text)
    line = text.split("\n").index("[columns.x]") + 1
    assert refused.startswith(f"patients.toml has 1 incomplete or invalid column(s):\nline {line}: ")
    assert "column 'x'" in refused
    assert re.search(message, refused)


def test_wrong_columns_are_listed_up_to_twenty():
    text = (
        "version = 1\n"
        + "".join(f'[columns.c{i}]\ntype = "number"\n' for i in range(25))
        + "[columns.ok]\nrange = [0, 1]"
    )
    lines = refusal(text).split("\n")
    assert lines[0].endswith("25 incomplete or invalid column(s):")
    assert lines[1:-1] == [f"line {2 * i + 2}: column 'c{i}' must have range or knots, got none." for i in range(20)]
    assert lines[-1] == "and 5 more"
    assert len(refusal(text.partition("[columns.c20]")[0]).split("\n")) == 21  # no line follows the twenty


@each(
    "text, line",
    [
        ("version = 1\n[columns]\n# age\nage = {range = 5}\n", 4),
        ("version = 1\ncolumns.agel.range = [0, 1]\ncolumns.age.range = [0]", 3),
        ('version = 1\n[columns.b]\nrange = [0, 1]\ndescription = "age"\n[columns."\\u0061ge"]\nrange = []', 5),
        ("version = 1\n\n[columns.age]\nlabels = [\n]", 3),
        ("version = 1\ncolumns = {b = {range = [0, 1]}, age = {type = 'age'}}", 2),
        ("version = 1\n[columns.b]\nrange = [0, 1]\n[[columns.age]]\nrange = [0, 1]", 4),
        ("version = 1\n[columns.b]\nrange = [0, 1]\nunit = '''\nage = 1\n'''\n[columns.age]", 7),
    ],
)
def test_the_line_is_named_however_a_column_is_written(text, line):
    for written in (text, text.replace("\n", "\r\n")):
        assert re.search(rf"\nline {line}: .*column 'age'", refusal(written))


@each(
    "text, message",
    [
        ("version = 1\ntitle = 5\n[columns.a]\nrange = [0, 1]", "line 2: title must be"),
        ("version = 1\n\ngroups = 5\n[columns.a]\nrange = [0, 1]", "line 3: groups must be"),
        ("version = 1\ngroups = ['a', 'a']\n[columns.a]\nrange = [0, 1]", "line 2: groups must be"),
        ("version = 1\nmax_rows_per_group = 0\n[columns.a]\nrange = [0, 1]", "line 2: max_rows_per_group must be"),
        ("version = 1\nmax_rows_per_group = 2\n[columns.a]\nrange = [0, 1]", "line 2: max_rows_per_group must be"),
        ("version = 1\n[colums.a]\nrange = [0, 1]", "line 2: the fields of a codebook must be among"),
        ("version = 1\na = 1\nb = 2\n[columns.a]\nrange = [0, 1]", "line 2: the fields of a codebook must be among"),
        ("version = 1\n[columns]", "line 2: columns must have an entry"),
    ],
)
def test_mistakes_about_the_table_are_reported_with_their_line(text, message):
    assert refusal(text).startswith(f"patients.toml, {message}")


@each(
    "text, message",
    [
        ("version = 1\n[columns.age]\nrange = 0 110\n", "at line 3"),
        ("version = 1\n[columns.age]\nrange = [0, 1]\n[columns.age]\nrange = [0, 2]\n", "at line 4"),
        ("version = 1\n[columns.blood pressure]\nrange = [0, 1]", "at line 2"),
    ],
)
def test_invalid_toml_is_refused(text, message):
    assert re.fullmatch(rf"patients\.toml must be valid TOML: .*\b{message}\b.*\.", refusal(text))


@each("version", ["2", "0", '"1"', "true", None])
def test_an_unknown_version_is_refused(version):
    text = ("" if version is None else f"version = {version}\n") + "[columns.age]\nrange = [0, 110]"
    place = "patients.toml" if version is None else "patients.toml, line 1"
    assert refusal(text).startswith(f"{place} must have version = 1, the supported format, got ")


# --- The page about the format ----------------------------------------------------------------------------------------


def page():
    path = Path(__file__).parents[2] / "docs" / "reference" / "codebook.md"
    return path.read_text(encoding="utf-8")


def test_the_example_on_the_page_is_read():
    (example,) = re.findall(r"```toml\n(.*?)```", page(), re.DOTALL)
    codebook = Codebook.parse(example)
    assert round_trip(codebook) == codebook
    assert (codebook.title, codebook.groups) == ("Visits to a clinic, 2020 to 2024", ("patient",))
    assert codebook.target("grade", ["age", "bmi", "blood.pressure", "lab_1", "stay", "ward", "smoker"]) == {
        "bounds": {
            "age": (0, 110),
            "bmi": (10, 18.5, 25, 30, 60),
            "blood.pressure": (0, 300),
            "lab_1": (0, 1e6, "log"),
            "stay": (0 * DAYS, 90 * DAYS),
        },
        "categories": {"ward": ["surgery", "medicine", "heart"], "smoker": [0, 1]},
        "classes": [1, 2, 3],
        "max_rows_per_group": 3,
    }


def test_the_page_lists_every_field_and_type_and_its_example_uses_them_all():
    (example,) = re.findall(r"```toml\n(.*?)```", page(), re.DOTALL)
    written = tomllib.loads(example)
    of_columns = written["columns"].values()
    assert set(written) == {"version", *toml_file._FIELDS}
    assert {name for fields in of_columns for name in fields} == set(column._FIELDS)
    assert {fields["type"] for fields in of_columns} == set(column.KINDS)
    for name in (*written, *column._FIELDS, *column.KINDS):
        assert f"| `{name}` |" in page()
    assert "`version` | integer | yes | the version of the format: 1 |" in page()
    assert all(f'`"{unit}"`' in page() for unit in column.UNITS_OF_TIME)
