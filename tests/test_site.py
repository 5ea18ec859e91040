"""The site has a place for every page and every public name, and what Sphinx does not check is correct."""

import re
import runpy
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.folding import each
from tests.public import NAMES, PACKAGES

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts and "gallery" not in page.parts)


def text_of(page):
    return (DOCS / page).read_text(encoding="utf-8")


def test_every_public_name_is_in_the_reference():
    lines = text_of("reference/index.rst").splitlines()
    listed = {f"skdpmic.{line.removeprefix('.. py:data::').strip()}" for line in lines}
    assert NAMES.keys() <= listed
    assert {f".. module:: {package.__name__}" for package in PACKAGES} <= set(lines)


def test_every_name_in_the_reference_exists():
    for path in re.findall(r"^   ([\w.]+)$", text_of("reference/index.rst"), re.M):
        package, _, name = f"skdpmic.{path}".rpartition(".")
        assert hasattr(import_module(package), name), path


def test_every_page_that_docstrings_name_exists():
    for module in (ROOT / "skdpmic").rglob("*.py"):
        for name in re.findall(r"docs/[\w/]+\.md", module.read_text(encoding="utf-8")):
            assert (ROOT / name).exists(), (module, name)


def test_the_noise_table_matches_the_code():
    assert runpy.run_path(str(ROOT / "benchmarks" / "noise.py"))["table"]() in text_of("choose/planning.md")


def script(name, folder=DOCS / "_ext"):
    """What a script of the site defines; the site's packages need not be installed."""
    return runpy.run_path(str(folder / f"{name}.py"))


def test_every_example_of_the_gallery_has_a_place_in_the_order():
    in_order = re.search(r"^IN_ORDER_OF_USE = \[(.*?)^\]", text_of("conf.py"), re.S | re.M)[1]
    examples = {path.name for path in (ROOT / "examples").glob("*.py") if "\n# %%" in path.read_text(encoding="utf-8")}
    names = re.findall(r'"(\w+\.py)"', in_order)
    assert sorted(names) == sorted(examples)
    assert names[0] == "first_selection.py"


PAGE = '<link rel="icon" href="icon.svg"><meta name="description" content="What it is."><h1 id="top">Title</h1>'
PROBLEMS = {  # what is added to a page, or "" for another page, and what is wrong then
    '<a href="no.html">': "dead link no.html",
    '<a href="b.html#end">': "no such anchor b.html#end",
    '<img src="icon.svg">': "picture without an alternative text: icon.svg",
    '<script src="https://x.org/x.js"></script>': "loads https://x.org/x.js",
    '<link rel="stylesheet" href="//x.org/x.css">': "loads //x.org/x.css",
}


@each("added, problem", [("", None), *PROBLEMS.items()])
def test_the_check_of_the_site_names_the_problem(added, problem, tmp_path_factory):
    site = tmp_path_factory.mktemp("site")
    files = dict.fromkeys(("b.html", "index.html", "404.html"), PAGE + '<a href="b.html#top">')
    files |= {"icon.svg": "", "llms.txt": "[B](b.html) [A](a.html)", "a.html": PAGE + added}
    for name, text in files.items():
        (site / name).write_text(text, encoding="utf-8")
    assert script("check_site", ROOT / ".ci")["problems"](site) == ([f"a.html: {problem}"] if problem else [])


def test_the_printable_page_has_every_proof():
    pytest.importorskip("sphinx", reason="the page is made by Sphinx")
    included = script("one_page")["proofs"](SimpleNamespace(srcdir=DOCS))
    pages = {page.stem for page in (DOCS / "theory").glob("*.md")} - {"README", "all_proofs"}
    assert sorted(included) == sorted(pages)


NOT_PROOFS = {"README", "all_proofs", "all_sensitivities", "corrections", "reviewing", "threat_model"}
PROOFS = sorted(page for page in (DOCS / "theory").glob("*.md") if page.stem not in NOT_PROOFS)
IN_THE_BOX = ["published", "theorem", "constant", "code", "tests"]


