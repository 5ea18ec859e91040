"""Command-line errors refer to the file, its lines, the codebook and options, and say what to do."""

import gzip
import re

import pandas
import pyarrow
import pyarrow.parquet
import pytest

from skdpmic.command_line.main import main
from tests.command_line.tables import OTHER_TARGETS, people, write_csv, write_parquet
from tests.folding import each

SELECT = ["--codebook", "codebook.toml", "--target", "stay", "--k", "2", "--epsilon", "0.5", "--yes"]
PLAN = ["plan", "--codebook", "codebook.toml", "--target", "stay", "--k", "2", "--n-samples", "900", "--epsilon", "1"]
PYTHON_TERMS = re.compile(
    r"\b(X|y|bounds|frame|classes|categories|n_samples|n_features|target_bounds|NaN|DataFrame)\b|'all'|plan_release"
)


@pytest.fixture
def folder(folder):
    (folder / "html.toml").write_text("<!DOCTYPE html>\n<html></html>")
    (folder / "json.toml").write_text("{}")
    return folder


def refused(capsys, *options):
    """The error message of a command, which contains no Python terms."""
    assert main(options) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert not PYTHON_TERMS.search(err.partition(": ")[2]), err
    return err


FILES = {
    "no_target.csv": (
        lambda t: re.sub(r",[^,\n]*$", "", t, flags=re.M),
        "no_target.csv must have all columns of the codebook",
        "['stay']",
    ),
    "other_case.csv": (lambda t: t.replace("stay", "Stay", 1), "got none named", "Did you mean 'Stay' for 'stay'?"),
    "other_mark.csv": (lambda t: t.replace("stay", "st\u200bay", 1), "got none named", r"'st\u200bay' for 'stay'?"),
    "names_only.csv": (lambda t: t.splitlines()[0] + "\n", "at least 4 records", "got 0"),
    "three.csv": (lambda t: "".join(t.splitlines(True)[:4]), "at least 4 records", "got 3"),
    "blank_rows.csv": (lambda t: t + ",,,,,,,\n" * 3, "stay' of blank_rows.csv must have a value"),
    "title.csv": (lambda t: "A survey\n\n" + t, "that the codebook describes, got none", "delete the lines above"),
    "title_in_a_sheet.csv": (lambda t: "A survey,,,,,,,\n" + t, "delete a title or an empty line above the names"),
    "blank_first.csv": (lambda t: "\n" + t, "must be a CSV file in UTF-8 with column names in the first line"),
    "bars.csv": (lambda t: t.replace(",", "|"), "must have ',' between names", "pass --delimiter '|'"),
    "bars.txt": (lambda t: t.replace(",", "|"), "must have ',' between names", "pass --delimiter '|'"),
    "commas.tsv": (lambda t: t, r"must have '\t' between names", "pass --delimiter ,"),
    "days.csv": (lambda t: t.replace("2020-", "20/"), "column 'admitted' of days.csv must hold dates as 2024-12-31"),
    "unclosed.csv": (lambda t: '"' + t, "column names in the first line"),
}


@each("name", FILES)
def test_the_error_for_an_unusable_file_says_what_to_change(name, folder, capsys):
    change, *phrases = FILES[name]
    with open(name, "w", encoding="utf-8", newline="") as file:
        file.write(change((folder / "people.csv").read_text()))
    err = refused(capsys, "select", name, *SELECT)
    assert all(phrase in err for phrase in phrases), err


TEXTS, PACKED = ("csv", "tsv", "txt"), gzip.compress(b"age\n1\n" * 99)
NO_GZIP = [b"age,stay\n1,2\n", b"\x1f\x8b", PACKED[:12], PACKED[:10] + b"8675309" + PACKED[17:]]


@each(
    "name, content, message",
    [
        ("packed.csv", gzip.compress(b"age\n1\n"), "compressed or Parquet file end in .csv.gz"),
        ("sheet.xlsx", b"PK\x03\x04", "save a table of another kind"),
        ("sheet.csv", b"PK\x03\x04\r\n", "save a spreadsheet"),
        ("wide.csv", "age,stay\n1,2\n".encode("utf-16"), "as CSV UTF-8"),
        ("latin.csv", "l\xe4nge,stay\n1,2\n".encode("latin-1"), "as CSV UTF-8"),
        ("data.sav", b"$FL2", "save a table of another kind"),
        *((f"fake.{kind}.gz", text, f"fake.{kind}.gz could not be read") for kind in TEXTS for text in NO_GZIP),
        ("fake.parquet", b"PAR1 age,stay\n", "fake.parquet could not be read"),
    ],
)
def test_the_error_for_a_file_of_another_kind_says_how_to_convert_it(name, content, message, folder, capsys):
    (folder / name).write_bytes(content)
    err = refused(capsys, "template", name)
    assert message in " ".join(err.split())
    assert name in err


