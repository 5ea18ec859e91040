"""Fixtures that several tests share, and noise that is the same in every run."""

import os
import shutil
import zlib
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from skdpmic._utils.little_work import only_kernels
from skdpmic.privacy import noise
from tests import skips
from tests.folding import cover
from tests.processes import PACKAGE, YEAR_2000


@contextmanager
def noise_of(name):
    """Noise without a seed is drawn from a source that the name of a test stands for, so that no run is unlucky.

    New processes draw from that of the operating system.
    """
    outer, noise.os = noise.os, SimpleNamespace(urandom=np.random.RandomState(zlib.crc32(name.encode())).bytes)
    try:
        yield
    finally:
        noise.os = outer


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef, request):
    with noise_of(f"{fixturedef.argname} of {request.node.name}"):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    with noise_of(item.name) if "unseeded" not in item.keywords else nullcontext():
        return (yield)


IS_IN_COVER = pytest.StashKey[bool]()  # known from the first call, as benchmarks have a conftest of their own


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Of combinations of values, those beyond a covering selection are slow, and of few cases, all but one.

    This comes before slow tests are deselected.
    """
    of_functions = {}
    for item in items:
        is_new = IS_IN_COVER not in item.stash and not item.get_closest_marker("slow")
        if is_new and (item.get_closest_marker("combinations") or item.get_closest_marker("few")):
            of_functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in of_functions.values():
        kept = cover(cases) if cases[0].get_closest_marker("combinations") else []
        if cases[0].get_closest_marker("few"):
            kept = [cases[len(cases) // 2]]  # of small cases and large ones, neither the least nor the longest
        for item in cases:
            item.stash[IS_IN_COVER] = item in kept
            if item not in kept:
                item.add_marker("slow")


def pytest_configure(config):
    """Have every run end with the reasons for which tests were skipped."""
    if not config.pluginmanager.has_plugin("skips"):
        config.pluginmanager.register(skips, "skips")


@pytest.fixture(scope="session")
def paper_data():
    """The folder with ``baseball.csv`` and ``Spellman.csv``, which may not be redistributed: tests/golden/README.md."""
    folder = Path(os.environ.get("SKDPMIC_PAPER_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not (folder / "Spellman.csv").exists():
        pytest.skip("the data of the paper are absent, which may not be redistributed")
    return folder


@pytest.fixture(scope="session", autouse=True)
def kernels():
    """Little work is done by kernels, too, so that small tables test them; tests of numpy's twins say so."""
    with only_kernels():
        yield


@pytest.fixture
def installed(tmp_path):
    """A copy of the package in a folder of its own, whose files have the times that container builds give them."""
    folder = tmp_path / "site-packages"
    shutil.copytree(PACKAGE, folder / "skdpmic", ignore=shutil.ignore_patterns("__pycache__"))
    for path in folder.rglob("*"):
        os.utime(path, (YEAR_2000, YEAR_2000))
    return folder