@each("page", PROOFS)
def test_a_proof_begins_with_what_is_published_theorem_constant_code_and_tests(page):
    _, box, *_ = page.read_text(encoding="utf-8").split("\n\n")
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in box.splitlines()[2:]]
    assert [name for name, _ in rows] == IN_THE_BOX
    _, _, _, (_, code), (_, tests) = rows
    for named, root in ((code, ROOT / "skdpmic"), (tests, ROOT)):
        paths = re.findall(r"`([\w/]+(?:\.py|/))`", named)
        assert paths
        assert [path for path in paths if not (root / path).exists()] == []


def numbers(text):
    """The numbers of the theorems that a text names, such as 1, 2, 3 and 5 in "(Theorems 1 to 3, Theorem 5)"."""
    found = set()
    for listed in re.findall(r"Theorems? (\d+(?:(?:,| and| to| \(or) \d+)*)", text):
        for first, last in re.findall(r"(\d+)(?: to (\d+))?", listed):
            found |= set(range(int(first), int(last or first) + 1))
    return found


def theorems_of(page):
    """The numbers of the theorems that a page states, in bold."""
    return {int(k) for k in re.findall(r"^\*\*Theorem (\d+)\b", page.read_text(encoding="utf-8"), re.M)}


@each("page", PROOFS)
def test_the_theorems_in_the_box_are_those_of_the_page(page):
    text = page.read_text(encoding="utf-8")
    (row,) = (line for line in text.split("\n\n")[1].splitlines() if line.startswith("| theorem |"))
    assert numbers(row) == theorems_of(page)
    assert re.search(r"^\*\*Theorem\b", text, re.M)


def test_theorems_that_code_tests_and_pages_refer_to_exist():
    folders = {"docs": "*.md", "skdpmic": "*.py", "tests": "*.py", "benchmarks": "*.py"}
    texts = [path.read_text(encoding="utf-8") for name, kind in folders.items() for path in (ROOT / name).rglob(kind)]
    n_found = 0
    after = r"(\w+)\.md(?:``|\))?,? (Theorems? \d+(?:(?:,| and| to) \d+)*)"
    before = r"(Theorems? \d+(?:(?:,| and| to| \(or) \d+)*)\)? of (?:\[[^]]+\]\()?[\w/]*?(\w+)\.md"
    for text in texts:
        found = re.findall(after, text) + [(page, named) for named, page in re.findall(before, text)]
        for page, named in found:
            assert numbers(named) <= theorems_of(DOCS / "theory" / f"{page}.md"), (page, named)
        n_found += len(found)
    assert n_found > 20


def test_tests_that_pages_name_are_there():
    tests = [
        path.read_text(encoding="utf-8") for name in ("tests", "benchmarks") for path in (ROOT / name).rglob("*.py")
    ]
    there = {name for text in tests for name in re.findall(r"^ *def (test_\w+)", text, re.M)}
    lines = [line for page in PAGES for line in page.read_text(encoding="utf-8").splitlines() if "commit " not in line]
    named = [name for line in lines for name in re.findall(r"\b(test_\w+?)_\.\.\.", line)]
    assert len(named) > 20
    assert [name for name in named if not any(test.startswith(name) for test in there)] == []


def test_the_list_of_proofs_has_every_proof():
    rows = [line for line in text_of("theory/README.md").splitlines() if line.startswith("- ")]
    assert {name for line in rows for name in re.findall(r": \[[\w-]+\]\((\w+)\.md\)", line)} == {
        page.stem for page in PROOFS
    }


def test_code_and_tests_in_the_list_of_proofs_exist():
    """Paths in the list itself; those of each proof are in its box."""
    names = re.findall(r"`([\w/]+\.py)`", text_of("theory/README.md"))
    assert [name for name in names if not (ROOT / name).exists() and not (ROOT / "skdpmic" / name).exists()] == []
    assert names


def test_numbers_stand_beside_the_command_that_prints_them():
    for command, _, page in script("check_numbers", ROOT / ".ci")["CHECKS"]:
        if page.startswith("docs"):
            assert command.removesuffix(" --output FILE") in (ROOT / page).read_text(encoding="utf-8"), page


@each("page", PAGES)
def test_every_benchmark_that_a_page_names_exists(page):
    text = page.read_text(encoding="utf-8")
    for module in re.findall(r"python -m benchmarks\.([\w.]+\w)", text):
        path = ROOT / "benchmarks" / module.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module
    for path in re.findall(r"python (benchmarks/\w+\.py)", text):
        assert (ROOT / path).exists(), path
