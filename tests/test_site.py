"""The site has a place for every page and every public name, and its parts outside of Sphinx are true."""

import re
import runpy
from importlib import import_module
from pathlib import Path

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


def test_every_name_in_the_reference_is_there():
    for path in re.findall(r"^   ([\w.]+)$", text_of("reference/index.rst"), re.M):
        package, _, name = f"skdpmic.{path}".rpartition(".")
        assert hasattr(import_module(package), name), path


@each("page", PAGES)
def test_links_from_the_top_of_the_site_lead_to_pages(page):
    for link in re.findall(r"\]\(/([^)#]+)", page.read_text(encoding="utf-8")):
        assert (DOCS / link).exists(), link


@each("page", PAGES)
def test_pictures_have_alternative_texts(page):
    assert "![](" not in page.read_text(encoding="utf-8")


def test_every_page_of_the_code_that_docstrings_name_is_there():
    for module in (ROOT / "skdpmic").rglob("*.py"):
        for name in re.findall(r"docs/[\w/]+\.md", module.read_text(encoding="utf-8")):
            assert (ROOT / name).exists(), (module, name)


def test_the_noise_table_is_what_the_code_gives():
    assert runpy.run_path(str(ROOT / "benchmarks" / "noise.py"))["table"]() in text_of("understand/noise.md")


def test_the_extra_for_the_site_has_what_its_configuration_loads():
    extra = re.search(r"^docs = \[(.*?)^\]", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.S | re.M)[1]
    loaded = re.search(r"^extensions = \[(.*?)^\]", text_of("conf.py"), re.S | re.M)[1]
    for name in re.findall(r'"(\w+)[".]', loaded):
        own = (DOCS / "_ext" / f"{name}.py").exists()
        assert own or name.replace("_", "-") in extra, name
