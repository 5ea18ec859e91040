"""The guides' code runs, in order, and prints what the pages show."""

import os
import re
import warnings
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path

import pytest
from sklearn import config_context

DOCS = Path(__file__).parents[1] / "docs"


def blocks(page):
    """Each block of code, and what it is said to print: None if nothing is said."""
    text = (DOCS / page).read_text()
    return re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", text, re.DOTALL)


def run(page, capsys):
    """Run all blocks, each of which prints what it is said to."""
    names = {}
    with config_context(), warnings.catch_warnings():
        warnings.simplefilter("error")
        for code, printed in blocks(page):
            exec(code, names)
            assert capsys.readouterr().out == printed


def test_correlation(tmp_path, capsys, monkeypatch):
    """Noise of 0.002 or less decides on no digit and on no choice that is printed: seen in 300 runs."""
    pytest.importorskip("pandas", reason="the guide reads dataframes of pandas")
    monkeypatch.chdir(tmp_path)
    run("correlation.md", capsys)
    assert os.listdir() == ["patients.db"]


def test_people(tmp_path, capsys, monkeypatch):
    """Noise does not decide what is printed: the least gap between scores is more than 20 times its scale."""
    for library in ("pandas", "polars", "pyarrow"):
        pytest.importorskip(library, reason="the guide reads dataframes of pandas and of Polars")
    monkeypatch.chdir(tmp_path)
    run("people.md", capsys)
    assert os.listdir() == ["patients.db"]


def test_planning(capsys):
    pytest.importorskip("matplotlib", reason="the guide draws with matplotlib").use("Agg")
    pytest.importorskip("pandas", reason="the guide reads a dataframe of scikit-learn")
    names = {}
    for code, printed in blocks("planning.md"):
        exec(code, names)
        assert capsys.readouterr().out == (printed or "")
    assert names["display"].frequencies.shape == (7, 30)


def test_significance(capsys):
    """Noise does not decide what is printed: the two scores are more than 150 times its scale."""
    run("significance.md", capsys)


def test_redundancy(capsys):
    """Scores that decide are more than 20 scales of the noise apart."""
    run("redundancy.md", capsys)


def test_pictures(tmp_path, capsys, monkeypatch):
    """Scores that decide are more than 50 scales of the noise apart; times that are printed are not compared."""
    pytest.importorskip("matplotlib", reason="the guide draws with matplotlib").use("Agg")
    pytest.importorskip("pandas", reason="the guide reads a dataframe of pandas")
    monkeypatch.chdir(tmp_path)
    names, as_said = {}, OutputChecker().check_output
    for code, printed in blocks("pictures.md"):
        exec(code, names)
        said, got = (re.sub(r"\d+\.\d s", "0.0 s", text) for text in (printed, capsys.readouterr().out))
        assert as_said(said, got, ELLIPSIS), got
    assert os.listdir() == ["survey.db"]
    for alternative, picture in re.findall(r"!\[(.*?)\]\((.*?)\)", (DOCS / "pictures.md").read_text()):
        assert len(alternative) > 40
        assert (DOCS / picture).exists()
