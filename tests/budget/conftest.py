"""The kinds of storage of a ledger."""

import pytest

from tests.budget import quick_database


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget.db"


@pytest.fixture(params=["file", "database"])
def place(request, tmp_path, monkeypatch):
    """The path of a file or the URL of a database; neither exists yet."""
    if request.param == "file":
        return tmp_path / "budget.db"
    quick_database.install(monkeypatch, tmp_path)
    return quick_database.URL
