"""The tables of B and c on the pages match what the command prints."""

import pytest

pytest.importorskip("matplotlib", reason="the benchmarks draw with matplotlib")
pytest.importorskip("pandas", reason="the benchmarks tabulate with pandas")
pytest.importorskip("tqdm", reason="the benchmarks show progress with tqdm")

from benchmarks import defaults
from benchmarks.tests import pages


def test_the_report_has_the_printed_tables():
    report = pages.text_of("benchmarks/results/defaults.md")
    assert [title for title, made in defaults.PARTS.items() if made() not in report] == []
