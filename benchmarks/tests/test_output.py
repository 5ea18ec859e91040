"""No benchmark script replaces a kept result unless it is told to."""

import re
from importlib import import_module

import pytest

pytest.importorskip("matplotlib", reason="the benchmarks draw with matplotlib")
pytest.importorskip("pandas", reason="the benchmarks tabulate with pandas")
pytest.importorskip("tqdm", reason="the benchmarks show progress with tqdm")

from benchmarks.output import ROOT, write_csv

# With these arguments, each script would write to kept results.
SCRIPTS = {
    "attack": [],
    "causal.private_pc": ["--picture"],
    "causal.report": ["--output", "benchmarks/results/causal.md"],
    "coldstart": ["--output", "benchmarks/results/coldstart.csv"],
    "command_line": ["--output", "benchmarks/results/command_line.csv"],
    "ends.table": ["--repeats", "1"],
    "explain": [],
    "findings": [],
    "first_picture": [],
    "integers": [],
    "models.__main__": ["--repeats", "1"],
    "models.picture": [],
    "paper.report": ["--output", "benchmarks/paper/results/report.md"],
    "people": [],
    "pictures": [],
    "selection.__main__": [],
    "sets.__main__": ["--tables", "churn", "--repeats", "1"],
    "sets.falling": [],
    "significance": [],
    "speed": ["--output", "benchmarks/results/speed.csv"],
    "two_party": ["--picture"],
}
NEEDED = {"causal.private_pc": "pgmpy", "causal.report": "pgmpy"}
WRITES = re.compile(r"savefig\(|to_csv\(|write_text\(|write_csv\(|open\([^)]*\"[wa]\"")
# They write where a script tells them.
HELPERS = {"output", "store", "ends.report", "selection.pictures", "selection.report"}
HELPERS |= {"sets.pictures", "sets.worth", "style"}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_kept_result_is_not_replaced_by_default(name, capsys, monkeypatch):
    if name in NEEDED:
        pytest.importorskip(NEEDED[name], reason="the networks are in its wheel")
    monkeypatch.chdir(ROOT)
    with pytest.raises(SystemExit) as refusal:
        import_module(f"benchmarks.{name}").main(SCRIPTS[name])
    assert refusal.value.code == 2
    assert "exists: name another place with --output, or replace it with --overwrite" in capsys.readouterr().err


def test_all_scripts_that_write_are_listed():
    folder = ROOT / "benchmarks"
    modules = {".".join(path.relative_to(folder).with_suffix("").parts): path for path in folder.rglob("*.py")}
    writing = {
        module
        for module, path in modules.items()
        if not module.startswith("tests.") and WRITES.search(path.read_text(encoding="utf-8"))
    }
    assert writing - HELPERS <= SCRIPTS.keys()


def test_an_interrupted_run_leaves_the_file_unchanged(tmp_path):
    path = tmp_path / "result.csv"
    path.write_text("kept")

    def rows():
        yield ["a", "b"]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_csv(path, rows())
    assert path.read_text() == "kept"
