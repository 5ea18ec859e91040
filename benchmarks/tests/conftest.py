"""What the tests of the benchmarks share with those of the package."""

from tests.conftest import pytest_collection_modifyitems, pytest_fixture_setup, pytest_runtest_call, shared  # noqa: F401
