"""A pytest plugin with which unseeded noise is the same in every run, ``-p tests.seeded_noise``.

``tests/conftest.py`` uses it; the examples in docstrings are outside its folder.
"""

import zlib
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from skdpmic.privacy import noise


@contextmanager
def noise_of(name):
    """Draw unseeded noise from a source seeded by the name of the test, so that all runs are alike.

    New processes draw from the operating system.
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
