"""Docstrings of the public names: each has an example, which runs as a doctest, and sections that tools can parse."""

import inspect
import re
from importlib import import_module
from pathlib import Path

from tests.folding import each
from tests.public import NAMES

REFERENCE = (Path(__file__).parents[1] / "docs" / "reference" / "index.rst").read_text(encoding="utf-8")
LISTED = [f"skdpmic.{path}" for path in re.findall(r"^   ([\w.]+)$", REFERENCE, re.MULTILINE)]
DATA = [name for name, value in NAMES.items() if not (inspect.isclass(value) or inspect.isfunction(value))]
DESCRIBED = sorted({*NAMES, *LISTED} - set(DATA))


def docstring_of(path):
    package, _, name = path.rpartition(".")
    return inspect.getdoc(getattr(import_module(package), name))


def section(docstring, title):
    """The lines of a numpydoc section; none if it is missing."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?:\n\n[A-Z][\w ]+\n-+\n|\Z)", docstring, re.DOTALL | re.MULTILINE)
    return found[1].splitlines() if found else []


@each("path", DESCRIBED)
def test_a_public_name_has_an_example(path):
    assert any(line.startswith(">>> ") for line in section(docstring_of(path), "Examples"))


@each("path", DESCRIBED)
def test_each_line_of_see_also_begins_or_continues_an_entry(path):
    for line in section(docstring_of(path), "See Also"):
        assert re.match(r"[\w.]+(, [\w.]+)* : \S|    \S", line), line


@each("path", DESCRIBED)
def test_a_docstring_begins_with_one_sentence_on_one_line(path):
    first, _, rest = docstring_of(path).partition("\n")
    assert first.endswith(".")
    assert not rest or rest.startswith("\n")
