"""Fixtures that several tests share, and noise that is the same in every run."""

import os
import shutil
from pathlib import Path

import pytest

from skdpmic import BudgetLedger
from tests import skips
from tests.folding import cover
from tests.processes import PACKAGE, YEAR_2000
from tests.seeded_noise import pytest_fixture_setup, pytest_runtest_call  # noqa: F401

IS_IN_COVER = pytest.StashKey[bool]()  # from the first call: benchmarks have their own conftest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark tests as slow: of ``combinations``, all beyond a covering selection; of ``few``, all but one.

    This must happen before slow tests are deselected.
    """
    by_function = {}
    for item in items:
        is_new = IS_IN_COVER not in item.stash and not item.get_closest_marker("slow")
        if is_new and (item.get_closest_marker("combinations") or item.get_closest_marker("few")):
            by_function.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in by_function.values():
        kept = cover(cases) if cases[0].get_closest_marker("combinations") else []
        if cases[0].get_closest_marker("few"):
            kept = [cases[len(cases) // 2]]  # neither the smallest nor the longest
        for item in cases:
            item.stash[IS_IN_COVER] = item in kept
            if item not in kept:
                item.add_marker("slow")


def pytest_configure(config):
    """End every run with the reasons for which tests were skipped."""
    if not config.pluginmanager.has_plugin("skips"):
        config.pluginmanager.register(skips, "skips")


@pytest.fixture(scope="session")
def paper_data():
    """The folder with ``baseball.csv`` and ``Spellman.csv``, which may not be redistributed: tests/golden/README.md."""
    folder = Path(os.environ.get("SKDPMIC_PAPER_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not (folder / "Spellman.csv").exists():
        pytest.skip("the data of the paper are absent and may not be redistributed")
    return folder


@pytest.fixture
def ledger(tmp_path):
    """One with room for all that a test does."""
    return BudgetLedger(tmp_path / "ledger.db", epsilon=100.0, delta=0.01)


@pytest.fixture
def installed(tmp_path):
    """A copy of the package in its own folder, with the file times that container builds set."""
    folder = tmp_path / "site-packages"
    shutil.copytree(PACKAGE, folder / "skdpmic", ignore=shutil.ignore_patterns("__pycache__"))
    for path in folder.rglob("*"):
        os.utime(path, (YEAR_2000, YEAR_2000))
    return folder
