"""What the README shows is true: its code runs, its noise table is what the code gives, its links lead somewhere."""

import math
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from skdpmic import dp_mic_regression

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_the_first_code_runs_and_finds_the_features(capsys):
    pytest.importorskip("pandas", reason="the first code reads a dataframe of pandas")
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names = {}
    exec(code, names)
    printed = capsys.readouterr().out
    assert printed.startswith("age ward [0.")  # noise of 0.011 against a difference of 0.46 of scores
    assert printed.endswith("] (1.0, 0.0)\n")
    assert (names["selector"].scores_[[0, 3]] > 0.3).all()


def test_the_noise_table_is_what_the_code_gives():
    assert runpy.run_path(str(ROOT / "benchmarks" / "noise.py"))["table"]() in README


PAGES = [
    "README.md",
    "SECURITY.md",
    *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts),
]


@pytest.mark.parametrize("page", PAGES)
def test_links_within_the_project_lead_to_files(page):
    for link in re.findall(r"\]\((?!https?:|/)([^)#]+)", (ROOT / page).read_text()):
        assert ((ROOT / page).parent / link).exists(), link


def test_bounds_need_not_be_tight():
    rng = np.random.default_rng(0)
    x = rng.random(3000)
    y = (2 * x - 1) ** 2 + 0.02 * rng.standard_normal(3000)
    for statistic, expected in (("mic_r", [0.93, 0.86, 0.25]), ("mtv_r", [0.95, 0.95, 0.83])):
        public = {"statistic": statistic, "target_bounds": (0, 1)}
        scores = [
            dp_mic_regression(x[:, np.newaxis], y, epsilon=math.inf, bounds=(0, width), **public)[0]
            for width in (1, 10, 100)
        ]
        assert np.round(scores, 2).tolist() == expected
