"""Output of the command line is compared as in a wide terminal, with each message on one line."""

import pytest

from tests.command_line.tables import lay_out


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder: a table, a codebook and a ledger."""
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path)
    return tmp_path
