"""Timings of wide tables and of imports run, small here: they name parts of the package, which may move."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="the benchmarks draw with matplotlib")

from benchmarks import coldstart

WIDE = Path(__file__).parents[1] / "wide.py"


@pytest.mark.slow
def test_a_small_table_is_timed_by_step():
    sizes = ["--rows", "60", "--columns", "12", "--fits", "1"]
    command = [sys.executable, WIDE, *sizes, "--one", "genotypes", "classes", "PrivateSelectKBest"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    fit, reading, scores, noise = map(float, printed.removeprefix("genotypes, classes, PrivateSelectKBest").split()[:4])
    assert min(reading, scores) > 0
    assert fit == pytest.approx(reading + scores + noise, abs=0.3)  # each is rounded to a tenth


@pytest.mark.slow
def test_an_import_is_timed_beside_its_reference(monkeypatch):
    # One that takes far longer than the clock's step of 0.01 s.
    monkeypatch.setattr(coldstart, "IMPORTS", {"import numpy": "import numpy"})
    ((name, own, reference, _, ratio),) = coldstart.import_rows(1)
    assert (name, reference) == ("import numpy", "import numpy")
    assert float(own) > 0
    assert float(ratio) > 0
