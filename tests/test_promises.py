"""Each sentence of the reference and of the threat model that promises a refusal or a limit has a test that holds it.

A sentence that is added without one, and a test that is renamed or removed while its sentence stays, fail here.
"""

import argparse
import ast
import re
import tomllib
from pathlib import Path

import pytest

from skdpmic.command_line import main as options

ROOT = Path(__file__).parents[1]
PAGES = [
    *sorted((ROOT / "docs" / "reference").glob("*.md")),
    ROOT / "docs/theory/threat_model.md",
    ROOT / "SECURITY.md",
]
PROMISE = re.compile(
    r"\brefus|\bnever\b|\bat most\b|\bfails\b|\berror\b|\bbefore (it is|anything|the (charge|budget))|\brenamed\b"
    r"|\bnothing was (?!charged)|\bno option\b|\bmust (not )?be\b|\bquotes? no\b|\bregular\b"
)
PROMISES = tomllib.loads((ROOT / "tests" / "promises.toml").read_text(encoding="utf-8"))["promises"]


def sentences():
    """The sentences of the pages, without blocks of code."""
    for page in PAGES:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for line in text.splitlines():
            yield from re.split(r"(?<=[.;])\s+(?=[A-Z*`\[])", line)


def test_every_sentence_that_promises_a_refusal_or_a_limit_has_a_test():
    promises = [sentence for sentence in sentences() if PROMISE.search(re.sub(r"`[^`]*`|\"[^\"]*\"", "", sentence))]
    assert [sentence for sentence in promises if not any(part in sentence for part in PROMISES)] == []


@pytest.mark.parametrize("part", PROMISES)
def test_the_sentence_and_its_test_exist(part):
    assert any(part in sentence for sentence in sentences())
    file, _, name = PROMISES[part].partition("::")
    if file:
        tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
        found = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
        assert name in found or (not name and found)


def test_no_command_takes_a_seed():
    made, add_argument = [], argparse.ArgumentParser.add_argument

    def noted(parser, *names, **details):
        made.extend(names)
        return add_argument(parser, *names, **details)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(argparse.ArgumentParser, "add_argument", noted)
        with pytest.raises(SystemExit):
            options.parse_options(["--version"])
    assert "--epsilon" in made
    assert not [name for name in made if re.search("seed|random|state", name)]
