"""Tables on pages that rearrange kept results, and numbers in sentences, match the results."""

import csv
import re

import numpy as np
import pytest

from benchmarks.tests import pages


def results(path):
    with open(pages.ROOT / path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def by(names, rows):
    """Rows, keyed by their values in these columns."""
    return {tuple(row[name] for name in names): row for row in rows}


def shown(page, head):
    """The cells of the table whose header begins like this; an empty first cell repeats the one above it."""
    tables = [rows for title, rows in pages.tables(pages.text_of(page)).items() if title.startswith(head)]
    assert len(tables) == 1, (page, head)
    first = ""
    for row in tables[0]:
        cells = [cell.strip() for cell in row.replace("**", "").strip("|").split("|")]
        first = cells[0] or first
        yield first, cells[1:]


def assert_rounded(cells, kept):
    """The numbers in the cells are the kept numbers, rounded to the digits shown."""
    shown_numbers = [number for cell in cells for number in re.findall(r"[\d.]+", cell)]
    for number, value in zip(shown_numbers, map(float, kept), strict=True):
        unit = 10 ** -len(number.partition(".")[2])
        assert abs(float(number) - value) <= unit / 2 + 1e-9, (number, value)


def test_the_table_of_two_parties_matches_the_results():
    kept = by(["relationship", "n", "epsilon", "method"], results("benchmarks/results/two_party.csv"))
    methods = ["ours", "ours, published", "PNC as printed", "curator", "no privacy"]
    for name, (epsilon, n, *errors) in shown("docs/choose/two_parties.md", "| relationship (truth) | ε |"):
        relationship, truth = re.fullmatch(r"(\w+) \(([\d.]+)\)", name).groups()
        of = [kept[relationship, n.replace(",", ""), str(float(epsilon)), method] for method in methods]
        assert_rounded([truth, *errors], [of[0]["truth"], *(row["mean_error"] for row in of)])


def test_the_table_of_people_with_several_rows_matches_the_results():
    names = ["statistic", "persons", "share_between", "epsilon", "max_rows_per_group"]
    kept = by(names, results("benchmarks/results/people.csv"))
    for name, cells in shown("docs/theory/people.md", "| share between people 0.5 |"):
        statistic, n_people, epsilon = re.fullmatch(r"(\w+), N = ([\d,]+), ε = ([\d.]+)", name).groups()
        key = {"MTVr": "mtv_r", "MICr": "mic_r"}[statistic], n_people.replace(",", ""), "0.5", str(float(epsilon))
        of = [kept[*key, m] for m in "125"]
        assert_rounded(cells, [row[measure] for row in of for measure in ("error", "found")])


WAYS_OF_INTEGERS = ("bounds", "categories", "integers")


def test_the_table_of_integers_matches_the_results():
    kept = by(["noise", "epsilon", "criterion", "kind", "way"], results("benchmarks/results/integers.csv"))
    for name, cells in shown("docs/choose/bounds.md", "| share of five columns found |"):
        kind = re.split(r" \(|, ", name)[0]
        keys = [(criterion, kind, way) for criterion in ("single", "joint") for way in WAYS_OF_INTEGERS]
        assert_rounded(cells, [kept["continuous", "1.0", *key]["found"] for key in keys])


def test_no_declaration_of_integers_is_better_than_a_range():
    """No share of the 144 is higher by more than three standard errors, and by two no more are than by chance.

    Were all declarations equally good, 6 of 144 would be: errors are from eight tables (t with 7 degrees of freedom).
    On average, the better of two declarations is behind.
    """
    rows = [row for row in results("benchmarks/results/integers.csv") if row["way"] != "integers"]
    behind, errors = (np.array([float(row[name]) for row in rows]) for name in ("behind", "behind_error"))
    assert len(rows) == 2 * 2 * 6 * 3 * 2
    assert (behind <= 3 * errors + 1e-9).all()
    assert (behind > 2 * errors).sum() <= 6
    for criterion in ("single", "joint"):
        of = np.array([row["criterion"] == criterion for row in rows])
        assert behind[of].reshape(-1, 2).max(axis=1).mean() < 0  # the better of bounds and categories


def test_shares_of_findings_in_tables_that_fit_their_codebooks_match_the_results():
    rows = [row for row in results("benchmarks/results/findings.csv") if row["list"] == "fresh"]
    of_epsilon = [
        [float(row["false"]) for row in rows if row["epsilon"] == epsilon] for epsilon in ("0.1", "0.3", "1.0")
    ]
    means = [100 * sum(shares) / 12 for shares in of_epsilon]
    text = pages.text_of("docs/theory/summary.md")
    found = re.findall(r"after all constants, (.*?%) of summaries", text)
    assert_rounded(found, means)


def test_the_table_of_private_tables_matches_the_results():
    kept = by(["way", "epsilon"], results("benchmarks/ends/results/table.csv"))
    ways = {"MST": "MST", "each counted with the target": "Fixed"}
    for name, cells in shown("docs/publish/private_table.md", "| total ε | 0.5 | 2 | no privacy |"):
        columns, _, way = name.partition(", ")
        if columns == "five chosen columns":
            of = [kept[f"chosen, {ways[way]}", epsilon] for epsilon in ("0.5", "2.0")] + [kept["chosen, real", "inf"]]
        else:
            of = [kept["all, real", "inf"]]  # there is no result with noise
        assert_rounded(cells, [row[measure] for row in of for measure in ("auc", "se")])


TABLE_PAGE = "docs/publish/private_table.md"
# A page, its sentence with blanks for the numbers, and the kept results that these come from.
SENTENCES = [
    (TABLE_PAGE, "an AUC of {} on real people", [("chosen, Fixed", "0.5")]),
    (
        TABLE_PAGE,
        "the AUC is then {} ± {} at ε = 0.5 and {} ± {} at 2",
        [("chosen, MST rounded", epsilon) for epsilon in ("0.5", "2.0")],
    ),
    (
        TABLE_PAGE,
        "is {} ± {} at ε = 0.1, {} ± {} at 0.5 and {} ± {} at 2",
        [("all, pairs", epsilon) for epsilon in ("0.1", "0.5", "2.0")],
    ),
    (
        TABLE_PAGE,
        "five chosen columns reaches {} ± {}, {} ± {} and {} ± {}.",
        [("chosen, pairs", epsilon) for epsilon in ("0.1", "0.5", "2.0")],
    ),
]


@pytest.mark.parametrize("page, sentence, keys", SENTENCES)
def test_sentences_about_private_tables_match_the_results(page, sentence, keys):
    kept = by(["way", "epsilon"], results("benchmarks/ends/results/table.csv"))
    (numbers,) = re.findall(re.escape(sentence).replace(r"\{\}", r"(\d+\.\d+)"), pages.text_of(page))
    measures = ("auc", "se") if "±" in sentence else ("auc",)
    numbers = [numbers] if isinstance(numbers, str) else numbers
    assert_rounded(numbers, [kept[key][measure] for key in keys for measure in measures])


# A page, its phrase with a blank for the number, and the cell that this comes from: the report, the beginning of the
# table's header, the beginning of the row, and the column.
IN_PROSE = [tuple(row.values()) for row in results("benchmarks/tests/numbers_in_prose.csv")]


def cell(report, head, row, column):
    """The text of a cell, without its brackets, in the first row that matches."""
    tables = pages.tables(pages.text_of(report).replace("**", ""))
    titles, lines = next((title, lines) for title, lines in tables.items() if title.startswith(head))
    names = [name.strip() for name in titles.strip("|").split("|")]
    line = next(line for line in lines if line.startswith(f"| {row} |"))
    return line.strip("|").split("|")[names.index(column)].partition("(")[0].strip().lstrip("+-")


@pytest.mark.parametrize("page, phrase, report, head, row, column", IN_PROSE)
def test_numbers_in_sentences_match_the_reports(page, phrase, report, head, row, column):
    text = cell(report, head, row, column)
    assert phrase.format(float(text.split()[0]) if "{:" in phrase else text) in pages.text_of(page)
