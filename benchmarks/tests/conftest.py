"""Hooks and fixtures that the tests of the benchmarks share with those of the package."""

from tests.conftest import (  # noqa: F401
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_fixture_setup,
    pytest_runtest_call,
)
