"""Output of the command line is compared as in a wide terminal, with each message on one line."""

import pytest


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")
