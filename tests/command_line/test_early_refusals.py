"""What can be refused without the records is refused before any is read, and before slow libraries are loaded."""

import io
import json
import subprocess
import sys

import pytest

from skdpmic import BudgetLedger
from skdpmic.command_line.data import CsvFile
from skdpmic.command_line.main import main, parse_options
from skdpmic.statistics.registry import STATISTICS
from tests.command_line.tables import CODEBOOK, SELECT, SUMMARY, people, spent, write_parquet
from tests.folding import each
from tests.processes import PACKAGE, environment

# Together they take four fifths of the time of an import of everything.
SLOW = [
    "sklearn",
    "scipy",
    "numba",
    "joblib",
    "pandas",
    "matplotlib",
    "pyarrow",
    "skdpmic.selection",
    "skdpmic.release",
]
OF_PARQUET = [name for name in SLOW if name != "pyarrow"]
LOADED = """
import json, sys
from skdpmic.command_line.main import main
try:
    status = main(sys.argv[2:])
except SystemExit as error:
    status = error.code
print(json.dumps([status, [name for name in json.loads(sys.argv[1]) if name in sys.modules]]))
"""


def loaded(slow, *options):
    """The status of a command in a new process, and the slow modules that it loaded."""
    command = [sys.executable, "-c", LOADED, json.dumps(slow), *options]
    options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "env": environment(PACKAGE.parent)}
    done = subprocess.run(command, check=True, **options)
    return json.loads(done.stdout.splitlines()[-1])


PLAN = ["plan", "--codebook", "codebook.toml", "--target", "stay", "--k", "2", "--n-samples", "1000"]
QUICK = {
    "help": (0, ["--help"]),
    "help of a command": (0, ["select", "--help"]),
    "unknown option": (2, [*SELECT, "--seed", "1"]),
    "statistic": (2, [*SELECT, "--statistic", "best"]),
    "template": (0, ["template", "people.csv"]),
    "no file": (1, ["summary", "none.csv", *SUMMARY[2:]]),
    "target": (1, [*SELECT, "--target", "wage"]),
    "features": (1, [*SELECT, "--features", "age,wage"]),
    "kept": (1, [*SELECT, "--keep", "stay"]),
    "k": (1, [*SELECT, "--k", "0"]),
    "no choice": (1, [*SELECT, "--k", "6"]),
    "epsilon": (1, [*SUMMARY, "--epsilon", "-1"]),
    "delta": (1, [*SUMMARY, "--delta", "1"]),
    "epsilon of a plan": (1, [*PLAN, "--epsilon", "0"]),
    "share of a plan": (1, [*PLAN, "--found", "80"]),
    "error of a plan": (1, [*PLAN, "--error", "5"]),
    "records of a plan": (1, [*PLAN, "--epsilon", "1", "--n-samples", "3"]),
    "classes without order": (1, [*SELECT, "--target", "ward", "--statistic", "kendall", "--yes"]),
    "choice of a plan": (1, [*PLAN, "--epsilon", "1", "--k", "6"]),
    "ledger": (0, ["ledger", "people.db"]),
    "no ledger": (1, [*SUMMARY, "--ledger", "none.db"]),
    "budget": (3, [*SUMMARY, "--ledger", "people.db", "--epsilon", "5"]),
    "output": (1, [*SELECT, "-o", "people.csv"]),
    "nobody to ask": (4, [*SELECT, "--ledger", "people.db"]),
}


@each("name", QUICK)
def test_help_templates_and_refusals_load_no_slow_library(name, folder):
    status, options = QUICK[name]
    assert loaded(SLOW, *options) == [status, []]


def test_a_template_and_a_refusal_of_a_parquet_file_load_only_the_library_that_reads_it(folder):
    write_parquet(people(20), "people.parquet")
    assert loaded(OF_PARQUET, "template", "people.parquet") == [0, []]
    refused = ["select", "people.parquet", *SELECT[2:], "--k", "6"]
    assert loaded([*OF_PARQUET, "pyarrow.compute"], *refused) == [1, []]


@each("source", ["people.csv", "people.parquet"])
def test_a_summary_loads_neither_scikit_learn_nor_numba(source, folder):
    write_parquet(people(2000), "people.parquet")
    assert loaded(["sklearn", "numba"], "summary", source, *SUMMARY[2:], "--yes") == [0, []]


def test_every_statistic_that_chooses_may_be_named():
    for name in STATISTICS:
        assert parse_options([*SELECT, "--statistic", name]).statistic == name
    with pytest.raises(SystemExit):
        parse_options([*SELECT, "--statistic", "mic_e"])


def names_only(lines):
    """`CsvFile.lines` without a line after the first."""

    def first(source):
        with lines(source) as file:
            return io.StringIO(file.readline())

    return first


@pytest.mark.parametrize("options", [SELECT, SUMMARY])
def test_a_command_is_refused_before_a_record_is_read(options, folder, capsys, monkeypatch):
    monkeypatch.setattr(CsvFile, "lines", names_only(CsvFile.lines))
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert main([*options, "--ledger", "people.db"]) == 4
    assert "This will spend ε = 0.5. Of ε = 2 in people.db, ε = 2 remains." in capsys.readouterr().err
    assert main([*options, "--ledger", "people.db", "--epsilon", "2.5", "--yes"]) == 3
    assert "does not fit in the ledger" in capsys.readouterr().err
    BudgetLedger.open("people.db").charge("another", 0.25)
    (folder / "codebook.toml").write_text(CODEBOOK.replace("version = 1", "version = 1\ngroups = 'name'"))
    assert main([*options, "--ledger", "people.db", "--yes"]) == 3
    assert "a cost for people cannot be added up" in capsys.readouterr().err
    assert spent() == 0.25
