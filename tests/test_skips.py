"""No test is skipped for an unlisted reason, and the list says how to run each."""

import re
import tomllib
from collections import Counter
from types import SimpleNamespace

import pytest

from tests import skips
from tests.test_guides import ENVIRONMENTS

EXTRAS = tomllib.loads((skips.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]


def test_every_library_that_may_be_absent_comes_with_an_extra():
    for library, extra in skips.LIBRARIES.items():
        installed = {re.split(r"[\[><=]", requirement)[0].replace("-", "_") for requirement in EXTRAS[extra]}
        assert library == extra or library in installed, f"{library} is not in the extra {extra} of pyproject.toml"


@pytest.mark.slow
def test_only_listed_libraries_are_imported_optionally():
    imported = {library for library, _ in skips.imports()} - {None, "skdpmic"}
    imported.add("networkx")  # which a page of the site needs
    assert imported == skips.LIBRARIES.keys() | skips.STANDARD_MODULES, "mend LIBRARIES in tests/skips.py"


@pytest.mark.slow
def test_the_other_reasons_are_counted():
    places = Counter(skips.other_places())
    of_pages = places.pop("f'runs in an environment of its own: {ENVIRONMENTS[page]}'")
    places.update({f"runs in an environment of its own: {where}": of_pages for where in ENVIRONMENTS.values()})
    assert places == skips.REASONS, "mend REASONS in tests/skips.py, or have the test run everywhere"


def report(longrepr):
    return SimpleNamespace(longrepr=longrepr)


def test_reasons_are_read_from_pytest_reports_and_unknown_ones_are_detected():
    reasons = skips.reasons_of([
        report(("tests/a.py", 1, "Skipped: no fork here")),
        report(("tests/b.py", 1, "Skipped: no fork here")),
        report(("tests/c.py", 1, "Skipped: could not import 'dask.array': No module named 'dask'")),
        report(("tests/d.py", 1, "Skipped: it makes a dataframe")),
        report(("tests/e.py", 1, "Skipped: could not import 'of_another': No module named 'of_another'")),
        report(("tests/f.py", 1, "Skipped: it is raining")),
    ])  # fmt: skip
    assert reasons["no fork here"] == 2
    assert [reason for reason in reasons if not skips.is_known(reason)] == [
        "could not import 'of_another': No module named 'of_another'",
        "it is raining",
    ]
