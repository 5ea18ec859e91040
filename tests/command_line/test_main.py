"""What a user of the command line sees: results on stdout, the rest on stderr, and the outcome as exit status."""

import gzip
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from skdpmic import BudgetLedger, Codebook
from skdpmic.command_line import reading, results
from skdpmic.command_line.data import CsvFile
from skdpmic.command_line.main import main
from tests.command_line.tables import CODEBOOK, SELECT, SUMMARY, lay_out, people, spent, write_parquet
from tests.folding import each

PLAN = ["plan", "--codebook", "codebook.toml", "--target", "stay", "--k", "2", "--n-samples", "1000"]
SPENDING = (SELECT, SUMMARY)
COMMANDS = ("template", "summary", "plan", "select", "ledger")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder, with more people."""
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path, 2000, epsilon=1)
    return tmp_path


def command(*options):
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}  # like a terminal that cannot show ε
    return subprocess.run(
        [sys.executable, "-m", "skdpmic", *options],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


# --- Exit status ------------------------------------------------------------------------------------------------------


@each("options", SPENDING)
def test_an_agreed_cost_is_spent_and_recorded(options, folder, capsys, monkeypatch):
    before = spent()
    monkeypatch.setattr(sys, "stdin", Terminal("Yes\n"))
    assert main([*options, "--ledger", "people.db"]) == 0
    out, err = capsys.readouterr()
    assert f"This will spend ε = 0.5. Of ε = 1 in people.db, ε = {1 - before:g} remains." in err
    assert "Continue? [y/N]" in err
    assert f"Spent ε = 0.5. Of ε = 1 in people.db, ε = {0.5 - before:g} remains." in out
    assert spent() == before + 0.5


@each("answer", ["n\n", "\n", "", "yess\n"])
@each("options", SPENDING)
def test_a_declined_command_costs_nothing(options, answer, folder, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    assert main([*options, "--ledger", "people.db"]) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert "declined: nothing was spent" in err
    assert spent() == 0


@each("options", SPENDING)
def test_without_a_terminal_a_command_declines_unless_agreed_to_beforehand(options, folder, capsys, monkeypatch):
    before = spent()
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert main([*options, "--ledger", "people.db"]) == 4
    assert "pass --yes" in capsys.readouterr().err
    assert spent() == before
    assert main([*options, "--ledger", "people.db", "--yes"]) == 0
    assert capsys.readouterr().err == ""
    assert spent() == before + 0.5


@each("options", SPENDING)
def test_a_ledger_refuses_a_cost_that_does_not_fit(options, folder, capsys):
    BudgetLedger.open("people.db").charge("another", 0.75 if spent() == 0 else 0.0625)
    assert main([*options, "--ledger", "people.db", "--yes"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "does not fit in the ledger" in err


@each(
    "options, message",
    [
        ([*SELECT, "--target", "wage"], "wage"),
        ([*SELECT, "--target", "name"], "identifier"),
        ([*SELECT, "--k", "0"], "--k must be"),
        ([*SELECT, "--epsilon", "-1"], "epsilon must be"),
        ([*SELECT, "--features", "age,wage"], "wage"),
        ([*SELECT, "--keep", "name"], "column 'name' must be of a type that is used"),
        ([*SELECT, "--codebook", "none.toml"], "none.toml"),
        ([*SELECT, "--ledger", "none.db"], "none.db --create --epsilon E' creates it"),
        ([*SELECT, "--ledger", "codebook.toml"], "codebook.toml"),
        ([*SELECT, "-o", "none/names.txt"], "there is no folder 'none'"),
        ([*SELECT, "--picture", "none/gaps.png"], "there is no folder 'none'"),
        ([*SELECT, "--card", "none/card.html"], "there is no folder 'none'"),
        (["select", "none.csv", *SELECT[2:]], "none.csv"),
        (["select", "codebook.toml", *SELECT[2:]], "'codebook.toml' must be a .csv, .tsv, .txt (each also .gz)"),
        ([*PLAN, "--epsilon", "1", "--n-samples", "3"], "--n-samples must be"),
        ([*PLAN, "--found", "80"], "--found must be"),
        ([*PLAN, "--error", "2"], "--error must be"),
        ([*SELECT, "--target", "ward", "--statistic", "kendall"], "--target must be 2 labels"),
        (["ledger", "none.db"], "there is no ledger"),
        (["ledger", "people.db", "--create", "--epsilon", "1"], "already exists"),
        (["template", "people.csv", "-o", "codebook.toml"], "already exists, and is not overwritten"),
    ],
)
def test_invalid_input_is_explained_and_costs_nothing(options, message, folder, capsys):
    ledger = ["--ledger", "people.db"] if options[0] == "select" and "--ledger" not in options else []
    assert main([*options, *ledger, *(["--yes"] if options[0] == "select" else [])]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.startswith(f"skdpmic {options[0]}: ")
    assert "Traceback" not in err
    assert spent() == 0
    assert (folder / "codebook.toml").read_text() == CODEBOOK
    assert not (folder / "none.db").exists()


@each("options", [["ledger"], [*SELECT, "--yes", "--ledger"]])
def test_the_password_of_a_database_is_not_shown(options, folder, capsys):
    pytest.importorskip("psycopg", reason="the URL names it")
    assert main([*options, "postgresql+psycopg://ann:s3cret@127.0.0.1:1/db"]) == 1
    out, err = capsys.readouterr()
    assert "the ledger 'postgresql+psycopg://ann@127.0.0.1:1/db' cannot be used" in err
    assert "s3cret" not in out + err


def rewritten(folder, change, name="changed.csv"):
    """Write a copy of the table with changed lines, and return a command that selects from it."""
    lines = change((folder / "people.csv").read_text(encoding="utf-8").splitlines())
    (folder / name).write_text("\n".join(lines), encoding="utf-8")
    return ["select", name, *SELECT[2:]]


def test_a_table_may_have_tabs_or_old_line_endings_or_be_compressed(folder):
    tabs = rewritten(folder, lambda lines: [line.replace(",", "\t") for line in lines], "people.tsv")
    (folder / "people.txt.gz").write_bytes(gzip.compress((folder / "people.csv").read_bytes()))
    (folder / "old.csv").write_bytes((folder / "people.csv").read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r"))
    names = CsvFile("people.csv").names
    assert CsvFile("people.tsv", "\t").names == CsvFile("people.txt.gz").names == CsvFile("old.csv").names == names
    for options in (tabs, *(["select", name, *SELECT[2:]] for name in ("people.txt.gz", "old.csv"))):
        assert main([*options, "--yes"]) == 0


@each(
    "options",
    [
        ["choose"],
        [*SELECT, "--seed", "1"],
        [*SELECT, "--epsilon", "much"],
        [*SELECT, "--statistic", "best"],
        [*SELECT, "--epsilon", "inf"],
        [*SELECT, "--delta", "nan"],
        ["select", *SELECT[2:]],
        [*SELECT, "--picture", "gaps.txt"],
        [*SELECT, "--card", "card.txt"],
        [*SUMMARY, "--card", "card"],
        [*SUMMARY, "--codebook", "people.csv"],
        PLAN,
        [*PLAN, "--epsilon", "1", "--error", "0.1"],
        ["ledger", "people.db", "--create"],
        ["ledger", "people.db", "--epsilon", "1"],
    ],
)
def test_options_that_cannot_be_understood_have_their_own_exit_status(options, folder, capsys):
    with pytest.raises(SystemExit) as caught:
        main(options)
    assert caught.value.code == 2
    assert "error: " in capsys.readouterr().err


def test_only_the_type_of_an_error_from_another_library_is_shown(folder, capsys, monkeypatch):
    def fails(*arguments, **options):
        raise KeyError("patient 8675309")

    monkeypatch.setattr(results, "read_people", fails)
    (folder / "codebook.toml").write_text(CODEBOOK.replace("version = 1", 'version = 1\ngroups = ["name"]'))
    assert main([*SELECT, "--yes"]) == 1
    assert capsys.readouterr().err.startswith("skdpmic select: failed with KeyError. Its message is not shown")


@each("encoding", ["ascii", "latin-1", "cp1252", "utf-16"])
def test_a_template_redirected_to_a_file_is_read_in_any_locale(encoding, folder, monkeypatch):
    names = ["Größe", "日本", "e\u0301", "\x85", "ε", "€"]
    (folder / "names.csv").write_text(",".join(names) + "\n", encoding="utf-8")
    with open("printed.toml", "w", encoding=encoding) as file, monkeypatch.context() as redirected:
        redirected.setattr(sys, "stdout", file)
        assert main(["template", "names.csv"]) == 0
    text = (folder / "printed.toml").read_text("utf-8").replace('type = ""', "range = [0, 1]")
    (folder / "printed.toml").write_text(text, encoding="utf-8")
    assert list(Codebook.read("printed.toml").columns) == names


def test_a_missing_library_is_named(folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "skdpmic.command_line.reading", raising=False)
    monkeypatch.delattr("skdpmic.command_line.reading", raising=False)
    assert main([*SUMMARY, "--yes"]) == 1
    assert "requires pyarrow: pip install 'skdpmic[command-line]'" in capsys.readouterr().err


# --- Output -----------------------------------------------------------------------------------------------------------


def parsed(capsys, *options):
    assert main([*options, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


def test_json_has_the_documented_keys(folder, capsys):
    found = {
        "template": parsed(capsys, "template", "people.csv"),
        "summary": parsed(capsys, *SUMMARY, "--yes", "--ledger", "people.db"),
        "plan": parsed(capsys, *PLAN, "--epsilon", "1"),
        "select": parsed(capsys, *SELECT, "--yes", "--ledger", "people.db"),
        "ledger": parsed(capsys, "ledger", "people.db"),
    }
    budget = ["file", "composition", "unit", "max_rows_per_person", "limit", "spent", "remaining"]
    assert {name: list(fields) for name, fields in found.items()} == {
        "template": ["command", "columns", "codebook", "file"],
        "summary": [
            *["command", "n_samples", "columns", "suspicious", "mechanism", "epsilon", "delta", "ledger"],
        ],
        "plan": ["command", "sought", "releases"],
        "select": [
            *["command", "target", "chosen", "kept", "gaps", "clear_gap", "statistic", "criterion", "mechanism"],
            *["noise_scale", "n_samples", "n_features", "epsilon", "delta", "ledger"],
        ],
        "ledger": ["command", *budget, "entries"],
    }
    assert all(fields["command"] == name for name, fields in found.items())
    assert list(found["select"]["ledger"]) == budget
    assert found["ledger"]["spent"] == {"epsilon": 1.0, "delta": 0.0}
    assert [entry["what"] for entry in found["ledger"]["entries"]] == ["private_summary", "PrivateSelectKBest"]
    documented = (Path(__file__).parents[2] / "docs" / "reference" / "command_line.md").read_text("utf-8")
    rows = [
        *found["plan"]["releases"][0],
        *found["summary"]["columns"][0],
        *found["summary"]["columns"][0]["shares"][0],
    ]
    assert all(f"`{key}`" in documented for fields in (*found.values(), rows) for key in fields)
    assert found["template"]["codebook"] == Codebook.template(found["template"]["columns"])


@each("options", [SELECT, SUMMARY])
def test_progress_is_not_part_of_the_result(options, folder, capsys):
    assert main([*options, "--yes", "--verbose", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["command"] == options[0]
    assert re.search(r"^\[\w+\] \d+/\d+ columns, [\d.]+ s$", err, re.M)


@each("options, by", [(SELECT, "PrivateSelectKBest"), (SUMMARY, "private_summary")])
def test_a_card_is_written_beside_the_result(options, by, folder, capsys):
    known = spent()
    assert main([*options, "--yes", "--ledger", "people.db", "--card", "card.json"]) == 0
    capsys.readouterr()
    card = json.loads((folder / "card.json").read_text("utf-8"))
    assert (card["by"], card["private"]) == (by, True)
    assert card["guarantees"][0]["epsilon"] == 0.5
    assert card["guarantees"][0]["n"] == 2000
    assert card["ledger"]["spent"]["epsilon"] == known + 0.5
    assert card["ledger"]["remaining"]["epsilon"] == card["ledger"]["limit"]["epsilon"] - known - 0.5


@pytest.mark.slow
def test_pictures_are_drawn(folder, capsys):
    pytest.importorskip("matplotlib", reason="it draws")
    assert main([*SUMMARY, "--yes", "--picture", "summary.png"]) == 0
    assert main([*SELECT, "--yes", "--picture", "gaps.PNG"]) == 0
    assert main(["ledger", "people.db", "--picture", "ledger.svg"]) == 0
    assert all((folder / name).stat().st_size > 1000 for name in ("summary.png", "gaps.PNG", "ledger.svg"))
    assert capsys.readouterr().err == ""
    assert main([*SELECT, "--k", "1", "--yes", "--picture", "none.png"]) == 0
    assert "there are no gaps to plot" in capsys.readouterr().err
    assert not (folder / "none.png").exists()


@each("source", ["people.csv", "people.parquet"])
def test_a_template_has_all_columns(source, folder, capsys):
    write_parquet(people(), "people.parquet")
    name = source.replace(".", "_") + ".toml"
    assert main(["template", source, "-o", name]) == 0
    assert f"8 columns were written to {name}" in capsys.readouterr().out
    assert main(["template", source]) == 0
    assert capsys.readouterr().out == (folder / name).read_text()
    assert ('type = "number"' in (folder / name).read_text()) == (source == "people.parquet")


@each("source", ["people.csv", "people.txt.gz", "people.parquet"])
def test_a_terminal_shows_how_much_of_a_table_has_been_read(source, folder, capsys, monkeypatch):
    write_parquet(people(2000), "people.parquet")
    (folder / "people.txt.gz").write_bytes(gzip.compress((folder / "people.csv").read_bytes()))
    monkeypatch.setattr(reading, "_BLOCK", 2**15)
    monkeypatch.setattr(reading, "_ROWS", 500)
    for seconds, is_terminal in ((0, True), (0, False), (60, True)):
        monkeypatch.setattr(reading, "_SECONDS", seconds)
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stderr", Terminal() if is_terminal else io.StringIO())
            assert main(["summary", source, *SUMMARY[2:], "--yes"]) == 0
            shown = re.findall(
                rf"^\[{source}\] ([\d,]+) rows, (\d+)% of the file, [\d.]+ s$", sys.stderr.getvalue(), re.M
            )
        assert bool(shown) == (is_terminal and not seconds)
        if shown:
            rows, shares = (
                [int(number.replace(",", "")) for number in numbers] for numbers in zip(*shown, strict=True)
            )
            assert (rows[-1], shares[-1], rows, shares) == (2000, 100, sorted(rows), sorted(shares))
            assert len(rows) > 2
    assert capsys.readouterr().err == ""


# --- As a program -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_command_declines_if_nobody_can_be_asked_and_prints_what_the_terminal_can_show(folder):
    declined = command(*SELECT)
    assert (declined.returncode, declined.stdout) == (4, "")
    assert "This will spend \\u03b5 = 0.5." in declined.stderr
