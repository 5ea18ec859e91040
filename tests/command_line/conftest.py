"""What the command line says is compared as it is in a wide terminal, with each message in one line."""

import pytest


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")
