"""The benchmark of several rows per person writes its file where it is told, and only once all is measured."""

import csv
import runpy
import sys
from pathlib import Path

import pytest

pytest.importorskip("tqdm", reason="the benchmarks show progress with tqdm")

SCRIPT = Path(__file__).parents[1] / "people.py"
HELD = SCRIPT.parent / "results" / "people.csv"


@pytest.fixture
def main(monkeypatch):
    """The benchmark with these options and this way to measure, on few cells."""

    def main(measure, *options):
        names = runpy.run_path(str(SCRIPT))
        scope = names["main"].__globals__
        scope |= {
            "measure": measure,
            "large_sample_scores": lambda statistic: None,
            "PERSONS": (300,),
            "SHARES": (0.0,),
        }
        monkeypatch.setattr(sys, "argv", ["people.py", *options])
        scope["main"]()

    return main


def test_the_table_is_written_to_where_it_is_said_and_the_held_one_stays(main, tmp_path):
    held = HELD.read_bytes()
    main(lambda *cell: (0.25, 0.5), "--output", str(tmp_path / "people.csv"))
    with open(tmp_path / "people.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 3 * 3
    assert {(row["error"], row["found"]) for row in rows} == {("0.2500", "0.500")}
    assert HELD.read_bytes() == held
    assert held.splitlines()[0].decode().split(",") == list(rows[0])


def test_the_held_table_is_replaced_only_if_asked(main, capsys):
    held = HELD.read_bytes()
    with pytest.raises(SystemExit):
        main(lambda *cell: (0.25, 0.5))
    assert "--overwrite" in capsys.readouterr().err
    assert HELD.read_bytes() == held


def test_what_stops_before_the_end_leaves_the_table_as_it_was(main, tmp_path):
    path, cells = tmp_path / "people.csv", []
    path.write_text("held")

    def measure(*cell):
        cells.append(cell)
        if len(cells) == 4:
            raise KeyboardInterrupt
        return 0.25, 0.5

    with pytest.raises(KeyboardInterrupt):
        main(measure, "--output", str(path), "--overwrite")
    assert path.read_text() == "held"


def test_a_folder_that_is_not_there_is_refused_before_anything_is_measured(main, tmp_path):
    def measure(*cell):
        raise AssertionError

    with pytest.raises(SystemExit):
        main(measure, "--output", str(tmp_path / "none" / "people.csv"))
