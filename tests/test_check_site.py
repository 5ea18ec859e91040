"""The check of the built site finds dead links and anchors, pictures without a text, and external resources."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci" / "check_site.py"
HEAD = '<link rel="icon" href="icon.svg"><meta name="description" content="What it is about.">'
GOOD = (
    HEAD + '<h1 id="top-of-it">A</h1><a href="#top-of-it">a</a><a href="b.html#here">b</a><a href="https://x.org">x</a>'
)


@pytest.fixture
def problems():
    spec = spec_from_file_location("check_site", SCRIPT)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.problems


@pytest.fixture
def site(tmp_path):
    for name in ("a", "index", "404"):
        (tmp_path / f"{name}.html").write_text(GOOD)
    (tmp_path / "b.html").write_text(HEAD + '<p id="here"><a href="a.html">a</a><img src="c.png" alt="C"></p>')
    (tmp_path / "llms.txt").write_text("[A](/a.html) [B](/b.html)")
    for name in ("c.png", "icon.svg"):
        (tmp_path / name).write_bytes(b"")
    return tmp_path


def test_an_intact_site_has_no_problems(problems, site):
    assert problems(site) == []


@pytest.mark.parametrize(
    "broken, problem",
    [
        ('<a href="d.html">d</a>', "a.html: dead link d.html"),
        ('<a href="b.html#there">b</a>', "a.html: no such anchor b.html#there"),
        ('<a href="#nowhere">a</a>', "a.html: no such anchor #nowhere"),
        ('<img src="gone.png" alt="C">', "a.html: dead link gone.png"),
        ('<img src="c.png" alt=" ">', "a.html: picture without an alternative text: c.png"),
        ('<img src="c.png">', "a.html: picture without an alternative text: c.png"),
        ('<script src="https://x.org/x.js"></script>', "a.html: loads https://x.org/x.js"),
        ('<link rel="stylesheet" href="//x.org/x.css">', "a.html: loads //x.org/x.css"),
    ],
)
def test_every_problem_is_named(problems, site, broken, problem):
    (site / "a.html").write_text(GOOD + broken)
    assert problems(site) == [problem]


def test_an_example_without_a_picture_is_named(problems, site):
    (site / "gallery").mkdir()
    (site / "llms.txt").write_text("[A](/a.html) [B](/b.html) [E](/gallery/e.html)")
    example = HEAD.replace("icon.svg", "../icon.svg") + "<h1>E</h1>"
    (site / "gallery" / "e.html").write_text(example)
    assert problems(site) == ["gallery/e.html: no picture"]
    (site / "gallery" / "e.html").write_text(example + '<img src="../c.png" alt="C">')
    assert problems(site) == []


def test_a_page_without_icon_or_description_is_named(problems, site):
    (site / "b.html").write_text('<p id="here"></p>')
    assert problems(site) == ["b.html: no icon", "b.html: no description"]


def test_a_page_that_the_plain_index_does_not_list_is_named(problems, site):
    (site / "llms.txt").write_text("[A](/a.html) [C](/c.html)")
    assert problems(site) == ["llms.txt: does not list b.html", "llms.txt: no such page c.html"]
    (site / "llms.txt").unlink()
    assert problems(site) == ["llms.txt: no such file"]


def test_an_empty_folder_is_not_a_site(problems, tmp_path):
    assert problems(tmp_path) == [f"{tmp_path}: no first page"]
