"""No test is skipped for an unlisted reason, and the list says how to run each."""

import re
import tomllib

from tests import skips

EXTRAS = tomllib.loads((skips.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]


def test_every_library_that_may_be_absent_comes_with_an_extra():
    for library, extra in skips.LIBRARIES.items():
        installed = {re.split(r"[\[><=]", requirement)[0].replace("-", "_") for requirement in EXTRAS[extra]}
        assert library == extra or library in installed, f"{library} is not in the extra {extra} of pyproject.toml"


def test_unknown_reasons_are_detected():
    known = ["no fork here", "could not import 'dask.array': No module", "tables come from there"]
    unknown = ["could not import 'of_another': No module", "it is raining"]
    assert [reason for reason in [*known, *unknown] if not skips.is_known(reason)] == unknown
