"""Places in which a ledger can be kept."""

import pytest

from tests.budget import quick_database


@pytest.fixture(params=["file", "database"])
def place(request, tmp_path, monkeypatch):
    """A file, or a database; neither is there yet."""
    if request.param == "file":
        return tmp_path / "budget.db"
    quick_database.install(monkeypatch, tmp_path)
    return quick_database.URL
