"""Fixtures that several tests share."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared():
    """The folder of golden values and real data, which is not part of the project."""
    folder = Path(__file__).parents[2] / "shared"
    if not folder.exists():
        pytest.skip("the folder with golden values and real data is absent")
    return folder
