"""The guides' code runs, in order, and prints what the pages show."""

import os
import re
import warnings
from pathlib import Path

import pytest
from sklearn import config_context

DOCS = Path(__file__).parents[1] / "docs"


def blocks(page, *sections):
    """Each block of code of these sections, or of all, and what it is said to print: nothing said, nothing printed."""
    parts = (DOCS / page).read_text().split("\n## ")
    text = "\n".join(part for part in parts if not sections or part.partition("\n")[0] in sections)
    return re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", text, re.DOTALL)


def run(page, capsys, *sections, warn="error"):
    """Run all blocks, or those of some sections, each of which prints what it is said to."""
    names = {"__name__": "__main__"}  # so that functions can be sent to workers
    with config_context(), warnings.catch_warnings():
        warnings.simplefilter(warn)
        for code, printed in blocks(page, *sections):
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


def test_large_tables(tmp_path, capsys, monkeypatch):
    """Noise does not decide which feature comes first."""
    monkeypatch.chdir(tmp_path)
    run("large_tables.md", capsys)
    assert sorted(os.listdir()) == [f"{i}.sketch" for i in range(10)]


def test_engines(tmp_path, capsys, monkeypatch):
    """Noise decides nothing that is printed; Spark and Ray are in ``counting/test_clusters.py``."""
    for library in ("duckdb", "polars", "pyarrow"):
        pytest.importorskip(library, reason="the guide reads with each")
    monkeypatch.chdir(tmp_path)
    run("engines.md", capsys, "Describe", "DuckDB", "Polars", "pyarrow")


def test_engines_with_dask(tmp_path, capsys, monkeypatch):
    for library in ("dask.dataframe", "polars", "pyarrow"):
        pytest.importorskip(library, reason="the guide reads with dask what Polars wrote")
    monkeypatch.chdir(tmp_path)
    run("engines.md", capsys, "Describe", "Dask", warn="ignore")  # of dask, about versions of pandas
