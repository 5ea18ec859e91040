"""The figures on the pages of speed are those of the files of results."""

import pytest

pytest.importorskip("matplotlib", reason="the benchmarks draw with matplotlib")
pytest.importorskip("tqdm", reason="the benchmarks show progress with tqdm")

from benchmarks import coldstart, speed
from benchmarks.tests import pages


@pytest.mark.parametrize("script, page", [(speed, "speed"), (coldstart, "coldstart")])
def test_the_page_shows_parts_of_what_the_command_prints(script, page, capsys):
    script.main(["--report"])
    shown = pages.text_of(f"docs/evidence/{page}.md")
    assert len(pages.shown_in(shown, capsys.readouterr().out)) == len(pages.tables(shown)) > 0