@each(
    "options, message",
    [
        (["--target", "Stay"], "must describe column 'Stay', got no entry for it. Did you mean 'stay' for 'Stay'?"),
        (["--features", "ages,ward"], "must describe column 'ages', got no entry for it. Did you mean 'age'"),
        (["--keep", "Age"], "must describe column 'Age', got no entry for it. Did you mean 'age'"),
        (["--keep", "name"], "column 'name' must be of a type that is used, got type 'identifier'"),
        (["--features", "age,ward", "--keep", "wait"], "--keep must be among --features, got wait"),
        (["--keep", "stay"], "--keep must not hold the target 'stay'"),
        (["--features", "age,stay"], "--features must not hold the target 'stay'"),
        (
            ["--codebook", "html.toml"],
            "html.toml must be a codebook in TOML, as Codebook.template begins one, got JSON or HTML",
        ),
    ],
)
def test_the_error_for_a_wrong_name_states_the_option(options, message, folder, capsys):
    assert message in refused(capsys, *PLAN, *options)
    assert message in refused(capsys, "select", "people.csv", *SELECT, *options)


@each("write", [write_csv, write_parquet])
@each(
    "target, value, message",
    [
        *((name, None, f"column '{name}' of t.parquet must have a value") for name in OTHER_TARGETS.values()),
        ("grade", None, "column 'grade' of t.parquet must have a value"),
        ("ward", "Heart", "--target must hold only labels that are in the codebook"),
        ("grade", 4, "--target must hold only labels that are in the codebook"),
    ],
)
def test_a_target_must_be_complete_and_have_labels_of_the_codebook(target, value, message, write, folder, capsys):
    frame = people(60, gaps=False)
    frame.loc[7, target] = value
    name = "t.csv" if write is write_csv else "t.parquet"
    err = refused(capsys, "select", write(frame, name), *SELECT, "--target", target)
    assert message.replace("t.parquet", name) in err
    assert "Heart" not in err


def test_text_in_a_parquet_file_is_read_as_in_a_csv_file(folder, capsys):
    frame = people(60)
    write_parquet(frame, "typed.parquet")
    plain = frame.assign(
        admitted=frame["admitted"].dt.strftime("%Y-%m-%d"), age=frame["age"].map(str, na_action="ignore")
    )
    write_parquet(plain.assign(grade=plain["grade"].map(str, na_action="ignore").astype("category")), "text.parquet")
    from skdpmic import Codebook
    from skdpmic.command_line.data import ParquetFile
    from skdpmic.command_line.reading import read_frame

    book = Codebook.read("codebook.toml")
    names = ["admitted", "age", "grade"]
    tables = [read_frame(ParquetFile(f"{name}.parquet"), book, names, "stay") for name in ("typed", "text")]
    for name in names:
        typed, text = (table[name].to_pandas() for table in tables)
        assert (typed.isna() == text.isna()).all()
        assert (typed.dropna() == text.dropna()).all()


@each(
    "name, values, message",
    [
        ("ward", [1, 2, 3, 4], "got numbers in ['ward'], which must be text"),
        ("age", pandas.date_range("2020-01-01", periods=4), "got dates in ['age'], which must be numbers"),
        ("admitted", [1, 2, 3, 4], "got numbers in ['admitted'], which must be dates"),
        ("wait", [True, False, True, True], "got numbers in ['wait'], which must be durations"),
    ],
)
def test_a_type_that_contradicts_the_codebook_is_refused_with_a_remedy(name, values, message, folder, capsys):
    frame = people(4, gaps=False)
    frame = frame.assign(wait=frame["wait"] / pandas.Timedelta(hours=1)).assign(**{name: values})
    pyarrow.parquet.write_table(pyarrow.Table.from_pandas(frame), "other.parquet")
    assert f"other.parquet must match the codebook, {message}: correct" in refused(
        capsys, "select", "other.parquet", *SELECT
    )
