"""The figures on the speed page match the result files."""

import pytest

pytest.importorskip("matplotlib", reason="the benchmarks draw with matplotlib")
pytest.importorskip("tqdm", reason="the benchmarks show progress with tqdm")

from benchmarks import coldstart, command_line, speed
from benchmarks.tests import pages


@pytest.mark.parametrize("script, n_tables", [(speed, 1), (coldstart, 2), (command_line, 1)])
def test_the_page_shows_parts_of_what_the_command_prints(script, n_tables, capsys):
    script.main(["--report"])
    assert len(pages.shown_in(pages.text_of("docs/evidence/speed.md"), capsys.readouterr().out)) == n_tables
