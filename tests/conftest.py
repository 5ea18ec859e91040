"""Fixtures that several tests share."""

import os
import shutil
from pathlib import Path

import pytest

from tests.processes import PACKAGE, YEAR_2000


@pytest.fixture(scope="session")
def shared():
    """The folder of golden values and real data, which is not part of the project."""
    folder = Path(__file__).parents[2] / "shared"
    if not folder.exists():
        pytest.skip("the folder with golden values and real data is absent")
    return folder


@pytest.fixture
def installed(tmp_path):
    """A copy of the package in a folder of its own, whose files have the times that container builds give them."""
    folder = tmp_path / "site-packages"
    shutil.copytree(PACKAGE, folder / "skdpmic", ignore=shutil.ignore_patterns("__pycache__"))
    for path in folder.rglob("*"):
        os.utime(path, (YEAR_2000, YEAR_2000))
    return folder
